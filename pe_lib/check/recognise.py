"""Which formula a table of encodings follows, right or wrong.

Every formula that people write is tried on the whole table, position by position; what
is not known of it, the base, is fitted. A wrong table is thereby told by its formula.
"""

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pe_lib.conventions import CONVENTIONS

Array = NDArray[np.float64]

SINE, COSINE, ZERO = 0, 1, 2
MATCH = 2**-7  # bfloat16 rounds 1 to within 2**-9; a table of it is nearer than this
EXACT = 1e-4  # float32 angles are nearer than this over the first positions
FEWEST = 6  # positions that tell one formula from another
SCREENED = 40  # positions on which all formulas are tried
MORE = 0.02  # of the numbers must agree with a fitted base than with a usual one
CHANCE = 0.02  # of the numbers of any table agree with some formula
ENOUGH = 0.7  # of the numbers: then the others are named, by row or by column


@dataclass(frozen=True)
class Exponents:
    """The exponents of a formula: (pair * j + cosine * s + first) / d."""

    code: str  # how a test or an exercise names it
    words: str
    pair: float = 2.0  # per pair j
    cosine: float = 0.0  # what the cosine has more than its sine
    first: float = 0.0
    endpoint: bool = False  # over d/2 - 1 instead of d/2
    fault: bool = True

    def of(self, d_model: int) -> tuple[Array, Array]:
        """Of the sines and of the cosines, for as many pairs as d_model begins."""
        j = np.arange((d_model + 1) // 2)
        over = max(2 * len(j) - 2, 1) if self.endpoint else d_model
        sines = (self.pair * j + self.first) / over
        return sines, sines + self.cosine / over


PAIRS = (
    Exponents("paper", "exponent 2j/d", fault=False),
    Exponents("endpoint", "exponent j/(d/2-1)", endpoint=True, fault=False),
    Exponents("paper_from_1", "exponent 2(j+1)/d", first=2, fault=False),
    Exponents(
        "endpoint_from_1", "exponent (j+1)/(d/2-1)", first=2, endpoint=True, fault=False
    ),
)
ONE_STEP = "one step further on than its sine's"
FAULTS = (
    Exponents(
        "exponent_2i_of_column",
        "exponent 2i/d for every column i, so that the cosine of a pair has another "
        "frequency than its sine",
        pair=4, cosine=2,
    ),
    Exponents(
        "exponent_i_of_column",
        "exponent i/d for every column i, so that the cosine of a pair has another "
        "frequency than its sine",
        pair=2, cosine=1,
    ),
    Exponents(
        "cosine_one_step_on", f"the cosine's exponent {ONE_STEP}",
        pair=2, cosine=2,
    ),
    Exponents(
        "cosine_one_step_on_i", f"the cosine's exponent {ONE_STEP}, and half of both",
        pair=1, cosine=1,
    ),
)  # fmt: skip
UNITS = {
    1.0: ("", ""),
    math.pi / 180: ("degrees", "the angles in degrees where radians are meant"),
    180 / math.pi: ("degrees", "the angles converted to degrees"),
    2 * math.pi: ("turns", "the angles multiplied by 2 pi"),
}
WAVES = {
    (SINE, COSINE): ("", ""),
    (COSINE, SINE): ("cosine_first", "the cosine before the sine"),
    (SINE, SINE): ("sines_only", "sines in the columns of the cosines too"),
    (COSINE, COSINE): ("cosines_only", "cosines in the columns of the sines too"),
    (SINE, ZERO): ("half_empty", "nothing in the columns of the cosines"),
    (ZERO, COSINE): ("half_empty", "nothing in the columns of the sines"),
}
FAULTY_WAVES = "sines_only", "cosines_only", "half_empty"
SLIPS = {
    1e8: "base 10000 squared: 2j counted twice in the exponent",
    100.0: "base 100: the exponent j/d where 2j/d is meant, if base 10000 is meant",
    math.e**4: "the logarithm to base 10 where the natural one is meant",
}


@dataclass(frozen=True)
class Recognised:
    """A formula that a table follows.

    Attributes
    ----------
    formula : str
        "sinusoid" if it is right; else the name of the fault, "degrees" for instance;
        "waves" for pairs with frequencies of their own; "trained" for what is learned.
    words : str
        The same in words.
    base : float or None
    spacing, layout, first : str
        "paper" or "endpoint"; "interleaved" or "half_split"; "sine" or "cosine".
    start : int
        The position of the first row.
    scale, gap : float
        By what the formula is multiplied, and the largest difference from it.
    """

    formula: str
    words: str
    base: float | None = None
    spacing: str = ""
    layout: str = ""
    first: str = ""
    start: int = 0
    scale: float = 1.0
    gap: float = 0.0

    def __str__(self) -> str:
        near = f", to {self.gap:.0e}".replace("e-0", "e-") if self.base else ""
        return self.words + near


@dataclass(frozen=True)
class Candidate:
    """One way to write the formula."""

    exponents: Exponents
    waves: tuple[int, int] = (SINE, COSINE)
    layout: str = "interleaved"
    start: int = 0
    unit: float = 1.0
    divided: bool = False
    base: float = 10_000.0

    @property
    def fault(self) -> bool:
        """Whether no text means it so."""
        wrong = self.exponents.fault or WAVES[self.waves][0] in FAULTY_WAVES
        return wrong or self.unit != 1 or self.divided

    def angles(self, positions: NDArray[Any], d_model: int) -> Array:
        """[positions, pairs, 2], in float64."""
        sign = 1.0 if self.divided else -1.0
        frequencies = self.unit * self.base ** (
            sign * np.stack(self.exponents.of(d_model), 1)
        )
        return np.asarray((positions + self.start)[:, None, None] * frequencies)

    def laid_out(self, pairs: Array, d_model: int) -> Array:
        """[positions, d_model] from [positions, pairs, 2]."""
        turned = pairs.swapaxes(1, 2) if self.layout == "half_split" else pairs
        return turned.reshape(len(pairs), -1)[:, :d_model]

    def table(self, positions: NDArray[Any], d_model: int) -> Array:
        """[positions, d_model], in float64."""
        angles, functions = (
            self.angles(positions, d_model),
            (np.sin, np.cos, np.zeros_like),
        )
        waves = [functions[wave](angles[..., i]) for i, wave in enumerate(self.waves)]
        return self.laid_out(np.stack(waves, 2), d_model)


@dataclass(frozen=True)
class Fit:
    """How well a candidate agrees with a table."""

    candidate: Candidate
    scale: float
    agrees: NDArray[np.bool_]  # [positions, columns]
    gap: float  # the largest difference where it agrees, as a part of the scale

    @property
    def share(self) -> float:
        """Of the numbers that agree."""
        return float(self.agrees.mean())

    @property
    def spoilt_rows(self) -> list[int]:
        """Rows that disagree, where the other rows agree."""
        bad = ~self.agrees.all(axis=1)
        return [] if bad.mean() > 1 - ENOUGH else np.flatnonzero(bad).tolist()

    @property
    def spoilt_columns(self) -> list[int]:
        """Columns that disagree, where the other columns agree."""
        bad = ~self.agrees.all(axis=0)
        return [] if self.spoilt_rows else np.flatnonzero(bad).tolist()


def fit(codes: Array, candidate: Candidate) -> Fit:
    """Compare a table with a candidate, up to a scale."""
    at, d_model = np.arange(len(codes)), codes.shape[1]
    ideal = candidate.table(at, d_model)
    float32 = candidate.laid_out(candidate.angles(at, d_model), d_model) * 2.0**-22
    large = np.abs(ideal) > 0.3
    if not large.any():
        return Fit(candidate, 0.0, np.zeros(codes.shape, bool), math.inf)
    scale = float(np.median(codes[large] / ideal[large]))
    size = abs(scale) if abs(scale) > 1e-6 else math.inf
    off = np.abs(codes - scale * ideal) / size
    agrees = off < MATCH + float32 if size < math.inf else np.zeros(codes.shape, bool)
    gap = float(off[agrees].max()) if agrees.any() else math.inf
    return Fit(candidate, scale, agrees, gap)


def best_fit(codes: Array, known: Collection[float] = ()) -> Fit | None:
    """The formula that agrees best with the first encodings; None if none does.

    `known` are numbers that may be its base.
    """
    few = codes[:SCREENED]
    bases = dict.fromkeys([10_000.0, *known])
    d_model = codes.shape[1]
    fits = (fit(few, c) for base in bases for c in _candidates(base, d_model))
    best = max(fits, key=_quality)
    if CHANCE < best.share < 1 or best.gap > EXACT:
        fitted = max((_with_base(few, c) for c in _with_any_base()), key=_quality)
        nearer = best.share == fitted.share == 1 and 3 * fitted.gap < best.gap
        if fitted.share > best.share + MORE or nearer:
            best = fitted
    if best.share < ENOUGH:
        return None
    whole = fit(codes, best.candidate)
    return whole if whole.share >= ENOUGH else None


def _quality(found: Fit) -> tuple[float, float]:
    """What agrees in more numbers is better; among equals, what is nearer."""
    return found.share, -max(found.gap, 1e-6)


def _candidates(base: float, d_model: int) -> Iterator[Candidate]:
    """Sound ones first: where two agree alike, the first is taken."""
    layouts = ("interleaved", "half_split") if d_model > 2 else ("interleaved",)
    for exponents, waves, layout, start in product(
        PAIRS, list(WAVES)[:2], layouts, (0, 1, 2)
    ):
        yield Candidate(exponents, waves, layout, start, base=base)
    for exponents, waves, layout, unit, divided, start in product(
        (*PAIRS[:2], *FAULTS), WAVES, layouts, UNITS, (False, True), (0, 1)
    ):
        found = Candidate(exponents, waves, layout, start, unit, divided, base)
        if found.fault:
            yield found


def _with_any_base() -> Iterator[Candidate]:
    for exponents, waves, layout in product(
        (*PAIRS[:3], *FAULTS), list(WAVES)[:4], ("interleaved", "half_split")
    ):
        yield Candidate(exponents, waves, layout)


def _with_base(codes: Array, candidate: Candidate) -> Fit:
    """The same with the base that agrees best."""
    slow, at = codes[:24], np.arange(24)[: len(codes)]

    def error(log_base: float) -> float:
        made = replace(candidate, base=math.exp(log_base)).table(at, codes.shape[1])
        scale = float((slow * made).sum() / max((made * made).sum(), 1e-9))
        return float(np.abs(slow - scale * made).mean())

    grid = np.linspace(0.7, 28, 120)
    errors = [error(x) for x in grid]
    best = int(np.argmin(errors))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    if min(errors) > 0.2 * float(np.abs(slow).mean()):
        return fit(codes, replace(candidate, base=math.exp(grid[best])))
    base = math.exp(_lowest(error, low, high))
    found = fit(codes, replace(candidate, base=base))
    for figures in range(1, 7):
        rounder = fit(codes, replace(candidate, base=float(f"{base:.{figures}g}")))
        if rounder.share >= found.share and rounder.gap <= 1.5 * found.gap + 1e-7:
            return rounder
    return found


def _lowest(function: Any, low: float, high: float) -> float:
    """Where a function of one number is lowest, by golden sections."""
    ratio = (math.sqrt(5) - 1) / 2
    inner = [high - ratio * (high - low), low + ratio * (high - low)]
    values = [function(x) for x in inner]
    for _ in range(60):
        if values[0] < values[1]:
            high, inner[1], values[1] = inner[1], inner[0], values[0]
            inner[0] = high - ratio * (high - low)
            values[0] = function(inner[0])
        else:
            low, inner[0], values[0] = inner[0], inner[1], values[1]
            inner[1] = low + ratio * (high - low)
            values[1] = function(inner[1])
    return (low + high) / 2


def described(found: Fit) -> Recognised:
    """What a fit is called, in a code and in words."""
    c = found.candidate
    wave, wave_words = WAVES[c.waves]
    unit, unit_words = UNITS[c.unit]
    parts = []
    code = "sinusoid"
    for fault, name, words in (
        (c.exponents.fault, c.exponents.code, c.exponents.words),
        (c.divided, "divided", "positions divided where they should be multiplied"),
        (bool(unit), unit, unit_words),
        (wave in FAULTY_WAVES, wave, wave_words),
    ):
        if fault:
            code = name if code == "sinusoid" else code
            parts.append(words)
    facts = [] if c.exponents.fault else [c.exponents.words]
    facts += [f"base {c.base:.6g}"]
    facts += ["half-split"] if c.layout == "half_split" else []
    facts += ["cosine first"] if wave == "cosine_first" else []
    facts += [f"from position {c.start}"] if c.start else []
    facts += [f"times {found.scale:.4g}"] if abs(found.scale - 1) > 1e-3 else []
    name = "" if parts else _published(c)
    words = "; ".join(parts)
    text = f"{words} ({', '.join(facts)})" if parts else name or ", ".join(facts)
    if name and abs(found.scale - 1) > 1e-3:
        text += f", times {found.scale:.4g}"
    return Recognised(
        code,
        text if name else f"the sinusoid with {text}",
        c.base,
        "endpoint" if c.exponents.endpoint else "paper",
        c.layout,
        "cosine" if c.waves[0] == COSINE else "sine",
        c.start,
        found.scale,
        found.gap,
    )


def _published(candidate: Candidate) -> str:
    """The text that writes it so; empty if none does."""
    first = "cosine" if candidate.waves[0] == COSINE else "sine"
    spacing = "endpoint" if candidate.exponents.endpoint else "paper"
    key = (
        spacing,
        candidate.exponents.first / 2,
        candidate.base,
        candidate.layout,
        first,
        candidate.start,
    )
    for known in CONVENTIONS.values():
        theirs = (
            known.spacing,
            known.first_pair,
            known.base,
            known.layout,
            known.first,
            known.start,
        )
        if theirs == key and known.source:
            return f"the encoding of {known.name}"
    return ""


def pairs_of_waves(codes: Array) -> tuple[str, Array] | None:
    """Layout and frequencies of columns that are sines and cosines in pairs.

    Each pair is one vector that turns evenly from angle 0, whatever its frequency.
    """
    pairs = codes.shape[1] // 2
    if codes.shape[1] % 2 or len(codes) < 4:
        return None
    for layout in ("interleaved", "half_split"):
        one, two = (
            (codes[:, 0::2], codes[:, 1::2])
            if layout == "interleaved"
            else (codes[:, :pairs], codes[:, pairs:])
        )
        for sine, cosine in ((one, two), (two, one)):
            hands = cosine + 1j * sine
            size = np.abs(hands).mean(axis=0)
            if (
                size.min() < 1e-6
                or np.ptp(np.abs(hands), axis=0).max() > MATCH * size.max()
            ):
                continue
            frequencies = frequencies_of(hands / size)
            t = np.arange(len(codes))
            if (
                np.abs(hands / size - np.exp(1j * np.outer(t, frequencies))).max()
                < 2 * MATCH
            ):
                return layout, frequencies
    return None


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


def exactly_repeated(codes: Array) -> tuple[int, int] | None:
    """The first row that equals an earlier one, and that one."""
    key = codes @ np.random.default_rng(0).standard_normal(codes.shape[1])
    order = np.argsort(key, kind="stable")
    size = 1e-6 * max(float(np.abs(codes).max()), 1e-9)
    same = (np.abs(codes[order[1:]] - codes[order[:-1]]) <= size).all(axis=1)
    if not same.any():
        return None
    pairs = [
        sorted((int(a), int(b)))
        for a, b in zip(order[1:][same], order[:-1][same], strict=True)
    ]
    earlier, later = min(pairs, key=lambda p: p[1])
    return later, earlier
