"""The module turns as pe_lib.beyond.rotary does, whatever was done to it before."""

from functools import partial

import numpy as np
import pytest
import torch

from pe_lib import sinusoidal
from pe_lib.beyond import rotary
from pe_lib.beyond.rotary import apply_rotary, rotary_frequencies
from pe_lib.nn import GridRotaryEmbedding, RotaryEmbedding, rotate

LAYOUTS = ("interleaved", "half_split")
EPSILON = {
    torch.float64: 4e-16,
    torch.float32: 1.2e-7,
    torch.bfloat16: 2**-8,
    torch.float16: 2**-11,
}
on_each_layout = pytest.mark.parametrize("layout", LAYOUTS)


def exact(x, positions, attention_factor=1, **choices):
    turned = apply_rotary(x.double().numpy(), positions, **choices)
    turned[..., : choices.get("rotary_dim")] *= attention_factor
    return torch.from_numpy(turned)


def assert_close(turned, x, expected):
    """Rounded about once: in units of the dtype, beside what goes in and comes out."""
    assert turned.dtype == x.dtype and turned.shape == x.shape
    both = torch.cat([x.double().flatten(), expected.flatten()])
    size = both.abs().amax() if x.numel() else 1
    assert ((turned.double() - expected).abs() <= 1.5 * size * EPSILON[x.dtype]).all()


