"""What sort of module it is, found by calling it, before anything is judged."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from pe_lib.check.kinds import (
    BATCH,
    LENGTH,
    Call,
    Kind,
    from_pair,
    name_of_input,
    positions_beside,
    returns_bias,
    takes_heads,
    turned_by,
    turning,
)
from pe_lib.check.probe import (
    Build,
    CannotCallError,
    Probe,
    finished,
    noise,
    oriented,
)


def find_kind(probe: Probe) -> Kind:
    """Find out what a module is; CannotCallError if it takes nothing we know."""
    cause: Exception | None = None
    for attempt in (_takes_x, takes_heads, _takes_positions, returns_bias):
        try:
            found = attempt(probe)
        except Exception as error:
            cause = cause or error
            continue
        if found is not None:
            return found
    if isinstance(cause, CannotCallError):
        raise cause
    raise CannotCallError from cause


def _takes_x(probe: Probe) -> Kind | None:
    """A forward that takes x of three axes, [batch, length, d_model] as a rule."""
    x = torch.stack([noise(LENGTH, probe.d_model)] * BATCH)
    for arguments in positions_beside(probe, x):
        try:
            output = probe.call(probe.make(), x.clone(), *arguments)
        except Exception:  # the probe says it better
            continue
        if isinstance(output, tuple | list) and len(output) == 2:
            return from_pair(probe, output, arguments)
        if isinstance(output, Tensor) and output.ndim == x.ndim:
            wider = output.shape[-1] - probe.d_model
            same = output.shape[:2] == x.shape[:2]
            ends = output[..., : probe.d_model], output[..., wider:]
            if same and wider > 0 and any(torch.equal(end, x) for end in ends):
                return Kind(
                    "appends the encoding to x",
                    f"x [..., {probe.d_model}] comes back as the first or last columns "
                    f"of [..., {output.shape[-1]}]",
                )
        if arguments and isinstance(output, Tensor):
            return _of_code(replace(probe, build=_with_positions(probe.build)))
    return _of_code(probe)


def _of_code(probe: Probe) -> Kind | None:
    """One that adds a code to x, or returns it; or one that turns x."""
    found = oriented(probe)
    if found.alike:
        if _looks_around(found):
            return Kind(
                "computes the encoding from the words around it",
                "with zeros all positions are alike, and a change of one word changes "
                "what its neighbours get",
            )
        turns = turning(found)
        if turns is not None:
            return turns
        masked = finished(replace(found, level=0.5, alike=False, gain=0.0))
        found = found if masked.alike else masked
    name, evidence = {
        None: ("mixes x with the encoding", "f(x) - f(0) is no multiple of x"),
        0.0: ("returns the encoding", "f(x) = f(0)"),
        1.0: ("adds the encoding to x", "f(x) - f(0) = x"),
    }.get(
        found.gain,
        (
            "adds the encoding to a multiple of x",
            f"f(x) - f(0) = {found.gain or 0:g} x",
        ),
    )
    return Kind(name, evidence, "code", found)


def _looks_around(probe: Probe) -> bool:
    """Whether a change at one position is seen at others."""
    x = probe.blank(probe.fixed or LENGTH)
    axis = {"batch": 1, "sequence": 0, "channels": 2, "unbatched": 0}[probe.axes]
    moved = x.clone()
    moved.select(axis, 2).add_(1.0)
    change = probe.call(probe.make(), moved) - probe.call(probe.make(), x)
    changed = [bool(change.select(axis, t).any()) for t in range(x.shape[axis])]
    return sum(changed) > 1


def _takes_positions(probe: Probe) -> Kind | None:
    """A forward that takes positions, or a length, and nothing else."""
    given: Any
    for given in (torch.arange(LENGTH), torch.arange(LENGTH)[None], LENGTH):
        try:
            output = probe.call(probe.make(), given)
        except Exception:  # another form may do
            continue
        if isinstance(output, Tensor) and output.shape[-2:] == (LENGTH, probe.d_model):
            dims = given.ndim if isinstance(given, Tensor) else -1
            found = oriented(replace(probe, build=_from_positions(probe.build, dims)))
            evidence = f"{name_of_input(given)} gives {list(output.shape)}"
            return Kind("takes positions, no x", evidence, "code", found)
        if isinstance(output, tuple | list) and len(output) == 2:
            pair = [part for part in output if isinstance(part, Tensor)]
            if len(pair) == 2 and pair[0].shape[-2] == LENGTH:
                kind = from_pair(probe, output, ())
                if kind is not None and kind.call is not None:
                    return replace(kind, call=_of_positions(given))
    return None


def _of_positions(example: Any) -> Call:
    def call(module: nn.Module, rows: Tensor) -> Any:
        given = torch.arange(len(rows))
        if not isinstance(example, Tensor):
            pair = module(len(rows))
        else:
            pair = module(given if example.ndim == 1 else given[None])
        tables = (part.reshape(-1, part.shape[-1])[: len(rows)] for part in pair)
        return turned_by(rows, *tables)

    return call


class _Wrapped(nn.Module):
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


def _from_positions(build: Build, dims: int) -> Build:
    return lambda d_model: _Wrapped(build(d_model), dims, with_x=False)


def _with_positions(build: Build) -> Build:
    return lambda d_model: _Wrapped(build(d_model), 2, with_x=True)
