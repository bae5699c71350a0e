"""The sinusoidal encoding of consecutive positions: a table, one row per position."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pe_lib._arguments import (
    LARGEST_POSITION,
    as_base,
    as_choice,
    as_float_dtype,
    as_integer,
)
from pe_lib._exact_angles import sines_and_cosines, write_sines_and_cosines
from pe_lib.frequencies import SPACINGS
from pe_lib.layouts import LAYOUTS

BLOCK = 32  # rows that are turned on from one
NARROW = 128  # columns; up to here calls cost more than numbers


def sinusoidal_table(
    length: int,
    d_model: int,
    *,
    start: int = 0,
    base: float = 10_000.0,
    spacing: str = "paper",
    layout: str = "interleaved",
    dtype: DTypeLike = np.float64,
) -> NDArray[Any]:
    r"""The encodings of positions start, start + 1, ..., start + length - 1.

    Row r is ``sinusoidal(start + r, d_model, ...)`` up to rounding, and the
    same whatever `start` and `length` are. Only every 32nd row is made of sines
    and cosines. The others are turned on from it, since a shift is a rotation,

    .. math::

       \begin{aligned}
       \sin(a+b) &+ i\cos(a+b) \\
         &= (\sin a + i\cos a)\,e^{-ib}
       \end{aligned}

    so that an entry is within 4e-16 of the truth before it is rounded. At most
    one float32 entry in ten million then differs from :func:`sinusoidal`, one
    next to zero by more than its last bit.
    Beside the table itself about 200 rows of float32 are in use, in a narrow
    table (d_model at most 128) up to a megabyte.

    Parameters
    ----------
    length : int
        Number of rows, at least 0.
    d_model, base, spacing, layout, dtype
        As in :func:`sinusoidal`.
    start : int
        Position of the first row; may be negative.

    Returns
    -------
    array [length, d_model] of `dtype`

    Raises
    ------
    TypeError, ValueError
        If `length` is negative, `length` or `start` is not an integer,
        a position lies beyond 2**31, or :func:`sinusoidal` would raise.

    Examples
    --------
    >>> sinusoidal_table(3, 2).round(4)
    array([[ 0.    ,  1.    ],
           [ 0.8415,  0.5403],
           [ 0.9093, -0.4161]])
    """
    length = as_integer("length", length, at_least=0)
    d_model = as_integer("d_model", d_model, at_least=1)
    start = as_integer("start", start)
    base = as_base(base)
    spacing = as_choice("spacing", spacing, SPACINGS)
    layout = as_choice("layout", layout, LAYOUTS)
    dtype = as_float_dtype(dtype)
    for position in (start, start + max(length - 1, 0)):
        if abs(position) > LARGEST_POSITION:
            raise ValueError(
                "start and start + length - 1 must lie within -2**31 and 2**31, "
                f"got {position}"
            )
    stop = start + length
    # How many blocks get their first rows at once, and how many are turned at once.
    ahead, together = (16, 16) if d_model <= NARROW else (8, 1)
    # Blocks begin at multiples of BLOCK: a row does not depend on start and length.
    begin = start - start % BLOCK
    blocks = BLOCK * np.arange(ahead, dtype=np.int64)
    both = np.concatenate([np.arange(BLOCK), begin + blocks])
    hands = sines_and_cosines(both, d_model, base, spacing)
    # A hand is i exp(-ia), so that these are exp(-ib) for b = 0, ..., BLOCK - 1.
    rotations, firsts = -1j * hands[:BLOCK], hands[BLOCK:].copy()
    del hands
    turned = np.empty((together, *rotations.shape), rotations.dtype)
    rows = turned.reshape(-1, rotations.shape[1])
    table = np.empty((length, d_model), dtype)
    for group in range(begin, stop, ahead * BLOCK):
        if group > begin:
            firsts = sines_and_cosines(group + blocks, d_model, base, spacing)
        for first in range(group, min(group + ahead * BLOCK, stop), len(rows)):
            block = (first - group) // BLOCK
            turned[...] = firsts[block : block + together, np.newaxis]
            turned *= rotations
            low, high = max(first, start), min(first + len(rows), stop)
            found = rows[low - first : high - first]
            write_sines_and_cosines(found, table[low - start : high - start], layout)
    return table
