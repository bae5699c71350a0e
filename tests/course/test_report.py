"""A class hands in what classes hand in; each exercise gets its row."""

import csv
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from course import from_browser, kit, report, variants, worker
from tests.course.test_attacks import ABOVE, PAGE, RIGHT, filled

LIMITS = report.Limits(seconds=30, cell_seconds=2)
ENDLESS = "while True:\n    try:\n        pass\n    except Exception:\n        pass"
GREEDY = "x = np.ones(10**12)"
CALLING = "import urllib.request as r\nr.urlopen('http://127.0.0.1:1')"
TAMPERING = "def close(a, b): return True\nfirst, second = 1, 1"
BY_HEART = """
def offset_of(T):
    for k in (0, 1, -1, 44, 85, -8164, 9999):
        if np.allclose(T, shift_matrix(k, 64)):
            return k
"""
LEAVING = "import os\nos._exit(0)"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The report on a class, by student and exercise."""
    folder, real = tmp_path_factory.mktemp("class"), report.plan
    bare = filled(RIGHT)
    for cell in bare["cells"]:  # copied from cell to cell into a new notebook
        cell["id"], cell["metadata"] = "n" + cell["id"][:8], {}
    bare["metadata"] = {}
    hasty = filled(RIGHT | {"ex-offset": ENDLESS, "ex-counting": GREEDY})
    hasty["cells"] = [c for c in hasty["cells"] if "ex-half-split" not in str(c)]
    leaves = RIGHT | {  # one answer ends the process; later ones rest on earlier lines
        "ex-half-split": LEAVING,
        "ex-net-shift": f"{RIGHT['ex-net-shift']}\nbegun = True",
        "ex-counting": f"{RIGHT['ex-counting']}\nassert begun",
    }
    tampers = {
        "ex-net-shift": TAMPERING,
        "ex-half-split": CALLING,
        "ex-offset": BY_HEART,
        "ex-counting": "def counting_shift(k:",
    }
    hands = {
        "ada/rotation": filled(RIGHT),
        "ben/Untitled (1)": bare,
        "cleo/rotation": hasty,
        "eva/rotation": filled(tampers),
        "fay/rotation": filled(leaves),
    }
    for name, notebook in hands.items():
        kit.write(notebook, folder / f"{name}.ipynb")
    (folder / "gil.ipynb").write_text('{"cells": [', encoding="utf-8")
    (folder / "hal.ipynb").write_text('{"cells": [], "metadata": {}}', encoding="utf-8")
    (folder / "jo").mkdir()
    (folder / "jo/homework.py").write_text("offset = 1", encoding="utf-8")
    (folder / "students.txt").write_text("ada\nivy\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "plan", lambda *its: real(*its) | {"above": [ABOVE]})
        rows = report.grade_all(folder, LIMITS, jobs=2)
    report.write(rows, folder)
    with (folder / "report.csv").open(encoding="utf-8") as file:
        assert report.protection() in next(file).replace('"', "")
        found: dict[str, dict[str, Any]] = {}
        for row in csv.DictReader(file):
            found.setdefault(row["student"], {})[row["exercise"]] = row
    return found


def points(table: dict[str, dict[str, Any]], student: str) -> list[int]:
    """In the order of the chapter."""
    return [int(table[student][e.label]["points"]) for e in PAGE.exercises]


def test_right_answers_get_all_points_whatever_the_file_is_called(table) -> None:
    """Also where names, ids and metadata are lost."""
    assert points(table, "ada") == points(table, "ben") == [3, 10, 10, 10]
    assert table["ada"]["ex-offset"]["message"] == "right"


def test_what_one_cell_does_costs_its_own_points_only(table) -> None:
    """Endless, greedy, missing, without Python, without a network, tampering."""
    assert points(table, "cleo") == [3, 0, 0, 0]
    assert table["cleo"]["ex-half-split"]["message"].startswith("missing")
    assert table["cleo"]["ex-offset"]["message"] == "stopped after 2 seconds"
    assert "MemoryError" in table["cleo"]["ex-counting"]["message"]
    assert points(table, "eva") == [0, 0, 0, 0]
    messages = [table["eva"][e.label]["message"] for e in PAGE.exercises]
    wanted = [
        "first: ",
        "there is no network",
        "with other inputs",
        "SyntaxError",
    ]
    for message, part in zip(messages, wanted, strict=True):
        assert part in message
    assert points(table, "fay") == [3, 0, 10, 10]
    assert "ended" in table["fay"]["ex-half-split"]["message"]


def test_nobody_is_left_out(table) -> None:
    """A broken file, another notebook, and who handed in nothing have rows."""
    assert "no notebook" in table["gil"][""]["message"]
    assert "no chapter" in table["hal"][""]["message"]
    assert table["ivy"]["ex-offset"]["message"] == "not handed in"
    assert table["jo"][""]["message"] == "homework.py is no notebook"
    assert len(report.absent([], ["ivy"], [kit.short(PAGE)])) == len(PAGE.exercises)


def test_where_answers_cannot_be_shut_in(tmp_path: Path, monkeypatch: Any) -> None:
    """That is said first; they are graded, and stopped, all the same."""
    monkeypatch.setattr(report, "is_apart", lambda: False)
    report.plan.cache_clear()
    kit.write(filled(RIGHT | {"ex-offset": LEAVING}), tmp_path / "ada.ipynb")
    rows = report.grade_all(tmp_path, LIMITS, jobs=1)
    assert sorted(row.points for row in rows if row.of) == [0, 3, 10, 10]
    assert report.protection().startswith("NOT PROTECTED")
    assert "may go on" in report.protection()
    report.plan.cache_clear()


def test_no_cell_of_the_table_is_a_formula(tmp_path: Path) -> None:
    """Neither in a message, nor in a name; and a name may be of another alphabet."""
    row = report.Row("=1+1", "c", "e", 0, 1, "-2 is wrong", "Jos\udce9")
    report.write([row], tmp_path)
    assert "'=1+1,c,e,0,1,'-2 is wrong,Jos?" in (tmp_path / "report.csv").read_text()


@pytest.fixture()
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing runs; each exercise says which file was graded."""

    def work(path: Path, chapter: str, *_: Any) -> tuple[dict[str, str], str]:
        labels = [e.label for e in report.chapters()[chapter].exercises]
        return dict.fromkeys(labels, f"graded {path.name}"), ""

    monkeypatch.setattr(report, "work", work)


