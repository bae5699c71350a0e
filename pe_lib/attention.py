r"""Attention in NumPy, and the head that sees positions and nothing else.

A position-only head scores query t against key s with

.. math:: S_{t,s} = (P_t, 1)\, W \,(P_s, 1)^\top

where the appended 1 stands for the biases of the query and key projections. Its
attention is the softmax of each row. Fitting W is a convex problem, so "the best
head that this encoding allows" is a number and no accident of training.

The fit needs scipy.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from pe_lib._arguments import (
    as_callable,
    as_flag,
    as_integer,
    as_integers,
    as_reals,
    as_table,
)

Encode = Callable[[int], ArrayLike]
"""A function from a length to a table of codes, [length, d_model]."""

Target = Callable[[int], ArrayLike]
"""A function from a length to the key that each query should look at, [length]."""


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
    weights = softmax(scores, axis=-1)
    return weights @ values, weights


def look_back(lag: int) -> Target:
    """The target of a head that must look exactly `lag` positions back.

    Queries with fewer than `lag` positions before them have no target: -1, -2 ...

    Examples
    --------
    >>> look_back(3)(6)
    array([-3, -2, -1,  0,  1,  2])
    """
    lag = as_integer("lag", lag)

    def target(length: int) -> NDArray[np.int64]:
        return np.arange(length) - lag

    return target


def head_weights(table: ArrayLike, matrix: ArrayLike) -> NDArray[np.float64]:
    r"""Where a position-only head looks.

    .. math:: \text{softmax}_s\left((P_t, 1)\, W \,(P_s, 1)^\top\right)

    Parameters
    ----------
    table : array_like [length, d_model]
        One row a position.
    matrix : array_like [d_model + 1, d_model + 1]
        W. Its last row and column belong to the appended 1.

    Returns
    -------
    array [length, length], float64
        Row t is where query t looks; rows add up to 1.

    Raises
    ------
    TypeError
        If an argument does not hold real numbers.
    ValueError
        If the shapes do not fit, an entry is not finite, or a score is too large for
        a float.

    Examples
    --------
    Counting, and a score of ``s`` for key s: a head that looks at the end.

    >>> head_weights([[0.0], [1.0], [2.0]], [[0, 0], [1, 0]]).round(2)
    array([[0.09, 0.24, 0.67],
           [0.09, 0.24, 0.67],
           [0.09, 0.24, 0.67]])
    """
    table = as_table("table", table)
    if not len(table):
        raise ValueError(f"table must have at least one row, got shape {table.shape}")
    codes = _with_constant(table)
    matrix = as_table("matrix", matrix, codes.shape[1])
    if matrix.shape[1] != codes.shape[1]:
        raise ValueError(
            f"matrix must have shape [{codes.shape[1]}, {codes.shape[1]}] for codes "
            f"of {table.shape[1]} numbers, got {matrix.shape}"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        scores = codes @ matrix @ codes.T
    _refuse_overflow("table and matrix", scores)
    weights: NDArray[np.float64] = softmax(scores, axis=1)
    return weights


def hit_rate(weights: ArrayLike, targets: ArrayLike) -> float:
    """The share of queries whose largest weight is on their target, and only there.

    Parameters
    ----------
    weights : array_like [length, length]
        As :func:`head_weights` returns them.
    targets : array_like [length]
        The key that each query should look at. A query whose target lies outside
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
    Query 1 looks at key 0, as it should; query 2 cannot decide.

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
    queries, keys = _as_targets("targets", targets, len(weights))
    on_target = weights[queries, keys]
    others = weights[queries]
    others[np.arange(len(queries)), keys] = -np.inf
    # A weight counts as larger if it is so by more than rounding.
    return float(np.mean(on_target > others.max(axis=1) * (1 + 1e-9)))


