"""Times and points: the programs restated, and how exact large arguments are."""

import numpy as np
import pytest
from mpmath import mp, mpf

from pe_lib import sinusoidal
from pe_lib.beyond.continuous import fourier_features, nerf, time_embedding

RNG = np.random.default_rng(0)


def by_ddpm(t, d):
    """hojonathanho/diffusion, diffusion_tf/nn.py, restated."""
    half = d // 2
    frequencies = np.exp(np.arange(half) * -(np.log(10000) / (half - 1)))
    angles = np.asarray(t)[:, np.newaxis] * frequencies
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)


def by_guided(t, d, max_period):
    """openai/guided-diffusion, guided_diffusion/nn.py, restated."""
    half = d // 2
    frequencies = np.exp(-np.log(max_period) * np.arange(half) / half)
    angles = np.asarray(t)[:, np.newaxis] * frequencies
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=1)


def test_the_two_programs():
    t = np.array([0, 1, 999, 0.5, 321.25])
    for d in (4, 6, 128):
        np.testing.assert_allclose(time_embedding(t, d), by_ddpm(t, d), atol=1e-12)
        guided = time_embedding(t, d, shift=0, cosine_first=True, base=1000)
        np.testing.assert_allclose(guided, by_guided(t, d, 1000), atol=1e-12)
    np.testing.assert_array_equal(
        time_embedding(t, 8, shift=0), sinusoidal(t, 8, layout="half_split")
    )
    assert time_embedding(3, 4, dtype=np.float32).dtype == np.float32


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


def test_the_program_of_nerf():
    """bmild/nerf, run_nerf_helpers.py: the point first, the coordinates run last."""
    points = RNG.uniform(-1, 1, (5, 3))
    program = np.concatenate(
        [points, *(f(points * 2.0**j) for j in range(10) for f in (np.sin, np.cos))], 1
    )
    ours = nerf(points, 10, pi=False).reshape(5, 3, 10, 2)
    again = np.concatenate([points, ours.transpose(0, 2, 3, 1).reshape(5, 60)], 1)
    np.testing.assert_allclose(again, program, atol=1e-12)


def test_whole_turns_are_dropped():
    """With pi the code has the period 2; without it the ends of [-1, 1] differ."""
    np.testing.assert_array_equal(nerf([0.3125], 20), nerf([2**20 + 0.3125], 20))
    np.testing.assert_array_equal(nerf([-1.0], 52), nerf([1.0], 52))
    np.testing.assert_array_equal(nerf([1e308], 52), nerf([0.0], 52))
    assert np.abs(nerf([-1.0], 10, pi=False) - nerf([1.0], 10, pi=False)).max() > 1


def test_fourier_features_see_the_difference():
    directions = RNG.standard_normal((6, 2))
    a, b, by = RNG.standard_normal((3, 4, 2))
    code = fourier_features(a, directions)
    np.testing.assert_allclose(code[..., :6], np.cos(2 * np.pi * a @ directions.T))
    np.testing.assert_allclose(code[..., 6:], np.sin(2 * np.pi * a @ directions.T))
    scores = [
        np.sum(
            fourier_features(a + c, directions) * fourier_features(b + c, directions)
        )
        for c in (0, by)
    ]
    np.testing.assert_allclose(*scores)
    octaves = 2.0 ** np.arange(4)[:, np.newaxis] / 2
    np.testing.assert_allclose(
        fourier_features([0.3], octaves).reshape(2, 4)[::-1].T.ravel(), nerf([0.3], 4)
    )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: time_embedding(1, 4, shift=2), "shift must be 0 or 1, got 2"),
        (lambda: time_embedding(1, 2), "d_model must be at least 4, got 2"),
        (lambda: time_embedding(1, 7), "d_model must be even, got 7"),
        (lambda: nerf(0.5, 3), r"points must have shape \[..., axes\], got \(\)"),
        (lambda: nerf([np.inf], 3), "points must be finite"),
        (lambda: nerf([0.5], 53), "octaves must be at most 52, got 53"),
        (lambda: nerf([1e308], 9, pi=False), r"points must lie within -2\*\*1015"),
        (
            lambda: fourier_features([1.0, 2.0], [[1.0]]),
            r"directions must have shape \[m, 2\]",
        ),
        (lambda: fourier_features([1.0], [[np.nan]]), "directions must be finite"),
    ],
)
def test_what_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
    assert time_embedding(1, 2, shift=0).shape == (2,)
