"""Shaw's clipped offsets, and scores moved to their keys."""

import numpy as np
import pytest

from pe_lib.beyond.relative import clipped_offsets, skew, xl_terms


@pytest.mark.parametrize(("length", "clip"), [(1, 0), (5, 0), (5, 2), (4, 9)])
def test_offsets_one_by_one(length, clip):
    offsets = clipped_offsets(length, clip)
    for t in range(length):
        for s in range(length):
            assert offsets[t, s] == min(max(s - t, -clip), clip)


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


@pytest.mark.parametrize(
    ("arguments", "words"),
    [((0, 1), "length must be at least 1"), ((3, -1), "clip must be at least 0")],
)
def test_sizes_are_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        clipped_offsets(*arguments)


def test_xl_terms_one_by_one():
    rng = np.random.default_rng(3)
    queries, keys = rng.standard_normal((2, 5, 4))
    codes = rng.standard_normal((5, 5, 4))
    u, v = rng.standard_normal((2, 4))
    terms = xl_terms(queries, keys, codes, word_bias=u, offset_bias=v)
    for t in range(5):
        for s in range(5):
            expected = [
                queries[t] @ keys[s],
                queries[t] @ codes[t, s],
                u @ keys[s],
                v @ codes[t, s],
            ]
            np.testing.assert_allclose([term[t, s] for term in terms], expected)


def test_xl_terms_refuse_shapes():
    good = np.ones((3, 2))
    with pytest.raises(ValueError, match=r"got \(\(3, 2\), \(3, 2\), \(3, 3, 4\)"):
        xl_terms(good, good, np.ones((3, 3, 4)), word_bias=[0, 0], offset_bias=[0, 0])
