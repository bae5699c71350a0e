"""Checks of rotary modules."""

import numpy as np

from pe_lib.check.call import close, noise
from pe_lib.check.registry import applies_to
from pe_lib.check.report import Findings, error, note
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
    if not turns.is_told:
        return
    if turns.misshapen:
        yield error(*turns.misshapen)
    norms = [np.linalg.norm(m, axis=1) for m in turns.matrices[:2]]
    product = norms[0] * norms[-1]
    if np.ptp(product) < NEAR < abs(product.mean() - 1):
        yield note(f"Scores are multiplied by {product.mean():.4g}.")


@applies_to("rotary")
def relative(turns: Turns) -> Findings:
    """Do scores depend on the offset alone?"""
    if not turns.is_told or turns.misshapen or turns.grid:
        return
    n, m = len(turns.matrices[0]), turns.matrices
    long = n if turns.fixed else min(turns.limit, 1024)
    off, far = spread(turns.scores(n, 10)), spread(turns.scores(long, 10))
    if off > NEAR:
        what = ""
        if len(m) > 1 and close(m[0], m[1].transpose(0, 2, 1)):
            what = ": the keys are rotated the other way"
        elif len(m) > 1 and np.abs(m[0] - m[1]).max() > NEAR:
            what = ": queries and keys are rotated by different angles"
        elif turns.fit is not None and turns.fit.candidate.right:
            what = ": the angles, or the cosines and sines, are rounded to 16 bits"
        yield error(f"Scores of one offset differ by up to {off:.2g}{what}.", FIX)
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
