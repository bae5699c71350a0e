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
from manuscript import Page, edition, stubs, wrong_answers

BOOK = manuscript.read()
HOME = Path(os.environ.get("GRADERS", manuscript.ROOT / ".venv/graders"))
PAGE = BOOK.pages["book/failures/counting"]
WEEKLY = [
    pytest.param(BOOK.pages[f"book/{name}"], marks=pytest.mark.weekly)
    for name in (
        *("problem/order_blindness", "failures/normalised", "sinusoidal/formula"),
        *("sinusoidal/rotation", "experiments/extrapolation"),
    )
]

pytestmark = pytest.mark.skipif(
    not HOME.is_dir(), reason="no graders: `make graders` sets them up"
)


def run(tool: str, *arguments: str, cwd: Path) -> str:
    """What a command of theirs says; it must end well."""
    paths = {
        "PATH": f"{HOME / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "JUPYTER_PATH": str(Path(sys.prefix, "share/jupyter")),  # of what both have
        "HOME": str(cwd),  # they write settings there
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
import json, os, runpy, sys
from nbgrader.apps import nbgraderapp
for command in json.loads(sys.argv[1]):
    if not os.fork():
        sys.argv = ["nbgrader", *command]
        runpy.run_path(command[0]) if ".py" in command[0] else nbgraderapp.main()
        sys.stdout.flush()
        os._exit(0)
    if os.wait()[1]:
        sys.exit(" ".join(command))
"""


def nbgrader(folder: Path, *commands: str) -> str:
    """Some commands, each in a process of its own; to load it takes two seconds."""
    words = json.dumps([command.split() for command in commands])
    return run("python", "-c", ONE_START, words, cwd=folder)


def released(folder: Path, page: Page) -> dict[str, Any]:
    """What nbgrader hands out."""
    name = page.path.stem
    graders.write_nbgrader([page], folder)
    nbgrader(folder, f"generate_assignment {name}")
    path = folder / f"release/{name}/{name}.ipynb"
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def cells(notebook: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The cells that nbgrader knows, by its names."""
    graded = [c for c in notebook["cells"] if "nbgrader" in c["metadata"]]
    return {c["metadata"]["nbgrader"]["grade_id"]: c for c in graded}


def answered(
    notebook: dict[str, Any], page: Page, answers: dict[str, str]
) -> dict[str, Any]:
    """With the book's solutions in the answers' cells, but for some answers."""
    filled = copy.deepcopy(notebook)
    for label, text in (page.solutions | answers).items():
        cells(filled)[f"answer-{label}"]["source"] = text
    return filled


def scores(folder: Path) -> dict[str, float]:
    """What each student has."""
    with (folder / "grades.csv").open(encoding="utf-8") as file:
        return {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}


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


def called(page: Page) -> str:
    """The function that the last exercise of a page asks for."""
    *_, last = page.solutions.values()
    return re.findall(r"^def (\w+)", last, re.MULTILINE)[0]


def proof_of(page: Page) -> str:
    """The exercise that has one."""
    return next(filter(edition.proof_points, page.solutions))


def faults(page: Page, notebook: dict[str, Any], course: Path) -> dict[str, Any]:
    """Submissions by students who are called after what they did to two exercises.

    To the first, which they got wrong, took out, or with which they ended Python or
    wrote themselves marks; to the last, whose function prints its hidden check or never
    ends, or whose check they marked to be skipped. The stubs of the last one stay, with
    a helper and the answer below each; what is locked is gone, and one check and proof.
    """
    first, *_, last = page.solutions
    attack = ATTACK.format(course=str(course)) if alone.runs() else guess(first)
    endless = f"import time\ndef {called(page)}(*_):\n    time.sleep(9999)\n"
    answers = {
        "late": {},
        "killed-endless": {first: "import os\nos._exit(1)", last: endless},
        "deleted-leak": {last: LEAK.format(called=called(page))},
        "thief-skipped": {first: attack, last: ""},
        "wrong-moved": {first: guess(first)},
    }
    made = {who: answered(notebook, page, its) for who, its in answers.items()}
    skipped = cells(made["thief-skipped"])[f"check-{last}"]
    skipped["metadata"]["tags"] = ["skip-execution"]
    printing = edition.code("later", r"print('\n'.join(In))")
    made["deleted-leak"]["cells"].append(printing)
    moved = made["wrong-moved"]["cells"]
    for label in page.solutions:
        cell = cells(made["wrong-moved"])[f"answer-{label}"]
        helper = edition.code(f"helper-{label}", "def twice(x):\n    return 2 * x")
        below = moved.index(cell) + 1
        moved[below:below] = [helper, edition.code(f"new-{label}", cell["source"])]
        cell["source"] = cells(notebook)[f"answer-{label}"]["source"]
    locked = [name for name in cells(notebook) if name.startswith("cell-")]
    gone = {
        "deleted-leak": [f"answer-{first}"],
        "wrong-moved": [*locked, f"check-{last}", f"proof-{proof_of(page)}"],
    }
    for who, name in ((who, name) for who, names in gone.items() for name in names):
        made[who]["cells"].remove(cells(made[who])[name])
    return made


Graded = tuple[Page, Path, dict[str, Any], str]
SECONDS = """\
import runpy
from nbformat.v4 import new_code_cell
from traitlets.config import Config
settings = runpy.run_path("nbgrader_config.py", {"get_config": Config})
execute = settings["Execute"](config=settings["c"])
for locked, grade in ((True, False), (True, True), (False, False)):
    note = {"locked": locked, "grade": grade, "solution": not locked}
    print(execute.seconds(new_code_cell(metadata={"nbgrader": note})), "seconds")
"""


@pytest.fixture(
    scope="module",
    params=[PAGE, *WEEKLY],
    ids=kit.short,
)
def graded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Graded:
    """A course of one chapter that all of them handed in, one by Moodle."""
    folder, page = tmp_path_factory.mktemp("nbgrader"), request.param
    name, notebook = page.path.stem, released(folder, page)
    made = faults(page, notebook, folder)
    archive = folder / f"downloaded/{name}/archive/moodle.zip"
    archive.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w") as file:
        sent = f"wrong moved_17_assignsubmission_file_/{name} (1).ipynb"
        file.writestr(sent, json.dumps(made.pop("wrong-moved")))
    for student, submission in made.items():
        kit.write(submission, folder / f"submitted/{student}/{name}/{name}.ipynb")
    (folder / "seconds.py").write_text(SECONDS, encoding="utf-8")
    # Checks of other chapters train models, and need their minute on a busy machine.
    seconds = 10 if page is PAGE else 60
    said = nbgrader(
        folder,
        f"zip_collect {name}",
        # its time is over as it begins
        f"autograde {name} --student=late --Execute.whole=0",
        f"autograde {name} --student=killed-endless --Execute.timeout={seconds}",
        f"autograde {name}",
        f"generate_feedback {name}",
        "export",
        "seconds.py",
    )
    return page, folder, notebook, said


def test_a_fault_costs_its_own_points_and_no_others(graded: Graded) -> None:
    """An answer in a new cell has all, and what was locked and is gone comes back.

    No fault takes another exercise with it, and no trick brings more, or spoils others.
    """
    page, folder, *_ = graded
    worth = edition.check_points(page)
    first, *_, last = worth
    every = sum(worth.values())
    neither = every - worth[first] - worth[last]
    one_lost = {"wrong moved_17": every - worth[first]}
    both = dict.fromkeys(("killed-endless", "deleted-leak", "thief-skipped"), neither)
    assert scores(folder) == {"late": 0} | one_lost | both
    if not alone.runs():
        pytest.skip("no bubblewrap: the attack was not tried")


def test_nothing_for_students_has_a_solution_or_a_hidden_test(graded: Graded) -> None:
    """Neither what is handed out, nor the feedback of those whose check failed."""
    page, folder, notebook, _ = graded
    given = "\n".join(map(edition.source, notebook["cells"]))
    pages = folder.glob("feedback/*/*/*.html")
    told = {path.parts[-3]: path.read_text(encoding="utf-8") for path in pages}
    plain = {n: html.unescape(re.sub(r"<[^>]*>", "", t)) for n, t in told.items()}
    assert plain.keys() == scores(folder).keys()
    shown = "\n".join(map(stubs.in_view, page.checks.values()))
    secret: list[str] = []
    for label, solution in page.solutions.items():
        lines = map(str.strip, graders.hidden(page, label).splitlines())
        secret += [line for line in lines if line not in shown]
        answers = [solution, *wrong_answers.collected()[label].rubric]
        assert not [what for what in answers if what in given]
    texts = [given, *plain.values()]
    shapes = [shape for line in secret for shape in (line, line[::-1])]
    assert secret and not [s for s in shapes for text in texts if s in text]
    assert page != PAGE or "slope a t + b" in plain["wrong moved_17"]
    assert "This check failed." in plain["deleted-leak"]
    for why in ("did not end in time", "ended Python"):
        assert f"This cell {why}, and was left out." in plain["killed-endless"]


def test_a_proof_is_read_by_a_person(graded: Graded) -> None:
    """Its cell has a maximum, and waits: empty, written elsewhere, or deleted."""
    page, folder, notebook, _ = graded
    label = proof_of(page)
    cell = cells(notebook)[f"proof-{label}"]
    note = cell["metadata"]["nbgrader"]
    assert cell["cell_type"] == "markdown" and note["grade"] and note["solution"]
    assert note["points"] == edition.proof_points(label) > 0
    with sqlite3.connect(folder / "gradebook.db") as marks:
        waiting = marks.execute("SELECT sum(needs_manual_grade) FROM grade")
        assert waiting.fetchone() == (len(scores(folder)),)


def test_a_busy_machine_costs_nobody_the_set_up(graded: Graded) -> None:
    """It has more time than a check or an answer, else all others fail with it."""
    assert re.findall(r"^(\d+) seconds$", graded[-1], re.M) == ["900", "60", "60"]


EXERCISED = [page for page in BOOK.notebooks if page.exercises]


@pytest.mark.weekly
@pytest.mark.parametrize("page", EXERCISED, ids=kit.short)
def test_both_tools_take_every_chapter(page: Page, tmp_path: Path) -> None:
    """Its solutions have all points in nbgrader; otter runs its tests as it assigns."""
    name, folder = page.path.stem, tmp_path / "nbgrader"
    submission = answered(released(folder, page), page, {})
    kit.write(submission, folder / f"submitted/ada/{name}/{name}.ipynb")
    nbgrader(folder, f"autograde {name}", "export")
    assert scores(folder) == {"ada": sum(edition.check_points(page).values())}
    given = assigned(page, tmp_path / "otter") / "dist/student/requirements.txt"
    assert "otter-grader==" in given.read_text(encoding="utf-8")


def assigned(page: Page, folder: Path) -> Path:
    """Where otter wrote what it hands out; it ends badly where a test fails."""
    graders.write_otter([page], folder)
    name = page.path.stem
    run("otter", "assign", "--no-pdfs", f"{name}.ipynb", "dist", cwd=folder / name)
    return folder / name


@pytest.mark.weekly
def test_otter_marks_each_alone_and_in_time(tmp_path: Path) -> None:
    """A fault costs its own points; one that ends Python, or is none, is named."""
    folder, program = assigned(PAGE, tmp_path), tmp_path / "grade.py"
    given = json.loads((folder / "dist/student/counting.ipynb").read_text("utf-8"))
    ids = {c.id: c.tagged("solution-")[0] for c in PAGE.cells if c.tagged("solution-")}
    first, *_, last = PAGE.solutions
    faults = {
        "right": {},
        "wrong": {first: guess(first)},
        "endless": {last: f"def {called(PAGE)}(*_):\n    while True:\n        pass\n"},
        "killed": {first: "import os\nos._exit(1)"},
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
    for student, answers in faults.items():
        told = (folder / f"feedback/{student}.txt").read_text(encoding="utf-8")
        if student == "killed":
            assert told.startswith("No marks, look") and not any(
                marks[student].values()
            )
            continue
        for label, points in worth.items():
            found = float(marks[student][label.replace("-", "_")])
            assert found == (0 if label in answers else points), (student, label)
    assert not any(marks["broken"].values())
