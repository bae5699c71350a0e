"""What is asked of one answer: its axes, its ends, its gradient, its dtype, ..."""

import contextlib
import functools
import re
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from pe_lib.check.call import (
    FEW,
    Call,
    ForeignError,
    RefusedError,
    ShapeError,
    foreign,
    noise,
    random_states,
    some,
)
from pe_lib.check.kinds import Rotary
from pe_lib.check.reader import NEAR, PLAIN, Maker, Reader
from pe_lib.check.relations import Relation, at, hold
from pe_lib.check.report import ERROR, NOTE, UNCHECKED, WARNING, Found
from pe_lib.check.rotations import told_turns
from pe_lib.check.tables import repeated, told_rows

BASES = re.compile(r"(rope_|rotary_)?(base|theta)")  # names of those of frequencies
LEAST = 16  # columns by which a formula is known
LONG = 2**14  # positions past which no end is tried
ENDS = re.compile(r"pos|seq|ctx|context|(?<!num_)embeddings|(?<!wave)len")  # lengths


def state_dict(r: Reader) -> Found:
    """Are all parameters there before the first call, and the same ones after it?"""
    module = r.copy(r.first)
    there = dict(module.named_parameters())
    for call in (r.call(), r.alone(r.limit)):
        with contextlib.suppress(ForeignError), torch.no_grad():
            r.tensor(module, call)
    if late := [n for n, p in module.named_parameters() if p is not there.get(n)]:
        what = f"Only a call makes {some(late)}: no optimiser that was there before"
        lost = ", and no new module loads its checkpoint" * bool({*late} - {*there})
        yield ERROR, f"{what} trains it{lost}.", "Make all parameters in __init__."


def axes(r: Reader) -> Found:
    """Does each position get numbers of its own, along the right axis?"""
    answer, told = r.answer(r.call()), f"x [{', '.join(r.axes)}]"
    if not r.tells(answer) and r.nature != "product":
        what = f"With {told} all positions are alike."
        fix = f"Count along axis {r.axes.index('length')}, the length."
        wrong = [n for n in (0, 1) if np.ptp(answer, axis=n).max(initial=0) > 1e-6]
        if wrong:
            axis = r.axes[wrong[0]]
            what = f"It counts along the {axis}: with {told} all positions are alike."
            fix = f"{fix[:-1]}, or check a wrapper that transposes x."
        elif not answer.any():
            what = "Nothing is added: all numbers are 0, and no training changes them."
            fix = "Fill the table."
        elif not r.differ(r.answer(r.call(7))[0, 0], answer[0, 0, :7]):
            row = answer[0, 0, 0, :3].round(3)
            what = f"All positions get one row, also of 7 positions: {row} ..."
            fix = "Compute it from the position; angles of whole turns are all alike."
        yield ERROR, what, fix
    elif isinstance(r, Rotary) and len(r.parts) > 1:
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
        meant = any(abs(r.gain - v) <= NEAR for v in (r.width**0.5, *r.numbers))
        what = f"It adds to {r.gain:.3g} times x, not to x."
        yield NOTE if meant else WARNING, what, "Scale once, by sqrt(d_model)."
    if r.count > 1:
        call = r.call(content=3)
        (q, k), both, d = r.inputs(call), r.answer(call), r.width
        queries = r.rows(r.module(call), call, q, 0 * k)[..., :d]
        keys = r.rows(r.module(call), call, 0 * q, k)[..., d:]
        fix = "Return each, rotated by itself."
        if r.differ(keys, both[..., d:]):
            yield ERROR, "The keys depend on the queries.", fix
        if r.differ(queries, both[..., :d]):
            yield ERROR, "The queries depend on the keys.", fix


def finite(r: Reader) -> Found:
    """Are there NaN or infinite numbers?"""
    bad = ~np.isfinite(r.answer(r.alone(r.limit)))
    if bad.any():
        first = int(bad.any(axis=(0, 1, 3)).argmax())
        what = f"{100 * bad.mean():.3g} % is NaN or infinite, first at"
        yield ERROR, f"{what} position {first:,}.", "Compute finite numbers."


def distinct(r: Reader) -> Found:
    """Do two positions get one row?"""
    tells, rows = r.tells(r.answer(r.call())), r.answer(r.alone(r.limit))[0, 0]
    if tells and (again := repeated(rows)):
        later, earlier = again
        what = f"Position {later:,} gets the row of position {earlier:,}."
        fix = "Give each position its own row; where they end, raise an error."
        yield ERROR if later < PLAIN else WARNING, what, fix


