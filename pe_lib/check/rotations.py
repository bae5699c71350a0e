"""Rotations of pairs of columns, named; and what is no rotation."""

import math
from dataclasses import replace
from itertools import product

import numpy as np

from pe_lib.check.call import Array
from pe_lib.check.kinds import Rotary
from pe_lib.check.reader import NEAR
from pe_lib.check.report import ERROR, NOTE, UNCHECKED, WARNING, Found, Recognised
from pe_lib.check.tables import told_formula
from pe_lib.check.waves import SIXTEEN, identify, rounded

PUBLISHED = 1e4, 5e5, 1e6  # bases that published models have


def pairs_of(m: Array) -> Array | None:
    """[2, pairs] columns that are rotated together; None if others are mixed."""
    reach = np.abs(m).max(axis=0) > 1e-6
    np.fill_diagonal(reach, False)
    reach |= reach.T
    if (reach.sum(axis=1) > 1).any() or not reach.any():
        return None
    pairs: Array = np.argwhere(np.triu(reach)).T
    return pairs


def hands_of(m: Array, pairs: Array) -> Array:
    """cos + i sin of each pair, [length, pairs]."""
    a, b = pairs
    hands: Array = m[:, a, a] + 1j * m[:, b, a]
    return hands


def no_rotation(m: Array, pairs: Array) -> str:
    """Why pairs of columns are not rotated, in words; empty if they are."""
    a, b = pairs
    cos, sin, sin2, cos2 = m[:, a, a], m[:, b, a], -m[:, a, b], m[:, b, b]
    turned = np.abs(sin).max() > NEAR
    in_place = max(np.abs(sin - cos * sin2).max(), np.abs(cos2 - cos + sin2**2).max())
    if turned and in_place < NEAR:
        return "The second of a pair is computed from the first after its rotation."
    if turned and np.abs(sin + sin2).max() < NEAR:
        return "The minus sign of one sine is missing."
    apart = max(np.abs(cos - cos2).max(), np.abs(sin - sin2).max())
    if apart <= NEAR:
        return ""
    return (
        "The two columns of a pair take different angles: laid out for halves and "
        "paired as neighbours, or the other way round."
    )


def told_keys(r: Rotary, pairs: Array, queries: Array) -> Found:
    """How the keys are rotated otherwise than the queries."""
    other = pairs_of(r.matrices[1])
    if other is not None and not np.array_equal(other, pairs):
        layout = layout_of(pairs) or "of their own"
        what = f"Pairs of queries are {layout}, and those of keys are not."
        return (yield ERROR, what, "Pair the same columns in both.")
    keys = hands_of(r.matrices[1], pairs)
    rest = np.setdiff1d(np.arange(r.width), pairs)
    tails = [np.diagonal(part, 0, 1, 2)[:, rest] for part in r.matrices[:2]]
    one, two = (h / np.maximum(np.abs(h), 1e-9) for h in (queries, keys))
    off = np.abs(one - two).max(axis=1)
    if not np.allclose(tails[0], tails[1], atol=NEAR):
        what = "The columns that are not rotated differ in queries and keys."
        yield ERROR, what, "Leave them as they are given."
    elif np.allclose(keys, queries / 2, atol=NEAR) or np.allclose(
        queries, keys * 4, atol=NEAR
    ):
        what = "Queries and keys come back swapped, or as one and the same."
        yield ERROR, what, "Return queries, then keys."
    elif off.max() > NEAR and "x" not in r.failed:
        t = off.argmax()
        turn = np.abs(np.angle(one[t] / two[t])).max()
        how = f"at position {t} by {turn:.2g} radians"
        if np.abs(one - two.conj()).max() < NEAR:
            how = "the keys are rotated the other way"
        what = f"Queries and keys get different angles: {how}."
        yield ERROR, what, "Rotate both by position times frequency."


