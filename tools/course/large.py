"""What ``make course-report FOLDER=... GRADER=nbgrader`` does: let a grader grade.

    .venv/course/bin/python tools/course/large.py FOLDER nbgrader|otter
                            [--jobs N] [--seconds N] [--minutes N] [--light]
                            [chapter ...]

FOLDER is what report.py takes: a notebook a student, or a folder a student, whatever
the files are called. The cells that a student wrote are laid into a fresh copy of the
notebook which the grader hands out, so that a lost id, a lost tag or another name of
the file costs nothing; a file that cannot be read has its row and goes no further. Then
the students of a chapter are cut into shares, and several shares at a time go through
``nbgrader autograde``, or notebook by notebook through otter (many.py).
FOLDER/report.csv has the columns of report.py.

What is done is kept in FOLDER/.grader, share by share: after a stop (--minutes: begin
no share later than that) the same command goes on. --seconds is the time of one cell
for nbgrader, and four times that of one notebook for otter, which has no limit of its
own. --light leaves out the cells of a chapter on which no exercise rests (prove.py).
"""

import argparse
import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import from_browser
import graders
import kit
import prove
import report
import stubs
import worker
from manuscript import Page
from report import Limits, Row, Whose

MANY = Path(__file__).parent / "many.py"
SHARE = 10  # students
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
Said = dict[str, tuple[float, str]]  # exercise -> points, message
Kept = dict[str, Any]  # students -> Said, or why there is none; seconds


@dataclass(frozen=True)
class Job:
    """The students of a chapter that go through a grader together."""

    page: Page
    handed_in: dict[str, Path]  # student -> the notebook
    master: Path  # what the grader made of the chapter
    place: Path  # for this share alone
    seconds: int  # of a cell

    @property
    def name(self) -> str:
        """Of the assignment."""
        return kit.short(self.page).rpartition("/")[2]

    @property
    def ids(self) -> dict[str, str]:
        """A name for each student at which no tool takes offence."""
        return {student: f"s{n}" for n, student in enumerate(self.handed_in)}


def laid(notebook: dict[str, Any], page: Page, fresh: dict[str, Any]) -> dict[str, Any]:
    """A student's own cells, in a fresh copy of what the grader hands out."""
    recipe = report.plan(kit.short(page), Limits(), Whose(""))
    above: dict[str, list[str]] = {}
    answers, loose = dict[str, str](), list[str]()
    for label, text in worker.own_cells(notebook, recipe):
        if label:
            answers[label] = text.removeprefix(first(label)).lstrip("\n")
            above.setdefault(label, []).extend(loose)
            loose = []
        else:
            loose.append(text)
    cells = []
    for cell in prove.filled(fresh, answers)["cells"]:
        label = "".join(cell["source"]).partition("\n")[0].removeprefix(first(""))
        cells += [own(text) for text in above.get(label, [])]
        cells.append(cell)
    return fresh | {"cells": cells + [own(text) for text in loose]}


def first(label: str) -> str:
    """The line by which an answer is known."""
    return f"{worker.ANSWER}{label}"


def own(text: str) -> dict[str, Any]:
    """A cell beside the answers."""
    name = f"own-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    return {"cell_type": "code", "execution_count": None, "id": name,
            "metadata": {}, "outputs": [], "source": text}  # fmt: skip


def lay(job: Job, fresh: Path, to: Callable[[str], Path]) -> None:
    """All of a share; to(student) is the path that the grader wants."""
    blank = json.loads(fresh.read_text(encoding="utf-8"))
    for student, path in job.handed_in.items():
        copy = json.loads(json.dumps(blank))
        kit.write(laid(report.read(path), job.page, copy), to(job.ids[student]))


def nbgrader_master(page: Page, place: Path) -> None:
    """A course folder with one assignment, as it was handed out."""
    graders.write_nbgrader([page], place)
    name = kit.short(page).rpartition("/")[2]
    prove.run("nbgrader", "generate_assignment", name, cwd=place)


def with_nbgrader(job: Job) -> dict[str, Said | str]:
    """The points and messages of each student, or why there are none.

    Each share has a gradebook of its own: SQLite has one writer at a time.
    """
    from nbgrader.api import Gradebook, MissingEntry

    name, place = job.name, job.place
    shutil.copytree(job.master, place)
    with (place / "nbgrader_config.py").open("a", encoding="utf-8") as file:
        file.write(f"c.ExecutePreprocessor.timeout = {job.seconds}\n")
        file.write(f"c.Execute.timeout = {job.seconds}\n")
    fresh = place / "release" / name / f"{name}.ipynb"
    lay(job, fresh, lambda who: place / "submitted" / who / name / f"{name}.ipynb")
    log = call("nbgrader", "autograde", name, place=place)
    found: dict[str, Said | str] = {}
    with Gradebook(f"sqlite:///{place}/gradebook.db") as gradebook:
        for student, who in job.ids.items():
            path = place / "autograded" / who / name / f"{name}.ipynb"
            if not path.exists():  # nbgrader took it back: the kernel died, or worse
                found[student] = f"nbgrader gave up: {reason(log, f'/{who}/')}"
                continue
            said = in_notebook(json.loads(path.read_text(encoding="utf-8")))
            points: Said = {}
            for label in graders.Exercises(job.page).points:
                cell = f"check-{label}"
                try:
                    got = gradebook.find_grade(cell, name, name, who).score or 0.0
                except MissingEntry:
                    got = 0.0
                points[label] = (got, said.get(cell, ""))
            found[student] = points
    return found


