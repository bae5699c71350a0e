"""Distances and similarities depend on the offset alone, and are what they should be.

The truth comes from elsewhere: from the codes themselves, subtracted; from mpmath with
fifty digits; from an integral.
"""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pe_lib import sinusoidal_table
from pe_lib.geometry import decay_law, distance, nearest_other, similarity
from tests.core.optional import needs
from tests.core.test_exact_angles import frequency

CHOICES = [
    {"base": base, "spacing": spacing}
    for base in (10_000, 500)
    for spacing in ("paper", "endpoint")
]
WIDTHS = (2, 6, 64)

widths = st.integers(1, 16).map(lambda pairs: 2 * pairs)
choices = st.sampled_from(CHOICES)


def exact(name, offset, d_model, base=10_000, spacing="paper"):
    """The sum of the formula, with fifty digits, one clock after another."""
    with mpmath.workdps(50):
        total = mpmath.mpf(0)
        for j in range(d_model // 2):
            angle = frequency(j, d_model, base, spacing) * mpmath.mpf(offset)
            tip = mpmath.sin(angle), mpmath.cos(angle)
            if name == "similarity":
                total += tip[1]
            else:
                total += tip[0] ** 2 + (tip[1] - 1) ** 2
        return float(total if name == "similarity" else mpmath.sqrt(total))


# Both are about the codes


@settings(derandomize=True, deadline=None)
@given(k=st.integers(-(10**6), 10**6), d_model=widths, choice=choices)
def test_against_fifty_digits(k, d_model, choice):
    error = d_model * (abs(k) + 1) * 2**-52
    for measure in (similarity, distance):
        truth = exact(measure.__name__, k, d_model, **choice)
        assert abs(measure(k, d_model, **choice) - truth) <= error


@pytest.mark.parametrize("offset", [1e-3, 1e-9, 1e-100])
def test_small_offsets_keep_their_digits(offset):
    np.testing.assert_allclose(
        distance(offset, 64), exact("distance", offset, 64), rtol=1e-14
    )


# The nearest other position


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("d_model", WIDTHS)
@pytest.mark.parametrize("within", [1, 2, 5, 43, 44, 3000])
def test_nearest_other_against_all_codes(within, d_model, choice):
    codes = sinusoidal_table(within + 1, d_model, **choice)
    away = np.linalg.norm(codes[1:] - codes[0], axis=1)
    offset, apart = nearest_other(d_model, within=within, **choice)
    assert offset == away.argmin() + 1
    assert abs(apart - away.min()) < 1e-10
    assert type(offset) is int and type(apart) is float


# The law


@pytest.mark.parametrize(
    ("offset", "base"), [(0.001, 500), (1, 10_000), (-10, 2), (100, 1e12), (100, 2)]
)
@needs("scipy")
def test_decay_law_is_the_integral(offset, base):
    places, weights = np.polynomial.legendre.leggauss(400)  # of -1 to 1
    integral = weights @ np.cos(offset * base ** -((places + 1) / 2)) / 2
    np.testing.assert_allclose(decay_law(offset, base=base), integral, atol=1e-12)
