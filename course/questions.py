"""Multiple-choice questions in GIFT, which Moodle and other platforms read.

    gift("failures/counting", title)    the questions of a page, from ``questions.yml``
    gift(BEFORE, title)                 those on what students must know beforehand

Each option has a sentence of feedback. A wrong one is a likely mistake.
"""

import re
from pathlib import Path

from course import kit, mine
from manuscript import Page
from manuscript.markdown import words

BEFORE = "before"
MARKS = re.compile(r"[~=#{}:\\]")


def escaped(text: str) -> str:
    """Words that mean nothing to GIFT."""
    return MARKS.sub(r"\\\g<0>", words(text))


def gift(name: str, title: str) -> str:
    """A category, and its questions; the first option of each is right."""
    parts = [f"$CATEGORY: Positional encodings/{words(title)}"]
    for number, one in enumerate(mine.loaded("questions.yml")[name], 1):
        options = [("=", one["right"]), *(("~", wrong) for wrong in one["wrong"])]
        body = "\n".join(
            f"  {mark}{escaped(option)}#{escaped(feedback)}"
            for mark, (option, feedback) in options
        )
        question = escaped(one["question"])
        parts.append(f"::{name} {number}::{question} {{\n{body}\n}}")
    return "\n\n".join(parts) + "\n"


def write(pages: list[Page], folder: Path) -> None:
    """A file for each page that has questions."""
    titles = {BEFORE: "Before the course"} | {kit.short(p): p.title for p in pages}
    for name in mine.loaded("questions.yml").keys() & titles.keys():
        path = folder / f"{name.replace('/', '-')}.gift"
        path.write_text(gift(name, titles[name]), encoding="utf-8")
