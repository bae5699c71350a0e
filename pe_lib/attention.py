r"""Attention in NumPy, and the head that sees positions and nothing else.

A position-only head scores query t against key s with

.. math:: S_{t,s} = (P_t, 1)\, W \,(P_s, 1)^\top

where the appended 1 represents the biases of the query and key projections. Its
attention is the softmax of each row. :func:`pe_lib.fit.fit_head` fits W.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pe_lib._arguments import as_flag, as_integer, as_reals, as_table, as_targets

Target = Callable[[int], ArrayLike]
"""A function from a length to the key that each query should attend to, [length]."""


def softmax(scores: ArrayLike) -> NDArray[np.float64]:
    r"""Turn the scores of each query into weights, along the last axis.

    .. math:: A_s = e^{S_s} / \textstyle\sum_r e^{S_r}

    The largest score is subtracted first, which changes no weight and keeps the
    powers within a float. A score of minus infinity gets the weight 0.

    Takes scores [..., keys]. Raises TypeError if they are no real numbers, and
    ValueError if there is no key, or in a row NaN, infinity, or nothing but minus
    infinity: such a row has no weights that add up to 1.

    >>> softmax(np.log([[1.0, 3.0]])).round(2)
    array([[0.25, 0.75]])
    """
    scores = as_reals("scores", scores)
    if not scores.ndim or not scores.shape[-1]:
        raise ValueError(
            f"scores must have shape [..., keys], keys at least 1, got {scores.shape}"
        )
    largest = scores.max(axis=-1, keepdims=True)
    if not np.isfinite(largest).all():
        bad = largest[~np.isfinite(largest)][0]
        raise ValueError(
            "scores must have a finite largest score in each row, got "
            + (f"{bad}" if bad != -np.inf else "a row of nothing but minus infinity")
        )
    powers = np.exp(scores - largest)
    weights: NDArray[np.float64] = powers / powers.sum(axis=-1, keepdims=True)
    return weights


def attention(
    queries: ArrayLike, keys: ArrayLike, values: ArrayLike, *, causal: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Scaled dot-product attention, Vaswani et al. (2017), equation 1.

    .. math::

       \text{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V

    Parameters
    ----------
    queries : array_like [..., n, d_k]
    keys : array_like [..., m, d_k]
    values : array_like [..., m, d_v]
        At least one row and one column each; the axes in front, if any, as NumPy
        broadcasts them.
    causal : bool
        Let query t see the keys 0 to t only; needs n = m.

    Returns
    -------
    outputs : array [..., n, d_v], float64
    weights : array [..., n, m], float64
        The rows add up to 1.

    Raises
    ------
    TypeError
        If an array does not hold real numbers, or `causal` is not a bool.
    ValueError
        If the shapes do not fit each other, a number is not finite, or a score is
        too large for a float.

    Examples
    --------
    A query of zero scores all keys alike, so the output is the mean value:

    >>> outputs, weights = attention([[0.0]], [[1.0], [2.0]], [[10.0], [30.0]])
    >>> outputs, weights
    (array([[20.]]), array([[0.5, 0.5]]))
    """
    queries, keys = _as_rows("queries", queries), _as_rows("keys", keys)
    values = _as_rows("values", values)
    if queries.shape[-1] != keys.shape[-1]:
        raise ValueError(
            "queries and keys must have equally many columns, got "
            f"{queries.shape} and {keys.shape}"
        )
    if keys.shape[-2] != values.shape[-2]:
        raise ValueError(
            "keys and values must have equally many rows, got "
            f"{keys.shape} and {values.shape}"
        )
    try:
        np.broadcast_shapes(queries.shape[:-2], keys.shape[:-2], values.shape[:-2])
    except ValueError:
        raise ValueError(
            "queries, keys and values must have front axes that broadcast, got "
            f"{queries.shape}, {keys.shape} and {values.shape}"
        ) from None
    with np.errstate(over="ignore", invalid="ignore"):
        scores = queries @ np.swapaxes(keys, -1, -2) / np.sqrt(queries.shape[-1])
    _refuse_overflow("queries and keys", scores)
    if as_flag("causal", causal):
        if scores.shape[-1] != scores.shape[-2]:
            raise ValueError(
                "causal attention must have as many keys as queries, got "
                f"{scores.shape[-1]} keys and {scores.shape[-2]} queries"
            )
        scores = np.where(np.tri(scores.shape[-1], dtype=bool), scores, -np.inf)
    weights = softmax(scores)
    return weights @ values, weights


