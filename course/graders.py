"""Chapters in the formats of nbgrader 0.9.6 and otter-grader 7.0.0.

    for_nbgrader(page)    a source notebook, for ``nbgrader generate_assignment``
    for_otter(page)       a master notebook, for ``otter assign``

Both are the exercises of the reader's edition, without the page. Both tools strip the
solution and the hidden check themselves, and grade with the cells of this notebook,
whatever a student made of them; an answer may stand in any cell above its check. A
person reads a proof: its cell has the points of its rubric, the check has the rest.
"""

import ast
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from course import kit
from manuscript import Page, edition, wrong_answers
from manuscript.edition import Notebook

Cell = dict[str, Any]

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
OTTER_TEST = """\
\"\"\" # BEGIN TEST CONFIG
failure_message: The last line below says what is wrong.
\"\"\" # END TEST CONFIG
{check}"""
OTTER_ANSWER = """\
''' # BEGIN PROMPT
{stub}
'''; # END PROMPT
# BEGIN SOLUTION NO PROMPT
{solution}
# END SOLUTION"""


def hidden(page: Page, label: str) -> str:
    """The check with other inputs, or nothing."""
    check = page.checks[label]
    found = wrong_answers.collected()[label].hidden_check(check)
    return "" if found == check else found


def for_nbgrader(page: Page) -> Notebook:
    """Answers are solution cells, checks and proofs graded ones, all else is locked."""
    worth = edition.check_points(page)

    def answer(cell: Cell, label: str) -> list[Cell]:
        text = NBGRADER_ANSWER.format(
            stub=edition.source(cell), solution=page.solutions[label]
        )
        return [_nbgrader(cell, text, f"answer-{label}", solution=True)]

    def check(cell: Cell, label: str) -> list[Cell]:
        text = page.checks[label]
        if asked := hidden(page, label):
            text = NBGRADER_CHECK.format(check=text, hidden=asked)
        points = worth[label]
        return [_nbgrader(cell, text, f"check-{label}", points=points)]

    def proof(cell: Cell, label: str) -> list[Cell]:
        text = NBGRADER_ANSWER.format(
            stub=edition.source(cell), solution=rubric(label, "- {worth}: {what}")
        )
        points = edition.proof_points(label)
        return [_nbgrader(cell, text, f"proof-{label}", solution=True, points=points)]

    notebook = _with_cells(page, answer, check, proof)
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


def for_otter(page: Page) -> Notebook:
    """Each exercise a question with a solution block and tests; a proof is one, too."""
    worth = edition.check_points(page)

    def question(label: str, points: int, *more: str) -> Cell:
        lines = [f"name: {otter_name(label)}", f"points: {points}", *more]
        return _raw(label, "\n".join(["# BEGIN QUESTION", *lines]))

    def answer(cell: Cell, label: str) -> list[Cell]:
        text = OTTER_ANSWER.format(
            stub=edition.source(cell), solution=page.solutions[label]
        )
        return [
            question(label, worth[label], "all_or_nothing: true"),
            _raw(label, "# BEGIN SOLUTION"),
            edition.code(cell["id"], text),
            _raw(label, "# END SOLUTION"),
        ]

    def check(cell: Cell, label: str) -> list[Cell]:
        text = OTTER_TEST.format(check=silent(page.checks[label]))
        tests = [edition.code(cell["id"], text)]
        if asked := hidden(page, label):
            text = f"# HIDDEN\n{silent(asked)}"
            tests.append(edition.code(f"hidden-{label}"[:64], text))
        begin, end = _raw(label, "# BEGIN TESTS"), _raw(label, "# END TESTS")
        return [begin, *tests, end, _raw(label, "# END QUESTION")]

    def proof(cell: Cell, label: str) -> list[Cell]:
        name, points = f"{label}-proof", edition.proof_points(label)
        lines = "**Points.**\n\n" + rubric(label, "- {worth}: {what}")
        return [
            question(name, points, "manual: true"),
            cell,
            _raw(name, "# BEGIN SOLUTION"),
            edition.markdown(f"rubric-{label}", lines),
            _raw(name, "# END SOLUTION"),
            _raw(name, "# END QUESTION"),
        ]

    notebook = _with_cells(page, answer, check, proof)
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


def _raw(label: str, text: str) -> Cell:
    name = text.splitlines()[0].lower().strip("# ").replace(" ", "-")
    return {
        "cell_type": "raw",
        "id": f"{name}-{label}"[:64],
        "metadata": {},
        "source": edition.lines(text),
    }


Maker = Callable[[Cell, str], list[Cell]]


def _with_cells(page: Page, answer: Maker, check: Maker, proof: Maker) -> Notebook:
    """The exercises of the reader's edition, with some cells of another make."""
    makers = {"answer-": answer, "check-": check, "proof-": proof}
    cells: list[Cell] = []
    notebook = edition.exercises(kit.student(page), page)
    for cell in notebook["cells"]:
        for prefix, make in makers.items():
            if (name := edition.name(cell)).startswith(prefix):
                cells += make(cell, name.removeprefix(prefix))
                break
        else:
            cells += [cell] if cell["id"] != "points-so-far" else []
    return notebook | {"cells": cells}


def write_nbgrader(pages: list[Page], folder: Path) -> None:
    """A course folder of nbgrader: settings, and a folder a chapter with exercises."""
    exercised = [page for page in pages if page.exercises]
    for page in exercised:
        name = kit.short(page).rpartition("/")[2]
        _write_assignment(for_nbgrader(page), page, folder / "source" / name)
    _write_requirements(exercised, folder, "nbgrader")
    _write_steps("nbgrader", folder, exercised)


def write_otter(pages: list[Page], folder: Path) -> None:
    """A folder for each chapter with exercises: all that ``otter assign`` wants."""
    exercised = [page for page in pages if page.exercises]
    for page in exercised:
        place = folder / kit.short(page).rpartition("/")[2]
        _write_assignment(for_otter(page), page, place)
        _write_requirements([page], place, "otter-grader")
    _write_steps("otter", folder, exercised)


def _write_steps(tool: str, folder: Path, pages: list[Page]) -> None:
    """What grades, and what a lecturer does next, the first chapter as the example."""
    shutil.copytree(HERE / tool, folder, dirs_exist_ok=True)
    for name in ("alone.py", "Dockerfile"):
        shutil.copy(HERE / name, folder)
    readme, name = folder / "README.md", kit.short(pages[0]).rpartition("/")[2]
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
    kit.write(notebook, folder / f"{folder.name}.ipynb")
    kit.copy_library(folder)
    kit.copy_data(page, folder)
