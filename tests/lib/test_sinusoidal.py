"""The encoding against the paper's formula, published values and fifty digits."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from optional import BFLOAT16

from pe_lib import sinusoidal

SPACINGS = ("paper", "endpoint")
LAYOUTS = ("interleaved", "half_split")
LIMIT = 2**31

any_position = st.one_of(st.integers(-LIMIT, LIMIT), st.floats(-LIMIT, LIMIT))
some_positions = st.lists(any_position, min_size=1, max_size=9)


def pair_and_kind(column, d_model, layout):
    """Which frequency a column belongs to, and whether it is the sine."""
    pairs = math.ceil(d_model / 2)
    if layout == "interleaved":
        return column // 2, column % 2 == 0
    return column % pairs, column < pairs


def exponent(k, d_model, spacing):
    """The power of the base under position t: 2j/d, or tensor2tensor's j/(K - 1)."""
    if spacing == "paper":
        return 2 * k / d_model
    return k / max(math.ceil(d_model / 2) - 1, 1)


def naive(positions, d_model, base=10_000, spacing="paper", layout="interleaved"):
    """Vaswani et al. (2017), section 3.5, entry by entry."""
    rows = []
    for t in positions:
        row = []
        for column in range(d_model):
            k, is_sine = pair_and_kind(column, d_model, layout)
            angle = t / base ** exponent(k, d_model, spacing)
            row.append(math.sin(angle) if is_sine else math.cos(angle))
        rows.append(row)
    return rows


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("spacing", SPACINGS)
@pytest.mark.parametrize("d_model", (1, 2, 3, 7, 8, 33, 64))
def test_equals_the_double_loop(d_model, spacing, layout):
    positions = [-1000, -2.5, -1, 0, 0.1, 1, 2, 3, 59, 4096.75, 9999]
    for base in (10_000, 500.0):  # two parameter sets in one process
        np.testing.assert_allclose(
            sinusoidal(positions, d_model, base=base, spacing=spacing, layout=layout),
            naive(positions, d_model, base, spacing, layout),
            # The loop errs by |t| 2**-52 and its own rounding, and we by less.
            atol=2 * (9999 + 1) * 2**-52,
            rtol=0,
        )


@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 5), (2, 3, 5), (0,), (3, 0, 2)])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_shape_gets_one_more_axis_of_d_model(shape, layout):
    count = math.prod(shape)
    positions = np.linspace(-9, 60, count).reshape(shape)
    encodings = sinusoidal(positions, 7, layout=layout)
    assert encodings.shape == (*shape, 7)
    expected = naive(positions.ravel(), 7, layout=layout)
    np.testing.assert_allclose(
        encodings.reshape(-1, 7), np.reshape(expected, (-1, 7)), atol=122 * 2**-52
    )


@pytest.mark.parametrize(
    "kind", ["int8", "uint8", "int64", "uint64", "float16", "float32", BFLOAT16]
)
def test_a_float_with_an_integer_value_counts_as_that_integer(kind):
    positions = np.array([0, 1, 3, 64, 127])
    expected = sinusoidal(positions.astype(float), 9)
    np.testing.assert_array_equal(sinusoidal(positions.astype(kind), 9), expected)
    np.testing.assert_array_equal(sinusoidal(positions.tolist(), 9), expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, BFLOAT16])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_position_zero_is_exactly_zeros_and_ones(layout, dtype):
    expected = {"interleaved": [0, 1, 0, 1, 0], "half_split": [0, 0, 0, 1, 1]}
    code = sinusoidal(0, 5, layout=layout, dtype=dtype)
    assert code.tolist() == expected[layout]
    assert code.dtype == dtype


# Published values, each with its source.


