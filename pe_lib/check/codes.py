"""The checks of what a module computes: which codes, where, how exactly."""

import math

import numpy as np
import torch
from torch import Tensor

from pe_lib.check.probe import (
    AXES,
    HARMFUL,
    LONG,
    PROBE,
    ROWS,
    Subject,
    as_numpy,
    first_line,
    first_position,
    name_of,
)
from pe_lib.check.recognition import describe, scale_of, table
from pe_lib.check.report import Finding, Findings

HALVES = {"bfloat16": torch.bfloat16, "float16": torch.float16}
# What a module raises that refuses on purpose; anything else is an accident.
REFUSALS = (ValueError, TypeError, NotImplementedError, AssertionError)


def axes(subject: Subject) -> Findings:
    """Which axis is the sequence, and what comes back?"""
    if subject.alike:
        yield Finding.wrong(
            "axes",
            "Every position gets the same code.",
            "The model cannot tell the order of the words, and no error says so.",
            "Look at the slice of the table: pe[:, :length], not pe[:, length].",
        )
        return
    if subject.by_batch:
        yield Finding.wrong(
            "axes",
            "The sequences of a batch get different codes for the same position.",
            "What a word means would depend on its neighbours in the batch.",
            "Make one table [length, d_model] and broadcast it over the batch.",
        )
    hint = {
        "sequence": " If yours is [batch, length, d_model], all words of a sequence "
        "get the same code.",
        "channels": " If yours is [batch, length, d_model], it fails, or gets the "
        "transposed table where length is d_model.",
    }.get(subject.axes, "")
    yield Finding.fact(
        "axes",
        f"x is {AXES[subject.axes]}.{hint}",
        "Another order of the axes raises no error.",
    )
    if subject.filled:
        yield Finding.fact(
            "axes",
            "The parameters start alike; they were drawn at random for the checks.",
            "Before training all positions have the same code.",
        )
    yield _what_comes_back(subject.gain)


def _what_comes_back(gain: float | None) -> Finding:
    if gain is None:
        what, why = (
            "The output is more than a multiple of x plus a code.",
            ("The checks looked at the output for x = 0."),
        )
    elif gain == 0:
        what, why = "It returns the code alone.", "You add it to x yourself."
    elif gain == 1:
        what, why = "It returns x + code.", "Do not add x a second time."
    else:
        what, why = (
            f"It returns {gain:g} x + code.",
            ("Scale the embeddings here or in the model, not twice."),
        )
    return Finding.fact("axes", what, why)


def convention(subject: Subject) -> Findings:
    """Which published convention is it?"""
    match = subject.match
    if match is None or subject.alike:
        yield Finding.fact(
            "convention",
            "Not told: too few different, finite codes.",
            "Eight rows at least are needed.",
        )
        return
    if match.convention is not None:
        scale = "" if abs(match.scale - 1) < 1e-3 else f", times {match.scale:.4g}"
        yield Finding.fact(
            "convention",
            f"Sinusoidal, {describe(match.convention)}{scale}.",
            "Weights trained with one convention are wrong for another.",
        )
        return
    gap = (
        f"The nearest published convention ({describe(match.nearest)}) differs by "
        f"up to {match.gap:.2g}."
    )
    if match.waves and not match.paired:
        yield Finding.wrong(
            "convention",
            f"The columns are waves but not pairs of sine and cosine. {gap}",
            "A lone wave has no shift matrix, and the codes are not equally long.",
            "Give the cosine of a pair the exponent of its sine: 2k/d for both.",
        )
    elif match.waves:
        yield Finding.fact(
            "convention",
            f"Sines and cosines in pairs, with frequencies of its own. {gap}",
            "A shift is still one matrix. If you meant the paper's formula, look at "
            "the exponent.",
        )
    else:
        yield Finding.fact(
            "convention",
            "The codes are no sinusoids: learned, or of another kind.",
            "The checks of accuracy do not apply.",
        )


