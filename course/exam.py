"""An exam: its questions for students, on paper, and with answers, for you.

The questions are in ``exam.yml``; those on paper are about the week of *Teach*.
"""

import math
from typing import Any

from course import mine, slides
from course.mine import names
from manuscript import Page

WEEK = {
    *("problem/order_blindness", "failures/counting", "failures/criteria"),
    *("sinusoidal/formula", "sinusoidal/rotation"),
}
PAPER = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Exam</title>
<style>
body {{ font: 12pt/1.4 Georgia, serif; max-width: 17cm; margin: 1cm auto; }}
section {{ min-height: 8cm; break-inside: avoid; }} h2 {{ font-size: 1em; }}
{formulas}</style>
<h1>Positional encodings</h1>
<p>{about}</p>
<p>{minutes} minutes, {points} points. Paper and pen alone. A right step has its points,
also where the result is wrong.</p>
<p>Name: ______________________________</p>
{questions}
</html>
"""


def on(*pages: Page) -> list[dict[str, Any]]:
    """Those on some chapters."""
    known = mine.loaded("exam.yml")
    return [one for page in pages for one in known if one["chapter"] in names(page)]


def answers(pages: list[Page]) -> str:
    """The questions with their answers, and what of these earns which points."""
    text = ["# Questions for an exam, with answers. Not for students."]
    for one in on(*pages):
        marks = [f"- {points}: {what}" for what, points in one["marks"].items()]
        text += [
            f"## {one['chapter']}, {one['points']} points",
            one["question"],
            f"*Answer.* {one['answer']}",
            "\n".join(marks),
        ]
    return "\n\n".join(text) + "\n"


def paper(pages: list[Page]) -> str:
    """What students get: the chapters of a week, two minutes for each point."""
    found = on(*(page for page in pages if names(page) & WEEK))
    points = sum(one["points"] for one in found)
    sections = "\n".join(
        f"<section><h2>{number}. ({one['points']} points)</h2>"
        f"<p>{slides.inline(one['question'])}</p></section>"
        for number, one in enumerate(found, 1)
    )
    return PAPER.format(
        formulas=slides.FORMULAS,
        about=slides.inline(mine.read().about),
        points=points,
        minutes=5 * math.ceil(2 * points / 5),
        questions=sections,
    )
