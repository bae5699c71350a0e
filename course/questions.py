"""Multiple-choice questions in GIFT, which Moodle and other platforms read.

    gift(page)    the questions of a page, from ``questions.yml``

The right option is written for the question. The wrong ones are what students thought
who answered an exercise of the page, or of its companion, wrongly.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from course import kit
from manuscript import Page, wrong_answers
from manuscript.markdown import words

MARKS = re.compile(r"[~=#{}:\\]")


@cache
def asked() -> dict[str, list[dict[str, Any]]]:
    """All questions, by their pages."""
    text = Path(__file__).with_suffix(".yml").read_text(encoding="utf-8")
    questions: dict[str, list[dict[str, Any]]] = yaml.safe_load(text)
    return questions


def thought(place: str) -> str:
    """What was thought in a wrong answer: ``ex-offset 2``."""
    label, number = place.split()
    return wrong_answers.collected()[label].wrong[int(number) - 1].thinks


def escaped(text: str) -> str:
    """Words that mean nothing to GIFT."""
    return MARKS.sub(r"\\\g<0>", words(text))


def gift(page: Page) -> str:
    """A category, and its questions; the first option of each is right."""
    name = kit.short(page)
    parts = [f"$CATEGORY: Positional encodings/{words(page.title)}"]
    for number, one in enumerate(asked()[name], 1):
        wrong = [f"~{escaped(thought(place))}" for place in one["wrong"]]
        options = [f"={escaped(one['right'])}", *wrong]
        body = "\n".join(f"  {option}" for option in options)
        question = escaped(one["question"])
        parts.append(f"::{name} {number}::{question} {{\n{body}\n}}")
    return "\n\n".join(parts) + "\n"


def write(pages: list[Page], folder: Path) -> None:
    """A file for each page that has questions."""
    folder.mkdir(parents=True, exist_ok=True)
    for page in (page for page in pages if kit.short(page) in asked()):
        name = kit.short(page).replace("/", "-")
        (folder / f"{name}.gift").write_text(gift(page), encoding="utf-8")
