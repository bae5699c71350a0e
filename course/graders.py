"""Chapters in the formats of nbgrader 0.9.6 and otter-grader 7.0.0.

    for_nbgrader(page)    a source notebook, for ``nbgrader generate_assignment``
    for_otter(page)       a master notebook, for ``otter assign``

Both are the exercises of the reader's edition, without the page. Both tools strip the
solution and the hidden check themselves, and grade with the cells of this notebook,
whatever a student made of them; an answer may stand in any cell above its check. A
person reads a proof: its cell has the points of its rubric, the check has the rest.
"""

import copy
import re
import shutil
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from textwrap import indent
from typing import Any

from course import kit, mine
from course.mine import Mine, Points
from manuscript import Page, edition, stubs, wrong_answers
from manuscript.edition import Notebook

Cell = dict[str, Any]
Worth = Mapping[str, tuple[int, int]]  # of an exercise: its check, its proof

HERE = Path(__file__).parent
TRIED = (HERE / "requirements.txt").read_text(encoding="utf-8")

NBGRADER_ANSWER = "{stub}\n### BEGIN SOLUTION\n{solution}\n### END SOLUTION"
NBGRADER_CHECK = "{check}\n### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS"
OTTER_CONFIG = """\
# ASSIGNMENT CONFIG
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
SILENT = """\
import contextlib, io
with contextlib.redirect_stdout(io.StringIO()):
"""
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


def assignments(pages: list[Page], mine: Mine) -> list[tuple[str, Page, Worth]]:
    """Those of the lecturer, else each chapter; for each page there is a notebook."""
    exercised = [page for page in pages if page.exercises]
    if not exercised:
        raise SystemExit("There are no exercises in these chapters, nothing to grade.")
    if not mine.assignments:
        return [(page.path.stem, page, minutes(page)) for page in exercised]
    known = {label: points for page in pages for label, points in minutes(page).items()}
    listed: list[tuple[str, Page, Worth]] = []
    for name, asked in mine.assignments.items():
        if unknown := [label for label in asked if label not in known]:
            raise SystemExit(f"{name} asks for {unknown}, which no chapter here has")
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


def for_nbgrader(page: Page, worth: Worth | None = None) -> Notebook:
    """Answers are solution cells, checks and proofs graded ones, all else is locked.

    A check has its points in view, and Run All goes on where it fails.
    """
    worth = worth or minutes(page)

    def answer(cell: Cell, label: str) -> list[Cell]:
        text = NBGRADER_ANSWER.format(
            stub=edition.source(cell), solution=page.solutions[label]
        )
        return [_nbgrader(cell, text, f"answer-{label}", solution=True)]

    def check(cell: Cell, label: str) -> list[Cell]:
        points, _ = worth[label]
        view = stubs.in_view(page.checks[label])
        text = NBGRADER_CHECK.format(check=view, hidden=hidden(page, label))
        about = "" if view else ", for what only the grader asks"
        text = f"# {label}, {points} point{'s' * (points != 1)}{about}\n{text}"
        made = _nbgrader(cell, text, f"check-{label}", points=points)
        made["metadata"]["tags"] = ["raises-exception"]
        return [made]

    def proof(cell: Cell, label: str) -> list[Cell]:
        _, points = worth[label]
        text = NBGRADER_ANSWER.format(
            stub=edition.PROOF.format(points=points),
            solution=rubric(label, "- {worth}: {what}"),
        )
        return [_nbgrader(cell, text, f"proof-{label}", solution=True, points=points)]

    notebook = _with_cells(page, worth, answer, check, proof)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code" and "nbgrader" not in cell["metadata"]:
            locked = _nbgrader(cell, edition.source(cell), f"cell-{cell['id']}")
            cell["metadata"] |= locked["metadata"]
    return notebook


def rubric(label: str, line: str) -> str:
    """What a proof must say, a line each, with the points for it."""
    found = wrong_answers.collected()[label].rubric.items()
    return "\n".join(line.format(worth=worth, what=what) for what, worth in found)


def _nbgrader(
    cell: Cell, text: str, name: str, *, solution: bool = False, points: int = 0
) -> Cell:
    bare = cell | {"metadata": {}, "source": edition.lines(text)}
    return edition.noted(bare, name, solution=solution, points=points)


def for_otter(page: Page, worth: Worth | None = None) -> Notebook:
    """Each exercise a question with a solution block and tests; a proof is one, too."""
    worth = worth or minutes(page)

    def question(label: str, points: int, *more: str) -> Cell:
        lines = [f"name: {otter_name(label)}", f"points: {points}", *more]
        return _raw(label, "\n".join(["# BEGIN QUESTION", *lines]))

    def answer(cell: Cell, label: str) -> list[Cell]:
        text = OTTER_ANSWER.format(
            stub=edition.source(cell), solution=page.solutions[label]
        )
        return [
            question(label, worth[label][0], "all_or_nothing: true"),
            _raw(label, "# BEGIN SOLUTION"),
            edition.code(cell["id"], text),
            _raw(label, "# END SOLUTION"),
        ]

    def check(cell: Cell, label: str) -> list[Cell]:
        view = stubs.in_view(page.checks[label]) or "pass  # what is asked is hidden"
        text = f"# HIDDEN\n{silent(hidden(page, label))}"
        tests = [
            edition.code(cell["id"], view),
            edition.code(f"hidden-{label}"[:64], text),
        ]
        begin, end = _raw(label, "# BEGIN TESTS"), _raw(label, "# END TESTS")
        return [begin, *tests, end, _raw(label, "# END QUESTION")]

    def proof(cell: Cell, label: str) -> list[Cell]:
        name, (_, points) = f"{label}-proof", worth[label]
        asked = edition.lines(edition.PROOF.format(points=points))
        lines = "**Points.**\n\n" + rubric(label, "- {worth}: {what}")
        return [
            question(name, points, "manual: true"),
            cell | {"source": asked},
            _raw(name, "# BEGIN SOLUTION"),
            edition.markdown(f"rubric-{label}", lines),
            _raw(name, "# END SOLUTION"),
            _raw(name, "# END QUESTION"),
        ]

    notebook = _with_cells(page, worth, answer, check, proof)
    for cell in notebook["cells"]:
        if "setup" in edition.labels(cell, ""):
            cell["metadata"] |= {"deletable": False, "editable": False}
    data = "  - data\n" if page.reads else ""
    config = OTTER_CONFIG.format(name=kit.short(page).replace("/", "-"), data=data)
    notebook["cells"].insert(0, _raw("config", config))
    return notebook


def silent(check: str) -> str:
    """Without what it prints: to otter, whatever a test prints is a failure."""
    return SILENT + indent(check, "    ")


def otter_name(label: str) -> str:
    """The name of a question, which becomes the name of a file."""
    return label.replace("-", "_")


def _raw(label: str, text: str) -> Cell:
    name = text.splitlines()[0].lower().strip("# ").replace(" ", "-")
    return {
        "cell_type": "raw",
        "id": f"{name}-{label}"[:64],
        "metadata": {},
        "source": edition.lines(text),
    }


@cache
def _exercises(page: Page) -> Notebook:
    """Those of the reader's edition, for both graders."""
    return edition.exercises(kit.student(page), page)


