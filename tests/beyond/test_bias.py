"""ALiBi and T5 by their papers and programs, and the slips that others made."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from pe_lib.beyond.bias import alibi_bias, alibi_slopes, kerple_bias, t5_buckets

# ALiBi


def test_published_slopes():
    """Press et al., section 3: for 8 heads, and for 16."""
    np.testing.assert_array_equal(alibi_slopes(8), 0.5 ** np.arange(1, 9))
    np.testing.assert_allclose(alibi_slopes(16), 0.5 ** np.arange(0.5, 8.5, 0.5))
    np.testing.assert_array_equal(alibi_slopes(2), [1 / 16, 1 / 256])
    np.testing.assert_array_equal(alibi_slopes(1), [1 / 256])


@pytest.mark.parametrize(
    ("heads", "extra"),
    [
        (6, [-1, -3]),
        (12, [-0.5, -1.5, -2.5, -3.5]),
        (40, [-0.125, -0.375, -0.625, -0.875, -1.125, -1.375, -1.625, -1.875]),
    ],
)
def test_heads_that_are_no_power_of_two(heads, extra):
    """The next lower power of two, then every other slope of twice as many."""
    power = heads - len(extra)
    slopes = alibi_slopes(heads)
    assert len(slopes) == heads
    np.testing.assert_array_equal(slopes[:power], alibi_slopes(power))
    np.testing.assert_allclose(np.log2(slopes[power:]), extra, rtol=1e-12)
    assert len(set(slopes)) == heads


def test_the_papers_formula_for_any_number_of_heads():
    """2 ** (-8h / n), which the program gives for powers of two alone."""
    for heads in range(1, 65):
        paper = alibi_slopes(heads, rule="paper")
        np.testing.assert_allclose(
            np.log2(paper), [-8 * h / heads for h in range(1, heads + 1)]
        )
        same = np.array_equal(paper, alibi_slopes(heads))
        assert same == (heads.bit_count() == 1), heads
    bias = alibi_bias(3, 12, rule="paper")
    np.testing.assert_array_equal(-bias[:, 2, 1], alibi_slopes(12, rule="paper"))


def test_the_bias_is_minus_slope_times_distance():
    bias = alibi_bias(7, 3)
    assert bias.shape == (3, 7, 7)
    for h, slope in enumerate(alibi_slopes(3)):
        for t in range(7):
            for s in range(t + 1):
                assert bias[h, t, s] == -slope * (t - s) == bias[h, s, t]


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


def test_shapes_and_far_offsets():
    assert t5_buckets(np.zeros((2, 3, 1))).shape == (2, 3, 1)
    assert t5_buckets(-(2**31)) == 15 and t5_buckets(2**31) == 31
    assert t5_buckets(-(2**31), max_distance=2**31) == 15


def test_an_odd_share_of_buckets_is_refused():
    assert t5_buckets(-5, num_buckets=6, causal=True) == 3
    with pytest.raises(ValueError, match="num_buckets must be a multiple of 2, got 5"):
        t5_buckets(-5, num_buckets=5, causal=True)


# KERPLE


def test_kerples_kernels():
    offsets = [-3, 0, 3.5]
    expected = [-2 * math.log(1 + 0.5 * n) for n in (3, 0, 3.5)]
    np.testing.assert_allclose(kerple_bias(offsets, r1=2, r2=0.5), expected)
    power = kerple_bias(offsets, r1=2, r2=1.5, kernel="power")
    np.testing.assert_allclose(power, [-2 * n**1.5 for n in (3, 0, 3.5)])
    alibi = kerple_bias(np.arange(-9, 1), r1=0.5, r2=1, kernel="power")
    np.testing.assert_array_equal(alibi, alibi_bias(10, 8)[0, -1])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"r1": 0, "r2": 1}, "r1 must be a positive number, got 0"),
        ({"r1": 1, "r2": 2.5, "kernel": "power"}, "r2 must be at most 2 for the power"),
    ],
)
def test_kerple_refuses(wrong, message):
    with pytest.raises(ValueError, match=message):
        kerple_bias([0, 1], **wrong)