def fit_head(
    encode: Encode,
    target: Target,
    *,
    lengths: Sequence[int] | NDArray[np.integer[Any]] = (16, 24, 32),
    penalty: float = 1e-4,
    start: ArrayLike | None = None,
) -> NDArray[np.float64]:
    r"""The best position-only head that an encoding allows for a target.

    .. math::

       \begin{aligned}
       W = \arg\min_W \; &-\frac{1}{N}\sum_{t} \log A_{t,\,\text{target}(t)} \\
           &+ \frac{\text{penalty}}{2} \lVert W \rVert^2
       \end{aligned}

    over all queries t that have a target, in sequences of all `lengths`; A is
    :func:`head_weights`. The first term is convex in W and the second strictly so:
    there is one optimum, whatever the start.

    Parameters
    ----------
    encode : callable
        From a length to a table [length, d_model], equally wide at every length.
    target : callable
        From a length to the key that each query should look at, such as
        ``look_back(3)``; a key outside the sequence means none.
    lengths : sequence of int, or array of int
        The sequences that it is fitted on, each at least 2 positions long.
    penalty : float
        Above 0.
    start : array_like [d_model + 1, d_model + 1], optional
        Where the search begins; zero if not given.

    Returns
    -------
    array [d_model + 1, d_model + 1], float64

    Raises
    ------
    TypeError
        If `encode` or `target` is not callable, or returns no numbers.
    ValueError
        If `lengths` is empty, `penalty` is not above 0, or a shape does not fit.
    RuntimeError
        If the search stops before the gradient is below 1e-6. Scale the codes, so
        that their entries are about 1, or raise the penalty.

    Examples
    --------
    "Look at the last one" is what counting can do, at lengths it was not fitted
    on too:

    >>> last = lambda length: np.full(length, length - 1)
    >>> count = lambda length: np.arange(length)[:, np.newaxis]
    >>> W = fit_head(count, last)
    >>> hit_rate(head_weights(count(100), W), last(100))
    1.0
    """
    problems = _problems(encode, target, lengths)
    price = as_reals("penalty", penalty)
    if price.ndim:
        raise TypeError(f"penalty must be a single number, got shape {price.shape}")
    penalty = float(price)
    if not 0 < penalty < np.inf:
        raise ValueError(f"penalty must be finite and above 0, got {penalty:g}")
    width = problems[0][0].shape[1]
    if start is None:
        start = np.zeros((width, width))
    start = as_table("start", start, width)
    if start.shape[1] != width:
        raise ValueError(f"start must have shape [{width}, {width}], got {start.shape}")

    queries = sum(len(rows) for _, rows, _ in problems)

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        matrix = flat.reshape(width, width)
        value, slope = penalty / 2 * np.sum(matrix**2), penalty * matrix
        for codes, rows, keys in problems:
            logs = log_softmax(codes[rows] @ matrix @ codes.T, axis=1)
            seen = np.arange(len(rows)), keys
            value -= logs[seen].sum() / queries
            weights = np.exp(logs)
            weights[seen] -= 1
            slope = slope + codes[rows].T @ weights @ codes / queries
        return value, slope.ravel()

    with np.errstate(over="ignore", invalid="ignore"):
        found = minimize(
            loss,
            start.ravel(),
            jac=True,
            method="L-BFGS-B",
            options={"gtol": 1e-11, "ftol": 0.0, "maxiter": 10_000, "maxfun": 50_000},
        )
    steepest = np.abs(found.jac).max()
    if not steepest <= 1e-6:  # NaN too
        raise RuntimeError(
            "the search for the best head stopped early: the gradient is "
            f"{steepest:.1e}, not below 1e-6. Scale the codes so that their entries "
            f"are about 1, or raise the penalty. ({found.message})"
        )
    best: NDArray[np.float64] = found.x.reshape(width, width)
    return best


def _problems(
    encode: Encode, target: Target, lengths: ArrayLike
) -> list[tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]]:
    """Codes with their constant, queries that have a target, and their targets."""
    as_callable("encode", encode)
    as_callable("target", target)
    every = as_integers("all lengths", lengths, at_least=2)
    if every.ndim != 1:
        raise TypeError(f"lengths must be a sequence of integers, got {lengths!r}")
    if not every.size:
        raise ValueError(f"lengths must not be empty, got {lengths!r}")
    problems = []
    for length in every.tolist():
        table = as_table(f"encode({length})", encode(length), length)
        targets = _as_targets(f"target({length})", target(length), length)
        problems.append((_with_constant(table), *targets))
    widths = {codes.shape[1] - 1 for codes, _, _ in problems}
    if len(widths) > 1:
        raise ValueError(
            "encode must give codes of one width at every length, got widths "
            f"{sorted(widths)}"
        )
    return problems


def _as_targets(
    name: str, value: ArrayLike, length: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The queries that have a target, and their targets."""
    targets = as_integers(name, value)
    if targets.shape != (length,):
        raise ValueError(f"{name} must have shape ({length},), got {targets.shape}")
    queries = np.flatnonzero((targets >= 0) & (targets < length))
    if not queries.size:
        raise ValueError(
            f"{name} must lie within 0 and {length - 1} for at least one query, "
            f"got {targets.min()} to {targets.max()}"
        )
    return queries, targets[queries].astype(np.int64)


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


def _with_constant(table: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.column_stack([table, np.ones(len(table))])
