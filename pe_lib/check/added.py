"""Checks of encodings that are added to x, or returned as a table."""

import numpy as np
import torch

from pe_lib.check.call import CannotCallError, ForeignError
from pe_lib.check.recognise import exactly_repeated
from pe_lib.check.registry import applies_to
from pe_lib.check.report import PLAIN, Findings, error, warning
from pe_lib.check.rows import Rows

ROUNDED = 2e-4  # of 1: less than float16 rounds, more than float32 is off soon
REFUSALS = "ValueError", "AssertionError", "NotImplementedError"  # of a width, by name


def some(numbers: list[int]) -> str:
    """The first of some numbers, in words."""
    more = f" and {len(numbers) - 4} more" if len(numbers) > 4 else ""
    return ", ".join(f"{n:,}" for n in numbers[:4]) + more


@applies_to("added", "table")
def axes(rows: Rows) -> Findings:
    """Does each position get an encoding of its own, along the right axis?"""
    if rows.tells_positions or not rows.is_sum:
        return
    with torch.no_grad():
        output = rows.answer(rows.fresh())
    if bool((output - output[:1]).abs().max() > 1e-6):
        yield error(
            f"With x {rows.way.layout} it counts along the batch: all positions of a "
            "sequence get one encoding.",
            "Count along the axis of the length.",
        )
    elif rows.usual.any():
        yield error(
            "Every position gets the same encoding.",
            "Look at the index of the table: pe[:, :length], not pe[:, length].",
        )
    else:
        yield error(
            "Nothing is added: the encodings are all 0, and no training changes them.",
            "Fill the table.",
        )


@applies_to("added", "table")
def spoilt(rows: Rows) -> Findings:
    """Are there rows or columns that do not follow the formula of the others?"""
    fit = rows.fit
    if fit is None or rows.is_trained or not fit.formula.right:
        return
    bad_rows, bad = fit.spoilt(0), fit.spoilt(1)
    if bad_rows == [0] and not rows.table[0].any():
        yield warning("Position 0 gets zeros, as if it were padding.")
    elif bad_rows:
        level = error if bad_rows[0] < PLAIN else warning
        yield level(f"Positions {some(bad_rows)} do not follow the formula.")
    elif bad:
        yield error(f"Columns {some(bad)} do not follow the formula of the others.")
    elif fit.early > ROUNDED:
        yield warning(
            f"The numbers are off by up to {fit.early:.1g}: kept in 16 bits.",
            "Compute in float32 or more, and convert the encoding last.",
        )


@applies_to("added", "table")
def columns(rows: Rows) -> Findings:
    """Are there columns that are constant, or there twice?"""
    table = rows.table
    recognised = rows.recognised and not rows.is_trained
    if not rows.is_told or rows.way.columns or recognised:
        return
    constant = np.flatnonzero(np.ptp(table, axis=0) < 1e-6 * np.abs(table).max())
    again = exactly_repeated(np.delete(table, constant, axis=1).T)
    if len(constant):
        what = "the same at every position" if table[:, constant].any() else "0"
        yield error(f"Columns {some([*constant])} are {what}.", "Fill all of them.")
    elif again:
        yield error(f"Columns {again[1]} and {again[0]} are the same.")


@applies_to("added", "table")
def widths(rows: Rows) -> Findings:
    """At two columns, and at an odd width: right, or an error that says so?"""
    order = " ".join(rows.way.layout.axes) if rows.way.form == "x" else None
    for width in (2, 3):
        try:
            other = Rows(rows.make, width, rows.kind, order, rows.named)
            if not np.isfinite(other.usual).all():
                fix = "Divide by max(d_model // 2 - 1, 1)."
                yield warning(f"NaN or infinity at d_model = {width}.", fix)
        except CannotCallError:
            continue
        except ForeignError as refusal:
            if not str(refusal).startswith(REFUSALS):
                yield warning(
                    f"d_model = {width} fails by accident: {refusal}.",
                    "Cut the cosines to d_model // 2 columns, or refuse the width.",
                )