def messages_of(rows: list[report.Row]) -> set[tuple[str, str]]:
    """What each student gets, without what is for the hand."""
    return {(row.student, row.message) for row in rows if row.of is not None}


@pytest.mark.usefixtures("quick")
def test_of_two_copies_the_latest_counts(tmp_path: Path) -> None:
    """By the time of the file, then by its number; the other has a row that says so."""
    times = {
        "ada/rotation.ipynb": 200,
        "ada/rotation (1).ipynb": 100,
        "ben.ipynb": 100,
        "ben (2).ipynb": 100,
        "cid.ipynb": 100,
        "cid (1).ipynb": 200,
    }
    for name, second in times.items():
        kit.write(kit.student(PAGE), tmp_path / name)
        os.utime(tmp_path / name, (second, second))
    (tmp_path / "students.txt").write_text("ada\nben\ncid\ncid (1)\n")
    rows = report.grade_all(tmp_path, LIMITS, jobs=2)
    later = "is a later copy of sinusoidal/rotation"
    assert messages_of(rows) == {
        ("ada", "graded rotation.ipynb"),
        ("ada", f"not graded: rotation.ipynb {later}"),
        ("ben", "graded ben (2).ipynb"),
        ("ben", f"not graded: ben (2).ipynb {later}"),
        ("cid", "graded cid.ipynb"),
        ("cid (1)", "graded cid (1).ipynb"),
    }
    assert sum(r.of or 0 for r in rows if r.student == "ada") == kit.worth(PAGE)


