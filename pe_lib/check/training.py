"""The check of training mode: dropout, what it leaves behind, and a second step."""

import torch
from torch import Tensor

from pe_lib.check.probe import Probe, noise
from pe_lib.check.report import Finding, Findings, first_line
from pe_lib.check.tensors import close
from pe_lib.check.undisturbed import seed_all


def training(probe: Probe) -> Findings:
    """In training mode: the same encodings, whole, and a second step?"""
    usual = probe.codes(probe.make())
    module = probe.make().train()
    x = probe.blank(probe.length) + 3.0
    evaluated = probe.call(probe.make(), x.clone())
    outputs = []
    for step in range(8):
        seed_all(step)
        outputs.append(probe.call(module, x.clone()))
    after = probe.codes(module.eval())
    if not close(after, usual):
        yield Finding.wrong(
            "Calls in training mode change the encodings for ever, by up to "
            f"{float((after - usual).abs().max()):.2g}.",
            "Something is written into the table, an in-place dropout for instance.",
            "Drop out of the sum, not in place of the table.",
        )
        return
    yield from _judged(probe, x, evaluated, torch.stack(outputs))
    yield from _two_steps(probe)


def _judged(probe: Probe, x: Tensor, evaluated: Tensor, outputs: Tensor) -> Findings:
    """What training mode does to the output for x."""
    if close(outputs[0], evaluated) and close(outputs[1], evaluated):
        yield Finding.fact("Training mode changes nothing.", "It has no dropout.")
        return
    if probe.gain is None:
        yield Finding.fact(
            "Training mode changes the output.",
            "What it drops is unknown: the output is not a multiple of x plus a code.",
        )
        return
    code = evaluated - probe.gain * x
    added = outputs - probe.gain * x
    size = float(code.abs().max())
    if float(added.abs().max()) < 1e-4 * size:
        yield Finding.wrong(
            "In training mode nothing is added to x.",
            "The model learns without positions and gets them afterwards.",
            "Add the encoding in both modes.",
        )
        return
    some = code.abs() > 0.1 * size
    gone = (outputs.abs() < 1e-6).logical_and(some)
    bare = (added.abs() < 1e-5 * max(size, 1.0)).logical_and(some)
    share = float((gone if gone.any() else bare)[:, some].double().mean())
    if not gone.any() and all(close(one, outputs[0]) for one in outputs):
        yield Finding.wrong(
            "In training mode the encodings are others, and the same in each call.",
            "The model learns one encoding per position and meets a different one.",
            "Let the mode decide about dropout alone.",
        )
    elif gone.any() or not bare.any():
        yield Finding.fact(
            f"Dropout after the sum, of about {share:.0%}."
            if gone.any()
            else "In training mode the output is different.",
            "As in the paper, section 5.4." if gone.any() else "Some randomness, say.",
        )
    elif probe.gain == 0:
        yield Finding.fact(f"Dropout of the encoding, of about {share:.0%}.",
            "You add it to x yourself; the paper drops out of the sum.",
        )  # fmt: skip
    else:
        yield Finding.wrong(
            f"Dropout hits the encoding alone (about {share:.0%} of its numbers).",
            "A word keeps its content and loses parts of its position; the paper "
            "drops out of the sum (section 5.4).",
            "return self.dropout(x + encoding).",
        )


def _two_steps(probe: Probe) -> Findings:
    """Two steps of training, the first call ever in inference mode."""
    for first in ("", " after a call in inference mode"):
        module = probe.make()
        if first:
            with torch.inference_mode():
                module(probe.blank(probe.length))
        module.train()
        for step in ("first", "second"):
            x = noise(*probe.blank(probe.length).shape).requires_grad_()
            try:
                output = module(x)
                if isinstance(output, Tensor) and output.requires_grad:
                    torch.autograd.backward((output**2).sum())
            except Exception as error:
                yield Finding.wrong(
                    f"The {step} step{first} fails: {first_line(error)}",
                    "Something kept from an earlier call belongs to that call's "
                    "graph, or to inference mode.",
                    "Keep tables as buffers, computed under torch.no_grad(), and clone "
                    "what was made in inference mode.",
                )
                return
