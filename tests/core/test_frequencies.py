"""The frequencies against the formula in fifty digits, and the published numbers."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

from pe_lib import angular_frequencies, wavelengths

SPACINGS = ("paper", "endpoint")
WIDTHS = (1, 2, 3, 4, 7, 8, 33, 64, 512)
BASES = (10_000.0, 500, 1.5, 1e6)


@pytest.mark.parametrize("spacing", SPACINGS)
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("d_model", WIDTHS)
def test_equals_the_truth_to_fifty_digits(d_model, base, spacing):
    frequencies = angular_frequencies(d_model, base=base, spacing=spacing)
    pairs = math.ceil(d_model / 2)
    assert frequencies.dtype == np.float64
    assert frequencies.shape == (pairs,)
    assert frequencies[0] == 1
    if spacing == "endpoint" and pairs > 1:
        assert frequencies[-1] == 1 / base
    # Half an ulp of an exponent below 1 costs ln(base) halves; a power, two ulps.
    bound = (2 + math.log(base) / 2) * 2**-52
    with mp.workdps(50):
        steps = mpf(d_model) / 2 if spacing == "paper" else mpf(max(pairs - 1, 1))
        for k, frequency in enumerate(frequencies):
            truth = mpf(base) ** (-k / steps)
            assert abs(mpf(float(frequency)) / truth - 1) <= bound


@pytest.mark.parametrize("d_model", (8, 32, 64, 128, 512, 1024))
def test_longest_wavelength_is_2_pi_10000_only_for_endpoint(d_model):
    # "from 2 pi to 10000 * 2 pi": Vaswani et al. (2017), section 3.5. Their printed
    # formula stops short of it, here by the exponent (d - 2)/d worked out by hand;
    # tensor2tensor's get_timing_signal_1d gets there.
    printed = {8: 6_283, 32: 35_333, 64: 47_117, 128: 54_410, 512: 60_611, 1024: 61_712}
    assert round(wavelengths(d_model)[-1]) == printed[d_model]
    assert round(wavelengths(d_model, spacing="endpoint")[-1]) == 62_832
    turns = wavelengths(d_model, base=77.7) * angular_frequencies(d_model, base=77.7)
    np.testing.assert_allclose(turns, 2 * np.pi, rtol=2**-51)
