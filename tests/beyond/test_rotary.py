"""Rotary: the papers' matrix, the offset alone in the score, and peers' slips."""

import numpy as np
import pytest
from mpmath import mp, mpf

from pe_lib import shift_matrix
from pe_lib.beyond.rotary import apply_rotary, rotary_frequencies
from pe_lib.layouts import convert_rotary_weight
from tests.core.optional import BFLOAT16

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


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shift", [1, 50, 262_144, 2**30])
def test_scores_depend_on_the_offset_alone(shift, layout):
    positions = np.arange(11)

    def scores(start, keys_layout=layout):
        q = apply_rotary(QUERIES, start + positions, layout=layout)
        k = apply_rotary(KEYS, start + positions, layout=keys_layout)
        return q @ np.swapaxes(k, -1, -2)

    np.testing.assert_allclose(scores(shift), scores(0), atol=1e-12)
    other = LAYOUTS[1 - LAYOUTS.index(layout)]
    # Half of the pairs of the one layout are no pairs of the other.
    assert np.abs(scores(shift, other) - scores(0, other)).max() > 0.1


def test_positions_of_each_sequence_of_a_batch():
    positions = np.arange(2)[:, np.newaxis, np.newaxis] * 100 + np.arange(11)
    positions = np.broadcast_to(positions, (2, 3, 11))
    turned = apply_rotary(QUERIES, positions)
    np.testing.assert_array_equal(
        turned[1], apply_rotary(QUERIES[1], 100 + np.arange(11))
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float16, BFLOAT16])
@pytest.mark.parametrize("start", [0, 32_768, 262_144])
def test_angles_do_not_suffer_from_the_dtype(dtype, start):
    x = np.ones((64, 8), dtype)
    turned = apply_rotary(x, start + np.arange(64))
    assert turned.dtype == dtype
    exact = apply_rotary(x.astype(np.float64), start + np.arange(64))
    np.testing.assert_array_equal(turned, exact.astype(np.float32).astype(dtype))
    assert len(np.unique(turned.astype(np.float64), axis=0)) == 64


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


@pytest.mark.parametrize("rotary_dim", [None, 4])
def test_converted_weights_give_the_same_scores(rotary_dim):
    """Three query heads on one key head, with a bias, there and back."""
    words, t = RNG.standard_normal((9, 5)), np.arange(9)
    Wq, Wk = RNG.standard_normal((3 * 8, 5)), RNG.standard_normal((8, 5))
    bias = RNG.standard_normal(3 * 8)
    ways = {"source": "interleaved", "target": "half_split", "rotary_dim": rotary_dim}

    def scores(Wq, bias, Wk, layout):
        q = (words @ Wq.T + bias).reshape(9, 3, 8).swapaxes(0, 1)
        q, k = (
            apply_rotary(x, t, layout=layout, rotary_dim=rotary_dim)
            for x in (q, words @ Wk.T)
        )
        return q @ k.T

    other = [
        convert_rotary_weight(W, n, **ways) for W, n in ((Wq, 3), (bias, 3), (Wk, 1))
    ]
    right = scores(Wq, bias, Wk, "interleaved")
    np.testing.assert_allclose(scores(*other, "half_split"), right, atol=1e-12)
    assert np.abs(scores(Wq, bias, Wk, "half_split") - right).max() > 0.1
    ways |= {"source": "half_split", "target": "interleaved"}
    np.testing.assert_array_equal(convert_rotary_weight(other[0], 3, **ways), Wq)
