"""Checks of encodings that are added to x, or returned as a table."""

import contextlib

import numpy as np
import torch
from torch import nn

from pe_lib.check.call import CannotCallError, ForeignError, foreign, noise
from pe_lib.check.recognise import SLIPS, Array, exactly_repeated
from pe_lib.check.registry import applies_to
from pe_lib.check.report import Findings, error, note, warning
from pe_lib.check.rows import Rows

CLOSE = 1e-4  # of the largest number: more than float32 rounds
COARSE = 1e-3  # of the scale: more than a table computed in float32 is off
FAR = 0.02  # of the scale: more than float32 angles are off after 8,192 positions
NEAR = 256  # positions: where these end plain use ends
REFUSALS = "ValueError", "AssertionError", "NotImplementedError"  # of a width, by name


def close(left: Array, right: Array) -> bool:
    """Equal but for the last digits of float32."""
    size = max(1e-3, np.abs(np.nan_to_num(right, posinf=0, neginf=0)).max(initial=0))
    same = left.shape == right.shape
    return same and np.allclose(left, right, rtol=0, atol=CLOSE * size, equal_nan=True)


def some(numbers: list[int]) -> str:
    """The first of some numbers, in words."""
    more = f" and {len(numbers) - 4} more" if len(numbers) > 4 else ""
    return ", ".join(f"{n:,}" for n in numbers[:4]) + more


def sentence(words: str) -> str:
    """Words as a sentence."""
    return f"{words[0].upper()}{words[1:]}."


def unreached(module: nn.Module) -> Findings:
    """After a backward pass: has none of what is trained a gradient?"""
    trained = [(n, p) for n, p in module.named_parameters() if p.requires_grad]
    if trained and not any(p.grad is not None and p.grad.any() for _, p in trained):
        yield error(
            f"No gradient reaches {', '.join(n for n, _ in trained[:3])}.",
            "Keep .data, detach and torch.no_grad away from what is trained.",
        )


@applies_to("added", "table")
def axes(rows: Rows) -> Findings:
    """Does each position get an encoding of its own, along the right axis?"""
    with torch.no_grad():
        output = rows.answer(rows.fresh())
    across = bool((output - output[:1]).abs().max() > 1e-6)
    if rows.tells_positions and across:
        yield error(
            "The sequences of a batch get different encodings.",
            "Let the encoding depend on the position alone.",
        )
    elif across:
        yield error(
            f"With x {rows.way.layout} it counts along the batch: all positions of a "
            "sequence get one encoding.",
            "Count along the axis of the length.",
        )
    elif not rows.tells_positions and rows.codes(rows.fresh()).any():
        yield error(
            "Every position gets the same encoding.",
            "Look at the index of the table: pe[:, :length], not pe[:, length].",
        )
    elif not rows.tells_positions:
        yield error(
            "Nothing is added: the encodings are all 0, and no training changes them.",
            "Fill the table.",
        )


@applies_to("added")
def x(rows: Rows) -> Findings:
    """Is what comes back x plus an encoding?"""
    scale, root = rows.scale, rows.d_model**0.5
    if not np.isfinite(rows.table).all():
        return
    if rows.is_sum:
        of = " (the root of d_model)" if abs(scale / root - 1) < COARSE else ""
        if abs(scale - 1) > COARSE:
            yield note(f"x is multiplied by {scale:.4g}{of} before the sum.")
    elif abs(scale) < COARSE:
        yield error(
            "x does not come back: the encoding alone is returned.",
            'Return x + encoding; or check it as kind="table".',
        )
    else:
        sample = noise(3, rows.length, rows.d_model)
        with torch.no_grad():
            ones = rows.answer(rows.fresh(), x=torch.ones_like(sample))
            rest = rows.answer(rows.fresh(), x=sample) - sample * ones
        if float(rest.abs().max()) < COARSE:
            yield error("x is multiplied by the encoding.", "Return x + encoding.")
        else:
            yield error(
                "What comes back is no sum of x and an encoding of the position.",
                "Check the encoding without what follows it: all else that is "
                "reported may be due to this.",
            )


