"""Three dials to turn, and the queries that the head then serves."""

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
    """Turn the hands of all keys by three angles: which queries look one back?

    Dials that go round in 2, 4 and 8 words, each written as a sine and a cosine. The
    score of key s for query t is the sum of the cosines of the angles between the
    query's hands and the key's hands, these turned by what the reader sets.

    Examples
    --------
    >>> print(Knobs())
    Nobody looks one back: as the knobs stand, every word finds itself.
    """

    _name = "knobs"
    _title = "Three knobs"
    _goal = "Turn the hands of all keys until all four queries look one back."
    _reached = (
        "Reached: 4 of 4.",
        "One setting serves everyone, with room to spare. At one step of each hand,"
        " 180, 90 and 45 degrees, the wanted key agrees in every hand. Now make the"
        " text longer.",
    )

    def _stage(self) -> str:
        dials = "".join(
            "<div>"
            + hand(f"the hand that goes round in {r} words", 0, marks=r, legs=False)
            + '<span class="now">0°</span></div>\n'
            for r in ROUNDS
        )
        angles = 2 * np.pi * np.arange(5)[:, np.newaxis] / ROUNDS
        scores = np.cos(angles[:, np.newaxis] - angles).sum(axis=2)
        looks = [highest(row) for row in scores[1:]]
        return (
            f'<div class="dials three">\n{dials}</div>\n'
            '<p class="legend">How far every key turns its hands: of 2, 4 and 8 words a'
            " round. The lamps: which word looks at which.</p>\n"
            f'<div class="lamps">{lamps(looks)}</div>\n'
        )

    def _tally(self) -> list[tuple[str, str]]:
        return [("queries that look one back", "0 of 4")]

    def _sentence(self) -> str:
        return "Nobody looks one back: as the knobs stand, every word finds itself."

    def _controls(self) -> str:
        return slider("n", "words in the text", 5, 12, 1, 5) + AGAIN
