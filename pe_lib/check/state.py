"""Checks of all kinds: memory, randomness, dtypes, devices, saving."""

import contextlib
import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from pe_lib.check.added import close
from pe_lib.check.call import ForeignError, foreign, noise, plain_tensors
from pe_lib.check.registry import KINDS, applies_to
from pe_lib.check.report import Findings, error, note, warning

VECTORS = "added", "table", "rotary"
COARSE = 2.0**-6  # of the largest number: bfloat16 rounds to within 2**-9
MAY_MIX = (
    "copy_",
    "_to_copy",
    "index",
    "index_put_",
)  # what takes tensors of two devices
LONG = 1500  # positions: past what bfloat16 counts, and past most short tables


def alike(left: Tensor, right: Tensor) -> bool:
    """Equal but for the last digits of float32."""
    same = left.device == right.device
    return same and close(left.double().numpy(), right.double().numpy())


def answer(
    subject: Any, module: nn.Module, length: int | None = None, **given: Any
) -> Tensor:
    """What a kind of module answers to its usual input, without a gradient."""
    with torch.no_grad():
        found: Tensor = subject.answer(module, length, **given)
    return found.detach()


def show_a_long_input(subject: Any, module: nn.Module) -> None:
    """Let a module see a long input, if it takes one."""
    if subject.fixed:
        return
    for length in (min(20_000, 2**21 // subject.d_model), LONG, 200, 40):
        with contextlib.suppress(ForeignError):
            answer(subject, module, length)
            return


@applies_to(*KINDS)
def random(subject: Any) -> Findings:
    """In evaluation mode: the same for other random numbers?"""
    usual = answer(subject, subject.fresh())
    subject.seed = 7
    other = answer(subject, subject.fresh())
    subject.seed = 1
    if not alike(other, usual):
        yield error(
            "The encodings are random, in evaluation mode too.",
            "Give functional.dropout training=self.training; keep what is drawn once "
            "in a buffer.",
        )


@applies_to(*KINDS)
def state(subject: Any) -> Findings:
    """Does an answer depend on the calls before it?"""
    module, usual = subject.fresh(), answer(subject, subject.fresh())
    answer(subject, module)
    if not alike(answer(subject, module), usual):
        yield error(
            "It counts on from call to call and nothing resets it: the same input gets "
            "other encodings the second time.",
            "Count from 0 in each call, or from an argument.",
        )
        return
    n = subject.length if subject.fixed else 2
    calls = {
        "a longer input": lambda m: show_a_long_input(subject, m),
        "a shorter input": lambda m: answer(subject, m, n),
        "an input in bfloat16": lambda m: answer(subject, m, dtype=torch.bfloat16),
        "a different batch": lambda m: answer(subject, m, batch=5),
    }
    for what, call in calls.items():
        module = subject.fresh()
        with contextlib.suppress(ForeignError):
            call(module)  # type: ignore[no-untyped-call]
        try:
            same = alike(answer(subject, module), usual)
            words = "gets other encodings"
        except ForeignError as refusal:
            same, words = False, f"raises {refusal}"
        if not same:
            level = warning if "bfloat16" in what else error
            yield level(
                f"After {what} the usual input {words}.",
                "Keep nothing from call to call, or under a key of all that counts.",
            )
            return


@applies_to(*VECTORS)
def writes(subject: Any) -> Findings:
    """Does it write into what it is given?"""
    changed: list[bool] = []
    run = subject.run

    def watched(module: nn.Module, inputs: list[Any], named: Any = None) -> Any:
        tensors = [x for x in inputs if isinstance(x, Tensor)]
        before = [x.clone() for x in tensors]
        output = run(module, inputs, named)
        changed.extend(
            not torch.equal(*both) for both in zip(before, tensors, strict=True)
        )
        return output

    subject.run = watched
    answer(subject, subject.fresh(), x=noise(3, subject.length, subject.d_model))
    del subject.run
    if any(changed):
        yield error(
            "It writes into the tensor that it is given.", "x = x + ..., no +=."
        )


@applies_to(*VECTORS)
def dtype(subject: Any) -> Findings:
    """Does what comes back have the dtype of x?"""
    if subject.way.form != "x" or getattr(subject, "tables", ""):
        return
    for cast in (True, False):
        for kind in (torch.float64, torch.bfloat16, torch.float16):
            module = subject.fresh()
            with contextlib.suppress(ForeignError):  # a refusal says so itself
                with foreign():
                    module = module.to(kind) if cast else module
                found = answer(subject, module, dtype=kind).dtype
                if found == kind:
                    continue
                after = f"After .to({_name(kind)}) x" if cast else "x"
                what = f"{after} of {_name(kind)} comes back as {_name(found)}."
                fix = "Convert the encoding last: encoding.to(x.dtype)."
                yield warning(what, fix) if cast else note(what)
                return


def _name(kind: torch.dtype) -> str:
    return str(kind).removeprefix("torch.")


@applies_to(*VECTORS)
def half(subject: Any) -> Findings:
    """In 16 bits: the encodings of float32, rounded?"""
    n = min(subject.limit[0], LONG)
    for kind in (torch.bfloat16, torch.float16):
        for cast in (True, False):
            module = subject.fresh()
            with contextlib.suppress(ForeignError):  # a refusal says so itself
                with foreign():
                    module = module.to(kind) if cast else module
                usual = answer(subject, subject.fresh(), n, batch=1)[0].double()
                found = answer(subject, module, n, batch=1, dtype=kind)[0].double()
                off = (found - usual).abs().amax(1) / max(
                    float(usual.abs().max()), 1e-9
                )
                bad = torch.nonzero(~(off < COARSE))
                if not len(bad):
                    continue
                after = (
                    f"After .to({_name(kind)})" if cast else f"With x of {_name(kind)}"
                )
                at = int(bad[0])
                yield warning(
                    f"{after} position {at:,} is off by {float(off[at]):.2g}: "
                    "positions, frequencies or angles are rounded to 16 bits.",
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
def device(subject: Any) -> Findings:
    """Does all of it move with .to(device)?"""
    plain = [n for n, t in plain_tensors(subject.first).items() if t.numel() > 1]
    module = subject.fresh()
    try:
        with foreign():
            module.to("meta")
        subject.watching = OneDevice
        found = answer(subject, module, device="meta")
        if not found.is_meta and (plain or [*module.parameters(), *module.buffers()]):
            raise ForeignError(RuntimeError("what comes back is on another device"))
    except ForeignError as refusal:
        if "device" in str(refusal) or "meta" in str(refusal):
            held = f" ({', '.join(plain)})" if plain else ""
            yield warning(
                f"After .to(device) something stays behind{held}: {refusal}.",
                'register_buffer("pe", table); device=x.device where tensors are made.',
            )
            return
    finally:
        subject.watching = contextlib.nullcontext
    if plain:
        yield note(f"Tensors that .to() does not move: {', '.join(plain)}.")


@applies_to(*KINDS)
def meta(subject: Any) -> Findings:
    """Built on meta, given memory, filled from a checkpoint: the same encodings?"""
    source, usual = subject.fresh(), answer(subject, subject.fresh())
    strict = torch.are_deterministic_algorithms_enabled()
    try:
        with foreign(), torch.device("meta"):
            module = subject.make(subject.d_model).eval()
        torch.use_deterministic_algorithms(True)  # memory without content is NaN then
        with foreign():
            module.to_empty(device="cpu")
            module.load_state_dict(source.state_dict())
        torch.use_deterministic_algorithms(strict)
        found = answer(subject, module)
    except ForeignError as refusal:
        yield warning(f"Built on meta, then filled, it raises {refusal}.")
        return
    finally:
        torch.use_deterministic_algorithms(strict)
    if not alike(found, usual):
        lost = [n for n, _ in source.named_buffers() if n not in source.state_dict()]
        what = f"{lost[0]} is in no checkpoint" if lost else "something was not filled"
        yield warning(
            f"Built on meta, filled from a checkpoint, it is lost: {what}.",
            "Compute it again after to_empty (override _apply), or in forward.",
        )


@applies_to(*KINDS)
def state_dict(subject: Any) -> Findings:
    """Does its checkpoint load, also after a long input?"""
    module, usual = subject.fresh(), answer(subject, subject.fresh())
    show_a_long_input(subject, module)
    try:
        with foreign():
            saved = copy.deepcopy(module.state_dict())
            new = subject.build(seed=5)
            new.load_state_dict(saved)
        if not alike(answer(subject, new), usual):
            yield warning(
                "Loaded into a new module its checkpoint gives other encodings.",
                "Save what is drawn at random: in a buffer, not in an attribute.",
            )
    except ForeignError as refusal:
        yield warning(
            f"After a long input its checkpoint does not load: {refusal}.",
            "persistent=False for a table that grows.",
        )