def spoilt(hands: Array) -> str:
    """What was done to cosines and sines, in words; empty if nothing known."""
    both, first = np.c_[hands.real, hands.imag], np.abs(hands.real[0]).mean()
    for kind, name in SIXTEEN.items():
        if np.abs(rounded(kind, both) - both).max() < 1e-7:
            return f"Cosines and sines are rounded to {name}."
    alone = np.abs(np.hypot(hands.real / max(first, 1e-9), hands.imag) - 1).max()
    if abs(first - 1) > NEAR > alone:
        return f"Cosines are multiplied by {first:.4g}, and sines are not."
    return ""


def told_turns(r: Rotary) -> Found:
    """Pairs of columns, each rotated by one angle; then its cosines and sines."""
    m, fix = r.matrices[0], "Rotate pairs: (x1 cos - x2 sin, x1 sin + x2 cos)."
    if not np.isfinite(m).all() or not np.ptp(m, axis=0).any() or "axes" in r.failed:
        return (yield UNCHECKED, "what comes back are no rotations, or infinite.", "")
    if not r.failed and is_mixed(r):
        what = "A vector is mixed with those of other positions or heads."
        return (yield ERROR, what, "transpose, not reshape.")
    yield from told_places(r)
    m = r.matrices[0]
    pairs = pairs_of(m)
    mixed = "Columns are mixed by more than two, or not at all: no rotations of pairs."
    if pairs is None or (flaw := no_rotation(m, pairs)):
        return (yield ERROR, mixed if pairs is None else flaw, fix)
    rest = np.setdiff1d(np.arange(r.width), pairs)
    zeros = int((~np.diagonal(m, 0, 1, 2)[:, rest].any(axis=0)).sum())
    if zeros:
        what = f"{zeros} of {rest.size} unrotated columns come back as zeros."
        return (yield ERROR, what, "Return them as they are given.")
    hands = hands_of(m, pairs)
    if flaw := spoilt(hands):
        return (yield ERROR, flaw, "Scale both alike; convert what was rotated, last.")
    if len(r.parts) > 1:
        apart = [*told_keys(r, pairs, hands)]
        yield from apart
        if apart:
            return
        sizes = np.abs([hands, hands_of(r.matrices[1], pairs)])
        if np.ptp(sizes, axis=1).max(axis=1).min() > NEAR:
            if np.ptp(sizes.prod(axis=0), axis=0).max() > NEAR:
                what = "Queries and keys change in size, and not by reciprocal factors."
                return (yield ERROR, what, "As in xPos: scale**t and scale**-t.")
            hands = hands / sizes[0]
    yield from told_hands(r, hands, layout_of(pairs))


def is_mixed(r: Rotary) -> bool:
    """Whether not each vector is rotated on its own."""
    call = r.alone(r.matrices.shape[1])
    call = call.but(content=3)
    got = r.answer(call)[:, :1]
    sent = r.x(call)[:, :1].double().numpy()
    want: Array = np.einsum("ptij,bhtj->bhtpi", r.matrices, sent).reshape(got.shape)
    return bool(np.isfinite(want).all()) and r.differ(got, want)


def told_places(r: Rotary) -> Found:
    """Columns that come back elsewhere at position 0, where none is rotated."""
    here = np.arange(r.width)
    orders = np.abs(r.matrices[:2, 0]).argmax(axis=2)
    laid = np.eye(r.width)[orders]
    if (orders == here).all() or np.abs(laid - r.matrices[:2, 0]).max() > NEAR:
        return
    r.matrices[:2] = laid.swapaxes(1, 2)[:, None] @ r.matrices[:2]
    apart = (orders != orders[0]).any()
    at = np.flatnonzero((orders != here).any(axis=0))[0]
    whose = [f"of {n} {o[at]}" for n, o in zip(r.parts, orders, strict=False)]
    what = f"Columns change places: column {at} is {' and '.join(whose)}."
    yield ERROR if apart else WARNING, what, "Put the two of a pair where they were."


def layout_of(pairs: Array) -> str:
    """How pairs lie, in a word."""
    a, b = pairs
    beside = (a % 2 == 0).all() and (b == a + 1).all()
    return "interleaved" if beside else "half-split" if {*(b - a)} == {len(a)} else ""


