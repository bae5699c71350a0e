"""The position-only head that fits a target best, by cross-entropy.

The problem is convex in W, so its answer is a number and no accident of training. It
is best by this measure, on these lengths, at this penalty: a different head may be
more accurate.
This loads scipy.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pe_lib._arguments import (
    Encode,
    as_callable,
    as_integers,
    as_positive,
    as_table,
    as_targets,
    short_repr,
)
from pe_lib._extras import require_package
from pe_lib.attention import Target, with_constant

with require_package("scipy", by="pe_lib.fit"):
    from scipy.optimize import minimize
    from scipy.special import log_softmax


def fit_head(
    encode: Encode,
    target: Target,
    *,
    lengths: Sequence[int] | NDArray[np.integer[Any]] = (16, 24, 32),
    penalty: float = 1e-4,
    start: ArrayLike | None = None,
) -> NDArray[np.float64]:
    r"""The position-only head that fits a target best, by cross-entropy.

    .. math::

       \begin{aligned}
       W = \arg\min_W \; &-\frac{1}{N}\sum_{t} \log A_{t,\,\text{target}(t)} \\
           &+ \frac{\text{penalty}}{2} \lVert W \rVert^2
       \end{aligned}

    over all queries t that have a target, in sequences of all `lengths`; A is
    :func:`~pe_lib.attention.head_weights`. The first term is convex in W and the
    second strictly so: there is one optimum, whatever the start. It need not
    be the head of the highest accuracy.

    Parameters
    ----------
    encode : callable
        From a length to a table [length, d_model], equally wide at every length.
    target : callable
        From a length to the key that each query should attend to, such as
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
        If the search stops before every entry of the gradient is below 1e-6 times the
        largest product of entries that it is made of, or 1e-6 where that is below 1.
        Scale the encodings, so that their entries are about 1, or raise the penalty.

    Examples
    --------
    "Look at the last one" is what counting can do, at lengths it was not fitted
    on too:

    >>> from pe_lib.attention import head_weights, hit_rate
    >>> last = lambda length: np.full(length, length - 1)
    >>> count = lambda length: np.arange(length)[:, np.newaxis]
    >>> W = fit_head(count, last)
    >>> hit_rate(head_weights(count(100), W), last(100))
    1.0
    """
    problems = _problems(encode, target, lengths)
    penalty = as_positive("penalty", penalty)
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
    largest = np.max([abs(codes).max(axis=0) for codes, *_ in problems], axis=0)
    largest = np.maximum(1, largest)
    slopes = found.jac.reshape(width, width) / largest[:, np.newaxis] / largest
    steepest = np.abs(slopes).max()
    if not steepest <= 1e-6:  # NaN too
        raise RuntimeError(
            "the search for the best head stopped early: relative to its entries the "
            f"gradient is {steepest:.1e}, not below 1e-6. Scale the encodings, so that "
            f"their entries are about 1, or raise the penalty. ({found.message})"
        )
    best: NDArray[np.float64] = found.x.reshape(width, width)
    return best


def _problems(
    encode: Encode, target: Target, lengths: ArrayLike
) -> list[tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]]:
    """Encodings with their constant, queries that have a target, and their targets."""
    as_callable("encode", encode)
    as_callable("target", target)
    every = as_integers("all lengths", lengths, at_least=2)
    if every.ndim != 1:
        raise TypeError(
            f"lengths must be a sequence of integers, got {short_repr(lengths)}"
        )
    if not every.size:
        raise ValueError(f"lengths must not be empty, got {short_repr(lengths)}")
    problems = []
    for length in every.tolist():
        table = as_table(f"encode({length})", encode(length), length)
        targets = as_targets(f"target({length})", target(length), length)
        problems.append((with_constant(table), *targets))
    widths = {codes.shape[1] - 1 for codes, _, _ in problems}
    if len(widths) > 1:
        raise ValueError(
            "encode must give encodings of one width at every length, got widths "
            f"{sorted(widths)}"
        )
    return problems
