"""What ``make course-report FOLDER=...`` does: grade a folder of notebooks.

    python course/report.py FOLDER [--class CLASS] [--jobs N] [--seconds N]
                                         [--megabytes N] [chapter ...]

FOLDER holds one notebook a student (FOLDER/ada.ipynb), or a folder a student
(FOLDER/ada/counting.ipynb); or what a student saved on the site with "Save all
answers" (FOLDER/ada.json). Of several copies of a chapter by a student the latest
counts, by the time of its file and then by its number, as in "counting (1).ipynb".
A file students.txt in it, one name a line, says who should have handed in, and chapters
may say what; without them it is what others handed in. What is written into FOLDER:

    report.csv      what the system does not protect from; then a line for each student
                    and exercise: points, and the check's words
    gradebook.csv   a line for each student, which Canvas and Moodle read
    feedback/       a page for each student, to be given back

A proof is read by you: its line is there, without points. Nothing that a student wrote
stops the others, and nothing gives points but a right answer: the checks run in one
process (worker.py), the answers in another, with limits of time, memory, files and
processes (answer.py). On Linux that has no network and sees no file but Python's; the
first line that is printed, and of report.csv, says what does not hold here. Whose time
ran out while others were graded is graded once more, alone.

With --class the exercises of variants.yml are graded with the numbers that were drawn
for this student, from the secret in CLASS (see variants.py).
"""

import argparse
import contextlib
import csv
import functools
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from course import from_browser
from course import graders
from course import kit
from website import manuscript
from website import stubs
from course import variants
from course import worker
from website.manuscript import ROOT, Page

WORKER = Path(__file__).parent / "worker.py"
OURS = {"students.txt", "report.csv", "gradebook.csv", "feedback"}
OURS |= {"expected.json", "class.yml", "key.csv"}
"""What no student handed in."""
PLANNING = threading.Lock()
"""Python 3.11 may fail where two threads parse at once (CPython's issue 106905)."""
NOTEBOOK_SECONDS = 8  # 4 to 12 were measured, those with PyTorch the longest
LATE = re.compile(r"stopped.* seconds\b")
PROOF = re.compile(r"\bProve, \d+ minutes?$")
CANVAS = ["Student", "ID", "SIS Login ID", "Section"]
"""How a table of Canvas begins; the first is all that Moodle needs."""


@dataclass(frozen=True)
class Row:
    """What came of one exercise of one student; a proof has no points yet."""

    student: str
    chapter: str
    exercise: str
    points: int | None
    of: int | None
    message: str
    file: str


@dataclass(frozen=True)
class Limits:
    """What one notebook may take."""

    seconds: int = 120  # of the clock, for one life of the process of its answers
    cell_seconds: int = 30  # for a cell, and for a check
    megabytes: int = 1000
    addresses: int = 6000  # megabytes: PyTorch asks for many and uses few


@functools.cache
def chapters() -> dict[str, Page]:
    """All of them, by their names within the book."""
    return {kit.short(page): page for page in manuscript.read().notebooks}


@dataclass(frozen=True)
class Whose:
    """Whose notebook it is; with a class, whose numbers it must have."""

    student: str
    group: variants.Class | None = None

    def for_(self, notebook: dict[str, Any]) -> "Whose":
        """By the file, or where the class has no such name by the notebook's note."""
        noted = str(notebook.get("metadata", {}).get("course", {}).get("student", ""))
        known = self.group.students if self.group else ()
        wanted = self.student not in known and noted in known
        return Whose(noted, self.group) if wanted else self


