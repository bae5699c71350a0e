"""Chapters in the formats of nbgrader 0.9.6 and otter-grader 7.0.0.

    for_nbgrader(page)    a source notebook, for ``nbgrader generate_assignment``
    for_otter(page)       a master notebook, for ``otter assign``

Both tools strip the solution and the hidden check themselves, and both grade with the
cells of this notebook, whatever a student made of them. What stands in a student's
answer cell is the stub of the student's edition.
"""

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

from course import kit
from website import editions, stubs, wrong_answers
from website.editions import Notebook
from website.manuscript import Page

NBGRADER_CONFIG = """\
# nbgrader reads this file: start it in this folder. One assignment a chapter.
c = get_config()
c.CourseDirectory.course_id = "positional-encodings"
c.CourseDirectory.root = "."
c.ClearSolutions.code_stub = {"python": ""}  # the stub stands above the solution
c.ExecutePreprocessor.timeout = 120  # seconds a cell
c.Execute.timeout = 120
"""
NBGRADER_ANSWER = "{stub}\n### BEGIN SOLUTION\n{solution}\n### END SOLUTION"
NBGRADER_CHECK = "{check}\n### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS"
OTTER_CONFIG = """\
# ASSIGNMENT CONFIG
name: {name}
requirements: requirements.txt
files:
  - pe_lib
{data}export_cell: false
generate:
  pdf: false
  show_stdout: true
"""
OTTER_ANSWER = """\
''' # BEGIN PROMPT
{stub}
'''; # END PROMPT
# BEGIN SOLUTION NO PROMPT
{solution}
# END SOLUTION"""


class Exercises:
    """What a format needs of the exercises of one chapter."""

    def __init__(self, page: Page) -> None:
        cells = page.code_cells
        self.solutions = {n: c.source for c in cells for n in c.tagged("solution-")}
        self.checks = {n: c.source for c in cells for n in c.tagged("check-")}
        self.points = {e.label: stubs.points(e.title) for e in page.exercises}

    def stub(self, label: str) -> str:
        """What the student finds."""
        return stubs.stub(label, self.solutions[label], self.checks[label])

    def hidden(self, label: str) -> str:
        """The check with other inputs, or nothing."""
        found = wrong_answers.collected()[label].hidden_check(self.checks[label])
        return "" if found == self.checks[label] else found


def for_nbgrader(page: Page) -> Notebook:
    """Each answer cell a solution cell, each check a graded one, all else locked."""
    exercises = Exercises(page)

    def answer(cell: dict[str, Any], label: str) -> list[dict[str, Any]]:
        text = NBGRADER_ANSWER.format(
            stub=exercises.stub(label), solution=exercises.solutions[label]
        )
        return [
            editions.noted(editions.blank(cell, text), f"answer-{label}", solution=True)
        ]

    def check(cell: dict[str, Any], label: str) -> list[dict[str, Any]]:
        text = exercises.checks[label]
        if hidden := exercises.hidden(label):
            text = NBGRADER_CHECK.format(check=text, hidden=hidden)
        points = exercises.points[label]
        return [
            editions.noted(editions.blank(cell, text), f"check-{label}", points=points)
        ]

    notebook = _with_cells(page, answer, check)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code" and "nbgrader" not in cell["metadata"]:
            cell |= editions.noted(cell, f"cell-{cell['id']}")
    return notebook


def for_otter(page: Page) -> Notebook:
    """Each exercise a question with a solution block and tests."""
    exercises = Exercises(page)

    def answer(cell: dict[str, Any], label: str) -> list[dict[str, Any]]:
        head = (
            f"# BEGIN QUESTION\nname: {otter_name(label)}\n"
            f"points: {exercises.points[label]}\nall_or_nothing: true"
        )
        text = OTTER_ANSWER.format(
            stub=exercises.stub(label), solution=exercises.solutions[label]
        )
        return [
            _raw(label, head),
            _raw(label, "# BEGIN SOLUTION"),
            editions.blank(cell, text),
            _raw(label, "# END SOLUTION"),
        ]

    def check(cell: dict[str, Any], label: str) -> list[dict[str, Any]]:
        tests = [editions.blank(cell, silent(exercises.checks[label]))]
        if hidden := exercises.hidden(label):
            more = cell | {"id": f"hidden-{label}"[:64]}
            tests.append(editions.blank(more, f"# HIDDEN\n{silent(hidden)}"))
        begin, end = _raw(label, "# BEGIN TESTS"), _raw(label, "# END TESTS")
        return [begin, *tests, end, _raw(label, "# END QUESTION")]

    notebook = _with_cells(page, answer, check)
    data = "  - data\n" if page.reads else ""
    config = OTTER_CONFIG.format(name=kit.short(page).replace("/", "-"), data=data)
    notebook["cells"].insert(0, _raw("config", config))
    return notebook


def silent(check: str) -> str:
    """Without its lines that print: to otter, whatever a test prints is a failure."""
    lines = check.split("\n")
    for node in ast.walk(ast.parse(check)):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
                lines[node.lineno - 1] = " " * node.col_offset + "pass"
                for line in range(node.lineno, node.end_lineno or node.lineno):
                    lines[line] = ""
    return "\n".join(lines)


def otter_name(label: str) -> str:
    """The name of a question, which becomes the name of a file."""
    return label.replace("-", "_")


def _raw(label: str, text: str) -> dict[str, Any]:
    name = text.splitlines()[0].lower().strip("# ").replace(" ", "-")
    return {
        "cell_type": "raw",
        "id": f"{name}-{label}"[:64],
        "metadata": {},
        "source": editions.lines(text),
    }


Maker = Callable[[dict[str, Any], str], list[dict[str, Any]]]


def _with_cells(page: Page, answer: Maker, check: Maker) -> Notebook:
    """The student's edition, with answer cells and checks of another make."""
    cells: list[dict[str, Any]] = []
    for cell in kit.student(page)["cells"]:
        if found := editions.labels(cell, "answer-"):
            cells += answer(cell, found[0])
        elif found := editions.labels(cell, "check-"):
            cells += check(cell, found[0])
        elif cell["id"] not in ("report-checks", "points-so-far"):
            cells.append(cell)
    return kit.load(page) | {"cells": cells}


def write_nbgrader(pages: list[Page], folder: Path) -> None:
    """A course folder of nbgrader: settings, and a folder a chapter with exercises."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "nbgrader_config.py").write_text(NBGRADER_CONFIG, encoding="utf-8")
    for page in (page for page in pages if page.exercises):
        name = kit.short(page).rpartition("/")[2]
        _write_assignment(for_nbgrader(page), page, folder / "source" / name)


def write_otter(pages: list[Page], folder: Path) -> None:
    """A folder for each chapter with exercises: all that ``otter assign`` wants."""
    for page in (page for page in pages if page.exercises):
        place = folder / kit.short(page).rpartition("/")[2]
        _write_assignment(for_otter(page), page, place)
        lines = kit.requirements()
        wanted = [*lines["requirements.txt"], *lines["requirements-torch.txt"][1:]]
        if not kit.needs_torch(page):
            wanted = lines["requirements.txt"]
        text = "\n".join(wanted) + "\n"
        (place / "requirements.txt").write_text(text, encoding="utf-8")


def _write_assignment(notebook: Notebook, page: Page, folder: Path) -> None:
    kit.write(notebook, folder / f"{folder.name}.ipynb")
    kit.copy_library(folder)
    kit.copy_data(page, folder)
