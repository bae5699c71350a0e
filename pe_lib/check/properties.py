"""What is asked of one answer: its axes, its ends, its gradient, its dtype, ..."""

import contextlib
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from pe_lib.check.call import (
    Array,
    Call,
    ForeignError,
    RefusedError,
    ShapeError,
    foreign,
    noise,
    random_states,
    seed_all,
    some,
)
from pe_lib.check.kinds import Rotary
from pe_lib.check.reader import NEAR, PLAIN, Reader
from pe_lib.check.report import ERROR, NOTE, UNCHECKED, WARNING, Found
from pe_lib.check.rows import repeated

LONG = 2**14  # positions past which no end is tried


def axes(r: Reader) -> Found:
    """Does each position get numbers of its own, along the right axis?"""
    answer, told = r.answer(r.call()), f"x [{', '.join(r.axes)}]"
    if not r.tells(answer) and r.nature != "product":
        what = f"With {told} all positions are alike."
        fix = f"Count along axis {r.axes.index('length')}, the length."
        if np.ptp(answer, axis=0).max(initial=0) > 1e-6:
            what = f"It counts along the batch: with {told} all positions are alike."
            fix = f"{fix[:-1]}, or check a wrapper that transposes x."
        elif not answer.any():
            what = "Nothing is added: all numbers are 0, and no training changes them."
            fix = "Fill the table."
        elif not r.differ(r.answer(r.call(7))[0, 0], answer[0, 0, :7]):
            row = some([f"{n:.3g}" for n in answer[0, 0, 0]])
            what = f"All positions get one row, also of 7 positions: {row}."
            fix = "Compute it from the position; angles of whole turns are all alike."
        yield ERROR, what, fix
    if isinstance(r, Rotary) and len(r.parts) > 1:
        for name, m in zip(r.parts[:2], r.matrices, strict=False):
            if np.abs(m - m[:1]).max() < 1e-5:
                yield ERROR, f"The {name} are not rotated.", "Rotate queries and keys."


def x(r: Reader) -> Found:
    """What becomes of what it is given?"""
    fix = "Return x + encoding."
    if r.nature == "nothing":
        yield ERROR, "The encoding alone comes back, without x.", fix
    elif r.nature == "product":
        yield ERROR, "x is multiplied by the encoding.", fix
    elif abs(r.gain - 1) > NEAR:
        usual = r.width**0.5, *r.numbers
        meant = any(abs(r.gain - v) <= NEAR for v in usual)
        what = f"It adds to {r.gain:.3g} times x, not to x."
        yield NOTE if meant else WARNING, what, "Scale once, by sqrt(d_model)."
    if r.count > 1:
        call = r.call(content=3)
        q, k = r.inputs(call)
        both, d = r.answer(call), r.width
        keys, queries = (
            r.rows(r.module(call), call, *z) for z in ((0 * q, k), (q, 0 * k))
        )
        fix = "Return each, rotated by itself."
        if r.differ(keys[..., d:], both[..., d:]):
            yield ERROR, "The keys depend on the queries.", fix
        if r.differ(queries[..., :d], both[..., :d]):
            yield ERROR, "The queries depend on the keys.", fix


def finite(r: Reader) -> Found:
    """Are there NaN or infinite numbers?"""
    bad = ~np.isfinite(r.answer(r.alone(r.limit)))
    if bad.any():
        first = int(bad.any(axis=(0, 1, 3)).argmax())
        what = (
            f"{100 * bad.mean():.3g} % is NaN or infinite, first at position {first:,}."
        )
        yield ERROR, what, "Compute finite numbers."


def distinct(r: Reader) -> Found:
    """Do two positions get one row?"""
    if not r.tells(r.answer(r.call())):
        return
    if "finite" in r.failed:
        return (yield UNCHECKED, "what is not finite comes first.", "")
    rows = r.answer(r.alone(r.limit))[0, 0]
    if again := repeated(rows):
        later, earlier = again
        what = f"Position {later:,} gets the row of position {earlier:,}."
        fix = "Give each position its own row; where they end, raise an error."
        yield ERROR if later < PLAIN else WARNING, what, fix


def limit(r: Reader) -> Found:
    """Past the end of what it takes: an error, or numbers of its own?"""
    fix = "Where positions end, raise an error."
    tensors = (*r.first.parameters(), *r.first.buffers(), *r.loose().values())
    sizes = {n for t in tensors for n in t.shape if r.longest < n <= LONG}
    for end in sorted({r.limit} - {r.longest} | sizes):
        for words, call in past(r, end):
            error = r.refusal(call)
            if isinstance(error, ShapeError):
                came, sent = error.came[0], error.wanted[0]
                told = f"{error}"
                if isinstance(came, list) and len(came) == len(sent) > 1:
                    told = f"{sent[-2]:,} went in, {came[-2]:,} come back"
                return (yield ERROR, f"{words}: {told}.", fix)
            if error:
                continue
            row = r.answer(call)[0, 0, -1]
            level = ERROR if end < PLAIN else WARNING
            if not np.isfinite(row).all():
                return (yield ERROR, f"{words}: it comes back not finite.", fix)
            again = earlier(r, row, end)
            if again is not None and not r.failed & {"axes", "distinct"}:
                what = f"{words}: it gets the row of position {again:,}."
                return (yield level, what, fix)


