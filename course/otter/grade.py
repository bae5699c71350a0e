"""Grade each notebook of a folder, with no other in view, and in a limit of time.

    python grade.py dist/autograder/*.zip submissions

A student is a notebook, or a folder with one. It writes ``marks.csv``, a row a student,
and into ``feedback`` what a student is told: the points, and of what failed the hint.
What a submission can still do is in README.md.
"""

import ast
import csv
import json
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

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


def worths(autograder):
    """The points of each question that otter marks, from its tests."""
    with ZipFile(autograder) as archive:
        names = [name for name in archive.namelist() if name.startswith("tests/ex_")]
        lines = [ast.parse(archive.read(name)).body[-1] for name in names]
    tests = [ast.literal_eval(line.value) for line in lines]
    return {test["name"]: test["points"] for test in tests}


def trusted(results, worth):
    """What is in the results, and the scores, if the questions can have these."""
    if results.is_symlink() or not results.is_file():  # else reading might not end
        raise ValueError("otter left no results")
    tests = json.loads(results.read_text(encoding="utf-8"))["tests"]
    scores = {test["name"]: test["score"] for test in tests if "score" in test}
    possible = scores.keys() == worth.keys()
    if not possible or not all(0 <= scores[name] <= worth[name] for name in worth):
        raise ValueError("the results are not marks of these questions")
    return tests, scores


def graded(autograder, notebook, worth):
    """What otter says of a notebook: its tests, and the score of each question."""
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
        limits = {"stdin": subprocess.DEVNULL, "timeout": WHOLE}
        done = subprocess.run(command, cwd=work, capture_output=True, **limits)
        if done.returncode:
            raise ValueError(done.stderr.decode(errors="replace").splitlines()[-1])
        return trusted(out / "results.json", worth)


def told(tests, scores, worth):
    """A line for each question: its points, and the hint of what failed in view."""
    view = "".join(test["output"] for test in tests if "score" not in test)
    parts = {part: HINT.findall(text)[-1:] for part, text in PART.findall(view)}
    for name, score in scores.items():
        points = f"{name}: {score:g} of {worth[name]:g} points"
        yield ". ".join([points, *(hint[:200] for hint in parts.get(name, []))])


def main(autograder, folder):
    """Marks and feedback of all."""
    marks, feedback, worth = {}, Path("feedback"), worths(autograder)
    feedback.mkdir(exist_ok=True)
    for notebook in sorted(Path(folder).rglob("*.ipynb")):
        student = notebook.relative_to(folder).parts[0].removesuffix(".ipynb")
        try:
            tests, marks[student] = graded(autograder, notebook, worth)
            text = "\n".join(told(tests, marks[student], worth))
        except Exception as trouble:  # notebook and results are not ours: anything
            marks[student], text = {}, f"No marks, look at it yourself: {trouble!r}"
        print(f"{student}\n{text}\n")
        (feedback / f"{student}.txt").write_text(text + "\n", encoding="utf-8")
    names = sorted({name for row in marks.values() for name in row})
    with Path("marks.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["student", *names])
        table.writerows([who, *map(row.get, names)] for who, row in marks.items())


if __name__ == "__main__":
    main(*sys.argv[1:])
