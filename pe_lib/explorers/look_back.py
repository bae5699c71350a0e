"""Attend one back: turn the hands of the keys, and find the matrix."""

from dataclasses import dataclass

import numpy as np

from pe_lib.attention import softmax
from pe_lib.encoding import sinusoidal
from pe_lib.explorers._explorer import (
    AGAIN,
    LEGEND,
    Explorer,
    hand,
    highest,
    number,
    picture,
    slider,
    within,
)
from pe_lib.frequencies import angular_frequencies

LENGTH, BASE, SHARP = 16, 20, 4


@dataclass(frozen=True, kw_only=True)
class LookBack(Explorer):
    """A head to turn by hand: can every position attend to the one before?

    Sixteen positions with four hands each, ``P = sinusoidal(range(16), 8, base=20)``.
    The reader says by which angle each hand of every key is turned. That is a matrix
    W of four turns, and the scores are ``4 * P @ W @ P.T``. Nothing is set up: any
    turn shows where it makes the positions attend.

    Parameters
    ----------
    query : int
        The position to begin with, from 1 to 15.

    Raises
    ------
    TypeError
        If `query` is not an integer.
    ValueError
        If `query` is not within 1 and 15.

    Examples
    --------
    >>> print(LookBack())
    Position 11 attends to itself. Weight on 10: 0.08.
    """

    query: int = 11

    _name = "look-back"
    _scripts = ("frame.js", "turnable.js")
    _title = "Attend one back"
    _goal = (
        "Turn each hand of the key onto the dotted hand of the query. Do the same turns"
        " work for all other pairs?"
    )
    _reached = (
        "Reached: 15 of 15.",
        "You turned each hand by one step of its own, and that step depends on no"
        " position. The matrix that you built is T(1). Turn the first hand back, and"
        " the diagonal comes apart; turn the last one anywhere, and it stays. Fast"
        " hands tell neighbours apart.",
    )

    def __post_init__(self) -> None:
        within("query", self.query, 1, LENGTH - 1)

    def _stage(self) -> str:
        P = sinusoidal(np.arange(LENGTH), 8, base=BASE)
        weights = softmax(SHARP * P[self.query] @ P.T)
        dials = "".join(
            "<div>"
            + hand(
                f"hand {j + 1}",
                frequency * (self.query - 1),
                ghost=frequency * self.query,
            )
            + f'<span class="now">{round(np.degrees(frequency))}° to go</span></div>\n'
            for j, frequency in enumerate(angular_frequencies(8, base=BASE))
        )
        bars = "".join(
            f"M{20 * s + 20} 75v{-60 * weight:.1f}" for s, weight in enumerate(weights)
        )
        ticks = "".join(
            f'<text x="{20 * t + 20}" y="91">{t}</text>' for t in range(0, 16, 5)
        )
        return (
            f'<div class="dials four">\n{dials}</div>\n'
            + LEGEND.format("the hand of the query")
            + '<div class="pair">\n'
            + picture(
                "Bars: how much attention the query pays to each of the positions 0 to"
                " 15. A dotted frame is at the position before it.",
                340,
                96,
                f'<path class="now" stroke-width="13" d="{bars}"/>\n'
                '<path class="edge" d="M8 75.5h324"/>'
                f'<g class="now" transform="translate({20 * self.query})">'
                '<path class="target dots" stroke-width="2" d="M-9 75V6h18v69"/>'
                f'<path class="solid" d="M20 78l5 7h-10z"/></g>\n{ticks}\n',
            )
            + picture(
                "A map: a row per query, a column per key. The more ink, the more the"
                " query attends to the key; a dotted line runs through the positions"
                " before the queries.",
                168,
                168,
                '<path class="hair" d="M4 4h160v160h-160z"/>'
                '<g transform="translate(4 9) scale(10)">'
                + "".join(
                    f'<path class="now" stroke-opacity="{level / 4:g}" d=""/>'
                    for level in range(1, 5)
                )
                + '</g><path class="target dots" stroke-width="1.6"'
                ' d="M9 19l140 140"/><text class="now" x="118" y="62">?</text>',
                "map",
            )
            + '</div>\n<p class="legend">Bars: the weight of each key for this query.'
            " Square, after the button: a row per query, a column per key.</p>\n"
        )

    def _sentence(self) -> str:
        P = sinusoidal(np.arange(LENGTH), 8, base=BASE)
        assert highest(P[self.query] @ P.T) == [self.query]
        weights = softmax(SHARP * P[self.query] @ P.T)
        return (
            f"Position {self.query} attends to itself. Weight on {self.query - 1}:"
            f" {number(weights[self.query - 1])}."
        )

    def _controls(self) -> str:
        return (
            slider("t", "position of the query", 1, LENGTH - 1, 1, self.query)
            + '<button type="button" name="whole" class="main">Now for every position'
            f" at once</button>\n{AGAIN}"
        )
