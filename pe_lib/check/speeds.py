"""Which list of frequencies a rotary module turns by."""

import itertools
import math
from collections.abc import Collection, Iterator

import numpy as np
from numpy.typing import NDArray
from torch import nn

from pe_lib.beyond.scaling import by_parts, interpolate, ntk

Array = NDArray[np.float64]

CLOSE = 1e-3  # relative; float32 frequencies are nearer than this
UNSURE = 1e-7  # radians a position: what float32 angles hide of a speed
FACTORS = (2, 4, 8, 16, 32, 64)
TRAINED = (2048, 4096, 8192, 16384, 32768)


def recognize_speeds(speeds: Array, dim: int) -> str:
    """What list of frequencies it is, in words; empty if none that is known."""
    count = len(speeds)
    if count < 2:
        return ""
    for over in (2 * count, dim):
        plain = _base_of(speeds, over)
        if plain:
            share = "" if 2 * count == dim else f", exponent 2j/{over}"
            return f"Base {plain:.10g}{share}"
    factor = 1 / speeds[0]
    if factor > 1 + CLOSE:
        plain = _base_of(speeds * factor, 2 * count)
        if plain:
            return f"Base {plain:.6g}, interpolated {factor:.4g} times"
    return _by_parts(speeds)


def _base_of(speeds: Array, over: int, known: Collection[float] = ()) -> float | None:
    """The base b of b**(-2j/over); None if it is no such list.

    The base that fits best, or the roundest that fits as well, one of `known` first.
    """
    if abs(speeds[0] - 1) > CLOSE:
        return None
    exponents = -2 * np.arange(1, len(speeds)) / over
    logs = np.log(np.maximum(speeds[1:], 1e-300)) / exponents
    # The noise of a speed is the same for all, so that of its log is 1 / speed.
    weights = (speeds[1:] * exponents) ** 2
    fitted = math.exp(min(float(np.average(logs, weights=weights)), 690))

    def off(base: float) -> float:
        return float(np.abs(base**exponents - speeds[1:]).max())

    if np.abs(fitted**exponents / speeds[1:] - 1).max() > CLOSE:
        return None
    best = 2 * off(fitted)
    return next(
        b
        for b in candidates(fitted, known)
        if off(b) <= best + (UNSURE if is_sure(b, known) else 1e-9)
    )


def candidates(base: float, known: Collection[float] = ()) -> Iterator[float]:
    """Bases near one that was fitted: known ones, round ones, and that one itself."""
    yield from (other for other in known if abs(other / base - 1) < CLOSE)
    yield from (float(f"{base:.{figures}g}") for figures in range(1, 10))
    yield base


def numbers_of(module: nn.Module) -> set[float]:
    """The numbers that a module keeps as attributes; its base may be one of them."""
    return {
        float(value)
        for part in module.modules()
        for value in vars(part).values()
        if type(value) in (int, float) and 1 < value < 1e300
    }


def _by_parts(speeds: Array) -> str:
    """The rules that stretch some pairs and keep others."""
    j = np.arange(len(speeds))
    for base in (10_000.0, 500_000.0, 1_000_000.0):
        old = base ** (-j / len(speeds))
        for factor in FACTORS:
            if np.allclose(speeds, ntk(old, factor), rtol=CLOSE):
                return f"Base {base:g}, NTK-aware, {factor} times"
            slowest = interpolate(old, factor)[-1]
            if abs(speeds[-1] / slowest - 1) > CLOSE:
                continue
            for trained, (fast, ramp, name) in itertools.product(
                TRAINED,
                (
                    (32.0, "index", "by parts as YaRN's program"),
                    (32.0, "turns", "by parts as YaRN's paper"),
                    (4.0, "turns", "Llama 3.1's rule"),
                ),
            ):
                new = by_parts(old, factor, trained, fast=fast, ramp=ramp)
                if np.allclose(speeds, new, rtol=CLOSE):
                    return (
                        f"Base {base:g}, {name}, {factor} times {trained:,} positions"
                    )
    return ""


def exact_speeds(
    speeds: Array, dim: int, known: Collection[float] = ()
) -> tuple[Array, float]:
    """The speeds behind those measured, and by how much they may be off.

    Exact where they are a power list of a base that is round or in `known`.
    """
    for over in (2 * len(speeds), dim):
        base = _base_of(speeds, over, known) if len(speeds) > 1 else None
        if base:
            exact = np.asarray(base ** (-2 * np.arange(len(speeds)) / over))
            return exact, 0.0 if is_sure(base, known) else UNSURE
    return speeds, UNSURE


def is_sure(base: float, known: Collection[float]) -> bool:
    """Whether it is the very base, and not the nearest that was measured."""
    return base in known or base == float(f"{base:.3g}")
