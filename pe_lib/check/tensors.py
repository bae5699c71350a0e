"""Tensors as the checks look at them: compared, counted, named."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn


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
    """Tensors that are neither parameter nor buffer, by name."""
    return {
        f"{prefix}.{name}".lstrip("."): value
        for prefix, part in module.named_modules()
        for name, value in vars(part).items()
        if isinstance(value, Tensor)
    }


def name_of(kind: torch.dtype) -> str:
    """The name of a dtype."""
    return str(kind).removeprefix("torch.")
