"""The one rotation of pairs, for tensors."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, cat, stack

from pe_lib.beyond.rotary import _as_layout
from pe_lib.nn._arguments import as_turning, is_traced

BLOCK = 2**17  # numbers that are rotated together
DOUBLE = (torch.float64, torch.complex128)


def rotate(x: Tensor, cos: Tensor, sin: Tensor, layout: str) -> Tensor:
    r"""Rotate pairs of numbers by the angles whose cosines and sines are given.

    .. math:: (a, b) \mapsto (a\cos\theta - b\sin\theta,\; a\sin\theta + b\cos\theta)

    Su et al. (2021), equation 34; in NumPy :func:`pe_lib.beyond.rotary.rotate`.
    Computed in the dtype of cos, and rounded once to that of x.

    Of x [..., head_dim] the first 2 K numbers are pairs, in layout "interleaved"
    neighbours, in "half_split" j of either half; the others stay. cos and sin
    [..., K] are float32 or float64, one number a pair, of axes that broadcast to x's.
    Models of transformers keep each twice: take half of it. Returns a tensor of the
    shape and dtype of x. Raises TypeError if cos or sin have fewer bits than float32,
    or than a float64 x; ValueError if the layout is unknown, or x has fewer than 2 K
    numbers.

    By a quarter turn, and not at all:

    >>> x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    >>> cos, sin = torch.tensor([0.0, 1.0]), torch.tensor([1.0, 0.0])
    >>> rotate(x, cos, sin, "interleaved")
    tensor([-2.,  1.,  3.,  4.])
    >>> rotate(x, cos, sin, "half_split")
    tensor([-3.,  2.,  1.,  4.])
    """
    _as_layout(layout)
    as_turning("x", x, (cos, sin))
    traced = is_traced()
    return rotate_by(x, laid_out(cos, sin, layout, traced), layout, traced)


def row_of(cos: Tensor, sin: Tensor, layout: str) -> Tensor:
    """Cosines and sines as they are kept.

    Neighbours are turned by complex numbers. Of halves each number is multiplied by a
    cosine, and the one half a head away by a sine with its sign.
    """
    if layout == "interleaved":
        return stack((cos, sin), -1).flatten(-2)
    return cat((cos, cos, -sin, sin), -1)


def parts_of(row: Tensor, layout: str, traced: bool) -> Sequence[Tensor]:
    """Views of it, by which :func:`rotate_by` multiplies."""
    if layout == "interleaved":
        pairs = torch.unflatten(row, -1, (row.shape[-1] // 2, 2))
        return pairs.unbind(-1) if traced else (torch.view_as_complex(pairs),)
    return row.chunk(4, -1)[::3] if traced else row.chunk(2, -1)


def laid_out(cos: Tensor, sin: Tensor, layout: str, traced: bool) -> Sequence[Tensor]:
    """The same of what no table has; a program needs no more than cosine and sine."""
    return (cos, sin) if traced else parts_of(row_of(cos, sin, layout), layout, traced)


def rotate_by(x: Tensor, parts: Sequence[Tensor], layout: str, traced: bool) -> Tensor:
    """The first numbers of x [..., head_dim]."""
    neighbours = layout == "interleaved"
    width = parts[0].shape[-1] * (2 if traced or neighbours else 1)
    more = x.shape[-1] - width
    if more < 0:
        raise ValueError(f"x must have {width} numbers or more, got {x.shape[-1]}")
    turns = x[..., :width] if more else x
    if traced:
        turned = _by_formula(layout, turns, *parts)
    else:
        turned = _rounded(turns, parts, _neighbours if neighbours else _halves)
    return cat((turned, x[..., width:]), -1) if more else turned


def _rounded(x: Tensor, parts: Sequence[Tensor], turn: Callable[..., Tensor]) -> Tensor:
    """Rotated in the dtype of the angles, and rounded to that of x.

    Of a long text a block of rows at a time, so that a processor's cache holds what
    lies between; between complex numbers of the same dtype lies nothing.
    """
    wide = torch.float64 if parts[0].dtype in DOUBLE else torch.float32
    if (
        x.numel() <= BLOCK
        or (x.dtype == wide and turn is _neighbours)
        or x.device.type != "cpu"
        or parts[0].shape[-2:-1] != x.shape[-2:-1]
    ):
        if x.dtype == wide:
            return turn(x, *parts)
        return turn(x.type(wide), *parts).type(x.dtype)
    turn = _halves_in_place if turn is _halves else turn
    rows = max(1, BLOCK * x.shape[-2] // x.numel())
    blocks = zip(*(torch.split(part, rows, -2) for part in (x, *parts)), strict=True)
    if torch.is_grad_enabled():
        done = [turn(block.type(wide), *few).type(x.dtype) for block, *few in blocks]
        return cat(done, -2)
    out = torch.empty_like(x)
    for into, (block, *few) in zip(torch.split(out, rows, -2), blocks, strict=True):
        into.copy_(turn(block.type(wide), *few))
    return out


def _neighbours(x: Tensor, angles: Tensor) -> Tensor:
    pairs = torch.unflatten(x, -1, (x.shape[-1] // 2, 2)).contiguous()
    return torch.view_as_real(torch.view_as_complex(pairs) * angles).flatten(-2)


def _halves(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    return torch.addcmul(x.roll(x.shape[-1] // 2, -1) * sin, x, cos)


def _halves_in_place(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """The same numbers with less memory; vmap knows no such operator."""
    return x.roll(x.shape[-1] // 2, -1).mul_(sin).addcmul_(x, cos)


def _by_formula(layout: str, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """For a compiler, which makes one loop of it, and none for complex numbers.

    Nothing here asks how many numbers there are: a program would hold for these alone.
    Halves are rounded apart, and neighbours together, as is faster.
    """
    wide, halves = x.to(cos.dtype), layout == "half_split"
    a, b = wide.chunk(2, -1) if halves else (wide[..., 0::2], wide[..., 1::2])
    both = a * cos - b * sin, b * cos + a * sin
    if halves:
        return cat([part.to(x.dtype) for part in both], -1)
    return stack(both, -1).flatten(-2).to(x.dtype)