def widths(subject: Subject) -> Findings:
    """Widths 1, 2, 3 and 7, where formulas divide by zero or do not fit."""
    length = subject.fixed or PROBE
    bad: dict[str, list[int]] = {"nan": [], "crash": [], "refused": []}
    errors: dict[str, str] = {}
    for width in sorted({1, 2, 3, 7, subject.d_model}):
        try:
            other = subject.at_width(width)
            codes = other.codes(other.make(), length)
        except Exception as error:
            deliberate = width < 4 or isinstance(error, REFUSALS)
            kind = "refused" if deliberate else "crash"
            bad[kind].append(width)
            errors[kind] = first_line(error)
            continue
        if not torch.isfinite(codes).all():
            bad["nan"].append(width)
    if bad["nan"]:
        yield Finding.wrong(
            "widths",
            f"NaN or infinity at d_model = {listed(bad['nan'])}.",
            "It spreads through the whole model, and no error says so.",
            "Divide by max(d_model // 2 - 1, 1).",
        )
    if bad["crash"]:
        yield Finding.wrong(
            "widths",
            f"d_model = {listed(bad['crash'])} fails by accident: {errors['crash']}",
            "An odd width has one cosine fewer than sines; the message says nothing "
            "of d_model.",
            "Cut the cosines to d_model // 2 columns, or refuse with a ValueError that "
            "names d_model.",
        )
    if bad["refused"]:
        yield Finding.fact(
            "widths",
            f"d_model = {listed(bad['refused'])} is refused: {errors['refused']}",
            "Other conventions define these widths.",
        )
    if not any(bad.values()):
        yield Finding.fact("widths", "Odd and very small widths work.", _odd(subject))


def _odd(subject: Subject) -> str:
    """What an odd width holds."""
    odd, match = subject.at_width(7), subject.match
    convention = subject.convention
    if match is None or convention is None:
        return "Widths 1, 2, 3 and 7 were tried."
    codes = as_numpy(odd.codes(odd.make(), subject.length))
    rows = range(len(codes))
    wider = table(convention, 8, rows)[:, :7]
    even = np.pad(table(convention, 6, rows), [(0, 0), (0, 1)])
    for ideal, words in (
        (table(convention, 7, rows), "its last sine has no cosine"),
        (even, "its last column is zero"),
        (wider, "it is the next even width without its last column"),
    ):
        if np.abs(codes / match.scale - ideal).max() < HARMFUL:
            return f"Where d_model is odd, {words}."
    return "An odd width has a layout of its own."


def length(subject: Subject) -> Findings:
    """What happens past the longest length?"""
    if subject.fixed is not None:
        yield Finding.wrong(
            "length",
            f"It takes sequences of {subject.fixed} positions and no others.",
            "Real sequences are shorter or longer; padding all of them costs time.",
            "Slice the table to the length of x.",
        )
        return
    reach = subject.reach
    if reach.repeats is not None and not subject.alike:
        later, earlier = reach.repeats
        yield Finding.wrong(
            "length",
            f"Position {later:,} has the same code as position {earlier:,}.",
            "The model cannot tell the two apart, and no error says so.",
            "Refuse what is past the table, or compute it.",
        )
    lost = [n for n, end in reach.ends.items() if not torch.isfinite(end).all()]
    if lost:
        yield Finding.wrong(
            "length",
            f"NaN or infinity at length {lost[0]:,}.",
            "It spreads through the whole model, and no error says so.",
            "Keep angles in float64, and numbers that are divided by away from 0.",
        )
    if reach.refusal:
        yield Finding.fact(
            "length",
            f"It refuses more than {reach.length:,} positions: {reach.refusal}",
            "Choose the length of the table for the longest text you will ever have.",
        )
    else:
        more = "" if reach.length == LONG[-1] else "; more were not tried"
        yield Finding.fact(
            "length",
            f"It took {reach.length:,} positions{more}.",
            "A table that grows has no maximum; that a model copes with longer texts "
            "than it was trained on does not follow.",
        )


def dtype(subject: Subject) -> Findings:
    """Does the output have the dtype of x?"""
    kinds = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
    lost = []
    for kind in kinds:
        module = subject.make().to(kind)
        output = subject.call(module, subject.zeros(subject.length, dtype=kind))
        if output.dtype != kind:
            lost.append(f"{name_of(kind)} gives {name_of(output.dtype)}")
    if lost:
        yield Finding.wrong(
            "dtype",
            f"After .to(dtype), x of that dtype: {', '.join(lost)}.",
            "The next layer refuses a mixture of dtypes, or works in the wider one.",
            "Register the table as a buffer, and return code.to(x.dtype).",
        )
    half = subject.zeros(subject.length, dtype=torch.bfloat16)
    found = subject.call(subject.make(), half).dtype
    if found != torch.bfloat16:
        yield Finding.fact(
            "dtype",
            f"A float32 module makes {name_of(found)} of bfloat16 x.",
            "Under autocast or mixed precision the rest of the model then gets it.",
        )
    elif not lost:
        yield Finding.fact("dtype", "The output has the dtype of x.", "As it should.")


