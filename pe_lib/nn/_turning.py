"""Turning vectors by given cosines and sines."""

import torch
from torch import Tensor

from pe_lib.layouts import layout_columns


def turn(x: Tensor, turns: Tensor, layout: str) -> Tensor:
    """Turn the first numbers of each vector of x, as many as `turns` has.

    x is [..., length, head_dim]; `turns` is float32 or float64, cosines and sines
    in the columns of `layout`, and of a shape that broadcasts against x. Computed in
    the precision of `turns`, and rounded once to the dtype of x.
    """
    width = turns.shape[-1]
    columns = layout_columns(width, layout)
    turning = x[..., :width].to(turns.dtype)
    first, second = (turning[..., part] for part in columns)
    cos, sin = (turns[..., part] for part in columns)
    ahead = first * cos - second * sin, second * cos + first * sin
    if layout == "interleaved":
        turned = torch.stack(ahead, dim=-1).flatten(-2)
    else:
        turned = torch.cat(ahead, dim=-1)
    turned = turned.to(x.dtype)
    if width == x.shape[-1]:
        return turned
    return torch.cat([turned, x[..., width:]], dim=-1)