def limit(r: Reader) -> Found:
    """Past the end of what it takes: an error, or numbers of its own?"""
    yield from promised(r)
    fix = "Where positions end, raise an error."
    tensors = (*r.first.parameters(), *r.first.buffers(), *r.loose().values())
    sizes = {n for t in tensors for n in t.shape if r.longest < n <= LONG}
    for end in sorted({r.limit} - {r.longest} | sizes):
        for words, call in past(r, end):
            error = r.refusal(call)
            if isinstance(error, ShapeError):
                return (yield ERROR, f"{words}: {error}.", fix)
            if error:
                continue
            row = r.answer(call)[0, 0, -1]
            if not np.isfinite(row).all():
                return (yield ERROR, f"{words}: it comes back not finite.", fix)
            if r.failed & {"axes", "distinct"} or r.refusal(r.alone(end)):
                continue
            again = repeated(np.vstack([r.answer(r.alone(end))[0, 0], row]))
            if again and again[0] == end:
                what = f"{words}: it gets the row of position {again[1]:,}."
                return (yield ERROR if end < PLAIN else WARNING, what, fix)


def promised(r: Reader) -> Found:
    """The length that an argument or attribute names is longer than what it takes."""
    own = [(n, v) for part in r.first.modules() for n, v in vars(part).items()]
    told = [(v, n) for n, v in (*r.maker.said, *own) if type(v) is int]
    ends = [(v, n) for v, n in told if r.limit <= v <= LONG and ENDS.search(n)]
    if not ends or r.limit in {v for v, _ in told}:
        return
    end, name = min(ends)
    first, last, beyond = (r.refusal(r.alone(n)) for n in (r.limit + 1, end, end + 1))
    if not (first and last and beyond):
        return
    reserved = {v + i for v, n in told for i in (0, 1) if re.search("pad|reserv", n)}
    if end - r.limit not in reserved or (beyond.meant and not first.meant):
        what = f"{name} is {end:,}, and of {r.limit + 1:,} positions it raises {first}."
        yield WARNING, what, "As many rows as positions, and those that are reserved."


def past(r: Reader, end: int) -> list[tuple[str, Call]]:
    """Calls whose last position is `end`, of which there are so many."""
    calls = [(f"Of {end + 1:,} positions", r.alone(end + 1))]
    for n in (1, 2):
        call = r.call(n, batch=1, offset=end + 1 - n)
        calls += [(f"Of {n} from offset {end + 1 - n:,}", call)] * bool(r.offset)
    call = r.call(1, batch=1, positions=(end,))
    asked = r.positions and "positions" not in r.failed
    return calls + [(f"Of position {end:,}", call)] * bool(asked)


def generators(r: Reader) -> Found:
    """Does it leave the random states that a program shares as they are?"""
    for mode in ("eval", "train"):
        after = []
        for seed in (1, 2):
            call = r.call(mode=mode, seed=seed)
            r.rows(r.module(call), call)
            after.append(random_states())
        if reset := [n for n in after[0] if after[0][n] == after[1][n]]:
            what = f"forward seeds {some(reset)}: whatever is drawn after it repeats."
            return (yield ERROR, what, "A torch.Generator of its own.")


def writes(r: Reader) -> Found:
    """Does it change what it is given?"""
    if r.wrote:
        what = f"It writes into what it is given: {some(sorted(map(str, r.wrote)))}."
        yield ERROR, what, "x = x + ..., no +=."
    elif r.rewrote:
        what = "It writes into what it returned before: that answer changes."
        yield ERROR, what, "Return a new tensor each time."


def dtype(r: Reader) -> Found:
    """Has what comes back the dtype of x?"""
    plain, wide, low = torch.float32, torch.float64, torch.bfloat16
    asked = (plain, None), (wide, wide), (low, low), (wide, None), (low, None)
    for usual, (kind, cast) in product((r.call(), r.alone(r.limit)), asked):
        call = usual.but(dtype=kind, cast=cast)
        with contextlib.suppress(ForeignError), torch.no_grad():
            found = r.tensor(r.module(call), call).dtype
            wider = found == plain and kind == low and not cast and r.kind == "added"
            if found != kind and not wider:  # that loses nothing, and is usual
                name, other = (f"{k}".removeprefix("torch.") for k in (kind, found))
                after = f"After .to({name}) x" if cast else "x"
                long = f", of {r.limit:,} positions," * (usual.length > r.few)
                what = f"{after} of {name}{long} comes back as {other}."
                last = "encoding" if r.kind == "added" else "rotated"
                return (yield WARNING, what, f"{last}.to(x.dtype), last.")


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
    for history in ((), (r.call(),)):
        call = r.call(device="meta", history=history)
        try:
            module = r.module(call)
            with torch.no_grad(), OneDevice():
                r.tensor(module, call)
        except ForeignError as error:
            told = f"{error}".replace("device type", "")  # of what meta cannot do
            if "device" not in told:
                return (yield UNCHECKED, f"on a device without memory {error}.", "")
            names = f" ({some(r.loose())})" if r.loose() else ""
            what = f"After .to(device) something stays behind{names}: {error}."
            return (yield WARNING, what, "register_buffer; device=x.device.")


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
    other = dict(r.build(seed=5).named_parameters())
    still = [(n, p) for n, p in r.begun.named_parameters() if not p.requires_grad]
    still = [(n, p) for n, p in still if p.numel() > 2 * r.width]  # no few frequencies
    if drawn := [n for n, p in still if not torch.equal(p, other[n])]:
        what = f"Nothing trains {some(drawn)}, and its numbers are drawn at random."
        yield WARNING, what, "requires_grad; freeze=False where it is from_pretrained."


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
        return r.tensor(r.module(call), call, *(2**i * x for i in range(r.count)))

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
            what = f"A small step of x changes the {name} by {want:.3g}, and"
            what = f"{what} the gradient says {got:.3g}."
            return (yield ERROR, what, "Keep detach and no_grad away.")


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
                return (yield ERROR, what, "Keep no graph from call to call.")
        if not any(p.grad is not None and p.grad.any() for p in own.values()):
            what = f"As it begins, no gradient reaches {some(own)}."
            fix = "No .data, detach or no_grad; no product of zeros."
            return (yield ERROR, what, fix)
    parts = module.named_modules()
    linear = {f"{n}.weight" for n, part in parts if isinstance(part, nn.Linear)}
    for name, p in own.items():
        if p.grad is None or not p.grad.any():
            yield WARNING, f"No gradient reaches {name}.", "Is it used?"
        elif p.ndim == 2 and len(p) > 2 and name not in linear:
            yield from _of_rows(r, name, p.grad)


