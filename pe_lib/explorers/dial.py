"""The dial: put T(k) into a trained model, and it names the word k after the match."""

import json
from functools import cache
from typing import Any

from pe_lib.explorers.drawing import FOLDER, Drawing


class Dial(Drawing):
    """Two trained layers, computed in the page; a dial puts ``30 T(k)`` into the first.

    The model is that of the chapter (``pe_lib.experiments.induction``, seed 0), its
    matrices rounded to 255 levels. It was trained to name the next word.

    Examples
    --------
    >>> str(Dial()).partition(".")[0]
    'As trained: after Tuesday the model names Wednesday, 1 after the match'
    """

    _scripts = ("dial_model.js", "dial.js")


@cache
def model() -> dict[str, Any]:
    """What ``dial_model.js`` holds: a name for each word, a text, and the matrices.

    ``levels`` are E, U transposed, W0, V0, W1 and V1 one after the other, a byte each
    in base64, with ``+_`` for its last two signs; ``scales`` has a factor for each.
    """
    text = (FOLDER / "dial_model.js").read_text(encoding="utf-8")
    kept: dict[str, Any] = json.loads(text.partition(" = ")[2].rstrip(";\n"))
    return kept


VOCABULARY: list[str] = model()["vocabulary"]
"""A name for each of the model's 128 words, which have none of their own."""


def first_text() -> tuple[list[int], list[int]]:
    """Ids of 32 words in which the days of the week come twice, and their matches."""
    text: list[int] = model()["text"]
    first = map(text.index, text)
    return text, [match if match < t else -1 for t, match in enumerate(first)]
