"""Rotations of pairs of columns, named; and what is no rotation."""

import math
from dataclasses import replace

import numpy as np

from pe_lib.check.call import Array, some
from pe_lib.check.kinds import Rotary
from pe_lib.check.reader import NEAR
from pe_lib.check.report import ERROR, NOTE, UNCHECKED, WARNING, Found, Recognised
from pe_lib.check.tables import told_formula
from pe_lib.check.waves import Sinusoid, identify

PUBLISHED = 1e4, 5e5, 1e6  # bases that published models have


def mates_of(m: Array) -> Array:
    """[dim, dim] whether two columns are rotated together."""
    reach: Array = np.abs(m).max(axis=0) > 1e-6
    np.fill_diagonal(reach, False)
    return reach | reach.T


def hands_of(m: Array, pairs: Array) -> Array:
    """cos + i sin of each pair, [length, pairs]."""
    a, b = pairs
    hands: Array = m[:, a, a] + 1j * m[:, b, a]
    return hands


def no_rotation(m: Array, pairs: Array) -> str:
    """Where a pair of columns is not rotated, in words; empty if all are."""
    a, b = pairs
    off = np.maximum(np.abs(m[:, a, a] - m[:, b, b]), np.abs(m[:, a, b] + m[:, b, a]))
    if off.max() <= NEAR:
        return ""
    t, j = np.argwhere(off > NEAR)[0]
    one, two = a[j], b[j]
    rows = [f"{m[t, i, one]:.3g} x{one} {m[t, i, two]:+.3g} x{two}" for i in (one, two)]
    told = f"columns {one} and {two} become {' and '.join(rows)}"
    return f"At position {t} {told}: no rotation."


def told_keys(r: Rotary, pairs: Array, queries: Array) -> Found:
    """How the keys are rotated otherwise than the queries."""
    mates = mates_of(r.matrices[1])
    if (apart := np.argwhere(mates != mates_of(r.matrices[0]))).size:
        a, b = apart[0]
        whose = r.parts[int(mates[a, b])]
        what = f"Only in the {whose} columns {a} and {b} are rotated together."
        return (yield ERROR, what, "Pair the same columns in both.")
    keys = hands_of(r.matrices[1], pairs)
    one, two = (h / np.maximum(np.abs(h), 1e-9) for h in (queries, keys))
    off = np.abs(one - two)
    if off.max() > NEAR and "x" not in r.failed:
        t, j = np.argwhere(off > NEAR)[0]
        turns = [f"{np.angle(h[t, j]):.3g}" for h in (queries, keys)]
        what = f"At position {t} pair {j} turns by {' and '.join(turns)} radians"
        what = f"{what} in queries and keys."
        yield ERROR, what, "Rotate both by position times frequency."


def told_turns(r: Rotary) -> Found:
    """Pairs of columns, each rotated by one angle; then its cosines and sines."""
    m, fix = r.matrices[0], "Rotate pairs: (x1 cos - x2 sin, x1 sin + x2 cos)."
    if not np.isfinite(m).all() or not np.ptp(m, axis=0).any():
        return (yield UNCHECKED, "what comes back are no rotations, or infinite.", "")
    if not r.failed and is_mixed(r):
        what = "A vector is mixed with those of other positions or heads."
        return (yield ERROR, what, "transpose, not reshape.")
    yield from told_places(r)
    m = r.matrices[0]
    mates = mates_of(m)
    if (many := mates.sum(axis=1) > 1).any() or not mates.any():
        i = int(many.argmax())
        what = f"Column {i} is mixed with {mates[i].sum()} others, and not with one."
        return (yield ERROR, what, fix)
    pairs: Array = np.argwhere(np.triu(mates)).T
    if flaw := no_rotation(m, pairs):
        return (yield ERROR, flaw, fix)
    hands = hands_of(m, pairs)
    rest = np.setdiff1d(np.arange(r.width), pairs)
    tails = np.diagonal(r.matrices[: len(r.parts)], 0, 2, 3)[..., rest]
    usual = [np.abs(tails - v).max(initial=0) for v in (1, np.abs(hands[0, 0]))]
    if min(usual) > NEAR:
        part, _, i = np.argwhere(np.abs(tails - 1) > NEAR)[0]
        what = f"Column {rest[i]} of the {r.parts[part]} is not rotated, and comes back"
        what = f"{what} {tails[part, 0, i]:.3g} times."
        return (yield ERROR, what, "Return what is not rotated as it is given.")
    if len(r.parts) > 1:
        if apart := [*told_keys(r, pairs, hands)]:
            return (yield from apart)
        scores = np.abs(hands * hands_of(r.matrices[1], pairs))
        even = np.ptp(scores, axis=0).max() < NEAR  # as in xPos
        if even or "x" not in r.failed:
            scores = scores[:1] if even else scores
            hands = hands / np.maximum(np.abs(hands), 1e-9) * np.sqrt(scores)
    yield from told_rest(r, rest)
    a, b = pairs
    layout = "half-split" if {*(b - a)} == {len(a)} else ""
    layout = "interleaved" if (a % 2 == 0).all() and (b == a + 1).all() else layout
    yield from told_hands(r, hands, layout)


