"""Rows of numbers: which formula, where they do not follow it, which are the same."""

import contextlib
from collections.abc import Collection

import numpy as np

from pe_lib.check.call import Array, ForeignError, some
from pe_lib.check.kinds import Rotary
from pe_lib.check.reader import CLOSE, NEAR, PLAIN, Reader
from pe_lib.check.report import ERROR, NOTE, UNCHECKED, WARNING, Found, Recognised
from pe_lib.check.waves import SPACINGS, Series, Sinusoid, identify


def told_rows(r: Reader) -> Found:
    """Of a module that adds rows."""
    codes = r.table
    tells = np.isfinite(codes).all() and np.ptp(codes, axis=0).any()
    g = identify(codes) if tells and codes.shape[1] > 1 else None
    constant = np.flatnonzero(np.ptp(codes, axis=0) < 1e-6 * np.abs(codes).max())
    if r.trained:
        begins = f", begins as {g.words}" if g and g.agrees.all() else ""
        r.recognised = Recognised(f"trained encodings{begins}")
        own = [p for p in r.begun.parameters() if p.requires_grad and p.any()]
        if begins and any(p.numel() >= codes.size for p in own):
            what = f"Rows of {g.words if g else ''}, and training changes them."
            yield WARNING, what, "register_buffer, where they are meant to stay."
    elif not tells:
        yield UNCHECKED, "the rows are all alike, or not finite.", ""
    elif moved := "" if g and not [*g.flaws()] else elsewhere(r):
        yield ERROR, moved, "stack(..., -1).flatten(-2), or transpose before reshape."
    elif g:
        r.recognised = g.recognised()
        yield from told_formula(r, g)
    elif len(constant):
        what = f"Columns {some(constant.tolist())} are the same at every position."
        yield ERROR, what, "Fill all of them."
    elif again := repeated(codes.T):
        yield ERROR, f"Columns {again[1]} and {again[0]} are the same.", ""
    elif r.differ(r.rows(r.build(seed=5), r.call()), r.begins(r.call())):
        yield NOTE, "It is drawn at random, and not trained.", ""
    else:
        yield WARNING, "It follows no formula that is known here.", ""


def elsewhere(r: Reader) -> str:
    """Whether it has all the numbers of a formula, in other places, in words."""
    codes = r.begins(r.alone(r.limit))[0, 0]
    for spacing in SPACINGS:
        g = Sinusoid(codes, Series(spacing=spacing))
        meant = g.waves(g.angles)
        if np.abs(np.sort(meant, None) - np.sort(codes, None)).max() < NEAR:
            rare = ~g.agrees & (np.abs(np.abs(codes) - 0.5) < 0.4)
            t, i = np.unravel_index(rare.argmax(), rare.shape)
            nearest = np.abs(meant - codes[t, i]).argmin()
            at, j = np.unravel_index(nearest, meant.shape)
            what = f"position {t} has in column {i} that of position {at}, column {j}."
            return f"The numbers of sines and cosines, in other places: {what}"
    return ""


def told_formula(r: Reader, g: Sinusoid, published: Collection[float] = ()) -> Found:
    """What the formula itself comes to, and then the numbers that do not agree."""
    rotary = isinstance(r, Rotary)
    said = r.numbers.union(published, {g.start, g.scale} if rotary else ())
    said |= {g.start} if "positions" in r.failed else set()  # that is told
    other = g.odd(said) + ["a quarter turn at position 0"] * (rotary and g.cosine_first)
    flaws = [*g.flaws()]
    if flaws:
        fix = "10000**(-2j/d) is the frequency of pair j, of its sine and its cosine."
        yield ERROR, f"{'; '.join([*flaws, *other])}.", fix
    elif other and (rotary or not g.name):
        paper = "Su et al. (2021)" if rotary else "Vaswani et al. (2017)"
        what = f"Not the formula of {paper}: {', '.join(other)}."
        yield WARNING, what, "Checkpoints trained with one do not fit the other."
    if not g.agrees.all() and not flaws:
        yield from told_spoilt(r, g)