Maker = Callable[[Cell, str], list[Cell]]


def _with_cells(
    page: Page, worth: Worth, answer: Maker, check: Maker, proof: Maker
) -> Notebook:
    """Those exercises of the reader's edition, with some cells of another make."""
    makers = {"answer-": answer, "check-": check, "proof-": proof}
    cells: list[Cell] = []
    notebook = copy.deepcopy(_exercises(page))
    begins = {f"**Exercise. {one.title}**": one.label for one in page.exercises}
    current = ""
    for cell in notebook["cells"]:
        text = edition.source(cell)
        current = next((its for head, its in begins.items() if head in text), current)
        if cell["id"] == "points-so-far" or (current and current not in worth):
            continue
        for prefix, make in makers.items():
            if (name := edition.name(cell)).startswith(prefix):
                cells += make(cell, name.removeprefix(prefix))
                break
        else:
            cells.append(cell)
    return notebook | {"cells": cells}


def write_nbgrader(pages: list[Page], folder: Path) -> None:
    """A course folder of nbgrader: settings, and a folder for each assignment."""
    listed = assignments(pages, mine.read())
    for name, page, worth in listed:
        _write_assignment(for_nbgrader(page, worth), page, folder / "source" / name)
    _write_requirements([page for _, page, _ in listed], folder, "nbgrader")
    _write_steps("nbgrader", folder, listed[0][0])


def write_otter(pages: list[Page], folder: Path) -> None:
    """A folder for each notebook with exercises: all that ``otter assign`` wants."""
    listed = assignments(pages, mine.read())
    for name, page, worth in listed:
        place = folder / (
            name if name == page.path.stem else f"{name}-{page.path.stem}"
        )
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
    lines = kit.requirements()
    wanted = [*lines["requirements.txt"], *re.findall(f"^{grader}==\\S+", TRIED, re.M)]
    if any(page.needs_torch for page in pages):
        wanted += lines["requirements-torch.txt"][1:]
    text = "\n".join(wanted) + "\n"
    (folder / "requirements.txt").write_text(text, encoding="utf-8")


def _write_assignment(notebook: Notebook, page: Page, folder: Path) -> None:
    kit.write(notebook, folder / f"{page.path.stem}.ipynb")
    kit.copy_library(folder)
    kit.copy_data(page, folder)