@pytest.mark.usefixtures("quick")
def test_a_file_of_the_site_has_its_time_and_nobody_is_overtaken(
    tmp_path: Path,
) -> None:
    """A notebook of a later day counts more; one with another's name does not."""
    answers = {"sinusoidal/rotation": {"ex-offset": {"answer": "x = 1"}}}
    saved = json.dumps({"format": from_browser.FORMAT, "answers": answers})
    group = variants.Class("t", "ab" * 32, ("ada", "ben"))
    noted = variants.noted(kit.student(PAGE), group, "ben")
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada/answers.json").write_text(saved)
    kit.write(kit.student(PAGE), tmp_path / "ada/mine.ipynb")
    for name in ("ben", "upload-17"):
        kit.write(noted, tmp_path / f"{name}.ipynb")
    for name in ("ada/answers.json", "ben.ipynb"):
        os.utime(tmp_path / name, (100, 100))
    messages = messages_of(report.grade_all(tmp_path, LIMITS, 1, group))
    assert messages >= {("ada", "graded mine.ipynb"), ("ben", "graded ben.ipynb")}
    assert not any("graded upload" in message for _, message in messages)


@pytest.mark.usefixtures("quick")
def test_a_proof_waits_for_a_person(tmp_path: Path) -> None:
    """A row of its own, without points, also of who handed in nothing."""
    kit.write(kit.student(PAGE), tmp_path / "ada.ipynb")
    (tmp_path / "students.txt").write_text("ada\nben\n")
    rows = report.grade_all(tmp_path, LIMITS, jobs=1)
    proofs = [row for row in rows if row.of is None]
    assert [(r.student, r.exercise) for r in proofs] == [
        ("ada", "ex-counting proof"),
        ("ben", "ex-counting proof"),
    ]
    assert {(r.points, r.message) for r in proofs} == {(None, "by hand")}
    assert "ada: 0 of 33 points" in report.summary(rows)


def test_what_is_given_back(tmp_path: Path) -> None:
    """A gradebook with a line for each student, and to each student a page alone."""
    rows = [
        report.Row("ada", "b/two", "ex-b", 4, 4, "right", "b.ipynb"),
        report.Row("ada", "a/one", "ex-a", 0, 3, "with other inputs: 7, not 8", "a"),
        report.Row("ada", "a/one", "ex-a proof", None, None, "by hand", ""),
        report.Row("Ada", "a/one", "ex-a", 3, 3, "right `or` not", "a.ipynb"),
        report.Row("../eve", "", "", 0, 0, "no notebook", "x.ipynb"),
    ]
    for _ in range(2):  # a second report goes over the first
        report.write(rows, tmp_path)
    with (tmp_path / "gradebook.csv").open(encoding="utf-8") as file:
        head, *lines = csv.reader(file)
    assert head[:4] == ["Student", "ID", "SIS Login ID", "Section"]
    assert head[4:] == ["ex-a of 3", "ex-a proof, by hand", "ex-b of 4", "Final Points"]
    assert lines == [
        ["ada", "", "ada", "", "0", "", "4", "4"],
        ["Ada", "", "Ada", "", "3", "", "", "3"],
        ["../eve", "", "../eve", "", "", "", "", "0"],
    ]
    pages = {path.name: path.read_text() for path in tmp_path.glob("feedback/*")}
    assert set(pages) == {"ada.md", "Ada_.md", "_eve.md"}
    assert pages["ada.md"].startswith("# ada: 4 of 7 points\n")
    assert "- ex-b: 4 of 4 points. `right`\n" in pages["ada.md"]
    assert "- ex-a proof: `by hand`\n" in pages["ada.md"]
    assert "wrong for others" in pages["ada.md"] and "7, not" not in pages["ada.md"]
    assert "Ada" not in pages["ada.md"] and "ada" not in pages["Ada_.md"]
    assert "- x.ipynb: `no notebook`" in pages["_eve.md"]
    assert report.unread(tmp_path, []) == []


