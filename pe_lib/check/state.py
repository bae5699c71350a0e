"""The checks of how a module behaves: moved, saved, called again."""

import copy
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from pe_lib.check.probe import Probe
from pe_lib.check.report import Finding, Findings, first_line
from pe_lib.check.tensors import close, plain_tensors
from pe_lib.check.undisturbed import seed_all
from pe_lib.check.wrapped import inner_name

LOOKUPS = torch.ops.aten.embedding.default, torch.ops.aten.index_select.default


Subject = Any  # a Probe, a Turner or a Bias


def device(probe: Subject) -> Findings:
    """Do its tensors go where the module goes?"""
    plain = plain_tensors(probe.make())
    names = ", ".join(sorted(plain)) or "none"
    devices = ["meta"] + (["cuda"] if torch.cuda.is_available() else [])
    stays: list[str] = []
    untried: list[str] = []
    nowhere = False
    for device in devices:
        try:
            module = probe.make().to(device)
            with _Lookups():  # type: ignore[no-untyped-call]
                output = probe.on(module, device)
            if output is None:
                nowhere = True
            elif output.device.type != device:
                stays.append(f"the output is on {output.device.type}")
            elif device == "cuda" and not close(
                output.cpu(), probe.on(probe.make(), "cpu")
            ):
                stays.append("other values on cuda")
        except Exception as error:
            known = (plain or "device" in str(error)) and not _asks_for_numbers(error)
            (stays if known else untried).append(first_line(error))
    if stays:
        yield Finding.wrong(
            f"After .to(device) something stays behind (plain attributes: {names}): "
            f"{stays[0]}",
            "Module.to moves parameters and buffers, nothing else; the first batch on "
            "a GPU fails.",
            'self.register_buffer("pe", table, persistent=False).'
            if plain
            else "Say where: torch.arange(length, device=x.device).",
        )
    elif nowhere:
        yield Finding.fact(
            "Nothing is registered, so it cannot know where it is.",
            "What it returns has to be moved.",
        )
    elif plain:
        yield Finding.fact(
            f"{names}: a plain attribute, copied to the device of x in each call.",
            "The copies cost time, and .half() does not reach it; a buffer moves once.",
        )
    else:
        what = f"not tried on meta: {untried[0]}" if untried else "it moves as a whole"
        tried = " and ".join(devices)
        yield Finding.fact(f"Tried {tried}: {what}.", "Nothing is left behind.")


