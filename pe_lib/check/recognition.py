"""Which published convention a table of encodings follows."""

import decimal
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from pe_lib._decimals import PI
from pe_lib.check.speeds import UNSURE, candidates, is_sure
from pe_lib.conventions import CONVENTIONS, WAVES, Convention

Array = NDArray[np.float64]

SAME = 1e-5  # of the hands' length; a base that is off by a thousandth is not so near
MATCH = 1e-3  # of the hands' length; float32 and bfloat16 tables are nearer than this
HARMFUL = 1 / 256  # half of bfloat16's last digit at 1: no dtype in use hides more


def lost_by_float32(error: float, position: int) -> bool:
    """Whether so harmful an error is what float32 angles have so far out."""
    return position <= 100_000 and HARMFUL < error < position * 2.0**-23


@dataclass(frozen=True)
class Match:
    """What a table of encodings is."""

    convention: Convention | None  # that it follows
    scale: float  # by what its encodings are multiplied
    nearest: Convention  # in use
    gap: float  # the largest difference from the nearest
    waves: bool  # every column is a wave of one frequency
    # Sine and cosine of each frequency are both there: all encodings are equally long.
    paired: bool
    degrees: bool = False  # a published convention, its angles in degrees
    # Every column is a sine or a cosine that starts at position 0 (or 1, or 2, for all
    # the same), and as many are sines as cosines.
    from_zero: bool = False
    unsure: float = 0.0  # by how much a speed may be off, where the base was fitted


def recognize(codes: Array, known: Collection[float] = ()) -> Match:
    """Find the convention of the first encodings, [n, d_model] with d_model even.

    `known` are numbers that may be its base.
    """
    waves, paired = _made_of_waves(codes), _equally_long(codes)
    d_model = codes.shape[1]
    fits = [(_fit(codes, c), c) for c in _published(d_model)]
    (gap, scale), nearest = min(fits, key=lambda fit: round(fit[0][0], 4))
    if gap < SAME:
        return Match(nearest, scale, nearest, gap, waves, paired)
    found = _of_another_base(codes, known) if paired else None
    if gap < MATCH and (found is None or found[0] > gap / 5):
        return Match(nearest, scale, nearest, gap, waves, paired)
    if found is not None:
        _, scale, convention = found
        unsure = 0.0 if is_sure(float(convention.base or 0), known) else UNSURE / 10
        return Match(convention, scale, nearest, gap, waves, paired, unsure=unsure)
    degrees = paired and any(
        _fit(codes, c, unit=math.pi / 180)[0] < MATCH for c in _published(d_model)
    )
    plain = waves and not paired and _from_zero(codes)
    return Match(None, scale, nearest, gap, waves, paired, degrees, plain)


def scale_of(codes: Array, convention: Convention) -> float | None:
    """By what the first encodings are multiplied; None if they do not follow it."""
    gap, scale = _fit(codes, convention)
    if gap >= MATCH:
        return None
    return 1.0 if abs(scale - 1) < 1e-5 else scale


def table(convention: Convention, d_model: int, rows: Sequence[float]) -> Array:
    """The encodings of some rows, complete turns dropped in decimals.

    Row 0 is the position at which the convention starts.
    """
    held = convention.columns(d_model)
    turn = 2 * decimal.Decimal(PI)
    codes = np.empty((len(rows), d_model))
    with decimal.localcontext(decimal.Context(prec=60)):
        positions = [decimal.Decimal(row) + convention.start for row in rows]
        for j, (wave, speed) in enumerate(held):
            function = math.sin if wave == "sine" else math.cos
            codes[:, j] = [function(p * speed % turn) for p in positions]
    return codes


def describe(convention: Convention) -> str:
    """A convention in words."""
    same = [
        other.name
        for other in CONVENTIONS.values()
        if _key(other) == _key(convention) and other.source is not None
    ]
    name = f"as in {same[0]}: " if same else ""
    return (
        f"{name}exponent {convention.exponent} from j = {convention.first_pair}, "
        f"base {convention.base:.10g}, {convention.layout}, {convention.first} first, "
        f"first position {convention.start}"
    )


def _key(convention: Convention) -> tuple[object, ...]:
    c = convention
    return c.spacing, c.first_pair, c.base, c.layout, c.first, c.start


def _published(d_model: int) -> Iterator[Convention]:
    """The conventions in use, with the base that their text has, the paper's first."""
    for (spacing, pair, base), layout, first, start in product(
        (
            ("paper", 0, 10_000.0),
            ("paper", 1, 10_000.0),
            ("endpoint", 0, 10_000.0),
            ("endpoint", 1, 10_000.0),
            ("paper", 1, 100.0),  # printed as 10000**(-j/d)
        ),
        ("interleaved", "half_split"),
        WAVES,
        (0, 1, 2),
    ):
        if spacing == "paper" or d_model >= 4:
            yield Convention(
                "a module",
                None,
                spacing=spacing,
                first_pair=pair,
                base=base,
                layout=layout,
                first=first,
                start=start,
            )


