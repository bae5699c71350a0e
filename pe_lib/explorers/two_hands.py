"""Two hands: how far away can the nearest position be kept?"""

from pe_lib.explorers.drawing import Drawing


class TwoHands(Drawing):
    """The distance of each of 99 positions to position 0, for two hands.

    The fast one turns by one radian per position, the slow one by what the reader
    sets. The first setting, 0.01, is the second frequency of four numbers with base
    10,000.

    Examples
    --------
    >>> print(TwoHands())
    Position 19 is the nearest to position 0, at a distance of 0.24: both hands are
    near twelve.
    """

    _scripts = ("two_hands.js",)
