"""Shuffle the sentence: the new vectors move along with the words."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pe_lib._arguments import as_flag
from pe_lib.attention import softmax
from pe_lib.explorers._explorer import AGAIN, Explorer, number

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Shuffle(Explorer):
    """Swap the words of "New York beats old York": attention's outputs move along.

    Attention without learned weights: ``softmax(X @ X.T) @ X`` with New = (1, 0),
    York = (1, 1), beats = (0, -1) and old = (-1, 1). A switch adds the positions:
    (0.1 t, 0) to the word at position t.

    Parameters
    ----------
    codes : bool
        Begin with the switch on.

    Raises
    ------
    TypeError
        If `codes` is not a bool.

    Examples
    --------
    >>> print(Shuffle())
    The sentence to compare with. Swap two words.
    """

    codes: bool = False

    _name = "shuffle"
    _title = "Shuffle"
    _goal = "Swap words until the numbers of a word change."
    _reached = (
        "Reached: a number changed.",
        "It took the positions. Without them, each of the 60 orders gives every word"
        " the same new vector, because attention alone does not see the order.",
    )
    _styles = ("explorer.css", "shuffle.css")

    WORDS: ClassVar = ("New", "York", "beats", "old", "York")
    VECTORS: ClassVar = ((1, 0), (1, 1), (0, -1), (-1, 1), (1, 1))

    def __post_init__(self) -> None:
        as_flag("codes", self.codes)

    def _new(self) -> Array:
        X = np.array(self.VECTORS, dtype=float)
        if self.codes:
            X[:, 0] += 0.1 * np.arange(5)
        new: Array = softmax(X @ X.T) @ X
        return new

    def _stage(self) -> str:
        words = "".join(
            f'<div class="word" style="--at: {seat};"><b>{word}</b>'
            f'<span class="now">{number(x)}</span>'
            f'<span class="now">{number(y)}</span></div>\n'
            for seat, (word, (x, y)) in enumerate(
                zip(self.WORDS, self._new(), strict=True)
            )
        )
        seats = "".join(f'<div class="seat">{t}</div>' for t in range(5))
        return (
            '<p class="legend">Under each word is the new vector that attention gives'
            " it, and below are the positions. Tap two words, or drag one onto another."
            "</p>\n"
            f'<div class="seats" role="group" aria-label="The words and their new'
            f' vectors">\n{words}{seats}</div>\n'
        )

    def _tally(self) -> list[tuple[str, str]]:
        return [("different orders tried", "1 of 60"), ("words with a new result", "0")]

    def _sentence(self) -> str:
        return "The sentence to compare with. Swap two words."

    def _controls(self) -> str:
        checked = " checked" if self.codes else ""
        return (
            f'<label><input type="checkbox" name="codes"{checked}>'
            f"add the positions</label>\n{AGAIN}"
        )
