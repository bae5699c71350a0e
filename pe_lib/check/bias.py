"""Checks of a bias for the scores."""

import contextlib

import numpy as np
import torch

from pe_lib.check.added import REFUSALS
from pe_lib.check.call import CannotCallError, ForeignError, foreign
from pe_lib.check.registry import applies_to
from pe_lib.check.report import Findings, error, note, warning
from pe_lib.check.scores import NEAR, OFFSET, Bias, spread

SUM = "Return scores + bias."
HIDE = "masked_fill(key > query, -inf) hides the keys after the query."


@applies_to("bias")
def heads(bias: Bias) -> Findings:
    """As many heads as asked for?"""
    count = len(bias.values)
    if count % bias.d_model:
        yield error(f"Built for {bias.d_model} heads it returns {count}.")
        return
    for asked in (6, 12):
        try:
            found = len(Bias(bias.make, asked, "bias", None, bias.named).values)
        except (ForeignError, CannotCallError):  # it says so itself
            continue
        if found % asked and found != count:
            yield warning(
                f"Built for {asked} heads it returns {found}.",
                "Make one slope, or one column, for each head.",
            )
            return


@applies_to("bias")
def scores(bias: Bias) -> Findings:
    """Are scores that are given returned plus the bias?"""
    if bias.way.form != "scores":
        return
    low, high = float(bias.gains.min()), float(bias.gains.max())
    if not bias.is_linear:
        yield error("What comes back is no sum of the scores and a bias.", SUM)
    elif not bias.is_sum and high - low > NEAR:
        yield error("The scores are multiplied by the bias.", SUM)
    elif not bias.is_sum and abs(high) < NEAR:
        yield warning("The scores do not come back: the bias alone is returned.", SUM)
    elif not bias.is_sum:
        yield warning(f"The scores are multiplied by {high:.3g} as well.", SUM)
    given = torch.zeros(1, requires_grad=True)
    output = bias.of(bias.fresh(), 3, 3, scores=given)
    if bias.is_sum and not output.requires_grad:
        yield error("No gradient reaches the scores.", "Keep detach away from them.")


@applies_to("bias")
def axes(bias: Bias) -> Findings:
    """Does the bias depend on the offset alone, as the softmax sees it?"""
    rows, off = bias.values, spread(bias.level)
    if not bias.is_sum:
        return
    if not np.nan_to_num(rows).any() and not np.isnan(rows).any():
        yield error(
            "The bias is 0 everywhere, and no training changes it: a table that was "
            "never filled.",
            "Fill it, or leave requires_grad as it is.",
        )
    elif bias.has_nan and np.isneginf(bias.returned).any():
        yield error(
            "0 * -inf is NaN: a triangle of ones was multiplied by -inf.",
            "masked_fill(key > query, -inf), or torch.full(shape, -inf).triu(1).",
        )
    elif np.isnan(rows).all(axis=2).any():
        yield error("NaN, or all keys of a query are hidden.")
    elif bias.wraps:
        one = 1 if bias.wraps < 0 else -1
        yield error(
            f"Offset {one:+} shares its entry with {bias.wraps:+}: a negative index "
            "counts from the end of the table.",
            "Add max_distance to the clipped offset; the table has 2 max_distance + 1 "
            "rows.",
        )
    elif not np.isnan(rows).any() and np.ptp(rows, axis=2).max() < 1e-9:
        yield error(
            "Each query gets one number for all keys: the softmax cannot see it.",
            OFFSET,
        )
    elif off > NEAR * bias.size:
        level = warning if bias.has_trained else error
        yield level(f"Values of one offset differ by up to {off:.3g}.", OFFSET)


@applies_to("bias")
def sign(bias: Bias) -> Findings:
    """Does the bias fall with the distance, before and after the query?"""
    found, tiny = bias.slopes, 1e-6 * bias.size
    ahead = np.diff(bias.ahead, axis=1)
    if bias.peak and not bias.has_trained:
        where = f"{abs(bias.peak)} {'after' if bias.peak > 0 else 'before'}"
        yield error(f"The bias is highest {where} the query itself.", OFFSET)
    elif found is None:
        flat = np.ptp(bias.past, axis=1).max() < tiny  # NaN is not
        if flat and np.nanmax(np.abs(bias.ahead)) > tiny:
            yield error("All keys before the query get one number: swapped.", OFFSET)
    elif (found < -1e-9).any():
        count = f"{(found < 0).sum()} of {len(found)} heads"
        yield error(
            f"In {count} the bias grows with the distance.", "-slope * distance."
        )
    elif np.isfinite(ahead).all() and ahead.max() > -1e-9 and not bias.as_rows:
        how = "raised" if ahead.max() > 1e-9 else "all alike"
        yield warning(f"Keys after the query are {how}, not lowered.", HIDE)


@applies_to("bias")
def mask(bias: Bias) -> Findings:
    """Does a mask hide what must be seen, or leave what must be hidden?"""
    if bias.has_nan:  # axes says so
        return
    hidden = np.isnan(bias.values)
    ahead = np.isnan(bias.ahead)
    if ahead[:, 2:].all() and not ahead[:, :2].any() and bias.length > 3:
        yield error("The mask leaves the next key for each query to see.", HIDE)
    jump = bias.jump
    if np.ptp(jump) < NEAR and abs(abs(jump[0]) - 1) < NEAR:
        yield error(
            "Keys after the query get 1 more or less than the others: a mask of 0 and "
            "1 was added, which hides nothing.",
            HIDE,
        )
    for back, words in ((0, "the position itself"), (1, "the position before")):
        gone = np.diagonal(hidden, -back, 1, 2).any(axis=1).sum()
        if gone:
            yield error(f"In {gone} heads the mask hides {words}.", HIDE)
            return


@applies_to("bias")
def overflow(bias: Bias) -> Findings:
    """In float16: can it hold what hides keys?"""
    module = bias.fresh()
    with foreign():
        module.half()
    n, fix = 5, "torch.finfo(dtype).min, or -inf."
    with torch.no_grad():
        least = float(bias.of(bias.fresh(), n, n).nan_to_num(neginf=0.0).min())
        if least > torch.finfo(torch.float16).min:
            return
        what = f"What hides keys, {least:.0e}, is more than float16 holds: "
        try:
            found = bias.of(module, n, n, dtype=torch.float16)
            if found.dtype == torch.float16:
                yield warning(f"{what}it is -inf there.", fix)
        except ForeignError as refusal:
            yield warning(f"{what}{refusal}.", fix)


@applies_to("bias")
def limit(bias: Bias) -> Findings:
    """Where it ends, is that an error that says so?"""
    if bias.limit < bias.longest and not bias.fixed:
        refusal = bias.refusal(bias.limit + 1)
        if refusal and not str(refusal).startswith(REFUSALS):
            yield warning(
                f"For more than {bias.limit} keys it raises {refusal}.",
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
    with torch.no_grad(), contextlib.suppress(ForeignError):  # says so itself
        whole, one = (bias.of(bias.fresh(), queries, n) for queries in (n, 1))
        last = whole[:, -1:]
        level = one - one[..., -1:], last - last[..., -1:]  # all that the softmax sees
        if not torch.allclose(*level, atol=1e-4, equal_nan=True):
            same = [
                t for t in range(n) if torch.allclose(one[:, 0], whole[:, t], atol=1e-4)
            ]
            row = f"the row of query {same[0]}" if same else "the row of no query"
            what = f"While decoding, one query among {n} keys gets {row}."
            if bias.for_both:
                yield note(f"{what} A bias for both directions is for whole texts.")
            else:
                yield error(what, "The query is at position keys - 1.")
