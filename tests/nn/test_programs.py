"""Programs that are written down from the modules: compiled, exported, traced."""

import pytest
import torch
from torch import nn

from pe_lib.nn import (
    AlibiBias,
    LearnedPositionalEmbedding,
    RotaryEmbedding,
    SinusoidalPositionalEncoding,
)

LONGEST, HEADS, WIDTH = 131_072, 32, 64  # those of a small Llama 3
LAYOUTS = ("interleaved", "half_split")
# torch's own warnings, while it imports, and while it traces
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*`torch.jit.*deprecated"),
    pytest.mark.filterwarnings("ignore:Converting a tensor to a Python"),
]


def both(batch, heads, length, dtype=torch.float32):
    """Queries and a quarter as many keys."""
    return tuple(
        torch.randn(batch, n, length, WIDTH).to(dtype)
        for n in (heads, max(1, heads // 4))
    )


def near(found, right):
    """To a unit in the last place: compiled, there are no complex numbers."""
    for one, other in zip(found, right, strict=True):
        rtol = {torch.bfloat16: 2**-7, torch.float16: 2**-10}.get(other.dtype, 0)
        atol = 1e-14 if other.dtype == torch.float64 else 1e-6
        torch.testing.assert_close(one, other, atol=atol, rtol=rtol)


class Turned(nn.Module):
    """Both layouts in one model, so that one program shows them."""

    def __init__(self):
        super().__init__()
        self.turns = nn.ModuleList(
            RotaryEmbedding(WIDTH, max_length=2000, rotary_dim=turning, layout=layout)
            for layout, turning in zip(LAYOUTS, (48, None), strict=True)
        )

    def forward(self, q, k, **at):
        return [part for turn in self.turns for part in turn(q, k, **at)]


CALLS = [
    (5, {}),
    (6, {"offset": 3}),
    (4, {"positions": torch.tensor([[1, 1, 8, 9], [0, 2, 3, 7], [5, 6, 7, 8]])}),
    (30, {"offset": 1990}),  # past the table
    (5, {"positions": torch.tensor([0.0, 0.5, -3.0, 2**31, 9.0])}),
]
MORE = [
    (5, {"positions": torch.tensor([1, 1, 8, 0, 3])}),
    (4, {"offset": 1_000_000}),
    (4, {"positions": torch.arange(12).view(3, 4) * 10**8}),
]


def assert_the_same(compiled, model, length, dtype=torch.float32, **given):
    q, k = both(3, HEADS, length)
    call = q.to(dtype), k.bfloat16()
    near(compiled(*call, **given), model(*call, **given))


def counted(function, **choices):
    """Compiled, and the graphs of which it is made so far."""
    graphs = []

    def backend(graph, _):
        graphs.append(graph)
        return graph.forward

    return torch.compile(function, fullgraph=True, backend=backend, **choices), graphs


def test_compiled_in_one_graph():
    """Each call for its shapes; and one program for all lengths, if that is asked."""
    model = Turned()
    compiled, _ = counted(model, dynamic=False)
    for length, given in CALLS:
        assert_the_same(compiled, model, length, **given)
    compiled, graphs = counted(model, dynamic=True)
    for length in (2, 3, 16, 17, 127, 128, 129, 511, 512, 513, 1000):
        call = both(1, HEADS, length)
        near(compiled(*call), model(*call))
    assert len(graphs) == 1


def test_what_was_learned_is_compiled():
    module = LearnedPositionalEmbedding(7, max_length=64)
    compiled = torch.compile(module, fullgraph=True, backend="eager")
    for length, given in CALLS[:3]:
        x = torch.randn(3, length, 7)
        assert torch.equal(compiled(x, **given), module(x, **given))
    for at in ([-2, 0, 1], [0, 5, 64]):
        with pytest.raises(IndexError):  # PyTorch's own
            compiled(torch.zeros(2, 3, 7), positions=torch.tensor([at, at]))


@pytest.mark.weekly
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.float64, torch.float16]
)
def test_compiled_by_inductor(dtype):
    """Every call in one dtype, two in the others."""
    from torch._inductor import cpp_builder, exc

    try:
        cpp_builder.get_cpp_compiler()
    except exc.InvalidCxxCompiler:
        pytest.skip("inductor finds no C++ compiler here")
    model, adds = Turned(), SinusoidalPositionalEncoding(7, max_length=2000)
    compiled, added = (torch.compile(one, fullgraph=True) for one in (model, adds))
    for length, given in CALLS + MORE if dtype == torch.float32 else CALLS[::4]:
        assert_the_same(compiled, model, length, dtype, **given)
        x = torch.zeros(3, length, 7, dtype=dtype)
        near([added(x, **given)], [adds(x, **given)])


@pytest.mark.parametrize(
    ("max_length", "example", "lengths"),
    [
        (16, 5, (1, 2, 11, 16)),
        (4, 7, (5, 8000)),
    ],
)
def test_what_the_example_takes_is_exported(max_length, example, lengths):
    """The table and its end, or the formula past it."""
    module = SinusoidalPositionalEncoding(8, max_length=max_length)

    def export(longest):
        length = torch.export.Dim("length", min=lengths[0], max=longest)
        x = torch.zeros(2, example, 8)
        return torch.export.export(module, (x,), dynamic_shapes=({1: length},))

    if max_length == 16:
        with pytest.raises(Exception, match="Constraints violated"):
            export(4096)
    program = export(lengths[-1])
    assert program.state_dict == {}
    for length in lengths:
        x = torch.randn(2, length, 8)
        assert torch.equal(program.module()(x), module(x))


def test_decoding_does_not_compile_for_every_token():
    module = SinusoidalPositionalEncoding(6, max_length=8)
    compiled, graphs = counted(module)
    x = torch.randn(1, 1, 6)
    for t in range(30):
        assert torch.equal(compiled(x, offset=t), module(x, offset=t))
    assert len(graphs) <= 4
    between = torch.tensor([-(2**31) + 0.5]).double()
    assert torch.equal(compiled(x, positions=between), module(x, positions=between))


# Exported


def lengths_of(program):
    (found,) = program.range_constraints.values()
    return int(found.lower), int(found.upper)


def exported(module, batch, heads, length):
    shapes = {"queries": {2: length}, "keys": {2: length}}
    return torch.export.export(module, both(batch, heads, 16), dynamic_shapes=shapes)


@pytest.mark.parametrize(
    "layout", ["half_split", pytest.param("interleaved", marks=pytest.mark.weekly)]
)
def test_exported_for_every_length_of_the_table(layout):
    """Left to find the lengths: to the end of the table; and it is right there."""
    llama = RotaryEmbedding(WIDTH, max_length=LONGEST, layout=layout)
    program = exported(llama, 8, HEADS, torch.export.Dim.AUTO)
    assert lengths_of(program) == (2, LONGEST)
    program = exported(llama, 1, 1, torch.export.Dim("length", min=1, max=LONGEST))
    assert lengths_of(program) == (1, LONGEST)
    program = program.module()
    for length in (1, 2, 4_096, 4_097, LONGEST):
        call = both(1, 1, length)
        near(program(*call), llama(*call))


class Placed(nn.Module):
    """Positions by the order of arguments, as programs have them."""

    def __init__(self, layout, *adds):
        super().__init__()
        self.turn = RotaryEmbedding(WIDTH, max_length=16, layout=layout)
        self.adds = nn.ModuleList(adds)

    def forward(self, q, k, at):
        turned = self.turn(q, k, positions=at)
        return [*turned, *(adds(q[:, 0], positions=at) for adds in self.adds)]


def test_exported_with_positions():
    """Of a batch, for every length; of one axis, for 2 too, though the batch is 2."""
    n = torch.export.Dim("n", min=2, max=LONGEST)
    example = *both(8, HEADS, 16), torch.arange(16).expand(8, 16)
    shapes = {2: n}, {2: n}, {1: n}
    of_a_batch = Placed("interleaved")
    program = torch.export.export(of_a_batch, example, dynamic_shapes=shapes)
    assert lengths_of(program) == (2, LONGEST)
    model = Placed("half_split", SinusoidalPositionalEncoding(WIDTH, max_length=16))
    example = *both(2, 1, 5), torch.arange(5)
    shapes = {2: n}, {2: n}, {0: n}
    program = torch.export.export(model, example, dynamic_shapes=shapes, strict=True)
    for length in (2, 9):
        call = *both(2, 1, length), torch.arange(length) + 40
        near(program.module()(*call), model(*call))


class Biased(nn.Module):
    def __init__(self):
        super().__init__()
        self.alibi = AlibiBias(6, causal=True)

    def forward(self, q, k):
        return q @ k.mT + self.alibi(q.shape[-2], k.shape[-2])


def test_a_bias_compiled_and_exported_for_any_length():
    model = Biased()
    whole = torch.compile(model, fullgraph=True, backend="eager", dynamic=True)
    q, k = (torch.export.Dim(name, min=2, max=50) for name in ("queries", "keys"))
    example = torch.randn(1, 6, 7, 8), torch.randn(1, 6, 9, 8)
    shapes = {"q": {2: q}, "k": {2: k}}
    program = torch.export.export(model, example, dynamic_shapes=shapes).module()
    for length, keys in ((4, 4), (5, 12), (3, 41)):
        call = torch.randn(1, 6, length, 8), torch.randn(1, 6, keys, 8)
        for other in (whole, program):
            torch.testing.assert_close(other(*call), model(*call))


# Traced


@pytest.mark.parametrize("layout", LAYOUTS)
def test_traced_for_other_lengths_than_its_example(layout):
    """To the end of the table, which is a limit."""
    module = RotaryEmbedding(WIDTH, max_length=1000, layout=layout)
    for example in (5, 300):
        traced = torch.jit.trace(module, both(1, HEADS, example), check_trace=False)
        for length in (2, 300, 1000):
            call = both(1, HEADS, length)
            near(traced(*call), module(*call))
    with pytest.raises(RuntimeError):
        traced(*both(1, HEADS, 1001))
