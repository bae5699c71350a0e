"""Which formula a table of encodings follows, right or wrong.

Every formula of one list is tried on the whole table, position by position, with the
usual base and those that the table or the module suggests.
"""

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from pe_lib.check.report import ERROR, NOTE, WARNING, Recognised
from pe_lib.conventions import CONVENTIONS

Array = NDArray[np.float64]

MATCH = 2**-7  # bfloat16 rounds 1 to within 2**-9; a table of it is nearer than this
COARSE = 1e-3  # more than a table computed in float32 is off
SCREENED = 40  # positions on which all formulas are tried
ENOUGH = 0.7  # of the numbers agree: then the others are named, by row or by column
NEARLY_ALL = 0.95  # of the numbers agree with a wrong formula that is told
OTHER_WEIGHTS = "checkpoints trained with one do not fit the other"
PAPER = "10000**(-2j/d) is the frequency of pair j, sine and cosine, in radians."
BASE = 10_000.0
LAYOUTS = "interleaved", "half_split"
WAVES: dict[str, Callable[[Array], Array]] = {
    "s": np.sin,
    "c": np.cos,
    "0": np.zeros_like,
}


@dataclass(frozen=True)
class Formula:
    """One way to write encodings: frequencies base ** -((pair * j + first) / d)."""

    name: str  # "sinusoid" if some text means it so
    words: str
    pair: float = 2.0  # per pair j
    cosine: float = 0.0  # what the exponent of the cosine has more than its sine's
    first: float = 0.0
    endpoint: bool = False  # over d - 2, or d/2 - 1 for j, instead of d
    unit: float = 1.0  # by which all angles are multiplied
    waves: str = "sc"
    layout: str = "interleaved"
    cosine_first: bool = False
    start: int = 0
    base: float = BASE

    @property
    def right(self) -> bool:
        """Whether some text means it so."""
        return self.name == "sinusoid"

    def frequencies(self, d_model: int) -> Array:
        """[pairs, 2]: of the sine and of the cosine of each pair."""
        j = np.arange((d_model + 1) // 2)
        over = max(2 * len(j) - 2, 1) if self.endpoint else d_model
        sines = (self.pair * j + self.first) / over
        exponents = np.stack([sines, sines + self.cosine / over], 1)
        return np.asarray(self.unit * self.base**-exponents)

    def table(self, rows: int, d_model: int) -> tuple[Array, Array]:
        """Encodings and their angles, [rows, d_model], in float64."""
        positions = np.arange(rows)[:, None, None] + self.start
        angles = positions * self.frequencies(d_model)
        waves = [WAVES[w](angles[..., i]) for i, w in enumerate(self.waves)]
        both = np.stack([np.stack(waves, 2), angles])
        both = both[..., ::-1] if self.cosine_first else both
        both = both.swapaxes(2, 3) if self.layout == "half_split" else both
        table, angles = both.reshape(2, rows, -1)[..., :d_model]
        return table, angles


OTHER_FREQUENCY = "so that the cosine of a pair has another frequency than its sine"
RIGHT = (
    Formula("sinusoid", "exponent 2j/d"),
    Formula("sinusoid", "exponent j/(d/2-1)", endpoint=True),
    Formula("sinusoid", "exponent 2(j+1)/d", first=2),
    Formula("sinusoid", "exponent (j+1)/(d/2-1)", first=2, endpoint=True),
)
OF_COLUMNS = (
    Formula(
        "exponent_2i_of_column",
        f"exponent 2i/d for every column i, {OTHER_FREQUENCY}",
        pair=4,
        cosine=2,
    ),
    Formula(
        "exponent_i_of_column",
        f"exponent i/d for every column i, {OTHER_FREQUENCY}",
        cosine=1,
    ),
    Formula(
        "cosine_one_step_on",
        "the cosine's exponent one step further on than its sine's",
        cosine=2,
    ),
)
SLIPS = (
    Formula("divided", "positions divided where they should be multiplied", pair=-2),
    Formula(
        "degrees", "the angles in degrees where radians are meant", unit=math.pi / 180
    ),
    Formula("degrees", "the angles converted to degrees", unit=180 / math.pi),
    Formula("turns", "the angles multiplied by 2 pi", unit=2 * math.pi),
    Formula("sines_only", "sines in the columns of the cosines too", waves="ss"),
    Formula("cosines_only", "cosines in the columns of the sines too", waves="cc"),
    Formula("half_empty", "nothing in the columns of the cosines", waves="s0"),
    Formula("half_empty", "nothing in the columns of the sines", waves="0c"),
)
FORMULAS = *RIGHT, *OF_COLUMNS, *SLIPS, *(replace(f, endpoint=True) for f in SLIPS)
SLIPS_OF_BASE = {
    BASE**2: "2j counted twice in the exponent",
    BASE**0.5: "the exponent j/d where 2j/d is meant",
    math.exp(math.log10(BASE)): "a logarithm to base 10, not the natural one",
    math.exp(math.log2(BASE)): "a logarithm to base 2, not the natural one",
}


@dataclass(frozen=True)
class Fit:
    """How well a formula agrees with a table."""

    formula: Formula
    scale: float
    agrees: NDArray[np.bool_]  # [positions, columns]
    gap: float  # the largest difference where it agrees, as a part of the scale
    early: float  # the same over the first positions

    @cached_property
    def share(self) -> float:
        """Of the numbers that agree."""
        return float(self.agrees.mean())

    def spoilt(self, axis: int) -> list[int]:
        """Rows (0) or columns (1) that disagree, where most of the first ones agree."""
        agrees = self.agrees if axis == 0 else self.agrees[:SCREENED]
        bad = np.atleast_1d(~agrees.all(axis=1 - axis))
        most = bad[:SCREENED].mean() > 1 - ENOUGH
        return [] if most else np.flatnonzero(bad).tolist()


def fit(codes: Array, formula: Formula) -> Fit:
    """Compare a table with a formula, up to the scale of its first positions."""
    ideal, angles = formula.table(*codes.shape)
    few, first = codes[:SCREENED], ideal[:SCREENED]
    large = np.abs(first) > 0.3
    scale = float(np.median(few[large] / first[large])) if large.any() else 0.0
    if abs(scale) < 1e-6:
        return Fit(formula, 0.0, np.zeros(codes.shape, bool), math.inf, math.inf)
    off = np.abs(codes - scale * ideal) / abs(scale)
    rounded = 2.0**-22 if formula.right else 2.0**-20  # of an angle, in float32
    agrees = off < MATCH + angles * rounded
    gaps = np.where(agrees, off, 0.0)
    return Fit(formula, scale, agrees, gaps.max(), gaps[:SCREENED].max())


def best_fit(codes: Array) -> Fit | None:
    """The formula that agrees best with encodings, the first of such; None if none."""
    few, best = codes[:SCREENED], None
    bases = dict.fromkeys([BASE, *_bases(few), 1000.0, 100.0])
    tried = [(base, FORMULAS) for base in bases]
    tried.insert(1, (BASE, (*_scaled(few),)))
    for base, formulas in tried:
        ways = product(formulas, LAYOUTS, (False, True), (0, 1, 2))
        for formula, layout, cosine_first, start in ways:
            free = replace(formula, layout=layout, cosine_first=cosine_first)
            found = fit(few, replace(free, base=base, start=start))
            if best is None or _order(found) > _order(best):
                best = found
        if best and best.share == 1 and best.gap < COARSE:
            break
    if best is None or best.share < ENOUGH:
        return None
    whole = fit(codes, best.formula)
    if not whole.formula.right and whole.share < NEARLY_ALL:
        return None
    for figures in range(1, 7):  # 500 rather than 500.0002
        base = float(f"{best.formula.base:.{figures}g}")
        rounder = fit(codes, replace(best.formula, base=base))
        if rounder.share >= whole.share and rounder.gap <= 1.5 * whole.gap + 1e-7:
            return rounder
    return whole


def _order(fit: Fit) -> tuple[float, float]:
    """What agrees in more numbers is better; among equals, what is nearer."""
    return fit.share, -max(fit.gap, 1e-6)


def _bases(codes: Array) -> Iterator[float]:
    """Of what the frequencies of pairs make a geometric sequence, in either spacing."""
    for _, hands in _pairings(codes):
        frequencies = np.abs(frequencies_of(hands * hands[:1].conj()))
        seen = np.flatnonzero(frequencies > 1e-6)
        if len(seen) < 2:
            continue
        logs = np.log(frequencies[seen])
        step = float(np.median((logs[1:] - logs[0]) / (seen[1:] - seen[0])))
        for over in (codes.shape[1] / 2, max(hands.shape[1] - 1, 1)):
            if 0.5 < -step * over < 28:
                yield math.exp(-step * over)


def _scaled(codes: Array) -> Iterator[Formula]:
    """The right formulas for positions that are all multiplied by one number."""
    for _, hands in _pairings(codes):
        found = np.abs(frequencies_of(hands * hands[:1].conj()))
        for formula in RIGHT[:2]:
            ideal = formula.frequencies(codes.shape[1])[: len(found), 0]
            slow = ideal * found[-1] / ideal[-1] < 2  # less than a turn in a step
            factor = float((found / ideal)[slow.argmax()])
            if not 1e-6 < factor < 1e6 or abs(factor - 1) < COARSE:
                continue
            how, by = ("divided", 1 / factor) if factor < 1 else ("multiplied", factor)
            by = float(f"{by:.4g}")
            words = f"positions {how} by {by:.6g}"
            unit = 1 / by if factor < 1 else by
            yield replace(formula, name="scaled", words=words, unit=unit)


def _pairings(codes: Array) -> Iterator[tuple[str, NDArray[np.complex128]]]:
    """Columns in pairs, as cos + i sin of size 1: the layout, [rows, pairs]."""
    pairs = codes.shape[1] // 2
    codes = codes[:, : 2 * pairs]
    for layout, (one, two) in (
        ("interleaved", (codes[:, 0::2], codes[:, 1::2])),
        ("half_split", (codes[:, :pairs], codes[:, pairs:])),
    ):
        for hands in (two + 1j * one, one + 1j * two):
            size = np.abs(hands).mean(axis=0)
            even = np.abs(np.abs(hands) - size).max(axis=0, initial=0) < MATCH * size
            if even.mean() > ENOUGH:
                yield layout, hands / np.maximum(size, 1e-9)


def frequencies_of(hands: NDArray[np.complex128]) -> Array:
    """The frequency of each hand [length, pairs] that turns evenly from angle 0.

    Fitted to all positions: from one it tells the next, twice as far, and so on.
    """
    found = np.angle(hands[1])
    span = 1
    while span < len(hands) - 1:
        span = min(2 * span, len(hands) - 1)
        t = np.arange(1, span + 1)[:, None]
        rest = np.angle(hands[1 : span + 1] * np.exp(-1j * t * found))
        found = found + (t * rest).sum(axis=0) / (t * t).sum()
    return np.asarray(found)


def waves(codes: Array) -> tuple[str, Array] | None:
    """Layout and frequencies, if columns are sines and cosines in pairs."""
    for layout, hands in _pairings(codes):
        frequencies = frequencies_of(hands)
        angles = np.arange(len(codes))[:, None] * frequencies
        if codes.shape[1] % 2 == 0 and np.abs(hands - np.exp(1j * angles)).max() < 0.02:
            return layout, frequencies
    return None


def about(frequencies: Array) -> tuple[str, str] | None:
    """What is wrong with frequencies that follow no formula, where it is known."""
    size = float(np.abs(frequencies).max())
    if len(frequencies) > 1 and np.ptp(frequencies) < 1e-4 * size:
        return ERROR, f"All pairs have one frequency. {PAPER}"
    if len(frequencies) > 2 and np.ptp(np.diff(frequencies)) < COARSE * size:
        return WARNING, f"The frequencies are evenly spaced. {PAPER}"
    return None


def described(
    found: Fit,
    said: Collection[object] = (),
    paper: str = "Vaswani et al. (2017)",
    bases: Collection[float] = (BASE,),
) -> Recognised:
    """What a fit is called, in a name and in words.

    A warning where it differs from the paper, but for what the caller has `said`.
    """
    formula = found.formula
    facts = {
        formula.words: formula.right,
        f"base {formula.base:.6g}": True,
        "half-split": formula.layout == "half_split",
        "cosine first": formula.cosine_first,
        f"from position {formula.start}": formula.start,
    }
    told = ", ".join(words for words, so in facts.items() if so)
    words = _published(formula) or f"the sinusoid with {told}"
    other = ", ".join(_differences(found, said, bases))
    level, hint = NOTE, ""
    if not formula.right:
        words = f"the sinusoid with {formula.words} ({told})"
    if not formula.right and formula.name != "scaled":
        level, hint = ERROR, PAPER
    elif other:
        level, hint = WARNING, f"Not the formula of {paper}: {other}; {OTHER_WEIGHTS}."
    return Recognised(
        formula.name,
        words + f", times {found.scale:.4g}" * (abs(found.scale - 1) > COARSE),
        formula.base,
        "endpoint" if formula.endpoint else "paper",
        formula.layout,
        "cosine" if formula.cosine_first else "sine",
        formula.start,
        found.scale,
        found.gap,
        level,
        hint,
    )


def _differences(
    found: Fit, said: Collection[object], bases: Collection[float]
) -> Iterator[str]:
    """In what a formula differs from the paper's, but for what the caller said."""
    formula, base = found.formula, found.formula.base
    given = [v for v in said if isinstance(v, int | float) and not isinstance(v, bool)]
    if not any(math.isclose(base, known, rel_tol=COARSE) for known in (*bases, *given)):
        slips = [s for b, s in SLIPS_OF_BASE.items() if abs(base / b - 1) < COARSE]
        why = f" ({slips[0]}?)" if slips else ""
        yield f"base {base:.6g} instead of 10000{why}"
    if formula.endpoint and "endpoint" not in said:
        yield "exponent j/(d/2-1) instead of 2j/d"
    if formula.first:
        yield "pairs counted from 1 instead of 0"
    if formula.unit != 1 and formula.unit not in given:
        yield formula.words
    if formula.start not in (0, *given):
        yield f"positions from {formula.start} instead of 0"
    if formula.cosine_first:
        yield "sine and cosine swapped"
    if abs(found.scale - 1) > COARSE and found.scale not in given:
        yield f"all times {found.scale:.4g}"


def _published(formula: Formula) -> str:
    """The text that writes it so; empty if none does."""
    spacing = "endpoint" if formula.endpoint else "paper"
    first = "cosine" if formula.cosine_first else "sine"
    where = formula.layout, first, formula.start
    mine = spacing, formula.first / 2, formula.base, *where
    for k in CONVENTIONS.values():
        theirs = k.spacing, k.first_pair, k.base, k.layout, k.first, k.start
        if theirs == mine and k.source and formula.right:
            return f"the encoding of {k.name}"
    return ""


def exactly_repeated(codes: Array) -> tuple[int, int] | None:
    """The first row that equals an earlier one, and that one."""
    unit = 1e-6 * max(float(np.abs(codes).max(initial=0.0)), 1e-9)
    seen: dict[bytes, int] = {}
    for later, row in enumerate(np.round(codes / unit) + 0.0):  # -0 is 0
        earlier = seen.setdefault(row.tobytes(), later)
        if earlier < later:
            return later, earlier
    return None


def spread(scores: Array, width: int = 0) -> float:
    """By how much scores [..., query, key] of one offset differ.

    On a line, or in rows of so many columns; what is NaN is passed over.
    """
    n = scores.shape[-1]
    near, far = (
        np.abs(scores[..., step:, step:] - scores[..., :-step, :-step])
        for step in (1, width or n // 2)
    )
    if width:  # neighbours in one row
        inside = np.arange(n - 1) % width < width - 1
        near = near[..., inside, :][..., inside]
    return float(max(np.nanmax(near, initial=0.0), np.nanmax(far, initial=0.0)))
