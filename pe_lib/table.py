"""The sinusoidal encoding of consecutive positions: a table, a row a position."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pe_lib._arguments import LARGEST_POSITION, as_integer
from pe_lib.sinusoidal import sinusoidal


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
    """The encodings of positions start, start + 1, ..., start + length - 1.

    Row r is ``sinusoidal(start + r, d_model, ...)``, to the last bit.

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
    start = as_integer("start", start)
    last = start + max(length - 1, 0)
    for position in (start, last):
        if abs(position) > LARGEST_POSITION:
            raise ValueError(
                "start and start + length - 1 must lie within -2**31 and 2**31, "
                f"got {position}"
            )
    return sinusoidal(
        np.arange(start, start + length),
        d_model,
        base=base,
        spacing=spacing,
        layout=layout,
        dtype=dtype,
    )
