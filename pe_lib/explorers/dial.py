"""The dial: put T(k) into a trained model, and it names the word k after the match."""

import base64
import json
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pe_lib.attention import softmax
from pe_lib.encoding import sinusoidal
from pe_lib.explorers.drawing import FOLDER, Drawing, within
from pe_lib.rotation import shift_matrix

Array = NDArray[np.float64]


ASSIGNED = "const MODEL = "


@cache
def _kept() -> dict[str, Any]:
    """What dial_model.js holds."""
    text = (FOLDER / "dial_model.js").read_text(encoding="utf-8")
    kept: dict[str, Any] = json.loads(text.removeprefix(ASSIGNED).rstrip(";\n"))
    return kept


SHAPES = {"E": 128, "U": 128, "W0": 32, "V0": 32, "W1": 32, "V1": 32}
"""Rows of the matrices in dial_model.js; each has 32 columns (U is kept transposed)."""
SIZE, LENGTH = 30, 32
VOCABULARY: list[str] = _kept()["vocabulary"]
"""A name for each of the model's 128 words, which have none of their own."""


class Answer(NamedTuple):
    """What the model makes of a text."""

    first: Array  # [32, 32], weights of the first layer's head
    second: Array  # [32, 32], of the second layer's
    chances: Array  # [32, 128], for each position, how likely each word comes next


@dataclass(frozen=True, kw_only=True)
class Dial(Drawing):
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
    _scripts = ("dial_model.js", "dial.js")

    def __post_init__(self) -> None:
        if self.k is not None:
            within("k", self.k, 0, 4)
        within("position", self.position, 0, LENGTH - 1)


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
    """The model's matrices: E and U [128, 32], products W and V of each layer."""
    raw = np.frombuffer(base64.b64decode(_kept()["levels"], ALPHABET), dtype=np.int8)
    ends = np.cumsum(list(SHAPES.values()))[:-1]
    parts = np.split(raw.reshape(-1, 32).astype(np.float64), ends)
    return {
        name: scale * part
        for name, scale, part in zip(SHAPES, _kept()["scales"], parts, strict=True)
    }


def packed(matrices: dict[str, Array]) -> str:
    """What dial_model.js holds for these matrices: levels, one byte each, in base64."""
    scales, levels = [], []
    for name, rows in SHAPES.items():
        matrix = np.asarray(matrices[name], dtype=np.float64).reshape(rows, 32)
        scales.append(round(float(np.abs(matrix).max()) / 127, 6))
        levels.append(np.round(matrix / scales[-1]).clip(-127, 127).astype(np.int8))
    data = base64.b64encode(np.concatenate(levels).tobytes(), ALPHABET).decode()
    kept = {"vocabulary": VOCABULARY, "text": first_text()[0]}
    kept |= {"scales": scales, "levels": data}
    return f"{ASSIGNED}{json.dumps(kept)};\n"
