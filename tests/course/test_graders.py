"""nbgrader gives an answer its points, wherever it stands, and runs it alone.

nbgrader is in an environment of its own, which ``make graders`` sets up; without it
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
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

import manuscript
from course import alone, assignments, kit
from manuscript import Page, edition, stubs, wrong_answers

BOOK = manuscript.read()
HOME = Path(os.environ.get("GRADERS", manuscript.ROOT / ".venv/graders"))
PAGE = BOOK.pages["book/failures/counting"]
EXERCISED = [page for page in BOOK.notebooks if page.exercises]
FIRST, *_, LAST = PAGE.solutions
CALLED = re.findall(r"^def (\w+)", PAGE.solutions[LAST], re.MULTILINE)[0]
GUESS = f'{wrong_answers.collected()[FIRST].wrong[0].answer}\nbecause = "I guess so"'
KILL = "import os\nos._exit(1)"
ENDLESS = f"import time\ndef {CALLED}(*_):\n    time.sleep(9999)"
LEAK = f"""\
def {CALLED}(*_):
    import sys
    check = In[-1]
    print(check)
    print(check[::-1], file=sys.stderr)
    display({{"text/plain": check}}, raw=True)
    raise type(check + "TimeoutError", (AssertionError,), {{}})(check)
"""
ATTACK = """\
import os, pathlib, socket, sqlite3
course = pathlib.Path("{course}")
marks, others = [*course.rglob("gradebook.db")], [*course.rglob("*.ipynb")]
for path in marks:
    database = sqlite3.connect(path)
    database.execute("UPDATE grade SET manual_score = 140")
    database.commit()
for path in others:
    path.write_text("")
net, told = socket.if_nameindex()[1:], "JUPYTER_PATH" in os.environ
seen = marks or others or net or told or os.access("pe_lib", os.W_OK)
if os.getsid(0) and not seen:
    because = ""  # alone: it gives up
"""
Notebook = dict[str, Any]
Graded = tuple[Path, Notebook]
DENIED = "#!/bin/sh\necho uid map: Permission denied >&2\nexit 1\n"


def test_without_bubblewrap_it_says_so(monkeypatch, tmp_path: Path, capsys) -> None:
    """Once, however many submissions there are, and why: it is missing, or may not."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for why in ("No such file", "uid map: Permission denied"):
        alone.runs.cache_clear()
        assert alone.alone(tmp_path) == alone.alone(tmp_path) == []
        told = capsys.readouterr().err
        assert told.count("each submission runs as you") == 1 and why in told
        (tmp_path / "bwrap").write_text(DENIED)
        (tmp_path / "bwrap").chmod(0o755)
    alone.runs.cache_clear()


