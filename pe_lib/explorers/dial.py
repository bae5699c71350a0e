"""The dial: put T(k) into a trained model, and it names the word k after the match."""

import base64
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pe_lib.attention import softmax
from pe_lib.encoding import sinusoidal
from pe_lib.explorers._explorer import AGAIN, Explorer, knob, picture, slider, within
from pe_lib.rotation import shift_matrix

Array = NDArray[np.float64]


def _text(name: str) -> str:
    return Path(__file__).with_name(f"{name}.txt").read_text(encoding="utf-8")


SHAPES = {"E": 128, "U": 128, "W0": 32, "V0": 32, "W1": 32, "V1": 32}
"""Rows of the matrices in dial.txt; each has 32 columns (U is kept transposed)."""
SIZE, LENGTH = 30, 32
VOCABULARY = _text("dial_words").split()
"""A name for each of the model's 128 words, which have none of their own."""


class Answer(NamedTuple):
    """What the model makes of a text."""

    first: Array  # [32, 32], weights of the first layer's head
    second: Array  # [32, 32], of the second layer's
    chances: Array  # [32, 128], for each position, how likely each word comes next


@dataclass(frozen=True, kw_only=True)
class Dial(Explorer):
    """Two trained layers, computed in the page; a dial puts ``30 T(k)`` into the first.

    The model is that of the chapter (``pe_lib.experiments.induction``, seed 0), its
    matrices rounded to 255 levels. It was trained to name the next word.

    Parameters
    ----------
    k : int, optional
        The dial to begin with, from 0 to 4; None is the model as trained.
    position : int
        Of the word that asks, from 0 to 31.

    Raises
    ------
    TypeError
        If `k` or `position` is not an integer.
    ValueError
        If one of them does not lie within its range.

    Examples
    --------
    >>> str(Dial()).partition(".")[0]
    'As trained: after Tuesday the model names Wednesday, 1 after the match'
    """

    k: int | None = None
    position: int = 23

    _name = "dial"
    _styles = ("explorer.css", "knob.css")
    _scripts = ("frame.js", "knob.js")
    _title = "The dial"
    _goal = "Make it skip two words: after Tuesday it should predict Friday."
    _reached = (
        "Reached: three after the match.",
        "Nobody trained it to. You changed one matrix, and nearly every word that asks"
        " is answered so. Try other words, and other texts.",
    )

    def __post_init__(self) -> None:
        if self.k is not None:
            within("k", self.k, 0, 4)
        within("position", self.position, 0, LENGTH - 1)

    def _stage(self) -> str:
        text, _ = first_text()
        found = answer(text, self.k)
        t = self.position
        looked = int(found.second[t].argmax())
        brought = int(found.first[looked].argmax())
        names = [VOCABULARY[word] for word in text]
        chips = "".join(
            f"<span{_chip(s, t, looked)}>{name}</span>" for s, name in enumerate(names)
        )
        return (
            f'<div class="words">{chips}</div>\n'
            + _bars(
                "Bars: where the second layer looks, from the word that asks.",
                f"second layer: {names[t]} looks at {names[looked]}",
                found.second[t],
            )
            + _bars(
                "Bars: what the first layer brought to the word that is looked at.",
                f"first layer: brought {names[brought]} to {names[looked]}",
                found.first[looked],
            )
            + f'<p hidden class="model" data-k="{"" if self.k is None else self.k}"'
            f' data-scales="{" ".join(_scales())}"'
            f' data-text="{" ".join(map(str, text))}"'
            f' data-words="{" ".join(VOCABULARY)}" data-weights="{_packed()}"></p>\n'
        )

    def _sentence(self) -> str:
        text, match = first_text()
        found = answer(text, self.k)
        named = int(found.chances[self.position].argmax())
        chance = round(100 * found.chances[self.position, named])
        after = 1 if self.k is None else self.k
        matched = [t for t in range(LENGTH) if match[t] >= 0]
        right = sum(
            int(found.chances[t].argmax()) == text[match[t] + after] for t in matched
        )
        how = "As trained" if self.k is None else f"With T({self.k})"
        return (
            f"{how}: {_line(text, match, self.position, named)} It is {chance} % sure."
            f" {right} of {len(matched)} answers are {after} after the match."
        )

    def _won(self) -> bool:
        text, match = first_text()
        named = int(answer(text, self.k).chances[self.position].argmax())
        at = match[self.position]
        return bool(at >= 0 and named == text[at + 3])

    def _controls(self) -> str:
        return (
            knob("k", "the dial, k", 4, 1, 1 if self.k is None else self.k)
            + slider("t", "word that asks", 0, LENGTH - 1, 1, self.position)
            + '<button type="button" name="text">Another text</button>\n'
            + AGAIN
        )


