"""What nbgrader 0.9.6 hands out: the exercises of chapters.

    assignment(page, worth)    a notebook for ``nbgrader generate_assignment``

It is the exercises of the reader's edition, without the page. nbgrader strips the
solution and the hidden check itself, and grades with the cells of this notebook,
whatever a student made of them; an answer may stand in any cell above its check. A
person reads a proof: its cell has the points of its rubric, the check has the rest.
"""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from course import kit, mine
from course.mine import HERE, Mine, Points, refuse_unknown
from manuscript import Page, edition, stubs, wrong_answers
from manuscript.edition import Notebook

Cell = dict[str, Any]
Worth = Mapping[str, tuple[int, int]]  # of an exercise: its check, its proof

ANSWER = "{stub}\n### BEGIN SOLUTION\n{solution}\n### END SOLUTION"
CHECK = "{check}\n### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS"


def hidden(page: Page, label: str) -> str:
    """The check with other inputs: its lines may answer, so nobody sees them."""
    return wrong_answers.collected()[label].hidden_check(page.checks[label])


def minutes(page: Page) -> Worth:
    """The points of its exercises, in the check and in the proof: their minutes."""
    checks = edition.check_points(page).items()
    return {label: (points, edition.proof_points(label)) for label, points in checks}


def chosen(pages: list[Page], mine: Mine) -> list[tuple[str, Page, Worth]]:
    """Those of the lecturer, else each chapter; for each page there is a notebook."""
    exercised = [page for page in pages if page.exercises]
    if not exercised:
        raise SystemExit("There are no exercises in these chapters, nothing to grade.")
    if not mine.assignments:
        return [(page.path.stem, page, minutes(page)) for page in exercised]
    known = {label: points for page in pages for label, points in minutes(page).items()}
    listed: list[tuple[str, Page, Worth]] = []
    for name, asked in mine.assignments.items():
        refuse_unknown(name, "exercise", asked, known)
        worth = {label: _points(label, asked[label], *known[label]) for label in asked}
        for page in pages:
            labels = [one.label for one in page.exercises if one.label in worth]
            if labels:
                listed.append((name, page, {label: worth[label] for label in labels}))
    return listed


def _points(label: str, points: Points, check: int, proof: int) -> tuple[int, int]:
    """What a lecturer gives for the check and for the proof."""
    match points:
        case None:
            return check, proof
        case int() if points > 0 and not proof:
            return points, 0
        case [int(first), int(second)] if first > 0 and second > 0 and proof:
            return first, second
    wanted = "[of the check, of the proof]" if proof else "a whole number"
    raise SystemExit(f"{label}: points must be {wanted}, above 0; got {points}")


def assignment(page: Page, worth: Worth) -> Notebook:
    """Answers are solution cells, checks and proofs graded ones, all else is locked.

    A check has its points in view, and Run All goes on where it fails.
    """
    notebook = edition.exercises(kit.student(page), page)
    begins = {f"**Exercise. {one.title}**": one.label for one in page.exercises}
    current, cells = "", []
    for cell in notebook["cells"]:
        text = edition.source(cell)
        current = next((its for head, its in begins.items() if head in text), current)
        if cell["id"] != "points-so-far" and (not current or current in worth):
            cells.append(_noted(cell, page, worth))
    return notebook | {"cells": cells}


def _noted(cell: Cell, page: Page, worth: Worth) -> Cell:
    """What a cell is to nbgrader."""
    kind, _, label = edition.name(cell).partition("-")
    checked, proved = worth.get(label, (0, 0))
    if checked and kind == "answer":
        return _answer(cell, edition.source(cell), page.solutions[label])
    if proved and kind == "proof":
        stub = edition.PROOF.format(points=proved)
        return _answer(cell, stub, kit.rubric(label), points=proved)
    if checked and kind == "check":
        view = stubs.in_view(page.checks[label])
        about = "" if view else ", for what only the grader asks"
        head = f"# {label}, {checked} point{'s' * (checked != 1)}{about}\n"
        text = CHECK.format(check=view, hidden=hidden(page, label))
        tags = {"tags": ["raises-exception"]}
        bare = cell | {"metadata": tags, "source": edition.lines(head + text)}
        return edition.noted(bare, f"check-{label}", points=checked)
    if cell["cell_type"] == "code":
        return edition.noted(cell, f"cell-{cell['id']}")
    return cell


def _answer(cell: Cell, stub: str, solution: str, points: int = 0) -> Cell:
    text = ANSWER.format(stub=stub, solution=solution)
    bare = cell | {"metadata": {}, "source": edition.lines(text)}
    return edition.noted(bare, edition.name(cell), solution=True, points=points)


def write(pages: list[Page], folder: Path) -> None:
    """A course folder of nbgrader, with a folder for each assignment."""
    listed = chosen(pages, mine.read())
    for name, page, worth in listed:
        place = folder / "source" / name
        kit.write(assignment(page, worth), place / f"{page.path.stem}.ipynb")
        kit.copy_library(place)
        kit.copy_data(page, place)
    tried = (HERE / "requirements.txt").read_text(encoding="utf-8")
    pins = kit.requirements(torch=any(page.needs_torch for _, page, _ in listed))
    pins += re.findall("^nbgrader==\\S+", tried, re.MULTILINE)
    (folder / "requirements.txt").write_text("\n".join(pins) + "\n", encoding="utf-8")
    shutil.copytree(HERE / "nbgrader", folder, dirs_exist_ok=True)
    shutil.copy(HERE / "alone.py", folder)
    readme = folder / "README.md"
    text = readme.read_text(encoding="utf-8").replace("NAME", listed[0][0])
    readme.write_text(text, encoding="utf-8")
