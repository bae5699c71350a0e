"""Biases, named: a function of the offset, or of two; masks, slopes and buckets."""

from itertools import product

import numpy as np

from pe_lib.beyond.bias import alibi_slopes, t5_buckets
from pe_lib.check.call import Array, some
from pe_lib.check.kinds import Bias
from pe_lib.check.reader import HIDDEN, NEAR
from pe_lib.check.report import ERROR, NOTE, UNCHECKED, WARNING, Found, Recognised
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
    shown = np.where(table <= HIDDEN, 0, table)
    size = float(np.abs(shown).max(initial=1e-9))
    if len(table) % r.width and len(table) > 1:
        yield of_heads(r.width, len(table))
    if np.isnan(table).any():
        what = "NaN: 0 * -inf, as where a triangle of ones is multiplied by -inf?"
        yield ERROR, what, MASK
    elif np.isposinf(table).any() or not r.tells(table[None]):
        yield UNCHECKED, "the numbers begin all alike, or with +inf.", ""
    elif spread(level) > NEAR * size:
        yield from told_uneven(r, level, size)
    elif mask := [*told_mask(r, level, size)]:
        yield from mask
    elif (slopes := slopes_of(r)) is not None:
        yield from told_slopes(r, slopes)
        ahead = level[:, 0, :]
        alone = spread(table) > NEAR * size  # it is right up to what softmax ignores
        open_ = np.isfinite(ahead).all() and not r.trained and not alone
        if open_ and (slopes > 0).all() and ahead[:, -1].min() > -1e-6 * size:
            what = "raised" if ahead.max() > 1e-6 * size else "all alike"
            yield WARNING, f"Keys after the query are {what}, not lowered.", MASK
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
    if not r.trained or why:
        return (yield ERROR, what, OFFSET)
    r.recognised = Recognised("trained, and no function of the offset alone")
    far = level[:, -n // 4 :, 0]  # FIRE divides by the query's own position
    if np.ptp(far, axis=1).max() < NEAR * size:
        r.recognised = Recognised("trained: FIRE, a share of the query's distances")
        return
    whole = any(p.numel() >= n * n for p in r.first.parameters())
    yield NOTE if whole else WARNING, what, "FIRE divides by the query's position."


def told_mask(r: Bias, level: Array, size: float) -> Found:
    """What is hidden that should not be, and what is not that should."""
    past, ahead, tiny = level[:, -1, ::-1], level[:, 0, :], 1e-6 * size
    hidden, n = np.isnan(ahead), level.shape[-1]
    steps = past[:, 1:2] * np.arange(1, n)
    jumps = [np.abs(ahead[:, 1:] - s * steps) - 1 for s in (1, -1, 0)]
    peaks = {*ahead.argmax(axis=1).tolist()}
    peak = peaks.pop() if len(peaks) == 1 and len(level) > 1 and not r.trained else 0
    for back, words in enumerate(("the position itself", "the position before")):
        masked = np.diagonal(r.table <= HIDDEN, -back, 1, 2).any(axis=1)
        if masked.any():
            what = f"In {masked.sum()} heads the mask hides {words}."
            return (yield ERROR, what, MASK)
    if n > 3 and hidden[:, 2:].all() and not hidden[:, :2].any():
        what = "The mask leaves the next key for each query to see; it hides others."
        yield ERROR, what, MASK
    elif hidden.any():
        return
    elif any(np.abs(jump).max() < NEAR for jump in jumps):
        what = "Keys after the query get 1 more or less: a mask of 0 and 1 was added."
        yield ERROR, f"{what} It hides nothing.", MASK
    elif np.ptp(past, axis=1).max() < tiny < np.ptp(ahead[:, 1:], axis=1).max():
        what = "All keys before the query get one number: queries and keys are swapped."
        yield ERROR, what, OFFSET
    elif 0 < peak < n - 1:
        yield ERROR, f"The bias is highest {peak} after the query itself.", OFFSET


def told_slopes(r: Bias, slopes: Array) -> Found:
    """Straight lines: ALiBi's, or whose?"""
    heads, trained = len(slopes), "trained, beginning as " * r.trained
    names = {"program": "the slopes of Press et al. (2022)"}
    for rule, words in (names | {"paper": "ALiBi, its printed formula"}).items():
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
        how = f": 2**({step:.3g} h {start:+.3g}), {wanted}" * bool(on.all())
        level = ERROR if heads > 1 and step > 0.01 else WARNING
        yield level, f"The slopes are not ALiBi's{how}.", ""


def told_function(r: Bias, level: Array, size: float) -> Found:
    """A number for each offset: T5's buckets, others, a line that bends."""
    past, ahead, n = level[:, -1, ::-1], level[:, 0, :], level.shape[-1]
    both = np.concatenate([past[:, :0:-1], ahead], 1)
    offsets = np.arange(1 - n, n)
    symmetric = np.allclose(past, ahead, equal_nan=True)
    keep = np.isfinite(both).all(axis=0) & ((offsets <= 0) | (not symmetric))
    numbers, offsets = np.round(both[:, keep].T / size, 6), offsets[keep]
    names = np.unique(numbers, axis=0, return_inverse=True)[1].ravel().tolist()
    whole = {int(v) for v in r.maker.numbers if 4 < v < 2**20}
    held = {size for p in r.first.parameters() for size in p.shape}
    counts = {n for n in {32, *whole} & held if n % 4 == 0}
    for causal, count, most in product((True, False), counts, {128, *whole}):
        if most <= count // 2:
            continue
        asked = {"num_buckets": count, "max_distance": most}
        wanted = t5_buckets(offsets, causal=causal, **asked).tolist()
        pairs = {*zip(names, wanted, strict=True)}
        if len(pairs) == len({*names}) == len({*wanted}) > 4:
            words = "a causal mask" if causal else "both directions"
            r.recognised = Recognised(f"T5's {count} buckets, for {words}")
            rows = [p.detach().double().numpy() for p in r.first.parameters()]
            own = [p[wanted] - p[0] for p in rows if p.shape == (count, len(past))]
            if own and all(np.abs(o / size - numbers).max() > NEAR for o in own):
                yield ERROR, "T5's buckets, with queries and keys swapped.", OFFSET
            return
    yield from told_bends(r, past, ahead, 1e-6 * size)


def told_bends(r: Bias, past: Array, ahead: Array, tiny: float) -> Found:
    """Neither straight nor T5's: where it bends, and whether it falls."""
    steps = np.nan_to_num(np.diff(past, axis=1))
    starts = np.flatnonzero(np.abs(steps).max(axis=0) > tiny) + 1
    falls = ", that falls" * bool((steps <= tiny).all())
    after = np.flatnonzero(np.abs(np.nan_to_num(np.diff(ahead))).max(axis=0) > tiny) + 1
    gaps = starts[1:][np.diff(starts) > 1]  # where what several share ends
    each = f"each of {len(starts) + 1} ranges of" if len(gaps) else "each"
    words = f"{'trained: ' * r.trained}a number for {each} distance up to "
    reach = max(starts, default=0), max(after, default=0)
    r.recognised = Recognised(f"{words}{reach[0]}{falls}")
    if 0 < reach[1] != reach[0]:
        what = f"Numbers end at {reach[0]} before the query, at {reach[1]} after it."
        yield WARNING, what, "From -k to k there are 2k + 1."
    if r.trained and len(starts) < past.shape[1] // 2 and len(gaps):
        begin = some(gaps.tolist())
        what = f"Buckets that grow, but not as T5's: wider ones end at {begin}."
        yield WARNING, what, "16 + log(distance / 16) / log(128 / 16) * 16?"
    elif len(starts) and not r.trained:
        yield WARNING, "It follows no formula that is known here.", ""
