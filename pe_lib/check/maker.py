"""What makes a module from a width, and the numbers that it was told."""

import copy
import inspect
from dataclasses import dataclass
from typing import Any

from torch import nn


@dataclass(frozen=True)
class Maker:
    """From a width to a module, and what its other arguments are by default."""

    make: Any
    d_model: int
    said: tuple[tuple[str, Any], ...] = ()  # what nobody changes is meant

    @classmethod
    def of(cls, make: Any, d_model: int) -> "Maker":
        """Read off the signature of a class, a function or a functools.partial."""
        if isinstance(make, nn.Module):
            return cls(make, d_model)
        given = inspect.signature(make).parameters
        return cls(make, d_model, tuple((n, p.default) for n, p in given.items()))

    def __call__(self, width: int) -> Any:
        if not isinstance(self.make, nn.Module):
            return self.make(width)
        if width != self.d_model:
            raise ValueError(f"d_model must be {self.d_model}: there is one module")
        return copy.deepcopy(self.make)

    @property
    def is_class(self) -> bool:
        """Whether its arguments are known: those of a function's class are not."""
        return isinstance(getattr(self.make, "func", self.make), type)

    @property
    def numbers(self) -> set[float]:
        """Those that its arguments are."""
        return {v for _, v in self.said if type(v) in (int, float)}
