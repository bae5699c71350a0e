"""Shaw's clipped offsets, and scores moved to their keys."""

import numpy as np
import pytest

from pe_lib.beyond.relative import skew, xl_terms


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (7, 13), (2, 3, 5, 9)])
def test_skew_is_the_index(shape):
    scores = np.random.default_rng(0).standard_normal(shape)
    n = shape[-2]
    skewed = skew(scores)
    assert skewed.shape == (*shape[:-1], n)
    for t in range(n):
        for s in range(n):
            np.testing.assert_array_equal(
                skewed[..., t, s], scores[..., t, s - t + n - 1]
            )


@pytest.mark.parametrize("shape", [(3,), (3, 3), (3, 6), (0, 0)])
def test_another_width_is_refused(shape):
    with pytest.raises(ValueError, match=r"by_offset must have shape \[..., n, 2n - 1"):
        skew(np.ones(shape))


def test_xl_terms_refuse_shapes():
    good = np.ones((3, 2))
    with pytest.raises(ValueError, match=r"got \(\(3, 2\), \(3, 2\), \(3, 3, 4\)"):
        xl_terms(good, good, np.ones((3, 3, 4)), word_bias=[0, 0], offset_bias=[0, 0])
