"""The modules where PyTorch hands over no plain tensor, or loads old tables."""

import pytest
import torch
from torch import nn

from pe_lib import sinusoidal_table
from pe_lib.nn import (
    LearnedPositionalEmbedding,
    RotaryEmbedding,
    SinusoidalPositionalEncoding,
)

ADDED = [
    lambda: SinusoidalPositionalEncoding(8, max_length=16),
    lambda: LearnedPositionalEmbedding(8, max_length=16),
]
ALL = [*ADDED, lambda: RotaryEmbedding(8, max_length=16)]
IDS = ["sinusoidal", "learned", "rotary"]
FX = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class Model(nn.Module):
    """A module within another one."""

    def __init__(self, inner):
        super().__init__()
        self.inner, self.linear = inner, nn.Linear(8, 8)

    def forward(self, x):
        x = self.linear(x)
        return self.inner(x, x)[0] if self.turns else self.inner(x)

    @property
    def turns(self):
        return isinstance(self.inner, RotaryEmbedding)


def on(module, x):
    return module.turn(x) if isinstance(module, RotaryEmbedding) else module(x)


# torch.fx


@FX
@pytest.mark.parametrize("make", ALL, ids=IDS)
def test_a_call_is_one_node_for_fx_and_no_length_is_written_down(make):
    model = Model(make())
    graph = torch.fx.symbolic_trace(model)
    assert [node.op for node in graph.graph.nodes].count("call_module") == 2
    for length in (1, 5, 16):
        x = torch.randn(2, length, 8)
        assert torch.equal(graph(x), model(x))
    half = graph.bfloat16()
    x = torch.randn(2, 5, 8).bfloat16()
    assert torch.equal(half(x), model.bfloat16()(x))


@FX
def test_fx_keeps_positions_and_offset():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = ADDED[0]()

        def forward(self, x, at):
            return self.inner(x, positions=at) + self.inner(x, offset=3)

    x, at = torch.randn(2, 4, 8), torch.tensor([3, 1, 0, 2])
    assert torch.equal(torch.fx.symbolic_trace(Two())(x, at), Two()(x, at))


@FX
@pytest.mark.parametrize("make", ALL, ids=IDS)
def test_fx_cannot_look_into_it(make):
    with pytest.raises(TypeError, match=r"torch\.fx cannot look into"):
        torch.fx.symbolic_trace(make())


# ragged batches


def ragged(*lengths, grad=False):
    parts = [torch.randn(n, 8) for n in lengths]
    made = torch.nested.nested_tensor(parts, layout=torch.jagged, requires_grad=grad)
    return parts, made


@pytest.mark.parametrize("offset", [0, 2])
@pytest.mark.parametrize("make", ADDED, ids=IDS[:2])
def test_each_text_of_a_jagged_batch_counts_from_the_offset(make, offset):
    module = make()
    parts, x = ragged(3, 5, 1)
    found = module(x, offset=offset)
    assert found.layout == torch.jagged
    for one, part in zip(found.unbind(), parts, strict=True):
        assert torch.equal(one, module(part, offset=offset))
    assert (x + found).shape == x.shape  # the same raggedness: they can be added


@pytest.mark.parametrize("make", ADDED, ids=IDS[:2])
def test_jagged_gradients_and_positions(make):
    module = make()
    parts, x = ragged(3, 2, grad=True)
    at = torch.nested.nested_tensor(
        [torch.tensor([5, 4, 3]), torch.tensor([0, 7])], layout=torch.jagged
    )
    found = module(x, positions=at)
    expected = module(parts[1], positions=torch.tensor([0, 7]))
    assert torch.equal(found.unbind()[1], expected)
    found.values().sum().backward()
    assert torch.equal(x.grad.values(), torch.ones(5, 8))


