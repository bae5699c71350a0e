"""The dot product of two encodings against their offset."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pe_lib.explorers._explorer import (
    BASES,
    WIDTHS,
    Explorer,
    choices,
    one_of,
    picture,
)
from pe_lib.geometry import first_rise, similarity


@dataclass(frozen=True, kw_only=True)
class DotProduct(Explorer):
    """The dot product of two encodings by their offset, and where it first rises.

    Parameters
    ----------
    d_model : int
        2, 4, 8, ... or 512.
    base : int
        2, 4, 16, 100, 256, 1000, 10,000, 100,000 or 1,000,000.

    Raises
    ------
    TypeError
        If an argument is not an integer.
    ValueError
        If an argument is not in its list.

    Examples
    --------
    >>> print(DotProduct(d_model=512))
    512 numbers, base 10,000: first rises from offset 43 to 44. Rises 14 times in 100.
    """

    d_model: int = 64
    base: int = 10_000

    _name = "dot-product"
    _title = "How far does it only fall?"
    _goal = "Drag the large dot, the first rise, as far right as it goes."
    _reached = (
        "Reached: 43.",
        "No pair of settings here gets further. More numbers help; a larger base does"
        " not always: with 1,000,000 the first rise is back at 24.",
    )

    def __post_init__(self) -> None:
        one_of("d_model", self.d_model, WIDTHS)
        one_of("base", self.base, BASES)

    def _shares(self) -> NDArray[np.float64]:
        offsets = np.arange(101)
        return similarity(offsets, self.d_model, base=self.base) / (self.d_model / 2)

    def _won(self) -> bool:
        return first_rise(self.d_model, base=self.base) == 43

    def _stage(self) -> str:
        shares = self._shares()
        k = first_rise(self.d_model, base=self.base)
        line = "L".join(f"{26 + 3 * i} {76 - 60 * s:.1f}" for i, s in enumerate(shares))
        scale = "".join(
            f'<text x="11" y="{y + 4}">{name}</text>'
            f'<path class="hair" d="M22 {y}h308"/>'
            for name, y in (("1", 16), ("0", 76), ("−1", 136))
        )
        ticks = "".join(
            f'<text x="{26 + 3 * i}" y="153">{i}</text>' for i in (0, 25, 50, 75, 100)
        )
        drawing = (
            f'{scale}\n{ticks}\n<text x="176" y="12">dot product, as a share</text>'
            '<text x="176" y="168">offset</text>\n'
            f'<path class="now" stroke-width="2" d="M{line}"/>\n'
            f'<g class="now" transform="translate({26 + 3 * k}'
            f' {76 - 60 * shares[k]:.1f})"><circle r="23" fill="transparent"'
            ' stroke="none"/><circle class="solid" r="7"/></g>\n'
        )
        return picture(
            "A curve: the dot product of two encodings, as a share of its largest"
            " value, against their offset from 0 to 100. A large dot marks where it"
            " first rises.",
            340,
            172,
            drawing,
        )

    def _sentence(self) -> str:
        k = first_rise(self.d_model, base=self.base)
        rises = np.count_nonzero(np.diff(self._shares()) > 0)
        return (
            f"{self.d_model} numbers, base {self.base:,}: first rises from offset"
            f" {k} to {k + 1}. Rises {rises} times in 100."
        )

    def _controls(self) -> str:
        return choices("d", "numbers, d", WIDTHS, self.d_model) + choices(
            "base", "base", BASES, self.base
        )
