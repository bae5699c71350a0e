"""What a table of sines and cosines is: estimated column by column, then named."""

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import torch

from pe_lib.check.call import Array
from pe_lib.check.report import Recognised

SIXTEEN = {torch.bfloat16: "bfloat16", torch.float16: "float16"}
BASES = {  # where the frequencies of pairs run from 1 to 1 / base
    1e8: "2j counted twice in the exponent?",
    1e2: "the exponent j/d where 2j/d is meant?",
    math.exp(4): "a logarithm to base 10?",
    math.exp(math.log2(1e4)): "a logarithm to base 2?",
    1e-4: "positions divided where they should be multiplied?",
}
UNITS = {
    math.pi / 180: "degrees?",
    180 / math.pi: "to degrees?",
    2 * math.pi: "turns?",
    math.pi: "times pi?",
}
NAMED = {  # half-split, cosine first, spacing, start
    (False, False, "paper", 0): "the encoding of Vaswani et al. (2017)",
    (True, False, "endpoint", 0): "the encoding of tensor2tensor",
    (True, False, "endpoint", 2): "the encoding of fairseq",
    (True, True, "paper", 0): "the encoding of times in diffusion models",
}


@dataclass(frozen=True)
class Series:
    """Frequencies unit * base ** -((j + first) / pairs), or over pairs - 1."""

    base: float = 1e4
    spacing: str = "paper"
    unit: float = 1.0
    first: int = 0

    def frequencies(self, pairs: float) -> Array:
        """Of each pair."""
        count = math.ceil(pairs)
        over = pairs if self.spacing == "paper" else max(count - 1, 1)
        powers: Array = self.base ** (-(np.arange(count) + self.first) / over)
        return self.unit * powers


