"""Checks of a bias for the scores."""

import numpy as np
import torch

from pe_lib.check.added import sentence, unreached
from pe_lib.check.call import CannotCallError, ForeignError, foreign
from pe_lib.check.registry import applies_to
from pe_lib.check.report import Findings, error, note, warning
from pe_lib.check.scores import CLOSE, READ, Bias, spread

OFFSET = "The offset is the key's position minus the query's."


@applies_to("bias")
def heads(bias: Bias) -> Findings:
    """As many heads as asked for?"""
    count = len(bias.values)
    if count % bias.d_model:
        yield error(f"Built for {bias.d_model} heads it returns {count}.")
        return
    for asked in (6, 12):
        try:
            other = Bias(bias.make, asked, "bias", None, None)
            found = len(other.values)
        except (ForeignError, CannotCallError):  # it says so itself
            continue
        if found % asked and found != count:
            yield warning(
                f"Built for {asked} heads it returns {found}.",
                "Make one slope, or one column, for each head.",
            )
            return


@applies_to("bias")
def offset(bias: Bias) -> Findings:
    """Does the bias depend on the offset alone, as the softmax sees it?"""
    rows = bias.values
    if np.isnan(rows).all(axis=2).any():
        yield error("NaN, or all keys of a query are hidden.")
    elif float((np.nanmax(rows, 2) - np.nanmin(rows, 2)).max()) < 1e-9:
        yield error(
            "Each query gets one number for all keys: the softmax cannot see it.",
            OFFSET,
        )
    elif spread(bias.level) > CLOSE * bias.size:
        level = warning if bias.trained else error
        off = spread(bias.level)
        yield level(f"Values of one offset differ by up to {off:.3g}.", OFFSET)


@applies_to("bias")
def slopes(bias: Bias) -> Findings:
    """Straight lines: which slopes, and of which sign?"""
    found, told = bias.slopes, bias.recognised
    if found is None:
        seen = np.isfinite(bias.past).all()
        flat = (
            seen and np.ptp(np.nan_to_num(bias.past), axis=1).max() < 1e-6 * bias.size
        )
        if flat and np.nanmax(np.abs(bias.ahead)) > 1e-6 * bias.size:
            yield error("All keys before the query get one number: swapped.", OFFSET)
        return
    if (found < -1e-9).any():
        count = f"{(found < 0).sum()} of {len(found)} heads"
        yield error(
            f"In {count} the bias grows with the distance.", "-slope * distance."
        )
        return
    ahead = np.diff(bias.ahead, axis=1)
    if np.isfinite(ahead).all() and ahead.max() > 1e-9 and not bias.as_rows:
        yield warning(
            "Keys after the query are raised, not lowered.",
            "Take the distance's absolute value, or hide later keys.",
        )
    if told and told.formula == "alibi":
        yield note(sentence(told.words))
    elif told and not bias.trained:
        same = len(found) > 1 and np.ptp(found) < CLOSE * found.max()
        what = (
            "All heads have one slope" if same else f"ALiBi with {told.words}, its own"
        )
        yield warning(f"{what}.", "2**(-8 h / heads) for h = 1, ..., heads.")


@applies_to("bias")
def buckets(bias: Bias) -> Findings:
    """Steps: which buckets?"""
    found = bias.buckets if bias.slopes is None else None
    if found and found[3]:
        yield error("T5's buckets, queries and keys swapped.", OFFSET)
    elif found and bias.recognised:
        yield note(sentence(bias.recognised.words))
    elif bias.slopes is None and bias.trained and bias.past.shape[1] > 200:
        steps = np.abs(np.diff(bias.past, axis=1)).max(axis=0)
        if 0 < (steps > 1e-6 * bias.size).sum() < 64:
            yield warning("Steps of its own, no buckets of T5: its weights do not fit.")


@applies_to("bias")
def reach(bias: Bias) -> Findings:
    """Is a far offset taken for a near one?"""
    past, tiny = bias.past, 1e-6 * bias.size
    if np.isnan(past).any():
        return
    starts = np.r_[
        0, np.flatnonzero(np.abs(np.diff(past, axis=1)).max(axis=0) > tiny) + 1
    ]
    rows = past[:, starts].T
    for i in range(2, len(rows)):
        off = np.abs(rows[: i - 1] - rows[i]).max(axis=1)
        if off.min() < tiny:
            there, here = starts[i], starts[off.argmin()]
            yield error(
                f"At distance {there} the bias is that of distance {here}.",
                "A table that wraps round, or an integer type too small.",
            )
            return


@applies_to("bias")
def mask(bias: Bias) -> Findings:
    """Does a mask hide what must be seen?"""
    hidden = np.isnan(bias.values)
    at = np.arange(hidden.shape[-1])
    for back, words in ((0, "the position itself"), (1, "the position before")):
        gone = hidden[:, at[back:], at[back:] - back].any(axis=1).sum()
        if gone:
            yield error(f"In {gone} heads the mask hides {words}.", "key > query.")
            return
    if hidden.any():
        later = bool(hidden[:, at[:-1], at[1:]].all())
        yield note("Later keys are hidden." if later else "Some keys are hidden.")


@applies_to("bias")
def decoding(bias: Bias) -> Findings:
    """The last query alone, as with a cache: its own row?"""
    if bias.way not in ("two lengths", "scores"):
        yield note("Not checked: one query among many keys, as it takes one length.")
        return
    n = bias.length
    with torch.no_grad():
        whole = bias.of(bias.fresh(), n, n)
        try:
            one = bias.of(bias.fresh(), 1, n)[:, 0]
        except ForeignError as refusal:
            yield note(f"One query among {n} keys is refused: {refusal}")
            return
    same = [t for t in range(n) if torch.allclose(one, whole[:, t], atol=1e-4)]
    level = torch.allclose(
        one - one[:, -1:], whole[:, -1] - whole[:, -1, -1:], atol=1e-4
    )
    if n - 1 not in same and not level:
        row = f"the row of query {same[0]}" if same else "the row of no query"
        yield error(
            f"While decoding, one query among {n} keys gets {row}.",
            "The query is at position keys - 1.",
        )


@applies_to("bias")
def gradient(bias: Bias) -> Findings:
    """Are its weights trained?"""
    module = bias.fresh()
    output = bias.answer(module)
    with foreign():
        if output.requires_grad:
            ramp = torch.linspace(0, 1, output.numel()).view_as(output)
            torch.autograd.backward((output * ramp).sum())
    yield from unreached(module)


@applies_to("bias")
def half(bias: Bias) -> Findings:
    """In 16 bits: one value for each offset still?"""
    n, module = bias.fixed or READ, bias.fresh()
    try:
        with foreign():
            module.bfloat16()
        with torch.no_grad():
            found = bias.of(module, n, n, dtype=torch.bfloat16).double().numpy()
    except ForeignError:  # a refusal says so itself
        return
    rows = np.where(np.isnan(bias.values), np.nan, found)
    moves = np.abs(np.diff(bias.values[:, -1], axis=1)) > 0
    if bias.as_rows and (np.diff(rows[:, -1], axis=1)[moves] == 0).any():
        yield warning(
            "After .bfloat16() neighbouring keys get one number.",
            "Multiply slopes by key minus query, or return the bias in float32.",
        )
    elif not bias.as_rows and spread(bias.values) < CLOSE * bias.size:
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(np.abs(rows))
        off = spread(np.where(np.isfinite(logs), logs, 0.0))
        if off > 0.02:
            yield warning(
                f"After .bfloat16() values of one offset differ by {off:.0%}.",
                "Count positions as integers, and convert the bias last.",
            )
