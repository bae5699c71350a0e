"""Look three back: choose a code, move the head's controls."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pe_lib._arguments import as_choice
from pe_lib.attention import softmax
from pe_lib.explorers._explorer import Explorer, slider, within
from pe_lib.naive import binary, dials
from pe_lib.sinusoidal import sinusoidal

Array = NDArray[np.float64]

KNOBS: dict[str, list[tuple[str, float, float, float, float]]] = {
    "counting": [("slope", -2, 2, 0.1, 0.5)],
    "binary dials": [
        ("weight, fastest", -3, 3, 0.5, 1),
        ("weight, second", -3, 3, 0.5, 1),
        ("weight, third", -3, 3, 0.5, 1),
        ("weight, slowest", -3, 3, 0.5, 1),
    ],
    "sinusoid": [("offset k", -6, 6, 1, 0), ("sharpness", 0, 10, 0.5, 1)],
}
"""For each code the controls of its head: label, lowest, highest, step, first."""


@dataclass(frozen=True, kw_only=True)
class LookBack(Explorer):
    r"""Choose a code, move its head: can every position look three back?

    Sixteen positions. The scores of query t and key s are, before the softmax,

    - counting: ``slope * s`` (a straight line, as each row is whatever W is),
    - binary and dials: the sum over columns j of ``weight[j] * P[t, j] * P[s, j]``,
    - sinusoid: ``sharpness * P[t] @ T(k) @ P[s]``, in 32 dimensions.

    Parameters
    ----------
    code : str
        ``"counting"``, ``"binary"``, ``"dials"`` or ``"sinusoid"``: the one to begin
        with.
    query : int
        The position to begin with, from 3 to 15.

    Raises
    ------
    TypeError
        If `query` is not an integer.
    ValueError
        If `code` is none of the four, or `query` not within 3 and 15.

    Examples
    --------
    >>> print(LookBack())
    Position 11 looks most at 15 (weight 0.39), not at 8. Right: 0 of 13 positions.
    """

    code: str = "counting"
    query: int = 11

    _name = "look-back"
    _goal = "Goal: the tallest bar on the orange mark, from all 13 positions."
    _alt = (
        "Bars: how much attention one position pays to the positions 0 to 15. A mark"
        " stands three before it. Below, a large dot for every position whose tallest"
        " bar is three back."
    )
    _height = 158

    CODES: ClassVar = ("counting", "binary", "dials", "sinusoid")

    def __post_init__(self) -> None:
        as_choice("code", self.code, self.CODES)
        within("query", self.query, 3, 15)

    def _scores(self) -> Array:
        """With the controls as they stand first."""
        t = np.arange(16)
        if self.code == "counting":
            return np.tile(0.5 * t, (16, 1))
        if self.code == "sinusoid":
            P = sinusoidal(t, 32)  # k = 0: T(0) changes nothing
        elif self.code == "binary":
            P = binary(t, 4, centered=True)
        else:
            P = dials(t, 6)[:, 2:]
        scores: Array = P @ P.T
        return scores

    def _looks(self) -> tuple[Array, NDArray[np.bool_]]:
        """The weights of all queries, and the keys that score highest."""
        scores = self._scores()
        above = scores - scores.max(axis=1, keepdims=True)
        # Scores that differ by rounding only are a draw.
        return softmax(scores), above > -1e-9

    def _hits(self) -> list[int]:
        _, best = self._looks()
        return [t for t in range(3, 16) if best[t].sum() == 1 and best[t, t - 3]]

    def _picture(self) -> str:
        weights, _ = self._looks()
        hits = self._hits()
        colour = "green" if self.query in hits else "blue"
        bars = "".join(
            f"M{20 * s + 20} 105V{105 - 90 * weight:.1f}"
            for s, weight in enumerate(weights[self.query])
        )
        dots = [
            "".join(f"M{20 * t + 20} 148h0" for t in range(3, 16) if (t in hits) == hit)
            for hit in (True, False)
        ]
        ticks = "".join(
            f'<text x="{20 * t + 20}" y="119">{t}</text>' for t in (0, 5, 10, 15)
        )
        return (
            f'<path class="now {colour}" stroke-width="14" d="{bars}"/>\n'
            f'<path d="M10 105h320"/>\n{ticks}\n'
            f'<g transform="translate({20 * self.query})">'
            '<path class="orange" stroke-width="2" d="M-50 104V14h20v90"/>'
            '<text x="-40" y="10">goal</text>'
            '<text x="20" y="133">asks</text></g>\n'
            '<text x="32" y="152">right:</text>'
            f'<path class="now dot green" stroke-width="13" d="{dots[0]}"/>'
            f'<path class="now dot grey" stroke-width="5" d="{dots[1]}"/>\n'
        )

    def _sentence(self) -> str:
        weights, best = self._looks()
        (found,) = np.nonzero(best[self.query])
        if len(found) > 1:
            looks = f"cannot decide between {len(found)} positions."
        else:
            (s,) = found
            aim = self.query - 3
            where = "three back." if s == aim else f"not at {aim}."
            looks = f"looks most at {s} (weight {weights[self.query, s]:.2f}), {where}"
        hits = len(self._hits())
        won = " You win." if hits == 13 else ""
        return f"Position {self.query} {looks} Right: {hits} of 13 positions.{won}"

    def _controls(self) -> str:
        radios = "".join(
            f'<label><input type="radio" name="code" value="{code}"'
            f"{' checked' if code == self.code else ''}>{code}</label>"
            for code in self.CODES
        )
        groups = "".join(
            f'<fieldset data-codes="{codes}"{"" if self.code in codes else " hidden"}>'
            + "".join(slider("", *knob) for knob in group)
            + "</fieldset>\n"
            for codes, group in KNOBS.items()
        )
        return (
            f'<div class="wide" role="radiogroup" aria-label="code">{radios}</div>\n'
            + slider("t", "position", 3, 15, 1, self.query)
            + groups
        )
