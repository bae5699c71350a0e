"""Which list of frequencies a rotary module turns by."""

import itertools

import numpy as np
from numpy.typing import NDArray

from pe_lib.beyond.scaling import by_parts, interpolate, ntk

Array = NDArray[np.float64]

CLOSE = 1e-3  # relative; float32 frequencies are nearer than this
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
            return f"Base {plain:g}{share}"
    factor = 1 / speeds[0]
    if factor > 1 + CLOSE:
        plain = _base_of(speeds * factor, 2 * count)
        if plain:
            return f"Base {plain:g}, interpolated {factor:.4g} times"
    return _by_parts(speeds)


def _base_of(speeds: Array, over: int) -> float | None:
    """The base b of b**(-2j/over), the roundest; None if it is no such list."""
    if abs(speeds[0] - 1) > CLOSE:
        return None
    j = np.arange(1, len(speeds))
    bases = np.exp(-np.log(np.maximum(speeds[1:], 1e-300)) * over / (2 * j))
    base = float(bases[-1])
    for figures in (1, 2, 3, 4, 6):
        round_one = float(f"{base:.{figures - 1}e}")
        if np.abs(round_one ** (-2 * j / over) / speeds[1:] - 1).max() < CLOSE:
            return round_one
    return None


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


def exact_speeds(speeds: Array, dim: int) -> Array | None:
    """The exact speeds behind those measured, where they are a power list."""
    for over in (2 * len(speeds), dim):
        base = _base_of(speeds, over) if len(speeds) > 1 else None
        if base:
            return np.asarray(base ** (-2 * np.arange(len(speeds)) / over))
    return None
