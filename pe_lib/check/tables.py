"""Rows of numbers, named: which formula, and where they do not follow it."""

from collections.abc import Collection

import numpy as np

from pe_lib.check.call import Array, some
from pe_lib.check.kinds import Rotary
from pe_lib.check.reader import NEAR, PLAIN, Reader
from pe_lib.check.report import ERROR, NOTE, UNCHECKED, WARNING, Found, Recognised
from pe_lib.check.rows import repeated
from pe_lib.check.waves import SPACINGS, Series, Sinusoid, identify


def told_rows(r: Reader) -> Found:
    """Of a module that adds rows."""
    codes = r.table
    tells = np.isfinite(codes).all() and np.ptp(codes, axis=0).any()
    g = identify(codes) if tells and codes.shape[1] > 1 else None
    if r.trained:
        begins = f", begins as {g.words}" if g and g.agrees.all() else ""
        r.recognised = Recognised(f"trained encodings{begins}")
        own = [p for p in r.begun.parameters() if p.requires_grad and p.any()]
        if begins and any(p.numel() >= codes.size for p in own):
            what = f"Rows of {g.words if g else ''}, and training changes them."
            yield WARNING, what, "register_buffer, where they are meant to stay."
    elif not tells:
        yield UNCHECKED, "the rows are all alike, or not finite.", ""
    elif g:
        r.recognised = g.recognised()
        yield from told_formula(r, g)
    else:
        yield from told_unknown(r, codes)


def told_unknown(r: Reader, codes: Array) -> Found:
    """No formula fits a third of the numbers."""
    constant = np.flatnonzero(np.ptp(codes, axis=0) < 1e-6 * np.abs(codes).max())
    if len(constant):
        alike = "the same at every position" if codes[:, constant].any() else "0"
        what = f"Columns {some(constant.tolist())} are {alike}."
        yield ERROR, what, "Fill all of them."
    elif again := repeated(codes.T):
        yield ERROR, f"Columns {again[1]} and {again[0]} are the same.", ""
    elif moved := elsewhere(codes):
        yield ERROR, moved, "stack(..., -1).flatten(-2), or transpose before reshape."
    elif r.differ(r.rows(r.build(seed=5), r.call()), r.begins(r.call())):
        yield NOTE, "It is drawn at random, and not trained.", ""
    else:
        yield WARNING, "It follows no formula that is known here.", ""


def elsewhere(codes: Array) -> str:
    """Whether it has all the numbers of a formula, in other places, in words."""
    for spacing in SPACINGS:
        g = Sinusoid(codes, Series(spacing=spacing))
        meant = g.waves(g.angles)
        if np.abs(np.sort(meant, None) - np.sort(codes, None)).max() < NEAR:
            rare = ~g.agrees & (np.abs(np.abs(codes) - 0.5) < 0.4)
            t, i = np.unravel_index(rare.argmax(), rare.shape)
            nearest = np.abs(meant - codes[t, i]).argmin()
            at, column = np.unravel_index(nearest, meant.shape)
            what = f"position {t} has in column {i} that of position {at}, column"
            return (
                f"The numbers of sines and cosines, in other places: {what} {column}."
            )
    return ""


def told_formula(r: Reader, g: Sinusoid, published: Collection[float] = ()) -> Found:
    """What the formula itself comes to, and then the numbers that do not agree."""
    rotary = isinstance(r, Rotary)
    said = r.numbers.union(published, {g.start, g.scale} if rotary else ())
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
