"""Encodings in the plane, to drag: equal norms and one matrix for all of them."""

from pe_lib.explorers.drawing import Drawing


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

    _scripts = ("plane.js",)