@applies_to("added", "table")
def finite(rows: Rows) -> Findings:
    """Are there NaN or infinite numbers?"""
    bad = np.flatnonzero(~np.isfinite(rows.table).all(axis=1))
    if len(bad):
        yield error(
            f"NaN or infinity, first at position {bad[0]}.",
            "Look for a division by 0, or for memory that nothing filled.",
        )


@applies_to("added", "table")
def formula(rows: Rows) -> Findings:
    """Which formula do the encodings follow?"""
    found, fit = rows.recognised, rows.fit
    if rows.way.columns:
        yield note("Not checked: the formula of an encoding of rows and columns.")
    elif found is None and rows.is_told:
        yield warning("The table follows no formula that is known here.")
    elif found is not None and (fit is None or found.formula == "trained"):
        yield note(sentence(found.words))
    elif found is not None and fit is not None and fit.candidate.fault:
        yield error(
            f"The table is {found.words}.",
            "The columns 2j and 2j + 1 are sine and cosine of position times "
            "10000**(-2j/d), in radians.",
        )
    elif found is not None and fit is not None:
        yield note(f"The table is {found.words}.")
        for base, words in SLIPS.items():
            if abs((found.base or 1) / base - 1) < COARSE:
                yield warning(sentence(words))
        if found.first == "cosine":
            yield warning("Sine and cosine are swapped: the cosine comes first.")


@applies_to("added", "table")
def spoilt(rows: Rows) -> Findings:
    """Are there rows or columns that do not follow the formula of the others?"""
    fit = rows.fit
    if fit is None or rows.is_trained or fit.candidate.fault:
        return
    bad = fit.spoilt_columns
    if fit.spoilt_rows == [0] and not rows.table[0].any():
        yield warning("Position 0 gets zeros, as if it were padding.")
    elif fit.spoilt_rows:
        yield error(f"Positions {some(fit.spoilt_rows)} do not follow the formula.")
    elif bad and not rows.table[:, bad].any():
        yield error(f"Columns {some(bad)} are 0: a part was never filled.")
    elif bad:
        yield error(f"Columns {some(bad)} do not follow the formula of the others.")
    elif fit.gap > COARSE:
        yield warning(
            f"The numbers are off by up to {fit.gap:.1g}: computed or kept in 16 bits.",
            "Compute in float32 or more, and convert the encoding last.",
        )


@applies_to("added", "table")
def columns(rows: Rows) -> Findings:
    """Are there columns that are 0, constant, or there twice?"""
    table = rows.table
    if (
        not rows.is_told
        or rows.way.columns
        or len(table) < 8
        or (rows.fit and not rows.is_trained)
    ):
        return
    size = float(np.abs(table).max())
    zero = np.flatnonzero(np.abs(table).max(axis=0) < 1e-9 * size).tolist()
    constant = np.flatnonzero(np.ptp(table, axis=0) < 1e-6 * size).tolist()
    if zero:
        yield error(f"Columns {some(zero)} are 0: a part was never filled.")
    elif constant:
        yield error(f"Columns {some(constant)} are the same at every position.")
    again = exactly_repeated(np.delete(table, constant, axis=1).T)
    if again:
        kept = np.delete(np.arange(table.shape[1]), constant)
        yield error(f"Columns {kept[again[1]]} and {kept[again[0]]} are the same.")


@applies_to("added", "table")
def distinct(rows: Rows) -> Findings:
    """Do two positions get the same encoding?"""
    if not rows.is_told:
        return
    codes = rows.codes(rows.fresh(), rows.limit[0])
    again = exactly_repeated(codes)
    if again is not None:
        later, earlier = again
        last = bool((codes[later:] == codes[later]).all())
        ends = " So do all that follow." if last else ""
        level = error if later < NEAR else warning
        yield level(
            f"Position {later:,} gets the encoding of position {earlier:,}.{ends}",
            "Give each position its own row; where the table ends, raise an error.",
        )