@pytest.mark.parametrize("make", ADDED, ids=IDS[:2])
def test_other_nested_tensors_are_refused(make):
    module = make()
    _, x = ragged(3, 2)
    with pytest.raises(ValueError, match="must be jagged as x is"):
        module(x, positions=torch.arange(5))
    deep = torch.nested.nested_tensor([torch.zeros(2, 3, 8)], layout=torch.jagged)
    with pytest.raises(ValueError, match=r"must have layout=torch\.jagged and shape"):
        module(deep)


def test_rotary_says_what_to_do_with_a_jagged_batch():
    _, x = ragged(3, 2)
    rotary = ALL[2]()
    with pytest.raises(TypeError, match="queries must be no nested tensor: turn its"):
        rotary(x, x)
    at = torch.tensor([0, 1, 2, 0, 1])
    turned = rotary.turn(x.values(), positions=at)
    torch.testing.assert_close(turned[3:], rotary.turn(x.unbind()[1]))


# inference mode


@pytest.mark.parametrize("make", ALL, ids=IDS)
def test_made_or_moved_in_inference_mode_it_can_be_trained_and_reset(make):
    with torch.inference_mode():
        made, moved = make(), make()
    usual = make()
    if not list(usual.parameters()):  # those of a model are PyTorch's affair
        with torch.inference_mode():
            moved.double().float()
    for module in (made, moved):
        x = torch.randn(2, 5, 8, requires_grad=True)
        (on(module, x) ** 2).sum().backward()
        module.reset_parameters()
        assert on(module, x).shape == x.shape
        if not list(usual.parameters()):
            assert torch.equal(on(module, x), on(usual, x))
    if not list(usual.parameters()) and not isinstance(made, RotaryEmbedding):
        at = torch.rand(5, requires_grad=True)
        (made(x, positions=at) ** 2).sum().backward()
        assert at.grad.abs().sum() > 0


# vmap


@pytest.mark.parametrize("make", ADDED, ids=IDS[:2])
def test_vmap_over_x_and_positions(make):
    module = make()
    x, at = torch.randn(3, 4, 8), torch.randint(16, (3, 4))
    expected = module(x, positions=at)
    call = torch.vmap(lambda x, at: module(x, positions=at))
    torch.testing.assert_close(call(x, at), expected)
    call = torch.vmap(lambda x: module(x, positions=at[0]))
    torch.testing.assert_close(call(x)[1], module(x[1], positions=at[0]))


# positions from the table


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("batch_first", [True, False])
def test_whole_positions_come_from_the_table_and_are_the_same(batch_first, dtype):
    table, formula = (
        SinusoidalPositionalEncoding(8, max_length=n, batch_first=batch_first)
        for n in (16, 0)
    )
    x = torch.randn(5, 5, 8).to(dtype)
    for at in (torch.randint(16, (5, 5)), torch.tensor([3, 0, 15, 15, 1])):
        for kind in (torch.int64, torch.int32, torch.uint8):
            found = table(x, positions=at.to(kind))
            assert torch.equal(found, formula(x, positions=at))
    for at, offset in ((torch.arange(12, 17), 0), (torch.arange(5), -1)):
        found = table(x, positions=at, offset=offset)  # not all are in the table
        assert torch.equal(found, formula(x, positions=at, offset=offset))
    assert torch.equal(
        table(x, positions=torch.arange(5), offset=2), table(x, offset=2)
    )


def test_the_table_is_left_alone_and_gradients_pass():
    module = ADDED[0]()
    before = module.table.clone()
    x = torch.randn(2, 3, 8, requires_grad=True)
    module(x, positions=torch.tensor([[1, 2, 3], [3, 2, 1]])).sum().backward()
    assert torch.equal(x.grad, torch.ones_like(x))
    assert torch.equal(module.table, before)


def test_no_second_table_is_kept():
    module = SinusoidalPositionalEncoding(64, max_length=512)
    module(torch.zeros(2, 3, 64), positions=torch.tensor([1, 2, 3]))
    held = [v for v in vars(module).values() if isinstance(v, torch.Tensor)]
    held += module.buffers()
    assert sum(t.numel() for t in held) == module.table.numel()


# checkpoints of other modules


