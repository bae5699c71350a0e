"""Biases, named: a function of the offset, or of two; masks, slopes and buckets."""

import numpy as np
import torch
from torch import nn

from pe_lib.beyond.bias import alibi_slopes, t5_buckets
from pe_lib.check.call import Array, some
from pe_lib.check.kinds import Bias
from pe_lib.check.reader import HIDDEN, NEAR
from pe_lib.check.report import ERROR, NOTE, UNCHECKED, WARNING, Found, Recognised
from pe_lib.check.rows import repeated
from pe_lib.check.waves import line

OFFSET = "The offset is the key's position minus the query's."
MASK = "masked_fill(key > query, -inf)."


def spread(scores: Array, width: int = 0) -> float:
    """By how much numbers [..., query, key] of one offset differ; on a grid, of two."""
    n = scores.shape[-1]
    far = width or max(n // 2, 1)
    near, far_off = (
        np.abs(scores[..., k:, k:] - scores[..., :-k, :-k]) for k in (1, far)
    )
    if width:
        inside = np.arange(n - 1) % width < width - 1
        near = near[..., inside, :][..., inside]
    return float(max(np.nanmax(near, initial=0), np.nanmax(far_off, initial=0)))


def of_heads(asked: int, found: int) -> tuple[str, str, str]:
    """Another number of heads comes back."""
    what = f"Built for {asked} heads it returns {found}."
    return ERROR, what, "One slope, or one column, for each head."


def slopes_of(r: Bias) -> Array | None:
    """Of heads that fall in a straight line over the past; None if one does not."""
    steps = np.diff(r.table[:, -1, ::-1], axis=1)
    if not np.isfinite(steps).all() or not steps.any():
        return None
    even = np.ptp(steps, axis=1) < NEAR * np.abs(steps).max(1) + 1e-9
    slopes: Array = -steps.mean(axis=1)
    return slopes if even.all() else None


def told_bias(r: Bias) -> Found:
    """Everything in turn; what follows from an error is not told."""
    table, level = r.table, r.seen(r.table)
    if len(table) % r.width and len(table) > 1:
        yield of_heads(r.width, len(table))
    if np.isnan(table).any():
        what = "NaN: 0 * -inf, as where a triangle of ones is multiplied by -inf?"
        return (yield ERROR, what, MASK)
    if np.isposinf(table).any():
        return (yield UNCHECKED, "it has +inf.", "")
    if not r.tells(table[None]):
        return (yield UNCHECKED, "the numbers begin all alike.", "")
    shown = np.where(table <= HIDDEN, 0, table)
    size = float(np.abs(shown).max(initial=1e-9))
    if spread(level) > NEAR * size:
        return (yield from told_uneven(r, level, size))
    hidden = [*told_mask(r, level, size)]
    yield from hidden
    if hidden and hidden[-1][0] == ERROR and "hides" not in hidden[-1][1]:
        return
    slopes = slopes_of(r)
    if slopes is not None:
        yield from told_slopes(r, slopes)
        yield from told_future(r, slopes, level, size)
    else:
        yield from told_function(r, level, size)


def told_uneven(r: Bias, level: Array, size: float) -> Found:
    """Values of one offset differ: on a grid of two, mixed up, or not at all even."""
    n, off = level.shape[-1], spread(level)
    fits = (w for w in range(2, n) if r.way.fixed and n % w == 0)
    width = next((w for w in fits if spread(level, w) < NEAR * size), 0)
    if width:
        r.recognised = Recognised(f"a function of two offsets, in rows of {width}")
        return
    near = n > 200 and spread(level[:, :200, :200]) < NEAR * size
    why = ": 16 bits count no further than 256" * near
    what = f"Values of one offset differ by up to {off:.3g}{why}."
    parts = r.first.modules()
    whole = any(p.numel() >= n * n for p in r.first.parameters())
    if r.trained and not why:
        r.recognised = Recognised("trained, and no function of the offset alone")
        meant = whole or any(isinstance(part, nn.Linear) for part in parts)
        return (yield NOTE if meant else WARNING, what, "")
    yield ERROR, what, OFFSET


def told_mask(r: Bias, level: Array, size: float) -> Found:
    """What is hidden that should not be, and what is not that should."""
    past, ahead, tiny = level[:, -1, ::-1], level[:, 0, :], 1e-6 * size
    hidden, n = r.table <= HIDDEN, level.shape[-1]
    visible = np.isfinite(ahead).all()
    if n > 3 and np.isnan(ahead[:, 2:]).all() and not np.isnan(ahead[:, :2]).any():
        what = "The mask leaves the next key for each query to see; it hides others."
        yield ERROR, what, MASK
    for back, words in enumerate(("the position itself", "the position before")):
        if gone := np.diagonal(hidden, -back, 1, 2).any(axis=1).sum():
            return (yield ERROR, f"In {gone} heads the mask hides {words}.", MASK)
    if not visible:
        return
    steps = past[:, 1:2] * np.arange(1, n)
    if any(
        np.abs(np.abs(ahead[:, 1:] - s * steps) - 1).max() < NEAR for s in (1, -1, 0)
    ):
        what = "Keys after the query get 1 more or less: a mask of 0 and 1 was added."
        yield ERROR, f"{what} It hides nothing.", MASK
    elif (
        np.ptp(past, axis=1).max() < tiny and np.ptp(ahead[:, 1:], axis=1).max() > tiny
    ):
        what = "All keys before the query get one number: queries and keys are swapped."
        yield ERROR, what, OFFSET
    else:
        peaks = {int(p) for p in ahead.argmax(axis=1)}
        peak = peaks.pop() if len(peaks) == 1 and len(level) > 1 else 0
        if 0 < peak < n - 1 and not r.trained:
            yield ERROR, f"The bias is highest {peak} after the query itself.", OFFSET


def told_slopes(r: Bias, slopes: Array) -> Found:
    """Straight lines: ALiBi's, or whose?"""
    heads = len(slopes)
    trained = "trained, beginning as " * r.trained
    for rule, words in (
        ("program", "the slopes of Press et al. (2022)"),
        ("paper", "ALiBi, its printed formula"),
    ):
        if np.allclose(slopes, alibi_slopes(heads, rule=rule), rtol=NEAR):
            r.recognised = Recognised(trained + words)
            return
    ends = f"slopes from {slopes.max():.4g} to {slopes.min():.4g}"
    r.recognised = Recognised(f"{trained}straight lines, with {ends}")
    if growing := int((slopes < 0).sum()):
        what = f"In {growing} of {heads} heads the bias grows with the distance."
        yield WARNING if r.trained else ERROR, what, "-slope * distance."
    elif not r.trained:
        logs = np.log2(np.maximum(np.abs(slopes), 1e-12))
        step, start, on = line(np.arange(1, heads + 1), logs)
        wanted = f"where 2**({-8 / heads:.3g} h) is meant"
        how = f": 2**({step:.3g} h {start:+.3g}), {wanted}" * bool(
            on.all() and heads > 1
        )
        rising = heads > 1 and step > 0.01
        yield ERROR if rising else WARNING, f"The slopes are not ALiBi's{how}.", ""


def told_future(r: Bias, slopes: Array, level: Array, size: float) -> Found:
    """Under lines that fall, what is after the query should fall or be hidden."""
    ahead, tiny = level[:, 0, :], 1e-6 * size
    one_row = spread(r.table) > NEAR * size  # it is right up to what softmax ignores
    seen = np.isfinite(ahead).all() and not r.trained and not one_row
    if seen and (slopes > 0).all() and ahead[:, -1].min() > -tiny:
        what = "raised" if ahead.max() > tiny else "all alike"
        yield WARNING, f"Keys after the query are {what}, not lowered.", MASK


def told_function(r: Bias, level: Array, size: float) -> Found:
    """A number for each offset: T5's buckets, others, a line that bends."""
    past, ahead, n = level[:, -1, ::-1], level[:, 0, :], level.shape[-1]
    both = np.concatenate([past[:, :0:-1], ahead], 1)
    offsets = np.arange(1 - n, n)
    symmetric = np.allclose(past, ahead, equal_nan=True)
    keep = np.isfinite(both).all(axis=0) & ((offsets <= 0) | (not symmetric))
    numbers, offsets = np.round(both[:, keep].T / size, 6), offsets[keep]
    runs = np.r_[True, np.abs(np.diff(numbers, axis=0)).max(axis=1) > 0]
    if again := repeated(numbers[runs]):
        there, here = offsets[runs][[*again]]
        what = f"The bias at offset {there:+} is that at {here:+}: it wraps round."
        return (yield ERROR, what, "clamp, and an integer type that is wide enough.")
    found = [*told_buckets(r, numbers, offsets, symmetric)]
    yield from found
    if r.recognised is None:
        yield from told_bends(r, past, 1e-6 * size)


def told_buckets(r: Bias, numbers: Array, offsets: Array, symmetric: bool) -> Found:
    """T5's buckets, whatever their numbers."""
    names = np.unique(numbers, axis=0, return_inverse=True)[1].ravel().tolist()
    for causal, way in ((True, 1), (True, -1), (False, 1), (False, -1)):
        wanted = t5_buckets(way * offsets, causal=causal).tolist()
        pairs = {*zip(names, wanted, strict=True)}
        if not len(pairs) == len({*names}) == len({*wanted}) > 4:
            continue
        rows = [p for p in r.first.parameters() if p.shape == (32, len(r.table))]
        one_back = torch.from_numpy(r.table[:, 1, 0])  # T5's row 1, if it is there
        other = any(
            not torch.allclose(p[1].double(), one_back, atol=1e-4) for p in rows
        )
        if (causal and way < 0) or (not causal and other):
            yield ERROR, "T5's buckets, with queries and keys swapped.", OFFSET
        elif symmetric and not causal and rows:
            what = "Before and after the query the buckets are the same: half are never"
            yield WARNING, f"{what} read.", OFFSET
        words = "a causal mask" if causal else "both directions"
        r.recognised = Recognised(f"T5's 32 buckets, for {words}")
        return


def told_bends(r: Bias, past: Array, tiny: float) -> Found:
    """Neither straight nor T5's: where it bends, and whether it falls."""
    steps = np.nan_to_num(np.diff(past, axis=1))
    starts = np.flatnonzero(np.abs(steps).max(axis=0) > tiny) + 1
    falls = ", that falls" * bool((steps <= tiny).all())
    last = starts[-1] if len(starts) else 0
    words = f"{'trained: ' * r.trained}a number for each distance up to {last}{falls}"
    r.recognised = Recognised(words)
    few = len(starts) < past.shape[1] // 2 and (np.diff(starts) > 1).sum() > 1
    if r.trained and few:
        begin = some(starts.tolist())
        what = f"Buckets that grow, but not as T5's: they begin at {begin}."
        yield WARNING, what, "16 + log(distance / 16) / log(128 / 16) * 16?"
    elif len(starts) and (steps >= -tiny).all():
        yield WARNING, "It grows with the distance.", "-slope * distance."
    elif len(starts) and not r.trained:
        yield WARNING, "It follows no formula that is known here.", ""
