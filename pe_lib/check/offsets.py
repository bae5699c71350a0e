"""Scores or biases of queries and keys, sorted by the offset between the two."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]


def ends_by_offset(values: Array, columns: int = 0) -> tuple[Array, Array]:
    """Lowest and highest value of each offset; NaN where a mask hides some.

    `values` are [heads, query, key]. With `columns` an offset is one of rows and
    columns in a picture so wide.
    """
    heads, count, _ = values.shape
    row, column = np.divmod(np.arange(count), columns or count)
    place = row * 2 * columns + column
    shape = heads, 2 * place[-1] + 1
    low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
    for query in range(count):
        at = np.s_[:, place - place[query] + place[-1]]
        low[at] = np.minimum(low[at], values[:, query])
        high[at] = np.maximum(high[at], values[:, query])
    return low, high


def spread_by_offset(values: Array, columns: int = 0) -> float:
    """By how much values of one offset differ."""
    low, high = ends_by_offset(values, columns)
    return float(np.nanmax(high - low))


def picture_width(values: Array, enough: float) -> int:
    """The width of a picture whose offsets have one value each; 0 if there is none."""
    count = values.shape[-1]
    widths = (n for n in range(2, count // 2 + 1) if count % n == 0)
    return next((n for n in widths if spread_by_offset(values, n) <= enough), 0)