def accuracy(subject: Subject) -> Findings:
    """How far from the true sine, at positions from 10^3 to 10^7?"""
    convention = subject.convention
    if convention is None:
        return
    narrow = subject.narrow
    scale = scale_of(as_numpy(narrow.codes(narrow.make(), subject.length)), convention)
    measured, harmful = [], []
    for position in sorted(
        {10**power for power in range(3, 8)} | {subject.reach.length}
    ):
        codes = subject.reach.ends.get(position)
        if codes is None:
            codes = _codes_before(narrow, position)
        if codes is None:
            continue
        rows = range(position - len(codes), position)
        truth = scale * table(convention, narrow.d_model, rows)
        error = np.abs(as_numpy(codes) - truth)
        ulps = error / np.spacing(np.abs(truth).astype(np.float32))
        if not error.max() < HARMFUL * abs(scale):
            harmful.append(position)
        many = f"{ulps.max():.2f}" if ulps.max() < 10 else f"{ulps.max():,.0f}"
        measured.append(f"{position:,}: {error.max():.1e} ({many} ulp)")
    text = f"Largest error before position {'; '.join(measured)}."
    if harmful:
        yield Finding.wrong(
            "accuracy",
            f"{text} From {harmful[0]:,} on that shows even in bfloat16.",
            "The angle has been rounded to too few digits: the code there is that of "
            "another position.",
            "Compute angles in float64 and round last, once.",
        )
    else:
        yield Finding.fact(
            "accuracy",
            text,
            "Half an ulp is best; float32 angles lose a digit a power.",
        )


def _codes_before(subject: Subject, position: int) -> Tensor | None:
    """The last codes below a position, however they can be had."""
    start = position - ROWS
    try:
        if subject.offset:
            return subject.codes(subject.make(), ROWS, **{subject.offset: start})
        if subject.positions:
            rows = torch.arange(start, position) + first_position(subject)
            return subject.codes(subject.make(), ROWS, **{subject.positions: rows})
    except Exception:  # beyond its reach
        return None
    return None


def half(subject: Subject) -> Findings:
    """Are codes still distinct, and right, in 16 bits?"""
    if subject.alike:
        return
    length = subject.fixed or min(2048, subject.reach.length)
    full = subject.codes(subject.make(), length)
    if not torch.isfinite(full).all():
        return  # that is found elsewhere
    told = []
    for name, kind in HALVES.items():
        module = subject.make().to(kind)
        x = subject.zeros(length, dtype=kind)
        codes = subject.rows(subject.call(module, x), length).float()
        distinct, possible = _distinct(codes), _distinct(full.to(kind).float())
        error = float((codes - full).abs().max()) / _size(full)
        if distinct < possible or not error < 4 * torch.finfo(kind).eps:
            yield Finding.wrong(
                "half",
                f"{name}: {distinct} different codes for {length} positions, largest "
                f"error {error:.2g}.",
                f"Positions or angles are counted in {name}, which has only "
                f"{_digits(kind)} bits for whole numbers.",
                "Compute in float32 or more whatever the dtype; convert the code last.",
            )
        else:
            told.append(f"{name}: error {error:.1g}")
    if told:
        yield Finding.fact(
            "half", f"{'; '.join(told)}.", "Only rounding, and no collisions."
        )
    back = subject.codes(subject.make().bfloat16().float(), length)
    error = float((back - full).abs().max())
    if not error < 4 * torch.finfo(torch.bfloat16).eps * _size(full):
        yield Finding.wrong(
            "half",
            f"After .bfloat16().float() the codes are off by {error:.2g}.",
            "What was rounded is what the codes are computed from, for ever.",
            "Keep frequencies out of .to(dtype): compute them again.",
        )
    elif error > 0:
        yield Finding.fact(
            "half",
            f"After .bfloat16().float() the codes are off by {error:.1g}.",
            "What was rounded away does not come back: convert a copy, or rebuild.",
        )


def _size(codes: Tensor) -> float:
    """The largest entry; 1 if there is none but zeros."""
    return float(codes.abs().max()) or 1.0


def _distinct(codes: Tensor) -> int:
    return len(np.unique(as_numpy(codes), axis=0))


def _digits(kind: torch.dtype) -> int:
    return 1 - round(math.log2(torch.finfo(kind).eps))


def listed(widths: list[int]) -> str:
    """Numbers in words."""
    return ", ".join(map(str, widths))
