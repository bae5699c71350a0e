"""The course kit: folders that are complete, and hold no answer meant for nobody."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

import manuscript
import pe_lib
from course import build, exam, graders, kit, mine
from manuscript import ROOT, edition, sources, stubs, wrong_answers
from manuscript.pages import KEPT_FILE

BOOK = manuscript.read()
SOME = ["rotation", "module", "protocol"]  # with NumPy alone, with torch, with data
TOOLS = ["nbgrader", "otter"]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kit of three chapters."""
    folder = tmp_path_factory.mktemp("course")
    build.build(SOME, ["student", "instructor", *TOOLS], folder)
    return folder


def test_nothing_is_lost(tmp_path: Path) -> None:
    """What somebody put there, or changed, stops it before it writes anything."""

    def make() -> None:
        build.build(["counting"], ["otter", "questions"], tmp_path)

    make()
    make()
    work = tmp_path / "otter/counting/submissions/ada.ipynb"
    work.parent.mkdir()
    work.write_text("{}", encoding="utf-8")
    before = (tmp_path / "otter/README.md").stat().st_mtime_ns
    with pytest.raises(SystemExit, match=r"ada\.ipynb.* nothing was changed"):
        make()
    assert (tmp_path / "otter/README.md").stat().st_mtime_ns == before
    work.unlink()
    make()
    question = tmp_path / "questions/failures-counting.gift"
    question.write_text("Mine.", encoding="utf-8")
    with pytest.raises(SystemExit, match=question.name):
        make()
    assert question.read_text(encoding="utf-8") == "Mine."


