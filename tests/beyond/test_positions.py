"""Positions in packs, beside padding, in caches and on several machines."""

import numpy as np
import pytest

from pe_lib.beyond.positions import (
    check_shards,
    document_of,
    from_mask,
    offset_errors,
    packed,
    sharded,
    windowed,
)

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


def test_a_window_keeps_the_first_and_the_last():
    same(windowed(3, 5, sinks=2), [0, 1, 2])
    same(windowed(5, 5), np.arange(5))
    same(windowed(6, 5), np.arange(1, 6))
    for length in range(1, 12):
        kept = windowed(length, 4, sinks=1)
        assert len(kept) == min(length, 4) and kept[0] == 0
        assert kept[-1] == length - 1 and (np.diff(kept) > 0).all()


def shards(order, number, n=16, ranks=2):
    """Tokens cut in one order; positions by a function of rank and tokens."""
    parts = [sharded(n, ranks, r, order=order) for r in range(ranks)]
    return [(part, number(r, part)) for r, part in enumerate(parts)]


@pytest.mark.parametrize(
    ("order", "number", "lengths", "message"),
    [
        (
            "contiguous", lambda _, t: np.arange(len(t)), None,
            "rank 1: token 8 must have position 8, got 0. Every rank counts from 0",
        ),
        (
            "zigzag", lambda r, _: sharded(16, 2, r), None,
            "rank 0: token 12 must have position 12, got 4. These are the positions "
            "of contiguous shards",
        ),
        (
            "contiguous", lambda r, _: sharded(16, 2, r, order="zigzag"), None,
            "rank 0: token 4 .* got 12. These are the positions of zigzag shards",
        ),
        (
            "contiguous", lambda _, t: t, [5, 11],
            "rank 0: token 5 must have position 0, got 5. The documents are numbered",
        ),
        (
            "zigzag", lambda r, _: packed([5, 11])[sharded(16, 2, r)], [5, 11],
            "These are the positions of contiguous",
        ),
        (
            "contiguous", lambda _, t: t + (t == 11), None,
            r"rank 1: token 11 must have position 11, got 12.$",
        ),
        (
            "contiguous", lambda _, t: t + 7, None,
            r"rank 0: token 0 must have position 0, got 7.$",
        ),
    ],
)  # fmt: skip
def test_the_slips_are_caught_and_named(order, number, lengths, message):
    with pytest.raises(AssertionError, match=message):
        check_shards(shards(order, number), lengths=lengths)


def test_what_a_relative_encoding_forgives():
    """A constant for each document, and nothing else."""
    moved = shards("zigzag", lambda _, t: t + 7)
    check_shards(moved, relative=True)
    through = shards("contiguous", lambda _, t: t)
    check_shards(through, lengths=[5, 11], relative=True)
    with pytest.raises(AssertionError, match=r"rank 1: token 8 must .* 8, got 0\. E"):
        local = shards("contiguous", lambda _, t: np.arange(len(t)))
        check_shards(local, relative=True)
    with pytest.raises(AssertionError, match="token 2 must come once, got it 2 times"):
        check_shards([([0, 1], [0, 1]), ([2, 2], [2, 2])])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: from_mask([0, 2]), ValueError, r"mask must be 0 or 1 .* got \[0 2\]"),
        (lambda: windowed(5, 2, sinks=2), ValueError, "below window = 2, got 2"),
        (lambda: sharded(10, 4, 0), ValueError, "ranks = 4, got 10; pad it to 12"),
        (
            lambda: sharded(12, 4, 0, order="zigzag"),
            ValueError,
            r"a multiple of 2 \* ranks = 8, got 12; pad it to 16",
        ),
        (lambda: sharded(8, 2, 2), ValueError, "rank must be below ranks = 2, got 2"),
        (lambda: offset_errors([0, 0], [0, 1]), ValueError, "once each, got one twice"),
        (lambda: offset_errors([0], [0, 1]), ValueError, r"\[1\] and \[2\]"),
    ],
)
def test_bad_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()
