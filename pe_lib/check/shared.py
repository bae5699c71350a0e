"""Checks of several kinds, each written once: all compare rows of answers."""

import contextlib
import copy
from itertools import product
from math import isqrt
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from pe_lib.check.call import NEAR, ForeignError, Subject, during, foreign, noise
from pe_lib.check.recognise import exactly_repeated
from pe_lib.check.registry import KINDS, applies_to
from pe_lib.check.report import WARNING, Findings, Found, error, note, warning
from pe_lib.check.turns import Turns

VECTORS = "added", "table", "rotary"
ROUNDED = 2.0**-6  # of the largest number: bfloat16 rounds to within 2**-9
LONG = 1500  # positions: past what bfloat16 counts, and past most short tables
FROM_END = "counts from the end of a table"
MAY_MIX = "copy_", "_to_copy", "index", "index_put_"  # take tensors of two devices


@applies_to(*KINDS)
def random(subject: Subject) -> Findings:
    """In evaluation mode: the same for other random numbers?"""
    subject.seed = 7
    other = subject.rows(subject.fresh())
    subject.seed = 1
    if subject.differ(other, subject.usual):
        yield error(
            "The encodings are random, in evaluation mode too.",
            "Give functional.dropout training=self.training; keep what is drawn once "
            "in a buffer.",
        )


@applies_to(*KINDS)
def shape(subject: Subject) -> Findings:
    """Has what comes back as many numbers as it should, in the right order?"""
    if subject.flaw:
        yield error(*subject.flaw)


@applies_to(*VECTORS)
def order(subject: Subject) -> Findings:
    """Is it said which axis is the length, where it matters?"""
    layout = subject.way.layout
    if subject.doubtful:
        yield warning(
            f"Right for x {layout} alone: given the batch first it counts along the "
            "batch, and all positions of a sequence are alike.",
            "Say --axes; where the batch comes first, the length is x.shape[1].",
        )


@applies_to(*KINDS)
def finite(subject: Subject) -> Findings:
    """Are there NaN or infinite numbers?"""
    bad = np.flatnonzero(~np.isfinite(subject.table).all(axis=1))
    if len(bad):
        yield error(
            f"NaN or infinity, first at position {bad[0]}.",
            "Look for a division by 0, or for memory that nothing filled.",
        )


@applies_to(*KINDS)
def formula(subject: Subject) -> Findings:
    """Which formula does it follow?"""
    told = subject.recognised
    if told and told.level == WARNING:
        yield warning(told.hint)
    elif told:
        sentence = f"{told.words[0].upper()}{told.words[1:]}. {told.hint}"
        yield told.level, sentence.strip(), ""
    elif subject.kind != "rotary" and subject.is_told and not subject.has_trained:
        if subject.way.columns:
            yield note("Not checked: the formula of an encoding of rows and columns.")
        else:
            yield warning("It follows no formula that is known here.")


@applies_to(*KINDS)
def distinct(subject: Subject) -> Findings:
    """Do two positions, or two distances that are no neighbours, get the same row?"""
    grid = isinstance(subject, Turns) and subject.grid and not subject.way.columns
    if not subject.is_told or grid:
        return  # it was told to be a grid because no two are the same
    rows = subject.rows(subject.fresh(), subject.limit)
    if subject.kind == "bias":  # runs of one bucket are meant
        rows = rows[rows.any(axis=1)]  # what is hidden is 0
        starts = np.r_[0, np.flatnonzero(np.abs(np.diff(rows, axis=0)).max(1)) + 1]
        again = exactly_repeated(rows[starts])
        if again:
            there, here = starts[list(again)]
            yield error(
                f"At distance {there} the bias is that of distance {here}.",
                "A table that wraps round, or an integer type too small.",
            )
    elif again := exactly_repeated(rows):
        later, earlier = again
        more = " So do all that follow." if (rows[later:] == rows[later]).all() else ""
        there, here = f"Position {later:,}", f"position {earlier:,}"
        side = subject.way.columns or (isqrt(len(rows)) if subject.fixed else 0)
        if side and len(rows) % side == 0:
            there, here = (f"row {n // side}, column {n % side}" for n in again)
            there = there.capitalize()
            cells = rows.reshape(-1, side, rows.shape[1])
            for axis, name in enumerate(("row", "column")):
                if np.ptp(cells, axis=axis).max() < 1e-6 * np.abs(rows).max():
                    more = f" The {name} makes no difference."
        level = error if later < NEAR else warning
        yield level(
            f"{there} gets the encoding of {here}.{more}",
            "Give each position its own; where a table ends, raise an error.",
        )