def past(r: Reader, end: int) -> list[tuple[str, Call]]:
    """Calls whose last position is `end`, of which there are so many."""
    calls = [(f"Of {end + 1:,} positions", r.alone(end + 1))]
    for n in (1, 2):
        call = r.call(n, batch=1, offset=end + 1 - n)
        calls += [(f"Of {n} from offset {end + 1 - n:,}", call)] * bool(r.offset)
    call = r.call(1, batch=1, positions=(end,))
    return calls + [(f"Of position {end:,}", call)] * bool(r.positions)


def earlier(r: Reader, row: Array, end: int) -> int | None:
    """The position before `end` that has this row."""
    if r.refusal(r.alone(end)):
        return None
    rows = r.answer(r.alone(end))[0, 0]
    off = np.abs(rows - row).max(axis=1)
    near = off.min() <= 1e-6 * max(1e-3, np.abs(rows).max())
    return int(off.argmin()) if near else None


def generators(r: Reader) -> Found:
    """Does it leave the random states that a program shares as they are?"""
    fix = "A torch.Generator of its own."
    for mode in ("eval", "train"):
        before, after = [], []
        for seed in (1, 2):
            call = r.call(mode=mode, seed=seed)
            seed_all(seed)
            before.append(random_states())
            with torch.no_grad():
                r.tensor(r.module(call), call)
            after.append(random_states())
        names = [n for n in after[0] if before[0][n] != after[0][n]]
        if reset := [n for n in names if after[0][n] == after[1][n]]:
            what = f"forward seeds {some(reset)}: whatever is drawn after it repeats."
            return (yield ERROR, what, fix)
        if names and mode == "eval":
            what = f"In evaluation it draws from {some(names)}, and nothing needs it."
            return (yield WARNING, what, fix)


def writes(r: Reader) -> Found:
    """Does it change what it is given?"""
    if r.wrote:
        what = "It writes into the tensor that it is given."
        yield ERROR, what, "x = x + ..., no +=."
    elif r.rewrote:
        what = "It writes into what it returned before: that answer changes."
        yield ERROR, what, "Return a new tensor each time."


def dtype(r: Reader) -> Found:
    """Has what comes back the dtype of x?"""
    plain, wide, low = torch.float32, torch.float64, torch.bfloat16
    asked = (plain, None), (wide, wide), (low, low), (wide, None), (low, None)
    for kind, cast in asked:
        call = r.call(dtype=kind, cast=cast)
        with contextlib.suppress(ForeignError), torch.no_grad():
            found = r.tensor(r.module(call), call).dtype
            wider = found == plain and kind == low and not cast and r.kind == "added"
            if found != kind and not wider:  # that loses nothing, and is usual
                name, other = (f"{k}".removeprefix("torch.") for k in (kind, found))
                after = f"After .to({name}) x" if cast else "x"
                what = f"{after} of {name} comes back as {other}."
                yield WARNING, what, "encoding.to(x.dtype), last."
                return


