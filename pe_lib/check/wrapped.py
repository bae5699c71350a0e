"""Modules whose forward is handed what it takes, and that return what is looked at."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

Build = Callable[[int], nn.Module]


class Picked(nn.Module):
    """A module that returns several things, and the one that is looked at."""

    def __init__(self, inner: nn.Module, key: Any) -> None:
        super().__init__()
        self.inner, self.key = inner, key

    def forward(self, *inputs: Any, **arguments: Any) -> Any:
        """One of the things that the inner module returns."""
        return self.inner(*inputs, **arguments)[self.key]


def picking(build: Build, key: Any) -> Build:
    """Modules of which one thing is looked at."""
    return lambda d_model: Picked(build(d_model), key)


class Wrapped(nn.Module):
    """A module whose forward is handed what it takes."""

    def __init__(self, inner: nn.Module, dims: int, *, with_x: bool) -> None:
        super().__init__()
        self.inner, self.dims, self.with_x = inner, dims, with_x

    def forward(self, x: Tensor, *, positions: Tensor | None = None) -> Any:
        """The inner module's answer for x, or for as many positions."""
        if self.dims < 0:
            if positions is not None:
                raise TypeError("takes a length, no positions")
            return self.inner(x.shape[-2])
        rows = torch.arange(x.shape[-2], device=x.device)
        rows = rows if positions is None else positions
        rows = rows if self.dims == 1 or rows.ndim == 2 else rows[None]
        return self.inner(x, rows) if self.with_x else self.inner(rows)


def from_positions(build: Build, dims: int) -> Build:
    """Modules that take positions of so many axes; a length, if they are negative."""
    return lambda d_model: Wrapped(build(d_model), dims, with_x=False)


def with_positions(build: Build, dims: int) -> Build:
    """Modules that take x and positions [length] or [batch, length]."""
    return lambda d_model: Wrapped(build(d_model), dims, with_x=True)


def dims_of(given: Any) -> int:
    """How many axes positions have; -1 for a length."""
    return given.ndim if isinstance(given, Tensor) else -1


def own_name(module: nn.Module, name: str) -> str:
    """What somebody calls a part of a module that we have wrapped."""
    while isinstance(module, Picked | Wrapped):
        module, name = module.inner, name.removeprefix("inner.")
    return name
