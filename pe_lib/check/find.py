"""What sort of module it is, found by calling it, before anything is judged."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from pe_lib.check.kinds import (
    BATCH,
    Caller,
    Kind,
    from_pair,
    name_of_input,
    of_tables,
    positions_beside,
    returns_bias,
    takes_heads,
    turning,
)
from pe_lib.check.probe import (
    CannotCallError,
    Probe,
    finished,
    noise,
    oriented,
)
from pe_lib.check.tables import tables_in
from pe_lib.check.wrapped import dims_of, from_positions, picking, with_positions

AROUND = "computes the encoding from the words around it"


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
            return _unless_of_heads(probe, found)
    if isinstance(cause, CannotCallError):
        raise cause
    raise CannotCallError from cause or TypeError("nothing that we know came back")


def _unless_of_heads(probe: Probe, found: Kind) -> Kind:
    """A rotary module for four axes may take three, and spread over the wrong one."""
    if found.name != AROUND:
        return found
    try:
        return takes_heads(probe) or found
    except Exception:  # four axes are not for it
        return found


def _takes_x(probe: Probe) -> Kind | None:
    """A forward that takes x of three axes, [batch, length, d_model] as a rule."""
    x = torch.stack([noise(probe.few, probe.d_model)] * BATCH)
    for arguments in positions_beside(probe, x):
        try:
            output = probe.call(probe.make(), x.clone(), *arguments)
        except Exception:  # the probe says it better
            continue
        pair = from_pair(probe, output, arguments)
        if pair is not None:
            return pair
        if isinstance(output, tuple | list | dict):
            return _one_of_several(probe, output)
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
            return _of_code(
                replace(probe, build=with_positions(probe.build, arguments[0].ndim))
            )
    return _of_code(probe)


def _one_of_several(probe: Probe, output: Any) -> Kind:
    """One that returns several things: the first with a code that tells places."""
    keys = list(output) if isinstance(output, dict) else range(len(output))
    for key in keys:
        if not isinstance(output[key], Tensor):
            continue
        try:
            found = oriented(replace(probe, build=picking(probe.build, key)))
        except Exception:  # another may do
            continue
        if not found.alike:
            kind = _judged(found)
            evidence = f"it returns {len(output)} things; [{key!r}] is looked at"
            return replace(kind, evidence=f"{evidence}: {kind.evidence}")
    raise TypeError(f"returned {type(output).__name__}, not a tensor")


def _of_code(probe: Probe) -> Kind | None:
    """One that adds a code to x, or returns it; or one that turns x."""
    found = oriented(probe)
    if found.alike:
        if _looks_around(found):
            return Kind(
                AROUND,
                "with zeros all positions are alike, and a change of one word changes "
                "what its neighbours get",
            )
        turns = turning(found)
        if turns is not None:
            return turns
        masked = finished(replace(found, level=0.5, alike=False, gain=0.0))
        found = found if masked.alike else masked
    return _judged(found)


def _judged(found: Probe) -> Kind:
    """What one does with x that has codes of its own."""
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
    x = probe.blank(probe.few)
    axis = {"batch": 1, "sequence": 0, "channels": 2, "unbatched": 0}[probe.axes]
    moved = x.clone()
    moved.select(axis, 2).add_(1.0)
    change = probe.call(probe.make(), moved) - probe.call(probe.make(), x)
    changed = [bool(change.select(axis, t).any()) for t in range(x.shape[axis])]
    return sum(changed) > 1


def _takes_positions(probe: Probe) -> Kind | None:
    """A forward that takes positions, or a length, and nothing else."""
    given: Any
    few = probe.few
    for given in (torch.arange(few), torch.arange(few)[None], few):
        try:
            output = probe.call(probe.make(), given)
        except Exception:  # another form may do
            continue
        if isinstance(output, Tensor) and output.shape[-2:] == (few, probe.d_model):
            build = from_positions(probe.build, dims_of(given))
            found = oriented(replace(probe, build=build, without_x=True))
            evidence = f"{name_of_input(given)} gives {list(output.shape)}"
            return Kind("takes positions, no x", evidence, "code", found)
        if isinstance(output, tuple | list | dict):
            several = _code_among(probe, output, dims_of(given))
            if several is not None:
                return several
        tables = tables_in(output, probe.d_model)
        if tables is not None and tables.length == few:
            caller = Caller(tensors=0, where=dims_of(given), tables=tables)
            return of_tables(probe, caller)
    return None


def _code_among(probe: Probe, output: Any, dims: int) -> Kind | None:
    """A code among several things that positions give: angles and a scale, say."""
    if tables_in(output, probe.d_model) is not None:
        return None
    keys = list(output) if isinstance(output, dict) else range(len(output))
    shape = (probe.few, probe.d_model)
    for key in keys:
        if isinstance(output[key], Tensor) and output[key].shape[-2:] == shape:
            build = from_positions(picking(probe.build, key), dims)
            found = oriented(replace(probe, build=build, without_x=True))
            evidence = f"[{key!r}] of {len(output)} things is {list(shape)}"
            return Kind("takes positions, no x", evidence, "code", found)
    return None
