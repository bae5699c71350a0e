"""The course kit: folders that are complete, and hold no answer meant for nobody.

What ``mine.yml`` says is what the kit has, and a slip in it is named. A site without
solutions stays one, and leads to none that has them.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

import manuscript
import pe_lib
from course import assignments, build, exam, kit, mine, questions
from manuscript import ROOT, edition, sources, stubs, wrong_answers
from manuscript.pages import KEPT_FILE
from website import editions

BOOK = manuscript.read()
PAGES = [*BOOK.path_pages, *BOOK.model_pages]
SOME = ["sinusoidal", "pytorch", "beyond", "experiments"]  # all that read a file
CHOSEN = kit.chosen(BOOK.notebooks, SOME)
EXERCISES = "must be exercises with their points, such as {ex-who-wins: 2}; got "
ROTATION = BOOK.pages["book/sinusoidal/rotation"]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kit of some parts of the book, but for what is printed."""
    folder = tmp_path_factory.mktemp("course")
    build.build(SOME, ["student", "instructor", "nbgrader"], folder)
    return folder


@cache
def text(*paths: Path, kind: str = "") -> str:
    """All cells of notebooks, or those of a kind, as one reads them."""
    cells = [c for path in paths for c in json.loads(path.read_text("utf-8"))["cells"]]
    return "\n\n".join(edition.source(c) for c in cells if kind in ("", c["cell_type"]))


def test_nothing_is_lost(tmp_path: Path) -> None:
    """What somebody put there, or changed, stops it before it writes anything."""
    make = partial(build.build, ["counting"], ["nbgrader", "questions"], tmp_path)
    make()
    make()
    yours = "nbgrader/submitted/ada.ipynb", "questions/failures-counting.gift"
    (tmp_path / yours[0]).parent.mkdir()
    for name in yours:
        (tmp_path / name).write_text("Mine.", encoding="utf-8")
    kept = build.digests(tmp_path)
    with pytest.raises(SystemExit, match=rf"{', '.join(yours)}\. .* nothing was chang"):
        make()
    assert build.digests(tmp_path) == kept


def test_each_folder_is_complete(course: Path) -> None:
    """The library, the licences, what to install, and what to do first."""
    for path, torch in {
        "student/requirements.txt": False,
        "instructor/requirements-torch.txt": True,
        "nbgrader/requirements.txt": True,
        "nbgrader/source/rotation/requirements.txt": False,
        "nbgrader/source/module/requirements.txt": True,
    }.items():
        pins = (course / path).read_text("utf-8")
        assert "numpy==" in pins and "jupyterlab==" in pins and "-e" not in pins
        assert ("torch==" in pins) == torch, path
        assert ("nbgrader==" in pins) == (path == "nbgrader/requirements.txt")
        assert ("-c constraints.txt" in pins) == ("nbgrader" not in path)
    for folder in (course / "student", course / "instructor"):
        for name in ("pe_lib/__init__.py", "pe_lib/LICENSE", "LICENSE", "LICENSE-TEXT"):
            assert (folder / name).is_file()
        assert "jupyterlab==" in (folder / "constraints.txt").read_text("utf-8")
        readme = (folder / "README.md").read_text("utf-8")
        assert pe_lib.__version__ in readme and "(pytorch/module.ipynb)* |" in readme
        worth = sum(stubs.points(one.title) for one in ROTATION.exercises)
        assert f"| {len(ROTATION.exercises)} | {worth} |" in readme
    folder = course / "nbgrader"
    steps = (folder / "README.md").read_text("utf-8")
    assert "generate_assignment formula`" in steps and "NAME" not in steps
    for name in ("source/rotation/pe_lib/LICENSE", "alone.py", "Dockerfile"):
        assert (folder / name).is_file()
    every = assignments.chosen(CHOSEN, mine.read(str(folder / "labels.yml")))
    assert every == assignments.chosen(CHOSEN, mine.Mine())  # all that one may copy
    assert not list(course.rglob("__pycache__"))


