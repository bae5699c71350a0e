"""Tensors as the checks read them: compared, counted, named."""

from collections.abc import Iterator
from types import CellType, FunctionType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pe_lib.check.wrapped import inner_name


def as_numpy(codes: Tensor) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Codes of any dtype as float64."""
    numbers: np.ndarray[Any, np.dtype[np.float64]] = codes.cpu().double().numpy()
    return numbers


def close(left: Tensor, right: Tensor) -> bool:
    """Equal but for the last digits of float32."""
    size = max(1e-3, float(right.nan_to_num().abs().max()))
    return left.shape == right.shape and torch.allclose(
        left.float(), right.float(), rtol=0, atol=1e-4 * size, equal_nan=True
    )


def differ(codes: Tensor, axis: int) -> bool:
    """Whether the encodings change along an axis."""
    first = codes.narrow(axis, 0, 1)
    return not bool(((codes - first).abs() <= 1e-6).all())  # NaN differs


def plain_tensors(module: nn.Module) -> dict[str, Tensor]:
    """Tensors that are neither parameter nor buffer, by name.

    Those in lists, tuples and dicts of the module, and in closures of its functions.
    """
    moved = [*module.parameters(), *module.buffers()]
    return {
        inner_name(module, f"{prefix}.{name}".lstrip(".")): tensor
        for prefix, part in module.named_modules()
        for attribute, value in vars(part).items()
        if attribute not in ("_parameters", "_buffers", "_modules")
        for name, tensor in _held(attribute, value, depth=3)
        if not any(tensor is other for other in moved)
    }


def _held(name: str, value: Any, depth: int) -> Iterator[tuple[str, Tensor]]:
    """The tensors in a value, with a name each."""
    if isinstance(value, Tensor):
        yield name, value
    elif depth and isinstance(value, list | tuple):
        for i, part in enumerate(value):
            yield from _held(f"{name}[{i}]", part, depth - 1)
    elif depth and isinstance(value, dict):
        for key, part in value.items():
            yield from _held(f"{name}[{key!r}]", part, depth - 1)
    elif depth and isinstance(value, FunctionType):
        for cell in value.__closure__ or ():
            if cell != CellType():  # of a name that is not bound yet
                yield from _held(f"{name}()", cell.cell_contents, depth - 1)


def name_of(kind: torch.dtype) -> str:
    """The name of a dtype."""
    return str(kind).removeprefix("torch.")
