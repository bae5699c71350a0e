r"""Positions as a bias: a number added to each score.

ALiBi fixes the number, KERPLE learns how steeply it falls, T5 learns one for each
bucket of offsets: these depend on the offset alone. FIRE's depends on the position of
the query too, CoPE's on the words between. None touches the words.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pe_lib._arguments import (
    LARGEST_POSITION,
    as_choice,
    as_flag,
    as_integer,
    as_offsets,
    as_positions,
    as_positive,
    as_reals,
    short_repr,
)

RULES = ("program", "paper")
KERNELS = ("logarithm", "power")


def alibi_slopes(num_heads: int, *, rule: str = "program") -> NDArray[np.float64]:
    r"""How steeply ALiBi punishes distance in each head.

    .. math:: m_h = 2^{-8h/n}, \qquad h = 1, \ldots, n

    Press et al. (2022), section 3, for n heads where n is a power of two. Where it
    is not, the authors' program takes the slopes of the next lower power of two,
    then every other slope of twice as many heads; and others compute the formula.

    Parameters
    ----------
    num_heads : int
        At least 1.
    rule : {"program", "paper"}
        The formula as printed is "paper". The two agree at powers of two.

    Returns
    -------
    array [num_heads], float64

    Raises
    ------
    TypeError
        If an argument has a wrong type.
    ValueError
        If `num_heads` is below 1, or there is no such rule.

    Examples
    --------
    >>> alibi_slopes(4)
    array([0.25      , 0.0625    , 0.015625  , 0.00390625])
    >>> 1 / alibi_slopes(8)
    array([  2.,   4.,   8.,  16.,  32.,  64., 128., 256.])
    >>> alibi_slopes(3).round(4)
    array([0.0625, 0.0039, 0.25  ])
    >>> alibi_slopes(3, rule="paper").round(4)
    array([0.1575, 0.0248, 0.0039])
    """
    num_heads = as_integer("num_heads", num_heads, at_least=1)
    if as_choice("rule", rule, RULES) == "paper":
        return _geometric(num_heads)
    power = 2 ** (num_heads.bit_length() - 1)
    slopes = _geometric(power)
    between = _geometric(2 * power)[::2]
    return np.concatenate([slopes, between[: num_heads - power]])


def alibi_bias(
    length: int, num_heads: int, *, rule: str = "program"
) -> NDArray[np.float64]:
    r"""What ALiBi adds to the scores: the distance times minus the slope.

    .. math:: b_{h,t,s} = -m_h\,|t - s|

    with the slopes of :func:`alibi_slopes`. Press et al. (2022) define it for a
    causal mask, where s <= t. Without a mask this symmetric form cannot tell
    before from after.

    Parameters
    ----------
    length : int
        At least 1.
    num_heads : int
        At least 1.
    rule : {"program", "paper"}
        Which slopes, see :func:`alibi_slopes`.

    Returns
    -------
    array [num_heads, length, length], float64
        Row t belongs to query t, column s to key s.

    Raises
    ------
    TypeError
        If an argument has a wrong type.
    ValueError
        If a number is below 1, or there is no such rule.

    Examples
    --------
    The first of eight heads has slope 1/2:

    >>> alibi_bias(3, 8)[0]
    array([[ 0. , -0.5, -1. ],
           [-0.5,  0. , -0.5],
           [-1. , -0.5,  0. ]])
    """
    length = as_integer("length", length, at_least=1)
    positions = np.arange(length)
    nearness = -np.abs(positions[:, np.newaxis] - positions)
    slopes = alibi_slopes(num_heads, rule=rule)
    bias: NDArray[np.float64] = np.multiply.outer(slopes, nearness)
    return bias


def t5_buckets(
    offsets: ArrayLike,
    *,
    num_buckets: int = 32,
    max_distance: int = 128,
    causal: bool = False,
) -> NDArray[np.int64]:
    r"""The bucket of each offset; T5 learns one bias for each bucket and head.

    An offset is the key's position minus the query's. A distance below E (the
    exact buckets) has its own bucket; beyond, buckets widen by a constant factor:

    .. math::

       E + \left\lfloor \frac{\ln(n/E)}{\ln(D/E)}\,(B - E) \right\rfloor

    for distance n, with D = `max_distance`, and the last bucket B - 1 from D on.
    Raffel et al. (2020), section 2.1; the formula is in the authors' program,
    Mesh TensorFlow's transformer_layers.py. Without a mask each direction has half
    of the buckets, first those of keys before the query; B is half of
    `num_buckets` then. Under a causal mask B is all of them, and keys after the
    query share bucket 0 with the query itself. E is half of B.

    Parameters
    ----------
    offsets : array_like [...]
        Whole numbers of any shape, of size at most 2**31.
    num_buckets : int
        At least 4, a multiple of 4; under a causal mask at least 2 and even.
    max_distance : int
        Above E, at most 2**31.
    causal : bool
        Only keys before the query matter.

    Returns
    -------
    array [...], int64, from 0 to num_buckets - 1

    Raises
    ------
    TypeError
        If `offsets` are not real numbers, or a different argument has a wrong type.
    ValueError
        If an offset is not whole or beyond 2**31, or a number is out of range.

    Examples
    --------
    Eight buckets a direction, of which four are exact; 16 and 17 share one.

    >>> t5_buckets([0, -1, -3, -16, -17, -500], num_buckets=16, max_distance=64)
    array([0, 1, 3, 6, 6, 7])
    >>> t5_buckets([1, 3, 16, 17, 500], num_buckets=16, max_distance=64)
    array([ 9, 11, 14, 14, 15])
    """
    causal = as_flag("causal", causal)
    whole = _as_whole_offsets(offsets)
    starts = _bucket_starts(num_buckets, max_distance, causal)
    distances = np.maximum(-whole, 0) if causal else np.abs(whole)
    buckets = np.searchsorted(starts, distances, side="right").astype(np.int64) - 1
    return buckets if causal else buckets + len(starts) * (whole > 0)


def kerple_bias(
    offsets: ArrayLike, *, r1: float, r2: float, kernel: str = "logarithm"
) -> NDArray[np.float64]:
    r"""What KERPLE adds to the scores, with two numbers that each head learns.

    .. math:: -r_1 \ln(1 + r_2 n) \quad\text{or}\quad -r_1 n^{r_2}

    for distance n, Chi et al. (2022). The power with :math:`r_2 = 1` is ALiBi. It
    has no sign: before and after are one.

    Parameters
    ----------
    offsets : array_like [...]
        Real numbers of any shape, of size at most 2**31.
    r1, r2 : float
        Positive; for the power `r2` is at most 2.
    kernel : {"logarithm", "power"}

    Returns
    -------
    array [...], float64

    Raises
    ------
    TypeError
        If an argument has a wrong type.
    ValueError
        If a number is out of range, or there is no such kernel.

    Examples
    --------
    With ones, distances 1, 3 and 7 weigh 1/2, 1/4 and 1/8 of the word itself:

    >>> np.exp(kerple_bias([0, -1, -3, -7], r1=1, r2=1)).round(3)
    array([1.   , 0.5  , 0.25 , 0.125])
    """
    distances = np.abs(as_offsets(offsets))
    logarithm = as_choice("kernel", kernel, KERNELS) == "logarithm"
    r1, r2 = as_positive("r1", r1), as_positive("r2", r2)
    if not logarithm and r2 > 2:
        raise ValueError(f"r2 must be at most 2 for the power, got {short_repr(r2)}")
    fall = np.log1p(r2 * distances) if logarithm else distances**r2
    bias: NDArray[np.float64] = -r1 * fall
    return bias


def fire_distances(
    positions: ArrayLike, *, c: float = 0.1, threshold: float = 512.0
) -> NDArray[np.float64]:
    r"""What FIRE's learned function gets instead of the distance, from 0 to 1.

    .. math::

       \frac{\psi(|t - s|)}{\psi(\max(L, t))}, \qquad \psi(x) = \ln(cx + 1)

    Li et al. (2024). Beyond the threshold L it is no function of the offset: all
    distances of a text are pressed into the interval that training has seen.

    Parameters
    ----------
    positions : array_like [length]
        At least 0. FIRE is made for a causal mask, s <= t; the distance here has no
        sign, as in programs that others wrote.
    c, threshold : float
        Positive; learned in the paper.

    Returns
    -------
    array [length, length], float64
        Row t belongs to the query, column s to the key; within 0 and 1 for s <= t.

    Raises
    ------
    TypeError
        If an argument holds no real numbers, or `c` or `threshold` more than one.
    ValueError
        If `positions` are not [length] or one is below 0, or `c` or `threshold` is
        not positive.

    Examples
    --------
    One back, at queries 3 and 7:

    >>> fire_distances(range(8), c=1, threshold=3)[[3, 7], [2, 6]].round(2)
    array([0.5 , 0.33])
    """
    places = as_positions(positions)
    if places.ndim != 1 or (places < 0).any():
        raise ValueError(
            f"positions must be numbers [length] from 0 on, got {short_repr(positions)}"
        )
    c, threshold = as_positive("c", c), as_positive("threshold", threshold)
    distances = np.abs(places[:, np.newaxis] - places)
    longest = np.maximum(threshold, places)[:, np.newaxis]
    shares: NDArray[np.float64] = np.log1p(c * distances) / np.log1p(c * longest)
    return shares


def cope_counts(gates: ArrayLike) -> NDArray[np.float64]:
    r"""CoPE's position of each key: gates summed from the key to its query.

    .. math:: p_{t,s} = \sum_{u=s}^{t} g_{t,u}

    Golovneva et al. (2024), where the gates are :math:`\sigma(q_t \cdot k_u)`, so
    that a query decides which words count. The paper has keys up to the query; for
    keys after it the sum here runs from the query to the key.

    Parameters
    ----------
    gates : array_like [..., length, length]
        Within 0 and 1; row t belongs to the query, column u to the key.

    Returns
    -------
    array [..., length, length], float64

    Raises
    ------
    TypeError
        If `gates` are no real numbers.
    ValueError
        If they are not square, or one is beyond 0 and 1.

    Examples
    --------
    The last of six words counts three of them:

    >>> gates = np.tile([1, 0, 1, 0, 0, 1], (6, 1))
    >>> cope_counts(gates)[-1]
    array([3., 2., 2., 1., 1., 1.])
    """
    opened = as_reals("gates", gates)
    if opened.ndim < 2 or opened.shape[-1] != opened.shape[-2]:
        raise ValueError(
            f"gates must have shape [..., length, length], got {opened.shape}"
        )
    if not ((opened >= 0) & (opened <= 1)).all():
        raise ValueError(f"gates must lie within 0 and 1, got {short_repr(gates)}")
    sums = opened.cumsum(axis=-1)
    here = np.arange(opened.shape[-1])
    to_query = sums[..., here, here][..., np.newaxis]
    gate = opened[..., here, here][..., np.newaxis]
    counts: NDArray[np.float64] = np.where(
        here <= here[:, np.newaxis], to_query - sums + opened, sums - to_query + gate
    )
    return counts


def _geometric(num_heads: int) -> NDArray[np.float64]:
    exponents = -8 * np.arange(1, num_heads + 1) / num_heads
    slopes: NDArray[np.float64] = np.exp2(exponents)
    return slopes


def _as_whole_offsets(offsets: ArrayLike) -> NDArray[np.int64]:
    numbers = as_offsets(offsets)
    fractional = numbers[numbers != np.round(numbers)]
    if fractional.size:
        raise ValueError(f"offsets must be whole numbers, got {fractional.flat[0]:g}")
    return numbers.astype(np.int64)


def _bucket_starts(
    num_buckets: int, max_distance: int, causal: bool
) -> NDArray[np.int64]:
    """The smallest distance of each bucket of one direction."""
    multiple = 2 if causal else 4
    num_buckets = as_integer("num_buckets", num_buckets, at_least=multiple)
    if num_buckets % multiple:
        raise ValueError(
            f"num_buckets must be a multiple of {multiple}, got {num_buckets}"
        )
    share = num_buckets if causal else num_buckets // 2
    exact = share // 2
    max_distance = as_integer("max_distance", max_distance, at_least=exact + 1)
    if max_distance > LARGEST_POSITION:
        raise ValueError(f"max_distance must be at most 2**31, got {max_distance}")
    starts = [*range(exact), *_wide_starts(exact, share, max_distance)]
    return np.array(starts, dtype=np.int64)


def _wide_starts(exact: int, share: int, max_distance: int) -> list[int]:
    """The smallest distance of each bucket that is not exact.

    Distance n is in bucket `exact + j` or a later one if and only if
    (n / exact) ** wide >= (max_distance / exact) ** j. In whole numbers there is
    no logarithm that could fall a hair short of the bucket.
    """
    wide = share - exact
    starts = []
    for j in range(wide):
        n = int(exact * (max_distance / exact) ** (j / wide)) - 1
        while n**wide * exact**j < max_distance**j * exact**wide:
            n += 1
        starts.append(n)
    return starts
