"""What a table of sines and cosines is: estimated column by column, then named."""

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from pe_lib.check.call import Array
from pe_lib.check.report import Recognised

KNOWN = 1e4, 1e-4  # the usual base, and a minus missing: such turns are too fast to fit
NAMED = {  # half-split, cosine first, spacing, start
    (False, False, "paper", 0): "the encoding of Vaswani et al. (2017)",
    (True, False, "endpoint", 0): "the encoding of tensor2tensor",
    (True, False, "endpoint", 2): "the encoding of fairseq",
    (True, True, "paper", 0): "the encoding of times in diffusion models",
}
SPACINGS = "paper", "endpoint"
STARTS = 0, 1, 2, -1, 0.5, 3  # positions of the first row


@dataclass(frozen=True)
class Series:
    """Frequencies unit * base ** -(j / pairs), or over pairs - 1."""

    base: float = 1e4
    spacing: str = "paper"
    unit: float = 1.0

    def frequencies(self, pairs: float) -> Array:
        count = math.ceil(pairs)
        over = pairs if self.spacing == "paper" else max(count - 1, 1)
        powers: Array = self.base ** (-np.arange(count) / over)
        return self.unit * powers


@dataclass(frozen=True)
class Sinusoid:
    """A formula for a table: what it gives, and where the table agrees."""

    codes: Array
    series: Series = Series()
    halves: bool = False
    cosine_first: bool = False
    start: float = 0.0
    scale: float = 1.0
    kinds: tuple[int, int] = (0, 1)  # of a pair: sine, cosine, and with the other sign
    other: Series | None = None  # of the second of each pair
    short: bool = False  # of an odd width the first half is the shorter

    @cached_property
    def columns(self) -> tuple[Array, Array]:
        """The pair of each column, and whether it is the second."""
        d = self.codes.shape[1]
        i, pairs = np.arange(d), (d + 1 - self.short) // 2
        second = (i >= pairs).astype(int)
        return (i - pairs * second, second) if self.halves else (i // 2, i % 2)

    @cached_property
    def frequencies(self) -> Array:
        """Of each column."""
        (pair, second), pairs = self.columns, self.codes.shape[1] / 2
        others = (self.other or self.series).frequencies(pairs)[pair]
        return np.where(second == 1, others, self.series.frequencies(pairs)[pair])

    @cached_property
    def angles(self) -> Array:
        t = np.arange(len(self.codes))[:, None] + self.start
        return t * self.frequencies

    def waves(self, angles: Array) -> Array:
        kind = np.array(self.kinds)[(self.columns[1] + self.cosine_first) % 2]
        waves: Array = np.sin(angles + kind * np.pi / 2)
        return waves

    @cached_property
    def off(self) -> Array:
        return np.abs(self.codes / self.scale - self.waves(self.angles))

    @cached_property
    def agrees(self) -> Array:
        """Where it differs by no more than angles in float32 do."""
        return self.off < 1e-4 + self.angles * 2.0**-20

    @property
    def is_plain(self) -> bool:
        """Whether it is sines and cosines of one series."""
        return self.other is None and self.kinds == (0, 1)

    @property
    def rank(self) -> float:
        """The share that agrees; of two alike the simpler."""
        return float(self.agrees.mean()) - 0.02 * (not self.is_plain)

    @property
    def name(self) -> str:
        """In a word of who printed it; empty if nobody did."""
        key: Any = self.halves, self.cosine_first, self.series.spacing, self.start
        usual = replace(self.series, spacing="paper") == Series() and self.scale == 1
        return NAMED.get(key, "") if usual and self.is_plain else ""

    def flaws(self) -> Iterator[str]:
        """What makes of it no sines and cosines of the same angles, in words."""
        d = self.codes.shape[1]
        one = self.series.frequencies(d / 2)
        if self.kinds[0] % 2 == self.kinds[1] % 2:
            yield f"All columns are {('sines', 'cosines')[self.kinds[0] % 2]}"
        elif self.other:
            two, j = self.other.frequencies(d / 2), min(1, len(one) - 1)
            turns = f"{one[j]:.3g} and {two[j]:.3g} radians a position"
            yield f"Sine and cosine of pair {j} turn by {turns}"
        elif len(one) > 1 and np.ptp(one) < 1e-4 * one.max():
            yield f"All pairs turn by {one[0]:.3g} radians a position"
        elif one.max() > 3.2:
            yield f"The fastest pair turns by {one.max():.3g} radians a position"

    def odd(self, said: Collection[float] = ()) -> list[str]:
        """In what it is not the printed formula, but for numbers that were said."""

        def meant(found: float, usual: float, near: float = 1e-3) -> bool:
            return any(math.isclose(found, v, rel_tol=near) for v in (usual, *said))

        base, unit = self.series.base, self.series.unit
        near = 1e-5 if abs(unit - 1) < 0.01 else 1e-3
        times = f"all angles times {unit:.6g}"
        told = {
            f"base {base:.6g}": meant(base, 1e4),
            times: meant(unit, 1, near) or meant(1 / unit, 1, near),
            "exponent j/(d/2-1)": self.series.spacing == "paper",
            f"positions from {self.start:g}": meant(self.start, 0),
            f"all times {self.scale:.4g}": meant(self.scale, 1),
            "sines with the other sign": self.kinds[0] < 2,
            "cosines with the other sign": self.kinds[1] < 2,
        }
        return [words for words, usual in told.items() if not usual]

    @property
    def words(self) -> str:
        """Its name, or in what it differs from those that have one."""
        order = ["half-split"] * self.halves + ["cosine first"] * self.cosine_first
        return self.name or ", ".join(["a sinusoid", *self.odd(), *order])

    def recognised(self) -> Recognised:
        return Recognised(
            self.words,
            self.series.base,
            self.series.spacing,
            "half_split" if self.halves else "interleaved",
            float(self.off[self.agrees].max(initial=0)),
            float(self.agrees.mean()),
        )


def waves_of(codes: Array) -> tuple[Array, Array, Array, Array]:
    """Of each column frequency, phase, size, and the share by which it is no sine."""
    y = codes[:256]
    n, t = len(y), np.arange(len(y), dtype=float)[:, None]
    f = frequencies_of(y)
    for _ in range(5):  # Gauss and Newton, without the rows that are spoilt
        s, c = np.sin(t * f), np.cos(t * f)
        a, b = fitted(y, s, c)
        fit = a * s + b * c
        gap = np.abs(codes[:n] - fit)
        y = np.where(gap > 10 * np.median(gap, axis=0) + 1e-4, fit, codes[:n])
        f = f + np.clip(fitted(y, s, c, t * (a * c - b * s))[2], -1 / n, 1 / n)
    size = np.hypot(a, b)
    off = np.quantile(gap, 0.9, axis=0) / np.maximum(size, 1e-9)
    return f, np.arctan2(b, a), size, off


def frequencies_of(y: Array) -> Array:
    """Of each column: y[t + k] + y[t - k] is 2 cos(k f) y[t].

    Long steps k are exact, and the shorter ones before say which turn they are in.
    """
    f = np.zeros(y.shape[1])
    for k in 2 ** np.arange(int(np.log2(len(y) / 3)) + 1):
        here, beside = y[k:-k], (y[2 * k :] + y[: -2 * k]) / 2
        big = np.abs(here) >= 0.3 * np.abs(here).max(axis=0)
        cosine = np.where(big, beside / np.where(here == 0, 1, here), np.nan)
        turn = np.arccos(np.nanmedian(cosine, axis=0).clip(-1, 1))
        turns = np.array([turn, -turn])
        turns += 2 * np.pi * np.round((k * f - turns) / (2 * np.pi))
        nearest = np.abs(turns - k * f).argmin(axis=0)
        f = turns[nearest, np.arange(len(f))] / k
    return np.abs(f)


def fitted(y: Array, *basis: Array) -> Array:
    """By least squares the weights of each column's own functions."""
    b = np.stack(basis, -1).swapaxes(0, 1)
    gram = b.swapaxes(1, 2) @ b
    gram += 1e-12 * np.eye(len(basis)) * (1 + gram.max((1, 2), keepdims=True))
    weights: Array = np.linalg.solve(gram, b.swapaxes(1, 2) @ y.T[..., None])[..., 0].T
    return weights


def line(j: Array, logs: Array) -> tuple[float, float]:
    """Slope and start of most points, whatever the others are."""
    a, b = np.triu_indices(len(j), 1)
    steps = (logs[b] - logs[a]) / (j[b] - j[a]) if len(a) else np.zeros(1)
    slope = float(np.median(steps))
    start = float(np.median(logs - slope * j))
    on = np.abs(logs - start - slope * j) < 0.01
    if on.sum() > 1:
        slope, start = np.polyfit(j[on], logs[on], 1).tolist()
    return slope, start


def series_of(slope: float, start: float, pairs: float) -> Iterator[Series]:
    """A straight line of logarithms, in rounder numbers first."""
    exact = math.exp(float(np.clip(start, -60, 60)))
    round_ = 1 / float(f"{1 / exact:.4g}") if exact < 1 else float(f"{exact:.4g}")
    for digits, spacing in product((1, 2, 3, 9, 10), SPACINGS):
        over = pairs if spacing == "paper" else max(math.ceil(pairs) - 1, 1)
        base = math.exp(float(np.clip(-slope * over, -60, 60)))
        unit = exact if digits > 8 else round_
        unit = 1.0 if abs(exact - 1) < 0.005 and digits < 10 else unit
        yield Series(float(f"{base:.{digits}g}"), spacing, unit)


def from_waves(
    codes: Array, waves: tuple[Array, ...], shape: Sinusoid
) -> Iterator[Sinusoid]:
    """Start, scale, kinds and frequencies, read off the waves for one layout."""
    (f, phase, size, off), d = waves, codes.shape[1]
    pair, second = shape.columns
    good = (off < 0.01) & (f * len(codes[:256]) > 1.4)
    pick = [good & (second == k) for k in (0, 1)]
    if min(p.sum() for p in pick) < max(2, d / 16):
        return
    turns = (phase - np.outer(STARTS, f))[:, good]
    votes = np.abs(np.sin(2 * turns)).mean(axis=1).round(2)
    start = STARTS[int(np.argmax(votes <= max(0.05, votes.min())))]
    kinds = np.round((phase - f * start) / (np.pi / 2)).astype(int) % 4
    usual = [np.bincount(kinds[p & (f < max(1.5, f[p].min() + 0.1))]) for p in pick]
    first, then = (int(u.argmax()) for u in usual[:: -1 if shape.cosine_first else 1])
    if first % 2 and not then % 2:  # that is the layout of the other first
        return
    scale = float(np.median(size[good]))
    scale = 1.0 if abs(scale - 1) < 1e-3 else scale
    shape = replace(shape, start=start, scale=scale, kinds=(first, then))
    (slope, begin), (slope2, begin2) = (line(pair[p], np.log(f[p])) for p in pick)
    if max(abs(slope - slope2), abs(begin - begin2)) > 0.01:
        both = series_of(slope, begin, d / 2), series_of(slope2, begin2, d / 2)
        for one, two in zip(*both, strict=False):
            yield replace(shape, series=one, other=two)
    else:
        for one in series_of((slope + slope2) / 2, (begin + begin2) / 2, d / 2):
            yield replace(shape, series=one)


def identify(codes: Array) -> Sinusoid | None:
    """What a table is: a printed formula, what its waves say, or the nearest slip."""
    odd = codes.shape[1] % 2
    if odd and codes.shape[1] > 3 and not codes[:, -1].any():  # as fairseq fills up
        filled = identify(codes[:, :-1])
        if filled and filled.halves:
            return filled
    layouts = product((False, True), (False, True))
    shapes = [Sinusoid(codes, Series(), *layout) for layout in layouts]
    shapes += [replace(s, short=True) for s in shapes if s.halves and odd]
    most = float(np.quantile(np.abs(codes[:64]), 0.999)) or 1.0
    scale = 1.0 if abs(most - 1) < 0.02 else most
    known = [Series(base, spacing) for base, spacing in product(KNOWN, SPACINGS)]
    guesses = [
        replace(shape, series=series, start=start, scale=scale)
        for series, shape, start in product(known, shapes, (0, 1, 2))
    ]
    best = best_of(guesses, codes, 2)
    if not best.agrees.all():
        waves = waves_of(codes)
        guesses = [g for shape in shapes for g in from_waves(codes, waves, shape)]
        best = best_of([best, *guesses], codes, 8)
    return best if best.agrees.mean() > 0.3 else None


def best_of(guesses: list[Sinusoid], codes: Array, many: int) -> Sinusoid:
    """The one that agrees most, among so many that agree most in the first rows."""
    few = codes[:64]
    near = sorted(guesses, key=lambda g: -replace(g, codes=few).rank)[:many]
    return max((replace(g, codes=codes) for g in near), key=lambda g: g.rank)
