"""Rotary: the papers' matrix, the offset alone in the score, and peers' slips."""

import numpy as np
import pytest
from mpmath import mp, mpf

from pe_lib import shift_matrix
from pe_lib.beyond.rotary import apply_rotary, rotary_frequencies

LAYOUTS = ("interleaved", "half_split")
RNG = np.random.default_rng(0)
# Unequal axes: batch, heads, length, width of a head.
QUERIES, KEYS = RNG.standard_normal((2, 2, 3, 11, 8))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("position", [-3, 0, 0.5, 7, 4096])
def test_it_is_the_shift_matrix_turned_back(position, layout):
    T = shift_matrix(-position, 8, layout=layout)
    turned = apply_rotary(QUERIES, position, layout=layout)
    np.testing.assert_allclose(turned, QUERIES @ T.T, atol=1e-13)


def test_positions_of_each_sequence_of_a_batch():
    positions = np.arange(2)[:, np.newaxis, np.newaxis] * 100 + np.arange(11)
    positions = np.broadcast_to(positions, (2, 3, 11))
    turned = apply_rotary(QUERIES, positions)
    np.testing.assert_array_equal(
        turned[1], apply_rotary(QUERIES[1], 100 + np.arange(11))
    )


@pytest.mark.parametrize("position", [1, 355, -(10**9) - 1, 2**31, 1e7 + 0.25])
def test_given_frequencies_are_exact_at_any_position(position):
    """The number (1, 0) of each pair becomes (cos, sin) of the exact product."""
    frequencies = np.array([np.pi, 1.0, 0.1, 1e-5 / 3, 0.0])
    turned = apply_rotary(np.tile([1.0, 0.0], 5), position, frequencies=frequencies)
    with mp.workdps(40):
        angles = [mpf(float(w)) * mpf(position) for w in frequencies]
        right = [float(part) for a in angles for part in (mp.cos(a), mp.sin(a))]
    np.testing.assert_allclose(turned, right, rtol=0, atol=5e-16)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_part_turns_as_a_whole_head(layout):
    turned = apply_rotary(QUERIES, np.arange(11), layout=layout, rotary_dim=6)
    alone = apply_rotary(QUERIES[..., :6], np.arange(11), layout=layout)
    np.testing.assert_array_equal(turned[..., :6], alone)
    np.testing.assert_array_equal(turned[..., 6:], QUERIES[..., 6:])


def test_the_two_exponents():
    np.testing.assert_allclose(
        rotary_frequencies(128, rotary_dim=32), 1e4 ** (-np.arange(16) / 16)
    )
    whole = rotary_frequencies(128, rotary_dim=32, exponent="head_dim")
    np.testing.assert_allclose(whole[:16], 1e4 ** (-np.arange(16) / 64))
    assert whole.shape == (64,) and not whole[16:].any()
