"""What sort of module it is, found by calling it, before anything is judged."""

import contextlib
import inspect
from dataclasses import is_dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from pe_lib.check.kinds import (
    BATCH,
    HEADS,
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
    POSITIONS,
    CannotCallError,
    Probe,
    finished,
    noise,
    oriented,
    parameters_of,
)
from pe_lib.check.tables import tables_in
from pe_lib.check.tensors import close
from pe_lib.check.wrapped import (
    Give,
    dims_of,
    fitting,
    from_positions,
    picking,
    with_positions,
)

AROUND = "computes the encoding from the words around it"


def find_kind(probe: Probe) -> Kind:
    """Find out what a module is; CannotCallError if it takes nothing we know."""
    cause: Exception | None = None
    first = next(iter(parameters_of(probe.make())), "")
    attempts = [_takes_x, _fitted, takes_heads, _takes_positions, _images, returns_bias]
    if "score" in first or "attn" in first:
        attempts.insert(0, returns_bias)
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
    try:
        return takes_heads(probe) or found
    except Exception:  # four axes are not for it
        return found


def _fitted(probe: Probe) -> Kind | None:
    """One that takes x, or queries and keys, in a form that its names tell."""
    forms = _forms(probe)
    x = noise(BATCH, HEADS, probe.few, probe.d_model)
    first = next(iter(parameters_of(probe.make())), "")
    for tensors in () if _is_of_words(first) else (2, 1):
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
    names = [p.name for p in needed]
    ids = next((name for name in POSITIONS if name in named), "")

    def by_name(module: nn.Module, *x: Tensor, **more: Any) -> Any:
        return module(**dict(zip(names, x, strict=True)), **more)

    def packed(module: nn.Module, q: Tensor, k: Tensor, **more: Any) -> Any:
        return module(torch.stack([q, k, k], 2), **more).unbind(2)[:2]

    def alike(module: nn.Module, x: Tensor, **more: Any) -> Any:
        # a mask is 1 for the past as well; of ids 0 and 1 may be padding
        mask = "mask" in names[0]
        past = sum(n for n in more.values() if type(n) is int) if mask else 0
        shape = len(x), x.shape[1] + past
        return module(torch.full(shape, 1 if mask else 2, device=x.device), **more)

    def flat(module: nn.Module, q: Tensor, k: Tensor, **more: Any) -> Any:
        at = more.pop(ids, torch.arange(q.shape[2], device=q.device))
        words = [x.transpose(1, 2) for x in (q, k)]
        at = at.expand(words[0].shape[:2]).flatten()
        turned = module(at, *(x.reshape(len(at), -1) for x in words))
        pairs = zip(turned, words, strict=True)
        return tuple(y.reshape(x.shape).transpose(1, 2) for y, x in pairs)

    def on_axes(
        module: nn.Module, q: Tensor, k: Tensor, n: int, last: bool, **more: Any
    ) -> Any:
        at = more.pop(ids, torch.arange(q.shape[-2], device=q.device))
        at = at if at.ndim > 1 else at[None]
        at = at if at.ndim > 2 else at.expand(n, -1, -1)
        return module(q, k, **{ids: at.movedim(0, -1) if last else at}, **more)

    if names and all(p.kind is p.KEYWORD_ONLY for p in needed):
        return [(by_name, 0)]
    if len(names) == 1 and ("qkv" in names[0] or _is_of_words(names[0])):
        return [(packed if "qkv" in names[0] else alike, 0)]
    if ids and len(names) == 3 and names[0] == ids:
        return [(flat, 0)]
    ways = ((3, False), (2, True), (3, True)) if ids and len(names) in (2, 3) else ()
    return [(partial(on_axes, n=n, last=last), n) for n, last in ways]


def _is_of_words(name: str) -> bool:
    """Whether an argument is ids of tokens, or their mask, by its name."""
    return name == "input" or any(n in name for n in ("mask", "input_ids", "tokens"))


def _images(probe: Probe) -> Kind | None:
    """One that takes images [batch, dim, rows, columns], dim last, or their mask."""
    for axis, mask in ((1, False), (-1, False), (1, True)):

        def give(
            module: Any, x: Tensor, columns: int = 5, axis: int = axis, mask: Any = mask
        ) -> Any:
            grid = x.reshape(len(x), -1, columns, x.shape[-1]).movedim(-1, axis)
            grid = torch.zeros_like(grid[:, 0], dtype=torch.bool) if mask else grid
            return module(grid).movedim(axis, -1).flatten(1, 2)

        with contextlib.suppress(Exception):
            build = fitting(probe.build, give)
            image = replace(probe, build=build, fixed=35, without_x=mask)
            found = oriented(image)
            found = finished(replace(found, fixed=35, alike=False))
            codes = found.codes(found.make(), 35).reshape(7, 5, -1)
            if found.axes == "batch" and not close(codes[1:, 1:], codes[:-1, :-1]):
                kind = _judged(found)
                return replace(kind, name=f"{kind.name}, of images", checks="image")
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
    first = next(iter(parameters_of(probe.make())), "")
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
            evidence = f"{name_of_input(given)} gives {list(output.shape)}"
            return Kind("takes positions, no x", evidence, "code", found)
        if isinstance(output, Tensor) and output.shape == (few, 1, probe.d_model):
            build = fitting(probe.build, lambda module, *x: module(*x).squeeze(1))
            return _takes_positions(replace(probe, build=build))
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
