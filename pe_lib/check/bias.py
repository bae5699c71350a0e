"""Checks of a bias for the scores."""

import contextlib

import numpy as np
import torch

from pe_lib.check.added import REFUSALS
from pe_lib.check.call import ForeignError, foreign
from pe_lib.check.recognise import exactly_repeated, spread
from pe_lib.check.registry import applies_to
from pe_lib.check.report import Findings, error, note, warning
from pe_lib.check.scores import OFFSET, Bias
from pe_lib.check.subject import NEAR

NEARBY = 200  # positions, that bfloat16 counts
HIDE = "masked_fill(key > query, -inf) hides the keys after the query."


@applies_to("bias")
def heads(bias: Bias) -> Findings:
    """As many heads as asked for?"""
    count = len(bias.values)
    if count % bias.d_model:
        yield error(
            f"Built for {bias.d_model} heads it returns {count}.",
            "Make one slope, or one column, for each head.",
        )


@applies_to("bias")
def scores(bias: Bias) -> Findings:
    """Does the gradient reach scores that are given?"""
    if bias.way.form == "scores" and bias.is_sum:
        given = torch.zeros(1, requires_grad=True)
        if not bias.of(bias.fresh(), 3, 3, scores=given).requires_grad:
            yield error("No gradient reaches the scores.", "Keep detach from them.")


@applies_to("bias")
def axes(bias: Bias) -> Findings:
    """Does the bias depend on the offset alone, as the softmax sees it?"""
    rows, off = bias.values, spread(bias.level)
    if not bias.is_sum:
        return
    if not bias.returned.any():
        yield error(
            "The bias is 0 everywhere, and no training changes it: a table that was "
            "never filled.",
            "Fill it, or leave requires_grad as it is.",
        )
    elif not np.isnan(rows).any() and np.ptp(rows, axis=2).max() < 1e-9:
        yield error(
            "Each query gets one number for all keys: the softmax cannot see it.",
            OFFSET,
        )
    elif off > NEAR * bias.size and not bias.columns:
        tiny, (heads, n, _) = NEAR * bias.size, rows.shape
        viewed = np.moveaxis(bias.returned.reshape(n, n, heads), -1, 0)
        level, why, fix = warning if bias.has_trained else error, "", OFFSET
        if spread(viewed) < tiny:
            level, fix = error, ".permute(2, 0, 1), no .view(heads, ...)."
            why = ": heads and positions are mixed up by a view"
        elif spread(bias.level[:, :NEARBY, :NEARBY]) < tiny:
            why = f" from position {NEARBY} on, as if counted in 16 bits"
            fix = "Count in integers or float32."
        yield level(f"Values of one offset differ by up to {off:.3g}{why}.", fix)


@applies_to("bias")
def distinct(bias: Bias) -> Findings:
    """Do two offsets that are no neighbours get the same numbers?"""
    if bias.columns:
        yield from _on_window(bias)
    if spread(bias.level) > NEAR * bias.size:
        return
    symmetric = np.allclose(bias.past, bias.ahead, equal_nan=True)
    line = bias.past if symmetric else bias.line
    offsets = np.arange(line.shape[1]) - (0 if symmetric else bias.length - 1)
    seen = np.isfinite(line).all(axis=0)
    if seen.sum() < 2:
        return
    line, offsets = line[:, seen].T, offsets[seen]
    runs = np.r_[True, np.abs(np.diff(line, axis=0)).max(axis=1) > 0]
    if again := exactly_repeated(line[runs]):
        there, here = offsets[runs][list(again)]
        yield error(
            f"The bias at offset {there:+} is that at {here:+}: the table wraps round, "
            "or an integer type is too small.",
            "A negative index counts from the end: clip the offset to max_distance, "
            "then add max_distance, in a table of 2 max_distance + 1 rows.",
        )


def _on_window(bias: Bias) -> Findings:
    """The same in a window of rows and columns."""
    at = np.stack(np.divmod(np.arange(bias.length), bias.columns), 1)
    offsets = (at - at[:, None]).reshape(-1, 2)
    offsets, first = np.unique(offsets, axis=0, return_index=True)
    again = exactly_repeated(bias.level.reshape(len(bias.level), -1)[:, first].T)
    if again and bias.has_trained:
        there, here = ([*map(int, offset)] for offset in offsets[[*again]])
        yield error(
            f"In rows and columns the bias at offset {there} is that at {here}.",
            "Index: (row offset + rows - 1) * (2 columns - 1) + column offset + "
            "columns - 1.",
        )