@functools.lru_cache(maxsize=256)
def plan(chapter: str, limits: Limits, whose: Whose) -> dict[str, Any]:
    """What a worker must know of a chapter: the master's cells."""
    page, drawn = chapters()[chapter], set[str]()
    if whose.group:
        page, numbers = variants.varied(page, whose.group, whose.student)
        drawn = set(numbers)
    exercises = graders.Exercises(page, drawn)
    ideas = [c for c in page.code_cells if c.role not in ("exercise", "exercise-check")]
    given = kit.student(page, variants.notebook(page))["cells"]
    return {
        "above": [kit.beside(cell.source) for cell in ideas],
        "answers": {c.id: n for c in page.code_cells for n in c.tagged("solution-")},
        "known": [c.id for c in page.code_cells if not c.tagged("solution-")],
        "texts": ["".join(c["source"]).strip() for c in given],
        "exercises": {
            label: {
                "check": exercises.checks[label],
                "hidden": exercises.hidden(label),
                "names": stubs.checked_names(solution, exercises.checks[label]),
            }
            for label, solution in exercises.solutions.items()
        },
        "apart": is_apart(),
        **asdict(limits),
    }


def chapter_of(notebook: dict[str, Any], path: Path) -> str:
    """Which chapter it is: by its note, its exercises, its cells, its name; or none."""
    noted: str = notebook.get("metadata", {}).get("course", {}).get("chapter", "")
    if noted in chapters():
        return noted
    text = json.dumps(notebook["cells"])
    ids = {cell.get("id") for cell in notebook["cells"]}

    def alike(chapter: str) -> tuple[int, int, bool]:
        page = chapters()[chapter]
        labels = sum(f"{e.label}" in text for e in page.exercises)
        cells = len(ids & {cell.id for cell in page.cells})
        return labels, cells, chapter.rpartition("/")[2] in path.stem

    best = max(chapters(), key=alike)
    return best if any(alike(best)) else ""


