"""The field of the first page: six hands under each word of a song."""

from dataclasses import dataclass

from pe_lib.explorers.drawing import Drawing, within


@dataclass(frozen=True, kw_only=True)
class Hero(Drawing):
    """A column of six hands under each of eighteen words; the field can be moved on.

    The hands are those of ``sinusoidal(range(18), 12, base=50)``.

    Parameters
    ----------
    moved_by : int
        By how many positions, from -99 to 99.

    Raises
    ------
    TypeError
        If `moved_by` is not an integer.
    ValueError
        If `moved_by` is out of its range.

    Examples
    --------
    >>> print(Hero(moved_by=1))
    To move on is to rotate: each word now has the positional encoding from 1 position
    later.
    """

    moved_by: int = 0

    _name = "hero"
    _scripts = ("hero.js",)

    def __post_init__(self) -> None:
        within("moved_by", self.moved_by, -99, 99)
