"""The heat map by base and width, over the binary digits."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pe_lib.encoding import sinusoidal
from pe_lib.explorers._explorer import (
    BASES,
    Explorer,
    choices,
    number,
    one_of,
    picture,
    runs,
    slider,
    within,
)
from pe_lib.naive import binary


@dataclass(frozen=True, kw_only=True)
class HeatMap(Explorer):
    """The sinusoidal table over the binary digits of the same positions.

    Parameters
    ----------
    d_model : int
        4, 8 or 16.
    base : int
        As for :class:`DotProduct`.
    position : int
        The one whose encoding is read out, from 0 to 31.

    Raises
    ------
    TypeError
        If an argument is not an integer.
    ValueError
        If an argument is not in its list or range.

    Examples
    --------
    >>> print(HeatMap(d_model=4, base=100, position=6))
    Each hand is 10.00 times slower than the one above it, each digit 2 times.
    """

    d_model: int = 16
    base: int = 10_000
    position: int = 6

    _name = "heat-map"
    _title = "Hands and digits"
    _goal = (
        "Find a base that makes each hand exactly twice as slow as the one above, as"
        " the digits are."
    )
    _reached = (
        "Reached: exactly twice.",
        "Each hand takes twice as long as the one above, as the digits do. But its"
        " wavelength is π times its digit's period, and it glides where the digit"
        " jumps. The base needed is two to the power of half the width.",
    )

    def __post_init__(self) -> None:
        one_of("d_model", self.d_model, (4, 8, 16))
        one_of("base", self.base, BASES)
        within("position", self.position, 0, 31)

    def _code(self) -> NDArray[np.float64]:
        return sinusoidal(np.arange(32), self.d_model, base=self.base)

    def _won(self) -> bool:
        return self.base in (4, 16, 256) and self.base**2 == 2**self.d_model

    def _stage(self) -> str:
        levels = np.round(4 * self._code() + 4).astype(int).T
        odd = np.arange(self.d_model)[:, np.newaxis] % 2 == 1
        map_ = "".join(
            f'<path class="now {name}" stroke-opacity="{level / 8:g}"'
            f' d="{runs((levels == level) & (odd == cosine))}"/>'
            for cosine, name in enumerate(("sine", "cosine"))
            for level in range(9)
        )
        digits = binary(np.arange(32), 5).T == 1
        ticks = "".join(
            f'<text x="{10 * t + 15}" y="230">{t}</text>'
            for t in (0, 5, 10, 15, 20, 25, 30)
        )
        return picture(
            "Above, the sinusoidal table of positions 0 to 31, sines in blue, cosines"
            " in orange, fast hands first. Below, the five binary digits of the same"
            " positions, the ones first. A frame marks the one read out.",
            340,
            234,
            '<text x="38" y="12">sinusoid</text><text x="30" y="163">binary</text>\n'
            f'<g transform="translate(10 {18 + 64 / self.d_model:g})'
            f' scale(10 {128 / self.d_model:g})">{map_}</g>\n'
            f'<g transform="translate(10 173) scale(10 8)">'
            f'<path d="{runs(digits)}"/></g>\n'
            f'<g class="now" transform="translate({10 * self.position})">'
            f'<path stroke-width="2.5" d="M10 18h10v195h-10z"/></g>\n{ticks}\n',
        )

    def _sentence(self) -> str:
        factor = self.base ** (2 / self.d_model)
        return (
            f"Each hand is {factor:.2f} times slower than the one above it, each digit"
            " 2 times."
        )

    def _tally(self) -> list[tuple[str, str]]:
        digits = " ".join(f"{digit:.0f}" for digit in binary(self.position, 5))
        code = " ".join(number(x) for x in self._code()[self.position])
        return [
            ("position", str(self.position)),
            ("its digits", digits),
            ("its encoding", code),
        ]

    def _controls(self) -> str:
        return (
            slider("t", "position", 0, 31, 1, self.position)
            + choices("d", "numbers, d", (4, 8, 16), self.d_model)
            + choices("base", "base", BASES, self.base)
        )
