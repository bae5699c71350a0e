"""Which patches of an image a head attends to, if hands count rows and columns."""

from dataclasses import dataclass

from pe_lib._arguments import as_flag
from pe_lib.explorers.drawing import Drawing, within

FAR = 3


@dataclass(frozen=True, kw_only=True)
class Patches(Drawing):
    """A head built for two opposite patches, and those that it attends to most.

    All patches look alike. Three hands rotate with the row, three with the column, and
    three more with each diagonal if `diagonals` is set; the frequencies are 2, 1 and
    1/2. With the offset k of a key, w the frequencies of a hand along rows and columns
    and d what is wanted, the score is the sum of cos(w . (k - d)) + cos(w . (k + d)).

    Parameters
    ----------
    down, right : int
        Where one of the two patches is, from -3 to 3.
    diagonals : bool
        Hands that count rows and columns together.

    Raises
    ------
    TypeError
        If `down` or `right` is not an integer, `diagonals` not a bool.
    ValueError
        If a number is out of its range.

    Examples
    --------
    >>> str(Patches()).partition(" Weight")[0]
    'Wanted: 1 down, 2 right, and the opposite. Highest: 4 patches, 2 too many.'
    """

    down: int = 1
    right: int = 2
    diagonals: bool = False

    _name = "patches"
    _scripts = ("patches.js",)

    def __post_init__(self) -> None:
        within("down", self.down, -FAR, FAR)
        within("right", self.right, -FAR, FAR)
        as_flag("diagonals", self.diagonals)