def test_each_notebook_has_what_it_names(course: Path) -> None:
    """Jupyter can read it; files and sections of which it speaks are there."""
    found = sorted(course.rglob("*.ipynb"))
    alone = [page for page in CHOSEN if page.exercises]  # for students, and graded
    assert len(found) == 2 * len(CHOSEN) + 2 * len(alone)
    reading, anchored = set(), 0
    for path in found:
        nbformat.validate(nbformat.read(path, as_version=4))
        for place, name in KEPT_FILE.findall(text(path, kind="code")):
            assert place == "data/" and list(path.parent.glob(f"data/{name}*")), path
            reading.add(path.stem)
        for _, address in sources.LINK.findall(text(path, kind="markdown")):
            file, _, anchor = address.partition("#")
            to = path.parent / file if file else path
            titles = re.findall(r"^#+ (.+)$", text(to, kind="markdown"), re.MULTILINE)
            assert not anchor or anchor in map(sources.fragment, titles), address
            anchored += bool(anchor)
    assert reading >= {page.path.stem for page in BOOK.notebooks if page.reads}
    assert anchored > len(found)


def test_no_answer_is_in_a_folder_for_students(course: Path) -> None:
    """Instructors have solutions, wrong answers, hidden inputs, and the exam."""
    student = text(*(course / "student").rglob("*.ipynb"))
    instructor = text(*(course / "instructor").rglob("*.ipynb"))
    for page in CHOSEN:
        for label, solution in page.solutions.items():
            found = wrong_answers.collected()[label]
            told = [f"becomes `{new}`" for new in found.hidden.values()]
            for wrong in found.wrong:
                told += [wrong.answer.rstrip(), f"The check says: “{wrong.hint}”"]
            assert all(one in instructor for one in (solution, *found.rubric, *told))
            assert not any(one in student for one in (solution, *found.rubric))
    assert "Hidden check" not in student and "Likely wrong" not in student
    exams = sorted(str(path.relative_to(course)) for path in course.rglob("exam*"))
    assert exams == ["instructor/exam.md", "instructor/exam_paper.html"]


def test_nbgrader_gives_all_points() -> None:
    """Each exercise has its minutes, or other points; no other exercise comes along."""
    for page in BOOK.notebooks:
        every = assignments.minutes(page)
        minutes = {one.label: stubs.points(one.title) for one in page.exercises}
        assert {label: sum(points) for label, points in every.items()} == minutes
        proofs = [one.label for one in page.exercises if "Prove," in one.title]
        assert [label for label, points in every.items() if len(points) > 1] == proofs
        ends = {*[*every][:1], *[*every][-1:]}
        for asked in (every, *({at: [n + 5 for n in every[at]]} for at in ends)):
            made = assignments.assignment(page, asked)["cells"]
            text, wanted = "\n".join(map(edition.source, made)), set()
            for label, (check, *proof) in asked.items():
                wanted |= {
                    (f"answer-{label}", 0, True),
                    (f"check-{label}", check, False),
                }
                assert f"# {label}, {check} point{'s' * (check > 1)}" in text
                assert assignments.hidden(page, label) in text
                if proof:
                    wanted.add((f"proof-{label}", sum(proof), True))
                    assert edition.PROOF.format(points=sum(proof)) in text
                    rubric = wrong_answers.collected()[label].rubric
                    for points, what in zip(proof, rubric, strict=True):
                        assert f"- {points}: {what}" in text
            notes = [n for c in made if (n := c["metadata"].get("nbgrader"))]
            assert all(note["locked"] != note["solution"] for note in notes)
            found = {(n["grade_id"], n.get("points", 0), n["solution"]) for n in notes}
            assert {one for one in found if "cell-" not in one[0]} == wanted
            assert sum(bool(edition.labels(c, "raises-")) for c in made) == len(asked)
    changed = [bool(one.hidden) for one in wrong_answers.collected().values()]
    assert 2 * sum(changed) >= len(changed)  # else one answer


