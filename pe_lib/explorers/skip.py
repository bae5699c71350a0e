"""A language model whose heads are rotated: what it wrote, stored."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pe_lib._arguments import as_choice
from pe_lib.explorers._explorer import AGAIN, Explorer, buttons, knob, picture, within

HEADS = ("four", "twenty")
BACKS = tuple(quarter / 4 for quarter in range(9))
"""By how many positions the heads can be rotated."""


class Token(NamedTuple):
    """A token that the model wrote, and its probability."""

    text: str
    chance: float


@dataclass(frozen=True, kw_only=True)
class Skip(Explorer):
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
    >>> str(Skip(quarters=4)).split()[:9]
    ['4', 'heads', 'rotated', 'by', '1:', 'king', 'gave', 'seven', 'apples']
    """

    heads: str = "four"
    quarters: int = 0

    _name = "skip"
    _styles = ("explorer.css", "knob.css")
    _scripts = ("frame.js", "knob.js")
    _title = "Stored answers of a language model"
    _goal = "Rotate its heads until it skips the first word, old."
    _reached = (
        "Reached: king comes first.",
        "It was never trained for that. In this sentence the first word changes between"
        " a half and three quarters of a position.",
    )

    def __post_init__(self) -> None:
        as_choice("heads", self.heads, HEADS)
        within("quarters", self.quarters, 0, 8)

    def _stage(self) -> str:
        stored = "|".join(
            ",".join(f"{token.text} {round(100 * token.chance)}" for token in row)
            for row in answers().values()
        )
        tokens = answers()[self.heads, self.quarters / 4]
        return (
            '<p class="legend">It read three times: The old king gave seven golden'
            " apples to his youngest daughter before the first snow of winter fell on"
            " the silent town. Then: The</p>\n"
            f'<p style="min-height: 2.8em"><b class="now">{_text(tokens)}</b></p>\n'
            + picture(
                "Bars: the probability of each token that it wrote.",
                330,
                62,
                '<text x="5" y="11" style="text-anchor:start">probability of each'
                " word</text>"
                f'<path class="now" stroke-width="16" d="{_bars(tokens)}"/>'
                '<path class="edge" d="M5 60.5h320"/>\n',
            )
            + f'<p hidden class="model" data-stored="{stored}"></p>\n'
        )

    def _sentence(self) -> str:
        number = {"four": 4, "twenty": 20}[self.heads]
        tokens = answers()[self.heads, self.quarters / 4]
        return f"{number} heads rotated by {self.quarters / 4:g}: {_text(tokens)}"

    def _won(self) -> bool:
        return answers()[self.heads, self.quarters / 4][0].text == "king"

    def _controls(self) -> str:
        chosen = HEADS.index(self.heads)
        return (
            knob("back", "rotated by, in positions", 2, 0.25, self.quarters / 4)
            + buttons("heads", "heads that are rotated", dict(enumerate(HEADS)), chosen)
            + AGAIN
        )


def _text(tokens: list[Token]) -> str:
    return " ".join(token.text for token in tokens)


def _bars(tokens: list[Token]) -> str:
    """One bar for each token."""
    return "".join(
        f"M{23 * i + 16} 60V{60 - 0.44 * round(100 * token.chance):.1f}"
        for i, token in enumerate(tokens)
    )


def packed(rows: Iterable[Mapping[str, str]]) -> str:
    """What skip.txt holds, of the rows of smollm_sentences.csv."""
    entries: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row["text"] == "king" and int(row["step"]) < 14:
            word = row["token"].strip() or "↵"
            key = row["heads"], row["back"]
            entries.setdefault(key, []).append(f"{word} {row['probability']}")
    sets = [(heads, f"{back:g}") for heads in HEADS for back in BACKS]
    lines = [
        "\t".join([*key, *entries[key if key[1] != "0" else ("none", "0")]])
        for key in sets
    ]
    return "\n".join(lines) + "\n"


@cache
def answers() -> dict[tuple[str, float], list[Token]]:
    """What was written, for each set of heads and each turn."""
    found: dict[tuple[str, float], list[Token]] = {}
    text = Path(__file__).with_name("skip.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        heads, back, *entries = line.split("\t")
        words = (entry.rsplit(" ", 1) for entry in entries)
        found[heads, float(back)] = [Token(word, float(x)) for word, x in words]
    return found
