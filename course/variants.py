"""Numbers of their own for each student: what ``make course-variants CLASS=...`` does.

    python course/variants.py CLASS [--term TERM] [--key] [chapter ...]

CLASS is a folder with students.txt, one name a line. The first time, a term and a
fresh secret are kept in CLASS/class.yml; from then on all follows from that file: the
numbers of an exercise are drawn by HMAC(secret, student, term, exercise). A folder for
each student goes to CLASS/hand-out, the numbers and answers of everybody go to
CLASS/key.csv (with --key that alone is written). variants.yml says which exercises.

A student's check needs no network and holds no answer: it asks for a property, or it
compares slow hashes. Whoever can compute an answer can still give it to a friend; the
friend's question has other numbers.
"""

import argparse
import csv
import hmac
import io
import json
import math
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from website import editions
from course import from_browser
from course import kit
from website import manuscript
from website import stubs
import yaml
from website.editions import Notebook
from website.manuscript import Page
from course.needs import rests_on

PLANS = Path(__file__).parent / "variants.yml"
HOLE = re.compile(r"«(.+?)»", re.DOTALL)
KNOWN = {"lcm": math.lcm, "range": range, "round": round, "sorted": sorted}
SEAL = '''\
# Compares an answer with a sealed one: one way, and slow on purpose.
import numpy as np
from hashlib import scrypt

def seal(salt, decimals, *answer):
    """What an answer becomes, its numbers rounded."""
    numbers = np.concatenate([np.ravel(part) for part in answer])
    text = ",".join(f"{x:.{decimals}f}" for x in numbers.round(decimals) + 0.0)
    return scrypt(text.encode(), salt=salt.encode(), n=2**15, r=8, p=1,
                  maxmem=2**26, dklen=16).hex()
'''
SEALED = """\
answer = seal("{salt}", {decimals}, {answer})
assert answer == "{digest}", (
    "not right, or not all of it: the numbers are yours alone,"
    " so compute with those of the question")"""
LONG = 200  # characters: instead of a longer answer the key has the solution
Values = Mapping[str, int]


@dataclass(frozen=True)
class Class:
    """Who takes part, and what their numbers are drawn from."""

    term: str
    secret: str
    students: tuple[str, ...]

    def numbers(self, *about: str) -> Iterator[int]:
        """As many as one likes; nobody can tell them who lacks the secret."""
        for count in range(10**6):
            message = json.dumps([*about, self.term, count]).encode()
            digest = hmac.digest(bytes.fromhex(self.secret), message, "sha256")
            yield int.from_bytes(digest, "big")


@dataclass(frozen=True)
class Plan:
    """How the numbers of one exercise are drawn, and where they stand."""

    book: Values
    choices: Mapping[str, str]
    question: list[str]
    solution: list[str]
    check: list[str]
    where: str = "True"
    sealed: Mapping[str, Any] | None = None

    def picked(self, numbers: Iterator[int]) -> Values:
        """Values other than the book's."""
        while True:
            found = {name: _pick(text, numbers) for name, text in self.choices.items()}
            if found != self.book and _value(self.where, found):
                return found

    def changed(self, kind: str, text: str, values: Values) -> str:
        """A text of the notebook with these values in the place of the book's."""
        new = {filled(t, self.book): filled(t, values) for t in getattr(self, kind)}
        missing = [old for old in new if old not in text]
        if missing:
            raise ValueError(f"variants.yml: {missing[0]!r} is not in\n{text}")
        longest = sorted(new, key=len, reverse=True)
        return re.sub(
            "|".join(map(re.escape, longest)), lambda found: new[found[0]], text
        )


@cache
def plans() -> dict[str, Plan]:
    """The exercises that have variants."""
    entries = yaml.safe_load(PLANS.read_text(encoding="utf-8"))
    return {label: Plan(**entry) for label, entry in entries.items()}


def _value(expression: str, values: Values) -> Any:
    return eval(expression, dict(KNOWN), dict(values))  # of variants.yml, our own


