"""The two that add: rows of pe_lib.sinusoidal, and rows that are learned."""

import numpy as np
import pytest
import torch
from torch import nn

from pe_lib import sinusoidal
from pe_lib.nn import LearnedPositionalEmbedding, SinusoidalPositionalEncoding
from pe_lib.nn._arguments import with_float64

LIMIT = 2**31
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
POSITIONS = [torch.int64, torch.int32, torch.uint8, *DTYPES[:2]]

on_each_device = pytest.mark.parametrize("device", DEVICES)
on_each = pytest.mark.parametrize(
    "kind", [SinusoidalPositionalEncoding, LearnedPositionalEmbedding]
)


def codes(positions, d_model, dtype=torch.float32, **choices):
    """What must have been added: the float32 value, rounded once."""
    wanted = np.float64 if dtype == torch.float64 else np.float32
    table = sinusoidal(np.asarray(positions), d_model, dtype=wanted, **choices)
    return torch.from_numpy(table).to(dtype)


def rows(module, positions, dtype=torch.float32):
    """What must have been added: [..., d_model], on the CPU."""
    if isinstance(module, LearnedPositionalEmbedding):
        return module.weight.detach().cpu()[positions.long()].to(dtype)
    return codes(positions, module.d_model, dtype)


def added(module, length, dtype=torch.float32, device="cpu", **arguments):
    """What the module adds to an unbatched input, on the CPU."""
    x = torch.zeros(length, module.d_model, dtype=dtype, device=device)
    return module(x, **arguments).cpu()


# Values and shapes


@on_each_device
@pytest.mark.parametrize("layout", ["interleaved", "half_split"])
@pytest.mark.parametrize("spacing", ["paper", "endpoint"])
@pytest.mark.parametrize("d_model", [1, 2, 3, 7, 8, 64])
@pytest.mark.parametrize("max_length", [0, 5, 40])
def test_values_are_those_of_the_function(device, max_length, d_model, spacing, layout):
    choices = {"base": 500.0, "spacing": spacing, "layout": layout}
    module = SinusoidalPositionalEncoding(d_model, max_length=max_length, **choices)
    module = module.to(device)
    out = added(module, 30, device=device)
    assert torch.equal(out, codes(range(30), d_model, **choices))
    far = torch.tensor([LIMIT, -LIMIT, 10**7, -(10**7) + 0.5, 2**24 + 1, 1e-3])
    far = torch.cat([far.double(), torch.tensor([LIMIT - 1, 355, -1e-9]).double()])
    out = added(module, 9, device=device, positions=far)
    assert torch.equal(out, codes(far, d_model, **choices))


def laid(rows, batch_first):
    """With the batch in the middle, if it does not come first."""
    return rows if batch_first or rows.ndim < 3 else rows.transpose(0, 1)


EACH = torch.tensor([[0, 1, 2, 3, 4], [8, 7, 6, 5, 4], [0, 0, 0, 1, 2]])
AFAR = torch.tensor([[0, 1, 2, 5, 5], [-7, 100_000, 2, 0, 2**31]])
IN_FRONT = [(5, 6), (3, 5, 6), (2, 3, 5, 6), (0, 5, 6), (3, 0, 6), (2, 5, 6)]


@on_each_device
@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("shape", IN_FRONT)
@on_each
def test_rows_are_added_along_the_length(kind, shape, batch_first, device):
    """Of any axes in front, counted from an offset, or at positions of their own."""
    if len(shape) > 3 and not batch_first:
        return  # as tests/nn/test_refused.py says
    module = kind(6, max_length=12, batch_first=batch_first).to(device)
    x, at = torch.randn(shape, device=device), torch.arange(shape[-2])
    calls = [(at + offset, {"offset": offset}) for offset in (0, 4)]
    calls += [(at, {"positions": at[None]}), (at + 3, {"positions": at, "offset": 3})]
    if shape[-3:-1] == (3, 5):
        each = EACH.expand(shape[:-1])
        calls += [(each, {"positions": each}), (EACH[1], {"positions": EACH[1]})]
    if shape == (2, 5, 6) and kind is SinusoidalPositionalEncoding:
        calls += [(AFAR, {"positions": AFAR})]
    for wanted, given in calls:
        before = x.clone()
        found = module(laid(x, batch_first), **given)
        right = x + rows(module, wanted).to(device)
        assert torch.equal(found, laid(right, batch_first)) and torch.equal(x, before)


