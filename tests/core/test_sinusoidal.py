"""The encoding against the paper's formula in fifty digits."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

from pe_lib import sinusoidal
from tests.core.optional import BFLOAT16
from tests.core.test_exact_angles import error_in_ulps, frequency

LAYOUTS = ("interleaved", "half_split")
LIMIT = 2**31


def pair_and_kind(column, d_model, layout):
    """Which frequency a column belongs to, and whether it is the sine."""
    pairs = math.ceil(d_model / 2)
    if layout == "interleaved":
        return column // 2, column % 2 == 0
    return column % pairs, column < pairs


@pytest.mark.parametrize("kind", ["int8", "uint8", "int64", "uint64", "float32"])
def test_a_float_with_an_integer_value_counts_as_that_integer(kind):
    positions = np.array([0, 1, 3, 64, 127])
    expected = sinusoidal(positions.astype(float), 9)
    np.testing.assert_array_equal(sinusoidal(positions.astype(kind), 9), expected)
    np.testing.assert_array_equal(sinusoidal(positions.tolist(), 9), expected)


@pytest.mark.parametrize("kind", ["float16", BFLOAT16])
def test_positions_of_16_bits_are_refused(kind):
    positions = np.array([256, 257]).astype(kind)
    with pytest.raises(TypeError, match="positions must be integers, float32 or flo"):
        sinusoidal(positions, 9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, BFLOAT16])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_position_zero_is_exactly_zeros_and_ones(layout, dtype):
    expected = {"interleaved": [0, 1, 0, 1, 0], "half_split": [0, 0, 0, 1, 1]}
    code = sinusoidal(0, 5, layout=layout, dtype=dtype)
    assert code.tolist() == expected[layout]
    assert code.dtype == dtype


# The truth, to fifty digits.

INTEGERS = [
    *(0, 1, -1, 3, 22, 355, -710, 104_348, 245_850_922, -411_557_987),
    *(2**power for power in range(4, 32, 3)),
    *(2**24 + 1, 2**30 - 1, LIMIT - 1, LIMIT, 1 - LIMIT, -LIMIT),
    *np.random.default_rng(0).integers(-LIMIT, LIMIT, 30).tolist(),
]
FRACTIONS = [0.5, -2.75, 0.1, 1e-5, -1e-300, 1e3 + 1 / 3, -12_345.678, 1e9 + 0.25]


@pytest.mark.parametrize(
    ("d_model", "base", "spacing", "layout"),
    [
        (1, 10_000, "paper", "interleaved"),
        (7, 500, "paper", "half_split"),
        (7, 500, "endpoint", "interleaved"),
        (8, 10_000, "endpoint", "half_split"),
        (9, 1.001, "paper", "interleaved"),
        (64, 10_000, "paper", "interleaved"),
        (64, 10_000, "endpoint", "half_split"),
    ],
)
def test_entries_are_as_near_to_the_truth_as_the_docstring_says(
    d_model, base, spacing, layout
):
    """Half a unit in the last place of float32 where the position is whole."""
    positions = INTEGERS + FRACTIONS
    choice = {"base": base, "spacing": spacing, "layout": layout}
    codes = sinusoidal(positions, d_model, **choice)
    singles = sinusoidal(INTEGERS, d_model, **choice, dtype=np.float32)
    with mp.workdps(50):
        for column in range(d_model):
            k, is_sine = pair_and_kind(column, d_model, layout)
            omega = frequency(k, d_model, base, spacing)
            for row, t in enumerate(positions):
                truth = (mp.sin if is_sine else mp.cos)(omega * mpf(t))
                assert abs(mpf(float(codes[row, column])) - truth) <= 4e-16, (t, truth)
                if row < len(INTEGERS):
                    single = singles[row, column]
                    assert error_in_ulps(single, truth, 24) <= 0.5001, (t, truth)


@pytest.mark.parametrize("base", [10_000.0, 1e300])
@pytest.mark.parametrize("t", [1, -3, 2**31, 1e-5, -1e-250])
def test_a_slow_sine_keeps_its_digits(t, base):
    """Where the hand has hardly moved its sine is the angle, not zero."""
    slow = sinusoidal(t, 8, base=base, spacing="endpoint")[6]
    with mp.workdps(50):
        assert slow == pytest.approx(float(mp.sin(mpf(t) / mpf(base))), rel=1e-15)
