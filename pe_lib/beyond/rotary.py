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
    as_integer,
    as_positions,
    as_reals,
    as_rotary_dim,
    round_once,
)
from pe_lib._exact_angles import (
    as_fixed_point,
    fixed_point_frequencies,
    sines_and_cosines_of,
)
from pe_lib.frequencies import angular_frequencies
from pe_lib.layouts import LAYOUTS, layout_columns

EXPONENTS = ("rotary_dim", "head_dim")
BASE = 10_000.0


def rotary_frequencies(
    head_dim: int,
    *,
    base: float = BASE,
    rotary_dim: int | None = None,
    exponent: str = "rotary_dim",
) -> NDArray[np.float64]:
    r"""How fast each pair of a head turns, fastest first.

    .. math:: \omega_j = b^{-2j/r}, \quad j < r/2

    with the exponent over r, or over d, followed by d/2 - r/2 zeros,

    .. math:: \omega_j = b^{-2j/d}, \quad j < r/2

    with b the base, d = `head_dim` and r = `rotary_dim`. Two encodings are called
    partial rotary. GPT-J, GPT-NeoX and Phi turn the first r numbers of a head as if
    they were a head of width r, and leave the others out: the first formula. The
    second keeps the frequencies of the whole head and does not turn its slow pairs
    (Barbero et al. 2024 call it p-RoPE). Where r = d the two are one.

    Parameters
    ----------
    head_dim : int
        Width of a head, at least 1; even where `rotary_dim` is left out or the
        exponent is over head_dim.
    base : float
        As in :func:`pe_lib.angular_frequencies`.
    rotary_dim : int, optional
        How many numbers of a head turn: even, from 2 to `head_dim`; all of them if
        left out.
    exponent : "rotary_dim" or "head_dim"
        Which of the two formulas.

    Returns
    -------
    array [rotary_dim / 2] or [head_dim / 2], float64
        Radians per position; 0 for a pair that does not turn.

    Raises
    ------
    TypeError
        If `head_dim` or `rotary_dim` is no integer, or `base` no single number.
    ValueError
        If one is out of range or odd, or `exponent` is neither of the two.

    Examples
    --------
    Half of eight numbers turn, by either rule. The second pair is a hundred times
    slower than the first, or ten times:

    >>> rotary_frequencies(8, rotary_dim=4)
    array([1.  , 0.01])
    >>> rotary_frequencies(8, rotary_dim=4, exponent="head_dim")
    array([1. , 0.1, 0. , 0. ])
    """
    head_dim = as_integer("head_dim", head_dim, at_least=1)
    base = as_base(base)
    rotary_dim = as_rotary_dim(rotary_dim, head_dim)
    if as_choice("exponent", exponent, EXPONENTS) == "rotary_dim":
        return angular_frequencies(rotary_dim, base=base)
    as_rotary_dim(None, head_dim)
    frequencies = angular_frequencies(head_dim, base=base)
    frequencies[rotary_dim // 2 :] = 0
    return frequencies


def apply_rotary(
    vectors: ArrayLike,
    positions: ArrayLike,
    *,
    base: float = BASE,
    layout: str = "interleaved",
    rotary_dim: int | None = None,
    frequencies: ArrayLike | None = None,
) -> NDArray[Any]:
    r"""Turn queries or keys by the angles of their positions.

    .. math::

       \begin{pmatrix} x'_{2j} \\ x'_{2j+1} \end{pmatrix} =
       \begin{pmatrix} \cos\omega_j t & -\sin\omega_j t \\
                       \sin\omega_j t & \cos\omega_j t \end{pmatrix}
       \begin{pmatrix} x_{2j} \\ x_{2j+1} \end{pmatrix}

    Su et al. (2021), equations 14 and 15, with the frequencies of
    :func:`rotary_frequencies`. A dot product of two rotated vectors depends on the
    difference of their positions alone. The rotation is the shift matrix T(-t):
    rotary and the sinusoid are the same turn, here of the words, there of the
    encodings. (It is T(t) if each pair is read as cosine, sine.)

    Parameters
    ----------
    vectors : array_like [..., head_dim] of a float dtype
        Queries or keys of one head each.
    positions : array_like
        Real numbers of size at most 2**31, of the shape of `vectors` without its
        last axis, or of the last axes of that shape: [length] for vectors
        [batch, heads, length, head_dim]; a single number turns all vectors alike.
    base : float
        As in :func:`pe_lib.angular_frequencies`.
    layout : "interleaved" or "half_split"
        Which two numbers are a pair: neighbours, as in the paper and in Meta's
        Llama, or number j of the first and number j of the second half, as in
        GPT-NeoX and Hugging Face's Llama. Weights that were trained with one are
        wrong for the other: see
        :func:`pe_lib.layouts.convert_rotary_weight`.
    rotary_dim : int, optional
        Only the first so many numbers of each vector turn, with frequencies
        b**(-2j / rotary_dim), in a layout of their own; an even number. All of
        them if left out.
    frequencies : array_like [K], optional
        Radians per position of each pair, in the place of those that follow from
        `base`: from 0 (the pair does not turn) to pi. The first 2 K numbers turn.

    Returns
    -------
    array [..., head_dim] of the dtype of `vectors`
        Computed in float64 and rounded once; complete turns are dropped exactly, so
        that the angle is as exact at position 2**31 as at 1.

    Raises
    ------
    TypeError
        If `vectors` are no floats, or `positions` or `frequencies` no real numbers.
    ValueError
        If the width that turns is odd or wider than `vectors`, the shapes do not
        fit, a position is NaN, infinite or beyond 2**31, `base` is not above 1,
        `layout` is unknown, or `frequencies` come with a `base` or a
        `rotary_dim` that says otherwise.

    Examples
    --------
    The first pair turns by 1 radian per position, the second by a hundredth:

    >>> apply_rotary([1.0, 0.0, 1.0, 0.0], 1).round(4)
    array([0.5403, 0.8415, 1.    , 0.01  ])

    Two words turn together, and their score stays:

    >>> u, v = [1.0, 1.0, 0.0, 1.0], [-1.0, 1.0, 1.0, 0.0]
    >>> for t, s in ((1, 0), (4, 3), (104, 103)):
    ...     float((apply_rotary(u, t) @ apply_rotary(v, s)).round(4))
    1.6729
    1.6729
    1.6729
    """
    vectors = as_float_array("vectors", vectors)
    head_dim = vectors.shape[-1] if vectors.ndim else 0
    width = rotary_dim is None and frequencies is None
    if not head_dim or (width and head_dim % 2):
        raise ValueError(
            "vectors must have shape [..., head_dim] with an even head_dim, got "
            f"{vectors.shape}"
        )
    positions = as_positions(positions)
    base = as_base(base)
    layout = _as_layout(layout)
    around = vectors.shape[:-1]
    if positions.ndim and around[-positions.ndim :] != positions.shape:
        raise ValueError(
            f"positions must have shape {around} or its last axes, for vectors of "
            f"shape {vectors.shape}, got {positions.shape}"
        )
    turning, fixed_point = _pair_frequencies(head_dim, base, rotary_dim, frequencies)
    integers = np.rint(positions)
    fractions = positions - integers
    hands = sines_and_cosines_of(
        integers.astype(np.int64),
        fixed_point,
        turning,
        fractions if fractions.any() else None,
    )
    rotated = rotate(vectors, hands.imag, hands.real, layout)
    return round_once(rotated, vectors.dtype)


def rotate(
    x: ArrayLike, cos: ArrayLike, sin: ArrayLike, layout: str
) -> NDArray[np.float64]:
    r"""Rotate pairs of numbers by the angles whose cosines and sines are given.

    .. math:: (a, b) \mapsto (a\cos\theta - b\sin\theta,\; a\sin\theta + b\cos\theta)

    x is [..., head_dim]; cos and sin are [..., K] and broadcast against x, whose first
    2 K numbers are pairs in the `layout` of :func:`apply_rotary`; the others stay. The
    same for tensors is :func:`pe_lib.nn.rotate`. Returns float64.

    Raises TypeError if x, cos or sin are no real numbers, ValueError if their shapes do
    not fit or the layout is unknown.

    >>> rotate([1.0, 2.0, 3.0, 4.0], [0.0, 1.0], [1.0, 0.0], "half_split")
    array([-3.,  2.,  1.,  4.])
    """
    cos, sin, rotated = as_reals("cos", cos), as_reals("sin", sin), as_reals("x", x)
    around = zip(cos.shape[-2::-1], rotated.shape[-2::-1], strict=False)
    fits = 0 < cos.ndim <= rotated.ndim and sin.shape == cos.shape
    if not fits or any(n not in (1, m) for n, m in around):
        raise ValueError(
            "x, cos and sin must have shapes [..., head_dim], [..., K] and [..., K], "
            f"got {rotated.shape}, {cos.shape} and {sin.shape}"
        )
    width = 2 * cos.shape[-1]
    if width > rotated.shape[-1]:
        raise ValueError(
            f"x must have {width} numbers or more, got {rotated.shape[-1]}"
        )
    pairs = rotated[..., :width]
    columns = layout_columns(width, _as_layout(layout))
    first, second = (pairs[..., part].copy() for part in columns)
    pairs[..., columns[0]] = first * cos - second * sin
    pairs[..., columns[1]] = first * sin + second * cos
    return rotated


def _as_layout(value: Any) -> str:
    """Return the layout; the error says whose is which."""
    try:
        return as_choice("layout", value, LAYOUTS)
    except ValueError as error:
        raise ValueError(
            f"{error}; pairs are neighbours in GPT-J, and halves in GPT-NeoX and in "
            "transformers' Llama"
        ) from None


def _pair_frequencies(
    head_dim: int,
    base: float,
    rotary_dim: int | None,
    frequencies: ArrayLike | None,
) -> tuple[NDArray[np.float64], tuple[NDArray[np.uint64], NDArray[np.float64]]]:
    """The frequency of each pair that turns, in radians and in fixed point."""
    if frequencies is None:
        rotary_dim = as_rotary_dim(rotary_dim, head_dim)
        turning = angular_frequencies(rotary_dim, base=base)
        return turning, fixed_point_frequencies(rotary_dim, base, "paper")
    turning = _as_frequencies(frequencies, head_dim)
    if base != BASE:
        raise ValueError(
            f"base must be left out where frequencies are given, got {base:g}"
        )
    if rotary_dim is not None and as_integer("rotary_dim", rotary_dim) != 2 * len(
        turning
    ):
        raise ValueError(
            f"rotary_dim must be {2 * len(turning)} where {len(turning)} frequencies "
            f"are given, or left out, got {rotary_dim}"
        )
    return turning, as_fixed_point(tuple(turning.tolist()))


def _as_frequencies(value: ArrayLike, head_dim: int) -> NDArray[np.float64]:
    """Return `frequencies` [K] of a head, each from 0 to half a turn a position."""
    frequencies = as_reals("frequencies", value)
    if frequencies.ndim != 1 or not 1 <= len(frequencies) <= head_dim // 2:
        raise ValueError(
            f"frequencies must have shape [K] with K from 1 to head_dim / 2 = "
            f"{head_dim / 2:g}, got {frequencies.shape}"
        )
    bad = frequencies[~np.isfinite(frequencies)]
    if bad.size:
        raise ValueError(f"frequencies must be finite, got {bad[0]}")
    bad = frequencies[(frequencies < 0) | (frequencies > np.pi)]
    if bad.size:
        raise ValueError(f"frequencies must lie within 0 and pi, got {bad[0]:g}")
    return frequencies
