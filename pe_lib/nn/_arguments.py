"""What the modules accept, and how encodings line up with an input.

The checks look at types, dtypes and shapes only, never at the values of a tensor:
they cost next to nothing, and `torch.compile` and `torch.export` see them through.
Where rotary is compiled with positions, this module alone says `torch.`, and others
import functions by name: each module more that does is compared in every such call.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.compiler import is_compiling
from torch.jit import is_tracing  # type: ignore[attr-defined]

from pe_lib._arguments import as_integer, as_number, short_repr

FAR = 2**62
WIDE = (torch.float32, torch.float64)


def as_share(name: str, value: Any) -> float:
    """Return `value` as a float from 0 to 1."""
    number = as_number(name, value)
    if not 0 <= number <= 1:
        raise ValueError(f"{name} must be between 0 and 1, got {short_repr(value)}")
    return number


def as_whole(name: str, value: Any, at_least: int = -FAR) -> Any:
    """Return `value` as an int; what the compiler keeps open, stays open."""
    if isinstance(value, torch.SymInt):
        return value
    if type(value) is int and at_least <= value < FAR:  # as_integer takes longer
        return value
    if isinstance(value, Tensor) and value.numel() != 1:
        raise TypeError(
            f"{name} must be an integer, got a tensor {list(value.shape)}: "
            "positions= takes one number for each row"
        )
    return as_integer(name, value, at_least=at_least)


def as_tensor(name: str, value: Any) -> Tensor:
    """Return a tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be a tensor, got {type(value).__name__}")
    return value


def as_float_tensor(name: str, value: Any) -> Tensor:
    """Return a tensor of floating-point numbers."""
    if not (isinstance(value, Tensor) and value.is_floating_point()):
        as_tensor(name, value)
        raise TypeError(f"{name} must be floating-point numbers, got {value.dtype}")
    return value


def as_positions(name: str, value: Any, *, whole: bool = False) -> Tensor:
    """Return a tensor of integers, or else of floats of 32 bits or more."""
    dtype = as_tensor(name, value).dtype
    if dtype == torch.bool or dtype.is_complex:
        raise TypeError(f"{name} must be real numbers, got {dtype}")
    if dtype.is_floating_point and dtype not in WIDE:
        raise TypeError(
            f"{name} must be integers, float32 or float64, got {dtype}, in which "
            "neighbours are equal: pass them as they were before they were cast"
        )
    if whole and dtype.is_floating_point:
        raise TypeError(f"{name} must be integers, got {dtype}")
    return value  # type: ignore[no-any-return]


def as_turning(name: str, x: Tensor, parts: Sequence[Tensor]) -> None:
    """Refuse cosines and sines of fewer bits than `x` is turned in."""
    for dtype in (part.dtype for part in parts):
        if dtype not in WIDE or (x.dtype, dtype) == WIDE[::-1]:
            raise TypeError(
                f"cosines and sines must be float64 for float64 {name}, and float32 "
                f"at least, got {dtype}"
            )


def wide_of(x: Tensor) -> torch.dtype:
    """The dtype in which x is turned."""
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def match_rows(
    name: str, at: Tensor, length: int, rows: Sequence[int], columns: int = 0
) -> Tensor:
    """`at`, whose shape before its `columns` axes is [length] or [*rows].

    [1, length], as ids often are, becomes [length]. Shapes of different numbers of
    axes are not compared: torch.export would note how their first axes differ.
    """
    shape = tuple(at.shape[: at.ndim - columns])
    if len(shape) == 2 and shape[0] == 1:
        at, shape = at[0], shape[1:]
    wanted = tuple(rows) if len(shape) == len(rows) else (length,)
    if len(shape) != len(wanted) or shape != wanted:
        allowed = f"{[length]}" + (f" or {list(rows)}" if len(rows) > 1 else "")
        raise ValueError(
            f"positions must have shape {allowed}, as {name} has, got {list(shape)}"
        )
    return at


def ends_of(positions: Tensor) -> tuple[int, int] | None:
    """The lowest and the highest of them; None where nobody may look at values."""
    if is_traced() or positions.device.type != "cpu":
        return None
    try:
        lowest, highest = positions.aminmax()
        return int(lowest), int(highest)
    except RuntimeError:  # under vmap; or there are none
        return None


def is_traced() -> bool:
    """Whether a program is written down from this call, for other shapes too."""
    return is_compiling() or is_tracing()  # type: ignore[no-untyped-call]


def with_float64(device: torch.device) -> torch.device:
    """Where to compute for a device: there, or on the CPU if it has no float64."""
    return torch.device("cpu") if device.type == "mps" else device
