r"""How far apart encodings are, and how alike: the offset decides, and nothing else.

The shift matrix T(k) is a rotation (:mod:`pe_lib.rotation`), so moving two positions
by the same number changes neither the distance of their encodings nor their dot
product. Both are functions of the offset alone, one summand a pair:

.. math::

   P_t \cdot P_{t+k} = \sum_j \cos\omega_j k, \qquad
   \lVert P_{t+k} - P_t \rVert^2 = 4 \sum_j \sin^2(\omega_j k / 2)

and, since every encoding has the squared length d/2, the second is d minus twice the
first.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pe_lib._arguments import (
    LARGEST_POSITION,
    as_base,
    as_even_width,
    as_integer,
    as_offsets,
)
from pe_lib._extras import require_package
from pe_lib.frequencies import angular_frequencies

_BLOCK = 2**20  # offsets looked at together
_REACH = 16  # on both sides of the middle of a stretch of offsets


def similarity(
    offsets: ArrayLike,
    d_model: int,
    *,
    base: float = 10_000.0,
    spacing: str = "paper",
) -> NDArray[np.float64]:
    r"""The dot product of two encodings whose positions lie `offsets` apart.

    .. math:: S(k) = P_t \cdot P_{t+k} = \sum_j \cos\omega_j k

    for every position t. The largest value is S(0) = d/2, the squared norm of an
    encoding; S(k) divided by it is the cosine of the angle between the encodings. The
    layout does not matter.

    Parameters
    ----------
    offsets : array_like [...]
        Real numbers, negative and fractional ones too, of size at most 2**31.
    d_model : int
        Width of the encoding, even.
    base, spacing
        As in :func:`pe_lib.angular_frequencies`.

    Returns
    -------
    array [...], float64

    Raises
    ------
    TypeError
        If `offsets` are not real numbers or `d_model` is not an integer.
    ValueError
        If `d_model` is odd or below 1, an offset is not finite or beyond 2**31, or
        :func:`pe_lib.angular_frequencies` would raise.

    Examples
    --------
    Two clocks, of 1 and 1/100 radian per position: cos 0 + cos 0 = 2, then
    cos 1 + cos 0.01 = 0.5403 + 0.99995.

    >>> similarity([0, 1, -1], 4).round(4)
    array([2.    , 1.5403, 1.5403])
    """
    offsets = as_offsets(offsets)
    total = np.zeros_like(offsets)
    for frequency in _frequencies(d_model, base, spacing):
        total = total + np.cos(frequency * offsets)
    return np.asarray(total)


def distance(
    offsets: ArrayLike,
    d_model: int,
    *,
    base: float = 10_000.0,
    spacing: str = "paper",
) -> NDArray[np.float64]:
    r"""The distance of two encodings whose positions lie `offsets` apart.

    .. math:: \lVert P_{t+k} - P_t \rVert = 2 \sqrt{\sum_j \sin^2(\omega_j k / 2)}

    for every position t: each clock contributes the chord of the angle by which it
    has turned. Accurate for small offsets too, where :math:`\sqrt{d - 2 S(k)}` would
    lose all digits. Takes, raises and returns what :func:`similarity` does.

    Examples
    --------
    One clock, turned by half a turn, is at the far end of its dial of diameter 2. Two
    clocks, turned by 1 and 1/100 radian, are 2 sin 0.5 = 0.9589 and 0.01 away.

    >>> distance([np.pi], 2).round(4)
    array([2.])
    >>> distance([0, 1], 4).round(4)
    array([0.    , 0.9589])
    """
    offsets = as_offsets(offsets)
    total = np.zeros_like(offsets)
    for frequency in _frequencies(d_model, base, spacing):
        total = total + np.sin(frequency * offsets / 2) ** 2
    return np.asarray(2 * np.sqrt(total))


def nearest_other(
    d_model: int,
    *,
    within: int = 1_000_000,
    base: float = 10_000.0,
    spacing: str = "paper",
) -> tuple[int, float]:
    """The offset, from 1 to `within`, at which two encodings come nearest together.

    No offset is left out. The squares of the pairs can only add up, so an offset is
    dropped as soon as some of its clocks are already further away than the best so
    far. The slow clocks hardly move in a few positions, so they are asked first, and
    one answer drops a whole stretch of offsets.
    Angles are off by less than ``within * 2**-52``, which moves a distance by less than
    ``sqrt(d_model) * within * 2**-51``: 1e-8 at a width of 512, within a million.
    Two offsets that are nearer to a tie than that could be mistaken for each other.

    Parameters
    ----------
    d_model : int
        Width of the encoding, even.
    within : int
        The largest offset to test, from 1 to 2**31. Time grows with it: a million
        takes well under a second at a width of 512.
    base, spacing
        As in :func:`pe_lib.angular_frequencies`.

    Returns
    -------
    offset : int
        The smallest one, should several be equally near.
    distance : float

    Raises
    ------
    TypeError
        If `within` is not an integer, or :func:`similarity` would raise.
    ValueError
        If `within` is below 1 or above 2**31, or :func:`similarity` would raise.

    Examples
    --------
    One clock, 1 radian per position: 44 positions are 7.003 turns, so 44 is nearer to 0
    than any smaller number.

    >>> offset, apart = nearest_other(2, within=100)
    >>> offset, round(apart, 4)
    (44, 0.0177)
    """
    within = as_integer("within", within, at_least=1)
    if within > LARGEST_POSITION:
        raise ValueError(f"within must be at most 2**31, got {within}")
    halves = _frequencies(d_model, base, spacing) / 2
    nearest, best = 1, float(np.sum(np.sin(halves) ** 2))
    for start in range(2, within + 1, _BLOCK):
        end = min(start + _BLOCK, within + 1)
        offsets = _not_yet_excluded(start, end, halves, best)
        squares = np.zeros(len(offsets))
        for half in halves:
            squares = squares + np.sin(half * offsets) ** 2
            kept = squares < best
            offsets, squares = offsets[kept], squares[kept]
        if len(offsets):
            first = squares.argmin()
            nearest, best = int(offsets[first]), float(squares[first])
    return nearest, 2 * float(np.sqrt(best))


def _not_yet_excluded(
    start: int, end: int, halves: NDArray[np.float64], best: float
) -> NDArray[np.int64]:
    """The offsets from start to before end that the slow clocks do not rule out.

    Within _REACH of the centre of a stretch a sine changes by at most half * _REACH,
    so what is left of it there counts for every offset of the stretch.
    """
    step = 2 * _REACH + 1
    centres = np.arange(start + _REACH, end + _REACH, step, dtype=np.int64)
    squares = np.zeros(len(centres))
    for half in np.sort(halves[halves * _REACH < 1]):
        sines = np.abs(np.sin(half * centres)) - half * _REACH
        squares = squares + np.maximum(sines, 0) ** 2
        kept = squares < best
        centres, squares = centres[kept], squares[kept]
    offsets = (centres[:, np.newaxis] + np.arange(-_REACH, _REACH + 1)).ravel()
    return offsets[offsets < end]


def first_rise(d_model: int, *, base: float = 10_000.0, spacing: str = "paper") -> int:
    """The first whole offset k with S(k + 1) > S(k), S being :func:`similarity`.

    There always is one: infinitely many encodings of equal norm cannot stay apart, so
    somewhere two of them come nearer to each other than neighbours are.

    Takes the arguments of :func:`similarity` but for the offsets, and raises what it
    raises.

    Examples
    --------
    One clock: cos 0 > cos 1 > cos 2 > cos 3 = -0.99, but cos 4 = -0.65.

    >>> first_rise(2)
    3
    """
    start, block = 0, 64
    while True:
        offsets = np.arange(start, start + block + 1, dtype=np.int64)
        rises = np.diff(similarity(offsets, d_model, base=base, spacing=spacing)) > 0
        if rises.any():
            return start + int(rises.argmax())
        start, block = start + block, 2 * block


def decay_law(offsets: ArrayLike, *, base: float = 10_000.0) -> NDArray[np.float64]:
    r"""What :func:`similarity`, divided by d/2, tends to as the width d grows.

    .. math::

       \int_0^1 \cos(k\, b^{-s})\,ds
       = \frac{\operatorname{Ci}(k) - \operatorname{Ci}(k/b)}{\ln b}

    with b the base and Ci the cosine integral: the average of the clocks, when there
    is one for every frequency from 1 to 1/b. From a few positions to about b/10 it is
    nearly :math:`1 - (\gamma + \ln k)/\ln b`, with Euler's :math:`\gamma = 0.577`.
    It is the limit for either spacing; at a finite width it is near, not equal.

    Needs scipy. Takes `offsets` and `base`, raises and returns what
    :func:`similarity` does.

    Examples
    --------
    By the short formula, 1 - (0.577 + ln 100) / ln 10000 = 0.437.

    >>> decay_law([0, 100]).round(3)
    array([1.   , 0.437])
    """
    with require_package(
        "scipy", by="pe_lib.geometry.decay_law"
    ):  # nothing else here does
        from scipy.special import sici

    sizes = np.abs(as_offsets(offsets))
    base = as_base(base)
    tiny = sizes < 1e-8  # the average is 1 to 16 digits, where Ci tends to infinity
    some = np.where(tiny, 1.0, sizes)
    average = (sici(some)[1] - sici(some / base)[1]) / np.log(base)
    return np.where(tiny, 1.0, average)


def _frequencies(d_model: int, base: float, spacing: str) -> NDArray[np.float64]:
    width = as_even_width(d_model, "so norms and distances depend on the position")
    return angular_frequencies(width, base=base, spacing=spacing)
