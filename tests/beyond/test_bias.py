"""T5's buckets by its program, and CoPE's counts one by one."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from pe_lib.beyond.bias import cope_counts, t5_buckets


def by_the_program(offset, num_buckets, max_distance, causal):
    """Mesh TensorFlow's steps, restated, with 50 digits instead of 7."""
    n, first = -offset, 0
    if causal:
        n = max(n, 0)
    else:
        num_buckets //= 2
        first = num_buckets if n < 0 else 0
        n = abs(n)
    exact = num_buckets // 2
    if n < exact:
        return first + n
    with localcontext() as context:
        context.prec = 50
        share = (Decimal(n) / exact).ln() / (Decimal(max_distance) / exact).ln()
        step = share * (num_buckets - exact)
        nearest = step.to_integral_value()
        wide = nearest if abs(step - nearest) < Decimal("1e-40") else int(step)
    return first + min(exact + int(wide), num_buckets - 1)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sizes", [(32, 128), (16, 64), (8, 20), (64, 1000), (4, 5)])
def test_buckets_are_those_of_the_program(sizes, causal):
    offsets = np.arange(-1200, 1201)
    buckets = t5_buckets(
        offsets, num_buckets=sizes[0], max_distance=sizes[1], causal=causal
    )
    assert list(buckets) == [by_the_program(int(o), *sizes, causal) for o in offsets]


def test_far_offsets():
    assert t5_buckets(-(2**31)) == 15 and t5_buckets(2**31) == 31
    assert t5_buckets(-(2**31), max_distance=2**31) == 15


def test_counts_one_by_one():
    gates = np.random.default_rng(0).random((2, 3, 4, 4))
    counts = cope_counts(gates)
    for t, s in np.ndindex(4, 4):
        between = gates[..., t, min(t, s) : max(t, s) + 1]
        np.testing.assert_allclose(counts[..., t, s], between.sum(axis=-1))
