"""Checks of rotary modules."""

import numpy as np

from pe_lib.check.recognise import spread
from pe_lib.check.registry import applies_to
from pe_lib.check.report import Findings, error
from pe_lib.check.subject import NEAR
from pe_lib.check.turns import Turns

FAR = 0.03  # more than float32 angles move a score within 1,024 positions
MIXED_UP = {  # keys are given twice as long as queries
    0.5: "Queries and keys come back as one and the same: the other is lost.",
    0.25: "The keys come back in the place of the queries: swapped.",
}
FIX = "Rotate queries and keys by position times frequency, in float32."


@applies_to("rotary")
def axes(turns: Turns) -> Findings:
    """Is each position rotated by an angle of its own, along the right axis?"""
    vectors = turns.names[:2]
    still = [
        name
        for name, m in zip(vectors, turns.matrices, strict=False)
        if np.abs(m - m[:1]).max() < 1e-5
    ]
    if still and len(still) < len(vectors):
        yield error(f"The {still[0]} are not rotated.", FIX)
    elif still:
        yield error(
            f"With x {turns.way.layout} all positions are rotated alike.",
            "Count along the length: are heads and length in the other order?",
        )


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
    if len(turns.names) > 1:
        for factor, mixed_up in MIXED_UP.items():
            if np.allclose(turns.matrices[1], factor * turns.matrices[0], atol=NEAR):
                yield error(mixed_up, "Return rotated queries, then rotated keys.")
                return
        if apart := _apart(turns):
            yield error(f"Queries and keys get different angles: {apart}.", FIX)
            return
    near = len(turns.matrices[0])
    long = near if turns.way.fixed else min(turns.limit, 1024)
    for length, most in ((near, NEAR), (long, FAR)):
        off = spread(turns.scores(length, 10))
        if off > most:
            rounded = turns.fit is not None and turns.fit.formula.right
            why = ": angles, cosines or sines are rounded to 16 bits" * rounded
            yield error(
                f"Within {length:,} positions scores of one offset differ by up to "
                f"{off:.2g}{why}.",
                FIX,
            )
            return


def _apart(turns: Turns) -> str:
    """How the angles of the keys differ from those of the queries; empty if not."""
    queries, keys = turns.hands_of(0), turns.hands_of(1)
    ways = {"": keys, "the keys are rotated the other way": keys.conj()}
    ways["the keys are counted from the end"] = keys[::-1]
    for words, hands in ways.items():
        if np.abs(queries - hands).max() < NEAR:
            return words
    for steps in range(1, len(keys) // 2):
        for name, one, two in (("keys", keys, queries), ("queries", queries, keys)):
            if np.abs(one[:-steps] - two[steps:]).max() < NEAR:
                return f"the {name} are ahead, by positions: {steps}"
    return "frequencies of their own"


@applies_to("rotary")
def values(turns: Turns) -> Findings:
    """Are values left as they are?"""
    if len(turns.names) > 2 and not np.allclose(
        turns.matrices[2], np.eye(turns.d_model), atol=NEAR
    ):
        yield error("The values are rotated as well.", "Rotate queries and keys.")
