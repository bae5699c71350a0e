"""The one rotation of pairs, for tensors."""

import torch
from torch import Tensor

from pe_lib._arguments import as_choice
from pe_lib.layouts import LAYOUTS

BLOCK = 2**17  # numbers of 16 bits that are rotated together


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
        float32 or float64, one number a pair, of axes that broadcast with x's.
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
    width = 2 * cos.shape[-1]
    if width > x.shape[-1]:
        raise ValueError(f"x must have {width} numbers or more, got {x.shape[-1]}")
    if width < x.shape[-1]:
        rotated = rotate(x[..., :width], cos, sin, layout)
        return torch.cat([rotated, x[..., width:]], -1)
    if x.dtype != cos.dtype:
        return _rounded(x, cos, sin, layout)
    if layout == "half_split":
        a, b = x.chunk(2, -1)
        ahead = torch.addcmul(a * cos, b, sin, value=-1), torch.addcmul(b * cos, a, sin)
        return torch.cat(ahead, -1)
    if layout != "interleaved":
        as_choice("layout", layout, LAYOUTS)
    if torch.compiler.is_compiling():  # which makes no code for complex numbers
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2)
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], width // 2, 2).contiguous())
    return torch.view_as_real(pairs * torch.complex(cos, sin)).flatten(-2)


def _rounded(x: Tensor, cos: Tensor, sin: Tensor, layout: str) -> Tensor:
    """The same where x has another dtype than cos.

    A block of rows at a time, so that a processor's cache holds what is wider than x.
    """
    if (
        torch.compiler.is_compiling()
        or x.numel() <= BLOCK
        or x.device.type != "cpu"
        or cos.shape[-2:-1] != x.shape[-2:-1]
    ):
        return rotate(x.to(cos.dtype), cos, sin, layout).to(x.dtype)
    rows = max(1, BLOCK * x.shape[-2] // x.numel())
    parts = zip(*(torch.split(part, rows, -2) for part in (x, cos, sin)), strict=True)
    blocks = [rotate(a.to(c.dtype), c, s, layout).to(x.dtype) for a, c, s in parts]
    return torch.cat(blocks, -2)
