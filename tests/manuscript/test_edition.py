"""The reader's edition: whole in any Jupyter, without answers, and it finds pe_lib."""

import ast
import contextlib
import io
import json
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

import manuscript
from manuscript import edition, stubs, wrong_answers
from manuscript import sources as links
from manuscript.dependencies import gives, needs, parsed
from manuscript.wrong_answers import Collected, WrongAnswer
from website import editions
from website.live import extension as live

BOOK = manuscript.read()
KEYS = set(links.bibliography())
PAGES = pytest.mark.parametrize("page", BOOK.notebooks, ids=lambda page: page.name)
ANSWER = re.compile(r"^:::\{solution-start\}.*?^:::\{solution-end\}", re.M | re.DOTALL)


@cache
def made(name):
    """The edition of a page of the book, once for all that look at it."""
    return edition.make(BOOK.pages[name])


def markdown(text):
    return edition.markdown("m", text)


def code(text, *tags):
    """A cell that has run."""
    cell = edition.code(re.sub(r"\W", "-", text)[:30], text, *tags)
    printed = {"name": "stdout", "output_type": "stream", "text": ["1\n"]}
    return cell | {"execution_count": 3, "outputs": [printed]}


FIGURE = {
    **code("show()"),
    "id": "figure",
    "metadata": {
        "mystnb": {
            "figure": {
                "caption": "**It** rises<!-- # m --> {cite}`vaswani2017`.",
                "name": "fig-a",
            }
        },
        "checked": "up by 1<!-- # m -->",
    },
}
CELLS = [
    markdown("# Title<!-- not measured: a remark -->"),
    code("import numpy", "setup"),
    FIGURE,
    markdown(
        ":::{exercise} Try. Build, 5 minutes\n:label: a\n\nWrite `f`.\n:::\n\n"
        ":::{solution-start} a\n:class: dropdown\n:::\n\nBecause it *is* so."
    ),
    code("import math\nhelp = 1\ndef f(x, *, y=2):\n    return x\n", "solution-a"),
    markdown("More of the answer."),
    markdown(":::{solution-end}\n:::\nNot the answer."),
    code("assert f(3) == 3", "check-a"),
    markdown(
        ":::{exercise} Again. Prove, 3 minutes\n:label: b\n\nSay.\n:::\n\n"
        ":::{solution-start} b\n:class: dropdown\n:::"
    ),
    code("g = 1; class_ = 2\nclass C(int): pass\nprint(g)", "solution-b"),
    markdown(":::{solution-end}\n:::"),
    code("assert g and C", "check-b"),
]
NOTEBOOK = {"cells": CELLS, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


COLLECTED = {
    "a": Collected("", (WrongAnswer("It is 2.", "f = 2", ""),), {}, {}),
    "b": Collected("", (WrongAnswer("It is 3.", "g = 3", ""),), {}, {"Say why.": 2}),
}


@pytest.fixture()
def page(tmp_path, monkeypatch):
    """A page of its own, with two exercises."""
    monkeypatch.setattr(wrong_answers, "collected", lambda: COLLECTED)
    path = tmp_path / "p.ipynb"
    path.write_text(json.dumps(NOTEBOOK), encoding="utf-8")
    return manuscript.read_page("book/part/p", path)


def sources(notebook):
    return [edition.source(cell) for cell in notebook["cells"]]


TITLED = "#@title The check of your answer\n"


@pytest.fixture()
def shell():
    """Where IPython says what a cell prints, errors too."""
    quiet = Config({"HistoryManager": {"enabled": False}})
    shell = InteractiveShell.instance(config=quiet, colors="nocolor")

    def seen(*cells):
        shell.reset()
        shell.set_custom_exc((), None)
        said = []
        for cell in cells:
            with capture_output() as output:
                shell.run_cell(cell)
            said.append(output.stdout)
        return said

    yield seen
    InteractiveShell.clear_instance()


def test_where_the_set_up_fails_the_others_say_so_in_one_sentence(page, shell):
    """Nothing else is red, and once it has run, errors are Python's own."""
    cells = edition.make(page)["cells"]
    code = [edition.source(cell) for cell in cells if cell["cell_type"] == "code"]
    *_, last = shell(*code, "misspelt")
    assert "NameError: name 'misspelt' is not defined" in last
    first, *others = shell(code[0].replace("pe_lib", "gone"), *code[1:], "misspelt")
    assert "ModuleNotFoundError: gone is missing" in first
    assert [text for text in others if text] == 5 * [f"{edition.BEFORE}\n"]


def test_answers_are_out_and_all_else_stays(page):
    made = edition.make(page)
    title, set_up, *rest = sources(made)
    assert "<!--" not in json.dumps(made)
    assert title == "# Title"
    assert set_up.startswith("#@title Set-up") and set_up.endswith("tell((), None)")
    assert set_up.index("import pe_lib") < set_up.index("import numpy")
    assert rest == [
        "#@title Draws figure 1\nshow()",
        "**Figure 1.** **It** rises ([Vaswani et al., 2017](https://arxiv.org/abs/1706.03762)).",
        "**Exercise. Try. Build, 5 minutes**\n\n\nWrite `f`.",
        "# Your answer to a\n\ndef f(x, *, y=2):\n"
        '    raise NotImplementedError("f: your code here")',
        "Not the answer.",
        f'{TITLED}with exercise("a", 5, "f"):\n    assert f(3) == 3',
        edition.folded("Stuck? Likely mistakes", "- It is 2."),
        "**Exercise. Again. Prove, 3 minutes**\n\n\nSay.",
        edition.PROOF.format(points=2),
        "# Your answer to b\n\nclass C(int):\n    ...  # your code here\n"
        "g = ...  # your code here",
        f'{TITLED}with exercise("b", 1, "g", "C"):\n    assert g and C',
        edition.folded("Stuck? Likely mistakes", "- It is 3."),
        'print(sum(exercise.scores.values()), "of 6 points so far")',
    ]
    notes = {
        c["metadata"].get("nbgrader", {}).get("grade_id"): c for c in made["cells"]
    }
    proof = notes["proof-b"]["metadata"]["nbgrader"]
    assert proof["solution"] and proof["grade"] and not proof["locked"]
    outputs = [c["outputs"] for c in made["cells"] if c["cell_type"] == "code"]
    assert [bool(found) for found in outputs] == [False, True, *[False] * 5]


def test_code_of_figures_is_hidden_everywhere(page):
    """In JupyterLab, on Colab; it runs, and its picture stays."""
    figure = edition.make(page)["cells"][2]
    assert figure["metadata"]["jupyter"] == {"source_hidden": True}
    assert figure["metadata"]["cellView"] == "form" and figure["outputs"]


def test_with_solutions_they_stay(page):
    """And checks are as they were written."""
    text = "\n".join(sources(edition.make(page, solutions=True)))
    assert "Because it *is* so." in text and "**Solution of a**" in text
    assert "\nassert f(3) == 3" in text and "your code here" not in text


def test_the_exercises_alone_have_what_they_rest_on(page):
    """A cell that gives a name, and not the figure."""
    alone = sources(edition.exercises(edition.make(page), page))
    assert alone[0] == "# Exercises: Title" and alone[1].startswith("#@title Set-up")
    assert alone[2].startswith("**Exercise. Try") and "show()" not in str(alone)
    assert alone[-1].startswith("print(sum(exercise.scores")


def test_your_copies_stay(tmp_path, monkeypatch):
    """What `make lab` writes is written once."""
    counting = BOOK.pages["book/failures/counting"]
    some = {counting.name: counting}
    monkeypatch.setattr(manuscript, "read", lambda: replace(BOOK, pages=some))
    assert edition.write(tmp_path) == (1, 0)
    path = tmp_path / "failures/counting.ipynb"
    path.write_text("mine", encoding="utf-8")
    assert edition.write(tmp_path) == (0, 1)
    assert path.read_text(encoding="utf-8") == "mine"


def test_a_stub_has_what_a_check_asks_for_and_does_not_set():
    """With the docstring of a function."""
    source = 'def f(x):\n    """What it does."""\n    return 1'
    stub = stubs.stub("a", source, "f(1)")
    assert '"""What it does."""' in stub and "return" not in stub
    stub = stubs.stub("a", "f = 1\nx = 2", "x = f\nassert x")
    assert stub == "# Your answer to a\nf = ...  # your code here"
    assert stubs.checked_names("f = [i for i in range(3)]", "i = f") == ["f"]
    assert stubs.checked_names("f = 1\nx = 2", "def g(x): return x\ng(f)") == ["f"]


def test_points_are_minutes():
    assert stubs.points("Try. Build, 12 minutes") == 12
    with pytest.raises(ValueError, match="must end with its minutes"):
        stubs.points("Try. Build")


PRINTS = "def f(x):\n    print(x)"


@pytest.mark.parametrize(
    ("answer", "names", "check", "said"),
    [
        ("f = 3", "f", 'assert f == 3, f"not {f}"', "right"),
        ("f = 4", "f", 'assert f == 3, f"not {f}"', "not 4"),
        ("", "f", "assert f == 3", "not answered yet: f"),
        ("f = ...", "f", "assert f == 3", "not answered yet: f"),
        (
            stubs.stub("a", "def f(x): pass", "f"),
            "f",
            "assert f(0)",
            "not answered yet: f: your code here",
        ),
        ("f = lambda x: 1 / x", "f", "assert f(0)", "Error: division by zero"),
        (PRINTS, "f", "assert f(0) > 1", "'int'; a function without return gives None"),
        (
            f"{PRINTS}\ng = f",
            "f g",
            "assert f(0) > 1 < g(0)",
            "'int'; a function without return gives None",
        ),
        ("f = '7'", "f", "assert -f < 0", "type for unary -: 'str'; f is '7'"),
    ],
)
def test_a_check_reports_and_goes_on(answer, names, check, said):
    """Which exercise, the points, and what helps."""
    seen, out = {}, io.StringIO()
    with contextlib.redirect_stdout(out):
        for cell in (
            stubs.REPORTER,
            answer,
            stubs.reported("a", 5, names.split(), check),
        ):
            exec(cell, seen)
    points = 5 * (said == "right")
    assert seen["exercise"].scores == {"a": points}
    start, _, hint = out.getvalue().splitlines()[-1].partition(" points: ")
    assert start == f"{'✗✓'[points > 0]} a, {points} of 5" and hint.endswith(said)


def test_plain_markdown_has_no_marks_of_myst():
    text = "(a)=\n# T\n\n::::{admonition} Theorem\n:class: x\n\nBy {ref}`v <x>`.\n::::"
    assert edition.undirected(text) == "# T\n\n**Theorem**\n\n\nBy v."
    fold = ":::{dropdown} Why?\nSo.\n:::\n\nMore."
    assert edition.undirected(fold) == f"{edition.folded('Why?', 'So.')}\n\n\nMore."


@PAGES
def test_nothing_of_a_page_is_lost(page):
    """Captions and sources, folds, values in view, checks; no mark of MyST is left."""
    texts = sources(made(page.name))
    kept = "\n".join(texts)
    figures = [c.figure for c in page.code_cells if c.role == "figure"]
    for number, figure in enumerate(figures, 1):
        bold = edition.undirected(links.linked(links.cited(figure.caption), page))
        assert f"**Figure {number}.** {bold}" in kept, figure.name
    told = ANSWER.sub("", page.text) + "".join(f.caption for f in figures)
    keys = [k.strip() for _, ks in links.CITE.findall(told) for k in ks.split(",")]
    for who, year, _ in map(links.authors, keys):
        assert f"{who} ({year})" in kept or f"{who}, {year}" in kept, who
    folds = kept.count("<details><summary>")
    assert folds == kept.count("</details>")
    assert folds == page.text.count("{dropdown}") + len(page.exercises)
    assert not re.search(r"^\(.*\)=$|:::|\{cite", kept, re.MULTILINE)
    assert not KEYS & set(re.findall(r"\[([\w-]+)\]", kept))
    cells = {cell["id"]: cell for cell in made(page.name)["cells"]}
    set_up = edition.source(cells["set-up"])
    assert ("os.chdir(" in set_up) == bool(page.reads)
    assert ("torch.set_num_threads(1)" in set_up) == page.needs_torch
    assert " = chosen(" not in set_up
    if page.values:
        assert " = chosen(" in edition.source(cells["values"])
        assert "jupyter" not in cells["values"]["metadata"]
    for check in page.checks.values():
        (block,) = ast.parse(stubs.reported("a", 1, [], check)).body
        assert ast.unparse(block.body) == ast.unparse(ast.parse(check))


def secrets(page):
    """The lines and sentences of answers that stand nowhere else on the page."""
    solved = [cell for cell in page.code_cells if cell.tagged("solution-")]
    answers = [
        *ANSWER.findall(page.text),
        *(f"{c.source}\n{c.printed}" for c in solved),
    ]
    others = [cell for cell in page.code_cells if cell not in solved]
    shown = ANSWER.sub("", page.text) + "".join(
        f"{c.source}{c.outputs}" for c in others
    )
    pieces = {
        piece.strip() for piece in re.split(r"\n|(?<=[.?!:])\s", "\n".join(answers))
    }
    given = ("def ", ":::")  # signatures, and the marks of an answer
    return {p for p in pieces if len(p) >= 16 and p not in shown and p[:4] not in given}


@PAGES
def test_no_chapter_lets_an_answer_through(page):
    """Not a line, not a sentence, in no output or metadata; Jupyter can read it."""
    whole = made(page.name)
    nbformat.validate(nbformat.from_dict(whole))
    hidden = secrets(page)
    assert len(hidden) >= len(page.exercises)
    student = json.dumps(whole, ensure_ascii=False)
    for piece in hidden:
        assert json.dumps(piece, ensure_ascii=False)[1:-1] not in student, piece
    assert "solution-" not in student
    signatures = "\n".join(sources(whole))
    assert signatures.count("your code here") >= len(page.exercises)
    for exercise in page.exercises:
        text = links.linked(links.cited(exercise.text), page)
        assert edition.undirected(text) in signatures
    alone = edition.exercises(whole, page)
    nbformat.validate(nbformat.from_dict(alone))
    assert len(alone["cells"]) < len(whole["cells"])
    rests, runs = (
        "\n".join("".join(c["source"]) for c in one["cells"] if "outputs" in c)
        for one in (alone, whole)
    )
    missing = needs(rests) & {*gives(parsed(runs))}
    assert not missing, "an exercise rests on a cell that is not beside it"


def recalled(page):
    """The answers to its recall questions."""
    found = next((s for s in page.sections if s.title == manuscript.RECALL), None)
    text = "\n\n".join(part.source for part in found.texts) if found else ""
    return [fold[3].strip() for fold in edition.FOLD.finditer(text)]


@PAGES
def test_a_site_without_solutions(page, monkeypatch):
    """Neither in a page as Sphinx reads it, nor in what it runs or offers."""
    monkeypatch.setattr(manuscript, "SOLUTIONS", False)
    text = [page.path.read_text(encoding="utf-8")]
    editions.leave_out_answers(None, page.name, text)
    read = json.loads(text[0])
    assert len(read["cells"]) == len(page.cells)
    shown = "\n".join([*sources(read), *sources(edition.make(page))])
    outputs = json.dumps([c.get("outputs") for c in read["cells"]], ensure_ascii=False)
    runs = live.cells.__wrapped__(page.name)
    for piece in secrets(page):
        assert piece not in shown and piece not in outputs
        assert json.dumps(piece, ensure_ascii=False)[1:-1] not in runs, piece
    for answer in recalled(page):
        assert links.linked(links.cited(answer), page) not in shown
        assert answer not in shown
    assert shown.count("{exercise}") == len(page.exercises)


def find(where, repository="", folder="", before=""):
    """Run the first cell there, with no library installed."""
    page = replace(BOOK.pages["book/failures/counting"], name=f"{folder}/p")
    source = edition.find(page, "HOW", repository, moves=bool(folder))
    assert repository or max(map(len, source.splitlines())) <= 72
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"{before}{source}\nprint(Path.cwd())"],
        cwd=where,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_first_cell_finds_the_library_or_says_how(tmp_path: Path):
    """In a folder below, beside it, and nowhere near; and it goes to its data."""
    (tmp_path / "book/pe_lib").mkdir(parents=True)
    (tmp_path / "book/pe_lib/__init__.py").touch()
    (tmp_path / "book/part/data").mkdir(parents=True)
    assert find(tmp_path / "book/part/data").returncode == 0
    lost = find(tmp_path)
    assert lost.returncode == 1
    last = lost.stderr.splitlines()[-1]
    assert "pe_lib is missing: HOW, then in it: pip install" in last
    moved = find(tmp_path / "book", folder="part")
    assert moved.stdout.strip() == str(tmp_path / "book/part")


def test_on_colab_the_first_cell_fetches_the_library(tmp_path: Path):
    """Pretend to be there; the repository lies beside. Once is enough."""
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    there = tmp_path / "there"
    (there / "pe_lib").mkdir(parents=True)
    (there / "pe_lib/__init__.py").touch()
    (there / "part/data").mkdir(parents=True)
    (there / "part/data/a.csv").touch()
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
        subprocess.run([*git, *command], cwd=there, check=True)
    (tmp_path / "machine").mkdir()
    colab = "import sys\nsys.modules['google.colab'] = sys\n"
    for _ in range(2):
        done = find(tmp_path / "machine", there.as_uri(), "part", before=colab)
        assert done.stdout.strip() == str(tmp_path / "machine/book/part"), done.stderr
    page = BOOK.pages["book/failures/counting"]
    assert "colab" not in edition.find(page, "HOW", moves=False)
