"""Likely mistakes, as the book collects them, and what a grader asks besides.

    collected()["ex-offset"].wrong[0].thinks

The files are ``book/exercises/<part>.yml``; problem.yml says what each line is. In
tests/book/test_exercises.py each wrong answer runs, and what is said has its hint.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from manuscript.pages import ROOT, visible


@dataclass(frozen=True)
class WrongAnswer:
    """A likely mistake: no class has tried it."""

    thinks: str  # the misconception
    answer: str  # the code
    hint: str  # what the check says, or the part of it that helps


@dataclass(frozen=True)
class Collected:
    """What belongs to an exercise and stands outside of its notebook."""

    cure: str  # the name of the figure that clears it up
    wrong: tuple[WrongAnswer, ...]
    hidden: Mapping[str, str]  # inputs of the check, and others in their place
    rubric: Mapping[str, int]  # what a proof must say, and the points for it
    right: tuple[str, ...] = ()  # answers of another form than the author's

    def hidden_check(self, check: str) -> str:
        """The check with other inputs; the same text where there are none."""
        for old, new in self.hidden.items():
            if check.count(old) != 1:
                raise ValueError(f"hidden: {old!r} must occur once in\n{check}")
            check = check.replace(old, new)
        return check


@cache
def collected(root: Path = ROOT) -> dict[str, Collected]:
    """All of it, by the label of each exercise."""
    found: dict[str, Collected] = {}
    for path in visible(root / "book", "exercises/*.yml"):
        for label, entry in yaml.safe_load(path.read_text(encoding="utf-8")).items():
            if label in found:
                raise ValueError(f"{path.name}: {label} is in another file, too")
            try:
                wrong = tuple(WrongAnswer(**one) for one in entry["wrong"])
                rubric, right = entry.get("rubric", {}), tuple(entry.get("right", ()))
                found[label] = Collected(
                    entry["cure"], wrong, entry["hidden"], rubric, right
                )
            except (KeyError, TypeError) as error:
                slip = f"{path.name}, {label}: {error} (problem.yml says what it needs)"
                raise ValueError(slip) from error
    return found
