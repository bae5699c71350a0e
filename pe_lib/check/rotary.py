"""Checks of rotary modules."""

import contextlib
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pe_lib.check.added import close, sentence
from pe_lib.check.call import ForeignError, foreign, noise
from pe_lib.check.registry import applies_to
from pe_lib.check.report import Findings, error, note, warning
from pe_lib.check.turns import CLOSE, Turns, spread

FAR = 0.03  # more than float32 angles move a score within 1,024 positions
WORDS = 6  # that are decoded one by one


def near(left: Tensor, right: Tensor) -> bool:
    """Equal but for what float32 rounds."""
    return torch.allclose(left.detach(), right.detach(), rtol=0, atol=CLOSE)


@applies_to("rotary")
def axes(turns: Turns) -> Findings:
    """Is each position rotated by an angle of its own, along the right axis?"""
    if not turns.is_told:
        yield error("NaN or infinity comes back.", "Look for a division by 0.")
        return
    still = [
        name
        for name, m in zip(turns.names, turns.matrices, strict=True)
        if np.abs(m - m[:1]).max() < 1e-5
    ]
    if still and len(still) < len(turns.names):
        yield error(
            f"The {still[0]} are not rotated.", "Rotate queries and keys alike."
        )
    elif still and turns.said:
        yield error(
            f"With x {turns.way.layout} all positions are rotated alike.",
            "Count along the length: are heads and length in the other order?",
        )
    elif still:
        yield error("Nothing is rotated: all positions are alike.")


@applies_to("rotary")
def linear(turns: Turns) -> Findings:
    """Is each vector multiplied by the matrix of its position, and nothing else?"""
    if not turns.is_told:
        return
    x = noise(1, len(turns.matrices[0]), turns.d_model)
    with torch.no_grad():
        found = turns.parts(turns.fresh(), x.expand(2, -1, -1))
    for name, got, m in zip(turns.names, found, turns.matrices, strict=False):
        wanted = np.einsum("tij,tj->ti", m, x[0].double().numpy())
        if not close(got[0].double().numpy(), wanted):
            yield error(
                f"The {name} are not rotated vector by vector: a constant, or vectors "
                "of other positions, are mixed in."
            )
            return


@applies_to("rotary")
def pairs(turns: Turns) -> Findings:
    """Are columns rotated in pairs, by one angle each?"""
    if turns.is_told and turns.pairs is None:
        turns.misshapen = True
        yield error(
            "More than two columns are mixed: these are no rotations of pairs.",
            "Pair column 2j with 2j + 1, or j with j + d/2, in angles as in columns.",
        )
    if not turns.is_told or not turns.pairs:
        return
    m = turns.matrices[0]
    a, b = np.array(turns.pairs).T
    cosines, sines = (m[:, a, a], m[:, b, b]), (m[:, b, a], m[:, a, b])
    norms = cosines[0] ** 2 + sines[0] ** 2
    alike = np.abs(cosines[0] - cosines[1]).max() < CLOSE
    alike &= np.abs(np.abs(sines[0]) - np.abs(sines[1])).max() < CLOSE
    turns.misshapen = not alike
    if not alike:
        yield error(
            "The two columns of a pair take different angles: the angles are laid out "
            "for halves and the columns paired as neighbours, or the other way round.",
            "Repeat angles as columns are paired: repeat_interleave for neighbours, "
            "cat for halves.",
        )
    elif np.abs(sines[0] - sines[1]).max() < CLOSE < np.abs(sines[0]).max():
        turns.misshapen = True
        yield error(
            "The minus sign of one sine is missing: these are no rotations.",
            "x1 cos - x2 sin, and x1 sin + x2 cos.",
        )
    elif np.ptp(norms, axis=0).max() > CLOSE and len(turns.names) == 1:
        turns.misshapen = True
        yield error(
            "The norm of a vector changes from position to position.",
            "cos**2 + sin**2 must be 1 for each pair.",
        )
    elif abs(norms.mean() - 1) > CLOSE and np.ptp(norms) < CLOSE:
        yield note(f"Vectors are multiplied by {norms.mean() ** 0.5:.4g}.")
    if np.abs(cosines[0][0]).max() < 0.1 < np.abs(sines[0][0]).min():
        yield error("Position 0 is turned by a quarter: sine and cosine are swapped.")


