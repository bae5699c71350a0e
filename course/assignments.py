"""What the graders hand out: chapters for nbgrader 0.9.6 and otter-grader 7.0.0.

    for_nbgrader(page, worth)    a source notebook, for ``nbgrader generate_assignment``
    for_otter(page, worth)       a master notebook, for ``otter assign``

Both are the exercises of the reader's edition, without the page. Both tools strip the
solution and the hidden check themselves, and grade with the cells of this notebook,
whatever a student made of them; an answer may stand in any cell above its check. A
person reads a proof: its cell has the points of its rubric, the check has the rest.
"""

import copy
import re
import shutil
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from textwrap import indent
from typing import Any

from course import kit, mine
from course.mine import HERE, Mine, Points, refuse_unknown
from manuscript import Page, edition, stubs, wrong_answers
from manuscript.edition import Notebook

Cell = dict[str, Any]
Worth = Mapping[str, tuple[int, int]]  # of an exercise: its check, its proof

NBGRADER_ANSWER = "{stub}\n### BEGIN SOLUTION\n{solution}\n### END SOLUTION"
NBGRADER_CHECK = "{check}\n### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS"
OTTER_CONFIG = """\
ASSIGNMENT CONFIG
name: {name}
requirements: requirements.txt
files:
  - pe_lib
  - requirements.txt
{data}export_cell:
  filtering: true           # of what a person grades: the proofs
  require_no_pdf_ack: true  # without LaTeX there is no PDF, and a student is told
  run_tests: false
generate:
  pdf: true
"""
OTTER_NOTHING = "pass  # what is asked is hidden"
OTTER_HIDDEN = """\
# HIDDEN
import contextlib, io
with contextlib.redirect_stdout(io.StringIO()):  # whatever a test prints fails it
{hidden}"""
OTTER_ANSWER = """\
''' # BEGIN PROMPT
{stub}
'''; # END PROMPT
# BEGIN SOLUTION NO PROMPT
{solution}
# END SOLUTION"""


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


def for_nbgrader(page: Page, worth: Worth) -> Notebook:
    """Answers are solution cells, checks and proofs graded ones, all else is locked.

    A check has its points in view, and Run All goes on where it fails.
    """
    cells = []
    for cell, kind, label in _asked(page, worth):
        checked, proved = worth.get(label, (0, 0))
        if kind == "answer":
            cell = _nbgrader_answer(cell, edition.source(cell), page.solutions[label])
        elif kind == "proof":
            stub = edition.PROOF.format(points=proved)
            cell = _nbgrader_answer(cell, stub, kit.rubric(label), points=proved)
        elif kind == "check":
            view = stubs.in_view(page.checks[label])
            about = "" if view else ", for what only the grader asks"
            head = f"# {label}, {checked} point{'s' * (checked != 1)}{about}\n"
            text = NBGRADER_CHECK.format(check=view, hidden=hidden(page, label))
            tags = {"tags": ["raises-exception"]}
            cell |= {"metadata": tags, "source": edition.lines(head + text)}
            cell = edition.noted(cell, f"check-{label}", points=checked)
        elif cell["cell_type"] == "code":
            cell = edition.noted(cell, f"cell-{cell['id']}")
        cells.append(cell)
    return _exercises(page) | {"cells": cells}


def _nbgrader_answer(cell: Cell, stub: str, solution: str, points: int = 0) -> Cell:
    text = NBGRADER_ANSWER.format(stub=stub, solution=solution)
    bare = cell | {"metadata": {}, "source": edition.lines(text)}
    return edition.noted(bare, edition.name(cell), solution=True, points=points)


