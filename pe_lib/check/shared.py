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

from pe_lib.check.call import ForeignError, during, foreign, noise
from pe_lib.check.recognise import exactly_repeated
from pe_lib.check.registry import KINDS, applies_to
from pe_lib.check.report import PLAIN, WARNING, Findings, error, note, warning
from pe_lib.check.subject import NEAR, Subject
from pe_lib.check.turns import Turns

VECTORS = "added", "table", "rotary"
ROUNDED = 2.0**-6  # of the largest number: bfloat16 rounds to within 2**-9
LONG = 1500  # positions: past what bfloat16 counts, and past most short tables
BEYOND = 10**6  # a position that no table has
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


@applies_to(*VECTORS)
def order(subject: Subject) -> Findings:
    """Is it said which axis is the length, where it matters?"""
    if subject.doubtful:
        yield warning(
            f"Right for x {subject.way.layout} alone: given the batch first it counts "
            "along the batch, and all positions of a sequence are alike.",
            "Say --axes; where the batch comes first, the length is x.shape[1].",
        )


@applies_to("added", "bias")
def x(subject: Subject) -> Findings:
    """Are x, or scores, that are given returned plus the encoding, or the bias?"""
    what, more = ("scores", "bias") if subject.kind == "bias" else ("x", "encoding")
    gains, fix = subject.gains, f"Return {what} + {more}."
    if gains is None:
        yield error(
            f"What comes back is no sum of {what} and a {more}.",
            f"Check the {more} without what follows it: what else is reported may be "
            "due to this.",
        )
    elif not len(gains):
        return  # all is hidden
    elif abs(gains).max() < NEAR:
        level = warning if subject.kind == "bias" else error
        yield level(f"The {more} alone is returned, without {what}.", fix)
    elif not subject.is_sum:
        yield error(f"What it is given, {what}, is multiplied by the {more}.", fix)
    elif subject.kind == "bias" and abs(gains.max() - 1) > NEAR:
        yield warning(f"The scores are multiplied by {gains.max():.3g} as well.", fix)


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


@applies_to(*VECTORS)
def distinct(subject: Subject) -> Findings:
    """Do two positions get the same row?"""
    grid = isinstance(subject, Turns) and subject.grid and not subject.way.columns
    if not subject.is_told or grid:
        return  # it was told to be a grid because no two are the same
    rows = subject.rows(subject.fresh(), subject.limit)
    again = exactly_repeated(rows)
    if again is None:
        return
    later, more = again[0], ""
    if (rows[later:] == rows[later]).all():
        more = " So do all that follow."
    there, here = (f"position {n:,}" for n in again)
    side = subject.way.columns or (isqrt(len(rows)) if subject.way.fixed else 0)
    if side and len(rows) % side == 0:
        there, here = (f"row {n // side}, column {n % side}" for n in again)
        cells = rows.reshape(-1, side, rows.shape[1])
        for axis, name in enumerate(("row", "column")):
            if np.ptp(cells, axis=axis).max() < 1e-6 * np.abs(rows).max():
                more = f" The {name} makes no difference."
    level = error if later < PLAIN else warning
    yield level(
        f"{there.capitalize()} gets the encoding of {here}.{more}",
        "Give each position its own; where a table ends, raise an error.",
    )


@applies_to(*KINDS)
def prefix(subject: Subject) -> Findings:
    """Are the first positions the same in a shorter input, and in a longer one?"""
    if subject.way.fixed or not subject.is_told:
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
        what = f"In an input of length {length} {how}."
        if length == longest and subject.kind == "rotary":
            yield note(f"{what} Are they scaled?")
            return
        if length <= n and not subject.differ(part, whole[n - length :]):
            what = "It counts from the end of the input."
        elif length > 1 and not subject.differ(part[-1:], whole[-1:]):
            what = "Encodings depend on the length: the last one is always the same."
        yield error(what, "Compute from positions 0, 1, 2, ... alone.")
        return


@applies_to(*VECTORS)
def batch(subject: Subject) -> Findings:
    """Does it matter how many sequences, or heads, there are?"""
    if "batch" not in subject.way.layout.axes or not subject.is_told:
        return
    for size, heads in ((1, 2), (2, 2), (5, 2), (3, 1)):
        what = f"With {heads} heads" if heads == 1 else f"In a batch of {size}"
        with during(what), torch.no_grad():
            found = subject.answer(subject.fresh(), batch=size, heads=heads)
        for sequence in found.double().numpy():
            if how := subject.differ(sequence, subject.usual):
                fix = "Take the length from the axis of the length."
                yield error(f"{what} {how}.", fix)
                return


@applies_to(*VECTORS)
def positions(subject: Subject) -> Findings:
    """Where positions are given, does each get its own?"""
    named, form = subject.positions_argument, subject.way.form
    name = named or form
    if form == "length" or not (named or "positions" in form):
        yield note("No argument for positions, which packed and padded batches need.")
        return
    at, usual = torch.arange(subject.length), subject.usual
    with during(f"{name} = {len(at) - 1}, ..., 1, 0"):
        for start in (0, 1, 2):  # what it calls the first position
            rows = subject.rows(subject.fresh(), at=at + start)
            if not subject.differ(rows, usual):
                at = at + start
                break
        found = subject.rows(subject.fresh(), at=at.flip(0))
    how = subject.differ(found, usual[::-1])
    if how and not named and not subject.differ(found, usual):
        yield note("Of its argument it takes the length alone.")
        return
    if how:
        yield error(
            f"{name} = {len(at) - 1}, ..., 1, 0 is not followed: {how}.",
            f"Compute from {name}, in whatever order they come.",
        )
        return
    with contextlib.suppress(ForeignError), torch.no_grad():  # or one row for all
        both = torch.stack([at, at.flip(0)])
        pair = subject.answer(subject.fresh(), batch=2, at=both)
        if not subject.differ(pair[-1].double().numpy(), usual):
            yield error(
                f"{name} [batch, length]: all sequences get those of the first.",
                "Take the row of each sequence.",
            )
    if subject.kind == "table":
        yield from _fractions(subject, name)


