"""A language model whose heads are rotated: what it wrote, stored."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from pe_lib._arguments import as_choice
from pe_lib.explorers.drawing import FOLDER, Drawing, within

HEADS = ("four", "twenty")
BACKS = tuple(quarter / 4 for quarter in range(9))
"""By how many positions the heads can be rotated."""


class Token(NamedTuple):
    """A token that the model wrote, with its space, and its probability."""

    text: str
    chance: float


@dataclass(frozen=True, kw_only=True)
class Skip(Drawing):
    """Stored answers of SmolLM2-135M, some of whose heads are rotated.

    The model read one sentence three times, and *The*. Nothing is computed here: the
    answers are those of ``book/beyond/data/smollm_sentences.csv``.

    Parameters
    ----------
    heads : {'four', 'twenty'}
        Which heads are rotated.
    quarters : int
        By how many quarters of a position: 0 to 8.

    Raises
    ------
    TypeError
        If `quarters` is not an integer.
    ValueError
        If one of them is none of these.

    Examples
    --------
    >>> print(str(Skip(quarters=4)).partition(" to his")[0])
    Stored answer, four heads turned back by 1: king gave seven apples
    """

    heads: str = "four"
    quarters: int = 0

    _name = "skip"
    _scripts = ("skip_answers.js", "skip.js")

    def __post_init__(self) -> None:
        as_choice("heads", self.heads, HEADS)
        within("quarters", self.quarters, 0, 8)


ASSIGNED = "const ANSWERS = "


def packed(rows: Iterable[Mapping[str, str]]) -> str:
    """What skip_answers.js holds, of the rows of smollm_sentences.csv."""
    tokens: dict[tuple[str, str], list[Token]] = {}
    for row in rows:
        if row["text"] == "king":
            token = Token(row["token"], float(row["probability"]))
            tokens.setdefault((row["heads"], row["back"]), []).append(token)

    def line(heads: str, back: float) -> str:
        key = (heads, f"{back:g}") if back else ("none", "0")
        return json.dumps(tokens[key])

    sets = (",\n".join(line(heads, back) for back in BACKS) for heads in HEADS)
    both = (f'"{heads}": [\n{s}]' for heads, s in zip(HEADS, sets, strict=True))
    return f"{ASSIGNED}{{{', '.join(both)}}};\n"


@cache
def answers() -> dict[tuple[str, float], list[Token]]:
    """What was written, for each set of heads and each turn."""
    text = (FOLDER / "skip_answers.js").read_text(encoding="utf-8")
    stored = json.loads(text.strip().removeprefix(ASSIGNED).removesuffix(";"))
    return {
        (heads, back): [Token(*token) for token in tokens]
        for heads, turns in stored.items()
        for back, tokens in zip(BACKS, turns, strict=True)
    }
