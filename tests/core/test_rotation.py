"""A shift is a rotation: T(k) moves every encoding on by k, and nothing else does.

Each property is followed by a control: something that looks right and must fail it,
by far more than the tolerance.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pe_lib import fit_shift, shift_matrix, sinusoidal, sinusoidal_table

CHOICES = [
    {"base": base, "spacing": spacing, "layout": layout}
    for base in (10_000, 500)
    for spacing in ("paper", "endpoint")
    for layout in ("interleaved", "half_split")
]
# All of them sums of powers of two, so that t + k is exact.
sixty_fourths = st.integers(-(2**36), 2**36).map(lambda n: n / 64)
widths = st.integers(1, 32).map(lambda pairs: 2 * pairs)
choices = st.sampled_from(CHOICES)


def difference(left, right):
    return np.abs(np.subtract(left, right, dtype=np.float64)).max(initial=0.0)


# T P_t = P_{t + k}


@settings(derandomize=True, deadline=None)
@given(t=sixty_fourths, k=sixty_fourths, d_model=widths, choice=choices)
def test_the_matrix_moves_any_code_by_any_offset(t, k, d_model, choice):
    before, after = sinusoidal([t, t + k], d_model, **choice)
    T = shift_matrix(k, d_model, **choice)
    assert T.shape == (d_model, d_model)
    assert T.dtype == np.float64
    # Each sine and cosine is 2e-16 off; two products and a sum add a few roundings.
    assert difference(T @ before, after) <= 1e-15


# fit_shift


def random_table(length, d_model):
    return np.random.default_rng(0).standard_normal((length, d_model))


def sine_only_table(length, d_model):
    """d_model sines of as many frequencies, and no cosine."""
    return sinusoidal_table(length, 2 * d_model, layout="half_split")[:, :d_model]


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize(("length", "d_model"), [(100, 2), (300, 6), (400, 64)])
@pytest.mark.parametrize("offset", [-37, -1, 0, 1, 5])
def test_fit_shift_is_exact_on_the_sinusoid(offset, length, d_model, choice):
    table = sinusoidal_table(length, d_model, **choice)
    T, residual = fit_shift(table, offset)
    assert T.shape == (d_model, d_model)
    # lstsq is backward stable, and drops directions below length * 2**-52: 1e-13.
    assert 0 <= residual < 1e-12
    t = length // 2
    assert difference(T @ table[t], table[t + offset]) < 1e-11


@pytest.mark.parametrize("offset", [-6, 0, 1, 4])
@pytest.mark.parametrize("make", [random_table, sine_only_table])
def test_residual_by_its_formula(make, offset):
    table = make(40, 3)
    T, residual = fit_shift(table, offset)
    missed = size = 0.0
    for t in range(40):
        if 0 <= t + offset < 40:
            missed += np.sum((T @ table[t] - table[t + offset]) ** 2)
            size += np.sum(table[t + offset] ** 2)
    assert residual == pytest.approx(np.sqrt(missed / size), rel=1e-12, abs=1e-15)


def test_a_faint_column_is_fitted_too():
    """Only what rounding cannot tell from zero is dropped."""
    t = np.arange(12)
    T, _ = fit_shift(np.stack([1.5**t, 1e-11 * 1.1**t], axis=1), 1)
    # The faint column is 1e-13 of the other: three digits of it are left.
    assert T[1, 1] == pytest.approx(1.1, abs=1e-2)
