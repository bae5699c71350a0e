"""The sinusoidal encoding of any positions."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from pe_lib._arguments import (
    as_base,
    as_choice,
    as_float_dtype,
    as_integer,
    as_positions,
)
from pe_lib._exact_angles import sines_and_cosines, write_sines_and_cosines
from pe_lib.frequencies import SPACINGS
from pe_lib.layouts import LAYOUTS


def sinusoidal(
    positions: ArrayLike,
    d_model: int,
    *,
    base: float = 10_000.0,
    spacing: str = "paper",
    layout: str = "interleaved",
    dtype: DTypeLike = np.float64,
) -> NDArray[Any]:
    r"""The sinusoidal encoding of Vaswani et al. (2017), section 3.5.

    .. math::

       P_{t,2j} = \sin(\omega_j t), \qquad P_{t,2j+1} = \cos(\omega_j t)

    with the frequencies of :func:`angular_frequencies`. Complete turns are
    dropped in integers, exactly, so that the error does not grow with the
    position: it is at most 4e-16 before rounding. At integer positions it is
    also small next to the entry, however near to zero that may be: a float32
    entry is at most 0.5001 ulp from the truth.

    Parameters
    ----------
    positions : array_like [...]
        Real numbers, negative and fractional ones too, of any shape and of
        size at most 2**31. A float with an integer value counts as that
        integer.
    d_model : int
        Width of the encoding, at least 1. In an odd width the last sine has
        no cosine.
    base, spacing
        As in :func:`angular_frequencies`.
    layout : "interleaved" or "half_split"
        Sine and cosine of a pair side by side, or all sines first.
    dtype : dtype
        float64, float32, float16, or bfloat16 from ml_dtypes. The 16-bit
        types are the float32 value rounded once.

    Returns
    -------
    array [..., d_model] of `dtype`

    Raises
    ------
    TypeError
        If positions are not real numbers (booleans are not), `d_model` is not
        an integer, or `dtype` is none of the four.
    ValueError
        If a position is NaN, infinite or beyond 2**31, `d_model` is below 1,
        `base` is not above 1, or `layout` or `spacing` is unknown.

    Examples
    --------
    Position 1 in four dimensions: sin 1, cos 1, sin 0.01, cos 0.01.

    >>> sinusoidal(1, 4).round(4)
    array([0.8415, 0.5403, 0.01  , 1.    ])
    >>> sinusoidal([[0, 1, 2], [3, 4, 5]], 4).shape
    (2, 3, 4)
    """
    positions = as_positions(positions)
    d_model = as_integer("d_model", d_model, at_least=1)
    base = as_base(base)
    spacing = as_choice("spacing", spacing, SPACINGS)
    layout = as_choice("layout", layout, LAYOUTS)
    codes = np.empty((*positions.shape, d_model), as_float_dtype(dtype))
    integers = np.rint(positions)
    fractions = positions - integers
    hands = sines_and_cosines(
        integers.astype(np.int64),
        d_model,
        base,
        spacing,
        fractions if fractions.any() else None,
    )
    write_sines_and_cosines(hands, codes, layout)
    return codes
