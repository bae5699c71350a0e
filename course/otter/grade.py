"""Grade each notebook of a folder, where it sees itself alone, and in a limit of time.

    python grade.py dist/autograder/*.zip submissions

A student is a notebook, or a folder with one. It writes ``marks.csv``, a row a student,
and into ``feedback`` what a student is told: the points, and of what failed the hint.
"""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent))
from alone import alone

CELL, WHOLE = 60, 900  # seconds for a cell, and for a notebook
LIMIT = f"""\
import signal

def late(*_):
    raise TimeoutError("not done in {CELL} seconds")

def limit(seconds):
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)

signal.signal(signal.SIGALRM, late)
get_ipython().events.register("pre_run_cell", lambda *_: limit({CELL}))
get_ipython().events.register("post_run_cell", lambda *_: limit(0))
"""
PART = re.compile(r"^(\w+) results:(.*?)(?=^\w+ results:|\Z)", re.DOTALL | re.MULTILINE)
HINT = re.compile(r"^\s+\w+Error: (.+)$", re.MULTILINE)


def graded(autograder, notebook):
    """What otter says of a notebook: its questions, with points and words."""
    with TemporaryDirectory() as place:
        work, out = Path(place), Path(place, "out")
        out.mkdir()
        (work / "autograder.zip").write_bytes(Path(autograder).read_bytes())
        handed_in = json.loads(notebook.read_text(encoding="utf-8"))
        cell = {"cell_type": "code", "id": "limit", "metadata": {}, "outputs": []}
        handed_in["cells"].insert(0, cell | {"execution_count": None, "source": LIMIT})
        copy = work / "submission.ipynb"
        copy.write_text(json.dumps(handed_in), encoding="utf-8")
        otter = [sys.executable, "-m", "otter", "run", "-a", "autograder.zip"]
        command = [*alone(work, out, copy), *otter, "-o", "out", "submission.ipynb"]
        done = subprocess.run(command, cwd=work, capture_output=True, timeout=WHOLE)
        if done.returncode:
            raise ValueError(done.stderr.decode(errors="replace").splitlines()[-1])
        return json.loads((out / "results.json").read_text(encoding="utf-8"))["tests"]


def told(tests):
    """A line for each question: its points, and the hint of what failed in view."""
    view = "".join(test["output"] for test in tests if "max_score" not in test)
    parts = {part: HINT.findall(text)[-1:] for part, text in PART.findall(view)}
    for one in (test for test in tests if "max_score" in test):
        points = f"{one['name']}: {one['score']:g} of {one['max_score']:g} points"
        yield ". ".join([points, *(hint[:200] for hint in parts.get(one["name"], []))])


def main(autograder, folder):
    """Marks and feedback of all."""
    marks, feedback = {}, Path("feedback")
    feedback.mkdir(exist_ok=True)
    for notebook in sorted(Path(folder).rglob("*.ipynb")):
        student = notebook.relative_to(folder).parts[0].removesuffix(".ipynb")
        try:
            tests = graded(autograder, notebook)
            marks[student] = {t["name"]: t["score"] for t in tests if "score" in t}
            text = "\n".join(told(tests))
        except (ValueError, subprocess.TimeoutExpired) as trouble:
            marks[student], text = {}, f"No marks, look at it yourself: {trouble}"
        print(f"{student}\n{text}\n")
        (feedback / f"{student}.txt").write_text(text + "\n", encoding="utf-8")
    names = sorted({name for row in marks.values() for name in row})
    with Path("marks.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["student", *names])
        table.writerows([who, *map(row.get, names)] for who, row in marks.items())


if __name__ == "__main__":
    main(*sys.argv[1:])
