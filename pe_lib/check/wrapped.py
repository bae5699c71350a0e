"""Modules whose forward is handed what it takes, and that return what is looked at."""

from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any

import torch
from torch import Tensor, nn

Build = Callable[[int], nn.Module]
Give = Callable[..., Any]


class Fitted(nn.Module):
    """A module called in a form of its own, or of whose answer a part is looked at.

    `give` makes of the module and the usual input what is looked at; `axes` are those
    of positions, where they have several (all but a tensor of three is alike).
    """

    def __init__(self, inner: nn.Module, give: Give, axes: int) -> None:
        super().__init__()
        self.inner, self.give, self.axes = inner, give, axes

    def forward(self, *inputs: Any, **arguments: Any) -> Any:
        """The inner module's answer; of a dataclass, what it holds."""
        output = self.give(self.inner, *inputs, **arguments)
        return tuple(vars(output).values()) if is_dataclass(output) else output


def fitting(build: Build, give: Give, axes: int = 0) -> Build:
    """Modules that are handed the usual input in their own form."""
    return lambda d_model: Fitted(build(d_model), give, axes)


def picking(build: Build, key: Any) -> Build:
    """Modules of which one thing is looked at."""
    return fitting(build, lambda module, *x, **more: module(*x, **more)[key])


def there(module: nn.Module, output: Any, x: Tensor) -> Any:
    """The output on the device of x, where the module cannot know what that is."""
    held = [*module.parameters(), *module.buffers()]
    return output if held or not isinstance(output, Tensor) else output.to(x.device)


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
            return there(self.inner, self.inner(x.shape[-2]), x)
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


def inner_name(module: nn.Module, name: str) -> str:
    """What somebody calls a part of a module that we have wrapped."""
    while isinstance(module, Fitted | Wrapped):
        module, name = module.inner, name.removeprefix("inner.")
    return name
