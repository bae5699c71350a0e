"""Positions in packs, and next to padding."""

import numpy as np
import pytest

from pe_lib.beyond.positions import document_of, from_mask, packed

same = np.testing.assert_array_equal


def test_packs():
    for lengths in ([1], [5], [3, 1, 4], [2] * 7):
        positions, document = packed(lengths), document_of(lengths)
        expected = [(t, i) for i, n in enumerate(lengths) for t in range(n)]
        assert list(zip(positions, document, strict=True)) == expected
        assert positions.dtype == document.dtype == np.int64


def test_masks_on_either_side_and_none():
    same(from_mask([True, True, False]), [0, 1, 1])
    same(from_mask(np.zeros((2, 3), int)), 0)
    same(from_mask([[[0, 1]]]), [[[0, 0]]])
    for padding in range(5):
        mask = np.arange(9) >= padding
        same(from_mask(mask)[padding:], np.arange(9 - padding))


def test_bad_arguments():
    with pytest.raises(ValueError, match=r"mask must be 0 or 1 .* got \[0 2\]"):
        from_mask([0, 2])
