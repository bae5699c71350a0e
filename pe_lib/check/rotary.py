"""Checks of rotary modules."""

import numpy as np

from pe_lib.check.call import close, noise
from pe_lib.check.registry import applies_to
from pe_lib.check.report import Findings, error, warning
from pe_lib.check.turns import NEAR, Turns, spread

FAR = 0.03  # more than float32 angles move a score within 1,024 positions
MIXED_UP = {  # keys are given twice as long as queries
    0.5: "Queries and keys come back as one and the same: the other is lost.",
    0.25: "The keys come back in the place of the queries: swapped.",
}
FIX = "Rotate queries and keys by position times frequency, in float32."


@applies_to("rotary")
def axes(turns: Turns) -> Findings:
    """Is each position rotated by an angle of its own, along the right axis?"""
    still = [
        name
        for name, m in zip(turns.names[:2], turns.matrices, strict=False)
        if np.abs(m - m[:1]).max() < 1e-5
    ]
    if still and len(still) < len(turns.names[:2]):
        yield error(
            f"The {still[0]} are not rotated.", "Rotate queries and keys alike."
        )
    elif still and turns.axes:
        yield error(
            f"With x {turns.way.layout} all positions are rotated alike.",
            "Count along the length: are heads and length in the other order?",
        )
    elif still:
        yield error("Nothing is rotated: all positions are alike.")


@applies_to("rotary")
def pairs(turns: Turns) -> Findings:
    """Are columns rotated in pairs, by one angle each?"""
    if turns.is_told and turns.misshapen:
        yield error(*turns.misshapen)


@applies_to("rotary")
def relative(turns: Turns) -> Findings:
    """Do scores depend on the offset alone?"""
    if not turns.is_told or turns.misshapen or turns.grid:
        return
    n = len(turns.matrices[0])
    long = n if turns.fixed else min(turns.limit, 1024)
    off, far = spread(turns.scores(n, 10)), spread(turns.scores(long, 10))
    words = f"Scores of one offset differ by up to {off:.2g}"
    if len(turns.names) > 1:
        for factor, mixed_up in MIXED_UP.items():
            if np.allclose(turns.matrices[1], factor * turns.matrices[0], atol=NEAR):
                yield error(mixed_up, "Return rotated queries, then rotated keys.")
                return
        queries, keys = turns.hands, turns.hands_of(1)
        if np.abs(queries - keys.conj()).max() < NEAR < off:
            yield error(f"{words}: the keys are rotated the other way.", FIX)
            return
        if np.abs(queries - keys).max() > NEAR:
            yield error(
                f"Queries and keys are rotated by different {_apart(turns)}", FIX
            )
            return
    if off > NEAR:
        rounded = turns.fit is not None and turns.fit.candidate.right
        why = (
            ": angles, or cosines and sines, are rounded to 16 bits" if rounded else ""
        )
        yield error(f"{words}{why}.", FIX)
    elif far > FAR:
        yield error(
            f"Within {long:,} positions equal offsets differ by {far:.2g}.", FIX
        )


def _apart(turns: Turns) -> str:
    """How the angles of the keys differ from those of the queries."""
    queries, keys = turns.hands, turns.hands_of(1)
    for steps in range(1, len(keys) // 2):
        s = "s" * (steps > 1)
        for name, one, two in (("keys", keys, queries), ("queries", queries, keys)):
            if np.abs(one[:-steps] - two[steps:]).max() < NEAR:
                return f"angles: the {name} are {steps} position{s} ahead."
    if np.abs(queries[::-1] - keys).max() < NEAR:
        return "angles: the keys are counted from the end."
    fits = [turns.fit_of(hands) for hands in (queries, keys)]
    told = [
        turns.words_of(fit).words if fit else "frequencies of their own" for fit in fits
    ]
    return f"angles: queries by {told[0]}, keys by {told[1]}."


@applies_to("rotary")
def tables(turns: Turns) -> Findings:
    """Where cosines and sines are returned: in this order?"""
    if turns.sines_first:
        yield warning(
            "It returns the sines first, then the cosines: who takes them for cos, sin "
            "has them swapped.",
            "return cos, sin",
        )


@applies_to("rotary")
def values(turns: Turns) -> Findings:
    """Are values left as they are?"""
    if len(turns.names) > 2:
        x = noise(2, turns.length, turns.d_model)
        rows = turns.rows(turns.fresh(), x=x)[:, -turns.d_model :]
        if not close(rows, x[0].double().numpy()):
            yield error("The values are rotated as well.", "Rotate queries and keys.")