def in_notebook(graded: dict[str, Any]) -> dict[str, str]:
    """The first error below each cell that nbgrader knows."""
    return {
        cell["metadata"]["nbgrader"]["grade_id"]: problem(output)
        for cell in graded["cells"]
        if "nbgrader" in cell["metadata"]
        for output in cell.get("outputs", [])[::-1]
        if output["output_type"] == "error"
    }


def problem(output: dict[str, Any]) -> str:
    """As report.py says it."""
    kind, text = output["ename"], str(output["evalue"])
    return text if kind == "AssertionError" else f"{kind}: {text}"


def otter_master(page: Page, place: Path) -> None:
    """What ``otter assign`` makes."""
    graders.write_otter([page], place)
    name = kit.short(page).rpartition("/")[2]
    command = ("otter", "assign", "--no-pdfs", f"{name}.ipynb", "dist")
    prove.run(*command, cwd=place / name)


def with_otter(job: Job) -> dict[str, Said | str]:
    """The same by otter, a notebook at a time."""
    dist = job.master / job.name / "dist"
    (archive,) = (dist / "autograder").glob("*.zip")
    fresh = dist / "student" / f"{job.name}.ipynb"
    lay(job, fresh, lambda who: job.place / who / f"{job.name}.ipynb")
    folders = [str(job.place / who) for who in job.ids.values()]
    limit = str(4 * job.seconds)
    call("python", str(MANY), str(archive), limit, *folders, place=job.place)
    found: dict[str, Said | str] = {}
    for student, who in job.ids.items():
        results = job.place / who / "results.json"
        if not results.exists():
            log = results.with_name("log.txt").read_text("utf-8", errors="replace")
            found[student] = f"otter gave up: {reason(log, '')}"
            continue
        tests = json.loads(results.read_text(encoding="utf-8"))["tests"]
        by_name = {test["name"]: test for test in tests}
        found[student] = {
            label: told(by_name.get(graders.otter_name(label), {}))
            for label in graders.Exercises(job.page).points
        }
    return found


def told(test: dict[str, Any]) -> tuple[float, str]:
    """The points, and the message of the assertion that failed."""
    text = COLOUR.sub("", str(test.get("output", "")))
    last = re.findall(r"^\s*(?:(?:AssertionError: )|(?=\w+(?:Error|Interrupt): ))(.+)$",
                      text, re.MULTILINE)  # fmt: skip
    return float(test.get("score") or 0), last[0] if last else ""


def reason(log: str, where: str) -> str:
    """The last line of a log that names an error, after the place that is given."""
    part = log[log.rfind(where) :] if where in log else log
    lines = [line for line in COLOUR.sub("", part).splitlines() if line.strip()]
    named = [line for line in lines if re.search(r"Error|died|limit", line)]
    return (named or lines or ["no word"])[-1].strip()[:200]


