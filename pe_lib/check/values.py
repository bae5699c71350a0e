"""The checks of what a module computes: which encodings, which dtype, how exactly."""

import math

import numpy as np
import torch
from torch import Tensor

from pe_lib.check import state
from pe_lib.check.given import not_counted_on
from pe_lib.check.longest import ROWS
from pe_lib.check.probe import Probe, first_position
from pe_lib.check.recognition import HARMFUL, describe, lost_by_float32, scale_of, table
from pe_lib.check.report import Finding, Findings, first_line
from pe_lib.check.tensors import as_numpy, name_of

HALVES = {"bfloat16": torch.bfloat16, "float16": torch.float16}


def convention(probe: Probe) -> Findings:
    """Which published convention is it?"""
    match = probe.match
    if match is None or probe.alike:
        yield Finding.fact(
            "Not told: too few different, finite encodings.",
            "Eight rows at least are needed.",
        )
        return
    if match.convention is not None:
        scale = "" if abs(match.scale - 1) < 1e-3 else f", times {match.scale:.4g}"
        if scale and probe.gain and abs(probe.gain - match.scale) < 1e-3:
            scale += ", as x is: the sum is scaled"
        table_size = 2 * probe.d_model  # a trained scale is no trained table
        if any(
            parameter.requires_grad and parameter.numel() >= table_size
            for parameter in probe.make().parameters()
        ):
            scale += ", as trained weights: it may change"
        yield Finding.fact(
            f"Sinusoidal, {describe(match.convention)}{scale}.",
            "Weights trained with one convention are wrong for a different one.",
        )
        return
    gap = (
        f"The nearest published convention ({describe(match.nearest)}) differs by "
        f"up to {match.gap:.2g}."
    )
    if match.degrees:
        yield Finding.wrong(
            "Angles of the paper's formula, taken for degrees.",
            "Everything turns 57 times slower: the fastest pair needs 360 positions "
            "for a turn, and neighbours are hard to tell apart.",
            "Do not convert to degrees: sin and cos take radians.",
        )
    elif match.waves and not match.paired and match.from_zero:
        yield Finding.wrong(
            f"The columns are waves but not pairs of sine and cosine. {gap}",
            "A lone wave has no shift matrix, and the encodings have unequal norms.",
            "Give the cosine of a pair the exponent of its sine: 2j/d for both.",
        )
    elif match.waves and not match.paired:
        twice = _same_columns(probe.codes(probe.make()))
        yield Finding.fact(
            f"Columns {twice[0]} and {twice[1]} are one wave, so a column is lost."
            if twice
            else "Every column is a wave with a frequency and a start of its own.",
            "If pairs were meant, one of the two is a cosine."
            if twice
            else "As random features have them; a shift is no rotation of pairs.",
        )
    elif match.waves:
        yield Finding.fact(
            f"Sines and cosines in pairs, with frequencies of its own. {gap}",
            "A shift is still one matrix. If you meant the paper's formula, check "
            "the exponent.",
        )
    else:
        yield Finding.fact(
            "The encodings are no sinusoids: learned, or of another kind.",
            "The checks of accuracy do not apply.",
        )


def dtype(probe: Probe) -> Findings:
    """Does the output have the dtype of x?"""
    kinds = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
    lost = []
    for kind in kinds:
        module = probe.make().to(kind)
        output = probe.call(module, probe.blank(probe.length, dtype=kind))
        if output.dtype != kind:
            lost.append(f"{name_of(kind)} gives {name_of(output.dtype)}")
    if probe.without_x:
        yield Finding.fact(
            f"It takes no x; after .to(dtype) {', '.join(lost) or 'it follows'}.",
            "What takes positions alone returns what it likes; convert it.",
        )
        return
    if lost:
        yield Finding.wrong(
            f"After .to(dtype), x of that dtype: {', '.join(lost)}.",
            "The next layer refuses a mixture of dtypes, or works in the wider one.",
            "Register the table as a buffer, and return encoding.to(x.dtype).",
        )
    half = probe.blank(probe.length, dtype=torch.bfloat16)
    try:
        found = probe.call(probe.make(), half).dtype
    except RuntimeError as error:
        yield Finding.fact(
            f"A float32 module refuses bfloat16 x: {first_line(error)}",
            "So does every linear layer; autocast converts for both.",
        )
        return
    if found != torch.bfloat16:
        yield Finding.fact(
            f"A float32 module makes {name_of(found)} of bfloat16 x.",
            "Under autocast or mixed precision the rest of the model then gets it.",
        )
    elif not lost:
        yield Finding.fact("The output has the dtype of x.", "As it should.")


