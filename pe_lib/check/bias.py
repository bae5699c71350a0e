"""Checks of a bias for the scores."""

import contextlib

import numpy as np
import torch

from pe_lib.check.call import CannotCallError, ForeignError
from pe_lib.check.registry import applies_to
from pe_lib.check.report import Findings, error, note, warning
from pe_lib.check.scores import NEAR, OFFSET, Bias, spread


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
def axes(bias: Bias) -> Findings:
    """Does the bias depend on the offset alone, as the softmax sees it?"""
    rows, off = bias.values, spread(bias.level)
    if np.isnan(rows).all(axis=2).any():
        yield error("NaN, or all keys of a query are hidden.")
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
    if found is None:
        flat = np.ptp(bias.past, axis=1).max() < tiny  # NaN is not
        if flat and np.nanmax(np.abs(bias.ahead)) > tiny:
            yield error("All keys before the query get one number: swapped.", OFFSET)
    elif (found < -1e-9).any():
        count = f"{(found < 0).sum()} of {len(found)} heads"
        yield error(
            f"In {count} the bias grows with the distance.", "-slope * distance."
        )
    elif np.isfinite(ahead).all() and ahead.max() > 1e-9 and not bias.as_rows:
        yield warning(
            "Keys after the query are raised, not lowered.",
            "Take the distance's absolute value, or hide later keys.",
        )


@applies_to("bias")
def mask(bias: Bias) -> Findings:
    """Does a mask hide what must be seen?"""
    hidden = np.isnan(bias.values)
    for back, words in ((0, "the position itself"), (1, "the position before")):
        gone = np.diagonal(hidden, -back, 1, 2).any(axis=1).sum()
        if gone:
            yield error(f"In {gone} heads the mask hides {words}.", "key > query.")
            return


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
            yield error(
                f"While decoding, one query among {n} keys gets {row}.",
                "The query is at position keys - 1.",
            )
