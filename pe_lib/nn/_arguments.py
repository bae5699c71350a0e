"""What the modules accept, and how codes line up with an input.

The checks look at types, dtypes and shapes only, never at the values of a tensor:
they cost next to nothing, and `torch.compile` and `torch.export` see them through.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from pe_lib._arguments import as_integer, as_reals, short_repr

FAR = 2**62


def as_probability(name: str, value: Any) -> float:
    """Return `value` as a float between 0 and 1."""
    number = as_reals(name, value)
    if number.ndim:
        raise TypeError(f"{name} must be a single number, got shape {number.shape}")
    if not 0 <= number <= 1:
        raise ValueError(f"{name} must be between 0 and 1, got {short_repr(value)}")
    return float(number)


def length_of(x: Tensor, d_model: int, batch_first: bool) -> int:
    """The number of positions in `x`, whose shape must be possible."""
    if not isinstance(x, Tensor):
        raise TypeError(f"x must be a tensor, got {type(x).__name__}")
    shape = x.shape
    if batch_first:
        if len(shape) < 2 or shape[-1] != d_model:
            raise ValueError(
                f"x must have shape [..., length, d_model] with d_model = {d_model}, "
                f"got {list(shape)}"
            )
        return shape[-2]
    if len(shape) not in (2, 3) or shape[-1] != d_model:
        raise ValueError(
            "x must have shape [length, batch, d_model] or [length, d_model] with "
            f"d_model = {d_model}, since batch_first=False, got {list(shape)}"
        )
    return shape[0]


def as_offset(value: Any) -> Any:
    """Return `offset` as an int; what the compiler keeps open, stays open."""
    if isinstance(value, torch.SymInt):
        return value
    fits = type(value) is int and -FAR < value < FAR  # as_integer takes longer
    return value if fits else as_integer("offset", value)


def refuse_integers(x: Tensor) -> None:
    """Refuse an `x` to which no code can be added, such as token ids."""
    if not x.is_floating_point():
        raise TypeError(f"x must be floating-point numbers, got {x.dtype}")


def positions_of(
    x: Tensor, length: int, batch_first: bool, positions: Any = None
) -> Tensor:
    """`positions`, one for each of `x`, on its device; 0, 1, ... if there are none."""
    refuse_integers(x)
    if positions is None:
        return torch.arange(length, device=x.device)
    if not isinstance(positions, Tensor):
        raise TypeError(f"positions must be a tensor, got {type(positions).__name__}")
    if positions.dtype == torch.bool or positions.is_complex():
        raise TypeError(f"positions must be real numbers, got {positions.dtype}")
    rows = x.shape[:-1] if batch_first or x.ndim == 2 else x.shape[1::-1]
    return match_rows("x", positions, length, rows).to(x.device)


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
    if (
        positions.device.type != "cpu"
        or torch.compiler.is_compiling()
        or torch.jit.is_tracing()  # type: ignore[attr-defined, no-untyped-call]
    ):
        return None
    try:
        lowest, highest = positions.aminmax()
        return int(lowest), int(highest)
    except RuntimeError:  # under vmap; or there are none
        return None


def with_float64(device: torch.device) -> torch.device:
    """Where to compute for a device: there, or on the CPU if it has no float64."""
    return torch.device("cpu") if device.type == "mps" else device


def length_first(codes: Tensor, x: Tensor) -> Tensor:
    """Codes [length, d] or [batch, length, d] in the order of x [length, batch, d]."""
    if x.ndim == 2:
        return codes
    return codes.unsqueeze(1) if codes.ndim == 2 else codes.transpose(0, 1)
