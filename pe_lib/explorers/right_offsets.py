"""Which pairs keep their distance if a sequence is cut and numbered."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pe_lib._arguments import as_choice
from pe_lib.beyond.positions import ORDERS, sharded
from pe_lib.explorers._explorer import (
    Explorer,
    buttons,
    choices,
    one_of,
    picture,
    runs,
)

TOKENS = 16
NUMBERS = ("local", *ORDERS)
CALLED = {
    "local": "from 0 on each rank",
    "contiguous": "as if cut in one part each",
    "zigzag": "as if cut in zigzag",
}


@dataclass(frozen=True, kw_only=True)
class RightOffsets(Explorer):
    """A map of the pairs of 16 tokens: full where their positions give the distance.

    Parameters
    ----------
    ranks : int
        2 or 4.
    cut : {"contiguous", "zigzag"}
        How the tokens are dealt out.
    numbers : {"local", "contiguous", "zigzag"}
        How each rank numbers what it has: from 0, or as if cut in that order.

    Raises
    ------
    TypeError
        If `ranks` is not an integer.
    ValueError
        If an argument is not in its list.

    Examples
    --------
    >>> print(RightOffsets())
    72 of 136 pairs keep their distance. On rank 1 token 8 has position 0.
    """

    ranks: int = 2
    cut: str = "contiguous"
    numbers: str = "local"

    _name = "right-offsets"
    _title = "Which pairs have the right distance?"
    _goal = (
        "Cut the sequence in zigzag, so that every pair keeps its distance: press a row"
        " of numbers to change it."
    )
    _reached = (
        "Reached: all 136.",
        "The positions must belong to the cut. Where they do not, nothing raises an"
        " error: the model computes on, with wrong distances.",
    )

    def __post_init__(self) -> None:
        one_of("ranks", self.ranks, (2, 4))
        as_choice("cut", self.cut, ORDERS)
        as_choice("numbers", self.numbers, NUMBERS)

    def _shard(self, order: str, rank: int) -> NDArray[np.int64]:
        if order == "local":
            return np.arange(TOKENS // self.ranks)
        return sharded(TOKENS, self.ranks, rank, order=order)

    def _positions(self) -> NDArray[np.int64]:
        """The position that each token gets."""
        positions = np.empty(TOKENS, np.int64)
        for rank in range(self.ranks):
            positions[self._shard(self.cut, rank)] = self._shard(self.numbers, rank)
        return positions

    def _right(self) -> NDArray[np.bool_]:
        tokens, positions = np.arange(TOKENS), self._positions()
        right = np.subtract.outer(positions, positions) == np.subtract.outer(
            tokens, tokens
        )
        return np.asarray(right & np.tri(TOKENS, dtype=bool))

    def _won(self) -> bool:
        return self.cut == self.numbers == "zigzag"

    def _stage(self) -> str:
        right = self._right()
        seen = np.tri(TOKENS, dtype=bool)
        owner = np.empty(TOKENS, int)
        for rank in range(self.ranks):
            owner[self._shard(self.cut, rank)] = rank
        rows = "".join(
            f'<text class="{kind}" x="24" y="{y}">{name}</text>'
            + "".join(
                f'<text class="{kind} now" x="{18 * t + 57}" y="{y}">{value}</text>'
                for t, value in enumerate(values)
            )
            for name, kind, y, values in (
                ("rank", "muted", 312, owner),
                ("id", "", 330, self._positions()),
            )
        )
        return picture(
            "A triangle of squares: rows are queries, columns the keys before"
            " them. Full squares have the right distance, small ones a wrong one."
            " Below, the rank and the position id of each token.",
            340,
            336,
            '<g transform="translate(48 9) scale(18)">'
            f'<path class="now" stroke-width="0.88" d="{runs(right)}"/>'
            '<path class="now edge" stroke-width="0.2"'
            f' d="{runs(seen & ~right)}"/></g>\n{rows}\n',
            "map",
        )

    def _sentence(self) -> str:
        token = self._shard(self.cut, 1)[0]
        return (
            f"{self._right().sum()} of 136 pairs keep their distance. On rank 1"
            f" token {token} has position {self._positions()[token]}."
        )

    def _controls(self) -> str:
        cuts = dict(zip(ORDERS, ORDERS, strict=True))
        return (
            choices("ranks", "ranks", (2, 4), self.ranks)
            + buttons("cut", "the sequence is cut", cuts, self.cut)
            + buttons("numbers", "each rank counts", CALLED, self.numbers)
        )