@applies_to("added", "table")
def prefix(rows: Rows) -> Findings:
    """Do the first positions get the same encodings in a shorter input?"""
    if rows.fixed or not rows.tells_positions:
        return
    whole = rows.table
    for n in (1, 2, 7, len(whole) // 2 + 1):
        try:
            part = rows.codes(rows.fresh(), n)
        except ForeignError as refusal:
            yield error(f"An input of length {n} raises {refusal}.")
            return
        if close(part, whole[:n]):
            continue
        what = f"In an input of length {n} the first positions get other encodings."
        if close(part, whole[len(whole) - n :]):
            what = "It counts from the end of the input."
        elif n > 1 and close(part[-1:], whole[-1:]):
            what = "Encodings depend on the length: the last one is always the same."
        yield error(what, "Compute the encoding from the position, counted from 0.")
        return


@applies_to("added", "table")
def batch(rows: Rows) -> Findings:
    """Does the size of the batch matter?"""
    if "batch" not in rows.way.layout.axes or not rows.tells_positions:
        return
    usual = rows.codes(rows.fresh())
    for size in (1, 2, 5):
        try:
            codes = rows.codes(rows.fresh(), batch=size)
        except ForeignError as refusal:
            yield error(f"A batch of {size} raises {refusal}.")
            return
        if not close(codes, usual):
            yield error(
                f"In a batch of {size} the encodings are others.",
                "Take the length from the axis of the length, not from the batch.",
            )
            return


@applies_to("added", "table")
def far(rows: Rows) -> Findings:
    """Which inputs does it take, and are the last encodings right?"""
    longest, refusal = rows.limit
    if not refusal:
        yield note(f"It took {longest:,} positions; more were not tried.")
    elif not rows.fixed:
        yield note(f"It takes at most {longest:,} positions; then {refusal}")
    fit = rows.fit
    if fit is None or rows.is_trained or fit.candidate.fault or fit.share < 1:
        return
    codes = rows.codes(rows.fresh(), longest)
    ideal = fit.scale * fit.candidate.table(
        np.arange(longest, dtype=float), rows.d_model
    )
    off = np.abs(codes - ideal).max(axis=1) / abs(fit.scale)
    bad = np.flatnonzero(~(off < FAR + fit.gap + np.arange(longest) * 2.0**-21))
    if len(bad) and exactly_repeated(codes) is None:
        yield warning(
            f"From position {bad[0]:,} on encodings are off, by up to {off.max():.2g}.",
            "Count positions, and multiply, in float32 at least.",
        )


@applies_to("added", "table")
def positions(rows: Rows) -> Findings:
    """Where positions are given, does each get its encoding?"""
    form = rows.way.form
    name = form if form in ("positions", "batch of positions") else ""
    name = name or rows.positions_argument
    if not name:
        yield note("No argument for positions, which packed and padded batches need.")
        return
    n, usual = rows.length, rows.codes(rows.fresh())
    order = torch.arange(n).flip(0)
    try:
        starts = [
            s
            for s in (0, 1, 2)  # what it calls the first position
            if close(rows.codes(rows.fresh(), at=torch.arange(n) + s), usual)
        ]
        start = starts[0] if starts else 0
        found = rows.codes(rows.fresh(), at=order + start)
    except ForeignError as refusal:
        yield warning(f"{name} = 0, 1, ..., {n - 1} or in reverse raises {refusal}.")
        return
    if not close(found, usual[::-1]):
        yield error(
            f"{name} = {n - 1}, ..., 1, 0 does not give those encodings.",
            f"Compute the encoding from {name}, in whatever order they come.",
        )
    elif form == "x" and "batch" in rows.way.layout.axes:
        both = torch.stack([order.flip(0), order]) + start
        with contextlib.suppress(ForeignError):  # one row of positions for all
            pair = rows.answer(rows.fresh(), batch=2, at=both).detach().double()
            if close(pair[1].numpy() - rows.own, usual):
                yield error(
                    f"{name} [batch, length]: each sequence gets those of the first.",
                    "Take the row of each sequence.",
                )


@applies_to("added", "table")
def offset(rows: Rows) -> Findings:
    """Where the first position is given, does it count on from there?"""
    name = rows.offset_argument
    if not name or rows.way.form != "x" or not rows.tells_positions:
        return
    module, usual = rows.fresh(), rows.codes(rows.fresh())
    for start, n in ((1, 1), (3, 1), (1, 2), (3, 2), (0, 3)):
        try:
            found = rows.codes(module, n, **{name: start})
            anew = rows.codes(rows.fresh(), n, **{name: start})
        except ForeignError as refusal:
            yield error(f"{name} = {start} with {n} positions raises {refusal}.")
            return
        if not close(found, usual[start : start + n]):
            kept = close(anew, usual[start : start + n])
            why = " once another was asked for: a cache forgets it" if kept else ""
            yield error(
                f"{name} = {start} with {n} positions does not give the encodings "
                f"from position {start} on{why}.",
                f"Add {name} to the positions, and to the key of any cache.",
            )
            return


@applies_to("added", "table")
def widths(rows: Rows) -> Findings:
    """Other widths: right, or an error that says so?"""
    if rows.way.columns:
        return
    order = " ".join(rows.way.layout.axes) if rows.way.form == "x" else None
    accidents, undefined = [], []
    for width in (1, 2, 3, 7):
        try:
            other = Rows(rows.make, width, rows.kind, order, rows.named)
            if not np.isfinite(other.codes(other.fresh())).all():
                undefined.append(width)
        except CannotCallError:
            continue
        except ForeignError as refusal:
            if not str(refusal).startswith(REFUSALS):
                accidents.append(f"d_model = {width} fails by accident: {refusal}.")
    if undefined:
        yield warning(
            f"NaN or infinity at d_model = {undefined[0]}.",
            "Divide by max(d_model // 2 - 1, 1).",
        )
    if accidents:
        yield warning(
            accidents[0],
            "Cut the cosines to d_model // 2 columns, or refuse the width.",
        )


@applies_to("added", "table")
def gradient(rows: Rows) -> Findings:
    """Does the gradient reach x and what is trained?"""
    module = rows.fresh()
    sample = noise(2, rows.length, rows.d_model).requires_grad_()
    weights = noise(2, rows.length, rows.d_model, seed=2)
    for _ in range(2):
        output = rows.answer(module, x=sample)
        try:
            with foreign():
                if output.requires_grad:
                    torch.autograd.backward((output * weights[: len(output)]).sum())
        except ForeignError as refusal:
            yield error(
                f"A second backward pass raises {refusal}.",
                "Keep no result of a trained parameter from call to call.",
            )
            return
    if rows.kind == "added" and rows.is_sum:
        got = sample.grad if sample.grad is not None else torch.zeros(2, 1, 1)
        wanted = 2 * rows.scale * weights[:1]
        if got[:1].shape != wanted.shape or not torch.allclose(got[:1], wanted, 1e-2):
            yield error(
                "The gradient does not reach x as it should.",
                "Keep detach, .data and torch.no_grad away from x.",
            )
    if not rows.is_trained:
        return
    if lost := [*unreached(module)]:
        yield from lost
        return
    for name, part in module.named_modules():
        if getattr(part, "padding_idx", None) is not None:
            yield warning(
                f"Row {part.padding_idx} of {name} is its padding_idx: never trained.",
                "Leave padding_idx out, or number positions so that none gets it.",
            )


@applies_to("added", "table")
def training(rows: Rows) -> Findings:
    """In training mode: the same encodings, but for dropout?"""
    if not rows.is_told:
        return
    usual, drawn = rows.codes(rows.fresh()), []
    for rows.seed in (3, 4, 5):
        drawn.append(rows.codes(rows.in_training()))
    rows.seed = 1
    large = np.abs(usual) > 0.05 * np.abs(usual).max()
    ratio = np.stack([(found + rows.own) / (usual + rows.own) for found in drawn])[
        :, large
    ]
    kept = ratio[np.abs(ratio) > 1e-3]
    if all(close(found, usual) for found in drawn):
        return
    if close(drawn[1], drawn[0]) and close(drawn[2], drawn[0]):
        off = np.abs(drawn[0] - usual).max()
        yield error(f"In training mode the encodings are others, off by {off:.2g}.")
    elif not len(kept) or np.ptp(kept) > 1e-2 * abs(kept.mean()):
        yield note("In training mode the encodings are random.")
    elif len(kept) < 0.45 * ratio.size:
        yield warning(
            f"Dropout sets {1 - len(kept) / ratio.size:.0%} of the sum to 0.",
            "nn.Dropout(p) takes the share to drop, not the share to keep.",
        )
    else:
        yield note("Dropout, in training mode.")
