"""ALiBi and T5 by their papers and programs, and the slips that others made."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from pe_lib.beyond.bias import alibi_slopes, t5_buckets

# ALiBi


def test_published_slopes():
    """Press et al., section 3: for 8 heads, and for 16."""
    np.testing.assert_array_equal(alibi_slopes(8), 0.5 ** np.arange(1, 9))
    np.testing.assert_allclose(alibi_slopes(16), 0.5 ** np.arange(0.5, 8.5, 0.5))
    np.testing.assert_array_equal(alibi_slopes(2), [1 / 16, 1 / 256])
    np.testing.assert_array_equal(alibi_slopes(1), [1 / 256])


# T5


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
