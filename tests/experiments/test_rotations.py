"""Rotations in a matrix: read, and put together again."""

import numpy as np
import pytest

from pe_lib import angular_frequencies, shift_matrix
from pe_lib.experiments.rotations import (
    rotation_part,
    scaled_rotations,
    sizes_and_angles,
)


@pytest.mark.parametrize("k", [-1, 0, 2])
def test_rotations_of_a_shift_and_back(k: int) -> None:
    """T(k) has sizes 1 and angles k omega."""
    T = shift_matrix(k, 8)
    sizes, angles = sizes_and_angles(5 * T)
    assert np.abs(sizes - 5).max() < 1e-12
    assert np.abs(angles - k * angular_frequencies(8)).max() < 1e-12
    assert np.abs(scaled_rotations(sizes, angles) - 5 * T).max() < 1e-12


def test_the_part_is_the_nearest_and_the_rest_has_none() -> None:
    """Of any other scaled rotations the matrix is farther away."""
    rng = np.random.default_rng(0)
    W = rng.standard_normal((8, 8))
    part = rotation_part(W)
    assert np.abs(part - scaled_rotations(*sizes_and_angles(W))).max() < 1e-12
    assert sizes_and_angles(W - part)[0].max() < 1e-12 < np.abs(W - part).max()
    for _ in range(20):
        other = part + 0.01 * rotation_part(rng.standard_normal((8, 8)))
        assert ((W - other) ** 2).sum() > ((W - part) ** 2).sum()
