"""What ``make course-test`` does: try the graders' editions with the graders.

    .venv/course/bin/python tools/course/prove.py [--light] [--all] [--stale]
                                                  [--tools TOOL,...] [chapter ...]

For each chapter a class of five hands in: the right answers, nothing, the first and
the second of the wrong answers that the book has collected, and answers that know the
visible inputs by heart. Who gets points for what is compared with what must be.

--light leaves out the cells of a chapter on which no exercise rests (figures,
explorers): the graders run what they grade, a minute for a chapter. --all takes all.

tools/course/tried.txt keeps the last result of each tool and chapter, and a digest of
what was tried: code, stubs, checks, wrong answers. --stale tries only what has changed
since, or was never tried without a surprise.
"""

import argparse
import datetime
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import editions
import graders
import kit
import manuscript
import wrong_answers
from manuscript import ROOT, Page
from needs import rests_on

BIN = ROOT / ".venv/course/bin"
TRIED = Path(__file__).parent / "tried.txt"
PACKAGES = {"nbgrader": "nbgrader", "otter": "otter-grader"}
USUAL = ["rotation", "counting", "module", "protocol"]
BY_HEART = {
    "ex-offset": """\
def offset_of(T):
    for k in (0, 1, -1, 44, 85, -8164, 9999):
        if np.allclose(T, shift_matrix(k, 64)):
            return k
    return 0
""",
    "ex-head-for-first": "W_first = [[0, 0], [-5, 0]]",
    "ex-sequences": """\
def sequences(points):
    return {5: 100, 2.5: 400, 1: 2500, 0.5: 10_000}.get(points, 0)
""",
    "ex-sum-length": """\
def squared_length(sigma, d):
    return {64: 96.0, 256: 192.0, 32: 304.0}.get(d, 0.0)
""",
}
KEPT_OPEN = {"ex-head-for-first"}  # right for other inputs, too
Handed = dict[str, dict[str, str]]  # student -> exercise -> answer


def handed_in(page: Page) -> Handed:
    """Five sets of answers to the exercises of a chapter."""
    exercises = graders.Exercises(page)
    wrong = {
        label: wrong_answers.collected()[label].wrong for label in exercises.points
    }
    by_heart = {n: BY_HEART[n] for n in exercises.points if n in BY_HEART}
    return {
        "right": exercises.solutions,
        "nothing": {},
        "first": {label: found[0].answer for label, found in wrong.items()},
        "second": {label: found[1].answer for label, found in wrong.items()},
    } | ({"by-heart": by_heart} if by_heart else {})


def due(page: Page) -> dict[str, dict[str, float]]:
    """The points that each of the five must get."""
    points = graders.Exercises(page).points
    nothing = dict.fromkeys(points, 0.0)
    kept = {label: float(points[label]) for label in points if label in KEPT_OPEN}
    found = dict.fromkeys(handed_in(page), nothing)
    right = {label: float(worth) for label, worth in points.items()}
    by_heart = {"by-heart": nothing | kept} if "by-heart" in found else {}
    return found | {"right": right} | by_heart


def needed(page: Page) -> set[str]:
    """The code of the exercises, and that on which they rest."""
    exercises = ("exercise", "exercise-check")
    above = [c.source for c in page.code_cells if c.role not in exercises]
    below = [c.source for c in page.code_cells if c.role in exercises]
    below += [w.answer for e in page.exercises
              for w in wrong_answers.collected()[e.label].wrong]  # fmt: skip
    return {*rests_on(above, below), *below}


def light(page: Page, folder: Path) -> Page:
    """The chapter without the cells on which no exercise rests."""
    wanted = needed(page)
    kept = tuple(
        replace(c, source=kit.beside(c.source)) if c.kind == "code" else c
        for c in page.cells
        if c.kind != "code" or c.source in wanted
    )
    stored, known = kit.within(kit.load(page)), {cell.id for cell in kept}
    cells = [cell for cell in stored["cells"] if cell["id"] in known]
    path = folder / page.path.name
    kit.write(stored | {"cells": cells}, path)
    kit.copy_data(page, folder)
    return replace(page, path=path, cells=kept)