def with_constant(table: ArrayLike) -> NDArray[np.float64]:
    """A table [length, d_model] with a last column of ones, the appended 1 of W.

    Raises what :func:`head_weights` raises for a table.

    >>> with_constant([[0.0], [1.0]])
    array([[0., 1.],
           [1., 1.]])
    """
    rows = as_table("table", table)
    return np.column_stack([rows, np.ones(len(rows))])


def look_back(lag: int) -> Target:
    """The target of a head that must attend exactly `lag` positions back.

    Queries with fewer than `lag` positions before them have no target: -1, -2 ...

    Examples
    --------
    >>> look_back(3)(6)
    array([-3, -2, -1,  0,  1,  2])
    """
    lag = as_integer("lag", lag)

    def target(length: int) -> NDArray[np.int64]:
        return np.arange(length, dtype=np.int64) - lag

    return target


def head_weights(table: ArrayLike, matrix: ArrayLike) -> NDArray[np.float64]:
    r"""The attention weights of a position-only head.

    .. math:: \text{softmax}_s\left((P_t, 1)\, W \,(P_s, 1)^\top\right)

    Parameters
    ----------
    table : array_like [length, d_model]
        One row per position.
    matrix : array_like [d_model + 1, d_model + 1]
        W. Its last row and column belong to the appended 1.

    Returns
    -------
    array [length, length], float64
        Row t has the weights of query t; rows add up to 1.

    Raises
    ------
    TypeError
        If an argument does not hold real numbers.
    ValueError
        If the shapes do not fit, an entry is not finite, or a score is too large for
        a float.

    Examples
    --------
    Counting, and a score of ``s`` for key s: a head that attends most to the end.

    >>> head_weights([[0.0], [1.0], [2.0]], [[0, 0], [1, 0]]).round(2)
    array([[0.09, 0.24, 0.67],
           [0.09, 0.24, 0.67],
           [0.09, 0.24, 0.67]])
    """
    table = as_table("table", table)
    if not len(table):
        raise ValueError(f"table must have at least one row, got shape {table.shape}")
    codes = with_constant(table)
    matrix = as_table("matrix", matrix)
    if matrix.shape != (codes.shape[1], codes.shape[1]):
        raise ValueError(
            f"matrix must have shape [{codes.shape[1]}, {codes.shape[1]}] for "
            f"encodings of {table.shape[1]} numbers, got {matrix.shape}"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        scores = codes @ matrix @ codes.T
    _refuse_overflow("table and matrix", scores)
    weights: NDArray[np.float64] = softmax(scores)
    return weights


def hit_rate(weights: ArrayLike, targets: ArrayLike) -> float:
    """The share of queries whose largest weight is on their target, and only there.

    Parameters
    ----------
    weights : array_like [length, length]
        As :func:`head_weights` returns them.
    targets : array_like [length]
        The key that each query should attend to. A query whose target lies outside
        0 .. length - 1 is not counted.

    Returns
    -------
    float
        A draw between two keys is a miss.

    Raises
    ------
    TypeError
        If an argument does not hold numbers, or targets are no integers.
    ValueError
        If the shapes do not fit, or no query has a target.

    Examples
    --------
    Query 1 attends to key 0, as it should; query 2 cannot decide.

    >>> hit_rate([[1, 0, 0], [0.8, 0.1, 0.1], [0.4, 0.4, 0.2]], [-1, 0, 1])
    0.5
    """
    weights = as_reals("weights", weights)
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1] or not weights.size:
        raise ValueError(
            f"weights must have shape [length, length], got {weights.shape}"
        )
    if not ((weights >= 0) & (weights < np.inf)).all():
        bad = weights[~((weights >= 0) & (weights < np.inf))]
        raise ValueError(f"weights must be finite and 0 or more, got {bad[0]}")
    queries, keys = as_targets("targets", targets, len(weights))
    on_target = weights[queries, keys]
    others = weights[queries]
    others[np.arange(len(queries)), keys] = -np.inf
    # A weight counts as larger if it is so by more than rounding.
    return float(np.mean(on_target > others.max(axis=1) * (1 + 1e-9)))


def _as_rows(name: str, value: ArrayLike) -> NDArray[np.float64]:
    """Finite numbers of shape [..., n, d], n and d at least 1."""
    array = as_reals(name, value)
    if array.ndim < 2 or not all(array.shape[-2:]):
        raise ValueError(
            f"{name} must have shape [..., n, d], n and d at least 1, got {array.shape}"
        )
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity in it")
    return array


def _refuse_overflow(names: str, scores: NDArray[np.float64]) -> None:
    if not np.isfinite(scores).all():
        raise ValueError(f"{names} must have finite scores, got one beyond a float")
