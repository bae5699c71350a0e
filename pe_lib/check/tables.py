"""Rows of numbers, named: which formula, and where they do not follow it."""

import contextlib
import math
from collections.abc import Collection, Iterator

import numpy as np

from pe_lib.check.call import Array, ForeignError, some
from pe_lib.check.kinds import Rotary
from pe_lib.check.reader import NEAR, PLAIN, READ, Reader
from pe_lib.check.report import ERROR, NOTE, UNCHECKED, WARNING, Found, Recognised
from pe_lib.check.rows import repeated
from pe_lib.check.waves import UNITS, Sinusoid, identify, slip

OTHER = "checkpoints trained with one do not fit the other"


def told_rows(r: Reader) -> Found:
    """Of a module that adds rows."""
    codes = r.table
    tells = np.isfinite(codes).all() and np.ptp(codes, axis=0).any()
    g = identify(codes) if tells and codes.shape[1] > 1 else None
    again = None if g or not tells else repeated(codes)
    if again and again[0] > 5:  # from there on "distinct" tells
        codes = codes[: again[0]]
        g = identify(codes)
    if r.trained:
        begins = f", begins as {g.words}" if g and g.agrees.all() else ""
        r.recognised = Recognised(f"trained encodings{begins}")
        own = max((p.numel() for p in r.begun.parameters() if p.any()), default=0)
        if begins and own >= codes.size:
            what = f"Rows of {g.words if g else ''}, and training changes them."
            yield WARNING, what, "register_buffer, where they are meant to stay."
    elif not tells:
        yield UNCHECKED, "the rows are all alike, or not finite.", ""
    elif g:
        r.recognised = g.recognised()
        yield from told_formula(r, g)
    else:
        yield from told_unknown(r, codes)


def is_scrambled(codes: Array) -> bool:
    """Whether these are the usual numbers, all of them in other places."""
    ideal = Sinusoid(codes)
    both = np.sort(codes.ravel()), np.sort(ideal.waves(ideal.angles).ravel())
    return codes.shape[1] % 2 == 0 and np.allclose(*both, atol=NEAR)


def told_unknown(r: Reader, codes: Array) -> Found:
    """No formula fits half of the numbers."""
    constant = np.flatnonzero(np.ptp(codes, axis=0) < 1e-6 * np.abs(codes).max())
    if is_scrambled(codes):
        what = "The numbers of Vaswani et al. in other places: rows mix positions."
        yield ERROR, what, "transpose, not view."
    elif len(constant):
        alike = "the same at every position" if codes[:, constant].any() else "0"
        what = f"Columns {some(constant.tolist())} are {alike}."
        yield ERROR, what, "Fill all of them."
    elif again := repeated(codes.T):
        yield ERROR, f"Columns {again[1]} and {again[0]} are the same.", ""
    elif drawn(r):
        yield NOTE, "It is drawn at random, and not trained.", ""
    else:
        yield WARNING, "It follows no formula that is known here.", ""


def told_formula(r: Reader, g: Sinusoid, published: Collection[float] = ()) -> Found:
    """What the formula itself comes to, and then the numbers that do not agree."""
    rotary = isinstance(r, Rotary)
    speeds = g.frequencies[g.columns[1] == 0]
    sines, cosines = np.array(g.kinds) % 2
    other = g.odd(
        r.maker.numbers.union(published, {g.start, g.scale} if rotary else ())
    )
    told, fix = ", ".join(other), "10000**(-2j/d) is the frequency of pair j."
    if sines == cosines:
        what = f"All columns are {('sines', 'cosines')[sines]}."
        yield ERROR, what, "Sine and cosine of one angle make a pair."
    elif g.other:
        yield ERROR, told_apart(g, g.codes.shape[1]), fix
    elif len(speeds) > 1 and np.ptp(speeds) < 1e-4 * speeds.max():
        yield ERROR, "All pairs have one frequency.", fix
    elif speeds.max() > 3.2 and not (rotary and g.series.base > 1):
        what = f"The fastest pair turns by {speeds.max():.3g} radians a position"
        yield ERROR, f"{what}: {told}.", fix
    elif rotary and g.cosine_first:
        swapped = "Sines stand where cosines should, and cosines where sines should"
        yield ERROR, f"{swapped}: {OTHER}.", "(cos, sin)."
    elif max(g.kinds) > 1:
        named = zip(("sines", "cosines"), g.kinds, strict=True)
        names = " and ".join(n for n, k in named if k > 1)
        level = WARNING if rotary or " and " in names else ERROR
        yield level, f"The {names} have the wrong sign: {OTHER}.", ""
    elif other and (rotary or not g.name):
        level = WARNING
        if rotary:  # one that stretches itself says so
            ends = r.answer(r.alone(2)), r.answer(r.alone(r.limit))[:, :, :2]
            level = NOTE if r.differ(*ends) else WARNING
        level = ERROR if slip(g.series.unit, UNITS) else level
        paper = "Su et al. (2021)" if rotary else "Vaswani et al. (2017)"
        yield level, f"Not the formula of {paper}: {told}; {OTHER}.", ""
    if not g.agrees.all() and not g.other and sines != cosines:
        yield from told_spoilt(r, g)


def told_apart(g: Sinusoid, d: int) -> str:
    """Sines and cosines of a pair that have two series of frequencies."""
    assert g.other is not None
    one, two = (s.frequencies(d / 2) for s in (g.series, g.other))
    j = min(1, len(one) - 1)
    powers = [-np.log(f[[0, j]]) / math.log(1e4) * d for f in (one, two)]
    exponents = [f"10000**(-({p[1] - p[0]:.3g}j + {abs(p[0]):.2g})/d)" for p in powers]
    return f"Sine and cosine of a pair have two frequencies: {' and '.join(exponents)}."


def told_spoilt(r: Reader, g: Sinusoid) -> Found:
    """The numbers that do not agree: rows, columns, single ones; what they are."""
    rows, columns = (np.flatnonzero(~g.agrees.all(axis)) for axis in (1, 0))
    worst, like = g.off[~g.agrees].max(initial=0), g.looks_like()
    count, d = g.codes.shape
    part = 100 * (1 - g.agrees.mean())
    share = f"{part:.2g} % of the numbers differ, by up to {worst:.2g}"
    few_rows = len(rows) <= count // 4
    if [*rows] == [0] and not g.codes[0].any():
        yield WARNING, "Position 0 gets zeros, as if it were padding.", ""
    elif few_rows:
        level = ERROR if rows[0] < PLAIN else WARNING
        what = f"{share}, in positions {some(rows.tolist())} alone{like}."
        yield level, what, "Compute each position alike."
    elif len(columns) <= d // 2:
        what = f"{share}, in columns {some(columns.tolist())} alone{like}."
        yield ERROR, what, "Compute each column from its own angle."
    else:
        t, i = np.argwhere(~g.agrees)[0]
        what = f"{share}, first at position {t}, column {i}{like}."
        slight = worst < 0.01 and not isinstance(r, Rotary)
        yield WARNING if slight else ERROR, what, ""


def ignored(r: Reader) -> Iterator[str]:
    """Constants of formulas, among the arguments of the class, that change nothing."""
    call = r.upto(READ)
    for name, maker in r.maker.others():
        with contextlib.suppress(ForeignError):
            other = r.rows(r.filled(r.build(maker=maker)), call)
            if np.array_equal(other, r.answer(call), equal_nan=True):
                yield name


def drawn(r: Reader) -> bool:
    """Whether a module from another seed gives something else."""
    other = r.rows(r.build(seed=5), r.call())
    return r.differ(other, r.begins(r.call()))
