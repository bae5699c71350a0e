"""What sort of module it is, found by calling it, before anything is judged."""

import contextlib
import inspect
from dataclasses import is_dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pe_lib.check.kinds import (
    BATCH,
    HEADS,
    Caller,
    Kind,
    from_pair,
    of_tables,
    positions_beside,
    returns_bias,
    takes_heads,
    turning,
)
from pe_lib.check.probe import (
    POSITIONS,
    CannotCallError,
    Probe,
    finished,
    lengths_in,
    multiplies,
    noise,
    oriented,
    parameters_of,
)
from pe_lib.check.tables import tables_in
from pe_lib.check.tensors import close, differ
from pe_lib.check.wrapped import (
    Give,
    dims_of,
    fitting,
    from_positions,
    picking,
    there,
    with_positions,
)

AROUND = "computes the encoding from the words around it"


def find_kind(probe: Probe) -> Kind:
    """Find out what a module is; CannotCallError if it takes nothing we know."""
    cause: Exception | None = None
    first = next(iter(parameters_of(probe.make())), "")
    attempts = [_takes_x, _fitted, takes_heads, _takes_positions, _images]
    attempts += [_with_tokens, returns_bias]
    if "score" in first or "attn" in first:
        attempts.insert(0, returns_bias)
    if "heads" in (probe.takes_axes or ""):
        attempts.insert(0, takes_heads)
    for attempt in attempts:
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
    with contextlib.suppress(Exception):  # four axes are not for it
        return takes_heads(probe) or found
    return found


def _fitted(probe: Probe) -> Kind | None:
    """One that takes x, or queries and keys, in a form that its names tell."""
    forms = _forms(probe)
    x = noise(BATCH, HEADS, probe.few, probe.d_model)
    names = [*parameters_of(probe.make())]
    first = next(iter(names), "")
    for tensors in () if _is_of_words(first) else (2, 1):
        if {*names[:tensors]} & {*POSITIONS}:
            continue
        with contextlib.suppress(Exception):
            if not is_dataclass(probe.call(probe.make(), *[x.clone()] * tensors)):
                return None
            forms = [(lambda module, *x, **more: module(*x, **more), 0)]
    for give, axes in forms:
        fitted = replace(probe, build=fitting(probe.build, give, axes))
        if _is_of_words(first) and not list(probe.make().parameters()):
            fitted = replace(fitted, without_x=True)  # nothing says which dtype
        for attempt in (_takes_x, takes_heads):
            with contextlib.suppress(Exception):
                found = attempt(fitted)
                if found is not None and not (found.probe and found.probe.alike):
                    return found
    return None


def _forms(probe: Probe) -> list[tuple[Give, int]]:
    """The forms in which it may want its input, and how many axes positions have."""
    named = parameters_of(probe.make())
    several = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    needed = [
        p for p in named.values() if p.default is p.empty and p.kind not in several
    ]
    names = [p.name for p in needed] or [*named][: _is_of_words(next(iter(named), ""))]

    def by_name(module: nn.Module, *x: Tensor, **more: Any) -> Any:
        return module(**dict(zip(names, x, strict=True)), **more)

    def packed(module: nn.Module, q: Tensor, k: Tensor, **more: Any) -> Any:
        return module(torch.stack([q, k, k], 2), **more).unbind(2)

    def alike(module: nn.Module, x: Tensor, **more: Any) -> Any:
        # a mask is 1 for the past as well; of ids 0 and 1 may be padding
        mask = "mask" in names[0]
        past = sum(n for n in more.values() if type(n) is int) if mask else 0
        shape = len(x), x.shape[1] + past
        return module(torch.full(shape, 1 if mask else 2, device=x.device), **more)

    if needed and all(p.kind is p.KEYWORD_ONLY for p in needed):
        return [(by_name, 0)]
    if len(names) == 1 and ("qkv" in names[0] or _is_of_words(names[0])):
        return [(packed if "qkv" in names[0] else alike, 0)]
    return []


def _is_of_words(name: str) -> bool:
    """Whether an argument is ids of tokens, or their mask, by its name."""
    return name == "input" or any(n in name for n in ("mask", "input_ids", "tokens"))