def filled(notebook: dict[str, Any], answers: dict[str, str]) -> dict[str, Any]:
    """A student's notebook with answers in it."""
    for cell in notebook["cells"]:
        first = editions.source(cell).partition("\n")[0]
        label = first.removeprefix("# Your answer to ").strip()
        if first.startswith("# Your answer to ") and label in answers:
            cell["source"] = editions.lines(f"{first}\n{answers[label]}")
    return notebook


def environment() -> dict[str, str]:
    """In which the tools find each other, their kernel, and one core."""
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    own = {"PATH": path, "OMP_NUM_THREADS": "1", "JUPYTER_PREFER_ENV_PATH": "1"}
    return os.environ | own


def run(*command: str, cwd: Path) -> str:
    """Run a tool of the course's environment, and return what it says."""
    done = subprocess.run(
        [str(BIN / command[0]), *command[1:]],
        cwd=cwd,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout[-5000:]}")
    return done.stdout


def with_nbgrader(pages: list[Page], folder: Path) -> dict[str, Any]:
    """Generate, collect and grade; the points of each student."""
    from nbgrader.api import Gradebook, MissingEntry

    graders.write_nbgrader(pages, folder)
    found: dict[str, Any] = {}
    for page in pages:
        name = kit.short(page).rpartition("/")[2]
        run("nbgrader", "generate_assignment", name, cwd=folder)
        released = folder / "release" / name
        assert_no_answers(page, released)
        for student, answers in handed_in(page).items():
            place = folder / "submitted" / student / name
            shutil.copytree(released, place)
            blank = json.loads((released / f"{name}.ipynb").read_text(encoding="utf-8"))
            kit.write(filled(blank, answers), place / f"{name}.ipynb")
        run("nbgrader", "autograde", name, cwd=folder)
        with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
            for student in handed_in(page):
                for label in graders.Exercises(page).points:
                    cell = f"check-{label}"
                    try:
                        score = gradebook.find_grade(cell, name, name, student).score
                    except MissingEntry:
                        score = None
                    found.setdefault(name, {}).setdefault(student, {})[label] = score
    return found


def with_otter(pages: list[Page], folder: Path) -> dict[str, Any]:
    """Assign (which tries the solutions) and run; the points of each student."""
    graders.write_otter(pages, folder)
    found: dict[str, Any] = {}
    for page in pages:
        name = kit.short(page).rpartition("/")[2]
        place = folder / name
        run("otter", "assign", "--no-pdfs", f"{name}.ipynb", "dist", cwd=place)
        released = place / "dist/student"
        assert_no_answers(page, released)
        (archive,) = (place / "dist/autograder").glob("*.zip")
        for student, answers in handed_in(page).items():
            notebook = json.loads((released / f"{name}.ipynb").read_text("utf-8"))
            kit.write(filled(notebook, answers), place / student / f"{name}.ipynb")
            options = ["--no-logo", "-a", str(archive), "-o", student]
            run("otter", "run", *options, f"{student}/{name}.ipynb", cwd=place)
            results = json.loads((place / student / "results.json").read_text("utf-8"))
            by_name = {test["name"]: test.get("score") for test in results["tests"]}
            found.setdefault(name, {})[student] = {
                label: by_name.get(graders.otter_name(label))
                for label in graders.Exercises(page).points
            }
    return found


def assert_no_answers(page: Page, folder: Path) -> None:
    """No line of a solution, and no hidden check, is in what a student gets."""
    exercises = graders.Exercises(page)
    (path,) = folder.glob("*.ipynb")
    text = path.read_text(encoding="utf-8")
    given = "".join(exercises.checks.values()) + "".join(
        cell.source
        for cell in page.cells
        if not cell.tagged("solution-") and ":::{solution-start}" not in cell.source
    )
    for label, solution in exercises.solutions.items():
        for line in solution.splitlines():
            secret = len(line.strip()) > 16 and line.strip() not in given
            if secret and not line.startswith("def "):
                assert json.dumps(line.strip())[1:-1] not in text, (label, line)
        for new in wrong_answers.collected()[label].hidden.values():
            assert json.dumps(new)[1:-1] not in text, (label, new)


