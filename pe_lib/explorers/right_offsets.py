"""Which pairs keep their distance if a sequence is cut and numbered."""

from dataclasses import dataclass

from pe_lib._arguments import as_choice
from pe_lib.beyond.positions import ORDERS
from pe_lib.explorers.drawing import Drawing, one_of

NUMBERS = ("local", *ORDERS)


@dataclass(frozen=True, kw_only=True)
class RightOffsets(Drawing):
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

    _name = "right_offsets"
    _scripts = ("right_offsets.js",)

    def __post_init__(self) -> None:
        one_of("ranks", self.ranks, (2, 4))
        as_choice("cut", self.cut, ORDERS)
        as_choice("numbers", self.numbers, NUMBERS)