def _fractions(subject: Subject, name: str) -> Findings:
    """Of positions between whole numbers, where no table is read: are they cut off?"""
    at = torch.arange(subject.length)
    with contextlib.suppress(ForeignError):  # a refusal says so itself
        subject.rows(subject.fresh(), at=at + BEYOND)
        there = subject.rows(subject.fresh(), at=at + 0.75)
        down, nearest = subject.usual, np.roll(subject.usual, -1, axis=0)
        if any(not subject.differ(there[:-1], rows[:-1]) for rows in (down, nearest)):
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
    used = subject.fresh()
    for start, n in ((0, 3), (1, 1), (3, 1), (1, 2), (3, 2), (0, 3)):
        wanted, why = subject.usual[start : start + n], ""
        try:
            how = subject.differ(subject.rows(used, n, **{name: start}), wanted)
            new = subject.rows(subject.fresh(), n, **{name: start})
            if not subject.differ(new, wanted):
                why = ", once another was asked for: a cache forgets it"
        except ForeignError as refusal:
            how = f"it raises {refusal}"
        if how:
            yield error(
                f"{name} = {start} with {n} positions: {how}{why}.",
                f"Add {name} to the positions, and to the key of any cache.",
            )
            return


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
        "a shorter input": {"length": subject.length if subject.way.fixed else 2},
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
    if not how:
        return
    large = np.abs(usual) > 0.05 * np.abs(usual).max()
    dropped = float((drawn[0][large] == 0).mean())
    if not subject.differ(*drawn):
        yield error(f"In training mode {how}.")
    elif dropped > 0.55:
        yield warning(
            f"Dropout sets {dropped:.0%} of the sum to 0.",
            "nn.Dropout(p) takes the share to drop, not the share to keep.",
        )


@applies_to(*KINDS)
def gradient(subject: Subject) -> Findings:
    """Does the gradient reach x and what is trained?"""
    module, shape = subject.fresh(), (2, subject.length, subject.d_model)
    x, step = noise(*shape).requires_grad_(), noise(*shape, seed=2)
    here = subject.answer(module, x=x)
    if subject.takes_x:
        there = subject.answer(subject.fresh(), x=x.detach() + step)
        parts = (y.chunk(len(subject.names), -1) for y in (here, there))
        for name, start, end in zip(subject.names, *parts, strict=True):
            weights, got = noise(*start.shape), torch.zeros(())
            if start.requires_grad:
                total = (start * weights).sum()
                (slope,) = torch.autograd.grad(
                    total, x, retain_graph=True, materialize_grads=True
                )
                got = (slope * step).sum()
            wanted = (weights * (end - start).detach()).sum()
            if abs(got - wanted) > 0.01 * (abs(wanted) + 1):
                yield error(
                    f"The gradient of the {name} does not reach x as it should.",
                    "Keep detach, .data and torch.no_grad away from x.",
                )
                return
    for output in (here, subject.answer(module, x=x)):
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


def _name(kind: torch.dtype) -> str:
    return str(kind).removeprefix("torch.")


def _cast(subject: Subject, kind: torch.dtype) -> nn.Module:
    with foreign():
        return subject.fresh().to(kind)


@applies_to(*VECTORS)
def dtype(subject: Subject) -> Findings:
    """Does what comes back have the dtype of x?"""
    tables = isinstance(subject, Turns) and subject.tables
    if subject.way.form != "x" or tables:
        return
    for kind in (torch.float64, torch.bfloat16):
        with contextlib.suppress(ForeignError):  # a refusal says so itself
            found = subject.answer(_cast(subject, kind), dtype=kind).dtype
            if found != kind:
                name, other = _name(kind), _name(found)
                yield warning(
                    f"After .to({name}) x of {name} comes back as {other}.",
                    "Convert the encoding last: encoding.to(x.dtype).",
                )
                return


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
            if not (off < ROUNDED).all():  # NaN is not
                bad = (~(off < ROUNDED)).argmax()
                after = f"After .to({_name(kind)})" if cast else f"In {_name(kind)}"
                yield warning(
                    f"{after} position {bad:,} is off by {off[bad]:.2g}: rounded too "
                    "early.",
                    "Compute angles in float32, from numbers that no cast rounds; "
                    "convert the result last.",
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


@applies_to(*KINDS)
def device(subject: Subject) -> Findings:
    """Does all of it move with .to(device)?"""
    plain = subject.plain_tensors()
    module = subject.fresh()
    try:
        with foreign():
            module.to("meta")
        with OneDevice():  # type: ignore[no-untyped-call]
            found = subject.answer(module, device="meta")
        if not found.is_meta and (plain or subject.held):
            raise ForeignError(RuntimeError("what comes back is on another device"))
    except ForeignError as refusal:
        if "device" in str(refusal) or "meta" in str(refusal):
            names = f" ({', '.join(plain)})" if plain else ""
            yield warning(
                f"After .to(device) something stays behind{names}: {refusal}.",
                'register_buffer("pe", table); device=x.device where tensors are made.',
            )


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
            lost = [n for n in subject.held if n not in source.state_dict()]
            what = f"{lost[0]} is in no checkpoint" if lost else "it was not filled"
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
