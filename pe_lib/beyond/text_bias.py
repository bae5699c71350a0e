r"""Biases that depend on more than the offset: FIRE's on the query's place, CoPE's on
the words between.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pe_lib._arguments import as_positions, as_positive, as_reals, brief


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
            f"positions must be numbers [length] from 0 on, got {brief(positions)}"
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
        raise ValueError(f"gates must lie within 0 and 1, got {brief(gates)}")
    sums = opened.cumsum(axis=-1)
    here = np.arange(opened.shape[-1])
    to_query = sums[..., here, here][..., np.newaxis]
    gate = opened[..., here, here][..., np.newaxis]
    counts: NDArray[np.float64] = np.where(
        here <= here[:, np.newaxis], to_query - sums + opened, sums - to_query + gate
    )
    return counts


def cope_bias(
    queries: ArrayLike, counts: ArrayLike, vectors: ArrayLike
) -> NDArray[np.float64]:
    r"""What CoPE adds to the scores: the query meets a learned vector for each count.

    .. math:: q_t \cdot e[p_{t,s}]

    A count between two whole numbers gets what lies between their products; counts
    beyond the last vector share it.

    Parameters
    ----------
    queries : array_like [length, d]
    counts : array_like [length, length]
        Of :func:`cope_counts`, at least 0.
    vectors : array_like [M, d]
        For the counts 0 to M - 1.

    Returns
    -------
    array [length, length], float64

    Raises
    ------
    TypeError
        If an argument holds no real numbers.
    ValueError
        If shapes do not fit, or a count is below 0.

    Examples
    --------
    >>> cope_bias([[2.0]], [[0.25]], [[0.0], [1.0]])
    array([[0.5]])
    """
    q, e = as_reals("queries", queries), as_reals("vectors", vectors)
    where = as_reals("counts", counts)
    if q.ndim != 2 or e.ndim != 2 or q.shape[1] != e.shape[1]:
        raise ValueError(
            "queries and vectors must have shapes [length, d] and [M, d], got "
            f"{q.shape} and {e.shape}"
        )
    if where.shape != (len(q), len(q)) or not (where >= 0).all():
        raise ValueError(
            f"counts must be numbers [{len(q)}, {len(q)}] from 0 on, got shape "
            f"{where.shape}"
        )
    table = q @ e.T
    where = np.minimum(where, len(e) - 1)
    below = np.floor(where).astype(np.int64)
    above = np.minimum(below + 1, len(e) - 1)
    lower, upper = (
        np.take_along_axis(table, whole, axis=1) for whole in (below, above)
    )
    bias: NDArray[np.float64] = lower + (where - below) * (upper - lower)
    return bias