def _images(probe: Probe) -> Kind | None:
    """One that takes images [batch, dim, rows, columns], dim last, or sizes."""

    def picture(
        axis: int, module: Any, x: Tensor, *, columns: int = 5, **_: Any
    ) -> Any:
        grid = x.reshape(len(x), -1, columns, x.shape[-1]).movedim(-1, axis)
        return module(grid).movedim(axis, -1).flatten(1, 2)

    def sizes(pair: int, module: Any, x: Tensor, *, mask: Any, columns: int = 5) -> Any:
        shape: Any = len(x[0]) // columns, columns
        output = module(*([] if mask else [x]), *([shape] if pair else shape))
        if mask and output.shape[-1] != x.shape[-1]:
            if not (differ(output, -1) and differ(output, -2)):
                raise TypeError("a bias for queries and keys, maybe")
            output = output.movedim(-3, -1)
        output = there(module, output, x) if mask else output
        return output.reshape(-1, *x.shape[1:]).expand_as(x)

    for give, way, mask in (
        (picture, 1, False), (picture, -1, False),
        (sizes, 0, False), (sizes, 1, False), (sizes, 0, True), (sizes, 1, True),
    ):  # fmt: skip
        with contextlib.suppress(Exception):
            build = fitting(probe.build, partial(give, way, mask=mask))
            found = oriented(replace(probe, build=build, fixed=35, without_x=mask))
            codes = found.codes(found.make(), 35).reshape(7, 5, -1)
            if found.axes == "batch" and not close(codes[1:, 1:], codes[:-1, :-1]):
                kind = _judged(found)
                return replace(kind, name=f"{kind.name}, of images", checks="image")
    return None


def _with_tokens(probe: Probe) -> Kind | None:
    """One that puts tokens of its own before x: what it does with x is looked at."""
    module = probe.make()
    lengths = [n - 1 for n in lengths_in(module, probe.d_model)]
    for length in (probe.few, *lengths):
        x = noise(BATCH, length, probe.d_model)
        with contextlib.suppress(Exception):
            change = probe.call(module, x + 1) - probe.call(module, x)
            more = change.shape[1] - length
            if more > 0 and change[:, more:].any() and not change[:, :more].any():
                build = picking(probe.build, np.s_[:, more:])
                fixed = None if length == probe.few else length
                found = _judged(oriented(replace(probe, build=build, fixed=fixed)))
                return replace(found, name=f"{found.name}, after {more} of its own")
    return None


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
                    evidence=f"x [..., {probe.d_model}] comes back as the first or "
                    f"last columns of [..., {output.shape[-1]}]",
                )
        if arguments and isinstance(output, Tensor):
            return _of_code(
                replace(probe, build=with_positions(probe.build, arguments[0].ndim))
            )
    return _of_code(probe)


def _one_of_several(probe: Probe, output: Any) -> Kind:
    """One that returns several things: the first with a code that tells places."""
    for key in output if isinstance(output, dict) else range(len(output)):
        with contextlib.suppress(Exception):  # another may do
            found = oriented(replace(probe, build=picking(probe.build, key)))
            if not found.alike:
                return _judged(found)
    raise TypeError(f"returned {type(output).__name__}, not a tensor")


def _of_code(probe: Probe) -> Kind | None:
    """One that adds a code to x, or returns it; or one that turns x."""
    found = oriented(probe)
    if found.alike:
        if _looks_around(found):
            return Kind(AROUND, evidence="a change of one word changes what others get")
        turns = turning(found)
        if turns is not None:
            return turns
        masked = finished(replace(found, level=1.0, alike=False, gain=0.0))
        found = found if masked.alike else masked
    return _judged(found)


def _judged(found: Probe) -> Kind:
    """What one does with x that has codes of its own."""
    name = {
        None: "mixes x with the encoding",
        0.0: "returns the encoding",
        1.0: "adds the encoding to x",
    }.get(found.gain, "adds the encoding to a multiple of x")
    if found.gain is None and multiplies(found):
        name = "multiplies x by the encoding"
    return Kind(name, "code", found)


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
    first = next(iter(parameters_of(probe.make())), "")
    if "shape" in first:
        size = fitting(probe.build, lambda module, n: module(torch.Size([1, n])))
        return _takes_positions(replace(probe, build=size))
    if _is_of_words(first) or "score" in first:
        return None
    for given in (torch.arange(few), torch.arange(few)[None], few):
        try:
            output = probe.call(probe.make(), given)
        except Exception:  # another form may do
            continue
        if isinstance(output, Tensor) and output.shape[-2:] == (few, probe.d_model):
            build = from_positions(probe.build, dims_of(given))
            found = oriented(replace(probe, build=build, without_x=True))
            return Kind("takes positions, no x", "code", found)
        dim = probe.d_model
        if getattr(output, "shape", 0) in {(few, 1, dim), (few, 1, 1, dim)}:
            build = fitting(probe.build, lambda module, *x: module(*x).flatten(0, -2))
            return _takes_positions(replace(probe, build=build))
        tables = tables_in(output, probe.d_model)
        if tables is not None and tables.length == few:
            caller = Caller(tensors=0, where=dims_of(given), tables=tables)
            return of_tables(probe, caller)
        if tables is None and isinstance(output, tuple | list | dict):
            # angles and a scale, say
            for key in output if isinstance(output, dict) else range(len(output)):
                one = replace(probe, build=picking(probe.build, key))
                if (several := _takes_positions(one)) is not None:
                    return several
    return None