@applies_to(*KINDS)
def prefix(subject: Subject) -> Findings:
    """Are the first positions the same in a shorter input, and in a longer one?"""
    if subject.fixed or not subject.is_told:
        return
    longest = subject.limit
    n = min(longest, 64)
    whole = subject.rows(subject.fresh(), n)
    for length in (1, 2, 7, n // 2 + 1, longest):
        with during(f"An input of length {length}"):
            part = subject.rows(subject.fresh(), length)
        both = min(n, length)
        how = subject.differ(part[:both], whole[:both])
        if not how:
            continue
        if length == longest and subject.kind == "rotary":
            yield note(
                f"In an input of {longest:,} the angles differ: are they scaled?"
            )
            return
        what = f"In an input of length {length} {how}."
        if length <= n and not subject.differ(part, whole[n - length :]):
            what = "It counts from the end of the input."
        elif length > 1 and not subject.differ(part[-1:], whole[-1:]):
            what = "Encodings depend on the length: the last one is always the same."
        yield error(what, "Count positions from 0, whatever the length.")
        return


@applies_to(*VECTORS)
def batch(subject: Subject) -> Findings:
    """Does it matter how many sequences, or heads, there are?"""
    if "batch" not in subject.way.layout.axes or not subject.is_told:
        return
    for size, heads in ((1, 2), (2, 2), (5, 2), (3, 1)):
        with during(f"A batch of {size}"), torch.no_grad():
            found = subject.answer(subject.fresh(), batch=size, heads=heads)
        for sequence in found.double().numpy():
            if how := subject.differ(sequence, subject.usual):
                what = f"With {heads} heads" if heads == 1 else f"In a batch of {size}"
                yield error(
                    f"{what} {how}.", "Take the length from the axis of the length."
                )
                return


@applies_to(*VECTORS)
def positions(subject: Subject) -> Findings:
    """Where positions are given, does each get its own?"""
    guessed = subject.way.form if "positions" in subject.way.form else ""
    name = subject.positions_argument or guessed
    if not name or subject.way.form == "length":
        yield note("No argument for positions, which packed and padded batches need.")
        return
    n, usual = subject.length, subject.usual
    order = torch.arange(n).flip(0)
    with during(f"{name} = {n - 1}, ..., 1, 0"):
        for start in (0, 1, 2):  # what it calls the first position
            first = subject.rows(subject.fresh(), at=torch.arange(n) + start)
            if not subject.differ(first, usual):
                break
        else:
            start = 0
        found = subject.rows(subject.fresh(), at=order + start)
    how = subject.differ(found, usual[::-1])
    if how and not (subject.positions_argument or subject.differ(found, usual)):
        yield note("Of its argument it takes the length alone.")
    elif how:
        yield error(
            f"{name} = {n - 1}, ..., 1, 0 is not followed: {how}.",
            f"Compute from {name}, in whatever order they come.",
        )
    else:
        yield from _of_each(subject, name, start)
        if subject.kind == "table":
            yield from _fractions(subject, name)


def _of_each(subject: Subject, name: str, start: int) -> Findings:
    """Of two sequences with positions of their own: does each get those?"""
    order = torch.arange(subject.length) + start
    with contextlib.suppress(ForeignError):  # one row of positions for all
        with torch.no_grad():
            both = torch.stack([order, order.flip(0)])
            pair = subject.answer(subject.fresh(), batch=2, at=both)
        if not subject.differ(pair[-1].double().numpy(), subject.usual):
            yield error(
                f"{name} [batch, length]: all sequences get those of the first.",
                "Take the row of each sequence.",
            )


def _fractions(subject: Subject, name: str) -> Findings:
    """Of positions between whole numbers: are they cut off?"""
    whole = torch.arange(subject.length)
    with contextlib.suppress(ForeignError):  # a refusal says so itself
        usual, there = (
            subject.rows(subject.fresh(), at=at) for at in (whole, whole + 0.75)
        )
        rounded = usual, np.roll(usual, -1, axis=0)  # down, or to the nearest
        if any(not subject.differ(there[:-1], rows[:-1]) for rows in rounded):
            yield warning(
                f"{name} = 0.75 is cut to a whole number, without a word.",
                "Compute from t.float(), or refuse what is no integer.",
            )


@applies_to(*VECTORS)
def offset(subject: Subject) -> Findings:
    """Where the first position is given, does it count on from there, as in a cache?"""
    name = subject.offset_argument
    if not name or subject.way.form not in ("x", "length") or not subject.is_told:
        return
    module, usual = subject.fresh(), subject.usual
    for start, n in ((0, 3), (1, 1), (3, 1), (1, 2), (3, 2), (0, 3)):
        wanted, first = usual[start : start + n], {name: start}
        with during(f"{name} = {start} with {n} positions"):
            if refusal := _cut_at_the_length(subject, n, first):
                yield refusal
                return
            how = subject.differ(subject.rows(module, n, **first), wanted)
            anew = subject.differ(subject.rows(subject.fresh(), n, **first), wanted)
        if how:
            why = "" if anew else ", once another was asked for: a cache forgets it"
            yield error(
                f"{name} = {start} with {n} positions: {how}{why}.",
                f"Add {name} to the positions, and to the key of any cache.",
            )
            return


def _cut_at_the_length(
    subject: Subject, length: int, first: dict[str, int]
) -> Found | None:
    """What it amounts to that a slice from the offset ends at the length."""
    ((name, start),) = first.items()
    left = max(length - start, 0)
    try:
        subject.rows(subject.fresh(), length, **first)
    except ForeignError as refusal:
        cut = start and f"{left}, {subject.d_model}]" in str(refusal)
        if subject.way.form == "length" and cut:
            what = f"{name} = {start} with {length} positions gives {left} rows: the "
            return error(
                f"{what}end of the slice forgets the offset.",
                f"pe[{name} : {name} + length]",
            )
    return None


@applies_to(*KINDS)
def state(subject: Subject) -> Findings:
    """Does an answer depend on the calls before it?"""
    module = subject.fresh()
    subject.rows(module)
    if subject.differ(subject.rows(module), subject.usual):
        yield error(
            "It counts on from call to call and nothing resets it: the same input gets "
            "other encodings the second time.",
            "Count from 0 in each call, or from an argument.",
        )
        return
    calls: dict[str, dict[str, Any]] = {
        "a longer input": {"length": subject.limit},
        "a shorter input": {"length": subject.length if subject.fixed else 2},
        "a different batch": {"batch": 5},
        "an input in bfloat16": {"dtype": torch.bfloat16},
    }
    for what, given in calls.items():
        module = subject.fresh()
        with contextlib.suppress(ForeignError):
            subject.rows(module, **given)
        try:
            how = subject.differ(subject.rows(module), subject.usual)
        except ForeignError as refusal:
            how = f"the usual one raises {refusal}"
        if how:
            level = warning if "bfloat16" in what else error
            yield level(
                f"After {what} {how}.",
                "Keep nothing from call to call, or under a key of all that counts.",
            )
            return


@applies_to(*KINDS)
def writes(subject: Subject) -> Findings:
    """Does it write into what it is given?"""
    if subject.wrote:
        yield error(
            "It writes into the tensor that it is given.", "x = x + ..., no +=."
        )


@applies_to(*KINDS)
def training(subject: Subject) -> Findings:
    """In training mode: the same, but for dropout?"""
    x = noise(2, subject.length, subject.d_model)
    given: dict[str, Any] = {"x": x} if subject.takes_x else {}
    usual, drawn = subject.rows(subject.fresh(), **given), []
    for subject.seed in (3, 4):
        with foreign():
            module = subject.fresh().train()
        drawn.append(subject.rows(module, **given))
    subject.seed = 1
    how = subject.differ(drawn[0], usual)
    if how and not subject.differ(*drawn):
        yield error(f"In training mode {how}.")
    elif how and subject.kind == "rotary":
        yield error("In training mode rotations are random.", "No dropout on angles.")
    elif how:
        large = np.abs(usual) > 0.05 * np.abs(usual).max()
        dropped = float((drawn[0][large] == 0).mean())
        if dropped > 0.55:
            yield warning(
                f"Dropout sets {dropped:.0%} of the sum to 0.",
                "nn.Dropout(p) takes the share to drop, not the share to keep.",
            )


@applies_to(*KINDS)
def gradient(subject: Subject) -> Findings:
    """Does the gradient reach x and what is trained?"""
    module, n = subject.fresh(), subject.length
    x = noise(2, n, subject.d_model).requires_grad_()
    step = noise(2, n, subject.d_model, seed=2)
    here, there = (
        subject.answer(m, x=at).chunk(len(subject.names), -1)
        for m, at in ((module, x), (subject.fresh(), x + step))
    )
    for name, start, end in zip(subject.names, here, there, strict=True):
        if not subject.takes_x:
            break
        weights, got = noise(*start.shape), torch.zeros(())
        wanted = (weights * (end - start).detach()).sum()
        if start.requires_grad:
            total = (start * weights).sum()
            (slope,) = torch.autograd.grad(
                total, x, retain_graph=True, allow_unused=True
            )
            got = (slope * step).sum() if slope is not None else got
        if abs(got - wanted) > 0.01 * (abs(wanted) + 1):
            yield error(
                f"The gradient of the {name} does not reach x as it should.",
                "Keep detach, .data and torch.no_grad away from x.",
            )
            return
    for output in (torch.cat(here, -1), subject.answer(module, x=x)):
        with during("A second backward pass"), foreign():
            if output.requires_grad:
                torch.autograd.backward((output * noise(*output.shape)).sum())
    if subject.is_trained:
        yield from _of_trained(module)


def _of_trained(module: nn.Module) -> Findings:
    """After a backward pass: what of that which is trained has no gradient?"""
    trained = {n: p for n, p in module.named_parameters() if p.requires_grad}
    if not any(p.grad is not None and p.grad.any() for p in trained.values()):
        yield error(
            f"No gradient reaches {', '.join([*trained][:3])}.",
            "Keep .data, detach and torch.no_grad away from what is trained.",
        )
    for name, part in module.named_modules():
        if getattr(part, "padding_idx", None) is not None:
            yield warning(
                f"Row {part.padding_idx} of {name} is its padding_idx: never trained.",
                "Leave padding_idx out, or number positions so that none gets it.",
            )


@applies_to(*VECTORS)
def dtype(subject: Subject) -> Findings:
    """Does what comes back have the dtype of x?"""
    tables = isinstance(subject, Turns) and subject.tables
    if subject.way.form != "x" or tables:
        return
    for kind in (torch.float64, torch.bfloat16, torch.float16):
        with contextlib.suppress(ForeignError):  # a refusal says so itself
            found = subject.answer(_cast(subject, kind), dtype=kind).dtype
            if found != kind:
                yield warning(
                    f"After .to({_name(kind)}) x of {_name(kind)} comes back as "
                    f"{_name(found)}.",
                    "Convert the encoding last: encoding.to(x.dtype).",
                )
                return


def _cast(subject: Subject, kind: torch.dtype) -> nn.Module:
    with foreign():
        return subject.fresh().to(kind)


def _name(kind: torch.dtype) -> str:
    return str(kind).removeprefix("torch.")


@applies_to(*KINDS)
def half(subject: Subject) -> Findings:
    """In 16 bits: the rows of float32, rounded?"""
    n = min(subject.limit, LONG)
    usual = subject.rows(subject.fresh(), n)
    largest = np.abs(usual).max(initial=1e-9)
    size = np.maximum(np.abs(usual), 1e-3 * largest) if subject.by_number else largest
    for kind, cast in product((torch.bfloat16, torch.float16), (True, False)):
        with contextlib.suppress(ForeignError):  # a refusal says so itself
            module = _cast(subject, kind) if cast else subject.fresh()
            found = subject.rows(module, n, dtype=kind)
            off = (np.abs(found - usual) / size).max(axis=1)
            bad = np.flatnonzero(~(off < ROUNDED))
            if not len(bad):
                continue
            after = f"After .to({_name(kind)})" if cast else f"In {_name(kind)}"
            yield warning(
                f"{after} position {bad[0]:,} is off by {off[bad[0]]:.2g}: rounded too "
                "early.",
                "Compute angles in float32, from numbers that no cast rounds; convert "
                "the result last.",
            )
            return


class OneDevice(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Refuses tensors of two devices in one operation, as a GPU does."""

    def __torch_dispatch__(
        self, function: Any, types: Any, arguments: Any = (), named: Any = None
    ) -> Any:
        name = function.overloadpacket.__name__
        given = [x for x in tree_leaves((arguments, named)) if isinstance(x, Tensor)]
        devices = {x.device.type for x in given if x.ndim}
        if len(devices) > 1 and name not in MAY_MIX:
            raise RuntimeError(
                f"tensors on devices {' and '.join(sorted(devices))} in {name}"
            )
        return function(*arguments, **(named or {}))


class NoneFromTheEnd(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Refuses negative numbers as an index, which would count from the end."""

    def __torch_dispatch__(
        self, function: Any, types: Any, arguments: Any = (), named: Any = None
    ) -> Any:
        if function.overloadpacket.__name__ == "index":
            lows = [int(x.min()) for x in tree_leaves(arguments[1]) if x.numel()]
            if min(lows, default=0) < 0:
                raise IndexError(f"index {min(lows)} {FROM_END}")
        return function(*arguments, **(named or {}))


@applies_to(*KINDS)
def index(subject: Subject) -> Findings:
    """Is a table read from its end, by a negative index?"""
    subject.watching = NoneFromTheEnd
    try:
        subject.rows(subject.fresh(), subject.limit)
    except ForeignError as refusal:
        if FROM_END in str(refusal):
            yield warning(
                f"A negative index wraps round: {refusal}.",
                "Clip it at 0, or add more.",
            )
    finally:
        subject.watching = contextlib.nullcontext


@applies_to(*KINDS)
def device(subject: Subject) -> Findings:
    """Does all of it move with .to(device)?"""
    plain = [n for n, t in subject.plain_tensors().items() if t.numel() > 1]
    module = subject.fresh()
    held = [*plain, *dict(module.named_parameters()), *dict(module.named_buffers())]
    try:
        with foreign():
            module.to("meta")
        subject.watching = OneDevice
        found = subject.answer(module, device="meta")
        if not found.is_meta and held:
            raise ForeignError(RuntimeError("what comes back is on another device"))
    except ForeignError as refusal:
        if "device" in str(refusal) or "meta" in str(refusal):
            names = f" ({', '.join(plain)})" if plain else ""
            yield warning(
                f"After .to(device) something stays behind{names}: {refusal}.",
                'register_buffer("pe", table); device=x.device where tensors are made.',
            )
    finally:
        subject.watching = contextlib.nullcontext


@applies_to(*KINDS)
def meta(subject: Subject) -> Findings:
    """Built on meta, given memory, filled from a checkpoint: the same encodings?"""
    source = subject.fresh()
    strict = torch.are_deterministic_algorithms_enabled()
    try:
        with foreign(), torch.device("meta"):
            module = subject.make(subject.d_model).eval()
        torch.use_deterministic_algorithms(True)  # memory without content is NaN then
        with foreign():
            module.to_empty(device="cpu")
            module.load_state_dict(source.state_dict())
        torch.use_deterministic_algorithms(strict)
        if subject.differ(subject.rows(module), subject.usual):
            buffers = dict(source.named_buffers())
            lost = [n for n in buffers if n not in source.state_dict()]
            what = "something was not filled" if not lost else f"{lost[0]} is in no "
            what += "checkpoint" if lost else ""
            yield warning(
                f"Built on meta, filled from a checkpoint, it is lost: {what}.",
                "Compute it again after to_empty (override _apply), or in forward.",
            )
    except ForeignError as refusal:
        yield warning(f"Built on meta, then filled, it raises {refusal}.")
    finally:
        torch.use_deterministic_algorithms(strict)


@applies_to(*KINDS)
def state_dict(subject: Subject) -> Findings:
    """Does its checkpoint load, also after a long input?"""
    module = subject.fresh()
    subject.rows(module, subject.limit)
    try:
        with foreign():
            saved = copy.deepcopy(module.state_dict())
        new = subject.build(seed=5)
        with foreign():
            new.load_state_dict(saved)
        if subject.differ(subject.rows(new), subject.usual):
            yield warning(
                "Loaded into a new module its checkpoint gives other encodings.",
                "Save what is drawn at random: in a buffer, not in an attribute.",
            )
    except ForeignError as refusal:
        yield warning(
            f"After a long input its checkpoint does not load: {refusal}.",
            "persistent=False for a table that grows.",
        )
