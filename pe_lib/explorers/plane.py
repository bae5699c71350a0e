"""Encodings in the plane: one matrix for all of them, and equal norms."""

from dataclasses import dataclass

from pe_lib.explorers.drawing import Drawing


@dataclass(frozen=True, kw_only=True)
class Galaxy(Drawing):
    """One matrix, 300 times: a turn and a stretch, by the place of dot 1.

    Examples
    --------
    >>> print(Galaxy())
    The norms differ: that of encoding 100 is 0.59 % of the norm of encoding 0.
    """

    _name = "galaxy"
    _scripts = ("plane.js",)


@dataclass(frozen=True, kw_only=True)
class Plane(Drawing):
    """Five encodings to drag: are their norms equal, and does one matrix take each on?

    Equal norms: the smallest is at most 10 % below the largest. One matrix: the 2 by 2
    matrix that fits best takes each encoding to the next, with an error of at most 5 %
    of their size (root mean square). With more than five positions that matrix
    continues them. Both, and no two encodings that overlap: that is the goal, and
    near a circle in even steps. (Exactly equal norms and an exact matrix leave five
    different encodings nothing else, as the book's page on three properties proves.)

    Examples
    --------
    >>> str(Plane()).partition(",")[0]
    'The smallest norm is 63 % below the largest'
    """

    _name = "plane"
    _scripts = ("plane.js",)
