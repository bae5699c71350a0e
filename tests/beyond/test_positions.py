"""Positions in packs, next to padding and on several machines."""

import numpy as np
import pytest

from pe_lib.beyond.positions import ORDERS, document_of, from_mask, packed, sharded
from pe_lib.table import sinusoidal_table

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


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("ranks", [1, 2, 3, 8])
def test_shards_are_a_partition(order, ranks):
    n = 2 * ranks * 3
    parts = [sharded(n, ranks, r, order=order) for r in range(ranks)]
    same(np.sort(np.concatenate(parts)), np.arange(n))
    assert {len(part) for part in parts} == {n // ranks}
    seen = [sum(part + 1) for part in parts]  # keys of all queries under a mask
    assert (len(set(seen)) == 1) == (order == "zigzag" or ranks == 1)


@pytest.mark.parametrize("order", ORDERS)
def test_a_shard_of_the_table_alone_is_the_whole_ones_to_the_last_bit(order):
    """By rotation, from its own start; no rank needs what another one has."""
    n, ranks = 1_536, 4
    for dtype in (np.float64, np.float32):
        whole = sinusoidal_table(n, 24, dtype=dtype)
        for rank in range(ranks):
            tokens = sharded(n, ranks, rank, order=order)
            stretches = np.split(tokens, 2 if order == "zigzag" else 1)
            alone = [
                sinusoidal_table(len(part), 24, start=int(part[0]), dtype=dtype)
                for part in stretches
            ]
            same(np.concatenate(alone), whole[tokens])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: from_mask([0, 2]), ValueError, r"mask must be 0 or 1 .* got \[0 2\]"),
        (lambda: sharded(10, 4, 0), ValueError, "ranks = 4, got 10; pad it to 12"),
        (
            lambda: sharded(12, 4, 0, order="zigzag"),
            ValueError,
            r"a multiple of 2 \* ranks = 8, got 12; pad it to 16",
        ),
        (lambda: sharded(8, 2, 2), ValueError, "rank must be below ranks = 2, got 2"),
    ],
)
def test_bad_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()
