"""The modules where others load, move, trace or map them."""

import copy
from pathlib import Path

import pytest
import torch
from torch import nn

from pe_lib import sinusoidal_table
from pe_lib.nn import (
    AlibiBias,
    LearnedPositionalEmbedding,
    RotaryEmbedding,
    SinusoidalPositionalEncoding,
    T5Bias,
)

ADDED = [
    lambda: SinusoidalPositionalEncoding(8, max_length=16),
    lambda: LearnedPositionalEmbedding(8, max_length=16),
]
ALL = [*ADDED, lambda: RotaryEmbedding(8, max_length=16)]
IDS = ["sinusoidal", "learned", "rotary"]
EVERY = [
    *ALL[::2],
    lambda: AlibiBias(4, causal=True),
    lambda: T5Bias(4, num_buckets=8, max_distance=9),
]
ALL_IDS = ["sinusoidal", "rotary", "alibi", "t5"]


class Model(nn.Module):
    """A module within another one."""

    def __init__(self, inner):
        super().__init__()
        self.inner, self.linear = inner, nn.Linear(8, 8)

    def forward(self, x):
        x = self.linear(x)
        return self.inner(x, x)[0] if self.rotates else self.inner(x)

    @property
    def rotates(self):
        return isinstance(self.inner, RotaryEmbedding)


def on(module, x):
    return module.rotate(x) if isinstance(module, RotaryEmbedding) else module(x)


# the length first


@pytest.mark.parametrize("make", ADDED, ids=IDS[:2])
def test_length_first(make):
    usual = make()
    first = type(usual)(8, max_length=16, batch_first=False)
    usual.load_state_dict(first.state_dict())
    x = torch.randn(5, 3, 8)
    positions = torch.tensor([[0, 1, 2, 3, 4], [8, 7, 6, 5, 4], [0, 0, 0, 1, 2]])
    for given in (
        {},
        {"offset": 4},
        {"positions": positions[2]},
        {"positions": positions},
    ):
        wanted = usual(x.transpose(0, 1), **given).transpose(0, 1)
        assert torch.equal(first(x, **given), wanted)
    assert torch.equal(first(x[:, 0]), usual(x[:, 0]))


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


def test_no_second_table_is_kept():
    module = SinusoidalPositionalEncoding(64, max_length=512)
    module(torch.zeros(2, 3, 64), positions=torch.tensor([1, 2, 3]))
    held = [v for v in vars(module).values() if isinstance(v, torch.Tensor)]
    held += module.buffers()
    assert {t.data_ptr() for t in held} == {module.table.data_ptr()}


# loaders that know nothing of a table


def by_setattr(module, name, tensor):
    setattr(module, name, tensor)


def by_dictionary(module, name, tensor):
    module._buffers[name] = tensor


@pytest.mark.parametrize("put", [by_setattr, by_dictionary])
@pytest.mark.parametrize("on_meta", [True, False])
@pytest.mark.parametrize("make", EVERY, ids=ALL_IDS)
def test_a_loader_that_puts_garbage_in_the_place_of_buffers(make, on_meta, put):
    """As from_pretrained of transformers does: empty_like, past `_apply`."""
    usual, ids = make(), torch.tensor([0, 1, 1, 2])
    with torch.device("meta" if on_meta else "cpu"):
        module = make()
    for name, buffer in list(module.named_buffers()):
        put(module, name, torch.full_like(buffer, torch.nan, device="cpu"))
    module.load_state_dict(usual.state_dict(), assign=True)
    for loaded in (module, copy.deepcopy(module)):
        if "Bias" in type(module).__name__:
            assert torch.equal(loaded(5), usual(5))
            continue
        x = torch.randn(2, 4, 8)
        assert torch.equal(on(loaded, x), on(usual, x))
        call = loaded.rotate if isinstance(loaded, RotaryEmbedding) else loaded
        whole = torch.compile(call, fullgraph=True, backend="eager")
        torch.testing.assert_close(whole(x), on(usual, x))
        assert torch.equal(call(x, positions=ids)[:, 0], on(usual, x)[:, 0])
        loaded.reset_parameters()
        assert torch.equal(loaded.table, usual.table)
        assert torch.equal(on(loaded, x), on(usual, x))


@pytest.mark.parametrize("make", EVERY, ids=ALL_IDS)
def test_memory_of_a_device_and_a_dtype(make):
    """`device` and `dtype` as in PyTorch's own modules, so that skip_init works."""
    kind, usual = type(make()), make()
    sizes = {"num_buckets": 8, "max_distance": 9} if kind is T5Bias else {}
    first = usual.num_heads if hasattr(usual, "num_heads") else 8
    for tensor in (*(m := kind(first, device="meta")).buffers(), *m.parameters()):
        assert tensor.is_meta
    for tensor in (*(m := kind(first, dtype=torch.float64)).buffers(), *m.parameters()):
        assert tensor.dtype == torch.float64
    made = nn.utils.skip_init(kind, first, **sizes)
    for buffer, right in zip(
        made.buffers(), kind(first, **sizes).buffers(), strict=True
    ):
        assert torch.equal(buffer, right)


