"""The moving image: a text, its row of hands, its table, and where a head looks."""

from dataclasses import dataclass

import numpy as np

from pe_lib._arguments import as_flag
from pe_lib.attention import softmax
from pe_lib.encoding import sinusoidal
from pe_lib.explorers._explorer import (
    LEGEND,
    Explorer,
    hand,
    picture,
    runs,
    slider,
    within,
)
from pe_lib.frequencies import angular_frequencies
from pe_lib.rotation import shift_matrix

BASE, SHARP = 50, 4
BACK = ("the word", "two words", "three words")
TEXT = (
    "Row row row your boat gently down the stream"
    " merrily merrily merrily merrily life is but a dream"
)


@dataclass(frozen=True, kw_only=True)
class Hands(Explorer):
    """A text with one slider: the six hands of a word, its column, where it looks.

    The hands and the table are sliders, too: turn one hand, and all go along.

    The table is ``P = sinusoidal(range(n), 12, base=50)``, and the head looks back
    with ``4 * P @ shift_matrix(back, 12, base=50) @ P.T``.

    Parameters
    ----------
    text : str
        From 4 to 20 words.
    position : int
        The word to begin with.
    back : int
        How far the head looks back, from 1 to 3.
    glide : bool
        Move along the text once, when the picture is first seen.

    Raises
    ------
    TypeError
        If `position` or `back` is not an integer, `text` not a str, `glide` not a bool.
    ValueError
        If `text` has too few or too many words, or a number is out of its range.

    Examples
    --------
    >>> print(Hands(text="New York beats old York", position=4))
    Word 4, York, looks at word 3, old.
    """

    text: str = TEXT
    position: int = 12
    back: int = 1
    glide: bool = True

    _name = "hands"
    _title = "A position is a row of clock hands"
    _goal = "Turn a hand, or move along the line: the same word, another row of hands."
    _reached = ("", "")

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise TypeError(f"text must be a str, got {self.text!r}")
        n = len(self._words())
        if not 4 <= n <= 20:
            raise ValueError(f"text must have 4 to 20 words, got {n}")
        within("position", self.position, 0, n - 1)
        within("back", self.back, 1, 3)
        as_flag("glide", self.glide)

    def _words(self) -> list[str]:
        return self.text.split()

    def _stage(self) -> str:
        words, t = self._words(), self.position
        aim = t - self.back
        P = sinusoidal(np.arange(len(words)), 12, base=BASE)
        weights = softmax(SHARP * P[t] @ shift_matrix(self.back, 12, base=BASE) @ P.T)
        spoken = "".join(
            f'<span class="{"at" if i == t else "aim" if i == aim else ""}">'
            f"{word}</span>"
            for i, word in enumerate(words)
        )
        dials = "".join(
            "<div>"
            + hand(f"hand {j + 1}", w * t, ghost=w * aim)
            + f'<span class="legend">{np.degrees(w):.{int(w < 0.15)}f}°</span></div>\n'
            for j, w in enumerate(angular_frequencies(12, base=BASE))
        )
        levels = np.round(2 * P + 2).astype(int).T
        map_ = "".join(
            f'<g class="{name}" transform="translate(0 {y}) scale(20 9)">'
            + "".join(
                f'<path stroke-opacity="{max(level / 4, 0.1):g}"'
                f' d="{runs(rows == level)}"/>'
                for level in range(5)
            )
            + "</g>\n"
            for name, y, rows in (
                ("sine", 6.5, levels[::2]),
                ("cosine", 66.5, levels[1::2]),
            )
        )
        bars = "".join(
            f"M{20 * s + 10} 175v{-48 * weight:.1f}" for s, weight in enumerate(weights)
        )
        return (
            f'<p class="words">{spoken}</p>\n<div class="dials row">\n{dials}</div>\n'
            + LEGEND.format(
                f"{BACK[self.back - 1]} before. Degrees: its turn"
                " at each word. Bars: where it looks"
            )
            + picture(
                "A table: a column for each word, a row for each hand, the sines in"
                " blue above, the cosines in orange below. A frame marks the word, a"
                " dotted frame the one that it should look at. Below them bars: how"
                " much it looks at each.",
                20 * len(words),
                178,
                f'{map_}<path class="now" stroke-width="15" d="{bars}"/>\n'
                f'<path class="edge" d="M0 175.5h{20 * len(words)}"/>'
                f'<g class="now" transform="translate({20 * t})">'
                '<path stroke-width="2.5" d="M0 0h20v118h-20z"/></g>'
                f'<g class="now" transform="translate({20 * aim})">'
                '<path class="target dots" stroke-width="2.5" d="M0 0h20v174h-20z"/>'
                "</g>\n",
                "plot table",
            )
        )

    def _sentence(self) -> str:
        words, t, aim = self._words(), self.position, self.position - self.back
        if aim < 0:
            return f"Word {t}, {words[t]}, has none to look back at."
        return f"Word {t}, {words[t]}, looks at word {aim}, {words[aim]}."

    def _controls(self) -> str:
        last = len(self._words()) - 1
        return (
            slider("t", "position", 0, last, 1, self.position)
            + f'<input type="hidden" name="back" value="{self.back}">'
            + f'<input type="hidden" name="glide" value="{int(self.glide)}">\n'
        )
