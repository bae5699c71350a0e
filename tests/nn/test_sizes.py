"""At the sizes of real models a part of a call is the call of a part."""

import pytest
import torch

from pe_lib.nn import (
    AlibiBias,
    LearnedPositionalEmbedding,
    RotaryEmbedding,
    SinusoidalPositionalEncoding,
    rotary,
)

LONGEST, WIDTH = 131_072, 128
LAYOUTS = ("interleaved", "half_split")
on_each_layout = pytest.mark.parametrize("layout", LAYOUTS)


def assert_alike(found, right):
    """But for the last bit: processors multiply eight numbers otherwise than one."""
    atol, rtol = (0, 2**-8) if found.dtype == torch.bfloat16 else (1e-6, 0)
    torch.testing.assert_close(found, right, atol=atol, rtol=rtol)


def slices(x, axis):
    """The first, one in the middle, the last; and few of them together."""
    n = x.shape[axis]
    for first, last in ((0, 1), (n // 2, n // 2 + 1), (n - 1, n), (n // 3, n // 3 + 3)):
        yield first, x.narrow(axis, first, last - first)


SHAPES = {
    "batch": (64, 2, 9, 8),
    "heads": (1, 128, 9, 8),
    "length": (1, 1, LONGEST, 8),
    "width": (1, 1, 9, 4096),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("axis", SHAPES)
@on_each_layout
def test_rotary_turns_a_part_as_the_whole(layout, axis, dtype):
    shape = SHAPES[axis]
    at = torch.randint(0, LONGEST, (shape[0], shape[2]))
    x = torch.randn(shape).to(dtype)
    module = RotaryEmbedding(shape[-1], max_length=64, layout=layout)
    whole, plain = module.rotate(x, positions=at), module.rotate(x)
    if axis == "width":  # pairs have frequencies of their own, so rows are what is cut
        axis = "length"
    for first, part in slices(x, (*SHAPES, "width").index(axis)):
        length, batch = part.shape[2], part.shape[0]
        here = at[first : first + batch] if axis == "batch" else at
        here = here[:, first : first + length] if axis == "length" else here
        of = (list(SHAPES).index(axis), first, part.shape[list(SHAPES).index(axis)])
        assert_alike(module.rotate(part, positions=here), whole.narrow(*of))
        offset = first if axis == "length" else 0
        assert_alike(module.rotate(part, offset=offset), plain.narrow(*of))


@pytest.mark.weekly
@on_each_layout
def test_rotary_turns_a_part_of_what_is_long_in_every_axis(layout):
    module = RotaryEmbedding(WIDTH, max_length=LONGEST, layout=layout)
    x = torch.randn(2, 8, LONGEST, WIDTH, dtype=torch.bfloat16)
    whole = module.rotate(x)
    for axis in range(3):
        for first, part in slices(x, axis):
            found = module.rotate(part, offset=first if axis == 2 else 0)
            assert_alike(found, whole.narrow(axis, first, part.shape[axis]))


@pytest.mark.parametrize("shape", [(64, 9, 8), (1, LONGEST, 8), (1, 9, 4096)])
@pytest.mark.parametrize(
    "kind", [SinusoidalPositionalEncoding, LearnedPositionalEmbedding]
)
def test_what_is_added_to_a_part_is_what_is_added_to_the_whole(kind, shape):
    module = kind(shape[-1], max_length=LONGEST if shape[1] > 9 else 64)
    x = torch.randn(shape)
    at = torch.randint(0, module.max_length, shape[:2])
    whole, plain = module(x, positions=at), module(x)
    for row in (0, shape[0] - 1):
        assert torch.equal(module(x[row], positions=at[row]), whole[row])
    for first, part in slices(x, 1):
        cut = slice(first, first + part.shape[1])
        assert torch.equal(module(part, positions=at[:, cut]), whole[:, cut])
        assert torch.equal(module(part, offset=first), plain[:, cut])


def test_a_row_of_a_bias_is_the_bias_of_the_last_query():
    assert AlibiBias(128, causal=True)(9).shape == (128, 9, 9)
    bias = AlibiBias(2, causal=True)
    for query in (0, LONGEST // 2, LONGEST - 1):
        row = bias(1, LONGEST, offset=query)
        assert torch.equal(row[..., :4], bias(1, 4, offset=query))
        assert torch.equal(row[..., 1:], bias(1, LONGEST - 1, offset=query - 1))


# Positions that are given


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@on_each_layout
def test_whole_positions_come_from_the_table(layout, dtype, monkeypatch):
    """To the same bits as computed; and whatever is computed, once for both."""
    ready, formula = (
        RotaryEmbedding(WIDTH, max_length=n, layout=layout) for n in (64, 0)
    )
    if dtype == torch.float64:
        ready.double()
    q, k = (torch.randn(2, n, 9, WIDTH).to(dtype) for n in (4, 1))
    calls, codes_at = [], rotary.codes_at
    monkeypatch.setattr(rotary, "codes_at", lambda *a: calls.append(a) or codes_at(*a))
    for at, offset, computed in (
        (torch.randint(64, (2, 9)), 0, 0),
        (torch.tensor([63, 0, 5, 5, 1, 2, 3, 4, 63]), 0, 0),
        (torch.arange(9)[None], 55, 0),
        (torch.arange(9)[None], 56, 1),
        (torch.arange(9), -1, 1),
        (torch.arange(9) / 2, 0, 1),
        (torch.randint(64, (2, 9)).to(torch.uint8), 0, 0),
    ):
        calls.clear()
        found = ready(q, k, positions=at, offset=offset)
        assert len(calls) == computed
        for one, x in zip(found, (q, k), strict=True):
            assert torch.equal(one, formula.rotate(x, positions=at, offset=offset))