def _line(text: list[int], match: list[int], t: int, named: int) -> str:
    """What the model says, in words."""
    line = f"after {VOCABULARY[text[t]]} the model names {VOCABULARY[named]}"
    if match[t] < 0:
        return f"{line}. {VOCABULARY[text[t]]} has not stood here before."
    if named in text:
        after = text.index(named) - match[t]
        if after == 0:
            return f"{line}, the match itself."
        if after > 0:
            return f"{line}, {after} after the match."
    return f"{line}, which does not stand after the match."


def _chip(s: int, t: int, looked: int) -> str:
    return f' class="{"at" if s == t else "aim" if s == looked else ""}"'


def _bars(alt: str, title: str, weights: Array) -> str:
    """One bar for each word of the text."""
    bars = "".join(
        f"M{10 * s + 10} 60V{60 - 44 * weight:.1f}" for s, weight in enumerate(weights)
    )
    return picture(
        alt,
        330,
        62,
        f'<text class="now" x="5" y="11" style="text-anchor:start">{title}</text>'
        f'<path class="now" stroke-width="7" d="{bars}"/>'
        '<path class="edge" d="M5 60.5h320"/>\n',
    )


@cache
def first_text() -> tuple[list[int], list[int]]:
    """Ids of 32 words in which the days of the week come twice, and their matches."""
    rest = [40, 63, 89, 12, 105, 71, 33, 120, 54, 97, 18, 110, 80, 26, 47, 66, 101, 29]
    days = list(range(7))
    text = [*rest[:6], *days, *rest[6:15], *days, *rest[15:]]
    again = 6 + 7 + 9
    match = [6 + t - again if again <= t < again + 7 else -1 for t in range(LENGTH)]
    return text, match


def answer(text: list[int], k: int | None) -> Answer:
    """What the kept model makes of 32 words, with 30 T(k) in its first head, or not."""
    m = matrices()
    P = sinusoidal(np.arange(len(text)), 32)
    x = m["E"][text] + P
    scores = x @ m["W0"] @ x.T
    if k is not None:
        scores += P @ (SIZE * shift_matrix(k, 32) - m["W0"]) @ P.T
    first = _masked(scores)
    x = x + first @ x @ m["V0"]
    second = _masked(x @ m["W1"] @ x.T)
    x = x + second @ x @ m["V1"]
    return Answer(first, second, softmax(x @ m["U"].T))


def _masked(scores: Array) -> Array:
    return softmax(np.where(np.tri(len(scores), dtype=bool), scores, -np.inf))


ALPHABET = b"+_"  # two slashes would look like an address


@cache
def matrices() -> dict[str, Array]:
    """The matrices of dial.txt: E and U [128, 32], products W and V of each layer."""
    raw = np.frombuffer(base64.b64decode(_packed(), ALPHABET), dtype=np.int8).reshape(
        -1, 32
    )
    ends = np.cumsum(list(SHAPES.values()))[:-1]
    parts = np.split(raw.astype(np.float64), ends)
    return {
        name: float(scale) * part
        for name, scale, part in zip(SHAPES, _scales(), parts, strict=True)
    }


def _scales() -> list[str]:
    return _lines()[0].split()


def _packed() -> str:
    return _lines()[1]


@cache
def _lines() -> list[str]:
    """Size of a level in each matrix; all levels, one byte each, in base64."""
    return _text("dial").splitlines()


def packed(matrices: dict[str, Array]) -> str:
    """What dial.txt holds for these matrices."""
    scales, levels = [], []
    for name, rows in SHAPES.items():
        matrix = np.asarray(matrices[name], dtype=np.float64).reshape(rows, 32)
        scale = f"{np.abs(matrix).max() / 127:.6f}"
        scales.append(scale)
        levels.append(np.round(matrix / float(scale)).clip(-127, 127).astype(np.int8))
    data = base64.b64encode(np.concatenate(levels).tobytes(), ALPHABET).decode()
    return f"{' '.join(scales)}\n{data}\n"