WAYS = [
    {"base": 500.0},
    {"base": 500.0, "rotary_dim": 6, "attention_factor": 1.5},
    {"frequencies": rotary_frequencies(8, rotary_dim=4, exponent="head_dim")},
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", list(EPSILON))
@on_each_layout
def test_it_turns_as_the_function(layout, dtype, way):
    """Few and many rows, within the table and beyond; what stands still to the bit."""
    choices = {"layout": layout, **way}
    module = RotaryEmbedding(8, max_length=40, **choices)
    for shape in ((5, 8), (2, 3, 100, 8), (1, 9, 8000, 8), (0, 5, 8), (3, 0, 8)):
        x = torch.randn(shape).to(dtype)
        assert_close(module.rotate(x), x, exact(x, np.arange(shape[-2]), **choices))
    x = torch.randn(2, 3, 5, 8).to(dtype)
    far = torch.tensor([2**31, -(2**31) + 1, 3.25, 1e7 + 0.5, 0]).double()
    each = torch.tensor([[0, 1, 2, 0, 1], [-2, -1, 0, 1, 2]])  # of two sentences
    by_head = each[:, None].expand(2, 3, 5).numpy()
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    cos_sin = module.cos_sin(each, dtype=wide)
    for given, at in (
        ({"positions": far}, far.numpy()),
        ({"offset": 38}, np.arange(38, 43)),
        ({"positions": each}, by_head),
        ({"cos_sin": cos_sin}, by_head),
    ):
        expected = exact(x, at, **choices)
        assert_close(module.rotate(x, **given), x, expected)
        _, keys = module(x, x[:, :1], **given)
        assert_close(keys, x[:, :1], expected[:, :1])
        still = [4, 5, 6, 7] if layout == "interleaved" else [2, 3, 6, 7]
        if "frequencies" in way:
            assert torch.equal(module.rotate(x, **given)[..., still], x[..., still])


def test_angles_are_the_cores_to_the_last_bit():
    positions = [0, 1, 2047, 2048, 355, 10**6, 2**31, -(2**31), 1 / 3, 1e7 + 0.5]
    cos, sin = RotaryEmbedding(64).cos_sin(torch.tensor(positions, dtype=torch.float64))
    expected = sinusoidal(positions, 64, layout="half_split", dtype=np.float32)
    np.testing.assert_array_equal(torch.cat([sin, cos], -1).numpy(), expected)
    x = torch.randn(2100, 64)
    for layout in LAYOUTS:
        ready, beyond = (
            RotaryEmbedding(64, max_length=n, layout=layout).rotate(x)
            for n in (2100, 0)
        )
        assert torch.equal(ready, beyond)


@on_each_layout
def test_views_of_a_larger_tensor(layout):
    """Heads after the length, every other number, an odd stride or offset."""
    module = RotaryEmbedding(8, layout=layout)
    for x in (
        torch.randn(2, 9, 3, 8).transpose(1, 2),
        torch.randn(2, 9, 16)[..., ::2],
        torch.randn(2, 9, 11)[..., 1:9],
        torch.randn(8, 9).mT,
        torch.randn(9, 8).expand(2, 9, 8),
        torch.randn(9, 8, 1).permute(2, 0, 1),  # an odd stride of a single row
    ):
        expected = module.rotate(x.clone(memory_format=torch.contiguous_format))
        for turned in (module.rotate(x), *module(x, x)):
            torch.testing.assert_close(turned, expected, atol=1e-6, rtol=0)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.parametrize(
    ("layout", "rotary_dim"), [*zip(LAYOUTS, (4, None), strict=True)]
)
def test_the_gradient_is_turned_back(layout, rotary_dim):
    """Of all orders, forwards and backwards, and of many at once."""
    factor = 1 if rotary_dim else 1.5
    choices = {"rotary_dim": rotary_dim, "attention_factor": factor}
    module = RotaryEmbedding(8, layout=layout, **choices)
    x = torch.randn(2, 5, 8, dtype=torch.float64, requires_grad=True)
    batched = {"check_batched_grad": True}
    assert torch.autograd.gradcheck(module.rotate, x, check_forward_ad=True, **batched)
    assert torch.autograd.gradgradcheck(module.rotate, x, **batched)
    hessian = torch.func.hessian(lambda x: (module.rotate(x) ** 2).sum() / 2)(x[0])
    torch.testing.assert_close(
        hessian.reshape(40, 40), factor**2 * torch.eye(40).double()
    )
    x = torch.randn(2, 50, 8).bfloat16().requires_grad_()
    y = module.rotate(x)
    (gradient,) = torch.autograd.grad(y, x, y)
    assert (gradient - factor**2 * x).abs().max() < 0.04 * factor**2


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@on_each_layout
def test_a_long_text_is_turned_as_its_parts(layout, dtype):
    """In blocks to the same bits, and so is its gradient."""
    module = RotaryEmbedding(8, max_length=9000, layout=layout)
    x = torch.randn(8, 9000, 8).to(dtype).requires_grad_()
    long = module.rotate(x)
    with torch.no_grad():
        assert torch.equal(module.rotate(x), long)
    (gradient,) = torch.autograd.grad(long, x, torch.ones_like(long))
    for part in (slice(0, 10), slice(4000, 4010), slice(8990, 9000)):
        few = x[:, part].detach().requires_grad_()
        short = module.rotate(few, offset=part.start)
        assert torch.equal(long[:, part], short)
        (right,) = torch.autograd.grad(short, few, torch.ones_like(short))
        assert torch.equal(gradient[:, part], right)


@on_each_layout
def test_learned_positions_get_their_gradient(layout):
    module = RotaryEmbedding(8, layout=layout)
    x = torch.randn(2, 5, 8, dtype=torch.float64)
    positions = torch.rand(5, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda at: module.rotate(x, positions=at), positions
    )


def test_the_length_before_the_heads():
    """[batch, length, heads, head_dim], as flash attention takes it."""
    q, k = torch.randn(2, 5, 4, 8), torch.randn(2, 5, 1, 8)
    usual, module = RotaryEmbedding(8), RotaryEmbedding(8, seq_dim=-3)
    for positions in (None, torch.arange(10).reshape(2, 5)):
        turned = module(q, k, positions=positions)
        right = usual(q.transpose(1, 2), k.transpose(1, 2), positions=positions)
        for one, other in zip(turned, right, strict=True):
            assert torch.equal(one, other.transpose(1, 2))
    assert torch.equal(module.rotate(q), module(q, k)[0])


def test_queries_and_keys_of_different_precision_and_ids_of_one_row():
    q, k, module = torch.randn(2, 3, 5, 8), torch.randn(2, 3, 5, 8), RotaryEmbedding(8)
    for one, other in ((q.double(), k), (q, k.double()), (q.bfloat16(), k.double())):
        for positions in (None, torch.arange(5)[None]):
            turned = module(one, other, positions=positions)
            assert torch.equal(turned[0], module.rotate(one))
            assert torch.equal(turned[1], module.rotate(other))
        grid = GridRotaryEmbedding(8, sections=(2, 2))
        at = torch.arange(5)[:, None].expand(5, 2)  # as words have it
        for given, right in zip(grid(one, other, positions=at), turned, strict=True):
            torch.testing.assert_close(given, right, atol=2e-2, rtol=0)


def test_a_grid_shows_what_turns():
    hot = GridRotaryEmbedding(8, sections=(2, 2), base=1e6, attention_factor=1.5)
    assert repr(hot) == (
        "GridRotaryEmbedding(8, 2 axes, base=1e+06, layout='interleaved', "
        "attention_factor=1.5)"
    )
    assert "base" not in repr(GridRotaryEmbedding(8, frequencies=np.ones((2, 4))))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@on_each_layout
def test_a_rotation_is_taken_back(layout, dtype):
    """With its factor, so that keys of a cache can move; on a grid by its angles."""
    choices = {"attention_factor": 1.5, "layout": layout, "seq_dim": -3}
    module = RotaryEmbedding(8, rotary_dim=6, max_length=4, **choices)
    x = torch.randn(2, 9, 4, 8).to(dtype)
    atol = {torch.float64: 1e-14, torch.float32: 1e-6, torch.bfloat16: 0.05}[dtype]
    close = partial(torch.testing.assert_close, atol=atol, rtol=0)
    each = torch.randint(100, (2, 9))
    for given in ({}, {"offset": 7}, {"positions": each, "offset": -3}):
        close(module.unrotate(module.rotate(x, **given), **given), x)
    evicted = module.unrotate(module.rotate(x)[:, 5:], offset=5)
    close(module.rotate(evicted), module.rotate(x[:, 5:]))
    with pytest.raises(ValueError, match=r"positions must have shape \[9\]"):
        module.unrotate(x, positions=each[:, :3])
    grid = GridRotaryEmbedding(8, sections=(2, 2), **choices)
    at = torch.randint(100, (2, 9, 2))
    turned, _ = grid(x, x, positions=at)
    cos_sin = grid.cos_sin(at, dtype=torch.float64)
    close(grid.rotary.unrotate(turned, cos_sin=cos_sin), x)


@on_each_layout
def test_rotate_is_numpys(layout):
    """Of pairs in front; axes that broadcast; a dtype that is rounded once."""
    x, angles = torch.randn(2, 5, 8), torch.randn(5, 3).double()
    cos, sin = angles.cos(), angles.sin()
    expected = rotary.rotate(x.numpy(), cos.numpy(), sin.numpy(), layout)
    found = rotate(x.double(), cos, sin, layout)
    torch.testing.assert_close(found, torch.from_numpy(expected))
    assert torch.equal(rotate(x, cos, sin, layout), torch.from_numpy(expected).float())
    low = rotate(x.bfloat16(), cos.float(), sin.float(), layout)
    wide = rotate(x.bfloat16().float(), cos.float(), sin.float(), layout)
    assert torch.equal(low, wide.bfloat16())
