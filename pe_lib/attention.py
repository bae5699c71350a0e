r"""Attention in NumPy, and the head that sees positions and nothing else.

A position-only head scores query t against key s with

.. math:: S_{t,s} = (P_t, 1)\, W \,(P_s, 1)^\top

where the appended 1 stands for the biases of the query and key projections. Its
attention is the softmax of each row. Fitting W is a convex problem, so "the best
head that this encoding allows" is a number and no accident of training.

The fit needs scipy.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from pe_lib._arguments import as_callable, as_flag, as_integer, as_reals, as_table

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
        If the shapes do not fit each other.

    Examples
    --------
    A query of zero scores all keys alike, so the output is the mean value:

    >>> outputs, weights = attention([[0.0]], [[1.0], [2.0]], [[10.0], [30.0]])
    >>> outputs, weights
    (array([[20.]]), array([[0.5, 0.5]]))
    """
    queries, keys = as_reals("queries", queries), as_reals("keys", keys)
    values = as_reals("values", values)
    for name, array in [("queries", queries), ("keys", keys), ("values", values)]:
        if array.ndim < 2:
            raise ValueError(f"{name} must have shape [..., n, d], got {array.shape}")
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
    scores = queries @ np.swapaxes(keys, -1, -2) / np.sqrt(queries.shape[-1])
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
        If the shapes do not fit, or an entry is not finite.

    Examples
    --------
    Counting, and a score of ``s`` for key s: a head that looks at the end.

    >>> head_weights([[0.0], [1.0], [2.0]], [[0, 0], [1, 0]]).round(2)
    array([[0.09, 0.24, 0.67],
           [0.09, 0.24, 0.67],
           [0.09, 0.24, 0.67]])
    """
    table = as_table("table", table, np.shape(table)[0] if np.ndim(table) else 0)
    codes = _with_constant(table)
    matrix = as_table("matrix", matrix, codes.shape[1])
    if matrix.shape[1] != codes.shape[1]:
        raise ValueError(
            f"matrix must have shape [{codes.shape[1]}, {codes.shape[1]}] for codes "
            f"of {table.shape[1]} numbers, got {matrix.shape}"
        )
    weights: NDArray[np.float64] = softmax(codes @ matrix @ codes.T, axis=1)
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
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1]:
        raise ValueError(
            f"weights must have shape [length, length], got {weights.shape}"
        )
    if not (weights >= 0).all():
        raise ValueError("weights must be 0 or more, got a negative one or NaN")
    queries, keys = _as_targets(targets, len(weights))
    on_target = weights[queries, keys]
    others = weights[queries]
    others[np.arange(len(queries)), keys] = -np.inf
    # A weight counts as larger if it is so by more than rounding.
    return float(np.mean(on_target > others.max(axis=1) * (1 + 1e-9)))


def fit_head(
    encode: Encode,
    target: Target,
    *,
    lengths: Sequence[int] = (16, 24, 32),
    penalty: float = 1e-4,
    start: ArrayLike | None = None,
) -> NDArray[np.float64]:
    r"""The best position-only head that an encoding allows for a target.

    .. math::

       W = \arg\min_W \; -\frac{1}{N}\sum_{t} \log A_{t,\,\text{target}(t)}
           + \frac{\text{penalty}}{2} \lVert W \rVert^2

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
    lengths : sequence of int
        The sequences that it is fitted on.
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
        If the search stops before the gradient is below 1e-6.

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
    if np.ndim(penalty):
        raise TypeError(
            f"penalty must be a single number, got shape {np.shape(penalty)}"
        )
    penalty = float(as_reals("penalty", penalty))
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

    found = minimize(
        loss,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"gtol": 1e-11, "ftol": 0.0, "maxiter": 10_000, "maxfun": 50_000},
    )
    if np.abs(found.jac).max() > 1e-6:
        raise RuntimeError(
            "the search for the best head stopped early, with gradient "
            f"{np.abs(found.jac).max():.1e}: {found.message}"
        )
    best: NDArray[np.float64] = found.x.reshape(width, width)
    return best


def _problems(
    encode: Encode, target: Target, lengths: Sequence[int]
) -> list[tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]]:
    """Codes with their constant, queries that have a target, and their targets."""
    as_callable("encode", encode)
    as_callable("target", target)
    if not isinstance(lengths, Sequence):
        raise TypeError(f"lengths must be a sequence of integers, got {lengths!r}")
    if not lengths:
        raise ValueError(f"lengths must not be empty, got {lengths!r}")
    problems = []
    for length in (as_integer("lengths", item, at_least=2) for item in lengths):
        table = as_table(f"encode({length})", encode(length), length)
        problems.append((_with_constant(table), *_as_targets(target(length), length)))
    widths = {codes.shape[1] - 1 for codes, _, _ in problems}
    if len(widths) > 1:
        raise ValueError(
            "encode must give codes of one width at every length, got widths "
            f"{sorted(widths)}"
        )
    return problems


def _as_targets(
    value: ArrayLike, length: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The queries that have a target, and their targets."""
    targets = np.asarray(value)
    if targets.dtype.kind not in "iu":
        raise TypeError(f"targets must be integers, got dtype {targets.dtype}")
    if targets.shape != (length,):
        raise ValueError(f"targets must have shape ({length},), got {targets.shape}")
    queries = np.flatnonzero((targets >= 0) & (targets < length))
    if not queries.size:
        raise ValueError(
            f"targets must lie within 0 and {length - 1} for at least one query, "
            f"got {targets.min()} to {targets.max()}"
        )
    return queries, targets[queries].astype(np.int64)


def _with_constant(table: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.column_stack([table, np.ones(len(table))])