def _of_another_base(
    codes: Array, known: Collection[float]
) -> tuple[float, float, Convention] | None:
    """Gap, scale and convention of codes that follow one with a base of its own."""
    fits = []
    for convention, base in _with_other_bases(codes):
        choices = [replace(convention, base=b) for b in candidates(base, known)]
        for rank, choice in enumerate(choices):
            sure = is_sure(float(choice.base or 0), known)
            fits.append((_fit(codes, choice), sure, rank, choice))
    best = min((fit[0][0] for fit in fits), default=math.inf)
    if best >= MATCH:
        return None
    # As good as the best but for rounding, then the first of its candidates.
    enough = {False: 1.5 * best + 3e-8, True: 1.5 * best + len(codes) * UNSURE}
    near = (fit for fit in fits if fit[0][0] <= enough[fit[1]])
    (gap, scale), _, _, found = min(near, key=lambda fit: fit[2])
    return gap, scale, found


def _with_other_bases(codes: Array) -> Iterator[tuple[Convention, float]]:
    """The same, with the base that the speeds of all pairs of the encodings tell."""
    half = codes.shape[1] // 2
    steps = {"paper": half, "endpoint": max(half - 1, 1)}
    for convention in _published(codes.shape[1]):
        if convention.base != 10_000:
            continue  # its spacing comes with base 10000 too
        if convention.layout == "interleaved":
            sines, cosines = codes[:, 0::2], codes[:, 1::2]
        else:
            sines, cosines = codes[:, :half], codes[:, half:]
        if convention.first == "cosine":
            sines, cosines = cosines, sines
        hands = cosines + 1j * sines
        speeds = np.angle(np.sum(hands[1:] * hands[:-1].conj(), axis=0))
        exponents = np.arange(half) + convention.first_pair
        exponents = exponents / steps[convention.spacing]
        used = (speeds > 0) & (speeds < 1) & (exponents > 0)
        if used.any():
            logs = -np.log(speeds[used]) / exponents[used]
            weights = (speeds[used] * exponents[used]) ** 2
            yield convention, math.exp(min(np.average(logs, weights=weights), 600))


def _fit(
    codes: Array, convention: Convention, unit: float = 1.0
) -> tuple[float, float]:
    """The largest difference from scale times the convention's table, and the scale."""
    rows = np.arange(len(codes)) + convention.start
    held = convention.columns(codes.shape[1])
    angles = unit * np.outer(rows, [float(speed) for _, speed in held])
    cosines = np.array([wave == "cosine" for wave, _ in held])
    ideal = np.where(cosines, np.cos(angles), np.sin(angles))
    scale = float(np.sum(codes * ideal) / np.sum(ideal**2))
    if abs(scale) < 1e-12:
        return math.inf, scale
    return float(np.abs(codes / scale - ideal).max()), scale


def _made_of_waves(codes: Array) -> bool:
    """Whether x[t+1] + x[t-1] = 2 cos(w) x[t] in each column, one of them swinging."""
    middle, around = codes[1:-1], codes[2:] + codes[:-2]
    squares = np.sum(middle**2, axis=0)
    cosine = np.sum(middle * around, axis=0) / (2 * np.where(squares > 0, squares, 1))
    rest = np.abs(around - 2 * cosine * middle).max()
    size = np.abs(codes).max()
    swings = cosine[squares > 0].min(initial=1.0) < 0.999
    return bool(rest < MATCH * size and abs(cosine).max() < 1 + 1e-4 and swings)


def _from_zero(codes: Array) -> bool:
    """Whether half of the columns are sines, half cosines, for one first position."""
    middle, around = codes[1:-1], codes[2:] + codes[:-2]
    squares = np.maximum(np.sum(middle**2, axis=0), 1e-300)
    speeds = np.arccos(np.clip(np.sum(middle * around, axis=0) / (2 * squares), -1, 1))
    fast = np.sort(speeds[speeds > 0.05])
    if len(fast) > 1 and np.abs(np.diff(fast)[::2] / fast[:-1:2]).max() < 0.02:
        return False  # a sine and a cosine of each, with sizes of their own
    for start in (0, 1, 2):
        angles = np.outer(np.arange(len(codes)) + start, speeds)
        sines, cosines = (
            _times_off(codes, wave) for wave in (np.sin(angles), np.cos(angles))
        )
        size = 0.02 * np.abs(codes).max(axis=0)
        if (np.minimum(sines, cosines) < size).all():
            return bool(abs(int((sines < cosines).sum()) * 2 - codes.shape[1]) <= 1)
    return False


def _times_off(codes: Array, wave: Array) -> Array:
    """The largest difference of each column from a multiple of its wave."""
    squares = np.maximum(np.sum(wave**2, axis=0), 1e-300)
    scale = np.sum(codes * wave, axis=0) / squares
    return np.asarray(np.abs(codes - scale * wave).max(axis=0))


def _equally_long(codes: Array) -> bool:
    lengths = np.sum(codes**2, axis=1)
    return bool(np.ptp(lengths) < MATCH * lengths.max())