def marked_down(path: Path) -> str:
    """The text of a notebook."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = [edition.source(c) for c in cells if c["cell_type"] == "markdown"]
    return "\n\n".join(texts)


def read(folder: Path) -> str:
    """All cells of the notebooks of a folder, as one reads them."""
    books = [json.loads(p.read_text("utf-8")) for p in folder.rglob("*.ipynb")]
    return "\n\n".join(edition.source(c) for book in books for c in book["cells"])


def test_each_folder_is_complete(course: Path) -> None:
    """The library, the data, the pins; notebooks that Jupyter can read."""
    for folder in (course / "student", course / "instructor"):
        assert (folder / "pe_lib/__init__.py").is_file()
        assert not list(folder.rglob("__pycache__"))
        assert (folder / "experiments/data/training.csv").is_file()
        pins = (folder / "requirements.txt").read_text("utf-8")
        assert pins.startswith("-c constraints.txt\n") and "\nnumpy==" in pins
        assert "jupyterlab==" in pins and "torch" not in pins
        assert "torch==" in (folder / "requirements-torch.txt").read_text("utf-8")
        assert "jupyterlab==" in (folder / "constraints.txt").read_text("utf-8")
        readme = (folder / "README.md").read_text("utf-8")
        assert "(pytorch/module.ipynb)* |" in readme
        for licensed in ("LICENSE", "pe_lib/LICENSE"):
            assert (folder / licensed).is_file()
        (row,) = re.findall(r"^\| \[sinusoidal/rotation\].*", readme, re.MULTILINE)
        titles = [one.title for one in BOOK.pages["book/sinusoidal/rotation"].exercises]
        assert row.endswith(f"| {sum(map(stubs.points, titles))} |")
    found = sorted(course.rglob("*.ipynb"))
    assert len(found) == 5 * len(SOME)  # twice for students: with and without the page
    for path in found:
        nbformat.validate(nbformat.read(path, as_version=4))
    for name in SOME:
        for tool in ("nbgrader/source", "otter"):
            assert (course / tool / name / "pe_lib/LICENSE").is_file()
    pins = (course / "otter/rotation/requirements.txt").read_text("utf-8")
    assert "numpy==" in pins and "otter-grader==" in pins
    assert "-c" not in pins  # otter takes this one file along
    steps = {tool: (course / tool / "README.md").read_text("utf-8") for tool in TOOLS}
    assert "generate_assignment rotation`" in steps["nbgrader"]
    assert "--no-pdfs rotation.ipynb" in steps["otter"]


def test_what_a_chapter_reads_lies_beside_it(tmp_path: Path) -> None:
    """A kit of one chapter has its files, wherever in the book they are kept."""
    reading = [page for page in BOOK.notebooks if page.reads]
    for page in reading:
        folder = tmp_path / page.name
        kit.copy_data(page, folder)
        code = "\n".join(map(edition.source, kit.student(page)["cells"]))
        files = KEPT_FILE.findall(code)
        assert files and {place for place, _ in files} == {"data/"}, page.name
        assert all(list(folder.glob(f"data/{name}*")) for _, name in files), page.name
    assert len({path.parent for page in reading for path in page.reads}) > 1


def test_no_answer_is_in_a_folder_for_students(course: Path) -> None:
    """Neither a solution, nor a hidden input, nor a wrong answer."""
    student, instructor = read(course / "student"), read(course / "instructor")
    for page in kit.chosen(BOOK.notebooks, SOME):
        for cell in page.code_cells:
            for label in cell.tagged("solution-"):
                assert cell.source in instructor and cell.source not in student
                for wrong in wrong_answers.collected()[label].wrong:
                    answer = wrong.answer.rstrip()
                    assert answer in instructor
                    assert answer not in student or "\n" not in answer  # the stub's
    assert "Hidden check" in instructor and "Hidden check" not in student
    assert "Likely wrong answers" not in student
    assert (course / "instructor/exam.md").is_file()
    assert not (course / "student/exam.md").exists()


def test_links_and_sources_are_whole(course: Path) -> None:
    """In each edition: no link leads nowhere, and no source is a key alone."""
    keys, seen = set(sources.bibliography()), 0
    for path in course.rglob("*.ipynb"):
        text = marked_down(path)
        assert "{cite" not in text and not keys & set(re.findall(r"\[([\w-]+)\]", text))
        for _, address in sources.LINK.findall(text):
            file, _, anchor = address.partition("#")
            to = path.parent / file if file else path
            assert to.is_file(), (path, address)
            titles = re.findall(r"^#+ (.+)$", marked_down(to), re.MULTILINE)
            assert not anchor or anchor in map(sources.fragment, titles), address
            seen += 1
    assert seen >= 10
    student = marked_down(course / "student/sinusoidal/rotation.ipynb")
    assert "#No-position-in-the-matrix)" in student
    assert "(module.ipynb" not in student and "[Denk (2019)](https://timo" in student


def test_tiny_tensors_have_one_thread(course: Path) -> None:
    """Said before anything imports torch, where a chapter does."""
    said = [
        "torch.set_num_threads(1)" in (course / f"{name}.ipynb").read_text("utf-8")
        for name in ("student/pytorch/module", "nbgrader/source/module/module")
    ]
    assert said == [True, True]
    rotation = (course / "student/sinusoidal/rotation.ipynb").read_text("utf-8")
    assert "set_num_threads" not in rotation


def test_a_student_runs_all_in_a_folder_elsewhere(course: Path) -> None:
    """Every cell, with the library of the folder; each exercise has its line."""
    path = course / "student/sinusoidal/rotation_exercises.ipynb"
    cells = json.loads(path.read_text("utf-8"))["cells"]
    code = [edition.source(c) for c in cells if c["cell_type"] == "code"]
    (course / "student/all.py").write_text("\n".join(code), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "all.py"],
        cwd=course / "student",
        env={"MPLBACKEND": "agg", "PYTHONPATH": "."},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [s for s in done.stdout.splitlines() if s.startswith(("✓", "✗"))]
    page = BOOK.pages["book/sinusoidal/rotation"]
    assert len(lines) == len(page.exercises)
    assert all("not answered yet" in line for line in lines)
    worth = sum(edition.check_points(page).values())
    assert done.stdout.splitlines()[-1] == f"0 of {worth} points so far"


def test_graders_get_all_points() -> None:
    """Each exercise is a graded cell and a question, worth its minutes, a proof too.

    The first and the last of a chapter can be asked alone, and no other comes along.
    """
    for page in BOOK.notebooks:
        every = graders.minutes(page)
        proofs = [one.label for one in page.exercises if "Prove," in one.title]
        assert [label for label, (_, proof) in every.items() if proof] == proofs
        minutes = {one.label: stubs.points(one.title) for one in page.exercises}
        assert {label: sum(points) for label, points in every.items()} == minutes
        ends = [*every][:: max(1, len(every) - 1)]
        for asked in (every, *({label: every[label]} for label in ends)):
            notes = [
                cell["metadata"]["nbgrader"]
                for cell in graders.for_nbgrader(page, asked)["cells"]
                if "nbgrader" in cell["metadata"]
            ]
            assert all(note["locked"] != note["solution"] for note in notes)
            graded = {n["grade_id"]: n["points"] for n in notes if n["grade"]}
            assert graded == {
                f"{kind}-{label}": worth
                for label, points in asked.items()
                for kind, worth in zip(("check", "proof"), points, strict=True)
                if worth
            }
            answers = {n["grade_id"] for n in notes if n["solution"] and not n["grade"]}
            assert answers == {f"answer-{label}" for label in asked}
        for label in proofs:
            assert len(wrong_answers.collected()[label].rubric) == 2
        master = "\n".join(map(edition.source, graders.for_otter(page, every)["cells"]))
        questions = dict(re.findall(r"name: (ex_\w+)\npoints: (\d+)", master))
        assert sum(map(int, questions.values())) == sum(minutes.values())
        assert master.count("manual: true") == len(proofs)


def test_hidden_checks_differ() -> None:
    """At least half of the exercises have one; the others have one answer only."""
    hidden = 0
    for page in BOOK.notebooks:
        found = page.checks.items()
        hidden += sum(graders.hidden(page, label) != check for label, check in found)
    assert 2 * hidden >= len(wrong_answers.collected()), hidden


def test_an_exam_asks_about_each_chapter_of_the_hour() -> None:
    """With an answer to each question, in the instructor's folder alone."""
    text = exam.answers(BOOK.notebooks)
    pages = [*BOOK.path_pages, *BOOK.model_pages]
    for page in pages:
        assert f"## {kit.short(page)}, " in text
    assert text.count("*Answer.*") == text.count("## ") >= len(pages)
    assert "beyond/rotary" not in exam.answers([BOOK.pages["book/failures/dials"]])
    paper = exam.paper(BOOK.notebooks)
    assert "55 minutes, 26 points" in paper and paper.count("<section>") == 5
    for one in mine.loaded("exam.yml"):
        assert sum(one["marks"].values()) == one["points"] and len(one["marks"]) > 1
        assert one["answer"] not in paper


