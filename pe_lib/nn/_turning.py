"""Turning vectors by given cosines and sines, and backwards by the opposite angles.

The inverse of a turn is its transpose, so that the backward pass is the forward pass
with the sines' sign changed: nothing has to be kept for it but the angles.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from pe_lib.layouts import layout_columns
from pe_lib.nn._tables import WIDE

SMALL = 2**20  # numbers that whole operators turn faster than blocks do
SMALL_TO_LEARN = 2**13  # the same, where autograd would keep each step
BLOCK = 2**18  # numbers that a processor's cache holds while they are turned
HALF_BYTES = (torch.bfloat16, torch.float16)


def turn(x: Tensor, turns: Tensor, layout: str) -> Tensor:
    """Turn the first numbers of each vector of x, as many as `turns` has.

    x is [..., length, head_dim]; `turns` is float32 or float64, cosines and sines
    in the columns of `layout`, and of a shape that broadcasts against x.
    """
    if is_followed() or turns.requires_grad:  # learned positions
        return _in_the_open(x, turns, layout, 1)
    # An autograd.Function takes longer than the turn of a single word, and up to a
    # tenth of a long text's.
    if not x.requires_grad:
        return _forward(x, turns, layout, 1)
    turned: Tensor = _Turn.apply(x, turns, layout, 1)  # type: ignore[no-untyped-call]
    return turned


def is_followed() -> bool:
    """Whether a compiler, which fuses better than we can, or functorch looks on."""
    return (
        torch.compiler.is_compiling()
        or torch._C._is_tracing()
        or torch._C._are_functorch_transforms_active()
        or forward_ad._current_level >= 0
    )


def ready_for_small(turns: Tensor, layout: str) -> tuple[Tensor, ...]:
    """Rows of `turns` [n, head_dim] as :func:`turn_small` takes them."""
    if layout == "interleaved":
        return (turns,)  # torch.save takes no complex view beside the table itself
    cos, sin = turns.chunk(2, -1)
    return torch.cat((cos, cos), -1), torch.cat((-sin, sin), -1)


def turn_small(x: Tensor, ready: Sequence[Tensor]) -> Tensor:
    """The same with the fewest calls, in one piece: the same bits as block by block.

    `ready`, of :func:`ready_for_small`, turns whole vectors.
    """
    wide = x if x.dtype in WIDE else x.float()
    if len(ready) == 1:  # neighbours, as complex numbers
        if not _is_complex(wide):  # contiguous() keeps odd strides of a single row
            wide = wide.clone(memory_format=torch.contiguous_format)
        turned = _as_real(_as_complex(wide) * _as_complex(ready[0]))
    else:
        cos, sin = ready
        turned = wide.roll(cos.shape[-1] // 2, -1).mul_(sin).addcmul_(wide, cos)
    return turned if x.dtype in WIDE else turned.type(x.dtype)  # `to` takes longer


class _Turn(torch.autograd.Function):
    """y = T x; the gradient by x is that by y, turned back."""

    @staticmethod
    def forward(x: Tensor, turns: Tensor, layout: str, sign: int) -> Tensor:
        """Turn x."""
        return _forward(x, turns, layout, sign)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:  # noqa: ARG004
        """Keep the angles."""
        _, turns, ctx.layout, ctx.sign = inputs
        ctx.save_for_backward(turns)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        """Turn the gradient back."""
        (turns,) = ctx.saved_tensors
        return _Turn.apply(gradient, turns, ctx.layout, -ctx.sign), None, None, None  # type: ignore[no-untyped-call]


# torch looks for the signature in each call: a sixth of its time for a single word.
_Turn.forward.__signature__ = inspect.signature(_Turn.forward)  # type: ignore[attr-defined]


def _forward(x: Tensor, turns: Tensor, layout: str, sign: int) -> Tensor:
    """Turn x where autograd does not look."""
    how = _in_blocks if x.device.type == "cpu" else _in_the_open
    return how(x, turns, layout, sign)


def _in_the_open(x: Tensor, turns: Tensor, layout: str, sign: int) -> Tensor:
    """By the formula, in the precision of `turns`, rounded once."""
    width = turns.shape[-1]
    ends = layout_columns(width, layout)
    turning = x[..., :width].to(turns.dtype)
    first, second = (turning[..., columns] for columns in ends)
    cos, sin = (turns[..., columns] for columns in ends)
    sin = sin if sign == 1 else -sin
    ahead = first * cos - second * sin, second * cos + first * sin
    if layout == "interleaved":
        turned = torch.stack(ahead, dim=-1).flatten(-2)
    else:
        turned = torch.cat(ahead, dim=-1)
    turned = turned.to(x.dtype)
    return (
        torch.cat([turned, x[..., width:]], dim=-1) if width < x.shape[-1] else turned
    )


def _in_blocks(x: Tensor, turns: Tensor, layout: str, sign: int) -> Tensor:
    """The same on a processor: a block at a time, so that it stays in the cache."""
    width, length = turns.shape[-1], x.shape[-2]
    if x.stride(-1) != 1:
        x = x.contiguous()
    whole = width == x.shape[-1] and x.dtype == turns.dtype and _is_complex(x)
    if whole and layout == "interleaved":  # one pass, and no block
        hands = _as_complex(turns)
        return _as_real(_as_complex(x) * (hands if sign == 1 else hands.conj()))
    out = torch.empty_like(x)
    if not x.numel():
        return out
    before, after = x, out
    if width < x.shape[-1]:
        out[..., width:] = x[..., width:]
        before, after = x[..., :width], out[..., :width]
    shorter = x.dtype in HALF_BYTES
    rows = min(length, max(16, BLOCK * (1 + shorter) * length // x.numel()))
    writer = _write_neighbours if layout == "interleaved" else _write_halves
    parts = (torch.split(part, rows, dim=-2) for part in (before, after, turns))
    wide = x.new_empty(0)
    for before, after, angles in zip(*parts, strict=True):
        if not shorter:
            writer(before, after, sign)(angles)
            continue
        if before.shape != wide.shape:  # the first block, and a shorter last one
            wide = torch.empty(before.shape, dtype=turns.dtype)
            # complex numbers turn where they are
            turned = wide if layout == "interleaved" else torch.empty_like(wide)
            write = writer(wide, turned, sign)
        wide.copy_(before)
        write(angles)
        after.copy_(turned)
    return out


def _write_neighbours(x: Tensor, out: Tensor, sign: int) -> Callable[[Tensor], Any]:
    """A pair of neighbours is a complex number."""
    if not _is_complex(x) or not _is_complex(out):
        return lambda turns: out.copy_(_in_the_open(x, turns, "interleaved", sign))
    before, after = _as_complex(x), _as_complex(out)

    def write(turns: Tensor) -> None:
        hands = _as_complex(turns)
        torch.mul(before, hands if sign == 1 else hands.conj(), out=after)

    return write


def _write_halves(x: Tensor, out: Tensor, sign: int) -> Callable[[Tensor], Any]:
    """Sines first, so that cosines are one pass over whole rows."""
    first, second = x.chunk(2, dim=-1)
    ahead, behind = out.chunk(2, dim=-1)

    def write(turns: Tensor) -> None:
        cos, sin = turns.chunk(2, dim=-1)
        torch.mul(second, sin if sign == -1 else -sin, out=ahead)
        torch.mul(first, sin if sign == 1 else -sin, out=behind)
        out.addcmul_(x, torch.cat([cos, cos], dim=-1))

    return write


def _is_complex(x: Tensor) -> bool:
    even = all(stride % 2 == 0 for stride in x.stride()[:-1])
    return even and x.stride(-1) == 1 and x.storage_offset() % 2 == 0


def _as_complex(x: Tensor) -> Tensor:
    if x.requires_grad or type(x) is not Tensor:  # the shorter way has no derivative
        return torch.view_as_complex(x.view(*x.shape[:-1], x.shape[-1] // 2, 2))
    return x.view(x.dtype.to_complex())


def _as_real(x: Tensor) -> Tensor:
    if x.requires_grad or type(x) is not Tensor:
        return torch.view_as_real(x).flatten(-2)
    return x.view(x.dtype.to_real())