@dataclass(frozen=True)
class Sinusoid:
    """A formula for a table: what it gives, and where the table agrees."""

    codes: Array
    series: Series
    halves: bool = False
    cosine_first: bool = False
    start: float = 0.0
    scale: float = 1.0
    kinds: tuple[int, int] = (0, 1)  # of a pair: sine, cosine, and with the other sign
    other: Series | None = None  # of the second of each pair
    own: tuple[Array, Array] | None = None  # frequencies and phases, in no series

    @cached_property
    def columns(self) -> tuple[Array, Array]:
        """The pair of each column, and whether it is the second."""
        d = self.codes.shape[1]
        i, pairs = np.arange(d), (d + 1) // 2
        return (i % pairs, i // pairs) if self.halves else (i // 2, i % 2)

    @cached_property
    def frequencies(self) -> Array:
        """Of each column."""
        if self.own is not None:
            return self.own[0]
        (pair, second), pairs = self.columns, self.codes.shape[1] / 2
        others = (self.other or self.series).frequencies(pairs)[pair]
        return np.where(second == 1, others, self.series.frequencies(pairs)[pair])

    @cached_property
    def angles(self) -> Array:
        """Of each number."""
        start = self.start if self.own is None else 0
        return (np.arange(len(self.codes))[:, None] + start) * self.frequencies

    def waves(self, angles: Array) -> Array:
        """The numbers that angles give."""
        kind = np.array(self.kinds)[(self.columns[1] + self.cosine_first) % 2]
        phase = kind * np.pi / 2 if self.own is None else self.own[1]
        waves: Array = np.sin(angles + phase)
        return waves

    @cached_property
    def off(self) -> Array:
        """By how much each number differs."""
        return np.abs(self.codes / self.scale - self.waves(self.angles))

    @cached_property
    def agrees(self) -> Array:
        """Where it differs by no more than angles in float32 do."""
        close = 1e-4 if self.own is None else 0.01
        return self.off < close + self.angles * 2.0**-20

    @property
    def rank(self) -> float:
        """The share that agrees; of two alike the simpler."""
        return float(self.agrees.mean()) - 0.02 * (not self.is_plain)

    @property
    def is_plain(self) -> bool:
        """Whether it is sines and cosines of one series."""
        return self.own is None and self.other is None and self.kinds == (0, 1)

    @property
    def name(self) -> str:
        """In a word of who printed it; empty if nobody did."""
        spacing = self.series.spacing
        usual = self.series == Series(spacing=spacing) and self.scale == 1
        plain = usual and self.is_plain
        key: Any = self.halves, self.cosine_first, spacing, self.start
        return NAMED.get(key, "") if plain else ""

    @property
    def words(self) -> str:
        """Its name, or in what it differs from those that have one."""
        told = {
            f"base {self.series.base:.6g}": self.own is None,
            "frequencies of its own": self.own is not None,
            "exponent j/(d/2-1)": self.series.spacing == "endpoint",
            "half-split": self.halves,
            "cosine first": self.cosine_first,
            f"from position {self.start:g}": self.start,
            f"times {self.scale:.4g}": self.scale != 1,
            f"angles times {self.series.unit:.4g}": self.series.unit != 1,
        }
        own = ", ".join(words for words, so in told.items() if so)
        return self.name or f"the sinusoid with {own}"

    def recognised(self) -> Recognised:
        """As the report has it."""
        return Recognised(
            self.words,
            self.series.base if self.own is None else None,
            self.series.spacing,
            "half_split" if self.halves else "interleaved",
            "cosine" if self.cosine_first else "sine",
            self.start,
            self.scale,
            float(self.off[self.agrees].max(initial=0)),
            float(self.agrees.mean()),
        )

    def looks_like(self) -> str:
        """What would give the numbers that do not agree; empty if nothing known."""
        y, bad = self.codes / self.scale, ~self.agrees
        for words, guess in self.slips():
            if np.mean(np.abs(guess - y)[bad] < 2e-3) > 0.95:
                return f": {words}"
        return ""

    def slips(self) -> Iterator[tuple[str, Array]]:
        """What rounding and slips of the hand make of the formula."""
        t = np.arange(len(self.codes))[:, None] + self.start
        f, ideal = self.frequencies, self.waves(self.angles)
        yield "they are clipped at 0", ideal.clip(min=0)
        yield "they are 0", 0 * ideal
        yield "the sign is the other", -ideal
        yield "they are cos(sin t), not cos t", np.cos(np.sin(self.angles))
        yield "sine and cosine are swapped", self.waves(self.angles + np.pi / 2)
        for kind, name in SIXTEEN.items():
            low = functools.partial(rounded, kind)
            yield f"they are rounded to {name}", low(ideal)
            yield f"positions are rounded to {name}", self.waves(low(t) * f)
            yield f"frequencies are rounded to {name}", self.waves(t * low(f))
            yield f"angles are rounded to {name}", self.waves(low(t * f))
            both = self.waves(low(low(t) * low(f)))
            yield f"positions and angles are rounded to {name}", both


def rounded(kind: torch.dtype, numbers: Array) -> Array:
    """To a dtype, and back."""
    low: Array = torch.as_tensor(numbers).to(kind).double().numpy()
    return low


def waves_of(codes: Array) -> tuple[Array, Array, Array, Array]:
    """Of each column frequency, phase, size, and its distance from such a sine."""
    y = codes[:256]
    n, t = len(y), np.arange(len(y), dtype=float)[:, None]
    f = strongest(y, t)
    for turn in range(14):  # Gauss and Newton; at last without the rows that are spoilt
        s, c = np.sin(t * f), np.cos(t * f)
        a, b = fitted(y, s, c)
        if turn > 7:
            fit, gap = a * s + b * c, np.abs(codes[:n] - a * s - b * c)
            y = np.where(gap > 10 * np.median(gap, axis=0) + 1e-4, fit, codes[:n])
        step = fitted(y, s, c, t * (a * c - b * s) / n)[2] / n
        f = np.clip(np.abs(f + np.clip(step, -1 / n, 1 / n)), 1e-9, np.pi)
    a, b = fitted(y, np.sin(t * f), np.cos(t * f))
    size, phase, slow = np.hypot(a, b), np.arctan2(b, a), f * n < 1.4
    apart = np.quantile(np.abs(y - size * np.sin(t * f + phase)), 0.9, axis=0)
    good = ~slow & (apart < 0.01 * np.maximum(size, 1e-9))
    usual = float(np.median(size[good])) if good.any() else float(np.abs(y).max())
    usual = max(usual, 1e-9)
    for i in np.flatnonzero(slow & (np.ptp(y, axis=0) > 0)):
        f[i], phase[i] = by_arc(y[:, i] / usual, t[:, 0])
        size[i] = usual
    off = np.quantile(np.abs(y - size * np.sin(t * f + phase)), 0.9, axis=0)
    return f, phase, size, off / usual


def strongest(y: Array, t: Array) -> Array:
    """The frequency with most power in each column."""
    n = len(y)
    slow = np.geomspace(1e-5, np.pi / n, 40)
    f = np.concatenate([slow, np.linspace(np.pi / n, np.pi, 3 * n)[1:]])
    s, c = np.sin(f[:, None] * t.T), np.cos(f[:, None] * t.T)
    ss, cc, sc = ((u * v).sum(1)[:, None] for u, v in ((s, s), (c, c), (s, c)))
    sy, cy = s @ y, c @ y
    power = cc * sy**2 - 2 * sc * sy * cy + ss * cy**2
    best: Array = f[(power / (ss * cc - sc**2 + 1e-9 * n)).argmax(0)]
    return best


def fitted(y: Array, *basis: Array) -> Array:
    """By least squares the weights of each column's own functions."""
    b = np.stack(basis, -1).swapaxes(0, 1)
    gram = b.swapaxes(1, 2) @ b + 1e-12 * np.eye(len(basis))
    weights: Array = np.linalg.solve(gram, b.swapaxes(1, 2) @ y.T[..., None])[..., 0].T
    return weights


def by_arc(v: Array, t: Array) -> tuple[float, float]:
    """Frequency and phase of a part of a slow wave of size 1."""
    sine = abs(v[0]) < 0.7
    if sine:
        m, p = np.polyfit(t, np.arcsin(np.clip(v, -1, 1)), 1)
        return abs(m), p if m >= 0 else np.pi - p
    flip = np.pi * (v[0] < 0)
    m, p = np.polyfit(t, np.arccos(np.clip(-v if flip else v, -1, 1)), 1)
    return abs(m), flip + np.pi / 2 + (p if m >= 0 else -p)


def line(j: Array, logs: Array) -> tuple[float, float, Array]:
    """Slope, start and which points are on it, whatever the others are."""
    a, b = np.triu_indices(len(j), 1)
    steps = (logs[b] - logs[a]) / (j[b] - j[a]) if len(a) else np.zeros(1)
    slope = float(np.median(steps))
    start = float(np.median(logs - slope * j))
    for _ in range(3):
        on = np.abs(logs - start - slope * j) < 0.01
        if on.sum() > 1:
            slope, start = np.polyfit(j[on], logs[on], 1).tolist()
    return slope, start, np.abs(logs - start - slope * j) < 0.01


def series_of(slope: float, start: float, pairs: float) -> Series:
    """A straight line of logarithms, in the roundest numbers that it allows."""
    found: list[tuple[tuple[bool, bool, int], str, float]] = []
    for spacing, over in (("paper", pairs), ("endpoint", max(math.ceil(pairs) - 1, 1))):
        base = math.exp(float(np.clip(-slope * over, -60, 60)))
        near = (k for k in (1, 2, 3) if abs(float(f"{base:.{k}g}") / base - 1) < 2e-3)
        digits = next(near, 9)
        usual = abs(math.log(base / 1e4)) < 0.01
        named = any(abs(math.log(base / b)) < 0.01 for b in BASES)
        base = 1e4 if usual else float(f"{base:.{digits}g}")
        found.append(((not usual, not named, digits), spacing, base))
    _, spacing, base = min(found)
    if abs(start) < 0.005 or (abs(start - slope) < 0.01 and abs(slope) > 0.02):
        return Series(base, spacing, 1.0, int(abs(start) >= 0.005))
    unit = math.exp(start)
    rounder = 1 / float(f"{1 / unit:.4g}") if unit < 1 else float(f"{unit:.4g}")
    return Series(
        base, spacing, next((u for u in UNITS if abs(unit / u - 1) < 0.005), rounder)
    )


def from_waves(
    codes: Array, waves: tuple[Array, ...], shape: Sinusoid
) -> Iterator[Sinusoid]:
    """Start, scale, kinds and frequencies, read off the waves for one layout."""
    (f, phase, size, off), d = waves, codes.shape[1]
    good = (off < 0.01) & (f > 1e-7) & (np.ptp(codes, axis=0) > 1e-5)
    pair, second = shape.columns
    if min((good & (second == k)).sum() for k in (0, 1)) < max(2, 0.25 * d / 2):
        return
    turns = (phase - np.outer((0, 1, 2, -1, 0.5, 3), f))[:, good]
    votes = np.abs(np.sin(2 * turns)).mean(axis=1).round(2)
    start = (0, 1, 2, -1, 0.5, 3)[int(np.argmax(votes <= max(0.05, votes.min())))]
    kinds = np.round((phase - f * start) / (np.pi / 2)).astype(int) % 4
    common = [*shape.kinds]
    for k in (0, 1):
        some = good & (f < 1.5) & ((second + shape.cosine_first) % 2 == k)
        common[k] = int(np.bincount(kinds[some]).argmax()) if some.any() else k
    if common[0] % 2 and not common[1] % 2:  # that is the layout of the other first
        return
    scale = float(np.median(size[good]))
    scale = 1.0 if abs(scale - 1) < 1e-3 else scale
    pick = [good & (second == k) for k in (0, 1)]
    logs = [line(pair[s], np.log(f[s])) for s in pick]
    kinds_of_both = common[0], common[1]
    shape = replace(shape, start=start, scale=scale, kinds=kinds_of_both)
    straight = min(on.mean() for *_, on in logs) > 0.5
    if straight and all(abs(slope) < 4 and abs(begin) < 9 for slope, begin, _ in logs):
        one, two = (series_of(slope, begin, d / 2) for slope, begin, _ in logs)
        gaps = [abs(logs[0][0] - logs[1][0]), abs(logs[0][1] - logs[1][1])]
        apart = max(gaps) > 0.01 and one != two
        yield replace(shape, series=one, other=two if apart else None)
        fast = good & (f * len(codes[:256]) > 4)  # those that are measured best
        if fast.sum() > 3 and not apart:
            slope, begin = np.polyfit(pair[fast], np.log(f[fast]), 1)
            over = d / 2 if one.spacing == "paper" else max(math.ceil(d / 2) - 1, 1)
            unit = 1.0 if one.unit == 1 else math.exp(begin)
            exact = replace(one, base=math.exp(-slope * over), unit=unit)
            yield replace(shape, series=exact)
    if good.mean() > 0.9 and paired(f, phase, second):
        yield replace(shape, own=(f, phase))


def paired(f: Array, phase: Array, second: Array) -> bool:
    """Whether both columns of each pair have one frequency, a quarter turn apart."""
    one, two = (np.flatnonzero(second == k)[: len(f) // 2] for k in (0, 1))
    gaps = np.abs(f[one] - f[two]) / (f[one] + f[two])
    turns = np.abs(np.cos(phase[one] - phase[two]))
    return bool(max(gaps.max(), turns.max()) < 0.05)


def identify(codes: Array) -> Sinusoid | None:
    """What a table is: a printed formula, what its waves say, or the nearest slip."""
    shapes = [
        Sinusoid(codes, Series(), halves, cosine)
        for halves, cosine in product((False, True), (False, True))
    ]
    for shape in shapes:
        for spacing, start in product(("paper", "endpoint"), (0, 2)):
            exact = replace(shape, series=Series(spacing=spacing), start=start)
            if exact.agrees.all():
                return exact
    waves = waves_of(codes)
    guesses = [g for shape in shapes for g in from_waves(codes, waves, shape)]
    few = codes[:64]
    most = float(np.quantile(np.abs(few), 0.999)) or 1.0
    scale = 1.0 if abs(most - 1) < 0.02 else most
    known = [Series(b, s) for b in (1e4, *BASES) for s in ("paper", "endpoint")]
    known += [Series(unit=u) for u in UNITS]
    slips = [
        replace(shape, codes=few, series=series, start=start, scale=scale)
        for series, shape, start in product(known, shapes, (0, 1, 2))
    ]
    slips.sort(key=lambda g: -float(g.agrees.mean()))
    guesses += [replace(g, codes=codes) for g in slips[:2]]
    best = max(guesses, key=lambda g: g.rank)
    if best.own is not None or best.agrees.mean() <= 0.5:
        plain = [g for g in guesses if g.own is None and g.kinds == (0, 1)]
        best = next((g for g in plain if g.looks_like()), best)
    return best if best.agrees.mean() > 0.5 or best.looks_like() else None