def test_an_assignment_has_its_exercises(tmp_path: Path, monkeypatch) -> None:
    """Of two chapters, fewer than these have, each with the lecturer's points."""
    week = {"ex-who-wins": 2, "ex-ends-under-a-mask": [2, 4, 2], "ex-net-shift": None}
    yours = mine.Mine(assignments={"week-1": week})
    counting, rotation = assignments.chosen(BOOK.notebooks, yours)
    assert counting[2] == {"ex-who-wins": (2,), "ex-ends-under-a-mask": (2, 4, 2)}
    assert rotation == ("week-1", ROTATION, {"ex-net-shift": (3,)})
    monkeypatch.setattr(mine, "read", lambda: yours)
    assignments.write(BOOK.notebooks, tmp_path)
    made = sorted(path.stem for path in tmp_path.rglob("source/week-1/*.ipynb"))
    assert made == ["counting", "rotation"]


@pytest.mark.parametrize(
    "said", ["", "plans:", "plans: []", "assignments:", "assignments: {}"]
)
def test_what_is_empty_is_as_the_book_has_it(said: str, tmp_path: Path) -> None:
    """So is the file that comes along."""
    path = tmp_path / "mine.yml"
    path.write_text(said, encoding="utf-8")
    assert mine.read(str(path)) == mine.read() == mine.Mine()


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("[a]", "slip.yml must be lines of the form word: ...; got ['a']"),
        ("lecture: Ada", "slip.yml: there is no word lecture"),
        ("plans: own.yml", "slip.yml, plans must be a list; got own.yml"),
        ("assignments: [w]", "assignments must be names, each with what belongs"),
        ("assignments: {w: }", f"slip.yml, assignments, w {EXERCISES}nothing"),
        ("assignments: {w: [ex-a]}", f"slip.yml, assignments, w {EXERCISES}['ex-a']"),
        ("assignments: {w: {ex-gone: 2}}", "w: there is no exercise ex-gone"),
        ("assignments: {w: {ex-net-shift: 2}}", "is in sinusoidal/rotation, which"),
        ("assignments: {w: {ex-who-wins: 0}}", "numbers above 0, such as 3; got 0"),
        ("assignments: {w: {ex-who-wins: [1, 2]}}", "ex-who-wins: points must be"),
        ("assignments: {w: {ex-who-wins: 1.5}}", "ex-who-wins: points must be whole"),
        ("assignments: {w: {ex-ends-under-a-mask: 8}}", "such as [3, 3, 2]; got 8"),
        ("assignments: {w: {ex-ends-under-a-mask: [8, 1, 0]}}", "such as [3, 3, 2]"),
        ("plans: [gone.yml]", "mine.yml, plans: there is no file gone.yml"),
        ("plans: [~]", "mine.yml, plans: there is no file None"),
    ],
)
def test_a_slip_is_named(said: str, named: str, tmp_path: Path, monkeypatch) -> None:
    """A word, a name, points that cannot be; before anything is written."""
    path = tmp_path / "slip.yml"
    path.write_text(said, encoding="utf-8")
    monkeypatch.setattr(build, "PARTS", {"nbgrader": print, "slides": print})
    with pytest.raises(SystemExit, match=re.escape(named)):
        yours = mine.read(str(path))
        monkeypatch.setattr(mine, "read", lambda: yours)
        build.build(["counting"], ["nbgrader", "slides"], tmp_path / "kit")
    assert not (tmp_path / "kit").exists()


def test_an_exam_asks_about_each_chapter_of_the_hour() -> None:
    """With an answer to each question, and marks; on paper those of the week."""
    text = exam.answers(BOOK.notebooks)
    assert all(f"## {kit.short(page)}, " in text for page in PAGES)
    assert "beyond/rotary" not in exam.answers(BOOK.path_pages)
    paper = exam.paper(BOOK.notebooks)
    assert "55 minutes, 26 points" in paper
    assert re.findall(r"<section><h2>(\d+)\.", paper) == [*"12345"]
    assert "<mi>t</mi>" in paper and "$" not in paper
    for one in mine.loaded("exam.yml"):
        assert sum(one["marks"].values()) == one["points"] and len(one["marks"]) > 1
        marks = "\n".join(f"- {its}: {what}" for what, its in one["marks"].items())
        assert f"{one['answer']}\n\n{marks}\n" in text and one["answer"] not in paper


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