def told_scaled(r: Rotary, hands: Array, more: str) -> Found:
    """Frequencies times a number of the class: all of them, or the slow ones alone."""
    count = hands.shape[1]
    rates = np.ptp(np.unwrap(np.angle(hands), axis=0), axis=0) / (len(hands) - 1)
    said = {v for v in r.maker.numbers if v > 1} if count > 3 else set()
    for base, by in product({1e4, *PUBLISHED, *said}, said):
        plain = base ** (-np.arange(count) / count)
        kept = rates / plain
        ends = kept[[0, -1]] * (1, by), kept[[0, -1]] * (by, 1)
        slow, fast = (np.abs(e - 1).max() < 0.01 for e in ends)
        if np.abs(hands[1] - np.exp(1j * by * plain) * hands[0]).max() < NEAR:
            what = f"Positions are multiplied by {by:g}, not divided."
            yield ERROR, what, "t / factor."
        elif fast or (slow and np.diff(kept).max() > 0.01):
            what = f"Divided by {by:g} are not the frequencies of the slow pairs alone."
            yield ERROR, what, "What turns fast is kept, what is slow is divided."
        elif slow:
            words = f"rotary, base {base:.6g}, slow pairs up to {by:g} times slower"
            r.recognised = Recognised(words + more, base)


def stretched_by(r: Rotary) -> tuple[float, ...]:
    """NTK-aware bases that factors among the class's arguments give."""
    said = [v for v in r.maker.numbers if v >= 1]
    power = r.width / (r.width - 2) if r.width > 2 else 1
    return tuple(base * v**power for base in (1e4, *said) for v in said if v < 1e3)


def told_hands(r: Rotary, hands: Array, layout: str) -> Found:
    """Even steps of whole rotations, with named frequencies."""
    turned = 2 * hands.shape[1]
    part = f"{turned} of {r.width} columns"
    more = f", {layout}" * bool(layout) + f", {part}" * (turned < r.width)
    if turned < r.width and not {turned, turned / r.width} & r.maker.numbers:
        unsaid = ", and no argument of the class says so" * r.maker.is_class
        level = WARNING if r.maker.is_class else NOTE
        what = f"Only {part} are rotated{unsaid}."
        yield level, what, "The frequencies of all pairs, or rotary_dim."
    sizes, step = np.abs(hands), hands[1:] * hands[:-1].conj()
    factor = float(sizes.mean())
    yarn = {0.1 * math.log(v) + 1 for v in r.maker.numbers if v > 1}
    meant = 1, *yarn, *r.maker.numbers
    if not r.failed and all(abs(factor - v) > NEAR for v in meant):
        what = f"Vectors become {factor:.4g} times as long."
        yield WARNING, what, "A rotation keeps norms."
    yield from (scaled := [*told_scaled(r, hands / sizes, more)])
    if scaled or r.recognised:
        return
    g = identify(np.concatenate([hands.imag, hands.real], 1))
    grows = np.ptp(sizes, axis=0).max() > 2e-4
    uneven = np.abs(step - step[0]).max(axis=1)
    known = g is not None and g.agrees.all()  # fast ones are rounded in float32
    if grows or (uneven.max() > 0.02 and not known):
        what = "The norm of a vector changes" if grows else "The angle grows unevenly"
        changes = np.abs(sizes - sizes[0]).max(1) if grows else np.r_[0, uneven]
        like = g.looks_like() if g and g.is_plain else ""
        first = (changes > 2e-4).argmax()
        words = f"{what} with the position, first at {first:,}{like}."
        yield ERROR, words, "position times frequency, in float32."
    elif g is None:
        r.recognised = Recognised(f"rotary, frequencies of its own{more}")
    else:
        layout = layout.replace("-", "_")
        named = f"rotary, base {g.series.base:.6g}"
        words = ", ".join([named, *g.odd({g.start, g.scale, g.series.base})]) + more
        r.recognised = replace(g.recognised(), words=words, layout=layout, first="")
        yield from told_formula(r, g, PUBLISHED + stretched_by(r))
