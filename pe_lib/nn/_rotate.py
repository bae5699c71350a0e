"""The one rotation of pairs, for tensors."""

from collections.abc import Sequence

import torch
from torch import Tensor

from pe_lib._arguments import as_choice
from pe_lib.layouts import LAYOUTS

BLOCK = 2**18  # numbers of 16 bits that are rotated together


def rotate(x: Tensor, cos: Tensor, sin: Tensor, layout: str) -> Tensor:
    r"""Rotate pairs of numbers by the angles whose cosines and sines are given.

    .. math:: (a, b) \mapsto (a\cos\theta - b\sin\theta,\; a\sin\theta + b\cos\theta)

    Su et al. (2021), equation 34; in NumPy :func:`pe_lib.beyond.rotary.rotate`.
    Computed in the dtype of cos, and rounded once to that of x.

    Parameters
    ----------
    x : tensor [..., head_dim]
        Its first 2 K numbers are pairs, the others stay.
    cos, sin : tensors [..., K]
        float32 or float64, one number a pair, of axes that broadcast to x's.
        Models of transformers keep each twice: take half of it.
    layout : "interleaved" or "half_split"
        Which two numbers are a pair: neighbours, or j of either half.

    Returns
    -------
    tensor of the shape and dtype of x

    Raises
    ------
    ValueError
        If the layout is unknown, or x has fewer than 2 K numbers.

    Examples
    --------
    By a quarter turn, and not at all:

    >>> x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    >>> cos, sin = torch.tensor([0.0, 1.0]), torch.tensor([1.0, 0.0])
    >>> rotate(x, cos, sin, "interleaved")
    tensor([-2.,  1.,  3.,  4.])
    >>> rotate(x, cos, sin, "half_split")
    tensor([-3.,  2.,  1.,  4.])
    """
    as_choice("layout", layout, LAYOUTS)
    return rotate_each((x,), angles_of(cos, sin, layout), layout)[0]


def angles_of(cos: Tensor, sin: Tensor, layout: str) -> Tensor:
    """Cosines and sines as :func:`rotate_each` takes them.

    Neighbours are turned by complex numbers: [1, ..., K, 2]. Of halves each number is
    multiplied by a cosine, and the one half a head away by a sine: [2, ..., 2 K].
    """
    if layout == "interleaved":
        return torch.stack((cos, sin), -1).unsqueeze(0)
    return torch.stack((torch.cat((cos, cos), -1), torch.cat((-sin, sin), -1)))


def rotate_each(tensors: Sequence[Tensor], angles: Tensor, layout: str) -> list[Tensor]:
    """The first numbers of tensors [..., head_dim], by the same angles."""
    neighbours, factors = layout == "interleaved", angles.unbind(0)
    width = 2 * angles.shape[-2] if neighbours else angles.shape[-1]
    if neighbours:  # a compiler makes no code for complex numbers
        split = torch.compiler.is_compiling()
        (one,) = factors
        factors = one.unbind(-1) if split else (torch.view_as_complex(one),)
    rotated = []
    for x in tensors:
        if width > x.shape[-1]:
            raise ValueError(f"x must have {width} numbers or more, got {x.shape[-1]}")
        if width == x.shape[-1]:
            rotated.append(_rounded(x, factors, neighbours))
        else:
            turned = _rounded(x[..., :width], factors, neighbours)
            rotated.append(torch.cat((turned, x[..., width:]), -1))
    return rotated


def _rounded(x: Tensor, factors: Sequence[Tensor], neighbours: bool) -> Tensor:
    """Rotated in the dtype of the factors, and rounded to that of x.

    A block of rows at a time, so that a processor's cache holds what is wider than x.
    """
    dtype = factors[0].dtype.to_real()
    if x.dtype == dtype:
        return _rotated(x, factors, neighbours)
    if (
        x.numel() <= BLOCK
        or torch.compiler.is_compiling()
        or x.device.type != "cpu"
        or factors[0].shape[-2:-1] != x.shape[-2:-1]
    ):
        return _rotated(x.type(dtype), factors, neighbours).type(x.dtype)
    rows = max(1, BLOCK * x.shape[-2] // x.numel())
    blocks = zip(*(torch.split(part, rows, -2) for part in (x, *factors)), strict=True)
    return torch.cat([_rounded(part, few, neighbours) for part, *few in blocks], -2)


def _rotated(x: Tensor, factors: Sequence[Tensor], neighbours: bool) -> Tensor:
    half = x.shape[-1] // 2
    if len(factors) == 1:
        pairs = x.reshape(*x.shape[:-1], half, 2).contiguous()
        return torch.view_as_real(torch.view_as_complex(pairs) * factors[0]).flatten(-2)
    cos, sin = factors
    if neighbours:
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack((a * cos - b * sin, b * cos + a * sin), -1).flatten(-2)
    if torch.compiler.is_compiling():
        return x * cos + torch.cat((x[..., half:], x[..., :half]), -1) * sin
    return x.roll(half, -1).mul_(sin).addcmul_(x, cos)
