"""The bias modules are the core's numbers, whatever was done to them before."""

import numpy as np
import pytest
import torch
from torch import nn

from pe_lib.beyond.bias import alibi_slopes, t5_buckets
from pe_lib.nn import AlibiBias, T5Bias
from pe_lib.nn._arguments import wide_of

DTYPES = (torch.float64, torch.float32, torch.bfloat16)
KINDS = (AlibiBias, T5Bias)
on_each = pytest.mark.parametrize("kind", KINDS)


def build(kind, heads=6, **choices):
    """A module whose numbers differ from bucket to bucket."""
    random = {"init_std": 1.0} if kind is T5Bias else {}
    return kind(heads, **(random | choices))


def expected(module, offsets):
    """By the core, in float64, rounded once: [heads, *offsets]."""
    offsets = np.asarray(offsets)
    if isinstance(module, AlibiBias):
        slopes = alibi_slopes(module.num_heads, rule=module.rule)
        values = np.multiply.outer(slopes, 0 - np.abs(offsets))
    else:
        buckets = t5_buckets(
            offsets, num_buckets=module.num_buckets,
            max_distance=module.max_distance, causal=module.causal,
        )  # fmt: skip
        rows = module.weight.detach().double().numpy()[buckets]
        values = np.moveaxis(rows, -1, 0)
    if module.causal:
        values = np.where(offsets > 0, -np.inf, values)
    (numbers,) = (*module.parameters(), *module.buffers())
    return torch.from_numpy(values).to(wide_of(numbers))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("kind", "choices"),
    [
        (AlibiBias, {}),
        (AlibiBias, {"rule": "paper"}),
        (T5Bias, {}),
        (T5Bias, {"num_buckets": 16, "max_distance": 64}),
    ],
)
def test_the_bias_is_the_cores_to_the_last_bit(kind, choices, dtype, causal):
    """All, the last with a cache, a stretch in the middle, keys alone after it."""
    for heads in (1, 8, 12):
        module = build(kind, heads, causal=causal, **choices).to(dtype)
        for length, keys, offset in (
            (1, 1, None), (300, 300, None), (1, 300, None), (5, 300, None),
            (5, 300, 20), (300, 5, 0), (3, 4, -2), (2, 3, 2**31 - 1),
        ):  # fmt: skip
            bias = module(length, keys, offset=offset)
            start = keys - length if offset is None else offset
            right = expected(module, np.arange(keys) - start - np.c_[:length])
            assert bias.dtype == right.dtype and bias.shape == (heads, length, keys)
            assert torch.equal(bias, right)
            again = module(
                length, keys, positions=start + torch.arange(length),
                key_positions=torch.arange(keys),
            )  # fmt: skip
            assert torch.equal(again, bias)


def test_alibi_takes_real_positions():
    at = torch.tensor([0.5, 3.25, -1.0], dtype=torch.float64)
    bias = AlibiBias(8)(3, positions=at)
    gaps = (at[:, None] - at).abs()
    assert torch.equal(bias[0], (-gaps / 2).float())


def test_the_smallest_integers_of_a_type_have_their_bucket():
    offsets = torch.tensor([-128, 127, 0])
    for module in (T5Bias(2), T5Bias(2, causal=True)):
        assert torch.equal(
            module.buckets(offsets.to(torch.int8)), module.buckets(offsets)
        )


@on_each
def test_documents_batches_and_caches(kind):
    """Positions for each sentence, of keys in a cache; a mask where these say later."""
    module = build(kind, causal=True)
    positions = torch.tensor([[0, 1, 2, 0, 1], [5, 6, 7, 8, 9]])
    bias = module(5, positions=positions)
    assert bias.shape == (2, 6, 5, 5)
    assert torch.equal(bias[0, :, :3, :3], module(3))
    assert torch.equal(bias[0, :, 3:, 3:], module(2))
    assert torch.equal(bias[1], module(5))
    step = module(1, 5, positions=positions[:, -1:], key_positions=positions)
    assert torch.equal(step, bias[:, :, -1:])
    one = module(1, 5, positions=torch.tensor([4]), key_positions=positions)
    assert one.shape == (2, 6, 1, 5)
    open_ = module(5, mask=False)
    assert torch.isfinite(open_).all()
    hidden = torch.ones(5, 5, dtype=bool).triu(1)
    assert torch.equal(open_.masked_fill(hidden, -torch.inf), module(5))


def test_t5_begins_anew_and_learns():
    module = T5Bias(4)
    assert not module.weight.any() and module.weight.shape == (32, 4)
    assert module.max_distance == 128  # as in the program, with 32 buckets
    module.init_std = 0.5
    module.reset_parameters()
    assert 0.3 < module.weight.std() < 0.7
    module = T5Bias(2, num_buckets=8, max_distance=9, init_std=1.0).double()
    positions = torch.arange(6)
    for given in ({}, {"positions": positions}):

        def score(weight, given=given):
            return torch.func.functional_call(module, {"weight": weight}, 6, given)

        assert torch.autograd.gradcheck(score, module.weight)
    module = T5Bias(1, causal=True)
    module(5)[0].masked_fill(torch.ones(5, 5, dtype=bool).triu(1), 0).sum().backward()
    assert module.weight.grad[:6, 0].tolist() == [5, 4, 3, 2, 1, 0]


@pytest.fixture
def _fast_path():
    """Whatever a test switches, the next one finds it on."""
    yield
    torch.backends.mha.set_fastpath_enabled(True)


@pytest.mark.usefixtures("_fast_path")
@pytest.mark.parametrize("causal", [False, True])
def test_the_fast_path_of_pytorchs_encoder_and_its_cure(causal):
    """As the docstring says: each token sees only itself; red when PyTorch mends it."""
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
    stack = nn.TransformerEncoder(layer, 2).eval()
    x, bias = torch.randn(1, 6, 32), AlibiBias(4, causal=causal)(6)
    right, alone = stack(x, mask=bias), stack(x, mask=~torch.eye(6, dtype=torch.bool))
    with torch.no_grad():
        torch.testing.assert_close(stack(x, mask=bias), alone)
        assert (stack(x, mask=bias) - right).abs().max() > 1
        torch.backends.mha.set_fastpath_enabled(False)
        torch.testing.assert_close(stack(x, mask=bias), right)