def read(path: Path) -> dict[str, Any]:
    """A notebook, or an error that says what is wrong with the file."""
    try:
        notebook: dict[str, Any] = json.loads(from_browser.text(path))
        for cell in notebook["cells"]:
            "".join(cell["source"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as problem:
        raise ValueError(f"no notebook: {type(problem).__name__}, {problem}") from None
    return notebook


@dataclass(frozen=True)
class Handed:
    """A file, whose it is, and of which chapter; or why it is not graded."""

    path: Path
    whose: Whose
    chapter: str = ""
    problem: str = ""
    noted: bool = False  # its note alone says whose it is

    @property
    def age(self) -> tuple[bool, int, int]:
        """The latest has the largest; nobody is overtaken by another's file."""
        number = from_browser.COPY.search(self.path.stem)
        second = int(self.path.lstat().st_mtime)
        return not self.noted, second, int(number[1]) if number else 0


def identified(path: Path, whose: Whose) -> Handed:
    """What a file is."""
    try:
        notebook = read(path)
        chapter = chapter_of(notebook, path)
    except (ValueError, AttributeError, TypeError) as problem:
        return Handed(path, whose, problem=str(problem)[:300])
    if not chapter:
        return Handed(path, whose, problem="no chapter of this book")
    its = whose.for_(notebook)
    return Handed(path, its, chapter, noted=its is not whose)


def latest(files: Iterable[Handed]) -> list[Handed]:
    """The same files; of a student's copies of a chapter the earlier say so."""
    files = list(files)
    last: dict[tuple[str, str], Handed] = {}
    for file in sorted((f for f in files if not f.problem), key=lambda file: file.age):
        last[file.whose.student, file.chapter] = file
    done = []
    for file in files:
        counts = last.get((file.whose.student, file.chapter), file)
        if not file.problem and counts is not file:
            why = f"not graded: {counts.path.name} is a later copy of {file.chapter}"
            file = replace(file, problem=why)
        done.append(file)
    return done


def grade(file: Handed, limits: Limits) -> list[Row]:
    """The rows of one file; whatever is in it, there is at least one."""
    student, chapter, name = file.whose.student, file.chapter, file.path.name
    if file.problem:
        return [Row(student, "", "", 0, 0, file.problem, name)]
    messages, end = work(file.path, chapter, limits, file.whose)
    rows = []
    for exercise in chapters()[chapter].exercises:
        worth = stubs.points(exercise.title)
        message = messages.get(exercise.label, end)
        got = 0 if message else worth
        text = " ".join((message or "right").split())[:300]
        rows.append(Row(student, chapter, exercise.label, got, worth, text, name))
    return rows


def work(
    path: Path, chapter: str, limits: Limits, whose: Whose
) -> tuple[dict[str, str], str]:
    """The messages of the exercises, and what to say of those that have none."""
    with PLANNING:
        recipe = plan(chapter, limits, whose)
    most = limits.seconds * (1 + len(recipe["exercises"]))  # each may end a process
    late = ""
    with tempfile.TemporaryDirectory() as folder:
        place, answers = Path(folder, "data"), Path(folder, "answers")
        place.mkdir()
        answers.mkdir()
        kit.copy_data(chapters()[chapter], place)
        with subprocess.Popen(
            [sys.executable, str(WORKER), str(path.resolve())],
            cwd=place,
            env=environment(place) | {"TMPDIR": str(answers)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,  # the examiner's own lines, and few
            stderr=subprocess.DEVNULL,
        ) as examiner:
            try:
                output, _ = examiner.communicate(json.dumps(recipe).encode(), most)
            except subprocess.TimeoutExpired:
                late = f"more than {most} seconds"
                examiner.terminate()  # it ends the answers with itself
                with contextlib.suppress(subprocess.TimeoutExpired):
                    examiner.wait(worker.GRACE)
                examiner.kill()
                output, _ = examiner.communicate()
            finally:
                for process in worker.processes():  # if it could not
                    with contextlib.suppress(OSError):
                        if os.fsencode(answers) in (process / "cmdline").read_bytes():
                            worker.end(int(process.name))
    lines = [json.loads(line) for line in output.splitlines() if line.endswith(b"}")]
    messages = {line["done"]: line["message"] for line in lines if "done" in line}
    ends = [line["end"] for line in lines if "end" in line]
    return messages, f"stopped: {late or (ends or ['the examiner ended'])[0]}"


@functools.cache
def is_apart() -> bool:
    """Whether Linux lets us shut an answer in."""
    with tempfile.TemporaryDirectory() as folder:
        tried = subprocess.run(
            [*worker.UNSHARE, sys.executable, str(WORKER.with_name("answer.py")),
             folder, str(WORKER.parent / "plans"), str(ROOT), "try"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, check=False,
        ) if shutil.which("unshare") else None  # fmt: skip
    return tried is not None and tried.returncode == 0


def protection() -> str:
    """What the system does and does not keep answers from."""
    if is_apart():
        return (
            "Answers run apart from the checks, without a network, and see no file but "
            "Python's. Not protected from: an answer can find out what the checks ask "
            "it, and may fill half a gigabyte with files beside its memory."
        )
    return (
        "NOT PROTECTED: this system cannot shut answers in. They run apart from the "
        "checks, but can read your files, write where you can, and use the network; a "
        "process that one of them starts in a session of its own may go on."
    )


def environment(home: Path) -> dict[str, str]:
    """Nothing of the lecturer's own, but what Python needs."""
    kept = {
        k: os.environ[k] for k in ("PATH", "SYSTEMROOT", "TMPDIR") if k in os.environ
    }
    return kept | {
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "MPLBACKEND": "agg",
        "MPLCONFIGDIR": str(ROOT / ".venv/matplotlib"),
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(WORKER.parent)]),
    }


def submissions(folder: Path) -> list[tuple[Path, str]]:
    """The files, each with its student: the folder below, or the file's name."""
    return [
        (path, from_browser.owner(folder, path))
        for path in manuscript.visible(folder, "**/*.ipynb")
    ]


def absent(
    rows: Iterable[Row], students: Iterable[str], expected: Collection[str] = ()
) -> list[Row]:
    """A row for what was expected, or others handed in, and somebody did not."""
    rows = list(rows)
    everybody = dict.fromkeys([*students, *(row.student for row in rows)])
    handed = {(row.student, row.chapter) for row in rows}
    return [
        Row(student, chapter, exercise.label, 0, stubs.points(exercise.title),
            "not handed in", "")
        for chapter in expected or dict.fromkeys(r.chapter for r in rows if r.chapter)
        for student in everybody
        if (student, chapter) not in handed
        for exercise in chapters()[chapter].exercises
    ]  # fmt: skip


def by_hand(rows: Iterable[Row]) -> list[Row]:
    """A row for each proof of each student, for the points that a person gives."""
    proofs = {
        exercise.label
        for page in chapters().values()
        for exercise in page.exercises
        if PROOF.search(exercise.title)
    }
    return [
        replace(row, exercise=f"{row.exercise} proof", points=None, of=None,
                message="by hand", file="")
        for row in rows if row.exercise in proofs
    ]  # fmt: skip


def unread(folder: Path, rows: Iterable[Row]) -> list[Row]:
    """A row for each file of a student who has none that could be a notebook."""
    known = {row.student for row in rows}
    found = []
    for path in manuscript.visible(folder, "**/*"):
        student = from_browser.owner(folder, path)
        first = path.relative_to(folder).parts[0]
        known_file = path.suffix == ".ipynb" or first in OURS or path.name in OURS
        if path.is_file() and student not in known and not known_file:
            why = f"{path.name} is no notebook"
            found.append(Row(student, "", "", 0, 0, why, path.name))
    return found


def named(names: list[str]) -> list[str]:
    """The chapters of some names, or none of no names."""
    pages = kit.chosen(chapters().values(), names) if names else []
    return [kit.short(page) for page in pages]


def grade_all(
    folder: Path,
    limits: Limits,
    jobs: int,
    group: variants.Class | None = None,
    expected: Collection[str] = (),
) -> list[Row]:
    """Grade all of it, several at a time."""
    listed = from_browser.roster(folder)
    students = [*listed, *(group.students if group else ())]
    with tempfile.TemporaryDirectory() as made, ThreadPoolExecutor(jobs) as pool:
        files = submissions(folder) + from_browser.notebooks(folder, Path(made))
        # One after the other: what one file takes to be read, two take twice.
        handed = latest(identified(path, Whose(name, group)) for path, name in files)
        graded = [*pool.map(lambda file: grade(file, limits), handed)]
        if jobs > 1 and len(handed) > 1:  # who was late beside others gets the machine
            for number, rows in enumerate(graded):
                if any(LATE.match(row.message) for row in rows):
                    graded[number] = grade(handed[number], limits)
        rows = [row for rows in graded for row in rows]
    rows += unread(folder, rows)
    rows += absent(rows, students, expected)
    rows += by_hand(rows)
    return sorted(rows, key=lambda row: (row.student, row.chapter))


def safe(value: Any) -> Any:
    """What no spreadsheet takes for a formula."""
    return f"'{value}" if str(value).startswith(("=", "+", "-", "@")) else value


def table(lines: Iterable[Iterable[Any]], path: Path) -> None:
    """For a spreadsheet."""
    with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
        csv.writer(file).writerows(map(safe, line) for line in lines)


def write(rows: list[Row], folder: Path) -> None:
    """All that is told: of each exercise, of each student, to each student."""
    head = [field.name for field in fields(Row)]
    lines = [[protection()], head, *(asdict(row).values() for row in rows)]
    table(lines, folder / "report.csv")
    table(gradebook(rows), folder / "gradebook.csv")
    pages = folder / "feedback"
    pages.mkdir(exist_ok=True)
    taken = set[str]()
    for student in dict.fromkeys(row.student for row in rows):
        name = re.sub(r"[^\w .@+-]", "_", student)[:80].strip(". ") or "_"
        while name.casefold() in taken:
            name += "_"
        taken.add(name.casefold())
        path = pages / f"{name}.md"
        path.unlink(missing_ok=True)
        text = feedback(student, [row for row in rows if row.student == student])
        path.write_text(text, encoding="utf-8", errors="replace")


def gradebook(rows: list[Row]) -> list[list[Any]]:
    """A line for each student, a column for each exercise, and their total."""
    of = {r.exercise: r.of for r in sorted(rows, key=lambda r: r.chapter) if r.exercise}
    heads = [
        f"{name}, by hand" if most is None else f"{name} of {most}"
        for name, most in of.items()
    ]
    # Canvas leaves out a last column of this name, which it counts itself.
    lines: list[list[Any]] = [[*CANVAS, *heads, "Final Points"]]
    for student in dict.fromkeys(row.student for row in rows):
        scores = {row.exercise: row.points for row in rows if row.student == student}
        total = sum(points or 0 for points in scores.values())
        lines.append([student, "", student, "", *(scores.get(n) for n in of), total])
    return lines


def feedback(student: str, rows: list[Row]) -> str:
    """What a student gets back: what the check said, and no hidden input of it."""
    got, of = sum(row.points or 0 for row in rows), sum(row.of or 0 for row in rows)
    text = [f"# {' '.join(student.split())}: {got} of {of} points"]
    for chapter in dict.fromkeys(row.chapter for row in rows):
        text.append(f"## {chapter or 'Files'}")
        for row in (row for row in rows if row.chapter == chapter):
            message = row.message.replace("`", "'")
            if message.startswith("with other inputs"):
                message = "right for the inputs of the check, wrong for others"
            points = "" if row.of is None else f" {row.points} of {row.of} points."
            points = points if row.exercise else ""
            text.append(f"- {row.exercise or row.file}:{points} `{message}`")
    return "\n\n".join(text) + "\n"


def summary(rows: list[Row]) -> str:
    """Who has how many points, and where most fail."""
    lines = []
    for student in dict.fromkeys(row.student for row in rows):
        theirs = [row for row in rows if row.student == student]
        got, of = sum(r.points or 0 for r in theirs), sum(r.of or 0 for r in theirs)
        lines.append(f"{student}: {got} of {of} points")
    failed: dict[str, int] = {}
    for row in rows:
        if row.exercise and row.of and row.points != row.of:
            failed[row.exercise] = failed.get(row.exercise, 0) + 1
    worst = sorted(failed, key=lambda label: -failed[label])[:5]
    lines += [f"{label}: {failed[label]} without the points" for label in worst]
    return "\n".join(lines)


def duration(files: int, jobs: int) -> str:
    """How long it will take, said before it begins."""
    minutes = math.ceil(files * NOTEBOOK_SECONDS / jobs / 60)
    return (
        f"{files} file{'s' * (files != 1)}, {jobs} at a time: about {minutes} "
        f"minute{'s' * (minutes != 1)}, longer where answers hang, by a minute each."
    )


def main() -> None:
    """Read the command, write the report."""
    parser = argparse.ArgumentParser(description="Grade a folder of notebooks.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("chapters", nargs="*")
    parser.add_argument("--class", dest="group", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=int, default=Limits.seconds)
    parser.add_argument("--megabytes", type=int, default=Limits.megabytes)
    given = parser.parse_args()
    handed_in = submissions(given.folder) + from_browser.files(given.folder)
    if not given.folder.is_dir() or not handed_in:
        raise SystemExit(
            f"There is no notebook below {str(given.folder)!r}: FOLDER=..."
        )
    limits = Limits(seconds=given.seconds, megabytes=given.megabytes)
    group = variants.read(given.group) if given.group else None
    expected = named(given.chapters)
    print(protection(), flush=True)
    print(duration(len(handed_in), given.jobs), flush=True)
    rows = grade_all(given.folder, limits, given.jobs, group, expected)
    write(rows, given.folder)
    print(summary(rows))
    print(f"{given.folder}: report.csv ({len(rows)} rows), gradebook.csv, feedback/")


if __name__ == "__main__":
    main()
