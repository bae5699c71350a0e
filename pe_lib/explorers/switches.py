"""Three switches, one per digit: for which queries is a head on digits right?"""

from dataclasses import dataclass

import numpy as np

from pe_lib.explorers._explorer import SENTENCE, Explorer, buttons, highest, lamps
from pe_lib.naive import binary

DIGITS = ("ones", "twos", "fours")


@dataclass(frozen=True, kw_only=True)
class Switches(Explorer):
    """A switch, -1, 0 or 1, for each binary digit: which queries look one back?

    The score of key s for query t is the sum over the digits of
    ``switch[j] * P[t, j] * P[s, j]``, with ``P = binary(range(5), 3, centered=True)``.

    Examples
    --------
    >>> print(Switches())
    No query attends to the word before: each finds itself.
    """

    _name = "switches"
    _title = "Three switches"
    _goal = "Get as many of the four queries right as you can."
    _reached = (
        "Reached: 2 of 4.",
        "None of the 27 settings gets more. A full matrix gets three, but 3 and 4 never"
        " together, because they differ in every digit.",
    )
    _styles = ("explorer.css", "switches.css")

    def _stage(self) -> str:
        P = binary(np.arange(5), 3, centered=True)
        head = "<b></b>" + "".join(f"<b>{word}</b>" for word in SENTENCE) + "<b></b>"
        rows = "".join(
            f"<b>{name}</b>"
            + "".join("<i>+</i>" if x > 0 else "<span>−</span>" for x in P[:, j])
            + '<b class="now">switch 1</b>'
            for j, name in enumerate(DIGITS)
        )
        looks = [highest(row) for row in (P @ P.T)[1:]]
        return (
            '<div class="code" role="img" aria-label="The binary digits of positions 0'
            f' to 4, the ones first, with minus for zero">{head}{rows}</div>\n'
            '<p class="legend">Press a row to change its switch. Below: query →'
            " the key to which it attends most.</p>\n"
            f'<div class="lamps">{lamps(looks)}</div>\n'
        )

    def _tally(self) -> list[tuple[str, str]]:
        return [("queries that attend one back", "0 of 4"), ("best so far", "0")]

    def _sentence(self) -> str:
        return "No query attends to the word before: each finds itself."

    def _controls(self) -> str:
        labels = {-1: "−1", 0: "0", 1: "1"}
        return "".join(
            buttons(name, f"switch of the {name}", labels, 1) for name in DIGITS
        )
