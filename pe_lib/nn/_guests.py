"""Inputs that are no plain tensors: graphs of torch.fx, and ragged batches."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.fx import Proxy


def is_guest(x: Any) -> bool:
    """Whether x is a nested tensor or no tensor at all."""
    return not isinstance(x, Tensor) or x.is_nested


def as_leaf(module: nn.Module, *inputs: Any, method: str = "", **given: Any) -> Any:
    """A call of the module, or of its method, as a node of a graph of torch.fx.

    None if no input is a part of such a graph. The node calls the module itself, so
    that lengths and dtypes of the example are not written down.
    """
    found = [x for x in (*inputs, *given.values()) if isinstance(x, Proxy)]
    if not found:
        return None
    tracer = found[0].tracer
    path = tracer.path_of_module(module)  # type: ignore[attr-defined]
    if not path:
        raise TypeError(
            f"torch.fx cannot look into {type(module).__name__}: as a part of a "
            "traced module it is one node, alone it is its own graph"
        )
    changed = {name: value for name, value in given.items() if value is not None}
    if not method:
        return tracer.create_proxy("call_module", path, inputs, changed)
    part = tracer.create_proxy("get_attr", path, (), {})
    return tracer.create_proxy("call_method", method, (part, *inputs), changed)


def on_jagged(module: nn.Module, x: Any, positions: Any, offset: Any) -> Tensor:
    """A module on x [batch, jagged length, d_model]: each text counted from `offset`.

    `module` takes x [length, d_model] and positions [length].
    """
    if not isinstance(x, Tensor):
        raise TypeError(f"x must be a tensor, got {type(x).__name__}")
    if x.layout != torch.jagged or x.ndim != 3 or x.values().ndim != 2:
        raise ValueError(
            "a nested x must have layout=torch.jagged and shape [batch, jagged "
            "length, d_model]"
        )
    if x.lengths() is not None:  # type: ignore[attr-defined]
        raise ValueError("a jagged x must have no holes between its texts")
    starts = x.offsets()  # type: ignore[attr-defined]
    if positions is None:
        rows = torch.arange(len(x.values()), device=x.device)
        rows = rows - starts[:-1].repeat_interleave(starts.diff())
    elif isinstance(positions, Tensor) and positions.is_nested:
        rows = positions.values()
    else:
        raise ValueError("positions of a jagged x must be jagged as x is")
    values = module(x.values(), positions=rows, offset=offset)
    return torch.nested.nested_tensor_from_jagged(values, starts)
