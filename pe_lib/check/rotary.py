"""Checks of rotary modules."""

import numpy as np

from pe_lib.check.call import close, noise
from pe_lib.check.registry import applies_to
from pe_lib.check.report import Findings, error
from pe_lib.check.turns import NEAR, Turns, spread

FAR = 0.03  # more than float32 angles move a score within 1,024 positions
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
        queries, keys = turns.hands, turns.hands_of(1)
        if np.abs(queries - keys.conj()).max() < NEAR < off:
            yield error(f"{words}: the keys are rotated the other way.", FIX)
            return
        if np.abs(queries - keys).max() > NEAR:
            yield error("Queries and keys are rotated by different angles.", FIX)
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


@applies_to("rotary")
def values(turns: Turns) -> Findings:
    """Are values left as they are?"""
    if len(turns.names) > 2:
        x = noise(2, turns.length, turns.d_model)
        rows = turns.rows(turns.fresh(), x=x)[:, -turns.d_model :]
        if not close(rows, x[0].double().numpy()):
            yield error("The values are rotated as well.", "Rotate queries and keys.")
