"""FIRE and CoPE, each against its formula, entry by entry."""

import math

import numpy as np
import pytest

from pe_lib.beyond.attention_methods import _cope_bias
from pe_lib.beyond.bias import cope_counts, fire_distances

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(("c", "threshold"), [(0.1, 512.0), (1, 3), (50, 8.5)])
def test_fire_one_by_one(c, threshold):
    places = [0, 1.5, 3, 7, 12, 900]
    shares = fire_distances(places, c=c, threshold=threshold)
    for t, query in enumerate(places):
        for s, key in enumerate(places):
            above = math.log(c * abs(query - key) + 1)
            below = math.log(c * max(threshold, query) + 1)
            assert shares[t, s] == pytest.approx(above / below)
    assert np.tril(shares).max() <= 1 and shares[5, 0] == pytest.approx(1)


@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (2, 3, 4, 4)])
def test_counts_one_by_one(shape):
    gates = RNG.random(shape)
    counts = cope_counts(gates)
    n = shape[-1]
    for t in range(n):
        for s in range(n):
            between = gates[..., t, min(t, s) : max(t, s) + 1]
            np.testing.assert_allclose(counts[..., t, s], between.sum(axis=-1))


def test_cope_lies_between_its_vectors():
    queries, vectors = RNG.standard_normal((2, 4, 3))
    counts = np.array([[0, 0.25, 2.75, 3], [3.5, 900, 1, 2]] * 2)
    bias = _cope_bias(queries, counts, vectors)
    for t in range(4):
        for s in range(4):
            count = min(counts[t, s], 3)
            low, high = int(count), min(int(count) + 1, 3)
            mixed = vectors[low] + (count - low) * (vectors[high] - vectors[low])
            assert bias[t, s] == pytest.approx(queries[t] @ mixed)
