r"""The same encoding as ten texts write it down.

Sines and cosines of :math:`\omega_j t` in every one of them. What differs is which
frequencies, in which columns, from which position on, and which way the array runs.
"""

import decimal
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pe_lib._arguments import as_choice, as_integer
from pe_lib._convention_formulas import FORMULAS
from pe_lib._decimals import decimal_frequencies

Array = NDArray[np.float64]
Column = tuple[str, decimal.Decimal]  # "sine", "cosine" or "zero", and its frequency

WAVES = ("sine", "cosine")
EXPONENTS = {"paper": "2j/d", "endpoint": "j/(d/2-1)"}


@dataclass(frozen=True)
class Convention:
    """How one text writes the encoding down; by default, as the paper does.

    Attributes
    ----------
    name : str
        The text.
    source : str or None
        Its key in the book's bibliography; None for private notes.
    spacing : "paper" or "endpoint"
        As in :func:`pe_lib.angular_frequencies`: the frequency of pair j is the base
        to the power of -2j/d, or of -j/(d/2-1). A text that prints
        10000**(-j/d) has the paper's spacing with base 100: it is 100**(-2j/d).
    first_pair : int
        The j of the fastest pair.
    base : float or None
        None: the length of the table.
    layout : "interleaved" or "half_split"
    first : "sine" or "cosine"
        Which of the two comes first.
    start : int
        The position of the first word.
    array : "rows" or "columns"
        Whether the encoding of a position is a row or a column of the array.
    shift : "row", "column" or None
        Whether a shift is written p T or T p; None where none is written.
    odd : "lone", "zero" or None
        An odd width: the last column has no partner, or is zero; None where the
        formula or the program does not admit it.
    smallest : int
        The smallest width for which it is defined.
    """

    name: str
    source: str | None
    spacing: str = "paper"
    first_pair: int = 0
    base: float | None = 10_000.0
    layout: str = "interleaved"
    first: str = "sine"
    start: int = 0
    array: str = "rows"
    shift: str | None = None
    odd: str | None = None
    smallest: int = 1

    @property
    def exponent(self) -> str:
        """The spacing as a formula: 2j/d or j/(d/2-1)."""
        return EXPONENTS[self.spacing]

    def columns(self, d_model: int, length: int | None = None) -> list[Column]:
        """Wave and frequency of each column, to sixty digits.

        `length` is needed where it is the base. An odd width ends in a column of
        zeros if `odd` says so, else in a wave without its partner.
        """
        base = length if self.base is None else self.base
        assert base is not None, "a base that is the length needs the length"
        zeros = d_model % 2 if self.odd == "zero" else 0
        waves = WAVES if self.first == "sine" else WAVES[::-1]
        frequencies: list[decimal.Decimal] = []
        if d_model > zeros:
            frequencies = decimal_frequencies(
                d_model - zeros, base, self.spacing, self.first_pair
            )
        if self.layout == "interleaved":
            found = [(wave, frequency) for frequency in frequencies for wave in waves]
        else:
            found = [(wave, frequency) for wave in waves for frequency in frequencies]
        return [*found[: d_model - zeros], *[("zero", decimal.Decimal(0))] * zeros]


# Where each was read: Vaswani et al., section 3.5 (it does not print where pairs and
# positions start; its shortest wavelength, 2 pi, means pair 0); tensor2tensor 1.15.7,
# get_timing_signal_1d; fairseq, sinusoidal_positional_embedding.py (positions begin at
# padding_idx + 1, and its dictionary puts the padding at 1); Phuong and Hutter, section
# 5; d2l, section 11.6.3; UvA, tutorial 6; Denk, equations 1 and 2; Kernes, the listing
# of part I, in a reader's copy. The notebook prints 10000^(-j/d), which is 100^(-2j/d).
CONVENTIONS = {
    "paper": Convention("Vaswani et al. (2017)", "vaswani2017", odd="lone"),
    "tensor2tensor": Convention(
        "tensor2tensor",
        "vaswani2018tensor2tensor",
        spacing="endpoint",
        layout="half_split",
        odd="zero",
    ),
    "fairseq": Convention(
        "fairseq",
        "ott2019fairseq",
        spacing="endpoint",
        layout="half_split",
        start=2,
        odd="zero",
        smallest=4,
    ),
    "phuong_hutter": Convention(
        "Phuong and Hutter (2022)",
        "phuong2022formal",
        first_pair=1,
        base=None,
        start=1,
        array="columns",
    ),
    "d2l": Convention("Dive into Deep Learning", "zhang2023d2l", shift="column"),
    "uva": Convention("UvA tutorial 6", "lippe2022uva"),
    "denk": Convention(
        "Denk (2019)", "denk2019", first_pair=1, start=1, shift="column"
    ),
    "kernes": Convention(
        "Kernes (2021)",
        "kernes2021",
        first="cosine",
        shift="row",
        odd="lone",
    ),
    "flash_card": Convention(
        "a flash card",
        None,
        spacing="endpoint",
        layout="half_split",
        array="columns",
        smallest=4,
    ),
    "notebook_text": Convention(
        "the text of a notebook", None, first_pair=1, base=100.0
    ),
}


def convention_table(convention: str, length: int, d_model: int) -> Array:
    """The table as one text writes it, computed from its own formula.

    Parameters
    ----------
    convention : str
        A key of ``CONVENTIONS``: "paper", "tensor2tensor", "fairseq",
        "phuong_hutter", "d2l", "uva", "denk", "kernes", "flash_card" or
        "notebook_text".
    length : int
        Number of positions, at least 1; for "phuong_hutter" at least 2, since it is
        also the base.
    d_model : int
        Width of an encoding. Most texts admit even widths only; "fairseq" and
        "flash_card" divide by zero below 4.

    Returns
    -------
    array, float64
        [length, d_model], or [d_model, length] where a position is a column.

    Raises
    ------
    TypeError
        If `length` or `d_model` is not an integer.
    ValueError
        If the convention is unknown or does not define this length or width.

    Examples
    --------
    The first two words in four dimensions. In the paper they are at positions 0
    and 1, and the pairs turn by 1 and 1/100; Denk counts positions and pairs from 1,
    so that his turn by 1/100 and 1/10000.

    >>> convention_table("paper", 2, 4).round(2)
    array([[0.  , 1.  , 0.  , 1.  ],
           [0.84, 0.54, 0.01, 1.  ]])
    >>> convention_table("denk", 2, 4).round(2)
    array([[0.01, 1.  , 0.  , 1.  ],
           [0.02, 1.  , 0.  , 1.  ]])
    """
    convention = as_choice("convention", convention, tuple(CONVENTIONS))
    length, d_model = _table_size(convention, length, d_model)
    return FORMULAS[convention](length, d_model)


def _table_size(key: str, length: int, d_model: int) -> tuple[int, int]:
    """`length` and `d_model`, if the convention defines a table of that size."""
    convention = CONVENTIONS[key]
    # A base of 1 would make all frequencies equal.
    length = as_integer("length", length, at_least=1 if convention.base else 2)
    width = as_integer("d_model", d_model, at_least=1)
    if width % 2 and convention.odd is None:
        raise ValueError(f"d_model must be even for {key!r}, got {width}")
    if width < convention.smallest:
        raise ValueError(
            f"d_model must be at least {convention.smallest} for {key!r}, got {width}: "
            f"its exponent {convention.exponent} would divide by zero"
        )
    return length, width