def test_the_right_option_cannot_be_told_by_its_form() -> None:
    """It is the longest of its question in at most a third, and the shortest, too."""
    every = [one for asked in mine.loaded("questions.yml").values() for one in asked]
    longest = shortest = 0
    for one in every:
        options, feedback = zip(one["right"], *one["wrong"], strict=True)
        right, *wrong = map(len, options)
        longest += right > max(wrong)
        shortest += right < min(wrong)
        assert max(right, *wrong) <= 15 + min(right, *wrong)
        assert len({option[-1] == "." for option in options}) == 1
        assert len({*options}) == len(options) >= 3
        assert all(told.endswith(".") for told in feedback)
    assert 3 * max(longest, shortest) <= len(every), (longest, shortest)


def test_each_of_thirteen_pages_has_three_in_gift(tmp_path: Path) -> None:
    """One right option each, and feedback; other pages have no questions."""
    questions.write(BOOK.notebooks, tmp_path)
    asked = {questions.BEFORE: 5} | dict.fromkeys(map(kit.short, PAGES), 3)
    option = r"[^#\n]+#[^#\n]+\n"
    form = rf"::[^:]+ \d::[^={{}}~]+ \{{\n  ={option}(  ~{option}){{2,}}\}}"
    for name, number in asked.items():
        path = tmp_path / f"{name.replace('/', '-')}.gift"
        plain = re.sub(r"\\[~=#{}:\\]", "", path.read_text("utf-8"))
        category, *found = plain.strip().split("\n\n")
        assert category.startswith("$CATEGORY: ") and len(found) == number
        assert all(re.fullmatch(form, one) for one in found)
    assert len(list(tmp_path.iterdir())) == len(mine.loaded("questions.yml"))
    assert questions.escaped("a = b: ~c") == r"a \= b\: \~c"


@pytest.mark.parametrize("solutions", [True, False])
def test_a_site_without_solutions_leads_to_none(monkeypatch, solutions: bool) -> None:
    """To no repository, hence no source, Binder or Colab, and not to the whole site."""
    monkeypatch.setattr(manuscript, "SOLUTIONS", solutions)
    options = {"repository_url": "https://github.com/ada/positions"}
    config = SimpleNamespace(html_baseurl="https://a.org/", html_theme_options=options)
    editions.lead_to_no_answers(None, config)
    assert bool(config.html_baseurl) == bool(options["repository_url"]) == solutions
    context = {"pathto": lambda name, _: name}
    editions.tell_the_page(None, "book/failures/dials", "", context)
    assert context["solutions"] == solutions


def test_a_site_without_solutions_has_a_folder_of_its_own() -> None:
    """Neither the whole site is written there, nor the course kit, which needs none."""
    for target, folders in {
        "book SOLUTIONS=0": ["_build/without_solutions/."],
        "book": ["."],
        "serve": ["."],
        "course": [],
        "course SOLUTIONS=0": [],
    }.items():
        make = ["make", "--dry-run", "--always-make", *target.split()]
        done = subprocess.check_output(make, cwd=ROOT, text=True)
        built = re.findall("jupyter-book build .*--path-output (\\S+)", done)
        assert built == folders, target


def test_what_the_graders_do_not_need_any_more_goes(tmp_path: Path) -> None:
    """They are made anew when they require something else, and only then."""
    needed = ["course/requirements.txt", "course/constraints.txt", "constraints.txt"]
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in (*needed, "pyproject.toml", ".venv/.ready", ".venv/graders/.ready"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for newer in ([], *(["--what-if", name] for name in needed)):
        make = ["make", "--dry-run", "graders", *newer]
        done = subprocess.check_output(make, cwd=tmp_path, text=True)
        assert ("venv --clear .venv/graders" in done) == bool(newer), newer


def test_the_version_is_the_same_everywhere() -> None:
    """Of pe_lib, of what is cited, and of the newest in the changelog."""
    lines = {"CITATION.cff": r"version: (\S+)", "CHANGELOG.md": r"## ([\d.]+):"}
    for name, line in lines.items():
        told = re.findall(f"^{line}", (ROOT / name).read_text("utf-8"), re.MULTILINE)
        assert told[0] == pe_lib.__version__


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
        env = os.environ | {"PATH": path}
        subprocess.run(there, shell=True, check=True, cwd=tmp_path, env=env)
    for made in ("_build/html/index.html", "_build/course/student"):
        assert (tmp_path / made).exists(), made