def told_spoilt(r: Reader, g: Sinusoid) -> Found:
    """The numbers that do not agree: how many, where, and the first of them."""
    bad = ~g.agrees
    rows, columns = (np.flatnonzero(bad.any(axis)) for axis in (1, 0))
    (t, i), worst = np.argwhere(bad)[0], g.off[bad].max()
    few_rows, alone = len(rows) <= len(bad) // 4, ""
    if few_rows or len(columns) <= bad.shape[1] // 2:
        which = ("positions", rows) if few_rows else ("columns", columns)
        alone = f" in {which[0]} {some(which[1].tolist())} alone,"
    came, meant = g.codes[t, i] / g.scale, g.waves(g.angles)[t, i]
    numbers = f"first at position {t}, column {i}: {came:.3g}, not {meant:.3g}"
    share = f"{100 * bad.mean():.3g} % of the numbers differ"
    what = f"{share},{alone} by up to {worst:.2g}, {numbers}."
    is_padding = [*rows] == [0] and not g.codes[0].any()
    is_slight = worst < 0.01 and not isinstance(r, Rotary)
    level = WARNING if rows[0] >= PLAIN or is_padding or is_slight else ERROR
    yield level, what, "Compute every number from its position and frequency."


def looks_like(r: Reader, got: Array, want: Array, loose: float) -> str:
    """How what came differs from what was wanted, in words."""
    got, want = np.broadcast_arrays(got, want)
    off, lost = np.abs(got - want), np.isnan(got) != np.isnan(want)
    bad = lost | (off > loose * np.nanmax(np.abs(want), initial=1e-3))
    sequence, head, t, i = np.argwhere(bad)[0] if bad.any() else (0, 0, 0, 0)
    part, column = divmod(int(i), r.width)
    places = ("sequence", sequence), ("head", head)
    where = "".join(f" in {name} {n}" for name, n in places if n)
    where += f" in the {r.parts[part]}" * (len(r.parts) > 1)
    columns = slice(part * r.width, (part + 1) * r.width)
    with contextlib.suppress(ForeignError):
        whole = r.answer(r.alone(r.limit))[0, 0][:, columns]
        rows, usual = (y[sequence, head][:, columns] for y in (got, want))
        which = same_rows(rows, whole)
        if which and which != same_rows(usual, whole):
            begin = int(t) if t > 3 else 0  # these are as they are wanted
            shown = ", ".join(map(str, which[begin:][:4]))
            shown += ", ..." * (len(which) > begin + 4) + where
            since = f"from row {begin:,} on " * (begin > 0)
            return f"{since}the rows are those of positions {shown}"
    numbers = f"{got[sequence, head, t, i]:.3g}, not {want[sequence, head, t, i]:.3g}"
    size = "" if lost.any() else f", by up to {np.nanmax(off):.2g}"
    share = f"{100 * bad.mean():.3g} % of the numbers differ{size}"
    return f"{share}, first in row {t}, column {column}{where}: {numbers}"


def same_rows(rows: Array, whole: Array) -> list[int]:
    """The numbers of the rows that these are; none if one is not among them."""
    found: list[int] = []
    whole = np.nan_to_num(whole)
    near = CLOSE * max(1e-3, np.abs(whole).max())
    for row in np.nan_to_num(rows):
        off = np.abs(whole - row).max(1)
        if not off.min() < near:
            return []
        found.append(int(off.argmin()))
    return found


def repeated(rows: Array) -> tuple[int, int] | None:
    """The first row that equals an earlier one, and that one."""
    unit = 1e-6 * max(float(np.abs(rows).max(initial=0)), 1e-9)
    seen: dict[bytes, int] = {}
    for later, row in enumerate(np.round(rows / unit) + 0.0):
        earlier = seen.setdefault(row.tobytes(), later)
        if earlier < later:
            return later, earlier
    return None
