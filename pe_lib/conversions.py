"""From the table of one published convention to that of another, where it can be done.

Columns are reordered, every encoding is moved on by some positions, the array is
turned on its side. A frequency that is missing cannot be made.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pe_lib._arguments import as_choice, as_reals
from pe_lib.conventions import CONVENTIONS, _table_size

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Conversion:
    """How one convention's table is turned into another's.

    Attributes
    ----------
    columns : tuple of int, or None
        Column j of the target is column ``columns[j]`` of the source. None: it cannot
        be done.
    offset : int
        By how many positions every encoding is moved on, with T(offset), before that.
    transpose : bool
        Whether the array is turned on its side.
    reason : str
        Why it cannot be done; otherwise empty.
    gap : float
        The largest difference between encodings of the same position once columns,
        position and array have been brought into line. 0 where it can be done.
    """

    columns: tuple[int, ...] | None
    offset: int
    transpose: bool
    reason: str
    gap: float


def find_conversion(source: str, target: str, length: int, d_model: int) -> Conversion:
    """How one convention's table is turned into another's, or why it cannot be.

    Columns are reordered, positions moved on by T(offset), the array is turned on
    its side; no column of zeros is made. Nothing else would help: sines and cosines of
    different frequencies are linearly independent, so that beyond d_model + 2 positions
    no matrix makes a frequency that is missing, but for rounding where it is slow.

    Parameters
    ----------
    source, target : str
        Keys of ``pe_lib.conventions.CONVENTIONS``.
    length, d_model : int
        The size of the table, as for :func:`pe_lib.conventions.convention_table`.

    Returns
    -------
    Conversion

    Raises
    ------
    TypeError, ValueError
        As :func:`pe_lib.conventions.convention_table`, for either convention.

    Examples
    --------
    >>> find_conversion("paper", "kernes", 100, 4).columns
    (1, 0, 3, 2)
    >>> find_conversion("tensor2tensor", "fairseq", 100, 4).offset
    2
    >>> find_conversion("paper", "tensor2tensor", 100, 4).reason
    '1 of 2 frequencies in common'
    """
    keys = tuple(CONVENTIONS)
    source = as_choice("source", source, keys)
    target = as_choice("target", target, keys)
    for key in (source, target):
        size = _table_size(key, length, d_model)
    before, after = (_columns(key, *size) for key in (source, target))
    offset = CONVENTIONS[target].start - CONVENTIONS[source].start
    transpose = CONVENTIONS[target].array != CONVENTIONS[source].array
    found = [
        j for column in after for j, held in enumerate(before) if _same(held, column)
    ]
    if len(found) == len(after):
        return Conversion(tuple(found), offset, transpose, "", 0.0)
    old, new = ({w for _, w in columns if w} for columns in (before, after))
    common = sum(any(math.isclose(v, w, rel_tol=1e-9) for v in old) for w in new)
    if common == len(old) == len(new):
        reason = "the last column is a sine in one, a cosine in the other"
    else:
        reason = f"{common} of {len(new)} frequencies in common"
    left, right = (_aligned(columns, size[0]) for columns in (before, after))
    gap = float(np.abs(left - right).max())
    return Conversion(None, offset, transpose, reason, gap)


def convert(table: ArrayLike, source: str, target: str) -> Array:
    """Turn the table of one convention into that of another.

    Parameters
    ----------
    table : array_like
        What ``convention_table(source, length, d_model)`` returns, perhaps rounded.
    source, target : str
        Keys of ``pe_lib.conventions.CONVENTIONS``.

    Returns
    -------
    array, float64
        What ``convention_table(target, length, d_model)`` returns, up to rounding.

    Raises
    ------
    TypeError
        If `table` does not hold real numbers.
    ValueError
        If `table` is not two-dimensional and finite, a convention is unknown or does
        not define a table of this size, or the two have other frequencies (see
        :func:`find_conversion`).

    Examples
    --------
    Kernes writes the cosine first:

    >>> convert([[0.0, 1.0], [0.8415, 0.5403]], "paper", "kernes")
    array([[1.    , 0.    ],
           [0.5403, 0.8415]])
    """
    rows = as_reals("table", table)
    if rows.ndim != 2 or not rows.size:
        raise ValueError(f"table must have two axes, neither empty, got {rows.shape}")
    if not np.isfinite(rows).all():
        raise ValueError("table must be finite, got NaN or infinity in it")
    source = as_choice("source", source, tuple(CONVENTIONS))
    if CONVENTIONS[source].array == "columns":
        rows = rows.T
    found = find_conversion(source, target, *rows.shape)
    if found.columns is None:
        raise ValueError(
            f"target must have the frequencies of {source!r}, got {target!r}: "
            f"{found.reason}, entries differ by up to {found.gap:.3g}"
        )
    if found.offset:
        rows = _moved_on(rows, _columns(source, *rows.shape), found.offset)
    rows = rows[:, found.columns]
    return rows.T if CONVENTIONS[target].array == "columns" else rows


_Column = tuple[str, float]
_PARTNER = {"sine": "cosine", "cosine": "sine", "zero": "zero"}


def _columns(key: str, length: int, d_model: int) -> list[_Column]:
    columns = CONVENTIONS[key].columns(d_model, length)
    return [(wave, float(speed)) for wave, speed in columns]


def _same(left: _Column, right: _Column) -> bool:
    return left[0] == right[0] and math.isclose(left[1], right[1], rel_tol=1e-9)


def _aligned(columns: list[_Column], length: int) -> Array:
    """Positions 0 to length - 1: fastest pair first, sine before cosine, zero last."""
    order = sorted(columns, key=lambda column: (-column[1], column[0] == "cosine"))
    angles = np.outer(np.arange(length), [w for _, w in order])
    cosines = np.array([wave == "cosine" for wave, _ in order])
    codes: Array = np.where(cosines, np.cos(angles), np.sin(angles))
    return codes  # the sine of frequency 0 is the column of zeros


def _moved_on(rows: Array, columns: list[_Column], offset: int) -> Array:
    """T(offset) on every encoding, wherever sine and cosine of a pair stand."""
    place = {column: j for j, column in enumerate(columns)}
    partner = [place[_PARTNER[wave], w] for wave, w in columns]
    sign = [-1 if wave == "cosine" else 1 for wave, _ in columns]
    angle = offset * np.array([w for _, w in columns])
    moved: Array = np.cos(angle) * rows + sign * np.sin(angle) * rows[:, partner]
    return moved