def call(*command: str, place: Path) -> str:
    """Run a tool, whatever comes of it; its log."""
    done = subprocess.run(
        [str(prove.BIN / command[0]), *command[1:]],
        cwd=place,
        env=prove.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.stdout.decode(errors="replace")


GRADERS = {
    "nbgrader": (nbgrader_master, with_nbgrader),
    "otter": (otter_master, with_otter),
}


def sorted_in(folder: Path, made: Path) -> tuple[dict[str, dict[str, Path]], list[Row]]:
    """Chapter -> student -> file, and a row for each file that has no chapter."""
    chapters: dict[str, dict[str, Path]] = {}
    rows = []
    for path, student in report.submissions(folder) + from_browser.notebooks(
        folder, made
    ):
        try:
            chapter = report.chapter_of(report.read(path), path)
            why = "no chapter of this book"
        except (ValueError, AttributeError, TypeError) as problem:
            chapter, why = "", str(problem)[:300]
        if not chapter:
            rows.append(Row(student, "", "", 0, 0, why, path.name))
        elif chapters.setdefault(chapter, {}).setdefault(student, path) != path:
            why = "a second notebook of the same chapter"
            rows.append(Row(student, chapter, "", 0, 0, why, path.name))
    return chapters, rows


def known(page: Page, share: dict[str, Path]) -> str:
    """A name for a share: another one if an answer or the chapter was changed."""
    found = hashlib.sha256(prove.digest(page).encode())
    for student, path in share.items():
        found.update(student.encode() + path.read_bytes())
    return found.hexdigest()[:16]


def shares(
    chapters: dict[str, dict[str, Path]], work: Path, given: argparse.Namespace
) -> list[Job]:
    """The students, cut up; where the masters and the results of each are."""
    jobs = []
    for chapter, handed_in in chapters.items():
        page, students = report.chapters()[chapter], sorted(handed_in)
        place = work / chapter.replace("/", "-")
        kind = "light" if given.light else "whole"
        master = place / f"{kind}-{prove.digest(page)}"
        if given.light:
            page = prove.light(page, place / "light")
        for start in range(0, len(students), SHARE):
            share = {who: handed_in[who] for who in students[start:][:SHARE]}
            name = f"{kind}-{known(page, share)}"
            jobs.append(Job(page, share, master, place / name, given.seconds))
    return jobs


def grade(job: Job, tool: str, until: float) -> Kept | None:
    """What is kept of a share; None if there was no time to begin."""
    kept = job.place.with_suffix(".json")
    if finished(job):
        before: Kept = json.loads(kept.read_text(encoding="utf-8"))
        return before
    if time.monotonic() > until:
        return None
    shutil.rmtree(job.place, ignore_errors=True)
    begun = time.monotonic()
    found = {
        "students": GRADERS[tool][1](job),
        "seconds": time.monotonic() - begun,
    }
    kit.write(found, kept)
    shutil.rmtree(job.place)
    return found


def finished(job: Job) -> bool:
    """Whether its results are kept."""
    return job.place.with_suffix(".json").exists()


def rows_of(job: Job, found: Kept) -> list[Row]:
    """The rows of a share."""
    rows, chapter = [], kit.short(job.page)
    for student, path in job.handed_in.items():
        told = found["students"][student]
        for exercise in job.page.exercises:
            worth = stubs.points(exercise.title)
            gave_up = isinstance(told, str)
            got, message = (0, told) if gave_up else told[exercise.label]
            said = " ".join(message.split())[:300] or ("right" if got else "no message")
            rows.append(
                Row(student, chapter, exercise.label, int(got), worth, said, path.name)
            )
    return rows


def main() -> None:
    """Sort, share out, grade, write."""
    parser = argparse.ArgumentParser(description="Grade a folder with a grader.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("grader", choices=GRADERS)
    parser.add_argument("chapters", nargs="*")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--minutes", type=float, default=10_000)
    parser.add_argument("--light", action="store_true")
    given = parser.parse_args()
    if not given.folder.is_dir():
        raise SystemExit(f"There is no folder {str(given.folder)!r}: FOLDER=...")
    until = time.monotonic() + 60 * given.minutes
    work = (given.folder / ".grader" / given.grader).resolve()
    with tempfile.TemporaryDirectory() as made:
        chapters, rows = sorted_in(given.folder, Path(made))
        jobs = shares(chapters, work, given)
        for master, page in {job.master: job.page for job in jobs}.items():
            if not master.exists():
                new = master.with_suffix(".new")
                shutil.rmtree(new, ignore_errors=True)
                GRADERS[given.grader][0](page, new)
                new.rename(master)
        begun = resource.getrusage(resource.RUSAGE_CHILDREN)
        before = sum(len(j.handed_in) for j in jobs if finished(j))
        do = partial(grade, tool=given.grader, until=until)
        with ThreadPoolExecutor(given.jobs) as pool:
            graded = list(pool.map(do, jobs))
    done = [(job, found) for job, found in zip(jobs, graded, strict=True) if found]
    count = sum(len(job.handed_in) for job, _ in done)
    seconds = sum(found["seconds"] for _, found in done)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = ended.ru_utime + ended.ru_stime - begun.ru_utime - begun.ru_stime
    print(
        f"{given.grader}: {count} of {sum(len(j.handed_in) for j in jobs)} notebooks, "
        f"{seconds / max(count, 1):.1f} s of the clock for each, {given.jobs} at a time"
        f"; of them {count - before} in this run, "
        f"{used / max(count - before, 1):.1f} s of processors for each"
    )
    if len(done) < len(jobs):
        raise SystemExit("There is more to do: type the same command again.")
    rows += [row for job, found in done for row in rows_of(job, found)]
    rows += report.unread(given.folder, rows)
    asked = report.named(given.chapters)
    rows += report.absent(rows, report.roster(given.folder), asked)
    rows.sort(key=lambda row: (row.student, row.chapter))
    report.write(rows, given.folder / "report.csv")
    print(report.summary(rows))
    print(f"{given.folder / 'report.csv'}: {len(rows)} rows")


if __name__ == "__main__":
    main()