class _Lookups(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Refuses rows of one device at places on another: a GPU does, meta does not."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        devices = {x.device.type for x in args if isinstance(x, Tensor)}
        if func in LOOKUPS and len(devices) > 1:
            raise RuntimeError(f"rows are on device {args[0].device}, places elsewhere")
        return func(*args, **(kwargs or {}))


def _asks_for_numbers(error: Exception) -> bool:
    """Whether all that is wrong is that tensors on meta hold no numbers."""
    text = str(error)
    return any(words in text for words in ("item()", "out of meta", "data-dependent"))


def meta(probe: Subject) -> Findings:
    """Built on the meta device, given memory, loaded from a checkpoint: still right?"""
    source = probe.make()
    usual = probe.codes(source)
    try:
        with torch.device("meta"):
            module = probe.build_anew()
    except Exception as error:
        yield Finding.fact(
            f"It cannot be built on meta: {first_line(error)}",
            "Large models are built there; this one says at once that it is not.",
        )
        return
    try:
        # What to_empty does, with NaN for whatever the memory happens to hold.
        module._apply(_unknown)
        module.load_state_dict(source.state_dict())
        codes = probe.codes(module).cpu()
        right = close(codes, usual)
        what = "the encodings are whatever the memory held"
    except Exception as error:
        right, what = False, first_line(error)
    if not right:
        yield Finding.wrong(
            f"Built on meta, then to_empty, then the checkpoint: {what}.",
            "Large models are built this way. A non-persistent buffer is in no "
            "checkpoint, so nothing puts its values back.",
            "Compute the table again when it has been moved (override _apply), or from "
            "constants in forward.",
        )
    else:
        held = "the checkpoint" if source.state_dict() else "the module itself"
        yield Finding.fact(
            f"Survives meta and to_empty, by {held}.", "Large models need it."
        )


def _unknown(tensor: Tensor) -> Tensor:
    """Memory with nothing sensible in it."""
    if tensor.is_floating_point() or tensor.is_complex():
        return torch.full(tensor.shape, math.nan, dtype=tensor.dtype)
    largest = 1 if tensor.dtype == torch.bool else torch.iinfo(tensor.dtype).max
    return torch.full(tensor.shape, largest, dtype=tensor.dtype)


def state_dict(probe: Subject) -> Findings:
    """What is in a checkpoint, and does it load again?"""
    module = probe.make()
    usual = probe.codes(module)
    probe.lengthen(module)
    state = module.state_dict()
    fresh = probe.build_anew(seed=1)
    try:
        fresh.load_state_dict(state)
        right = close(probe.codes(fresh), usual)
        what = "the encodings have changed"
    except RuntimeError as error:
        right, what = False, str(error).strip().splitlines()[-1].strip()[:120]
    if not right:
        yield Finding.wrong(
            f"A used module's checkpoint does not load into a new one: {what}",
            "A model that has seen a long input cannot be loaded any more.",
            "Register what can be computed again with persistent=False.",
        )
    elif state:
        tensors = {k: v for k, v in state.items() if isinstance(v, Tensor)}
        entries = ", ".join(
            f"{inner_name(module, name)} {list(v.shape)}" for name, v in tensors.items()
        )
        held = sum(v.numel() for v in tensors.values())
        yield Finding.fact(
            f"Saved: {entries}.",
            "A table in the checkpoint fixes its length: another one does not load."
            if held >= 2 * probe.d_model
            else "Small enough to do no harm.",
        )
    else:
        yield Finding.fact("Empty.", "Checkpoints load with any length.")


def determinism(probe: Subject) -> Findings:
    """The same twice? And without dropout in eval mode?"""
    module = probe.make()
    if not close(probe.codes(module), probe.codes(module)):
        seed_all(0)
        seeded = probe.codes(module)
        seed_all(0)
        why, fix = "Something is kept from call to call.", ""
        if close(probe.codes(module), seeded):
            why = "Validation and inference get noise."
            fix = "Use nn.Dropout, or F.dropout with training=self.training."
        yield Finding.wrong(
            "In eval mode two calls give different encodings.", why, fix
        )
        return
    other = probe.codes(probe.build_anew(seed=1))
    kind = "fixed" if close(other, probe.codes(module)) else "random at first"
    yield Finding.fact(
        f"Two calls agree; the encodings are {kind}.",
        "Random encodings must be saved with the model; fixed ones need not be.",
    )


def counted_in_half(at: Callable[[torch.dtype], Tensor]) -> Findings:
    """Are positions past 256 that it is given counted in the dtype of x?"""
    try:
        exact, rounded = (at(k).float() for k in (torch.float32, torch.bfloat16))
    except Exception:  # it takes no positions, or none so far out
        return
    off = float((rounded - exact).abs().max() / exact.abs().max())
    if not off < 4 * torch.finfo(torch.bfloat16).eps:
        yield Finding.wrong(
            f"With x in bfloat16, positions past 256 that it is given are off by "
            f"{off:.2g}.",
            "They are counted in the dtype of x, which has only 8 bits for them.",
            "Leave positions as integers until they are multiplied in float32.",
        )


def history(subject: Subject) -> Findings:
    """Does an answer depend on earlier calls?"""
    usual, calls = subject.codes(subject.make()), subject.other_calls()
    for words, call in calls.items():
        module = subject.make()
        try:
            call(module)
        except Exception:  # other checks are about this
            continue
        codes = subject.codes(module)
        if codes.dtype != usual.dtype or not close(codes, usual):
            off = float((codes.float() - usual.float()).abs().max())
            yield Finding.wrong(
                f"After {words} the usual input gives other numbers, off by {off:.2g}.",
                "Results depend on what the module has seen before.",
                "Compute it in the call, or make all that it depends on the key of a "
                "cache: length, offset, dtype, device.",
            )
            return
    yield Finding.fact(
        "It does not depend on earlier calls.", f"Tried: {', '.join(calls)}."
    )


def input_(subject: Any) -> Findings:
    """Is the input left as it was?"""
    given = subject.inputs()
    before = copy.deepcopy(given)
    with torch.no_grad():
        subject.make()(*given)
    if not any(
        torch.as_tensor(x != y).any() for x, y in zip(given, before, strict=True)
    ):
        yield Finding.fact("Its input is left unchanged.", "It may be used again.")
    else:
        yield Finding.wrong(
            "It writes into the tensors that it is given.",
            "A second call does it twice; a residual branch sees the change.",
            "Write x = x + ..., not x += ... nor x[..., :half] = ...",
        )


def gradient(probe: Probe) -> Findings:
    """Does the gradient reach x? What is trained?"""
    module = probe.make()
    if probe.gain != 0:
        x = probe.blank(probe.length).requires_grad_()
        output = module(x)
        if output.requires_grad:
            output.sum().backward()
        reached = x.grad is not None and bool(x.grad.abs().sum() > 0)
        if reached and probe.gain is not None:
            assert x.grad is not None
            reached = bool((x.grad - probe.gain).abs().max() < 1e-3)
        if not reached:
            yield Finding.wrong(
                "The gradient does not reach x as it should.",
                "The embeddings below are not trained, and no error says so.",
                "Do not use x.data or x.detach(), nor no_grad around the sum.",
            )
            return
    trained = sum(p.numel() for p in module.parameters() if p.requires_grad)
    yield Finding.fact(
        f"Numbers to be trained: {trained:,}."
        if trained
        else "The gradient reaches x; nothing is trained."
        if probe.gain != 0
        else "Nothing is trained.",
        "A learned table needs this; a fixed one should have no parameters."
        if trained
        else "As it should for a fixed encoding.",
    )