def test_a_clock_with_twelve_hours():
    # Twelve hours are one turn of 2 pi. From the twelve, clockwise, (sine, cosine) is
    # (across, up): three o'clock points right, six down, nine left.
    hours = np.array([12, 3, 6, 9, 1, 15])
    across_and_up = sinusoidal(2 * np.pi * hours / 12, 2)
    expected = [[0, 1], [1, 0], [0, -1], [-1, 0], [0.5, math.sqrt(0.75)], [1, 0]]
    # An angle of at most 8 is off by at most half an ulp, 2**-50, and so is the hand.
    np.testing.assert_allclose(across_and_up, expected, atol=2**-49)


# The truth, to fifty digits.

INTEGERS = [
    *(0, 1, -1, 3, 22, 355, -710, 104_348, 245_850_922, -411_557_987),
    *(2**power for power in range(4, 32, 3)),
    *(2**24 + 1, 2**30 - 1, LIMIT - 1, LIMIT, 1 - LIMIT, -LIMIT),
    *np.random.default_rng(0).integers(-LIMIT, LIMIT, 30).tolist(),
]
FRACTIONS = [0.5, -2.75, 0.1, 1e-5, -1e-300, 1e3 + 1 / 3, -12_345.678, 1e9 + 0.25]


def truths(positions, d_model, base, spacing, layout):
    """The positions with their codes, to fifty digits."""
    for t in positions:
        row = []
        for column in range(d_model):
            k, is_sine = pair_and_kind(column, d_model, layout)
            part = mpf(2 * k) / d_model
            if spacing == "endpoint":
                part = mpf(k) / max(math.ceil(d_model / 2) - 1, 1)
            angle = mpf(t) / mpf(base) ** part
            row.append(mp.sin(angle) if is_sine else mp.cos(angle))
        yield t, row


each_choice = pytest.mark.parametrize(
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


@each_choice
def test_float32_is_half_an_ulp_from_the_truth(d_model, base, spacing, layout):
    choice = {"base": base, "spacing": spacing, "layout": layout}
    codes = sinusoidal(INTEGERS, d_model, **choice, dtype=np.float32)
    with mp.workdps(50):
        rows = truths(INTEGERS, d_model, base, spacing, layout)
        for (t, row), code in zip(rows, codes, strict=True):
            for truth, entry in zip(row, code, strict=True):
                _, exponent = mp.frexp(truth)
                ulp = mpf(2) ** (exponent - 24)
                assert abs(mpf(float(entry)) - truth) <= 0.5001 * ulp, (t, truth)


@each_choice
def test_float64_is_as_near_to_the_truth_as_the_docstring_says(
    d_model, base, spacing, layout
):
    positions = INTEGERS + FRACTIONS
    choice = {"base": base, "spacing": spacing, "layout": layout}
    codes = sinusoidal(positions, d_model, **choice)
    with mp.workdps(50):
        rows = truths(positions, d_model, base, spacing, layout)
        for (t, row), code in zip(rows, codes, strict=True):
            for truth, entry in zip(row, code, strict=True):
                assert abs(mpf(float(entry)) - truth) <= 4e-16, (t, truth)


@pytest.mark.parametrize("base", [10_000.0, 1e300])
@pytest.mark.parametrize("t", [1, -3, 2**31, 1e-5, -1e-250])
def test_a_slow_sine_keeps_its_digits(t, base):
    """Where the hand has hardly moved its sine is the angle, not zero."""
    slow = sinusoidal(t, 8, base=base, spacing="endpoint")[6]
    with mp.workdps(50):
        assert slow == pytest.approx(float(mp.sin(mpf(t) / mpf(base))), rel=1e-15)


def test_float32_is_the_float64_value_correctly_rounded():
    """No float32 lies nearer to the float64 value than the one returned."""
    positions = np.concatenate([np.arange(3000), [LIMIT, -LIMIT, 0.1, 1e6 + 0.3]])
    exact = sinusoidal(positions, 33)
    rounded = sinusoidal(positions, 33, dtype=np.float32)
    assert rounded.dtype == np.float32
    # Differences of a float64 and a float32 near it are exact in float64.
    error = np.abs(rounded.astype(np.float64) - exact)
    for direction in (-np.inf, np.inf):
        neighbour = np.nextafter(rounded, np.float32(direction)).astype(np.float64)
        assert (error <= np.abs(neighbour - exact)).all()
    assert error.max() > 2**-26  # and it is float32, not more


def test_float16_is_the_float32_value_rounded_once():
    positions = np.arange(5000)
    single = sinusoidal(positions, 33, dtype=np.float32)
    half = sinusoidal(positions, 33, dtype=np.float16)
    assert half.dtype == np.float16
    np.testing.assert_array_equal(half, single.astype(np.float16))


def test_bfloat16_is_the_float32_value_rounded_once_as_torch_rounds():
    torch = pytest.importorskip("torch")
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    positions = np.arange(5000)
    single = sinusoidal(positions, 33, dtype=np.float32)
    brain = sinusoidal(positions, 33, dtype=bfloat16)
    assert brain.dtype == bfloat16
    by_torch = torch.from_numpy(single).to(torch.bfloat16)
    np.testing.assert_array_equal(
        brain.view(np.int16), by_torch.view(torch.int16).numpy()
    )


@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16])
@pytest.mark.parametrize("start", [32_768, 262_144])
def test_neighbours_stay_distinct_far_out_in_16_bits(start, dtype):
    """transformers#29285, vllm#863: angles in 16 bits give neighbours one code."""
    positions = np.arange(start, start + 200)
    assert (
        len(np.unique(sinusoidal(positions, 64, dtype=dtype).tolist(), axis=0)) == 200
    )


