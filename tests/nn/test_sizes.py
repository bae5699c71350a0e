"""At the sizes of real models: programs written down, and long, wide, many inputs."""

import pytest
import torch
from torch import nn

from pe_lib.nn import (
    AlibiBias,
    LearnedPositionalEmbedding,
    RotaryEmbedding,
    SinusoidalPositionalEncoding,
    T5Bias,
    rotary,
)

LONGEST, HEADS, WIDTH = 131_072, 32, 128
LAYOUTS = ("interleaved", "half_split")
WRITTEN = pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
on_each_layout = pytest.mark.parametrize("layout", LAYOUTS)


@pytest.fixture(scope="module", params=LAYOUTS)
def llama(request):
    return RotaryEmbedding(WIDTH, max_length=LONGEST, layout=request.param)


class Placed(nn.Module):
    """Positions by the order of arguments, as programs have them."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, q, k, at):
        return self.inner(q, k, positions=at)


def both(batch, heads, length, dtype=torch.float32):
    return tuple(
        torch.randn(batch, n, length, WIDTH).to(dtype)
        for n in (heads, max(1, heads // 4))
    )


def range_of(program):
    (found,) = program.range_constraints.values()
    return int(found.lower), int(found.upper)


def assert_turned(program, module, length, *given):
    call = both(1, 1, length)
    right = module(*call, *given)
    for one, other in zip(program(*call, *given), right, strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=0)


# Programs


@WRITTEN
def test_exported_for_every_length_of_the_table(llama):
    """Told the lengths, and left to find them: to the end of the table, not before."""
    n = torch.export.Dim("n", min=2, max=LONGEST)
    for batch, length in ((1, n), (8, torch.export.Dim.AUTO)):
        shapes = {"queries": {2: length}, "keys": {2: length}}
        program = torch.export.export(
            llama, both(batch, HEADS, 16), dynamic_shapes=shapes
        )
        assert range_of(program) == (2, LONGEST)


@WRITTEN
@pytest.mark.parametrize(("layout", "batch"), [*zip(LAYOUTS, (1, 8), strict=True)])
def test_exported_with_positions_of_every_length(layout, batch):
    model = Placed(RotaryEmbedding(WIDTH, max_length=16, layout=layout))
    n = torch.export.Dim("n", min=2, max=LONGEST)
    example = *both(batch, HEADS, 16), torch.arange(16).expand(batch, 16)
    shapes = ({2: n}, {2: n}, {1: n})
    program = torch.export.export(model, example, dynamic_shapes=shapes)
    assert range_of(program) == (2, LONGEST)


@WRITTEN
def test_an_exported_program_at_both_ends_of_its_range(llama):
    n = torch.export.Dim("n", min=1, max=LONGEST)
    shapes = {"queries": {2: n}, "keys": {2: n}}
    program = torch.export.export(llama, both(1, 1, 5), dynamic_shapes=shapes)
    for length in (1, 2, 4_096, 4_097, LONGEST):
        assert_turned(program.module(), llama, length)


@on_each_layout
def test_compiled_once_for_all_lengths(layout):
    module, graphs = RotaryEmbedding(WIDTH, max_length=2000, layout=layout), []

    def backend(graph, _):
        graphs.append(graph)
        return graph.forward

    compiled = torch.compile(module, fullgraph=True, backend=backend, dynamic=True)
    for length in (2, 3, 16, 17, 127, 128, 129, 511, 512, 513, 1000):
        call = both(1, HEADS, length)
        for one, other in zip(compiled(*call), module(*call), strict=True):
            torch.testing.assert_close(one, other, atol=1e-6, rtol=0)
    assert len(graphs) == 1


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore:Converting a tensor to a Python")
@on_each_layout
def test_traced_for_longer_texts_than_its_example(layout):
    module = RotaryEmbedding(WIDTH, max_length=2000, layout=layout)
    for example in (5, 300):
        traced = torch.jit.trace(module, both(1, HEADS, example), check_trace=False)
        for length in (2, 300, 1000):
            call = both(1, HEADS, length)
            for one, other in zip(traced(*call), module(*call), strict=True):
                torch.testing.assert_close(one, other, atol=1e-6, rtol=0)


# A part of a call is the call of a part


def assert_alike(found, right):
    """But for the last bit: processors multiply eight numbers otherwise than one."""
    near = (
        {"atol": 0, "rtol": 2**-8}
        if found.dtype == torch.bfloat16
        else {"atol": 1e-6, "rtol": 0}
    )
    torch.testing.assert_close(found, right, **near)


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


@pytest.mark.parametrize("shape", [(64, 9, 8), (1, LONGEST, 8), (1, 9, 4096)])
@pytest.mark.parametrize(
    "kind", [SinusoidalPositionalEncoding, LearnedPositionalEmbedding]
)
def test_what_is_added_to_a_part_is_what_is_added_to_the_whole(kind, shape):
    module, x = (
        kind(shape[-1], max_length=LONGEST if shape[1] > 9 else 64),
        torch.randn(shape),
    )
    at = torch.randint(0, module.max_length, shape[:2])
    whole, plain = module(x, positions=at), module(x)
    for row in (0, shape[0] - 1):
        assert torch.equal(
            module(x[row : row + 1], positions=at[row : row + 1]), whole[row : row + 1]
        )
    for first, part in slices(x, 1):
        here = at[:, first : first + part.shape[1]]
        assert torch.equal(
            module(part, positions=here), whole[:, first : first + part.shape[1]]
        )
        assert torch.equal(
            module(part, offset=first), plain[:, first : first + part.shape[1]]
        )


@pytest.mark.parametrize("kind", [AlibiBias, T5Bias])
def test_a_row_of_a_bias_is_the_bias_of_the_last_query(kind):
    more = {"init_std": 1.0} if kind is T5Bias else {}
    many = kind(128, causal=True, **more)(9)
    assert many.shape == (128, 9, 9)
    bias = kind(2, causal=True, **more)
    keys = torch.arange(LONGEST)
    for query in (0, LONGEST // 2, LONGEST - 1):
        row = bias(1, LONGEST, offset=query)
        at = torch.tensor([query])
        assert torch.equal(row, bias(1, LONGEST, positions=at, key_positions=keys))
        assert torch.equal(row[..., :4], bias(1, 4, offset=query))
    each = torch.randint(0, LONGEST, (64, 5))
    whole = bias(5, positions=each)
    for row in (0, 31, 63):
        assert torch.equal(whole[row], bias(5, positions=each[row]))


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
    q, k = (x.to(dtype) for x in both(2, 4, 9))
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
        for one, other in zip(
            found, formula(q, k, positions=at, offset=offset), strict=True
        ):
            assert torch.equal(one, other)
        assert torch.equal(found[0], formula.rotate(q, positions=at, offset=offset))