def test_a_course_has_the_chapters_that_were_chosen() -> None:
    """By name or by part; a name that is not there is an error that helps."""
    pages = kit.chosen(BOOK.notebooks, ["failures", "rotary"])
    assert [kit.short(page) for page in pages][:2] == [
        "failures/counting",
        "failures/normalised",
    ]
    assert "beyond/rotary" in [kit.short(page) for page in pages]
    with pytest.raises(SystemExit, match="no chapter nonsense"):
        kit.chosen(BOOK.notebooks, ["nonsense"])


def test_chapters_without_exercises_have_no_assignment(tmp_path: Path) -> None:
    """A sentence says so, and no folder of theirs is begun."""
    for part in TOOLS:
        with pytest.raises(SystemExit, match="no exercises in these chapters"):
            build.build(["counting_deeper"], ["student", part], tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_version_is_the_same_everywhere() -> None:
    """Of pe_lib, of what is cited, and of the newest in the changelog."""
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    (version,) = re.findall(r"^version: (\S+)$", cited, re.MULTILINE)
    assert version == pe_lib.__version__
    assert re.findall(r"^## (\d+\.\d+\.\d+):", log, re.MULTILINE)[0] == version


@pytest.mark.weekly
def test_the_lines_without_make_run(tmp_path: Path) -> None:
    """Those of the README and of *Teach*, in a copy with an environment of its own."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(os.path.isfile, (ROOT / n for n in names.decode().split("\0"))):
        copy = tmp_path / name.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(name, copy)
    lines = []
    for name, block in (("README.md", "Without make"), ("book/teach.md", "powershell")):
        text = (ROOT / name).read_text(encoding="utf-8").partition(block)[2]
        lines += re.findall(r"^(?:python|\.venv).*$", text.partition("```\n")[0], re.M)
    assert len(lines) == 6
    home = Path(sys.executable).parent
    paths = {"PATH": f"{home}{os.pathsep}{os.environ['PATH']}"}
    for line in lines:
        there = line.replace("\\", "/").replace("/Scripts/", "/bin/")
        there += " --collect-only --quiet" * there.endswith("pytest")
        subprocess.run(
            there, shell=True, cwd=tmp_path, env=os.environ | paths, check=True
        )
    for made in ("_build/html/index.html", "_build/course/student"):
        assert (tmp_path / made).exists(), made