def saved(table, name="pe"):
    return {"inner." + name: table, "linear.weight": torch.eye(8),
            "linear.bias": torch.zeros(8)}  # fmt: skip


@pytest.mark.parametrize("shape", [(40, 8), (1, 40, 8), (40, 1, 8)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_our_own_table_in_a_checkpoint_is_left_out(shape, dtype):
    table = torch.from_numpy(sinusoidal_table(40, 8)).to(dtype).reshape(shape)
    state = saved(table)
    model = Model(SinusoidalPositionalEncoding(8))
    model.load_state_dict(state)
    assert "inner.pe" in state  # the caller's dictionary keeps it
    model.load_state_dict(saved(table, "positional_encoding"), strict=False)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"layout": "half_split"}, "half_split, sine first, first position 0"),
        ({"base": 500.0}, "base 500, interleaved"),
        ({"start": 1}, "first position 1"),
    ],
)
def test_another_encoding_in_a_checkpoint_is_an_error_that_says_which(other, words):
    table = torch.from_numpy(sinusoidal_table(40, 8, **other)).float()[None]
    with pytest.raises(RuntimeError, match="is another encoding than this") as raised:
        Model(SinusoidalPositionalEncoding(8)).load_state_dict(saved(table))
    assert words in str(raised.value)
    assert "inner.pe [1, 40, 8]" in str(raised.value)


def test_what_is_no_table_is_as_unexpected_as_ever():
    for value in (torch.zeros(3), torch.zeros(2, 3, 8), torch.arange(8)):
        with pytest.raises(RuntimeError, match="Unexpected key"):
            Model(SinusoidalPositionalEncoding(8)).load_state_dict(saved(value))


def test_rotary_leaves_out_the_frequencies_that_are_its_own():
    speeds = 1e4 ** (-torch.arange(0, 8, 2) / 8)
    model = Model(RotaryEmbedding(8))
    model.load_state_dict(saved(speeds, "inv_freq"))
    with pytest.raises(RuntimeError, match=r"inv_freq \[4\] is another encoding"):
        model.load_state_dict(saved(speeds**2, "inv_freq"))


# written down


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore:Converting a tensor to a Python")
@pytest.mark.parametrize("make", ALL[1:], ids=IDS[1:])
def test_traced_within_the_table_it_is_a_limit(make):
    module = make()
    x = torch.randn(2, 17, 8)
    inputs = (x[:, :5],) * (2 if isinstance(module, RotaryEmbedding) else 1)
    traced = torch.jit.trace(module, inputs)
    for found, usual in zip(
        traced(*(x[:, :16],) * len(inputs)),
        module(*(x[:, :16],) * len(inputs)),
        strict=True,
    ):
        assert torch.equal(found, usual)
    with pytest.raises(RuntimeError):
        traced(*(x,) * len(inputs))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore:Converting a tensor to a Python")
def test_traced_with_positions_it_is_no_limit():
    module = ADDED[0]()
    x, at = torch.randn(2, 4, 8), torch.tensor([0, 1, 2, 3])

    class Placed(nn.Module):
        def forward(self, x, at):
            return module(x, positions=at)

    traced = torch.jit.trace(Placed(), (x, at))
    assert torch.equal(traced(x, at + 90), module(x, positions=at + 90))


@pytest.mark.parametrize("max_length", [0, 16])
def test_rotary_exported_past_its_table(max_length):
    module = RotaryEmbedding(8, max_length=max_length)
    length = torch.export.Dim("length", max=4096)
    shapes = {"queries": {1: length}, "keys": {1: length}}
    example = (torch.zeros(2, 5, 8),) * 2
    if max_length:
        with pytest.raises(Exception, match="Constraints violated"):
            torch.export.export(module, example, dynamic_shapes=shapes)
        return
    program = torch.export.export(module, example, dynamic_shapes=shapes)
    x = torch.randn(2, 3000, 8)
    torch.testing.assert_close(program.module()(x, x)[0], module(x, x)[0])