def for_otter(page: Page, worth: Worth) -> Notebook:
    """Each exercise a question with a solution block and tests; a proof is one, too."""
    data = "  - data\n" if page.reads else ""
    name = kit.short(page).replace("/", "-")
    cells = [_raw("config", OTTER_CONFIG.format(name=name, data=data))]
    for cell, kind, label in _asked(page, worth):
        checked, proved = worth.get(label, (0, 0))
        if kind == "answer":
            stub, solution = edition.source(cell), page.solutions[label]
            text = OTTER_ANSWER.format(stub=stub, solution=solution)
            answer = edition.code(cell["id"], text)
            cells.append(_question(label, checked, "all_or_nothing: true"))
            cells += _block("SOLUTION", label, answer)
        elif kind == "check":
            view = stubs.in_view(page.checks[label]) or OTTER_NOTHING
            text = OTTER_HIDDEN.format(hidden=indent(hidden(page, label), "    "))
            asked = edition.code(f"hidden-{label}", text)
            cells += _block("TESTS", label, edition.code(cell["id"], view), asked)
            cells.append(_raw(label, "END QUESTION"))
        elif kind == "proof":
            name, lines = f"{label}-proof", f"**Points.**\n\n{kit.rubric(label)}"
            cell["source"] = edition.lines(edition.PROOF.format(points=proved))
            cells += [_question(name, proved, "manual: true"), cell]
            rubric = edition.markdown(f"rubric-{label}", lines)
            cells += _block("SOLUTION", name, rubric)
            cells.append(_raw(name, "END QUESTION"))
        else:
            if "setup" in edition.labels(cell, ""):
                cell["metadata"] |= {"deletable": False, "editable": False}
            cells.append(cell)
    return _exercises(page) | {"cells": cells}


def _question(label: str, points: int, how: str) -> Cell:
    name = label.replace("-", "_")  # becomes the name of a file
    return _raw(label, f"BEGIN QUESTION\nname: {name}\npoints: {points}\n{how}")


def _block(kind: str, label: str, *cells: Cell) -> list[Cell]:
    return [_raw(label, f"BEGIN {kind}"), *cells, _raw(label, f"END {kind}")]


def _raw(label: str, text: str) -> Cell:
    name = text.splitlines()[0].lower().replace(" ", "-")
    cell = edition.markdown(f"{name}-{label}", f"# {text}")
    return cell | {"cell_type": "raw"}


@cache
def _exercises(page: Page) -> Notebook:
    """Those of the reader's edition, for both graders."""
    return edition.exercises(kit.student(page), page)


def _asked(page: Page, worth: Worth) -> Iterator[tuple[Cell, str, str]]:
    """The cells of some exercises, and what each is to which: answer, check, proof."""
    begins = {f"**Exercise. {one.title}**": one.label for one in page.exercises}
    current = ""
    for cell in copy.deepcopy(_exercises(page)["cells"]):
        text = edition.source(cell)
        current = next((its for head, its in begins.items() if head in text), current)
        if cell["id"] != "points-so-far" and (not current or current in worth):
            kind, _, label = edition.name(cell).partition("-")
            yield cell, *((kind, label) if label in worth else ("", ""))


def write_nbgrader(pages: list[Page], folder: Path) -> None:
    """A course folder of nbgrader: settings, and a folder for each assignment."""
    listed = chosen(pages, mine.read())
    for name, page, worth in listed:
        _write_assignment(for_nbgrader(page, worth), page, folder / "source" / name)
    _write_requirements([page for _, page, _ in listed], folder, "nbgrader")
    _write_steps("nbgrader", folder, listed[0][0])


def write_otter(pages: list[Page], folder: Path) -> None:
    """A folder for each notebook with exercises: all that ``otter assign`` wants."""
    listed = chosen(pages, mine.read())
    for name, page, worth in listed:
        stem = page.path.stem
        place = folder / (name if name == stem else f"{name}-{stem}")
        _write_assignment(for_otter(page, worth), page, place)
        _write_requirements([page], place, "otter-grader")
    _write_steps("otter", folder, listed[0][1].path.stem)


def _write_steps(tool: str, folder: Path, name: str) -> None:
    """What grades, and what a lecturer does next, with a name as the example."""
    shutil.copytree(HERE / tool, folder, dirs_exist_ok=True)
    for beside in ("alone.py", "Dockerfile"):
        shutil.copy(HERE / beside, folder)
    readme = folder / "README.md"
    text = readme.read_text(encoding="utf-8").replace("NAME", name)
    readme.write_text(text, encoding="utf-8")


def _write_requirements(pages: list[Page], folder: Path, grader: str) -> None:
    """What the notebooks need, and the grader: students' notebooks ask for otter."""
    tried = (HERE / "requirements.txt").read_text(encoding="utf-8")
    pins = kit.requirements(torch=any(page.needs_torch for page in pages))
    pins += re.findall(f"^{grader}==\\S+", tried, re.MULTILINE)
    (folder / "requirements.txt").write_text("\n".join(pins) + "\n", encoding="utf-8")


def _write_assignment(notebook: Notebook, page: Page, folder: Path) -> None:
    kit.write(notebook, folder / f"{page.path.stem}.ipynb")
    kit.copy_library(folder)
    kit.copy_data(page, folder)
