"""Attention as the paper writes it, and heads that see positions alone."""

import math

import numpy as np
import pytest

from pe_lib import sinusoidal_table
from pe_lib.attention import attention, head_weights, hit_rate, look_back, softmax
from pe_lib.naive import binary, counting, doubling_waves, normalized

CODES = {
    "counting": lambda n: counting(np.arange(n)),
    "normalised": lambda n: normalized(np.arange(n), n),
    "binary": lambda n: binary(np.arange(n), 8, centered=True),
    "dials": lambda n: doubling_waves(np.arange(n), 8),
    "sinusoid": lambda n: sinusoidal_table(n, 32),
}

rng = np.random.default_rng(0)
QUERIES, KEYS = rng.standard_normal((2, 2, 5, 3))
VALUES = rng.standard_normal((2, 5, 4))


def attention_by_loop(queries, keys, values, causal):
    """Equation 1 of Vaswani et al. (2017), one number at a time."""
    outputs = np.zeros((len(queries), values.shape[1]))
    weights = np.zeros((len(queries), len(keys)))
    for t, query in enumerate(queries):
        seen = range(t + 1) if causal else range(len(keys))
        scores = {s: math.exp(query @ keys[s] / math.sqrt(len(query))) for s in seen}
        for s in seen:
            weights[t, s] = scores[s] / sum(scores.values())
            outputs[t] += weights[t, s] * values[s]
    return outputs, weights


@pytest.mark.parametrize("causal", [False, True])
def test_attention_is_the_equation(causal):
    outputs, weights = attention(QUERIES, KEYS, VALUES, causal=causal)
    for batch in range(2):
        expected = attention_by_loop(QUERIES[batch], KEYS[batch], VALUES[batch], causal)
        np.testing.assert_allclose(outputs[batch], expected[0], rtol=1e-12)
        np.testing.assert_allclose(weights[batch], expected[1], rtol=1e-12)


@pytest.mark.parametrize("name", CODES)
def test_head_weights_are_the_softmax_of_the_scores(name):
    table = CODES[name](9) / 4
    width = table.shape[1] + 1
    matrix = np.random.default_rng(1).standard_normal((width, width))
    weights = head_weights(table, matrix)
    for t in range(9):
        query = np.array([*table[t], 1])
        scores = [math.exp(query @ matrix @ np.array([*row, 1])) for row in table]
        np.testing.assert_allclose(weights[t], scores / np.sum(scores), rtol=1e-10)


def test_hit_rate_counts_only_what_has_a_target():
    weights = np.eye(5)[[0, 0, 1, 0, 2]]  # queries 2 and 4 look one and two back
    assert hit_rate(weights, look_back(1)(5)) == 2 / 4
    assert hit_rate(weights, look_back(2)(5)) == 1 / 3
    assert hit_rate(weights, [9, 9, 9, 9, 2]) == 1


@pytest.mark.parametrize(
    ("less", "rate"), [(-1e-12, 0), (0, 0), (0.9e-9, 0), (1.1e-9, 1), (1e-6, 1)]
)
def test_a_draw_is_a_miss(less, rate):
    assert hit_rate([[0.5, 0.5 * (1 - less)], [0, 1]], [0, 5]) == rate


def test_softmax_by_hand_and_without_overflow():
    weights = softmax(np.array([[0.0, np.log(3)], [1000.0, -np.inf]]))
    np.testing.assert_allclose(weights, [[0.25, 0.75], [1, 0]], rtol=1e-15)
