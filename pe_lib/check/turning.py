"""The checks of rotary modules: how they turn, how fast, and whether it shows."""

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pe_lib.beyond.scaling import by_parts, interpolate, ntk
from pe_lib.check.kinds import Call
from pe_lib.check.probe import Probe, noise
from pe_lib.check.recognition import HARMFUL
from pe_lib.check.report import Finding, Findings
from pe_lib.check.tensors import as_numpy, close

Array = NDArray[np.float64]

COUNT = 64  # positions that are looked at
FAR = (1_000, 10_000, 100_000)
CLOSE = 1e-3  # relative; float32 frequencies are nearer than this
FACTORS = (2, 4, 8, 16, 32, 64)
TRAINED = (2048, 4096, 8192, 16384, 32768)
LAYOUTS = {
    "interleaved": "interleaved: numbers 2j and 2j + 1 are a pair",
    "half_split": "half-split: numbers j and j + half the width are a pair",
}


@dataclass(frozen=True)
class Turner:
    """A rotary module, asked for what it does to vectors of one head.

    Attributes
    ----------
    probe : Probe
        How it is built.
    call : callable
        From a module and vectors [length, dim] at positions 0, 1, ... to them turned.
    """

    probe: Probe
    call: Call

    def turn(self, vectors: Tensor, module: nn.Module | None = None) -> Tensor:
        """Vectors [length, dim] at positions 0, 1, ..., turned."""
        turned = self.call(self.probe.make() if module is None else module, vectors)
        if not isinstance(turned, Tensor) or turned.shape != vectors.shape:
            raise ValueError(f"returned no tensor {list(vectors.shape)}")
        return turned

    @cached_property
    def matrices(self) -> Array:
        """What each position does: [position, to, from]."""
        module, dim = self.probe.make(), self.probe.d_model
        columns = [
            as_numpy(self.turn(torch.eye(dim)[i].repeat(COUNT, 1), module))
            for i in range(dim)
        ]
        return np.stack(columns, axis=2)

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The columns that turn together, each pair once."""
        coupled = np.abs(self.matrices).max(axis=0) > 1e-4
        np.fill_diagonal(coupled, val=False)
        first, second = np.nonzero(np.triu(coupled | coupled.T))
        return list(zip(first.tolist(), second.tolist(), strict=True))

    @cached_property
    def layout(self) -> str:
        """The name of the pairing; empty if it has none."""
        columns = sorted({column for pair in self.pairs for column in pair})
        half = len(columns) // 2
        if not half or len(self.pairs) != half:
            return ""
        if all(b == a + 1 and a % 2 == 0 for a, b in self.pairs):
            return "interleaved"
        return "half_split" if all(b - a == half for a, b in self.pairs) else ""

    @cached_property
    def hands(self) -> NDArray[np.complex128]:
        """Each pair as a complex number, [position, pair]."""
        first, second = np.array(self.pairs).T
        return self.matrices[:, first, first] + 1j * self.matrices[:, second, first]

    @cached_property
    def speeds(self) -> Array:
        """Radians a position of each pair, counter-clockwise positive."""
        steps = self.hands[1:] * self.hands[:-1].conj()
        fast: Array = np.angle(steps.sum(axis=0))
        long = np.angle(self.hands[-1] * self.hands[0].conj())
        turns = np.round((fast * (COUNT - 1) - long) / (2 * math.pi))
        return np.asarray((long + 2 * math.pi * turns) / (COUNT - 1), dtype=np.float64)


def norm(turner: Turner) -> Findings:
    """Are vectors as long as before?"""
    x = noise(COUNT, turner.probe.d_model)
    factors = as_numpy(turner.turn(x).norm(dim=1) / x.norm(dim=1))
    spread = float(np.ptp(factors) / factors.mean())
    if spread > CLOSE and len(turner.pairs) * 2 < turner.probe.d_model:
        factors = np.abs(turner.hands).ravel()
        spread = float(np.ptp(factors) / factors.mean())
    if spread > CLOSE and _disagreement(turner) < CLOSE:
        yield Finding.fact(
            "norm",
            f"Norms change by {spread:.0%}; scores depend on the offset alone.",
            "As in xPos, where queries grow as keys shrink.",
        )
    elif spread > CLOSE:
        yield Finding.wrong(
            "norm",
            f"The norm of a vector changes by {spread:.0%} on the way.",
            "What turns must keep norms; scores then depend on more than the offset.",
            "Take cosine and sine of the same angle, and one pairing for both.",
        )
    else:
        times = float(factors.mean())
        more = "" if abs(times - 1) < CLOSE else f", times {times:.4g}"
        yield Finding.fact(
            "norm", f"Norms stay{more}.", "A factor other than 1 is a temperature."
        )


def _disagreement(turner: Turner) -> float:
    """By how much scores at the same offset differ, as a share of the largest."""
    query, key = noise(2, turner.probe.d_model)
    module = turner.probe.make()
    queries = as_numpy(turner.turn(query.repeat(COUNT, 1), module))
    keys = as_numpy(turner.turn(key.repeat(COUNT, 1), module))
    scores = queries @ keys.T
    diagonals = [np.ptp(np.diagonal(scores, k)) for k in range(1 - COUNT, COUNT)]
    return float(max(diagonals) / np.abs(scores).max())


def relative(turner: Turner) -> Findings:
    """Does the score depend on the offset alone?"""
    off = _disagreement(turner)
    if off > CLOSE:
        yield Finding.wrong(
            "relative",
            f"Two words the same way apart get scores that differ by up to {off:.0%}.",
            "The promise of a rotary encoding is that only the offset counts.",
            "Cosines and sines of one layout, the rotation of another: repeat each "
            "frequency twice in a row for pairs of neighbours, the whole list twice "
            "for halves.",
        )
    else:
        yield Finding.fact(
            "relative", "The score depends on the offset alone.", "As it should."
        )


def pairing(turner: Turner) -> Findings:
    """Which numbers turn together?"""
    dim, turned = turner.probe.d_model, 2 * len(turner.pairs)
    rest = f"; {dim - turned} of {dim} numbers stand still" if turned < dim else ""
    if turner.layout:
        clockwise = ", turning clockwise" if turner.speeds[0] < 0 else ""
        yield Finding.fact(
            "pairing",
            f"{LAYOUTS[turner.layout]}{rest}{clockwise}.",
            "Weights trained with one pairing are wrong for the other, and at offset "
            "1 it hardly shows.",
        )
    else:
        yield Finding.fact(
            "pairing",
            f"A pairing of its own{rest}.",
            "Weights trained with another are wrong for it.",
        )


def frequencies(turner: Turner) -> Findings:
    """How fast do the pairs turn?"""
    if not turner.layout:
        return
    speeds = np.abs(turner.speeds)
    name = recognise(speeds, turner.probe.d_model)
    yield Finding.fact(
        "frequencies",
        f"{name}." if name else
        f"Frequencies of its own, from {speeds.max():.4g} to {speeds.min():.4g}.",
        "Weights trained with one list of frequencies are wrong for another.",
    )  # fmt: skip


def recognise(speeds: Array, dim: int) -> str:
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


def accuracy(turner: Turner) -> Findings:
    """How far from the true angle, far from the beginning?"""
    if not turner.layout:
        return
    speeds = _ideal(np.abs(turner.speeds), turner.probe.d_model)
    if speeds is None or _longer_is_other(turner):
        return
    first = [a for a, _ in turner.pairs]
    row = torch.zeros(turner.probe.d_model)
    row[first] = 1.0
    told, harmful = [], []
    for length in FAR:
        try:
            turned = as_numpy(turner.turn(row.repeat(length, 1)))[-1]
        except Exception:  # longer than it takes: no fault
            break
        scale = float(np.abs(turner.hands[0]).mean())
        hands = turned[first] + 1j * turned[[b for _, b in turner.pairs]]
        angles = (length - 1) * speeds * np.sign(turner.speeds)
        error = float(np.abs(hands / scale - np.exp(1j * angles)).max())
        told.append(f"{length:,}: {error:.1e}")
        if not error < HARMFUL:
            harmful.append(length)
    if harmful:
        yield Finding.wrong(
            "accuracy",
            f"Largest error before position {'; '.join(told)}.",
            f"At {harmful[0]:,} it shows in every dtype: words turn by other angles.",
            "Compute positions times frequencies in float32 at least, whatever the "
            "dtype of x or of the module.",
        )
    elif told:
        yield Finding.fact(
            "accuracy", f"Largest error before position {'; '.join(told)}.",
            "float32 angles lose a digit a power of ten.",
        )  # fmt: skip


def length(turner: Turner) -> Findings:
    """Do the first words of a long text turn as those of a short one?"""
    longer = _longer_is_other(turner)
    if longer:
        yield Finding.fact(
            "length",
            f"A text of {longer:,} is turned by other angles from its first word on.",
            "Frequencies that depend on the length: keys that stay in a cache as a "
            "shorter text had them no longer fit the queries.",
        )
    else:
        yield Finding.fact(
            "length",
            "A longer text changes nothing at its first words.",
            "Keys may stay in a cache.",
        )


def _longer_is_other(turner: Turner) -> int:
    """The first length that changes how the beginning turns; 0 if none does."""
    row = noise(1, turner.probe.d_model)
    usual = turner.turn(row.repeat(COUNT, 1))
    for longer in FAR:
        try:
            turned = turner.turn(row.repeat(longer, 1))[:COUNT]
        except Exception:  # longer than it takes: no fault
            return 0
        if not close(turned, usual):
            return longer
    return 0


def _ideal(speeds: Array, dim: int) -> Array | None:
    """The exact speeds behind those measured, where they are a power list."""
    for over in (2 * len(speeds), dim):
        base = _base_of(speeds, over) if len(speeds) > 1 else None
        if base:
            return np.asarray(base ** (-2 * np.arange(len(speeds)) / over))
    return None


def half(turner: Turner) -> Findings:
    """Is it still right in 16 bits?"""
    length = 2048
    row = noise(1, turner.probe.d_model)
    try:
        usual = turner.turn(row.repeat(length, 1))
    except Exception:
        length = COUNT
        usual = turner.turn(row.repeat(length, 1))
    size = float(usual.abs().max())
    for words, module, rows in _in_16_bits(turner, row.repeat(length, 1)):
        try:
            turned = turner.turn(rows, module).float()
        except Exception:  # a mixture of dtypes that it refuses
            continue
        error = (turned - usual).abs().amax(1) / size
        bad = torch.nonzero(~(error < 4 * torch.finfo(torch.bfloat16).eps))
        if len(bad):
            yield Finding.wrong(
                "half",
                f"{words} position {int(bad[0])} is off by "
                f"{float(error[bad[0]]):.2g}, and what follows.",
                "Positions, frequencies or angles are rounded to 8 bits before they "
                "become a cosine.",
                "Keep frequencies and angles in float32, out of .to(dtype); convert "
                "cosine and sine last.",
            )
            return
    yield Finding.fact(
        "half", "In bfloat16 only the result is rounded.", "As it should."
    )


def _in_16_bits(
    turner: Turner, rows: Tensor
) -> Iterable[tuple[str, nn.Module, Tensor]]:
    short = rows.bfloat16()
    yield "With x in bfloat16", turner.probe.make(), short
    yield "After .bfloat16()", turner.probe.make().bfloat16(), short
    yield "After .bfloat16().float()", turner.probe.make().bfloat16().float(), rows


def history(turner: Turner) -> Findings:
    """Does what it has read change what it does?"""
    rows = noise(COUNT, turner.probe.d_model)
    usual = turner.turn(rows)
    calls: dict[str, Callable[[nn.Module], Any]] = {
        "a text of 20,000": lambda m: turner.turn(rows[:1].repeat(20_000, 1), m),
        "one word": lambda m: turner.turn(rows[:1], m),
        "x in bfloat16": lambda m: turner.turn(rows.bfloat16(), m),
    }
    for words, call in calls.items():
        module = turner.probe.make()
        try:
            call(module)
        except Exception:  # refused
            continue
        turned = turner.turn(rows, module)
        if not close(turned, usual):
            yield Finding.wrong(
                "history",
                f"After {words} the same text is turned by other angles, off by "
                f"{float((turned - usual).abs().max()):.2g}.",
                "Results depend on what the module has read before.",
                "Frequencies that depend on the length belong to the call, not to "
                "the module.",
            )
            return
    yield Finding.fact(
        "history", "It does not depend on earlier calls.", f"Tried: {', '.join(calls)}."
    )


ROTARY_CHECKS: dict[str, Callable[[Turner], Findings]] = {
    "norm": norm,
    "relative": relative,
    "pairing": pairing,
    "frequencies": frequencies,
    "length": length,
    "accuracy": accuracy,
    "half": half,
    "history": history,
}
