"""The frequencies against the formula, the published numbers and the truth."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from pe_lib import angular_frequencies, wavelengths

SPACINGS = ("paper", "endpoint")
WIDTHS = (1, 2, 3, 4, 7, 8, 33, 64, 512)
BASES = (10_000.0, 500, 1.5, 1e6)


def naive_frequencies(d_model, base, spacing):
    """Vaswani et al. (2017), section 3.5, and tensor2tensor, one by one."""
    pairs = math.ceil(d_model / 2)
    frequencies = []
    for k in range(pairs):
        if spacing == "paper":
            frequencies.append(1 / base ** (2 * k / d_model))
        else:
            frequencies.append(1 / base ** (k / max(pairs - 1, 1)))
    return frequencies


@pytest.mark.parametrize("spacing", SPACINGS)
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("d_model", WIDTHS)
def test_equals_the_formula_term_by_term(d_model, base, spacing):
    frequencies = angular_frequencies(d_model, base=base, spacing=spacing)
    # The rounded exponent costs ln(base) <= 14 half ulps, the power two more.
    np.testing.assert_allclose(
        frequencies, naive_frequencies(d_model, base, spacing), rtol=1e-14, atol=0
    )
    assert frequencies.dtype == np.float64
    assert frequencies.shape == (math.ceil(d_model / 2),)


@pytest.mark.parametrize("spacing", SPACINGS)
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("d_model", (7, 8, 64))
def test_equals_the_truth_to_fifty_digits(d_model, base, spacing):
    frequencies = angular_frequencies(d_model, base=base, spacing=spacing)
    pairs = len(frequencies)
    # Half an ulp of an exponent below 1 costs ln(base) halves; a power, two ulps.
    bound = (2 + math.log(base) / 2) * 2**-52
    with mp.workdps(50):
        steps = mpf(d_model) / 2 if spacing == "paper" else mpf(pairs - 1)
        for k, frequency in enumerate(frequencies):
            truth = mpf(base) ** (-k / steps)
            assert abs(mpf(float(frequency)) / truth - 1) <= bound


@pytest.mark.parametrize("spacing", SPACINGS)
@pytest.mark.parametrize("d_model", WIDTHS)
def test_begins_at_exactly_one(d_model, spacing):
    assert angular_frequencies(d_model, base=77.7, spacing=spacing)[0] == 1


@pytest.mark.parametrize("d_model", (3, 4, 64, 511))
def test_endpoint_ends_at_one_over_the_base(d_model):
    for base in (10_000, 500, 2):
        assert angular_frequencies(d_model, base=base, spacing="endpoint")[-1] == (
            1 / base
        )


@pytest.mark.parametrize("d_model", (8, 32, 64, 128, 512, 1024))
def test_longest_wavelength_is_2_pi_10000_only_for_endpoint(d_model):
    # "from 2 pi to 10000 * 2 pi": Vaswani et al. (2017), section 3.5. Their printed
    # formula stops short of it, here by the exponent (d - 2)/d worked out by hand;
    # tensor2tensor's get_timing_signal_1d gets there.
    printed = {8: 6_283, 32: 35_333, 64: 47_117, 128: 54_410, 512: 60_611, 1024: 61_712}
    assert round(wavelengths(d_model)[-1]) == printed[d_model]
    assert round(wavelengths(d_model, spacing="endpoint")[-1]) == 62_832


@settings(derandomize=True, deadline=None)
@given(
    d_model=st.integers(1, 300),
    base=st.floats(1.01, 1e12),
    spacing=st.sampled_from(SPACINGS),
)
def test_any_frequencies_fall_by_one_factor_from_1_towards_1_over_base(
    d_model, base, spacing
):
    frequencies = angular_frequencies(d_model, base=base, spacing=spacing)
    assert frequencies[0] == 1
    assert (np.diff(frequencies) < 0).all()
    assert frequencies[-1] >= (1 - 1e-14) / base
    # Geometric: every step divides by the same factor. 2e-14: two terms, each as above
    # with ln(base) < 28.
    np.testing.assert_allclose(
        frequencies[1:] / frequencies[:-1],
        np.full(len(frequencies) - 1, frequencies[1:2]),
        rtol=4e-14,
    )
    turns = wavelengths(d_model, base=base, spacing=spacing) * frequencies
    np.testing.assert_allclose(turns, 2 * np.pi, rtol=2**-51)