def _pick(choices: str, numbers: Iterator[int]) -> Any:
    listed = _value(choices, {})
    return listed[next(numbers) % len(listed)]


def filled(text: str, values: Values) -> str:
    """A text with its «expressions» computed."""
    return HOLE.sub(lambda hole: str(eval(hole[1], dict(KNOWN) | dict(values))), text)


def varied(page: Page, group: Class, student: str) -> tuple[Page, dict[str, Values]]:
    """The chapter with a student's numbers, and the numbers."""
    drawn = {
        e.label: plans()[e.label].picked(group.numbers(student, e.label))
        for e in page.exercises
        if e.label in plans()
    }
    for label, values in drawn.items():
        for cell in page.cells:
            if text := _changed(cell, label, values):
                page = page.with_cell(replace(cell, source=text))
    return page, drawn


def _changed(cell: manuscript.Cell, label: str, values: Values) -> str:
    plan = plans()[label]
    if f":label: {label}\n" in cell.source:
        start = cell.source.rindex(":::{exercise}", 0, cell.source.index(label))
        end = cell.source.index("\n:::", start + 3)
        text = plan.changed("question", cell.source[start:end], values)
        return cell.source[:start] + text + cell.source[end:]
    for kind in ("solution", "check"):
        if label in cell.tagged(f"{kind}-"):
            return plan.changed(kind, cell.source, values)
    return ""


def notebook(page: Page) -> Notebook:
    """The stored notebook with the texts of a page that was varied."""
    texts = {cell.id: cell.source for cell in page.cells}
    stored = kit.load(page)
    cells = [
        cell
        if texts[cell["id"]] == editions.source(cell)
        else cell | {"source": editions.lines(texts[cell["id"]])}
        for cell in stored["cells"]
    ]
    return stored | {"cells": cells}


