"""The frequencies against the formula in fifty digits, and the published numbers."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

from pe_lib import angular_frequencies
from tests.core.test_exact_angles import frequency

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
        for k, found in enumerate(frequencies):
            truth = frequency(k, d_model, base, spacing)
            assert abs(mpf(float(found)) / truth - 1) <= bound