class OneDevice(TorchFunctionMode):
    """Without memory an embedding does not ask where its indices are."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if func is functional.embedding and args[0].device != args[1].device:
            raise RuntimeError("embedding of tensors on more than one device")
        return func(*args, **(kwargs or {}))


def device(r: Reader) -> Found:
    """Does all of it move with .to(device)? One without memory stands for any."""
    why = ""
    for history in ((), (r.call(),)):
        call = r.call(device="meta", history=history)
        try:
            module = r.module(call)
            with torch.no_grad(), OneDevice():
                r.tensor(module, call)
        except ForeignError as error:
            why = f"{error}"
            if "device" not in why.replace("device type", ""):  # of what meta cannot do
                return (yield UNCHECKED, f"on a device without memory {why}.", "")
        if why:
            break
    if why:
        names = f" ({some(r.loose())})" if r.loose() else ""
        what = f"After .to(device) something stays behind{names}: {why}."
        yield WARNING, what, "register_buffer; device=x.device."


def gradient(r: Reader) -> Found:
    """Does the gradient reach x, and all that is trained?"""
    if r.nature != "nothing":
        yield from _of_x(r)
    if meant := [n for n, t in r.loose().items() if t.is_leaf and t.requires_grad]:
        what = f"No optimiser trains {some(meant)}, and no checkpoint holds it."
        yield ERROR, what, "nn.Parameter, nn.ParameterList."
    own = {n: p for n, p in r.first.named_parameters() if p.requires_grad}
    if own and r.trained:
        yield from _of_trained(r)
    elif own:
        what = f"Nothing depends on what is trained: {some(own)}."
        yield WARNING, what, "Compute from it in forward, not once in __init__."


def _backward(y: Tensor) -> None:
    """What training does with an answer."""
    with foreign():
        if y.requires_grad:
            torch.autograd.backward((y * noise(*y.shape)).sum())


def _of_x(r: Reader) -> Found:
    """Along a small step of x the output changes as its gradient says."""
    call = r.call(content=3)
    x = r.x(call).requires_grad_()
    step = 1e-3 * noise(*x.shape, seed=9)

    def answer(x: Tensor) -> Tensor:
        given = [2**i * x for i in range(r.count)]
        return r.tensor(r.module(call), call, *given)

    try:
        _backward(answer(x))
    except ForeignError as error:
        what = f"Training raises {error}."
        return (yield ERROR, what, "Make no tensor in inference mode, or in place.")
    with torch.no_grad():
        there = answer(x + step)
    here = answer(x)
    parts = here.chunk(len(r.parts), -1), there.chunk(len(r.parts), -1)
    for name, one, two in zip(r.parts, *parts, strict=True):
        weights, got = noise(*one.shape), torch.zeros(())
        if one.requires_grad:
            (slope,) = torch.autograd.grad(
                (one * weights).sum(), x, retain_graph=True, materialize_grads=True
            )
            got = (slope * step).sum()
        want = (weights * (two - one)).sum().detach()
        if abs(got - want) > 0.02 * (abs(want) + 0.01):
            what = f"No gradient of the {name} reaches what it is given."
            if got:
                what = f"The gradient of the {name} is wrong: along a small step they"
                what += f" change by {want:.3g}, and it says {got:.3g}."
            yield ERROR, what, "Keep detach and no_grad away."
            return


def _of_trained(r: Reader) -> Found:
    """After two backward passes: which rows have no gradient, though they are read?"""
    call = r.upto(r.longest if r.width < 200 else 512)
    for begun in dict.fromkeys((r.begun, r.first)):
        module = r.copy(begun)
        own = {n: p for n, p in module.named_parameters() if p.requires_grad}
        for _ in range(2):
            out = r.tensor(module, call)
            try:
                _backward(out)
            except ForeignError as error:
                what = f"A second backward pass raises {error}."
                yield ERROR, what, "Keep no graph from call to call."
                return
        if not any(p.grad is not None and p.grad.any() for p in own.values()):
            what = f"As it begins, no gradient reaches {some(own)}."
            yield ERROR, what, "No .data, detach or no_grad; no product of zeros."
            return
    parts = module.named_modules()
    linear = {f"{n}.weight" for n, part in parts if isinstance(part, nn.Linear)}
    for name, p in own.items():
        if p.grad is None or not p.grad.any():
            yield WARNING, f"No gradient reaches {name}.", "Is it used?"
        elif p.ndim == 2 and len(p) > 2 and name not in linear:
            yield from _of_rows(r, name, p)


def _of_rows(r: Reader, name: str, p: Tensor) -> Found:
    """Rows of one table that have no gradient."""
    assert p.grad is not None
    idle = (~p.grad.any(1)).nonzero().flatten().tolist()
    if not idle:
        return
    module = r.copy(r.first)
    with torch.no_grad():
        dict(module.named_parameters())[name][idle] += 1
    other = r.rows(module, r.upto(r.longest))
    told = f"Rows {some(idle)} of the {len(p):,} of {name}"
    if r.differ(other, r.answer(r.upto(r.longest))):
        yield WARNING, f"{told} are read, and never trained.", "Train all that is read."


def widths(r: Reader) -> Found:
    """At other widths: right, or an error that says so?"""
    if r.failed:
        return (yield UNCHECKED, "what is wrong at this width comes first.", "")
    for width in (2,) if isinstance(r, Rotary) else (2, 3):
        try:
            other = type(r)(r.maker, width, r.offset, r.positions)
            rows = other.answer(other.call())
        except (ForeignError, RefusedError) as refusal:
            raised = refusal if isinstance(refusal, ForeignError) else refusal.__cause__
            if isinstance(raised, ForeignError) and not raised.meant:
                yield NOTE, f"Width {width} fails by accident: {raised}.", ""
            continue
        if not np.isfinite(rows).all():
            what = f"NaN or infinity at width {width}."
            yield WARNING, what, "Refuse such a width, or divide by no zero."