@applies_to("bias")
def sign(bias: Bias) -> Findings:
    """Does the bias fall with the distance, before and after the query?"""
    tiny = 1e-6 * bias.size
    past, ahead = (np.nan_to_num(x, nan=-np.inf) for x in (bias.past, bias.ahead))
    peaks = {int(peak) for peak in ahead.argmax(axis=1)}
    flat = np.ptp(past, axis=1).max() < tiny  # inf - inf is not
    if flat and np.ptp(ahead[:, 1:], axis=1).max() > tiny:
        yield error("All keys before the query get one number: swapped.", OFFSET)
    elif bias.slopes is not None and (growing := (bias.slopes < 0).sum()):
        what = f"In {growing} of {len(past)} heads the bias grows with the distance."
        yield error(what, "-slope * distance.")
    elif len(peaks) == 1 and 0 < (peak := peaks.pop()) < bias.length - 1:
        yield error(f"The bias is highest {peak} after the query itself.", OFFSET)
    elif bias.slopes is not None and not bias.as_rows and ahead[:, -1].min() > -tiny:
        how = "raised" if ahead.max() > tiny else "all alike"
        yield warning(f"Keys after the query are {how}, not lowered.", HIDE)


@applies_to("bias")
def mask(bias: Bias) -> Findings:
    """Does a mask hide what must be seen, or leave what must be hidden?"""
    if np.isnan(bias.returned).any():
        yield error(
            "NaN: 0 * -inf, as where a triangle of ones is multiplied by -inf?",
            "masked_fill(key > query, -inf), or torch.full(shape, -inf).triu(1).",
        )
        return
    hidden, ahead = np.isnan(bias.values), np.isnan(bias.ahead)
    if ahead[:, 2:].all() and not ahead[:, :2].any() and bias.length > 3:
        yield error("The mask leaves the next key for each query to see.", HIDE)
    distance, step = np.arange(1, bias.length), bias.past[:, 1:2]
    for slope in (step, -step, 0 * step):  # what distances explain
        over = bias.ahead[:, 1:] - slope * distance
        if np.abs(np.abs(over) - 1).max() < NEAR:
            yield error(
                "Keys after the query get 1 more or less than the others: a mask of 0 "
                "and 1 was added, which hides nothing.",
                HIDE,
            )
    for back, words in ((0, "the position itself"), (1, "the position before")):
        if gone := np.diagonal(hidden, -back, 1, 2).any(axis=1).sum():
            yield error(f"In {gone} heads the mask hides {words}.", HIDE)
            return


@applies_to("bias")
def overflow(bias: Bias) -> Findings:
    """In float16: can it hold what hides keys?"""
    n, seen = 5, np.nan_to_num(bias.returned, neginf=0.0)
    least = float(seen[:, :n, :n].min())
    if least > torch.finfo(torch.float16).min:
        return
    what = f"What hides keys, {least:.0e}, is more than float16 holds: "
    try:
        with foreign():
            module = bias.fresh().half()
        with torch.no_grad():
            found = bias.of(module, n, n, dtype=torch.float16)
        how = "it is -inf there." if found.dtype == torch.float16 else ""
    except ForeignError as refusal:
        how = f"{refusal}."
    if how:
        yield warning(what + how, "torch.finfo(dtype).min, or -inf.")


@applies_to("bias")
def limit(bias: Bias) -> Findings:
    """Where it ends, is that an error that says so?"""
    if bias.limit < bias.longest and not bias.way.fixed:
        refusal = bias.refusal(bias.limit + 1)
        if refusal and not str(refusal).startswith(REFUSALS):
            t5 = "its last bucket is not clamped: " * bool(bias.buckets)
            yield warning(
                f"For more than {bias.limit} keys {t5}it raises {refusal}.",
                "Clip the distance, or refuse longer inputs.",
            )


@applies_to("bias")
def positions(bias: Bias) -> Findings:
    """Where positions are given, does each count?"""
    if bias.way.form in ("positions", "two positions"):
        n = bias.length // 2
        with torch.no_grad():
            every_other = bias.of(bias.fresh(), n, n, step=2)
            usual = bias.of(bias.fresh(), n, n)
        if torch.equal(every_other, usual):
            yield error("Of positions it takes the number alone.", "key - query.")


@applies_to("bias")
def decoding(bias: Bias) -> Findings:
    """The last query alone, as with a cache: its own row?"""
    if bias.way.form not in ("two lengths", "scores"):
        yield note("Not checked: one query among many keys, as it takes one length.")
        return
    n = min(bias.length, 12)
    used = bias.fresh()  # which may keep the first of what it made
    with torch.no_grad(), contextlib.suppress(ForeignError):  # says so itself
        whole = bias.of(used, n, n)
        last = whole[:, -1:]
        for one in (bias.of(module, 1, n) for module in (bias.fresh(), used)):
            # all that the softmax sees
            level = one - one[..., -1:], last - last[..., -1:]
            if torch.allclose(*level, atol=1e-4, equal_nan=True):
                continue
            same = [
                t for t in range(n) if torch.allclose(one[:, 0], whole[:, t], atol=1e-4)
            ]
            row = f"the row of query {same[0]}" if same else "the row of no query"
            what = f"While decoding, one query among {n} keys gets {row}."
            told = np.ptp(bias.ahead, axis=1).max() > NEAR * bias.size  # NaN is not
            if bias.has_trained and bias.slopes is None and told:
                yield note(f"{what} A bias for both directions is for whole texts.")
            else:
                yield error(what, "The query is at position keys - 1.")
            return