class Scaled(SinusoidalPositionalEncoding):
    """A subclass with parameters as wide as the encoding."""

    def __init__(self):
        super().__init__(8, max_length=16)
        self.scale = nn.Parameter(torch.full((8,), 3.0))
        self.register_buffer("seen", torch.full((4, 8), 5.0))


def test_a_subclass_loads_its_own_tensors_of_the_same_width():
    saved, fresh = Scaled(), Scaled()
    with torch.no_grad():
        saved.scale.add_(1.0)
        saved.seen.add_(1.0)
    state = {**saved.state_dict(), "pe": saved.table[None]}
    fresh.load_state_dict(state)
    assert torch.equal(fresh.scale, saved.scale) and torch.equal(fresh.seen, saved.seen)


# checkpoints of other modules


def saved(table, name="pe"):
    return {"inner." + name: table, "linear.weight": torch.eye(8),
            "linear.bias": torch.zeros(8)}  # fmt: skip


@pytest.mark.parametrize("shape", [(40, 8), (1, 40, 8), (40, 1, 8)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_our_table_in_a_checkpoint_is_left_out(shape, dtype):
    table = torch.from_numpy(sinusoidal_table(40, 8)).to(dtype).reshape(shape)
    state = saved(table)
    model = Model(SinusoidalPositionalEncoding(8))
    model.load_state_dict(state)
    assert "inner.pe" in state  # the caller's dictionary keeps it
    model.load_state_dict(saved(table, "positional_encoding"), strict=False)


@pytest.mark.parametrize(
    "other", [{"layout": "half_split"}, {"base": 500.0}, {"start": 1}]
)
def test_another_encoding_in_a_checkpoint_is_an_error(other):
    table = torch.from_numpy(sinusoidal_table(40, 8, **other)).float()[None]
    with pytest.raises(RuntimeError, match="is another encoding than this") as raised:
        Model(SinusoidalPositionalEncoding(8)).load_state_dict(saved(table))
    assert "inner.pe [1, 40, 8]" in str(raised.value)


def test_what_is_no_table_is_as_unexpected_as_ever():
    for value in (torch.zeros(3), torch.zeros(2, 3, 8), torch.arange(8)):
        with pytest.raises(RuntimeError, match="Unexpected key"):
            Model(SinusoidalPositionalEncoding(8)).load_state_dict(saved(value))


def test_rotary_leaves_out_its_frequencies():
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


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("make", EVERY[:2], ids=ALL_IDS[:2])
def test_exported_with_positions_of_one_axis(make, strict):
    """A length of 2 is a length like any other, though the batch is 2."""

    class Placed(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = make()

        def forward(self, x, at):
            if isinstance(self.inner, RotaryEmbedding):
                return self.inner.rotate(x, positions=at)
            return self.inner(x, positions=at)

    n = torch.export.Dim("n", max=100)
    model, shapes = Placed(), ({1: n}, {0: n})
    example = torch.randn(2, 5, 8), torch.arange(5)
    program = torch.export.export(model, example, dynamic_shapes=shapes, strict=strict)
    for length in (2, 9):
        x, at = torch.randn(2, length, 8), torch.arange(length) + 40
        torch.testing.assert_close(program.module()(x, at), model(x, at))


class Parts(nn.Module):
    """All kinds in a model that others load."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.parts = nn.ModuleList(make() for make in EVERY)

    def forward(self, x):
        adds, rotary, alibi, t5 = self.parts
        q = rotary.rotate(adds(self.linear(x)))
        return q @ q.mT + (alibi(x.shape[1]) + t5(x.shape[1])).sum(0)


@pytest.mark.weekly
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_from_pretrained_of_transformers(monkeypatch, tmp_path, dtype):
    """It builds on meta, and puts empty tensors in the place of our tables."""
    folder = Path(__file__).parents[2] / ".venv/peers"  # by `make bench`
    monkeypatch.syspath_prepend(str(folder))
    transformers = pytest.importorskip("transformers", reason="no transformers")

    class Tiny(transformers.PreTrainedModel):
        config_class = transformers.PretrainedConfig

        def __init__(self, config):
            super().__init__(config)
            self.inner = Parts()
            self.post_init()

        def forward(self, x):
            return self.inner(x)

    saved = Tiny(transformers.PretrainedConfig()).to(dtype).eval()
    saved.save_pretrained(tmp_path)
    x = torch.randn(2, 9, 8).to(dtype)
    loaded = Tiny.from_pretrained(tmp_path, dtype=dtype)
    assert torch.equal(loaded(x), saved(x))
