"""What nbgrader 0.9.6 hands out: the exercises of chapters.

    assignment(page, worth)    a notebook for ``nbgrader generate_assignment``

It is the exercises of the reader's edition, without the page. nbgrader strips the
solution and the hidden check itself, and grades with the cells of this notebook,
whatever a student made of them; an answer may stand in any cell above its check. A
person reads a proof: its cell has the points of its rubric, the check has the rest.
"""

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import manuscript
from course import kit, mine
from course.mine import HERE, Mine, Points, refuse_unknown
from manuscript import Page, edition, stubs, wrong_answers
from manuscript.edition import Notebook
from manuscript.markdown import words

Cell = dict[str, Any]
Worth = Mapping[str, Sequence[int]]  # of an exercise: its check, each line of a proof

ANSWER = "{stub}\n### BEGIN SOLUTION\n{solution}\n### END SOLUTION"
LABELS = """\
# Every exercise of these chapters with its points, to copy into course/mine.yml: for a
# proof [those of the check, those of each line that says what the proof must say].
assignments:"""
CHECK = "{check}\n### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS"


def hidden(page: Page, label: str) -> str:
    """The check with other inputs: its lines may answer, so nobody sees them."""
    return wrong_answers.collected()[label].hidden_check(page.checks[label])


def minutes(page: Page) -> Worth:
    """The points of its exercises, in the check and in the proof: their minutes."""
    proofs = wrong_answers.collected()
    checks = edition.check_points(page).items()
    return {label: (its, *proofs[label].rubric.values()) for label, its in checks}


def chosen(pages: list[Page], mine: Mine) -> list[tuple[str, Page, Worth]]:
    """Those of the lecturer, else each chapter; for each page there is a notebook."""
    exercised = [page for page in pages if page.exercises]
    if not exercised:
        raise SystemExit("There are no exercises in these chapters, nothing to grade.")
    if not mine.assignments:
        return [(page.path.stem, page, minutes(page)) for page in exercised]
    every = manuscript.read().notebooks
    homes = {one.label: page for page in every for one in page.exercises}
    listed: list[tuple[str, Page, Worth]] = []
    for name, asked in mine.assignments.items():
        refuse_unknown(name, "exercise", asked, homes)
        for label in asked:
            if homes[label] not in pages:
                where = kit.short(homes[label])
                raise SystemExit(
                    f"{name}: {label} is in {where}, which was not chosen."
                )
        for page in pages:
            worth = {
                label: _points(label, asked[label], points)
                for label, points in minutes(page).items()
                if label in asked
            }
            if worth:
                listed.append((name, page, worth))
    return listed


def _points(label: str, points: Points, ours: Sequence[int]) -> Sequence[int]:
    """What a lecturer gives for the check, and for each line of the proof."""
    if points is None:
        return ours
    given = (*points,) if isinstance(points, list) else (points,)
    whole = all(isinstance(one, int) and one > 0 for one in given)
    if whole and len(given) == len(ours):
        return given
    like = f"whole numbers above 0, such as {written(ours)}"
    raise SystemExit(f"{label}: points must be {like}; got {points}")


def written(points: Sequence[int]) -> str:
    """As in ``mine.yml``: 3, or with a proof [3, 3, 2]."""
    return str([*points] if len(points) > 1 else points[0])


def catalogue(pages: list[Page]) -> str:
    """All exercises as assignments, for a lecturer to copy from."""
    lines = [LABELS]
    for page in pages:
        titles = {one.label: words(one.title) for one in page.exercises}
        lines += [f"  {page.path.stem}:  # {page.title}"] * bool(titles)
        for label, points in minutes(page).items():
            lines.append(f"    {label}: {written(points)}  # {titles[label]}")
    return "\n".join(lines) + "\n"


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
    checked, *proof = worth.get(label, [0])
    if checked and kind == "answer":
        return _answer(cell, edition.source(cell), page.solutions[label])
    if proof and kind == "proof":
        stub = edition.PROOF.format(points=sum(proof))
        return _answer(cell, stub, kit.rubric(label, proof), points=sum(proof))
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
    torch = {name for name, page, _ in listed if page.needs_torch}
    for name, page, worth in listed:
        place = folder / "source" / name
        kit.write(assignment(page, worth), place / f"{page.path.stem}.ipynb")
        kit.copy_library(place)
        kit.copy_data(page, place)
        kit.write_pins(kit.requirements(torch=name in torch), place)
    tried = (HERE / "requirements.txt").read_text(encoding="utf-8")
    grader = re.findall("^nbgrader==\\S+", tried, re.MULTILINE)
    kit.write_pins([*kit.requirements(torch=bool(torch)), *grader], folder)
    (folder / "labels.yml").write_text(catalogue(pages), encoding="utf-8")
    shutil.copytree(HERE / "nbgrader", folder, dirs_exist_ok=True)
    shutil.copy(HERE / "alone.py", folder)
    readme = folder / "README.md"
    text = readme.read_text(encoding="utf-8").replace("NAME", listed[0][0])
    readme.write_text(text, encoding="utf-8")
