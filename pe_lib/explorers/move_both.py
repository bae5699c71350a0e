"""Move both words: a rotary score, as two hands of a query and of a key see it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pe_lib.explorers._explorer import (
    Explorer,
    hand,
    minus,
    number,
    picture,
    slider,
    within,
)
from pe_lib.frequencies import angular_frequencies
from pe_lib.rotation import apply_shift

UPRIGHT = np.array([0.0, 1.0, 0.0, 1.0])


@dataclass(frozen=True, kw_only=True)
class MoveBoth(Explorer):
    """The hands of a query and of a key, rotated by their positions, and the score.

    Query and key are (0, 1, 0, 1) before they are rotated: two upright hands each,
    with the frequencies 1 and 0.01. So a gap between them is the offset times the
    frequency, and the score is the sum of the cosines of the two gaps.

    Parameters
    ----------
    position : int
        Of the query, from 4 to 104.
    back : int
        The offset: how many positions back the key is, from 0 to 4.

    Raises
    ------
    TypeError
        If an argument is not an integer.
    ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> print(MoveBoth())
    Query 4, key 3: the score is 1.5403.
    """

    position: int = 4
    back: int = 1

    _name = "move-both"
    _styles = ("explorer.css", "move_both.css")
    _title = "Move both words"
    _goal = "Move both words as far as you like. Then find a way to change the score."
    _reached = (
        "Reached: a different offset.",
        "There is no other way: only the offset between the two words matters, not"
        " where they are.",
    )

    def __post_init__(self) -> None:
        within("position", self.position, 4, 104)
        within("back", self.back, 0, 4)

    def _angles(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How far the query's and the key's hands have turned, from twelve."""
        frequencies = angular_frequencies(4)
        return frequencies * self.position, frequencies * (self.position - self.back)

    def _score(self) -> float:
        query = apply_shift(UPRIGHT, self.position)
        return float(query @ apply_shift(UPRIGHT, self.position - self.back))

    def _gaps(self) -> list[str]:
        query, key = self._angles()
        turned = np.degrees(query - key) + 1e-9
        return [f"{minus(f'{gap:.1f}')}°" for gap in (turned + 180) % 360 - 180]

    def _stage(self) -> str:
        names = ("1 radian per position", "0.01 radian per position")
        both = zip(names, *self._angles(), self._gaps(), strict=True)
        dials = "".join(
            "<div>"
            + hand(f"the hands of query and key, {name}", query, before=key, legs=False)
            + f'<div>{name}</div><span class="now">gap {gap}</span></div>\n'
            for name, query, key, gap in both
        )
        start = max(0, self.position - 8)
        marks = "".join(f"M{20 * t} {46 if t % 5 else 40}V56" for t in range(105))
        ticks = f'<path class="edge" d="{marks}"/>' + "".join(
            f'<text class="muted" x="{20 * t}" y="70">{t}</text>'
            for t in range(0, 105, 5)
        )
        words = zip(
            ("key", "query"),
            (18, 94),
            (self.position - self.back, self.position),
            strict=True,
        )
        tiles = "".join(
            f'<g class="now word {name}" transform="translate({20 * (t - start)} {y})">'
            f'<rect x="-28" y="-16" width="56" height="32" rx="8"/>'
            f'<text y="5">{name}</text></g>'
            for name, y, t in words
        )
        row = picture(
            "A line of positions, with the key above it, the query below it, and a"
            " handle that moves both.",
            340,
            112,
            f'<g class="now" transform="translate({30 - 20 * start})">{ticks}</g>\n'
            f'<g transform="translate(30)">{tiles}</g>\n'
            '<g class="word both"><rect x="222" y="78" width="108" height="32"'
            ' rx="16"/><text x="276" y="99">↔ both</text></g>\n',
            "plot row",
        )
        return (
            f'<div class="dials two">\n{dials}</div>\n{row}'
            '<p class="legend">Full: the query. Pale: the key. The'
            " arc: the gap from key to query.</p>\n"
        )

    def _won(self) -> bool:
        return self.back != 1

    def _sentence(self) -> str:
        return (
            f"Query {self.position}, key {self.position - self.back}: the score is"
            f" {number(self._score(), 4)}."
        )

    def _controls(self) -> str:
        return slider(
            "t", "move both: the query at", 4, 104, 1, self.position
        ) + slider("k", "offset: positions back to the key", 0, 4, 1, self.back)
