r"""Positions that are no whole numbers: times of diffusion, points in space."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from pe_lib._arguments import as_flag, as_integer, as_positions, as_reals, short_repr
from pe_lib.encoding import sinusoidal

MOST_OCTAVES = 52  # a float has no more binary digits behind the point


def time_embedding(
    times: ArrayLike,
    d_model: int,
    *,
    shift: int = 1,
    cosine_first: bool = False,
    base: float = 10_000.0,
    dtype: DTypeLike = np.float64,
) -> NDArray[Any]:
    r"""How diffusion models write down the time: all of one kind, then the other.

    .. math::

       \begin{aligned}
       (&\sin\omega_0 t, \ldots, \sin\omega_{K-1} t, \\
       &\cos\omega_0 t, \ldots, \cos\omega_{K-1} t), \\
       &\omega_j = b^{-j/(K - \text{shift})}
       \end{aligned}

    with K = d / 2. Shift 1 and sines first is the program of Ho et al. (2020), which
    has it from tensor2tensor; shift 0 and cosines first is that of Dhariwal and Nichol
    (guided diffusion), GLIDE, Stable Diffusion and DiT. diffusers calls the two
    ``downscale_freq_shift`` and ``flip_sin_to_cos``. Weights that were trained with one
    are wrong for the other. A time in [0, 1] must be stretched first.

    Parameters
    ----------
    times : array_like [...]
        Real numbers of any shape, of size at most 2**31.
    d_model : int
        Even, at least 2; with shift 1 at least 4. (The programs append a zero to an
        odd width.)
    shift : 0 or 1
        0 leaves the last frequency one step short of 1 / base, 1 ends there.
    cosine_first : bool
        Cosines in the first half.
    base : float
        As in :func:`pe_lib.angular_frequencies`; the programs say ``max_period``.
    dtype : dtype
        As in :func:`pe_lib.sinusoidal`.

    Returns
    -------
    array [..., d_model] of `dtype`

    Raises
    ------
    TypeError
        If an argument has a wrong type.
    ValueError
        If `d_model` is odd or too small, `shift` neither 0 nor 1, or a time or
        `base` out of range.

    Examples
    --------
    >>> time_embedding(500, 4).round(2)
    array([-0.47,  0.05, -0.88,  1.  ])
    >>> time_embedding(500, 4, shift=0, cosine_first=True).round(2)
    array([-0.88,  0.28, -0.47, -0.96])
    """
    shift = as_integer("shift", shift)
    if shift not in (0, 1):
        raise ValueError(f"shift must be 0 or 1, got {shift}")
    width = as_integer("d_model", d_model, at_least=2 + 2 * shift)
    if width % 2:
        raise ValueError(f"d_model must be even, got {width}")
    first = as_flag("cosine_first", cosine_first)
    code = sinusoidal(
        as_positions(times, "times"),
        width,
        base=base,
        spacing="endpoint" if shift else "paper",
        layout="half_split",
        dtype=dtype,
    )
    return np.roll(code, width // 2, axis=-1) if first else code


def nerf(points: ArrayLike, octaves: int, *, pi: bool = True) -> NDArray[np.float64]:
    r"""The encoding of NeRF: each hand twice as fast as the one before.

    .. math::

       \begin{aligned}
       \gamma(p) = (&\sin 2^0\pi p, \cos 2^0\pi p, \ldots, \\
       &\sin 2^{L-1}\pi p, \cos 2^{L-1}\pi p)
       \end{aligned}

    for each coordinate p in turn. Mildenhall et al. (2020), equation 4; they have
    L = 10 for places within [-1, 1] and L = 4 for directions. Their program has no
    pi, puts the point itself in front, and runs over the coordinates last.

    Parameters
    ----------
    points : array_like [..., axes]
        Finite real numbers.
    octaves : int
        L, from 1 to 52.
    pi : bool
        False leaves pi out.

    Returns
    -------
    array [..., axes * 2 * octaves], float64
        With pi a whole turn is dropped exactly, so that -1 and 1, which are one and
        the same to this encoding, get the same numbers.

    Raises
    ------
    TypeError
        If an argument has a wrong type.
    ValueError
        If `points` have no axis or are not finite, or `octaves` is out of range.

    Examples
    --------
    >>> nerf([0.25], 2).round(2) + 0.0
    array([0.71, 0.71, 1.  , 0.  ])
    >>> bool((nerf([-1.0], 10) == nerf([1.0], 10)).all())
    True
    """
    points = _as_points(points)
    octaves = as_integer("octaves", octaves, at_least=1)
    if octaves > MOST_OCTAVES:
        raise ValueError(f"octaves must be at most {MOST_OCTAVES}, got {octaves}")
    if as_flag("pi", pi):
        # Exact: a remainder of 2, twice as much, and an end moved by 2 to the other.
        turns = np.fmod(points, 2.0)[..., np.newaxis] * 2.0 ** np.arange(octaves)
        turns = np.fmod(turns, 2.0)
        angles = np.pi * (turns + 2.0 * (turns <= -1) - 2.0 * (turns > 1))
    else:
        most = np.finfo(np.float64).max / 2.0**octaves
        if (np.abs(points) > most).any():
            raise ValueError(
                f"points must lie within -2**{1024 - octaves} and 2**{1024 - octaves}, "
                f"got {short_repr(points)}"
            )
        angles = points[..., np.newaxis] * 2.0 ** np.arange(octaves)
    both = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
    return both.reshape(*points.shape[:-1], 2 * octaves * points.shape[-1])


def fourier_features(points: ArrayLike, directions: ArrayLike) -> NDArray[np.float64]:
    r"""Hands that turn along any direction of space.

    .. math:: (\cos 2\pi B v,\; \sin 2\pi B v)

    Tancik et al. (2020), arXiv 2006.10739: they draw the rows of B from a normal
    distribution and choose its standard deviation on held-out points. The dot product
    of two encodings depends on the difference of the points alone.

    Parameters
    ----------
    points : array_like [..., axes]
        Finite real numbers.
    directions : array_like [m, axes]
        B, in turns per unit; finite.

    Returns
    -------
    array [..., 2 m], float64
        The m cosines, then the m sines.

    Raises
    ------
    TypeError
        If an argument holds no real numbers.
    ValueError
        If a shape does not fit, or a number is not finite.

    Examples
    --------
    >>> fourier_features([0.25, 0.0], [[1, 0], [0, 1]]).round(2) + 0.0
    array([0., 1., 1., 0.])
    """
    points = _as_points(points)
    rows = as_reals("directions", directions)
    if rows.ndim != 2 or not len(rows) or rows.shape[1] != points.shape[-1]:
        raise ValueError(
            f"directions must have shape [m, {points.shape[-1]}] for points of shape "
            f"{points.shape}, got {rows.shape}"
        )
    if not np.isfinite(rows).all():
        raise ValueError("directions must be finite, got NaN or infinity in them")
    angles = 2 * np.pi * ((points @ rows.T) % 1)  # complete turns are lost exactly
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=-1)


def _as_points(points: ArrayLike) -> NDArray[np.float64]:
    points = as_reals("points", points)
    if not points.ndim or not points.shape[-1]:
        raise ValueError(f"points must have shape [..., axes], got {points.shape}")
    if not np.isfinite(points).all():
        raise ValueError("points must be finite, got NaN or infinity in them")
    return points
