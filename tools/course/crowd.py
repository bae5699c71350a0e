"""A class that hands in what classes hand in, for a trial of the report.

    python tools/course/crowd.py FOLDER COUNT [chapter ...]    writes COUNT students
    python tools/course/crowd.py FOLDER --compare [GRADER]     after make course-report

Half of the students answer each exercise rightly, wrongly, or not at all, by lot; the
others do one thing more: see WAYS. FOLDER/expected.json keeps the points that each must
get, and for a wrong answer the hint; --compare holds report.csv against it. The lot has
a seed: same class again. With a grader what ends a process costs the whole notebook.
"""

import argparse
import csv
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import graders
import kit
import manuscript
import prove
import wrong_answers
from manuscript import Page

ENDLESS = "while True:\n    try:\n        pass\n    except Exception:\n        pass"
CELLS = {  # what one cell can do besides being wrong
    "endless": ENDLESS,
    "leaves": "import os\nos._exit(0)",
    "kills": "import os\nos.kill(os.getpid(), 9)",
    "greedy": "x = bytearray(10**12)",
    "deep": "def f(n):\n    return f(n + 1)\nf(0)",
    "unfinished": "def f(:\n    pass",
    "calls": "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:9')",
    "talks": "print('x' * 10**7)",
    "exits": "raise SystemExit",
    "stuck": "import time\ntime.sleep(10**6)",
    "asks": "input()",
}
ENDS = {  # what a grader does not outlive; the report does
    "": set[str](),
    "nbgrader": {"leaves", "kills"},
    "otter": {"leaves", "kills", "endless", "stuck"},
}
Notebook = dict[str, Any]


def same(notebook: Notebook) -> Notebook:
    """As it is."""
    return notebook


def bare(notebook: Notebook) -> Notebook:
    """Copied cell by cell into a new file: ids, tags and metadata are lost."""
    for number, cell in enumerate(notebook["cells"]):
        cell["id"], cell["metadata"] = f"new-{number}", {}
    return notebook | {"metadata": {}}


def from_colab(notebook: Notebook) -> Notebook:
    """Outputs of megabytes, sources as one string, magic lines in a cell of its own."""
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
        if cell["cell_type"] == "code":
            cell["outputs"] = [{"output_type": "stream", "text": "0" * 20_000}]
    magic = {"cell_type": "code", "metadata": {}, "source": "!ls\n%cd /\n"}
    return notebook | {"cells": [magic, *notebook["cells"]]}


WAYS: dict[str, Callable[[Notebook], Notebook]] = {
    "same": same,
    "bare": bare,
    "from colab": from_colab,
}
BROKEN = {  # files that are no notebook
    "cut off": b'{"cells": [{"cell_type": "code", "sou',
    "empty": b"",
    "a list": b"[1, 2]",
    "no cells": b'{"cells": 3, "metadata": {}}',
    "another book": b'{"cells": [], "metadata": {}, "nbformat": 4}',
    "odd cells": b'{"cells": [null, {"source": null}], "metadata": null}',
    "Latin-1": b"{\xe9",
}


def answers(
    page: Page, lot: random.Random
) -> tuple[dict[str, str], dict[str, int], dict[str, str]]:
    """By lot, and the points and hints for them."""
    exercises = graders.Exercises(page)
    given, points, hints = {}, {}, {}
    for label, worth in exercises.points.items():
        kind = lot.choice(["right", "right", "wrong", "nothing"])
        points[label] = worth if kind == "right" else 0
        if kind == "right":
            given[label] = exercises.solutions[label]
        elif kind == "wrong":
            wrong = lot.choice(wrong_answers.collected()[label].wrong)
            given[label], hints[label] = wrong.answer, wrong.hint
    return given, points, hints


def hand_in(page: Page, lot: random.Random, number: int, folder: Path) -> Any:
    """One student's folder; the points that are due, or why there are none."""
    place = folder / f"student-{number:03}"
    if number % 20 == 19:
        way = lot.choice(sorted(BROKEN))
        place.mkdir(parents=True)
        (place / "homework.ipynb").write_bytes(BROKEN[way])
        return {"way": way, "points": {}}
    given, points, hints = answers(page, lot)
    way, done = lot.choice(sorted(WAYS)) if number % 2 else "same", ""
    if number % 8 == 3:  # one cell goes wild; it costs its own points only
        done, label = [*CELLS][number // 8 % len(CELLS)], lot.choice(sorted(points))
        given[label], points[label] = CELLS[done], 0
        hints.pop(label, None)
    notebook = WAYS[way](prove.filled(kit.student(page), given))
    if number % 10 == 6:  # the cells of one exercise were deleted
        done, label = "gap", lot.choice(sorted(points))
        cells = [c for c in notebook["cells"] if label not in "".join(c["source"])]
        notebook, points[label] = notebook | {"cells": cells}, 0
        hints.pop(label, None)
    name = lot.choice(["homework", "Untitled (1)", "final_v2 copy", "Übung"])
    kit.write(notebook, place / f"{name if number % 3 == 0 else page.path.stem}.ipynb")
    chapter = kit.short(page)
    way = f"{way} {done}".strip()
    return {"way": way, "chapter": chapter, "points": points, "hints": hints}


def write(folder: Path, count: int, names: list[str]) -> None:
    """The class; its chapters in turn."""
    pages, lot = kit.chosen(manuscript.read().notebooks, names), random.Random(count)
    due = {
        f"student-{number:03}": hand_in(pages[number % len(pages)], lot, number, folder)
        for number in range(count)
    }
    text = json.dumps(due, indent=1, ensure_ascii=False)
    (folder / "expected.json").write_text(text, encoding="utf-8")
    print(f"{folder}: {count} students, {len(pages)} chapters")


def compare(folder: Path, grader: str) -> int:
    """Every student has rows, the points that are due, and the hints."""
    due = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    found: dict[str, dict[str, int]] = {name: {} for name in due}
    said: dict[str, dict[str, str]] = {name: {} for name in due}
    with (folder / "report.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["message"] != "not handed in":  # chapters that went to others
                found[row["student"]][row["exercise"]] = int(row["points"])
                said[row["student"]][row["exercise"]] = row["message"]
    surprises = hints = 0
    for name, wanted in due.items():
        points = wanted["points"] or {"": 0}
        ended = set(wanted["way"].split()) & ENDS[grader]
        if ended:
            points = dict.fromkeys(points, 0)
        missed = [
            f"{label} must say {hint!r}"
            for label, hint in wanted.get("hints", {}).items()
            if not ended and " ".join(hint.split()) not in said[name].get(label, "")
        ]
        hints += 0 if ended else len(wanted.get("hints", {}))
        if found[name] != points or missed:
            surprises += 1
            print(f"{name} ({wanted['way']}): {found[name]}, due {points}")
            told = [f"{label}: {text}" for label, text in said[name].items()]
            print("  " + "\n  ".join(told + missed))
    rows = sum(map(len, found.values()))
    print(f"{len(due)} students, {rows} rows, {hints} hints, {surprises} surprises")
    return surprises


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write or compare a trial class.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("count", type=int, nargs="?", default=200)
    parser.add_argument("chapters", nargs="*")
    parser.add_argument("--compare", choices=ENDS, nargs="?", const="")
    asked = parser.parse_args()
    if asked.compare is not None:
        raise SystemExit(bool(compare(asked.folder, asked.compare)))
    write(asked.folder, asked.count, asked.chapters)