def _of_rows(r: Reader, name: str, slopes: Tensor) -> Found:
    """Rows of one table that have no gradient."""
    idle = (~slopes.any(1)).nonzero().flatten().tolist()
    module = r.copy(r.first)
    with torch.no_grad():
        dict(module.named_parameters())[name][idle] += 1
    other = r.rows(module, r.upto(r.longest))
    told = f"Rows {some(idle)} of the {len(slopes):,} of {name}"
    if r.differ(other, r.answer(r.upto(r.longest))):
        yield WARNING, f"{told} are read, and never trained.", "Train all that is read."


def formula(r: Reader) -> Found:
    """Which formula is it, and is every number accounted for?"""
    yield from told_turns(r) if isinstance(r, Rotary) else told_rows(r)


def flaws(r: Reader) -> list[str]:
    """What is wrong with its formula."""
    vars(r).pop("matrices", None)  # whose columns were put where they belong
    return [what for level, what, _ in formula(r) if level in (ERROR, WARNING)]


def others(r: Reader) -> Iterator[tuple[str, Maker, int]]:
    """Of another base, where an argument says it; and of other widths."""
    half = max(2, r.width // 4 * 2)
    make = r.maker.make if r.maker.is_class else type(r.first)
    for name, v in Maker.of(make, r.width).said:
        if BASES.fullmatch(name) and type(v) in (int, float) and r.width > 2:
            other = functools.partial(make, **{name: 3 * v})
            yield f"{name} {3 * v:g}", Maker(other, r.width), r.width
    for width in (2, half) if isinstance(r, Rotary) else (2, half, 3):
        yield f"width {width}", r.maker, width


def widths(r: Reader) -> Found:
    """At other widths: right, or an error that says so? And beside these as alone?"""
    whole, fix = r.alone(r.limit), "Share nothing, or under a key of all that counts."
    even = not r.differ(r.answer(whole)[:, :, :FEW], r.answer(r.alone(FEW)))
    served = False  # whether another width was
    fresh = min(FEW, r.limit - 6) + 2  # positions of which nothing was asked yet
    for n, (told, maker, width) in enumerate(others(r), fresh):
        call, alike = r.call(n), False
        try:
            other = type(r)(maker, width, r.offset, r.positions, few=n)
            rows = other.answer(other.call())
            served |= maker == r.maker
            if not np.isfinite(rows).all():
                what = f"NaN or infinity at {told}."
                yield WARNING, what, "Refuse such a width, or divide by no zero."
            other.refusal(other.alone(r.limit + n))  # what is kept grows
            if LEAST <= width < r.width and (flaw := flaws(other)) and not flaws(r):
                what = f"Right at width {r.width}, and at {told}: {flaw[0]}"
                yield WARNING, what, "Compute every number from the width it is given."
            alike = maker != r.maker and np.array_equal(rows, r.answer(call))
            alike = alike and np.array_equal(other.answer(whole), r.answer(whole))
        except (ForeignError, RefusedError) as refusal:
            raised = refusal if isinstance(refusal, ForeignError) else refusal.__cause__
            accident = isinstance(raised, ForeignError) and not raised.meant
            if accident and maker == r.maker:
                odd = served and width % 2 and raised is not refusal
                what = f"{told.capitalize()} fails by accident: {raised}."
                yield WARNING if odd else NOTE, what, "Refuse it, or serve it."
        case = f"After a call of another module, of {told}", call, whole, at(slice(n))
        beside = hold(Relation("widths", ERROR, [case], fix), r)
        if even and beside.level:
            return (yield ERROR, beside.what, fix)
        if alike:
            what = f"With {told} it answers as without: unused, or kept for all."
            yield WARNING, what, "Compute from it, and share nothing."
