"""The dot product of two encodings against their offset."""

from dataclasses import dataclass

from pe_lib.explorers.drawing import Drawing, one_of
from pe_lib.explorers.field import BASES

WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512)


@dataclass(frozen=True, kw_only=True)
class DotProduct(Drawing):
    """The dot product of two encodings by their offset, and where it first rises.

    Parameters
    ----------
    d_model : int
        2, 4, 8, ... or 512.
    base : int
        2, 4, 16, 100, 256, 1000, 10,000, 100,000 or 1,000,000.

    Raises
    ------
    TypeError
        If an argument is not an integer.
    ValueError
        If an argument is not in its list.

    Examples
    --------
    >>> print(DotProduct(d_model=512))
    512 numbers, base 10,000: first rises from offset 43 to 44. Rises 14 times in 100.
    """

    d_model: int = 64
    base: int = 10_000

    _name = "dot_product"
    _scripts = ("dot_product.js",)

    def __post_init__(self) -> None:
        one_of("d_model", self.d_model, WIDTHS)
        one_of("base", self.base, BASES)