@applies_to("rotary")
def relative(turns: Turns) -> Findings:
    """Do scores depend on the offset alone?"""
    if not turns.is_told or turns.misshapen:  # then scores cannot but differ
        return
    if turns.grid:
        last, width = turns.matrices[0][::-1], turns.grid
        steps = [step for step in (1, width) if step + 1 < len(last)]
        if any(np.abs(last[0] - last[step]).max() < 1e-5 for step in steps):
            yield error("One axis of the grid rotates nothing.")
        return
    n, m = len(turns.matrices[0]), turns.matrices
    off = max(spread(turns.scores(n, seed)) for seed in (0, 2))
    words = "Rotate queries and keys by position times frequency, in float32."
    if off < CLOSE:
        long = min(turns.limit[0], 1024)
        off = spread(turns.scores(long)) if long > n else 0.0
        if off > FAR:
            yield error(
                f"Within {long:,} positions equal offsets differ by {off:.2g}.", words
            )
        return
    what = ""
    if len(m) == 2 and np.abs(m[0] - m[1]).max() > CLOSE:
        what = "queries and keys are rotated by different angles"
        if close(m[0], m[1].transpose(0, 2, 1)):
            what = "the keys are rotated the other way"
    elif turns.fit is not None and off < 0.3 and not turns.fit.candidate.fault:
        what = "the angles, or the cosines and sines, are rounded to 16 bits"
    what = f": {what}" if what else ""
    yield error(f"Scores of one offset differ by up to {off:.2g}{what}.", words)


@applies_to("rotary")
def formula(turns: Turns) -> Findings:
    """Which frequencies, in which pairs?"""
    told = turns.recognised
    if told is None:
        return
    if turns.grid:
        yield note(f"{sentence(told.words)} Not checked: its frequencies.")
        return
    frequencies, t = np.abs(turns.frequencies), np.arange(len(turns.hands))[:, None]
    even = np.exp(1j * t * turns.frequencies)
    if len(frequencies) > 1 and np.ptp(frequencies) < 1e-4 * frequencies.max():
        yield error(
            f"All pairs have one frequency, {frequencies[0]:.4g}.",
            "Pair j has base**(-2j/d).",
        )
    elif turns.fit is not None and turns.fit.candidate.fault:
        yield error(f"It is {told.words}.", "Pair j has base**(-2j/d), in radians.")
    elif np.abs(turns.hands * turns.hands[:1].conj() - even).max() > 0.05:
        yield warning(
            "The angles do not grow evenly with the position.",
            "The angle of a pair is its frequency times the position.",
        )
    else:
        yield note(sentence(told.words))
        if told.base == 1e8:
            yield warning("Base 10000 squared: 2j counted twice in the exponent.")


@applies_to("rotary")
def values(turns: Turns) -> Findings:
    """Are values left as they are?"""
    if turns.tensors == 3:
        x = noise(2, turns.length, turns.d_model)
        with torch.no_grad():
            found = turns.parts(turns.fresh(), x)
        if len(found) > 2 and not near(found[2], x):
            yield error("The values are rotated as well.", "Rotate queries and keys.")


@applies_to("rotary")
def batch(turns: Turns) -> Findings:
    """Do sequences, heads and their numbers make no difference?"""
    x = turns.sample(turns.length, 1)
    with torch.no_grad():
        usual = turns.parts(turns.fresh(), x.expand(3, -1, -1))[0][:1]
        for size in (1, 2, 5) if "batch" in turns.way.layout.axes else ():
            found = turns.parts(turns.fresh(), x.expand(size, -1, -1))[0]
            if not near(found, usual.expand_as(found)):
                yield error(f"In a batch of {size} vectors are rotated otherwise.")
                return
        one = turns.parts(turns.fresh(), x, heads=1)[0][:1]
    if not near(one, usual) and not turns.packed:
        yield error("The number of heads matters: it counts along the heads.")


