"""The shift matrix T(k): moving every position k on is a rotation.

One pair (sin a, cos a) moves on by the angle b with the angle-sum identities,

    sin(a + b) =  cos(b) sin(a) + sin(b) cos(a)
    cos(a + b) = -sin(b) sin(a) + cos(b) cos(a)

and neither right-hand side needs the position, only the offset.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pe_lib._arguments import as_even_width, as_float_array, as_integer, as_offset
from pe_lib.encoding import sinusoidal
from pe_lib.layouts import layout_columns


def shift_matrix(
    offset: float,
    d_model: int,
    *,
    base: float = 10_000.0,
    spacing: str = "paper",
    layout: str = "interleaved",
) -> NDArray[np.float64]:
    r"""The matrix T with ``T @ P[t]`` equal to ``P[t + offset]``, up to rounding.

    .. math::

       T(k) = \begin{pmatrix}
         \cos\omega_j k & \sin\omega_j k \\
        -\sin\omega_j k & \cos\omega_j k \end{pmatrix}_{j = 0, 1, \ldots}

    for every position t: one block per pair (sine, cosine), zeros elsewhere. That
    it exists is stated by Vaswani et al. (2017), section 3.5. Encodings are
    columns; where they are rows, as in a table, use the transpose:
    ``P[t] @ T.T``. The transpose is also the inverse, so the wrong one shifts
    by ``-offset``.

    Parameters
    ----------
    offset : float
        How many positions to move on: any real number of size at most 2**31.
    d_model : int
        Width of the encoding, even.
    base, spacing, layout
        As for the encoding that is to be shifted; see :func:`sinusoidal`.

    Returns
    -------
    array [d_model, d_model], float64

    Raises
    ------
    TypeError
        If `offset` is not a single real number or `d_model` not an integer.
    ValueError
        If `d_model` is odd or below 1, `offset` is not finite or beyond 2**31,
        or :func:`sinusoidal` would raise.

    Examples
    --------
    A full turn of the first pair changes nothing, a quarter turn swaps sine
    and cosine, one of them with a new sign:

    >>> abs(shift_matrix(2 * np.pi, 2).round(4))
    array([[1., 0.],
           [0., 1.]])
    >>> shift_matrix(np.pi / 2, 2).round(4)
    array([[ 0.,  1.],
           [-1.,  0.]])
    """
    offset = as_offset(offset)
    d_model = as_even_width(d_model)
    # The entries of T(k) are the entries of the encoding of position k.
    code = sinusoidal(offset, d_model, base=base, spacing=spacing, layout=layout)
    sines, cosines = layout_columns(d_model, layout)
    sin, cos = np.diag(code[sines]), np.diag(code[cosines])
    matrix = np.zeros((d_model, d_model))
    matrix[sines, sines], matrix[sines, cosines] = cos, sin
    matrix[cosines, sines], matrix[cosines, cosines] = -sin, cos
    return matrix


def fit_shift(table: ArrayLike, offset: int) -> tuple[NDArray[np.float64], float]:
    r"""The matrix that comes nearest to shifting any table of encodings.

    .. math::

       \begin{aligned}
       T &= \arg\min_T \sum_t \lVert T P_t - P_{t+k} \rVert^2 \\
       \text{residual}^2 &=
         \frac{\sum_t \lVert T P_t - P_{t+k} \rVert^2}
              {\sum_t \lVert P_{t+k} \rVert^2}
       \end{aligned}

    over all t for which both rows exist. Residual 0 means that one matrix
    shifts every row; 1 means that no matrix does better than the zero matrix.
    Where several matrices fit equally well, T is the smallest one, so a small
    residual does not say that T is the only one.

    Parameters
    ----------
    table : array_like [length, d_model]
        One row per position, any encoding, float.
    offset : int
        Rows to move on; may be negative.

    Returns
    -------
    T : array [d_model, d_model], float64
    residual : float

    Raises
    ------
    TypeError
        If `table` is not of a float dtype or `offset` not an integer.
    ValueError
        If `table` is not two-dimensional, has an entry that is not finite, or
        ``length - |offset| <= d_model``: then almost any table fits, random ones
        too.

    Examples
    --------
    Powers of two are shifted by one matrix, [[2]]. The counting numbers are not:
    the best T is (1*2 + 2*3 + 3*4) / (1*1 + 2*2 + 3*3) = 20/14.

    >>> T, residual = fit_shift([[1.0], [2.0], [4.0], [8.0]], 1)
    >>> T.round(4), residual < 1e-12
    (array([[2.]]), True)
    >>> T, residual = fit_shift([[1.0], [2.0], [3.0], [4.0]], 1)
    >>> T.round(4), round(residual, 4)
    (array([[1.4286]]), 0.1216)
    """
    table = as_float_array("table", table).astype(np.float64)
    offset = as_integer("offset", offset)
    if table.ndim != 2 or not table.shape[1]:
        raise ValueError(f"table must have shape [length, d_model], got {table.shape}")
    if not np.isfinite(table).all():
        raise ValueError("table must be finite, got NaN or infinity in it")
    length, d_model = table.shape
    rows = length - abs(offset)
    if rows <= d_model:
        raise ValueError(
            f"length - |offset| must be above d_model = {d_model}, got {length} - "
            f"{abs(offset)}: so few rows fit almost any table"
        )
    # T and the residual do not depend on the scale; squares of it might overflow.
    table = table / (np.abs(table).max() or 1)
    first = max(0, -offset)
    before = table[first : first + rows]
    after = table[first + offset : first + offset + rows]
    solution = np.linalg.lstsq(before, after, rcond=None)[0]
    size = np.linalg.norm(after)
    residual = np.linalg.norm(before @ solution - after) / size if size else 0.0
    return solution.T, float(residual)
