"""Times and points: the programs restated, and how exact large arguments are."""

import numpy as np
from mpmath import mp, mpf

from pe_lib.beyond.continuous import fourier_features, nerf

RNG = np.random.default_rng(0)


def test_equation_four_of_nerf():
    points = RNG.uniform(-1, 1, (5, 3))
    points[0] = -1e-9, 3.7, -1000.3
    code = nerf(points, 10)
    assert code.shape == (5, 60)
    for row, point in zip(code, points, strict=True):
        with mp.workprec(200):
            expected = [
                f(2**octave * mp.pi * mpf(p))
                for p in point
                for octave in range(10)
                for f in (mp.sin, mp.cos)
            ]
        np.testing.assert_allclose(
            row, np.array(expected, dtype=float), rtol=0, atol=4e-16
        )


def test_whole_turns_are_dropped():
    """With pi the code has the period 2; without it the ends of [-1, 1] differ."""
    np.testing.assert_array_equal(nerf([0.3125], 20), nerf([2**20 + 0.3125], 20))
    np.testing.assert_array_equal(nerf([-1.0], 52), nerf([1.0], 52))
    np.testing.assert_array_equal(nerf([1e308], 52), nerf([0.0], 52))
    assert np.abs(nerf([-1.0], 10, pi=False) - nerf([1.0], 10, pi=False)).max() > 1


def test_fourier_features_by_the_formula():
    directions = RNG.standard_normal((6, 2))
    a = RNG.standard_normal((4, 2))
    code = fourier_features(a, directions)
    np.testing.assert_allclose(code[..., :6], np.cos(2 * np.pi * a @ directions.T))
    np.testing.assert_allclose(code[..., 6:], np.sin(2 * np.pi * a @ directions.T))
    octaves = 2.0 ** np.arange(4)[:, np.newaxis] / 2
    np.testing.assert_allclose(
        fourier_features([0.3], octaves).reshape(2, 4)[::-1].T.ravel(), nerf([0.3], 4)
    )