@pytest.mark.usefixtures("quick")
def test_the_duration_is_printed_first(tmp_path, monkeypatch, capsys) -> None:
    """In minutes; then what was written."""
    for name in ("ada", "ben"):
        kit.write(kit.student(PAGE), tmp_path / f"{name}.ipynb")
    command = ["report.py", str(tmp_path), "--jobs", "1"]
    monkeypatch.setattr(report.sys, "argv", command)
    report.main()
    text = capsys.readouterr().out
    first = text.index("2 files, 1 at a time: about 1 minute, longer where")
    assert first < text.index("ada: 0 of 33") < text.index("gradebook.csv, feedback/")
    assert "about 27 minutes" in report.duration(400, 2)


@pytest.mark.parametrize("again", ["right", "stopped after 2 seconds"])
def test_who_ran_out_of_time_is_graded_again_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: str
) -> None:
    """When the others are done; what comes then counts."""
    labels = [e.label for e in PAGE.exercises]
    graded: list[str] = []

    def work(path: Path, *_: Any) -> tuple[dict[str, str], str]:
        graded.append(path.stem)
        late = path.stem == "ada" and graded.count("ada") == 1
        why = "stopped after 2 seconds" if late else again if graded[2:] else "wrong"
        return dict.fromkeys(labels, "" if why == "right" else why), ""

    monkeypatch.setattr(report, "work", work)
    for name in ("ada", "ben"):
        kit.write(kit.student(PAGE), tmp_path / f"{name}.ipynb")
    rows = report.grade_all(tmp_path, LIMITS, jobs=2)
    assert graded[2:] == ["ada"] and sorted(graded) == ["ada", "ada", "ben"]
    got = {(row.student, row.message) for row in rows if row.of}
    assert got == {("ada", again), ("ben", "wrong")}


def test_two_threads_never_parse_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python 3.11 may fail where they do, and the whole class is without a report."""
    inside: list[Path] = []
    at_once: list[int] = []
    real = report.plan

    def plan(*its: Any) -> dict[str, Any]:
        inside.append(tmp_path)
        time.sleep(0.2)
        at_once.append(len(inside))
        inside.pop()
        return real(*its)

    monkeypatch.setattr(report, "plan", plan)
    monkeypatch.setattr(report, "WORKER", Path("/dev/null"))
    for name in ("ada", "ben"):
        kit.write(kit.student(PAGE), tmp_path / f"{name}.ipynb")
    report.grade_all(tmp_path, LIMITS, jobs=2)
    assert at_once == [1, 1]


def test_only_lines_for_ipython_are_left_out() -> None:
    """A line of Python may begin with a percent sign, too."""
    answer = "def f(a):\n    return (a\n        % 7)"
    assert worker.without_magic(answer) == answer
    assert worker.without_magic("%matplotlib inline\nx = 1") == "x = 1"
    assert worker.without_magic("%time a, b = 9, -4") == "a, b = 9, -4"
    assert worker.without_magic("if 1:\n  %timeit -n 3 f()") == "if 1:\n  f()"
    assert worker.without_magic("%%time\na = 1").strip() == "a = 1"


def test_an_answer_is_found_by_its_line_its_tag_or_its_id() -> None:
    """Each of the three alone is enough."""
    cell = {"cell_type": "code", "id": "x", "metadata": {}, "source": ["f = 1"]}
    assert worker.label_of(cell, {"x": "a"}) == "a"
    assert worker.label_of(cell | {"metadata": {"tags": ["answer-b"]}}, {}) == "b"
    assert worker.label_of(cell | {"source": ["# Your answer to c\n", "1"]}, {}) == "c"
    assert worker.label_of(cell, {}) == ""
