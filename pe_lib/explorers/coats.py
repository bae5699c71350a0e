"""Five codes in the plane: drag them until one matrix takes each to the next."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pe_lib.explorers._explorer import (
    AGAIN,
    Explorer,
    lamp,
    number,
    picture,
    slider,
)

POINTS = ((0, 0.8), (0.3, 0.2), (0.9, 0.4), (0.5, -0.6), (-0.7, -0.3))
LOUD, NEAR = 0.1, 0.05


@dataclass(frozen=True, kw_only=True)
class Coats(Explorer):
    """Five codes to drag, and two lamps.

    The first lamp: the smallest norm is at most 10 % below the largest. The second:
    the 2 by 2 matrix that fits best takes each code to the next one, with an error of
    at most 5 % of their size (root mean square). With more than five positions that
    matrix continues the codes. Both lamps and no two points that overlap: that is the
    goal, and near a circle in even steps. (Exactly equal norms and an exact matrix
    leave five different codes nothing else, as the book's page on three properties
    proves.)

    Examples
    --------
    >>> print(Coats())
    Their norms differ, and no one matrix takes each to the next.
    """

    _name = "coats"
    _title = "Five codes"
    _goal = (
        "Drag the five codes, without letting them meet, until both conditions hold."
        " What shape do you get?"
    )
    _reached = (
        "You have built a clock.",
        "Near a circle, in even steps. Add positions: the more there are, the rounder"
        " it must be.",
    )
    _styles = ("explorer.css", "coats.css")

    @staticmethod
    def _aims(P: NDArray[np.float64]) -> NDArray[np.float64]:
        """Where the matrix that comes nearest puts each word's code for the next."""
        aims: NDArray[np.float64] = P[:-1] @ np.linalg.lstsq(P[:-1], P[1:])[0]
        return aims

    def _state(self) -> tuple[NDArray[np.float64], float, float]:
        P = np.array(POINTS, dtype=float)
        miss = np.sqrt(np.mean((self._aims(P) - P[1:]) ** 2) / np.mean(P**2))
        norms = np.linalg.norm(P, axis=1)
        return P, float(1 - norms.min() / norms.max()), float(miss)

    def _stage(self) -> str:
        P, spread, miss = self._state()
        places, loudest = 150 + 110 * P * (1, -1), np.linalg.norm(P, axis=1).max()
        aims = "".join(_ring(x, y, 17) for x, y in 150 + 110 * self._aims(P) * (1, -1))
        line = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        points = "".join(
            f'<g class="now point" transform="translate({x:.1f} {y:.1f})">'
            '<circle class="grip" r="23" fill="transparent" stroke="none"'
            ' stroke-width="3"/><circle class="solid" r="12"/>'
            f'<text y="4.5">{t}</text></g>\n'
            for t, (x, y) in enumerate(places)
        )
        return (
            f'<div class="lamps">{self._lamps(spread, miss)}</div>\n'
            + picture(
                "The plane with the codes of five positions as numbered points, a line"
                " from each to the next, a dotted ring where the matrix puts each next"
                " one, and a circle through the one of largest norm.",
                300,
                300,
                '<path class="hair" d="M150 5v290M5 150h290"/>'
                f'<path class="now hair" d="{_ring(150, 150, 110 * loudest)}"/>'
                f'<path class="now edge" d="M{line}"/>'
                '<path class="now edge round" stroke-width="6" d=""/>'
                f'<path class="now target dots" stroke-width="2.5" d="{aims}"/>\n'
                f"{points}",
                "plane",
            )
            + '<p class="legend"><b class="target">Dotted</b>: where the matrix puts'
            " each next code. On the circle: the largest norm.</p>\n"
        )

    @staticmethod
    def _lamps(spread: float, miss: float) -> str:
        apart, by = (f"{number(100 * share, 0)} %" for share in (spread, miss))
        loud, near = ("yes" if is_ else "no" for is_ in (spread <= LOUD, miss <= NEAR))
        return lamp(f"equal norm: smallest {apart} below largest", loud) + lamp(
            f"one matrix: misses by {by} of the size", near
        )

    def _sentence(self) -> str:
        return "Their norms differ, and no one matrix takes each to the next."

    def _controls(self) -> str:
        return slider("n", "positions", 5, 40, 1, 5) + AGAIN


def _ring(x: float, y: float, r: float) -> str:
    """A path round a place."""
    arc = f"a{r:.1f} {r:.1f} 0 1 0"
    return f"M{x - r:.1f} {y:.1f}{arc} {2 * r:.1f} 0{arc} -{2 * r:.1f} 0"