def told_rest(r: Rotary, rest: Array) -> Found:
    """Whether what does not turn is meant: as an argument says, and in one place."""
    turned, half = r.width - len(rest), r.width // 2
    gaps = np.diff(np.unique(rest % half if len(rest) % 2 == 0 else rest))
    apart = (gaps > 1).any() or (np.diff(rest) > 1).sum() > 1
    said = {turned, turned / r.width} & r.numbers
    if turned == r.width or (said and not apart):
        return
    what = f"Only {turned} of {r.width} columns turn, not {some(rest.tolist())}"
    unsaid = ", and no argument of the class says so" * r.maker.is_class
    level = WARNING if apart or unsaid or 4 * turned < r.width else NOTE
    fix = "base ** (-2j / d), with its brackets, for each pair j; or rotary_dim."
    yield level, f"{what}{unsaid}.", fix


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
    at = np.flatnonzero((orders != here).any(axis=0))[0]
    whose = [f"of {n} {o[at]}" for n, o in zip(r.parts, orders, strict=False)]
    what = f"Columns change places: column {at} is {' and '.join(whose)}."
    yield WARNING, what, "Put the two of a pair where they were."


def told_hands(r: Rotary, hands: Array, layout: str) -> Found:
    """Even steps of whole rotations, with named frequencies."""
    turned = 2 * hands.shape[1]
    part = f", {turned} of {r.width} columns" * (turned < r.width)
    more = f", {layout}" * bool(layout) + part
    sizes, step = np.abs(hands), hands[1:] * hands[:-1].conj()
    g = identify(np.concatenate([hands.imag, hands.real], 1))
    factor = float(sizes.mean())
    grows = np.ptp(sizes, axis=0).max() > 2e-4
    if not (grows or r.failed):
        yarn = {0.1 * math.log(v) + 1 for v in r.numbers if v > 1}
        if all(abs(factor - v) > NEAR for v in (1, *yarn, *r.numbers)):
            what = f"Vectors become {factor:.4g} times as long."
            yield WARNING, what, "A rotation keeps norms."
    uneven = np.abs(step - step[0]).max(axis=1)
    known = g is not None and g.agrees.all()  # fast ones are rounded in float32
    if grows or (uneven.max() > 0.02 and not known):
        what = "The norm of a vector changes" if grows else "The angle grows unevenly"
        changes = np.abs(sizes - sizes[0]).max(1) if grows else np.r_[0, uneven]
        first, most = (changes > 2e-4).argmax(), changes.max()
        words = f"{what} with the position, by up to {most:.2g}, first at {first:,}."
        norms = "; what scales queries must divide keys" * (r.count > 1)  # as in xPos
        norms = f"A rotation keeps norms{norms}."
        yield ERROR, words, norms if grows else "position times frequency, in float32."
    elif flaw := "" if known else told_pairs(g, step):
        level = WARNING if g is None or is_slowed(g, step) else ERROR
        fix = "Each pair slower than those before; a scaling slows these less."
        yield level, f"{flaw}.", fix
    elif g is None or is_slowed(g, step):
        r.recognised = Recognised(f"rotary, frequencies of its own{more}")
    else:
        layout = layout.replace("-", "_")
        named = f"rotary, base {g.series.base:.6g}"
        words = ", ".join([named, *g.odd({g.start, g.scale, g.series.base})]) + more
        r.recognised = replace(g.recognised(), words=words, layout=layout)
        yield from told_base(r, g, turned)


def told_base(r: Rotary, g: Sinusoid, turned: int) -> Found:
    """Whether its base is one that others have, over as many columns."""
    base, power = g.series.base, r.width / max(r.width - 2, 1)
    longer = [(b, v) for b in (1e4, *r.numbers) for v in r.numbers if 1 <= v < 1e3]
    said = [*PUBLISHED, *r.numbers, *(b * v**power for b, v in longer)]  # by NTK
    whole = base ** (r.width / turned) if turned < r.width else math.nan
    is_of_all = np.isclose(said, whole, 5e-3).any()
    if is_of_all and not np.isclose(said, base, 1e-3).any():
        what = f"Base {base:.6g} over {turned} columns, or the first {turned // 2} of"
        what = f"{what} the {r.width // 2} frequencies of base {round(whole):,}"
        yield WARNING, f"{what}: the slower do not turn.", "Rotate all pairs."
        said.append(base)
    yield from told_formula(r, g, said)


def told_pairs(g: Sinusoid | None, step: Array) -> str:
    """Which pairs turn as others do, or otherwise than a scaling, in words."""
    f = np.abs(np.angle(step.mean(axis=0)))
    order = np.argsort(f)
    same = np.flatnonzero((np.diff(f[order]) < 1e-6) & (f[order][1:] > 0.01))
    if same.size:
        i, j = sorted(order[same[-1] :][:2])
        return f"Pairs {i} and {j} turn alike, by {f[i]:.3g} radians a position"
    if g is None or is_slowed(g, step):
        return ""
    kept = f / g.frequencies[: len(f)]
    i = int((np.abs(kept - 1) > 0.01).argmax())
    those = [i, *(i + np.flatnonzero(kept[i:] > kept[i] + 0.01))][:2]
    told = "pair {} turns {:.3g} times as fast, by {:.3g}"
    turns = [told.format(n, kept[n], f[n]) for n in those]
    base = f"{g.series.base:.6g}" + f" by {g.series.unit:.3g}" * (g.series.unit != 1)
    return f"Beside base {base} {', but '.join(turns)} radians a position"


def is_slowed(g: Sinusoid, step: Array) -> bool:
    """Whether other turns than the formula's are slower and slower, as in Llama 3."""
    kept = np.angle(step.mean(axis=0)) / g.frequencies[: step.shape[1]]
    return not g.agrees.all() and bool((np.diff(kept) < 0.01).all())
