"""A rotary score: only the offset between a query and a key matters."""

from dataclasses import dataclass
from typing import Any

from pe_lib.explorers.drawing import Drawing, within


@dataclass(frozen=True, kw_only=True)
class Rotary(Drawing):
    """A query and a key, each turned by half a radian a position; and their score.

    Examples
    --------
    >>> print(Rotary())
    York at 16, old at 13: 3 apart, 138° between them, score −0.74.
    """

    _name = "rotary"
    _scripts = ("move_both.js",)


@dataclass(frozen=True, kw_only=True)
class MoveBoth(Drawing):
    """The hands of a query and of a key, rotated by their positions, and the score.

    Query and key are (0, 1, 0, 1) before they are rotated: two upright hands each,
    with the frequencies 1 and 0.01. So a gap between them is the offset times the
    frequency, and the score is the sum of the cosines of the two gaps.

    Parameters
    ----------
    position : int
        Of the query, from 4 to 104.
    back : int
        The offset: how many positions back the key is, from 0 to 4.

    Raises
    ------
    TypeError
        If an argument is not an integer.
    ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> print(MoveBoth())
    Query 4, key 3: the score is 1.5403.
    """

    position: int = 4
    back: int = 1

    _name = "move_both"
    _scripts = ("move_both.js",)

    def __post_init__(self) -> None:
        within("position", self.position, 4, 104)
        within("back", self.back, 0, 4)

    def _state(self) -> dict[str, Any]:
        return {"query": self.position, "key": self.position - self.back}
