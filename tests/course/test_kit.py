"""The course kit: folders that are complete, and hold no answer meant for nobody."""

import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import nbformat
import pytest

import manuscript
import pe_lib
from course import assignments, build, exam, kit, mine, questions
from manuscript import ROOT, edition, sources, stubs, wrong_answers
from manuscript.pages import KEPT_FILE

BOOK = manuscript.read()
PAGES = [*BOOK.path_pages, *BOOK.model_pages]
SOME = ["rotation", "module", "protocol"]  # with NumPy alone, with torch, with data
ROTATION = BOOK.pages["book/sinusoidal/rotation"]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kit of three chapters."""
    folder = tmp_path_factory.mktemp("course")
    build.build(SOME, ["student", "instructor", "nbgrader"], folder)
    return folder


def text(*paths: Path, kind: str = "") -> str:
    """All cells of notebooks, or those of a kind, as one reads them."""
    cells = [c for path in paths for c in json.loads(path.read_text("utf-8"))["cells"]]
    return "\n\n".join(edition.source(c) for c in cells if kind in ("", c["cell_type"]))


def test_nothing_is_lost(tmp_path: Path) -> None:
    """What somebody put there, or changed, stops it before it writes anything."""
    make = partial(build.build, ["counting"], ["nbgrader", "questions"], tmp_path)
    make()
    make()
    before = (tmp_path / "nbgrader/README.md").stat().st_mtime_ns
    yours = "nbgrader/submitted/ada.ipynb", "questions/failures-counting.gift"
    (tmp_path / yours[0]).parent.mkdir()
    for name in yours:
        (tmp_path / name).write_text("Mine.", encoding="utf-8")
    with pytest.raises(SystemExit, match=rf"{', '.join(yours)}\. .* nothing was chang"):
        make()
    assert all((tmp_path / name).read_text("utf-8") == "Mine." for name in yours)
    assert (tmp_path / "nbgrader/README.md").stat().st_mtime_ns == before


def test_each_folder_is_complete(course: Path) -> None:
    """The library, the data, the pins; notebooks that Jupyter can read."""
    lab, torch = "jupyterlab==", "torch=="
    for folder in (course / "student", course / "instructor"):
        for name in ("pe_lib/__init__.py", "pe_lib/LICENSE", "LICENSE", "LICENSE-TEXT"):
            assert (folder / name).is_file()
        assert (folder / "experiments/data/training.csv").is_file()
        for name, has in (("", False), ("-torch", True)):
            pins = (folder / f"requirements{name}.txt").read_text("utf-8")
            assert pins.startswith("-c constraints.txt\nnumpy==") and "-e" not in pins
            assert lab in pins and (torch in pins) == has
        assert lab in (folder / "constraints.txt").read_text("utf-8")
        readme = (folder / "README.md").read_text("utf-8")
        assert pe_lib.__version__ in readme and "(pytorch/module.ipynb)* |" in readme
        worth = sum(stubs.points(one.title) for one in ROTATION.exercises)
        assert f"| {len(ROTATION.exercises)} | {worth} |" in readme
    assert not list(course.rglob("__pycache__"))
    found = sorted(course.rglob("*.ipynb"))
    assert len(found) == 4 * len(SOME)  # twice for students: with and without the page
    for path in found:
        nbformat.validate(nbformat.read(path, as_version=4))
    folder = course / "nbgrader"
    pins = (folder / "requirements.txt").read_text("utf-8").split()
    assert sum(pin.startswith(("numpy==", torch, "nbgrader==")) for pin in pins) == 3
    steps = (folder / "README.md").read_text("utf-8")
    assert "rotation" in steps and "NAME" not in steps
    for name in ("source/rotation/pe_lib/LICENSE", "alone.py", "Dockerfile"):
        assert (folder / name).is_file()


def test_what_a_chapter_reads_lies_beside_it(tmp_path: Path) -> None:
    """A kit of one chapter has its files, wherever in the book they are kept."""
    reading = [page for page in BOOK.notebooks if page.reads]
    for page in reading:
        kit.copy_data(page, folder := tmp_path / page.name)
        code = "\n".join(map(edition.source, kit.student(page)["cells"]))
        files = KEPT_FILE.findall(code)
        assert files and {place for place, _ in files} == {"data/"}, page.name
        assert all(list(folder.glob(f"data/{name}*")) for _, name in files), page.name
    assert len({path.parent for page in reading for path in page.reads}) > 1


def test_no_answer_is_in_a_folder_for_students(course: Path) -> None:
    """Instructors have solutions, wrong answers, hidden inputs, and the exam."""
    student, instructor = (
        text(*(course / part).rglob("*.ipynb")) for part in ("student", "instructor")
    )
    for page in kit.chosen(BOOK.notebooks, SOME):
        for label, solution in page.solutions.items():
            found = wrong_answers.collected()[label]
            wrong = [one.answer.rstrip() for one in found.wrong]
            hints = [f"The check says: “{one.hint}”" for one in found.wrong]
            hints += [f"becomes `{new}`" for new in found.hidden.values()]
            kept = [solution, *found.rubric]
            assert not [one for one in (*wrong, *hints, *kept) if one not in instructor]
            kept += [answer for answer in wrong if "\n" in answer]  # not: slope = 1
            assert not [one for one in kept if one in student]
    assert "Hidden check" not in student and "Likely wrong" not in student
    exams = sorted(str(path.relative_to(course)) for path in course.rglob("exam*"))
    assert exams == ["instructor/exam.md", "instructor/exam_paper.html"]


def test_links_are_whole(course: Path) -> None:
    """In each edition no link leads nowhere."""
    seen = 0
    for path in course.rglob("*.ipynb"):
        for _, address in sources.LINK.findall(text(path, kind="markdown")):
            file, _, anchor = address.partition("#")
            to = path.parent / file if file else path
            titles = re.findall(r"^#+ (.+)$", text(to, kind="markdown"), re.MULTILINE)
            assert not anchor or anchor in map(sources.fragment, titles), address
            seen += 1
    assert seen >= 8
    rotation = course / "student/sinusoidal/rotation.ipynb"
    assert "#No-position-in-the-matrix)" in text(rotation)


def test_a_student_runs_all_in_a_folder_elsewhere(course: Path) -> None:
    """Every cell, with the library of the folder; each exercise has its line."""
    code = text(course / "student/sinusoidal/rotation_exercises.ipynb", kind="code")
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=course / "student",
        env={"MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=True,
    )
    *_, total = lines = done.stdout.splitlines()
    assert done.stdout.count("not answered yet") == len(ROTATION.exercises)
    assert not [line for line in lines if line.startswith("✓")]
    assert total == f"0 of {sum(edition.check_points(ROTATION).values())} points so far"


def test_graders_get_all_points() -> None:
    """Each exercise is a graded cell and a question, worth its minutes, a proof too.

    The first and the last of a chapter can be asked alone, for other points, and no
    other exercise comes along.
    """
    hidden = 0
    for page in BOOK.notebooks:
        every = assignments.minutes(page)
        proofs = [one.label for one in page.exercises if "Prove," in one.title]
        assert [label for label, (_, proof) in every.items() if proof] == proofs
        minutes = {one.label: stubs.points(one.title) for one in page.exercises}
        assert {label: sum(points) for label, points in every.items()} == minutes
        ends = {*[*every][:1], *[*every][-1:]}
        for asked in (every, *({at: (1, 5 * (at in proofs))} for at in ends)):
            made = assignments.assignment(page, asked)["cells"]
            text = "\n".join(map(edition.source, made))
            notes = [c["metadata"].get("nbgrader", {}) for c in made]
            assert all(note["locked"] != note["solution"] for note in notes if note)
            worth = {n["grade_id"]: n["points"] for n in notes if n.get("grade")}
            answers = {n["grade_id"] for n in notes if n.get("solution")} - {*worth}
            assert answers == {f"answer-{label}" for label in asked}
            named = {n["grade_id"]: c for c, n in zip(made, notes, strict=True) if n}
            for label, (check, proof) in asked.items():
                assert worth.pop(f"check-{label}") == check
                assert edition.labels(named[f"check-{label}"], "raises-")  # and goes on
                assert worth.pop(f"proof-{label}", 0) == proof
                assert f"# {label}, {check} point{'s' * (check > 1)}" in text
                if proof:
                    assert edition.PROOF.format(points=proof) in text
                    assert kit.rubric(label).count("\n") == 1
                    assert kit.rubric(label) in text
            assert not worth
        hidden += sum(
            assignments.hidden(page, n) != it for n, it in page.checks.items()
        )
    assert 2 * hidden >= len(wrong_answers.collected())  # the others have one answer


def test_an_exam_asks_about_each_chapter_of_the_hour() -> None:
    """With an answer to each question, and marks; on paper those of ``mine.yml``."""
    text = exam.answers(BOOK.notebooks)
    assert all(f"## {kit.short(page)}, " in text for page in PAGES)
    assert text.count("*Answer.*") == text.count("## ") >= len(PAGES)
    assert "beyond/rotary" not in exam.answers(BOOK.path_pages)
    paper = exam.paper(BOOK.notebooks)
    assert "55 minutes, 26 points" in paper
    assert re.findall(r"<section><h2>(\d+)\.", paper) == [*"12345"]
    for one in mine.loaded("exam.yml"):
        assert sum(one["marks"].values()) == one["points"] and len(one["marks"]) > 1
        assert all(
            f"- {points}: {what}" in text for what, points in one["marks"].items()
        )
        assert one["answer"] in text and one["answer"] not in paper


def test_a_course_has_the_chapters_that_were_chosen(tmp_path: Path) -> None:
    """By name or by part; what is not there is named before a folder is begun."""
    pages = kit.chosen(BOOK.notebooks, ["failures", "rotary"])
    wanted = re.compile("failures/|beyond/rotary$")
    assert pages == [p for p in BOOK.notebooks if wanted.match(kit.short(p))]
    for names, part, named in (
        (["nonsense"], "student", "no chapter nonsense"),
        ([], "exam", "no part exam"),
        (["counting_deeper"], "nbgrader", "no exercises in these"),
    ):
        with pytest.raises(SystemExit, match=named):
            build.build(names, ["student", part], tmp_path)
    assert not list(tmp_path.iterdir())


def options(one) -> list[str]:
    """Those of a question, the right one first."""
    return [option for option, _ in (one["right"], *one["wrong"])]


def test_the_right_option_cannot_be_told_by_its_form() -> None:
    """It is the longest of its question in at most a third, and the shortest, too."""
    every = [one for asked in mine.loaded("questions.yml").values() for one in asked]
    for choose in (max, min):
        lengths = [[len(option) for option in options(one)] for one in every]
        told = [of for of in lengths if of[0] == choose(of) and of.count(of[0]) == 1]
        assert 3 * len(told) <= len(every), [choose.__name__, len(told)]
        assert all(max(of) <= 15 + min(of) for of in lengths)
    for one in every:
        ends = {option[-1] == "." for option in options(one)}
        assert len(ends) == 1 and len({*options(one)}) == len(options(one)) >= 3
        assert all(told.endswith(".") for _, told in (one["right"], *one["wrong"]))


def test_each_of_thirteen_pages_has_three_in_gift(tmp_path) -> None:
    """One right option each; marks in a sentence are escaped; all have feedback.

    Other pages have no questions, which nobody would find, and a quiz comes before.
    """
    questions.write(BOOK.notebooks, tmp_path)
    names = [questions.BEFORE, *map(kit.short, PAGES)]
    assert [*mine.loaded("questions.yml")] == names
    files = {path.stem: path.read_text("utf-8") for path in tmp_path.glob("*.gift")}
    assert files.keys() == {name.replace("/", "-") for name in names}
    for name, text in files.items():
        category, *asked = re.sub(r"\\[~=#{}:\\]", "", text).strip().split("\n\n")
        assert category.startswith("$CATEGORY: ")
        assert len(asked) == (5 if name == questions.BEFORE else 3)
        for one in asked:
            option = r"[^#\n]+#[^#\n]+\n"
            form = rf"::[^:]+ \d::[^={{}}~]+ \{{\n  ={option}(  ~{option}){{2,}}\}}"
            assert re.fullmatch(form, one)
    assert questions.escaped("a = b: ~c") == r"a \= b\: \~c"


def test_the_version_is_the_same_everywhere() -> None:
    """Of pe_lib, of what is cited, and of the newest in the changelog."""
    lines = {"CITATION.cff": r"version: (\S+)", "CHANGELOG.md": r"## ([\d.]+):"}
    for name, line in lines.items():
        told = (ROOT / name).read_text(encoding="utf-8")
        assert re.findall(f"^{line}", told, re.MULTILINE)[0] == pe_lib.__version__


@pytest.mark.weekly
def test_the_lines_without_make_run(tmp_path: Path) -> None:
    """Those of the README and of *Teach*, in a copy with an environment of its own."""
    copied = "git ls-files -z --cached --others --exclude-standard | xargs -0 -I F "
    copied += f"sh -c 'test ! -f F || cp --parents F {tmp_path}'"
    subprocess.run(copied, shell=True, cwd=ROOT, check=True)
    lines = []
    for name, block in (("README.md", "Without make"), ("book/teach.md", "powershell")):
        told = (ROOT / name).read_text(encoding="utf-8").partition(block)[2]
        lines += re.findall(r"^(?:python|\.venv).*$", told.partition("```\n")[0], re.M)
    assert len(lines) == 6
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for line in lines:
        there = line.replace("\\", "/").replace("/Scripts/", "/bin/")
        there += " --collect-only --quiet" * there.endswith("pytest")
        how = {"shell": True, "cwd": tmp_path, "env": os.environ | {"PATH": path}}
        subprocess.run(there, check=True, **how)
    for made in ("_build/html/index.html", "_build/course/student"):
        assert (tmp_path / made).exists(), made
