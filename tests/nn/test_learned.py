"""A row of weights for each position, and a clear error where there is none."""

import copy

import numpy as np
import pytest
import torch

from pe_lib import sinusoidal_table
from pe_lib.nn import LearnedPositionalEmbedding

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]

on_each_device = pytest.mark.parametrize("device", DEVICES)


@pytest.fixture
def module():
    torch.manual_seed(0)
    return LearnedPositionalEmbedding(6, max_length=9)


@on_each_device
@pytest.mark.parametrize(
    "shape", [(5, 6), (3, 5, 6), (2, 3, 5, 6), (0, 5, 6), (3, 0, 6)]
)
def test_rows_are_added_along_the_last_axis_but_one(module, device, shape):
    module.to(device)
    x = torch.randn(shape, device=device)
    assert torch.equal(module(x), x + module.weight[: shape[-2]])
    assert torch.equal(module(x, offset=4), x + module.weight[4 : 4 + shape[-2]])


@on_each_device
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8])
def test_positions_for_each_sentence(module, dtype, device):
    module.to(device)
    positions = torch.tensor([[0, 1, 2], [8, 5, 5]], dtype=dtype, device=device)
    x = torch.randn(2, 3, 6, device=device)
    assert torch.equal(
        module(x, positions=positions), x + module.weight[positions.long()]
    )
    shifted = module(x, positions=positions[:, :2].repeat(1, 2)[:, :3] // 3, offset=6)
    rows = positions.long()[:, [0, 1, 0]] // 3 + 6
    assert torch.equal(shifted, x + module.weight[rows])


@on_each_device
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("of_module", DTYPES)
def test_the_result_has_the_dtype_of_x(module, of_module, dtype, device):
    module.to(device, of_module)
    x = torch.randn(4, 6, dtype=dtype, device=device)
    for given in ({}, {"positions": torch.arange(4)}):
        with torch.autocast(device, dtype=torch.bfloat16):
            out = module(x, **given)
        assert out.dtype == dtype
        assert torch.equal(out, x + module.weight[:4].to(dtype))


def test_only_what_was_used_is_learned(module):
    x = torch.randn(2, 3, 6, requires_grad=True)
    module(x, positions=torch.tensor([[1, 2, 3], [3, 5, 7]])).sum().backward()
    counts = torch.tensor([0, 1, 1, 2, 0, 1, 0, 1, 0])
    assert torch.equal(module.weight.grad, counts[:, None].expand(9, 6).float())
    assert torch.equal(x.grad, torch.ones_like(x))
    assert list(module.state_dict()) == ["weight"]


@pytest.mark.parametrize("d_model", [1, 5, 6])
def test_sinusoidal_init(d_model):
    module = LearnedPositionalEmbedding(d_model, max_length=9, init="sinusoidal")
    table = sinusoidal_table(9, d_model, dtype=np.float32)
    assert torch.equal(module.weight.detach(), torch.from_numpy(table))
    assert module.weight.requires_grad
    with torch.no_grad():
        module.weight.zero_()
    module.reset_parameters()
    assert torch.equal(module.weight.detach(), torch.from_numpy(table))


@pytest.mark.parametrize("init", ["normal", "sinusoidal"])
def test_a_model_on_meta(init):
    with torch.device("meta"):
        module = LearnedPositionalEmbedding(6, max_length=9, init=init)
    assert module.weight.is_meta
    trained = LearnedPositionalEmbedding(6, max_length=9)
    module.load_state_dict(trained.state_dict(), assign=True)
    x = torch.randn(4, 6)
    assert torch.equal(module(x), trained(x))
    assert torch.equal(copy.deepcopy(module)(x), trained(x))


def test_compiled_in_one_graph(module):
    torch._dynamo.reset()
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
    for n, given in (
        (3, {}),
        (4, {"offset": 2}),
        (4, {"positions": torch.tensor([1, 1, 8, 0])}),
        (3, {"positions": torch.tensor([[1, 1, 8], [0, 2, 3]])}),
    ):
        x = torch.randn(2, n, 6)
        assert torch.equal(compiled(x, **given), module(x, **given))
    with pytest.raises(IndexError, match="out of range"):  # PyTorch's own
        compiled(torch.zeros(2, 4, 6), positions=torch.tensor([1, 1, 9, 0]))


X = torch.zeros(2, 3, 6)


@pytest.mark.parametrize(
    ("x", "given", "error", "message"),
    [
        (
            torch.zeros(10, 6),
            {},
            ValueError,
            r"offset \+ length must be at most max_length = 9, got 0 \+ 10",
        ),
        (X, {"offset": 7}, ValueError, r"offset \+ length must be .* got 7 \+ 3"),
        (X, {"offset": -1}, ValueError, "offset must be at least 0, got -1"),
        (
            X,
            {"positions": torch.tensor([0, 9, 1])},
            ValueError,
            r"positions \+ offset must lie within 0 and max_length - 1 = 8, got 0 to 9",
        ),
        (
            X,
            {"positions": torch.tensor([0, -1, 1])},
            ValueError,
            r"positions \+ offset must lie within 0 and .* got -1 to 1",
        ),
        (
            X,
            {"positions": torch.tensor([0.0, 1.0, 2.0])},
            TypeError,
            "positions must be integers, got torch.float32",
        ),
        (X, {"positions": torch.arange(4)}, ValueError, r"positions .* got \[4\]"),
        (X.long(), {}, TypeError, "x must be floating-point numbers, got torch.int64"),
    ],
)
def test_bad_input(module, x, given, error, message):
    with pytest.raises(error, match=message):
        module(x, **given)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"d_model": 0}, ValueError, "d_model must be at least 1, got 0"),
        ({"max_length": 0}, ValueError, "max_length must be at least 1, got 0"),
        ({"max_length": 2.0}, TypeError, "max_length must be an integer, got 2.0"),
        ({"init": "zeros"}, ValueError, "init must be 'normal' or 'sinusoidal', got"),
        ({"dropout": 2}, ValueError, "dropout must be between 0 and 1, got 2"),
        ({"batch_first": 0}, TypeError, "batch_first must be True or False, got 0"),
    ],
)
def test_bad_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        LearnedPositionalEmbedding(**{"d_model": 4, "max_length": 8} | arguments)


def test_small_integers_do_not_overflow():
    module = LearnedPositionalEmbedding(2, max_length=300)
    out = module(
        torch.zeros(2, 2), positions=torch.tensor([9, 1], dtype=torch.uint8), offset=250
    )
    assert torch.equal(out, module.weight[[259, 251]])
