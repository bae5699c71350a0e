"""Two hands: how far away can the nearest position be kept?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pe_lib.explorers._explorer import Explorer, hand, number, picture, slider

FREQUENCY = 0.01


@dataclass(frozen=True, kw_only=True)
class TwoHands(Explorer):
    """The distance of each of 99 positions to position 0, for two hands.

    The fast one turns by one radian per position, the slow one by what the reader
    sets. The first setting, 0.01, is the second frequency of four numbers with base
    10,000.

    Examples
    --------
    >>> print(TwoHands())
    Position 19 is close to position 0: both hands are near twelve.
    """

    _name = "two-hands"
    _title = "Two hands"
    _goal = (
        "Some position is always nearest to position 0. Choose the slow hand so that"
        " even this one is as far away as possible."
    )
    _reached = (
        "Reached: at least 0.58.",
        "Of all these frequencies only 0.39 keeps the other 99 positions so far away;"
        " 0.01 is not the best for 100 positions. In a longer text the nearest position"
        " is nearer.",
    )

    def _distances(self) -> NDArray[np.float64]:
        t = np.arange(1, 100)
        far: NDArray[np.float64] = np.sqrt(
            4 - 2 * np.cos(t) - 2 * np.cos(FREQUENCY * t)
        )
        return far

    def _stage(self) -> str:
        far = self._distances()
        low = int(far.argmin()) + 1
        points = "L".join(f"{3 * t + 33} {130 - 40 * d:.1f}" for t, d in enumerate(far))
        ticks = "".join(
            f'<text x="{3 * t + 30}" y="147">{t}</text>' for t in (0, 25, 50, 75, 100)
        )
        y = 130 - 40 * far[low - 1]
        return (
            '<div class="dials three"><div>'
            + hand("fast hand, at the nearest position", low, ghost=0, legs=False)
            + "1.00 radian per position</div>\n<div>"
            + hand(
                "slow hand, at the nearest position",
                FREQUENCY * low,
                ghost=0,
                legs=False,
            )
            + '<span class="now">0.01 radian per position</span></div></div>\n'
            '<p class="legend">The hands of the nearest position, and'
            ' <b class="target">dotted</b> those of position 0. Below: how far each'
            " position is from position 0.</p>\n"
            + picture(
                "A jagged curve: the distance of the positions 1 to 99 from position 0."
                " A ring marks its lowest point, a line the height to reach.",
                340,
                152,
                '<path class="edge" d="M28 130.5h304"/>'
                '<path class="target dots" stroke-width="2" d="M28 106.8h304"/>'
                f'<path class="now" stroke-width="1.5" d="M{points}"/>'
                f'<g class="now" transform="translate({3 * low + 30} {y:.1f})">'
                '<circle class="target" stroke-width="3" r="7"/></g>\n'
                '<text class="muted" x="300" y="122" style="paint-order: stroke;'
                ' stroke: var(--x-raised); stroke-width: 5px">goal: 0.58</text>'
                '<text x="16" y="134">0</text>'
                f'<text x="16" y="54">2</text>{ticks}\n',
            )
        )

    def _tally(self) -> list[tuple[str, str]]:
        far = self._distances()
        return [
            ("nearest", f"position {far.argmin() + 1}"),
            ("its distance", number(far.min())),
            ("best so far", number(far.min())),
        ]

    def _sentence(self) -> str:
        return (
            f"Position {self._distances().argmin() + 1} is close to position 0: both"
            " hands are near twelve."
        )

    def _controls(self) -> str:
        return slider("w", "frequency of the slow hand", 0.01, 0.99, 0.01, FREQUENCY)
