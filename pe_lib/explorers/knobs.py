"""Three dials to turn, and the queries that are then right."""

from dataclasses import dataclass

import numpy as np

from pe_lib.explorers._explorer import (
    AGAIN,
    Explorer,
    hand,
    highest,
    lamps,
    slider,
)

ROUNDS = (2, 4, 8)


@dataclass(frozen=True, kw_only=True)
class Knobs(Explorer):
    """Turn the hands of all keys by three angles: which queries attend one back?

    Dials with the wavelengths 2, 4 and 8, each written as a sine and a cosine. The
    score of key s for query t is the sum of the cosines of the angles between the
    query's hands and the key's hands, these turned by what the reader sets.

    Examples
    --------
    >>> print(Knobs())
    No query attends to the word before: unturned, each finds itself.
    """

    _name = "knobs"
    _scripts = ("frame.js", "turnable.js")
    _title = "Three knobs"
    _goal = "Turn the hands of all keys until all four queries attend one back."
    _reached = (
        "Reached: 4 of 4.",
        "One setting is right for all queries, with room to spare. At one step of each"
        " hand, 180, 90 and 45 degrees, the wanted key agrees in every hand. Now make"
        " the text longer.",
    )

    def _stage(self) -> str:
        dials = "".join(
            "<div>"
            + hand(f"the hand that goes round in {r} positions", 0, marks=r, legs=False)
            + f'wavelength {r}: <span class="now">0°</span></div>\n'
            for r in ROUNDS
        )
        angles = 2 * np.pi * np.arange(5)[:, np.newaxis] / ROUNDS
        scores = np.cos(angles[:, np.newaxis] - angles).sum(axis=2)
        looks = [highest(row) for row in scores[1:]]
        return (
            f'<div class="dials three">\n{dials}</div>\n'
            '<p class="legend">How far the hands of all keys are turned. Below: the key'
            " to which each query attends most.</p>\n"
            f'<div class="lamps">{lamps(looks)}</div>\n'
        )

    def _sentence(self) -> str:
        return "No query attends to the word before: unturned, each finds itself."

    def _controls(self) -> str:
        return slider("n", "words in the text", 5, 12, 1, 5) + AGAIN
