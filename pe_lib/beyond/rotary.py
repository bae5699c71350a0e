r"""Rotary positions: turn queries and keys, and let their products compare.

Nothing is added to the words. Query t and key s are turned by their own angles;
in the score only the difference of the angles is left.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pe_lib._arguments import (
    as_base,
    as_choice,
    as_float_array,
    as_positions,
    round_once,
)
from pe_lib.layouts import LAYOUTS, layout_columns
from pe_lib.sinusoidal import sinusoidal


def apply_rotary(
    vectors: ArrayLike,
    positions: ArrayLike,
    *,
    base: float = 10_000.0,
    layout: str = "interleaved",
) -> NDArray[Any]:
    r"""Turn queries or keys by the angles of their positions.

    .. math::

       \begin{pmatrix} x'_{2j} \\ x'_{2j+1} \end{pmatrix} =
       \begin{pmatrix} \cos\omega_j t & -\sin\omega_j t \\
                       \sin\omega_j t & \cos\omega_j t \end{pmatrix}
       \begin{pmatrix} x_{2j} \\ x_{2j+1} \end{pmatrix}

    Su et al. (2021), equations 14 and 15, with the frequencies of
    :func:`pe_lib.angular_frequencies` for the width of a head. A dot product of two
    rotated vectors depends on the difference of their positions alone. The
    rotation is the shift matrix T(-t): rotary and the sinusoid are the same turn,
    here of the words, there of the codes.

    Parameters
    ----------
    vectors : array_like [..., head_dim] of a float dtype
        Queries or keys of one head each; an even width.
    positions : array_like
        Of the shape of `vectors` without its last axis, or of the last axes of
        that shape: [length] for vectors [batch, heads, length, head_dim]; a single
        number turns all vectors alike.
    base : float
        As in :func:`pe_lib.angular_frequencies`.
    layout : "interleaved" or "half_split"
        Which two numbers are a pair: neighbours, as in the paper, or number j of
        the first and number j of the second half, as in Llama. Weights that were
        trained with one are wrong for the other.

    Returns
    -------
    array [..., head_dim] of the dtype of `vectors`
        Computed in float64 and rounded once.

    Raises
    ------
    TypeError
        If `vectors` are no floats or `positions` no real numbers.
    ValueError
        If the width is odd, the shapes do not fit, a position is NaN, infinite or
        beyond 2**31, `base` is not above 1, or `layout` is unknown.

    Examples
    --------
    The first pair turns by 1 radian per position, the second by a hundredth:

    >>> apply_rotary([1.0, 0.0, 1.0, 0.0], 1).round(4)
    array([0.5403, 0.8415, 1.    , 0.01  ])
    """
    given = as_float_array("vectors", vectors)
    head_dim = given.shape[-1] if given.ndim else 0
    if not head_dim or head_dim % 2:
        raise ValueError(
            "vectors must have shape [..., head_dim] with an even head_dim, got "
            f"{given.shape}"
        )
    positions = as_positions(positions)
    base = as_base(base)
    layout = as_choice("layout", layout, LAYOUTS)
    around = given.shape[:-1]
    if positions.ndim and around[-positions.ndim :] != positions.shape:
        raise ValueError(
            f"positions must have shape {around} or its last axes, for vectors of "
            f"shape {given.shape}, got {positions.shape}"
        )
    columns = layout_columns(head_dim, layout)
    codes = sinusoidal(positions, head_dim, base=base)
    sin, cos = codes[..., 0::2], codes[..., 1::2]
    turned = np.empty(given.shape)
    exact = given.astype(np.float64)
    first, second = exact[..., columns[0]], exact[..., columns[1]]
    turned[..., columns[0]] = first * cos - second * sin
    turned[..., columns[1]] = first * sin + second * cos
    return round_once(turned, given.dtype)
