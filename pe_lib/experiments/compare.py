"""Compare schemes that had the same seeds, and choose their rates."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pe_lib.experiments.training import Score


class Paired(NamedTuple):
    """By how much one scheme is ahead of another, seed by seed."""

    median: float
    low: float
    high: float
    ahead: int
    """With how many seeds it is ahead."""


def paired(first: NDArray[np.float64], second: NDArray[np.float64]) -> Paired:
    """Compare two schemes that had the same seeds: the median difference, between
    the second smallest and the second largest.

    With ten seeds, these two enclose the true median in at least 97.85 % of all
    repetitions, whatever the differences are distributed like: it lies below the
    second smallest if at most one of ten coins falls on tails, in at most 11 of 1,024
    cases; fewer if differences can be equal.

    >>> paired(np.arange(10.0), np.zeros(10))
    Paired(median=4.5, low=1.0, high=8.0, ahead=9)

    Raises ValueError if there are fewer than ten seeds, or not as many of both.
    """
    if first.shape != second.shape or first.ndim != 1 or len(first) < 10:
        raise ValueError(
            "first and second must have the same ten seeds or more, got shapes "
            f"{first.shape} and {second.shape}"
        )
    gaps = np.sort(first - second)
    middle = float(np.median(gaps))
    return Paired(middle, float(gaps[1]), float(gaps[-2]), int((gaps > 0).sum()))


def best_rates(
    runs: Mapping[str, Sequence[Score]],
) -> dict[str, dict[str, float]]:
    """For each group and scheme the rate with the highest mean score of all queries.

    The runs are named ``group @ rate``. Of equal ones the first counts.

    >>> rows = {f"a @ {r}": [Score("copy", "none", 9, 16, r)] for r in (0.1, 0.2)}
    >>> best_rates(rows)
    {'a': {'none': 0.2}}
    """
    means: dict[str, dict[str, dict[float, list[float]]]] = {}
    for run, rows in runs.items():
        group, rate = run.rsplit(" @ ", 1)
        for row in rows:
            if row.queries != "all":
                continue
            of_scheme = means.setdefault(group, {}).setdefault(row.scheme, {})
            of_scheme.setdefault(float(rate), []).append(row.accuracy)
    return {
        group: {
            name: max(rates, key=lambda rate: float(np.mean(rates[rate])))
            for name, rates in schemes.items()
        }
        for group, schemes in means.items()
    }