# Properties of any encoding.


@settings(derandomize=True, deadline=None)
@given(
    positions=some_positions,
    d_model=st.integers(1, 80),
    base=st.floats(1.01, 1e9),
    spacing=st.sampled_from(SPACINGS),
    layout=st.sampled_from(LAYOUTS),
)
def test_any_pair_lies_on_the_unit_circle(positions, d_model, base, spacing, layout):
    codes = sinusoidal(positions, d_model, base=base, spacing=spacing, layout=layout)
    assert codes.shape == (len(positions), d_model)
    pairs = {}
    for column in range(d_model):
        k, _ = pair_and_kind(column, d_model, layout)
        pairs.setdefault(k, []).append(codes[:, column])
    for columns in pairs.values():
        assert (np.abs(columns) <= 1).all()
        if len(columns) == 2:  # a lone last sine has no circle
            # Sine, cosine, two squares and a sum, each off by an ulp at most.
            np.testing.assert_allclose(
                np.square(columns).sum(axis=0), 1, rtol=0, atol=5 * 2**-52
            )


@settings(derandomize=True, deadline=None)
@given(positions=some_positions, d_model=st.integers(1, 40))
def test_any_code_depends_on_its_own_position_alone(positions, d_model):
    alone = [sinusoidal(t, d_model) for t in positions]
    np.testing.assert_array_equal(sinusoidal(positions, d_model), alone)


def tensor2tensor(length, channels):
    """get_timing_signal_1d of Vaswani et al. (2018): an odd width ends in zeros."""
    timescales = channels // 2
    increment = math.log(10_000) / max(timescales - 1, 1)
    angles = np.outer(np.arange(length), np.exp(-increment * np.arange(timescales)))
    signal = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
    return np.pad(signal, [(0, 0), (0, channels % 2)])


@pytest.mark.parametrize("d_model", [4, 8, 64, 512])
def test_endpoint_and_half_split_are_tensor2tensors_for_even_widths(d_model):
    ours = sinusoidal(np.arange(100), d_model, spacing="endpoint", layout="half_split")
    # Angles up to 100, and exp and log instead of one power.
    np.testing.assert_allclose(ours, tensor2tensor(100, d_model), atol=1e-12)