# Positions and offset


@pytest.mark.parametrize("dtype", POSITIONS)
@on_each
def test_positions_of_every_dtype(kind, dtype):
    """Small integers do not overflow."""
    if kind is LearnedPositionalEmbedding and dtype.is_floating_point:
        return  # as tests/nn/test_refused.py says
    module = kind(6, max_length=300)
    positions = torch.tensor([250, 7, 7, 0], dtype=dtype)
    for offset in (0, 10):
        out = added(module, 4, positions=positions, offset=offset)
        assert torch.equal(out, rows(module, positions.long() + offset))


def test_no_second_table_is_kept():
    """Whatever was called; and it may be shared, so it is written in its place."""
    module = SinusoidalPositionalEncoding(6, max_length=4)
    table, before = module.table, {**vars(module), "_buffers": dict(module._buffers)}
    for given in ({}, {"offset": 100}, {"positions": torch.ones(3)}):
        added(module, 3, torch.bfloat16, **given)
    module.reset_parameters()
    assert vars(module) == before and module.table is table
    held = {name: v for name, v in vars(module).items() if torch.is_tensor(v)}
    assert held.pop("_exact").dtype == torch.int64  # what its rows are made of
    assert {v.data_ptr() for v in held.values()} <= {table.data_ptr()}


# Dtypes


@on_each_device
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("of_module", DTYPES)
@on_each
def test_the_dtype_of_x_alone_decides(kind, of_module, dtype, device):
    """From the table, past it, and of given positions; under autocast too."""
    learned = kind is LearnedPositionalEmbedding
    module = kind(8, max_length=700 if learned else 500).to(device, of_module)
    assert (module.weight if learned else module.table).dtype == of_module
    at = torch.arange(400)
    between = at if learned else at - 0.75
    for given, positions in (
        ({}, at),
        ({"offset": 300}, at + 300),
        ({"positions": between}, between),
    ):
        plain = added(module, 400, dtype, device, **given)
        with torch.autocast(device, dtype=torch.bfloat16):
            out = added(module, 400, dtype, device, **given)
        assert plain.dtype == out.dtype == dtype and torch.equal(plain, out)
        off = (out - rows(module, positions, dtype)).abs().max()
        assert off <= (1e-15 if dtype == torch.float64 else 0)


# Gradients and dropout


def test_dropout_falls_on_the_sum():
    module = SinusoidalPositionalEncoding(64, dropout=0.25)
    x = torch.ones(40, 64)
    out, whole = module(x), x + codes(range(40), 64)
    kept = out != 0
    assert 0.7 < kept.float().mean() < 0.8
    assert torch.allclose(out[kept], whole[kept] / 0.75)
    assert torch.equal(module.eval()(x), whole)
    everything = SinusoidalPositionalEncoding(64, dropout=1)
    assert torch.equal(everything(x), torch.zeros(40, 64))
    assert not any(
        isinstance(m, nn.Dropout) for m in SinusoidalPositionalEncoding(4).modules()
    )


def test_a_device_without_float64_leaves_the_work_to_the_cpu():
    """Apple's; its own part of `forward` is not run here."""
    assert with_float64(torch.device("mps")).type == "cpu"
    assert with_float64(torch.device("cuda", 1)) == torch.device("cuda", 1)


# Learned


def test_only_what_was_used_is_learned():
    module = LearnedPositionalEmbedding(6, max_length=9)
    x = torch.randn(2, 3, 6, requires_grad=True)
    module(x, positions=torch.tensor([[1, 2, 3], [3, 5, 7]])).sum().backward()
    counts = torch.tensor([0, 1, 1, 2, 0, 1, 0, 1, 0])
    assert torch.equal(module.weight.grad, counts[:, None].expand(9, 6).float())
    assert torch.equal(x.grad, torch.ones_like(x))
    assert list(module.state_dict()) == ["weight"]
