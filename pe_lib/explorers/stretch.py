"""Extend a RoPE head: which hands meet new angles, and do neighbours stay apart?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pe_lib._arguments import as_choice
from pe_lib.beyond import scaling
from pe_lib.explorers._explorer import (
    Explorer,
    buttons,
    choices,
    number,
    one_of,
    picture,
)
from pe_lib.frequencies import angular_frequencies

RULES = {
    "none": "unchanged",
    "interpolate": "interpolation",
    "ntk": "NTK-aware",
    "yarn": "YaRN",
    "llama3": "Llama 3.1",
}
FACTORS = (1, 2, 4, 8, 16, 32)
BASES = (100, 10_000, 500_000, 1_000_000)
LENGTHS = (64, 512, 4096, 8192)
LONGER = 8
HANDS = 64


@dataclass(frozen=True, kw_only=True)
class Stretch(Explorer):
    """The 64 hands of a RoPE head on a sequence eight times its context length.

    Above, how far the hands go that never came round in training, relative to their
    largest angle there: :func:`pe_lib.beyond.scaling.unseen_angles`. Below, the new
    frequency of every hand over the old. The gap to the neighbour is
    ``1 - cos(frequencies).mean()``, the fall of the score of equal vectors over one
    position, as a share of what it was.

    Parameters
    ----------
    rule : str
        "none", "interpolate", "ntk", "yarn" (by parts, 1 to 32 turns, as in the
        paper) or "llama3" (by parts, 1 to 4 turns).
    factor : int
        s, 1, 2, 4, 8, 16 or 32.
    base : int
        100, 10,000, 500,000 or 1,000,000.
    trained_length : int
        L, 64, 512, 4096 or 8192.

    Raises
    ------
    TypeError
        If an argument is of another type.
    ValueError
        If an argument is not in its list.

    Examples
    --------
    >>> print(Stretch(rule="interpolate"))
    No hand goes beyond the angles of training. The neighbour keeps 2 % of its gap.
    """

    rule: str = "none"
    factor: int = 8
    base: int = 10_000
    trained_length: int = 4096

    _name = "stretch"
    _title = "Extend the context of a RoPE head"
    _goal = (
        "Read a sequence eight times as long as any in training: no hand at a new"
        " angle, and at least 90 % of the score's gap to the neighbouring position."
    )
    _reached = (
        "Reached: no new angle, and neighbours as far apart as before.",
        "Of these rules only the two by parts get here, with a factor of 8 or more;"
        " YaRN needs a context in which some hand turns 32 times. Now try"
        " NTK-aware with a factor of 32.",
    )

    _styles = ("explorer.css", "stretch.css")

    def __post_init__(self) -> None:
        as_choice("rule", self.rule, tuple(RULES))
        one_of("factor", self.factor, FACTORS)
        one_of("base", self.base, BASES)
        one_of("trained_length", self.trained_length, LENGTHS)

    def _frequencies(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        old, s = angular_frequencies(2 * HANDS, base=self.base), self.factor
        new = {
            "none": lambda: old,
            "interpolate": lambda: scaling.interpolate(old, s),
            "ntk": lambda: scaling.ntk(old, s),
            "yarn": lambda: scaling.by_parts(old, s, self.trained_length),
            "llama3": lambda: scaling.llama3(old, s, self.trained_length),
        }[self.rule]()
        return old, new

    def _reach(self) -> NDArray[np.float64]:
        """Of the hands that never came round in training, which are the last."""
        old, new = self._frequencies()
        n = LONGER * self.trained_length
        far = scaling.unseen_angles(old, new, self.trained_length, n)
        return far[far > 0]

    def _share(self) -> float:
        old, new = self._frequencies()
        return float((1 - np.cos(new).mean()) / (1 - np.cos(old).mean()))

    def _unseen(self) -> int:
        return int((self._reach() > 1 + 1e-9).sum())

    def _won(self) -> bool:
        return len(self._reach()) > 0 == self._unseen() and self._share() >= 0.9

    def _now(self) -> list[str]:
        """The paths: where slow hands begin, known angles, new ones, frequencies."""
        (old, new), reach = self._frequencies(), self._reach()
        first, paths = HANDS - len(reach), ["", ""]
        for i, far in enumerate(reach):
            stem = f"M{_x(first + i)} 80V{80 - 20 * np.log2(far):.1f}"
            paths[int(far > 1 + 1e-9)] += stem
        line = "L".join(
            f"{_x(j)} {176 - 20 * np.log2(share):.1f}"
            for j, share in enumerate(new / old)
        )
        return [f"M{_x(first - 0.5)} 14V276", *paths, f"M{line}"]

    def _stage(self) -> str:
        begin, known, new, line = self._now()
        scale = "".join(
            f'<text x="20" y="{y + 4}">{name}</text>'
            f'<path class="hair" d="M38 {y}h290"/>'
            for name, y in (
                ("8", 20),
                ("1", 80),
                ("1/4", 120),
                ("1", 176),
                ("1/8", 236),
                ("1/32", 276),
            )
        )
        return (
            '<p class="legend">64 hands, the fastest on the left; right of the'
            ' <b class="target">dotted</b> line those that never came round in'
            " training. Drag the dot: it sets the factor.</p>\n"
            + picture(
                "Two panels over 64 hands. Above, a stem for each slow hand: how far it"
                " goes, relative to its largest angle in training. Below, a line: its"
                " new frequency over the old.",
                340,
                296,
                f'{scale}\n<text x="140" y="12">largest angle / in training</text>'
                '<text x="140" y="164">new frequency / old</text>'
                '<text class="muted" x="182" y="293">hand, fastest first</text>\n'
                f'<path class="now target dots" stroke-width="2" d="{begin}"/>\n'
                f'<path class="now edge round" stroke-width="3" d="{known}"/>\n'
                f'<path class="now new round" stroke-width="3" d="{new}"/>\n'
                f'<path class="now" stroke-width="2.5" d="{line}"/>\n'
                f'<g class="now" transform="translate({line.rpartition("L")[2]})">'
                '<circle r="23" fill="transparent" stroke="none"/>'
                '<circle class="solid" r="7"/></g>\n',
            )
        )

    def _sentence(self) -> str:
        reach, unseen = self._reach(), self._unseen()
        if not len(reach):
            first = "Every hand came round in training."
        elif not unseen:
            first = "No hand goes beyond the angles of training."
        else:
            first = (
                f"New angles for {unseen} of {len(reach)} slow hands, up to"
                f" {number(reach.max(), 1)} times too far."
            )
        kept = number(100 * self._share(), 0)
        return f"{first} The neighbour keeps {kept} % of its gap."

    def _controls(self) -> str:
        return (
            buttons("rule", "rule", RULES, self.rule)
            + choices("s", "factor s", FACTORS, self.factor)
            + choices("base", "base of the trained model", BASES, self.base)
            + choices("L", "its context length, L", LENGTHS, self.trained_length)
        )


def _x(hand: float) -> str:
    return f"{40 + 4.5 * hand:g}"