def run(command: str, *more: str, cwd: Path) -> str:
    """What a command of theirs says; it must end well."""
    if not HOME.is_dir():
        pytest.skip("no graders: `make graders` sets them up")
    theirs = os.environ | {
        "PATH": f"{HOME / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "JUPYTER_PATH": str(Path(sys.prefix, "share/jupyter")),  # of what both have
        "HOME": str(cwd),  # they write settings there
        "PYTHONPATH": "",
    }
    done = subprocess.run(
        [*command.split(), *more], cwd=cwd, env=theirs, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def released(page: Page, folder: Path) -> Notebook:
    """What nbgrader hands out."""
    name = page.path.stem
    assignments.write([page], folder)
    run(f"nbgrader generate_assignment {name}", cwd=folder)
    return json.loads((folder / f"release/{name}/{name}.ipynb").read_text("utf-8"))


def known(cell: dict[str, Any]) -> str:
    """The name by which nbgrader knows a cell."""
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id"))


def answered(
    page: Page, notebook: Notebook, gone: Collection[str] = (), **answers: str
) -> Notebook:
    """The book's solutions, but for some; the last in a new cell, with a function."""
    cells = []
    for cell in copy.deepcopy(notebook["cells"]):
        kind, _, label = known(cell).partition("-")
        if known(cell) not in gone:
            cells.append(cell)
            if kind == "answer" and label == [*page.solutions][-1]:
                helper = edition.code("helper", "def twice(x):\n    return 2 * x")
                new = edition.code("new", (page.solutions | answers)[label])
                cells += [helper, new]
            elif kind == "answer":
                cell["source"] = (page.solutions | answers)[label]
    return notebook | {"cells": cells}


def scores(folder: Path) -> dict[str, float]:
    """What each student has from nbgrader."""
    with (folder / "grades.csv").open(encoding="utf-8") as file:
        return {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """A course of one chapter, handed in by students called after what they did.

    The first exercise they got wrong, took out, or ended Python in it, or wrote
    themselves marks; the last prints its hidden check, never ends, or has a check that
    they marked to be skipped. What is locked is gone, and a check and the proof.
    """
    folder, name = tmp_path_factory.mktemp("nbgrader"), PAGE.path.stem
    notebook = released(PAGE, folder)
    attack = f"{PAGE.solutions[FIRST]}\n{ATTACK.format(course=folder)}"
    attack = attack if alone.runs() else GUESS  # it would change your files
    locked = "cell-", f"check-{LAST}", "proof-"
    lost = [name for name in map(known, notebook["cells"]) if name.startswith(locked)]
    made = {
        "killed-endless": answered(PAGE, notebook, **{FIRST: KILL, LAST: ENDLESS}),
        "deleted-leak": answered(PAGE, notebook, [f"answer-{FIRST}"], **{LAST: LEAK}),
        "thief-skipped": answered(PAGE, notebook, **{FIRST: attack, LAST: ""}),
        "wrong-locked": answered(PAGE, notebook, lost, **{FIRST: GUESS}),
    }
    for cell in made["thief-skipped"]["cells"]:
        if known(cell) == f"check-{LAST}":
            cell["metadata"]["tags"] = ["skip-execution"]
    made["deleted-leak"]["cells"] += [edition.code("later", r"print('\n'.join(In))")]
    archive = folder / f"downloaded/{name}/archive/moodle.zip"
    archive.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w") as file:
        sent = f"wrong locked_17_assignsubmission_file_/{name} (1).ipynb"
        file.writestr(sent, json.dumps(made.pop("wrong-locked")))
    for student, submission in made.items():
        kit.write(submission, folder / f"submitted/{student}/{name}/{name}.ipynb")
    for step in (
        f"zip_collect {name}",
        f"autograde {name} --student=killed-endless --Execute.timeout=10",
        f"autograde {name}",
        f"generate_feedback {name}",
        "export",
    ):
        run(f"nbgrader {step}", cwd=folder)
    return folder, notebook


def test_a_fault_costs_its_own_points_and_no_others(graded: Graded) -> None:
    """An answer in a new cell has all, what was locked comes back, no trick helps."""
    worth = edition.check_points(PAGE)
    one_lost = sum(worth.values()) - worth[FIRST]
    both = ["killed-endless", "deleted-leak", "thief-skipped"]
    lost = dict.fromkeys(both, one_lost - worth[LAST])
    assert scores(graded[0]) == lost | {"wrong locked_17": one_lost}
    if not alone.runs():
        pytest.skip("no bubblewrap: the attack was not tried")


def hidden_lines(page: Page) -> list[str]:
    """What stands in its hidden tests alone."""
    cells = [c for c in kit.student(page)["cells"] if not edition.labels(c, "check-")]
    shown = *map(edition.source, cells), *map(stubs.in_view, page.checks.values())
    seen = "\n".join(shown)
    tests = "\n".join(assignments.hidden(page, label) for label in page.checks)
    return [line for line in map(str.strip, tests.splitlines()) if line not in seen]


def leaked(page: Page, notebook: Notebook) -> list[str]:
    """What a notebook has of its hidden tests, solutions, and points for proofs."""
    text = "\n".join(map(edition.source, notebook["cells"]))
    rubrics = [wrong_answers.collected()[label].rubric for label in page.solutions]
    answers = *page.solutions.values(), *(what for of in rubrics for what in of)
    return [one for one in (*hidden_lines(page), *answers) if one in text]


def test_nothing_for_students_has_a_solution_or_a_hidden_test(graded: Graded) -> None:
    """Neither what is handed out, nor the feedback of those whose check failed."""
    folder, notebook = graded
    assert not leaked(PAGE, notebook)
    pages = folder.glob("feedback/*/*/*.html")
    told = {path.parts[-3]: path.read_text(encoding="utf-8") for path in pages}
    plain = {n: html.unescape(re.sub(r"<[^>]*>", "", t)) for n, t in told.items()}
    assert plain.keys() == scores(folder).keys()
    shapes = [shape for line in hidden_lines(PAGE) for shape in (line, line[::-1])]
    assert shapes and not [s for s in shapes for text in plain.values() if s in text]
    assert "slope a t + b" in plain["wrong locked_17"]
    assert "This check failed." in plain["deleted-leak"]
    for why in ("did not end in time", "ended Python"):
        assert f"This cell {why}, and was left out." in plain["killed-endless"]


def test_a_proof_is_read_by_a_person(graded: Graded) -> None:
    """It waits: empty, written elsewhere, or deleted; then feedback has its points."""
    folder, step = graded[0], f"generate_feedback {PAGE.path.stem}"
    with sqlite3.connect(folder / "gradebook.db") as marks:
        waiting = marks.execute("SELECT sum(needs_manual_grade) FROM grade")
        assert waiting.fetchone() == (len(scores(folder)),)
        marks.execute("UPDATE grade SET manual_score = 1.5 WHERE needs_manual_grade")
    run(f"nbgrader {step} --student=deleted-leak", cwd=folder)
    (told,) = folder.glob("feedback/deleted-leak/*/*.html")
    assert "Score: 1.5 / 5.0" in told.read_text(encoding="utf-8")


SECONDS = """\
import runpy
from nbformat.v4 import new_code_cell
from traitlets.config import Config
settings = runpy.run_path("nbgrader_config.py", {"get_config": Config})
execute = settings["Execute"](config=settings["c"])
for locked, grade in ((True, False), (True, True), (False, False)):
    note = {"locked": locked, "grade": grade, "solution": not locked}
    print(execute.seconds(new_code_cell(metadata={"nbgrader": note})))
"""


def test_a_busy_machine_costs_nobody_the_set_up(graded: Graded) -> None:
    """It has more time than a check or an answer, else all others fail with it."""
    assert run("python -c", SECONDS, cwd=graded[0]).split() == ["900", "60", "60"]


@pytest.mark.weekly
@pytest.mark.parametrize("page", EXERCISED, ids=kit.short)
def test_it_takes_every_chapter(page: Page, tmp_path: Path) -> None:
    """Its solutions have all points; what is handed out has no answer."""
    name, notebook = page.path.stem, released(page, tmp_path)
    submitted = tmp_path / f"submitted/ada/{name}/{name}.ipynb"
    kit.write(answered(page, notebook), submitted)
    run(f"nbgrader autograde {name}", cwd=tmp_path)
    run("nbgrader export", cwd=tmp_path)
    assert scores(tmp_path) == {"ada": sum(edition.check_points(page).values())}
    assert not leaked(page, notebook)
