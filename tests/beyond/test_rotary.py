"""Rotary: the papers' matrix, and exact angles."""

import numpy as np
import pytest
from mpmath import mp, mpf

from pe_lib import shift_matrix
from pe_lib.beyond.rotary import apply_rotary

LAYOUTS = ("interleaved", "half_split")
RNG = np.random.default_rng(0)
QUERIES = RNG.standard_normal((3, 11, 8))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("position", [-3, 0, 0.5, 7, 4096])
def test_it_is_the_shift_matrix_turned_back(position, layout):
    T = shift_matrix(-position, 8, layout=layout)
    turned = apply_rotary(QUERIES, position, layout=layout)
    np.testing.assert_allclose(turned, QUERIES @ T.T, atol=1e-13)


@pytest.mark.parametrize("position", [1, 355, -(10**9) - 1, 2**31, 1e7 + 0.25])
def test_given_frequencies_are_exact_at_any_position(position):
    """The number (1, 0) of each pair becomes (cos, sin) of the exact product."""
    frequencies = np.array([np.pi, 1.0, 0.1, 1e-5 / 3, 0.0])
    turned = apply_rotary(np.tile([1.0, 0.0], 5), position, frequencies=frequencies)
    with mp.workdps(40):
        angles = [mpf(float(w)) * mpf(position) for w in frequencies]
        right = [float(part) for a in angles for part in (mp.cos(a), mp.sin(a))]
    np.testing.assert_allclose(turned, right, rtol=0, atol=5e-16)