class Chapter:
    """A chapter, with the cells run on which its varied exercises rest."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.labels = [e.label for e in page.exercises if e.label in plans()]
        roles = ("exercise", "exercise-check")
        above = [c.source for c in page.code_cells if c.role not in roles]
        below = [s for n in self.labels for s in self.cells(page, n)]
        self.names: dict[str, Any] = {"__name__": "__main__"}
        with redirect_stdout(io.StringIO()):
            for text in rests_on(above, below):
                exec(compile(text, "<cell>", "exec"), self.names)

    @staticmethod
    def cells(page: Page, label: str) -> tuple[str, str]:
        """The solution, and the check."""
        found = {tag: c for c in page.code_cells for tag in c.tagged("")}
        return found[f"solution-{label}"].source, found[f"check-{label}"].source

    def answered(self, page: Page, label: str) -> dict[str, Any]:
        """The names after the solution, which must pass the check."""
        names = dict(self.names)
        with redirect_stdout(io.StringIO()):
            for text in self.cells(page, label):
                exec(compile(text, f"<{label}>", "exec"), names)
        return names

    def student(self, group: Class, student: str) -> tuple[Notebook, list[list[str]]]:
        """The notebook that a student gets, and rows for the key."""
        page, drawn = varied(self.page, group, student)
        rows, sealed = [], {}
        for label, values in drawn.items():
            names = self.answered(page, label)
            solution, check = self.cells(page, label)
            checked = stubs.checked_names(solution, check)
            says = [f"{n} = {names[n]}" for n in checked if not callable(names[n])]
            numbers = ", ".join(f"{name} = {v}" for name, v in values.items())
            answer = "; ".join(says)
            if not says or len(answer) > LONG:
                answer = solution
            rows.append([student, kit.short(page), label, numbers, answer])
            if plans()[label].sealed:
                salt = f"{next(group.numbers(student, label, 'salt')):064x}"[:32]
                sealed[label] = sealed_check(label, values, salt, names)
        made = kit.student(self.page, notebook(page))
        return with_seals(noted(made, group, student), sealed, page), rows


def sealed_check(label: str, values: Values, salt: str, names: dict[str, Any]) -> str:
    """A check that holds a slow hash of the answer."""
    plan = plans()[label].sealed or {}
    answer = filled(", ".join(plan["answer"]), values)
    scope = dict(names)
    exec(SEAL, scope)
    digest = eval(f'seal("{salt}", {plan["decimals"]}, {answer})', scope)
    return SEALED.format(
        salt=salt, decimals=plan["decimals"], answer=answer, digest=digest
    )


def noted(made: Notebook, group: Class, student: str) -> Notebook:
    """With the name and the term in its metadata."""
    note = made["metadata"]["course"] | {"student": student, "term": group.term}
    return made | {"metadata": made["metadata"] | {"course": note}}


def with_seals(made: Notebook, sealed: dict[str, str], page: Page) -> Notebook:
    """With these checks in the place of those that compute the answer."""
    cells = []
    for cell in made["cells"]:
        label = "".join(editions.labels(cell, "check-"))
        if label in sealed:
            solution, check = Chapter.cells(page, label)
            worth = {e.label: stubs.points(e.title) for e in page.exercises}
            names = stubs.checked_names(solution, check)
            text = stubs.reported(label, worth[label], names, sealed[label])
            cells.append(editions.blank(cell, text, f"check-{label}"))
        else:
            cells.append(cell)
        if cell["id"] == "report-checks" and sealed:
            cells.append(editions.setup_cell("seal", SEAL))
    return made | {"cells": cells}


def read(folder: Path, term: str = "") -> Class:
    """The class of a folder; the first time it gets its secret."""
    roster, kept = folder / "students.txt", folder / "class.yml"
    if not roster.is_file():
        raise SystemExit(f"{roster} must list the students, one name a line")
    names = list(dict.fromkeys(from_browser.roster(folder)))
    bad = [n for n in names if not re.fullmatch(r"[^\W_][\w .,'-]*", n)]
    if bad or not names:
        raise SystemExit(f"{roster}: {bad[0] if bad else 'nobody'!r} names no folder")
    if not kept.exists():
        if not term:
            raise SystemExit("The first time say the term, too: TERM_NAME=2027-spring")
        fresh = {"term": term, "secret": secrets.token_hex(32)}
        kept.touch(mode=0o600)
        text = "# Keep this, and keep it to yourself: all variants follow from it.\n"
        kept.write_text(text + yaml.safe_dump(fresh, sort_keys=False), "utf-8")
    found = yaml.safe_load(kept.read_text(encoding="utf-8"))
    if term and term != found["term"]:
        raise SystemExit(f"{kept} is of the term {found['term']}, not {term}")
    return Class(str(found["term"]), found["secret"], tuple(names))


def chapters(names: list[str]) -> list[Page]:
    """Those of the chosen chapters that have variants."""
    pages = kit.chosen(manuscript.read().notebooks, names)
    return [p for p in pages if {e.label for e in p.exercises} & set(plans())]


def main() -> None:
    """Read the command; write the notebooks, and the key."""
    parser = argparse.ArgumentParser(description="Draw numbers for each student.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("chapters", nargs="*")
    parser.add_argument("--term", default="")
    parser.add_argument("--key", action="store_true", help="write the key alone")
    given = parser.parse_args()
    group = read(given.folder, given.term)
    rows = []
    for page in chapters(given.chapters):
        chapter = Chapter(page)
        for student in group.students:
            made, key = chapter.student(group, student)
            rows += key
            if not given.key:
                place = given.folder / "hand-out" / student / f"{kit.short(page)}.ipynb"
                kit.write(made, place)
    with (given.folder / "key.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["student", "chapter", "exercise", "numbers", "answer"])
        table.writerows(sorted(rows))
    exercises = len({row[2] for row in rows})
    summary = f"{exercises} exercise{'s' * (exercises != 1)}, term {group.term}"
    print(f"{given.folder / 'key.csv'}: {len(group.students)} students, {summary}")


if __name__ == "__main__":
    main()
