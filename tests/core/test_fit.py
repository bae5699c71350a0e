"""Fitted heads: that they are truly the best by cross-entropy."""

import math

import numpy as np
import pytest
from scipy.optimize import OptimizeResult

from pe_lib.attention import head_weights, look_back
from pe_lib.fit import fit_head
from pe_lib.naive import counting
from tests.core.test_attention import CODES


def objective(matrix, encode, target, lengths, penalty):
    """What fit_head minimises, from its docstring, one query at a time."""
    losses = []
    for length in lengths:
        weights = head_weights(encode(length), matrix)
        for query, key in enumerate(target(length)):
            if 0 <= key < length:
                losses.append(-math.log(weights[query, key]))
    return np.mean(losses) + penalty / 2 * np.sum(matrix**2)


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("penalty", [1e-4, 1e-2])
def test_no_small_step_from_the_optimum_is_better(name, penalty):
    problem = CODES[name], look_back(2), (8, 12), penalty
    best = fit_head(*problem[:2], lengths=(8, 12), penalty=penalty)
    least = objective(best, *problem)
    for step in np.random.default_rng(3).standard_normal((20, *best.shape)):
        step *= 1e-2 / np.linalg.norm(step)
        assert objective(best + step, *problem) > least


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"target": look_back(99)}, r"target\(16\) must lie within 0"),
        ({"encode": np.eye}, r"one width at every length, got widths \[16"),
        ({"start": np.ones((2, 3))}, r"start must have shape \[2, 2\], got \(2, 3"),
    ],
)
def test_fit_head_refuses(changed, message):
    arguments = {"encode": CODES["counting"], "target": look_back(3)} | changed
    with pytest.raises(ValueError, match=message):
        fit_head(**arguments)


def test_a_search_that_finds_nothing_says_so():
    for factor in (1e80, 1e160, 1e300):
        with pytest.raises(RuntimeError, match=r"stopped early.* Scale the encodings"):
            fit_head(lambda n, f=factor: f * counting(np.arange(n)), look_back(3))


def test_counting_needs_no_scaling():
    """At 62 words its gradient stays above 1e-6, as products are up to 61 times 61."""
    assert fit_head(CODES["counting"], look_back(4), lengths=(16, 24, 62)).any()


@pytest.mark.parametrize(("slope", "fine"), [(0.9e-6, True), (1.1e-6, False)])
@pytest.mark.parametrize("unit", [1, 0.001])
def test_the_gradient_decides_whether_the_search_is_over(
    monkeypatch, unit, slope, fine
):
    largest = np.array([max(31 * unit, 1), 1])  # positions, and the constant
    jac = -slope * np.outer(largest, largest).ravel()
    found = OptimizeResult(x=np.zeros(4), jac=jac, message="enough")
    monkeypatch.setattr("pe_lib.fit.minimize", lambda *_, **__: found)

    def encode(length):
        return unit * counting(np.arange(length))

    if fine:
        assert not fit_head(encode, look_back(1)).any()
    else:
        with pytest.raises(RuntimeError, match=r"gradient is 1.1e-06.*\(enough\)"):
            fit_head(encode, look_back(1))