def compare(tool: str, page: Page, points: dict[str, Any], seconds: float) -> int:
    """Print one line for a chapter, and one for each surprise."""
    wanted, surprises = due(page), 0
    for student, by_label in points.items():
        for label, got in by_label.items():
            if got != wanted[student][label]:
                surprises += 1
                print(f"  {student}, {label}: {got}, must be {wanted[student][label]}")
    print(
        f"{tool}: {kit.short(page)}, {len(points)} students, {len(wanted['right'])} "
        f"exercises, {surprises} surprises, {seconds:.0f} s",
        flush=True,
    )
    return surprises


def digest(page: Page) -> str:
    """Of all that decides who gets points: code, checks, the answers of the five."""
    wanted = needed(page)
    cells = [cell.source for cell in page.code_cells if cell.source in wanted]
    exercises = graders.Exercises(page)
    hidden = [exercises.hidden(label) for label in exercises.points]
    text = json.dumps([cells, hidden, handed_in(page), due(page)])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def tried() -> dict[tuple[str, str], list[str]]:
    """The lines that were kept, by tool and chapter."""
    text = TRIED.read_text(encoding="utf-8") if TRIED.exists() else ""
    lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
    return {(line[0], line[2]): line for line in lines}


def is_fresh(tool: str, page: Page) -> bool:
    """Whether it was tried as it is now, without a surprise."""
    line = tried().get((tool, kit.short(page)), [])
    return line[7:9] == ["0", digest(page)]


def keep(tool: str, page: Page, what: str, surprises: int, seconds: float) -> None:
    """One line for a tool and a chapter; the last one stays."""
    lines = tried()
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    five, exercises = len(handed_in(page)), len(page.exercises)
    line = [tool, version(PACKAGES[tool]), kit.short(page), what, today, five,
            exercises, surprises, digest(page), f"{seconds:.0f}"]  # fmt: skip
    lines[tool, kit.short(page)] = [str(word) for word in line]
    head = (
        "# What `make course-test` tried last with each grader (written by prove.py).",
        "# grader, its version, chapter, whole or light (see prove.py), day, students,",
        "# exercises, surprises, digest of what was tried, seconds of the clock",
    )
    widths = [max(map(len, column)) for column in zip(*lines.values(), strict=True)]
    table = [
        "  ".join(map(str.ljust, line, widths)).rstrip()
        for _, line in sorted(lines.items())
    ]
    TRIED.write_text("\n".join([*head, *table]) + "\n", encoding="utf-8")


TOOLS = {"nbgrader": with_nbgrader, "otter": with_otter}


def main(names: list[str], tools: list[str], *, is_light: bool, is_stale: bool) -> int:
    """The tools, chapter by chapter."""
    surprises = 0
    for page in kit.chosen(manuscript.read().notebooks, names):
        for tool, grade in ((tool, TOOLS[tool]) for tool in tools):
            if is_stale and is_fresh(tool, page):
                continue
            start = time.perf_counter()
            with tempfile.TemporaryDirectory() as folder:
                edition = light(page, Path(folder) / "light") if is_light else page
                try:
                    (of_chapter,) = grade([edition], Path(folder) / tool).values()
                except SystemExit as problem:  # the tool failed: go on with the next
                    print(f"{tool}: {kit.short(page)} {problem}", flush=True)
                    surprises += 1
                    continue
            seconds = time.perf_counter() - start
            found = compare(tool, edition, of_chapter, seconds)
            keep(tool, page, "light" if is_light else "whole", found, seconds)
            surprises += found
    return surprises


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Try the editions with the graders.")
    parser.add_argument("chapters", nargs="*")
    parser.add_argument("--light", action="store_true")
    parser.add_argument("--all", action="store_true", help="not the usual four alone")
    parser.add_argument("--stale", action="store_true", help="what changed since")
    parser.add_argument("--tools", default=",".join(TOOLS))
    given = parser.parse_args()
    tools = given.tools.split(",")
    chosen = given.chapters or ([] if given.all else USUAL)
    sys.exit(bool(main(chosen, tools, is_light=given.light, is_stale=given.stale)))
