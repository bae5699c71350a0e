"""nbgrader and otter-grader give an answer its points, wherever it stands.

They are in an environment of their own, which ``make graders`` sets up; without it
these tests are skipped.
"""

import copy
import csv
import html
import json
import os
import re
import sqlite3
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import manuscript
from course import alone, graders, kit
from manuscript import edition, stubs, wrong_answers

BOOK = manuscript.read()
HOME = Path(os.environ.get("GRADERS", manuscript.ROOT / ".venv/graders"))
NAME = "counting"
PAGE = BOOK.pages[f"book/failures/{NAME}"]
FIRST, *_, ENDLESS = PAGE.solutions
WEEKLY = [
    *("problem/order_blindness", "failures/normalised", "sinusoidal/formula"),
    *("sinusoidal/rotation", "experiments/extrapolation"),
]

pytestmark = pytest.mark.skipif(
    not HOME.is_dir(), reason="no graders: `make graders` sets them up"
)


def run(tool: str, *arguments: str, cwd: Path) -> str:
    """What a command of theirs says; it must end well."""
    paths = {
        "PATH": f"{HOME / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "JUPYTER_PATH": str(Path(sys.prefix, "share/jupyter")),  # of what both have
    }
    done = subprocess.run(
        [HOME / "bin" / tool, *arguments],
        cwd=cwd,
        env=os.environ | paths | {"PYTHONPATH": "", "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout + done.stderr


ONE_START = """\
import json, os, sys
from nbgrader.apps import nbgraderapp
for command in json.loads(sys.argv[1]):
    if not os.fork():
        sys.argv = ["nbgrader", *command]
        nbgraderapp.main()
        os._exit(0)
    if os.wait()[1]:
        sys.exit(" ".join(command))
"""


def nbgrader(folder: Path, *commands: str) -> None:
    """Some commands, each in a process of its own; to load it takes two seconds."""
    words = json.dumps([command.split() for command in commands])
    run("python", "-c", ONE_START, words, cwd=folder)


def released(folder: Path, name: str) -> dict[str, Any]:
    """What nbgrader hands out."""
    run("nbgrader", "generate_assignment", name, cwd=folder)
    path = folder / f"release/{name}/{name}.ipynb"
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def cells(notebook: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The cells that nbgrader knows, by its names."""
    graded = [c for c in notebook["cells"] if "nbgrader" in c["metadata"]]
    return {c["metadata"]["nbgrader"]["grade_id"]: c for c in graded}


def answered(notebook: dict[str, Any], page: manuscript.Page) -> dict[str, Any]:
    """With the book's solutions in the answers' cells."""
    filled = copy.deepcopy(notebook)
    for label, solution in page.solutions.items():
        cells(filled)[f"answer-{label}"]["source"] = solution
    return filled


ATTACK = """\
import glob, os, sqlite3
for folder in (".", "..", "../..", "../../..", {course!r}):
    for path in glob.glob(folder + "/gradebook.db"):
        marks = sqlite3.connect(path)
        marks.execute("UPDATE grade SET manual_score = 140")
        marks.commit()
    for path in glob.glob(folder + "/**/*.ipynb", recursive=True):
        open(path, "w").write("")
"""
LEAK = """\
def {called}(*_):
    import sys
    check = In[-1]
    print(check)
    print(check[::-1], file=sys.stderr)
    display({{"text/plain": check}}, raw=True)
    raise type(check + "TimeoutError", (AssertionError,), {{}})(check)
"""


def guess(label: str) -> str:
    """A common wrong answer, with a reason where one is asked for."""
    return wrong_answers.collected()[label].wrong[0].answer + '\nbecause = "I guess so"'


def called(page: manuscript.Page) -> str:
    """The function that the last exercise of a page asks for."""
    *_, last = page.solutions.values()
    return re.findall(r"^def (\w+)", last, re.MULTILINE)[0]


def proof_of(page: manuscript.Page) -> str:
    """The exercise that has one."""
    return next(filter(edition.proof_points, page.solutions))


def faults(
    page: manuscript.Page, notebook: dict[str, Any], course: Path
) -> dict[str, dict[str, Any]]:
    """Submissions by students who are called after what they did to two exercises.

    To the first, which they got wrong, took out, or with which they ended Python or
    wrote themselves marks; to the last, whose function prints its hidden check or never
    ends, or whose check they marked to be skipped.
    """
    first, *_, last = page.solutions
    names = "wrong-leak killed-endless deleted-skipped moved late"
    made = {name: answered(notebook, page) for name in names.split()}
    if alone.runs():  # else it would do what it tries to
        made["thief"] = answered(notebook, page)

    def answer(name: str, label: str, text: str) -> None:
        if name in made:
            cells(made[name])[f"answer-{label}"]["source"] = text

    answer("thief", first, ATTACK.format(course=str(course)))
    answer("wrong-leak", first, guess(first))
    answer("wrong-leak", last, LEAK.format(called=called(page)))
    made["wrong-leak"]["cells"].append(edition.code("later", r"print('\n'.join(In))"))
    answer("killed-endless", first, "import os\nos._exit(1)")
    endless = f"import time\ndef {called(page)}(*_):\n    time.sleep(9999)\n"
    answer("killed-endless", last, endless)
    answer("deleted-skipped", last, "")
    skipped = cells(made["deleted-skipped"])[f"check-{last}"]
    skipped["metadata"]["tags"] = ["skip-execution"]
    moved = made["moved"]["cells"]
    for label in page.solutions:  # the stub stays; below it a helper and the answer
        cell = cells(made["moved"])[f"answer-{label}"]
        below = moved.index(cell) + 1
        helper = edition.code(f"helper-{label}", "def twice(x):\n    return 2 * x")
        moved[below:below] = [helper, edition.code(f"new-{label}", cell["source"])]
        cell["source"] = cells(notebook)[f"answer-{label}"]["source"]
    set_up = [n for n in cells(notebook) if n.startswith("cell-")]
    gone = {
        "deleted-skipped": [f"answer-{first}"],
        "moved": [*set_up, f"check-{first}", f"proof-{proof_of(page)}"],
    }
    for name, lost in gone.items():
        for one in lost:
            made[name]["cells"].remove(cells(made[name])[one])
    return made


Graded = tuple[manuscript.Page, Path, dict[str, Any]]


@pytest.fixture(
    scope="module",
    params=[
        PAGE,
        *(
            pytest.param(BOOK.pages[f"book/{n}"], marks=pytest.mark.weekly)
            for n in WEEKLY
        ),
    ],
    ids=kit.short,
)
def graded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Graded:
    """A course of one chapter that all of them handed in; what it handed out.

    Checks of others train models, and need their minute on a busy machine.
    """
    folder, page = tmp_path_factory.mktemp("nbgrader"), request.param
    name = page.path.stem
    graders.write_nbgrader([page], folder)
    notebook = released(folder, name)
    for student, submission in faults(page, notebook, folder).items():
        path = folder / f"submitted/{student}/{name}/{name}.ipynb"
        kit.write(submission, path)
    archive = folder / f"downloaded/{name}/archive/moodle.zip"
    archive.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w") as file:
        sent = f"Ada Lovelace_17_assignsubmission_file_/{name} (1).ipynb"
        file.writestr(sent, json.dumps(answered(notebook, page)))
    nbgrader(
        folder,
        f"zip_collect {name}",
        # its time is over as it begins
        f"autograde {name} --student=late --Execute.whole=0",
        f"autograde {name}" + " --Execute.timeout=20" * (page is PAGE),
        f"generate_feedback {name}",
        "export",
    )
    return page, folder, notebook


def test_a_fault_costs_its_own_points_and_no_others(graded: Graded) -> None:
    """An answer in a new cell has all, and what was locked and is gone comes back.

    No fault takes another exercise with it, and no trick brings more, or spoils others.
    """
    page, folder, _ = graded
    worth = edition.check_points(page)
    first, *_, last = worth
    with (folder / "grades.csv").open(encoding="utf-8") as file:
        scores = {
            row["student_id"]: float(row["score"]) for row in csv.DictReader(file)
        }
    every = sum(worth.values())
    neither = every - worth[first] - worth[last]
    expected = {
        "wrong-leak": neither,
        "killed-endless": neither,
        "deleted-skipped": neither,
        "moved": every,
        "late": 0,
        "Ada Lovelace_17": every,
    }
    attacked = {"thief": every - worth[first]} if alone.runs() else {}
    assert scores == expected | attacked
    if not attacked:
        pytest.skip("no bubblewrap: the attack was not tried")


def test_nothing_for_students_has_a_solution_or_a_hidden_test(graded: Graded) -> None:
    """Neither what is handed out, nor the feedback of those whose check failed."""
    page, folder, notebook = graded
    given = "\n".join(map(edition.source, notebook["cells"]))
    pages = folder.glob("feedback/*/*/*.html")
    told = {path.parts[-3]: path.read_text(encoding="utf-8") for path in pages}
    assert len(told) == len([*folder.glob("submitted/*")]) >= 6
    plain = {n: html.unescape(re.sub(r"<[^>]*>", "", t)) for n, t in told.items()}
    hidden = 0
    shown = "\n".join(map(stubs.in_view, page.checks.values()))
    for label, solution in page.solutions.items():
        assert solution not in given
        for what in wrong_answers.collected()[label].rubric:
            assert what not in given
        lines = map(str.strip, graders.hidden(page, label).splitlines())
        for line in (line for line in lines if line not in shown):
            hidden += 1
            assert line not in given
            shapes = line, line[::-1]
            assert not [n for n, text in plain.items() for s in shapes if s in text]
    assert hidden and (page != PAGE or "slope a t + b" in plain["wrong-leak"])
    assert "This check failed." in plain["wrong-leak"]


def test_a_proof_is_read_by_a_person(graded: Graded) -> None:
    """Its cell has a maximum, and waits: empty, written elsewhere, or deleted."""
    page, folder, notebook = graded
    label = proof_of(page)
    cell = cells(notebook)[f"proof-{label}"]
    note = cell["metadata"]["nbgrader"]
    assert cell["cell_type"] == "markdown" and note["grade"] and note["solution"]
    assert note["points"] == edition.proof_points(label) > 0
    with sqlite3.connect(folder / "gradebook.db") as marks:
        waiting = marks.execute("SELECT sum(needs_manual_grade) FROM grade")
        assert waiting.fetchone() == (len([*folder.glob("submitted/*")]),)


SECONDS = """\
import runpy
from nbformat.v4 import new_code_cell
from traitlets.config import Config
settings = runpy.run_path("nbgrader_config.py", {"get_config": Config})
execute = settings["Execute"](config=settings["c"])
for locked, grade in ((True, False), (True, True), (False, False)):
    note = {"locked": locked, "grade": grade, "solution": not locked}
    cell = new_code_cell(metadata={"nbgrader": note})
    print(execute.seconds(cell))
"""


def test_a_busy_machine_costs_nobody_the_set_up(graded: Graded) -> None:
    """It has more time than a check or an answer, else all others fail with it."""
    _, folder, _ = graded
    said = run("python", "-c", SECONDS, cwd=folder).split()
    assert said[:3] == ["900", "60", "60"]


EXERCISED = [page for page in BOOK.notebooks if page.exercises]


@pytest.mark.weekly
@pytest.mark.parametrize("page", EXERCISED, ids=kit.short)
def test_both_tools_take_every_chapter(page: manuscript.Page, tmp_path: Path) -> None:
    """Its solutions have all points in nbgrader; otter runs its tests as it assigns."""
    graders.write_nbgrader([page], tmp_path / "nbgrader")
    graders.write_otter([page], tmp_path / "otter")
    name = page.path.stem
    submission = answered(released(tmp_path / "nbgrader", name), page)
    kit.write(submission, tmp_path / f"nbgrader/submitted/ada/{name}/{name}.ipynb")
    nbgrader(tmp_path / "nbgrader", f"autograde {name}", "export")
    with (tmp_path / "nbgrader/grades.csv").open(encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert float(row["score"]) == sum(edition.check_points(page).values())
    assign = ["assign", "--no-pdfs", f"{name}.ipynb", "dist"]
    run(
        "otter", *assign, cwd=tmp_path / "otter" / name
    )  # ends badly where a test fails
    given = tmp_path / "otter" / name / "dist/student"
    assert "otter-grader==" in (given / "requirements.txt").read_text(encoding="utf-8")


@pytest.mark.weekly
def test_otter_marks_each_alone_and_in_time(tmp_path: Path) -> None:
    """A fault costs its own points; one that ends Python, or is none, is named."""
    graders.write_otter([PAGE], tmp_path)
    folder, program = tmp_path / NAME, tmp_path / "grade.py"
    run("otter", "assign", "--no-pdfs", f"{NAME}.ipynb", "dist", cwd=folder)
    given = json.loads((folder / f"dist/student/{NAME}.ipynb").read_text("utf-8"))
    ids = {c.id: c.tagged("solution-")[0] for c in PAGE.cells if c.tagged("solution-")}
    faults = {
        "right": {},
        "wrong": {FIRST: guess(FIRST)},
        "endless": {
            ENDLESS: f"def {called(PAGE)}(*_):\n    while True:\n        pass\n"
        },
        "killed": {FIRST: "import os\nos._exit(1)"},
    }
    for student, answers in faults.items():
        handed_in = copy.deepcopy(given)
        for cell in handed_in["cells"]:
            if label := ids.get(cell.get("id", "")):
                cell["source"] = answers.get(label, PAGE.solutions[label])
        kit.write(handed_in, folder / f"submissions/{student}.ipynb")
    (folder / "submissions/broken.ipynb").write_text("{}", encoding="utf-8")
    text = program.read_text(encoding="utf-8")
    program.write_text(text.replace("CELL, WHOLE = 60", "CELL, WHOLE = 10"), "utf-8")
    (archive,) = (folder / "dist/autograder").glob("*.zip")
    run("python", str(program), str(archive), "submissions", cwd=folder)
    with (folder / "marks.csv").open(encoding="utf-8") as file:
        marks = {row.pop("student"): row for row in csv.DictReader(file)}
    worth = edition.check_points(PAGE)
    full = {graders.otter_name(label): float(points) for label, points in worth.items()}
    lost = {"wrong": FIRST, "endless": ENDLESS}
    for student in ("right", "wrong", "endless"):
        gone = {graders.otter_name(lost[student]): 0} if student in lost else {}
        found = {name: float(marks[student][name]) for name in full}
        assert found == full | gone, student
    for student in ("killed", "broken"):
        assert not any(marks[student].values())
        told = (folder / f"feedback/{student}.txt").read_text(encoding="utf-8")
        assert told.startswith("No marks, look at it yourself")
