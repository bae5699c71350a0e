r"""Positions on a grid: of the patches of an image, the boxes of a video.

A position here is a list of coordinates, one an axis: (row, column), or (time, row,
column). An axial encoding spends some of its numbers on each axis. A mixed one lets a
pair of numbers turn with several axes at once.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from pe_lib._arguments import (
    as_base,
    as_flag,
    as_float_array,
    as_integer,
    as_integers,
    as_positions,
    as_reals,
    as_rotary_dim,
    round_once,
    short_repr,
)
from pe_lib.beyond.rotary import BASE, apply_rotary
from pe_lib.encoding import sinusoidal
from pe_lib.frequencies import angular_frequencies


def raster(height: int, width: int) -> NDArray[np.int64]:
    """Row and column of each patch, line by line, as a page is read.

    Returns an array [height * width, 2] of int64: patch number t is in row
    t // width and column t % width. Raises TypeError if a size is not an integer,
    ValueError if it is below 1.

    >>> raster(2, 3).tolist()
    [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]
    """
    height = as_integer("height", height, at_least=1)
    width = as_integer("width", width, at_least=1)
    rows, columns = np.divmod(np.arange(height * width, dtype=np.int64), width)
    return np.stack([rows, columns], axis=1)


def axial(
    positions: ArrayLike,
    d_model: int,
    *,
    base: float = BASE,
    spacing: str = "paper",
    layout: str = "interleaved",
    dtype: DTypeLike = np.float64,
) -> NDArray[Any]:
    r"""One sinusoidal encoding for each coordinate, side by side.

    .. math:: (P_y, P_x), \qquad\text{each of } d/2 \text{ numbers}

    and likewise for more axes. The image encoders MoCo v3 and MAE add such encodings to
    their patches: MAE with layout "half_split", the **column** first although its
    program calls that part ``emb_h``; MoCo v3's form in Google's big_vision has
    spacing "endpoint". For either give (column, row).

    Parameters
    ----------
    positions : array_like [..., axes]
        Coordinates, real numbers of size at most 2**31.
    d_model : int
        A multiple of twice the number of axes, so that no sine is alone.
    base, spacing, layout, dtype
        As in :func:`pe_lib.sinusoidal`, for each part.

    Returns
    -------
    array [..., d_model] of `dtype`

    Raises
    ------
    TypeError
        If an argument has a wrong type.
    ValueError
        If `positions` have no axis, `d_model` does not divide, or
        :func:`pe_lib.sinusoidal` refuses an argument.

    Examples
    --------
    Row 1, column 0 of an image:

    >>> axial([1, 0], 4).round(2)
    array([0.84, 0.54, 0.  , 1.  ])
    """
    coordinates = _as_coordinates(positions)
    axes = coordinates.shape[-1]
    width = as_integer("d_model", d_model, at_least=1)
    if width % (2 * axes):
        raise ValueError(
            f"d_model must be a multiple of {2 * axes} for {axes} axes, got {width}"
        )
    parts = [
        sinusoidal(
            coordinates[..., axis],
            width // axes,
            base=base,
            spacing=spacing,
            layout=layout,
            dtype=dtype,
        )
        for axis in range(axes)
    ]
    return np.concatenate(parts, axis=-1)


def axial_frequencies(
    head_dim: int, axes: int = 2, *, base: float = BASE
) -> NDArray[np.float64]:
    r"""Each axis turns its own share of the pairs, all with the same frequencies.

    .. math:: \omega_j = b^{-2j/(d/a)}, \qquad j < d/2a

    for each of a axes: axial rotary, as image encoders have it (base 100 in Heo et
    al. 2024, 10,000 in Qwen2-VL's encoder).

    Returns an array [axes, head_dim / 2] of float64, for :func:`rotate_grid`; in
    each column one number is not 0. Raises TypeError if an argument is no number,
    ValueError if `axes` is below 1, `head_dim` no multiple of twice the axes, or
    `base` not above 1.

    >>> axial_frequencies(8, base=100)
    array([[1. , 0.1, 0. , 0. ],
           [0. , 0. , 1. , 0.1]])
    """
    axes = as_integer("axes", axes, at_least=1)
    head_dim = as_integer("head_dim", head_dim, at_least=1)
    if head_dim % (2 * axes):
        raise ValueError(
            f"head_dim must be a multiple of {2 * axes} for {axes} axes, got {head_dim}"
        )
    frequencies = angular_frequencies(head_dim // axes, base=base)
    return np.kron(np.eye(axes), frequencies).astype(np.float64)


def section_frequencies(
    head_dim: int,
    sections: Sequence[int],
    *,
    interleave: bool = False,
    base: float = BASE,
) -> NDArray[np.float64]:
    r"""The axes share one list of frequencies: M-RoPE.

    .. math:: \omega_j = b^{-2j/d}, \qquad j < d/2

    Qwen2-VL cuts the list: the first sections[0] pairs, which are the fastest, turn
    with the time, the next sections[1] with the row, the last with the column; its
    sections are 16, 24, 24 for a width of 128, its base 10**6. With `interleave`,
    as in Qwen3-VL, axis a from 1 on has the pairs a, a + n, a + 2n, ... for n axes,
    sections[a] of them; axis 0 has all the others.

    Parameters
    ----------
    head_dim : int
        Width of a head, even.
    sections : sequence of int
        How many pairs each axis has, at least 0; together head_dim / 2.
    interleave : bool
        Dealt out in turn instead of cut.
    base : float
        As in :func:`pe_lib.angular_frequencies`.

    Returns
    -------
    array [axes, head_dim / 2], float64
        For :func:`rotate_grid`; in each column one number is not 0.

    Raises
    ------
    TypeError
        If an argument has a wrong type.
    ValueError
        If `head_dim` is odd, the sections do not add up, a section does not fit
        interleaved, or `base` is not above 1.

    Examples
    --------
    >>> section_frequencies(12, (2, 2, 2), base=1e6)
    array([[1.e+00, 1.e-01, 0.e+00, 0.e+00, 0.e+00, 0.e+00],
           [0.e+00, 0.e+00, 1.e-02, 1.e-03, 0.e+00, 0.e+00],
           [0.e+00, 0.e+00, 0.e+00, 0.e+00, 1.e-04, 1.e-05]])
    >>> section_frequencies(12, (2, 2, 2), interleave=True, base=1e6)[1]
    array([0.    , 0.1   , 0.    , 0.    , 0.0001, 0.    ])
    """
    head_dim = as_integer("head_dim", head_dim, at_least=2)
    pairs = as_rotary_dim(None, head_dim) // 2
    sizes = as_integers("sections", sections, at_least=0)
    if sizes.ndim != 1 or sizes.sum() != pairs:
        raise ValueError(
            f"sections must add up to head_dim / 2 = {pairs}, "
            f"got {short_repr(sections)}"
        )
    owner = np.repeat(np.arange(len(sizes)), sizes)
    if as_flag("interleave", interleave):
        owner = np.zeros(pairs, dtype=np.int64)
        for axis, size in enumerate(sizes[1:], start=1):
            places = axis + len(sizes) * np.arange(size)
            if size and places[-1] >= pairs:
                raise ValueError(
                    f"sections must leave room to deal out {size} pairs of {pairs} "
                    f"to axis {axis} in turn, got {list(sizes)}"
                )
            owner[places] = axis
    frequencies = angular_frequencies(head_dim, base=as_base(base))
    return np.where(owner == np.arange(len(sizes))[:, np.newaxis], frequencies, 0.0)


def rotate_grid(
    vectors: ArrayLike,
    positions: ArrayLike,
    *,
    sections: Sequence[int] | None = None,
    interleave: bool = False,
    base: float = BASE,
    frequencies: ArrayLike | None = None,
    layout: str = "interleaved",
) -> NDArray[Any]:
    r"""Turn queries or keys by their places on a grid.

    .. math:: \theta_j = \sum_a \omega_{a,j}\, p_a

    is the angle of pair j at the place p. Either `sections` say which axis turns
    which pair (see :func:`section_frequencies`), or `frequencies` are given, axial or
    mixed: in a mixed pair more than one axis counts (Heo et al. 2024). A dot product
    of two rotated vectors depends on the difference of their places alone.

    Parameters
    ----------
    vectors : array_like [..., head_dim] of a float dtype
        Queries or keys of one head each; head_dim even.
    positions : array_like [..., axes]
        Coordinates, of the shape of `vectors` without its last axis, or of the last
        axes of that shape, and one axis more; real numbers of size at most 2**31.
    sections, interleave, base
        As in :func:`section_frequencies`.
    frequencies : array_like [axes, head_dim / 2], optional
        Radians a step, from -pi to pi, instead of `sections`.
    layout : "interleaved" or "half_split"
        Which two numbers are a pair, see :func:`pe_lib.beyond.rotary.apply_rotary`.
        Qwen's programs have "half_split".

    Returns
    -------
    array [..., head_dim] of the dtype of `vectors`, rounded once

    Raises
    ------
    TypeError
        If an argument has a wrong type.
    ValueError
        If both or neither of `sections` and `frequencies` are given, `interleave` or
        `base` come with `frequencies`, the shapes do not fit, a frequency is
        beyond pi, or :func:`pe_lib.beyond.rotary.apply_rotary` refuses an argument.

    Examples
    --------
    One pair for rows, one for columns, and one that turns with their difference:

    >>> frequencies = [[1, 0, 0.5], [0, 1, -0.5]]
    >>> x = [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]
    >>> rotate_grid(x, [2, 2], frequencies=frequencies).round(2) + 0.0
    array([-0.42,  0.91, -0.42,  0.91,  1.  ,  0.  ])
    """
    vectors = as_float_array("vectors", vectors)
    if not vectors.ndim or not vectors.shape[-1] or vectors.shape[-1] % 2:
        raise ValueError(
            "vectors must have shape [..., head_dim] with an even head_dim, got "
            f"{vectors.shape}"
        )
    coordinates = _as_coordinates(positions)
    turning = _axis_frequencies(
        vectors.shape[-1], sections, interleave, base, frequencies
    )
    if len(turning) != coordinates.shape[-1]:
        raise ValueError(
            f"positions must have {len(turning)} axes, as frequencies or sections "
            f"have, got {coordinates.shape[-1]}"
        )
    turned = vectors.astype(np.float64)
    for places, row in zip(np.moveaxis(coordinates, -1, 0), turning, strict=True):
        # A rotation for each axis and sense; they commute.
        for sense in (1, -1):
            ahead = np.maximum(sense * row, 0)
            turned = apply_rotary(
                turned, sense * places, layout=layout, frequencies=ahead
            )
    return round_once(turned, vectors.dtype)


def _axis_frequencies(
    head_dim: int,
    sections: Sequence[int] | None,
    interleave: bool,
    base: float,
    frequencies: ArrayLike | None,
) -> NDArray[np.float64]:
    """The frequency of each axis and pair, [axes, head_dim / 2], of either kind."""
    if sections is not None and frequencies is None:
        return section_frequencies(head_dim, sections, interleave=interleave, base=base)
    if sections is not None or frequencies is None:
        raise ValueError("sections or frequencies must be given, and not both")
    if as_flag("interleave", interleave) or as_base(base) != BASE:
        raise ValueError(
            "interleave and base must be left out where frequencies are given"
        )
    turning = as_reals("frequencies", frequencies)
    if turning.ndim != 2 or 2 * turning.shape[1] != head_dim:
        raise ValueError(
            "frequencies must have shape [axes, head_dim / 2] with head_dim = "
            f"{head_dim}, got {turning.shape}"
        )
    if not (np.abs(turning) <= np.pi).all():
        raise ValueError(
            f"frequencies must lie within -pi and pi, got {short_repr(frequencies)}"
        )
    return turning


def _as_coordinates(positions: ArrayLike) -> NDArray[np.float64]:
    coordinates = as_positions(positions)
    if not coordinates.ndim or not coordinates.shape[-1]:
        raise ValueError(
            f"positions must have shape [..., axes], got {coordinates.shape}"
        )
    return coordinates
