"""A spirit level: with counted positions the highest score is at an end."""

from dataclasses import dataclass

from pe_lib.explorers.drawing import Drawing


@dataclass(frozen=True, kw_only=True)
class StraightLine(Drawing):
    """What counting lets a head do for one query: scores ``slope * s + height``.

    Whatever the matrix is, the scores of query 4 over the keys 0 to 4 are a straight
    line. The reader lifts its ends; a bubble runs to the highest score.

    Examples
    --------
    >>> print(StraightLine())
    York attends most to New at 0: an end.
    """

    _name = "straight_line"
    _scripts = ("straight_line.js",)