@applies_to("rotary")
def prefix(turns: Turns) -> Findings:
    """Are the first positions rotated alike in a shorter, and in a longer input?"""
    longest = turns.limit[0]
    if turns.fixed:
        return
    n = min(longest, 64)
    usual = turns.answer(turns.fresh(), n)
    for short in (1, 2, 7, n // 2):
        try:
            found = turns.answer(turns.fresh(), short)
        except ForeignError as refusal:
            yield error(f"An input of length {short} raises {refusal}.")
            return
        if not near(found, usual[:, :short]):
            yield error(
                f"In an input of length {short} the first angles are others.",
                "Compute the angles from the position, counted from 0.",
            )
            return
    found = turns.answer(turns.fresh(), longest, batch=1)
    if not near(found[:, :n], usual[:1]):
        yield note(f"In an input of {longest:,} angles are others: dynamic scaling.")
    elif longest > n and bool((found[0, -1] == found[0, -2]).all()):
        yield warning(
            f"Near position {longest:,} all positions are rotated alike.",
            "Raise an error where the table ends, or compute further.",
        )


@applies_to("rotary")
def distinct(turns: Turns) -> Findings:
    """Is a position rotated as position 0 is?"""
    if not turns.is_told or not turns.pairs or turns.grid:
        return
    m = turns.matrices[0]
    again = np.flatnonzero(np.abs(m - m[:1]).reshape(len(m), -1).max(axis=1) < 1e-5)
    if 1 < len(again) < len(m):
        yield error(f"Position {again[1]} is rotated as position 0 is.")


@applies_to("rotary")
def positions(turns: Turns) -> Findings:
    """Where positions are given, is each vector rotated to its own?"""
    name, n = turns.positions_argument, turns.length
    if not name:
        yield note("No argument for positions, which packed and padded batches need.")
        return
    x, order = turns.sample(n, 2), torch.arange(n).flip(0)
    with torch.no_grad():
        try:
            usual = turns.parts(turns.fresh(), x)
            found = turns.parts(turns.fresh(), x, at=order)
        except ForeignError as refusal:
            yield warning(f"{name} = {n - 1}, ..., 1, 0 raises {refusal}.")
            return
        for part, got, wanted in zip(turns.names, found, usual, strict=False):
            if not near(got.flip(1), wanted):
                yield error(
                    f"{name} = {n - 1}, ..., 1, 0: the {part} are not rotated to them.",
                    f"Compute the angles from {name}, in whatever order they come.",
                )
                return
        if turns.tables:
            return
        with contextlib.suppress(ForeignError):  # one row of positions for all
            both = torch.stack([order.flip(0), order])
            found = turns.parts(turns.fresh(), x, at=both)
            for part, got, wanted in zip(turns.names, found, usual, strict=False):
                if not near(got[1].flip(0), wanted[1]):
                    yield error(
                        f"{name} [batch, length]: the {part} of each sequence are "
                        "rotated to those of the first.",
                        "Take the angles of each sequence, not those of row 0.",
                    )
                    return


@applies_to("rotary")
def offset(turns: Turns) -> Findings:
    """Word by word, as with a cache: the same as all at once?"""
    name = turns.offset_argument
    if not name or turns.without_x:
        return
    x, module = turns.sample(turns.length, 2), turns.fresh()
    usual = turns.parts(turns.fresh(), x)
    for step, start in ((s, t) for s in (1, 2) for t in range(0, WORDS, s)):
        try:
            given: Any = {name: start}
            found = turns.parts(module, x[:, start : start + step], **given)
        except ForeignError as refusal:
            yield error(f"{name} = {start} with {step} positions raises {refusal}.")
            return
        for part, got, wanted in zip(turns.names, found, usual, strict=False):
            if not near(got, wanted[:, start : start + step]):
                yield error(
                    f"{name} = {start} with {step} positions: the {part} are not "
                    f"rotated as from position {start} on.",
                    f"Add {name} to the positions of queries and of keys.",
                )
                return


@applies_to("rotary")
def gradient(turns: Turns) -> Findings:
    """Is the gradient rotated back?"""
    if turns.tables or not turns.is_told:
        return
    n = len(turns.matrices[0])
    sample = noise(2, n, turns.d_model).requires_grad_()
    weights = noise(1, n, turns.d_model, seed=2)
    for i, (name, m) in enumerate(zip(turns.names, turns.matrices, strict=True)):
        output, got = turns.parts(turns.fresh(), sample, heads=1)[i], None
        with foreign():
            if output.requires_grad:
                loss = (output[:1] * weights).sum()
                (got,) = torch.autograd.grad(loss, sample, allow_unused=True)
        wanted = np.einsum("tji,tj->ti", m, weights[0].double().numpy())
        if got is None or not close(got[0].double().numpy(), wanted):
            yield error(
                f"The gradient does not reach the {name} as it should.",
                "Keep torch.no_grad and detach to cosines and sines, away from x.",
            )
            return


@applies_to("rotary")
def training(turns: Turns) -> Findings:
    """In training mode: the same rotations?"""
    usual, drawn = turns.answer(turns.fresh()), []
    for turns.seed in (3, 4):
        drawn.append(turns.answer(turns.in_training()))
    turns.seed = 1
    if not near(drawn[0], drawn[1]):
        yield error("In training mode rotations are random.", "No dropout on angles.")
    elif not near(drawn[0], usual):
        yield error("In training mode vectors are rotated otherwise.")