def accuracy(probe: Probe) -> Findings:
    """How far from the true sine, at positions from 10^3 to 10^7?"""
    convention = probe.convention
    if convention is None:
        return
    narrow = probe.narrow
    scale = scale_of(as_numpy(narrow.codes(narrow.make(), probe.length)), convention)
    if scale is None:
        yield Finding.fact(
            f"Not told: at d_model = {narrow.d_model} it follows a different one.",
            "Its speeds do not depend on the width as those of the formula do.",
        )
        return
    measured, harmful, lost = [], [], 0
    for position in sorted(
        {10**power for power in range(3, 8)} | {probe.longest.length}
    ):
        codes = probe.longest.ends.get(position)
        if codes is None:
            codes = _codes_before(narrow, position)
        unsure = position * (probe.match.unsure if probe.match else 0)
        if codes is None or unsure > HARMFUL:
            continue
        rows = range(position - len(codes), position)
        truth = scale * table(convention, narrow.d_model, rows)
        error = np.abs(as_numpy(codes) - truth)
        ulps = error / np.spacing(np.abs(truth).astype(np.float32))
        worst = float(error.max()) / abs(scale)
        if lost_by_float32(worst, position):
            lost = lost or position
        elif not worst < HARMFUL + unsure:
            harmful.append(position)
        many = f"{ulps.max():.2f}" if ulps.max() < 10 else f"{ulps.max():,.0f}"
        measured.append(f"{position:,}: {error.max():.1e} ({many} ulp)")
    text = f"Largest error before position {'; '.join(measured)}."
    if harmful:
        yield Finding.wrong(
            f"{text} From {harmful[0]:,} on that shows even in bfloat16.",
            "The angle has been rounded to too few digits: the encoding there is that "
            "of a different position.",
            "Compute angles in float64 and round last, once.",
        )
    else:
        yield Finding.fact(
            text,
            f"float32 angles are lost before {lost:,}: that shows in any dtype."
            if lost
            else "Half an ulp is best; float32 angles lose a digit a power.",
        )


def _codes_before(probe: Probe, position: int) -> Tensor | None:
    """The last encodings below a position, however they can be had."""
    start = position - ROWS
    try:
        if probe.offset and not not_counted_on(probe):
            return probe.codes(probe.make(), ROWS, **{probe.offset: start})
        if probe.positions:
            rows = torch.arange(start, position) + first_position(probe)
            return probe.placed(probe.make(), rows)
    except Exception:  # it takes none so far out
        return None
    return None


def half(probe: Probe) -> Findings:
    """Are encodings still distinct, and right, in 16 bits?"""
    if probe.alike:
        return
    length = probe.fixed or min(2048, probe.longest.length)
    full = probe.codes(probe.make(), length)
    if not torch.isfinite(full).all():
        return  # that is found elsewhere
    rounded = []
    for name, kind in HALVES.items():
        module = probe.make().to(kind)
        x = probe.blank(length, dtype=kind)
        codes = probe.rows(probe.call(module, x), length).float()
        distinct, possible = _distinct(codes), _distinct(full.to(kind).float())
        error = float((codes - full).abs().max()) / _size(full)
        if distinct < possible or not error < 4 * torch.finfo(kind).eps:
            yield Finding.wrong(
                f"{name}: {distinct} different encodings for {length} positions, "
                f"largest error {error:.2g}.",
                f"Positions or angles are counted in {name}, which has only "
                f"{_digits(kind)} bits for whole numbers."
                if distinct < possible
                else f"Frequencies or angles are rounded to {_digits(kind)} bits.",
                "Compute in float32 or more, whatever the dtype of x is; convert the "
                "encoding last.",
            )
        else:
            rounded.append(f"{name}: error {error:.1g}")
    if rounded:
        yield Finding.fact(
            f"{'; '.join(rounded)}.", "Only rounding, and no collisions."
        )
    far = torch.arange(257, 257 + probe.length)
    yield from state.counted_in_half(lambda k: probe.placed(probe.make(), far, k))
    back = probe.codes(probe.make().to(torch.bfloat16).float(), length)
    error = float((back - full).abs().max())
    if not error < 4 * torch.finfo(torch.bfloat16).eps * _size(full):
        yield Finding.wrong(
            f"After .bfloat16().float() the encodings are off by {error:.2g}.",
            "What the encodings are computed from stays rounded.",
            "Keep frequencies out of .to(dtype): compute them again.",
        )
    elif error > 0:
        yield Finding.fact(
            f"After .bfloat16().float() the encodings are off by {error:.1g}.",
            "What was rounded away does not come back: convert a copy, or rebuild.",
        )


def _size(codes: Tensor) -> float:
    """The largest entry; 1 if there is none but zeros."""
    return float(codes.abs().max()) or 1.0


def _distinct(codes: Tensor) -> int:
    return len(np.unique(as_numpy(codes), axis=0))


def _digits(kind: torch.dtype) -> int:
    return 1 - round(math.log2(torch.finfo(kind).eps))


def _same_columns(codes: Tensor) -> tuple[int, int] | None:
    """The first two columns with the same numbers."""
    gaps = (codes[:, :, None] - codes[:, None]).abs().amax(0).fill_diagonal_(1.0)
    same = (gaps < 1e-6).nonzero()
    return (int(same[0, 0]), int(same[0, 1])) if len(same) else None
