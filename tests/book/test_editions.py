"""The student's edition: the answers out, all else as it was, and it finds pe_lib."""

import ast
import contextlib
import copy
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from website import editions, manuscript, stubs
from website import sources as links
from website.manuscript import ROOT

BOOK = manuscript.read()
KEYS = set(links.bibliography())
ANSWER = re.compile(r"^:::\{solution-start\}.*?^:::\{solution-end\}", re.M | re.DOTALL)


def markdown(text):
    return {"cell_type": "markdown", "id": "m", "metadata": {}, "source": [text]}


def code(text, *tags, output="1\n"):
    return {
        "cell_type": "code",
        "execution_count": 3,
        "id": "c",
        "metadata": {"tags": list(tags)},
        "outputs": [{"name": "stdout", "output_type": "stream", "text": [output]}],
        "source": text.splitlines(keepends=True),
    }


CELLS = [
    markdown("# Title"),
    code("import numpy"),
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


def sources(notebook):
    return ["".join(cell["source"]) for cell in notebook["cells"]]


def test_answers_are_out_and_all_else_stays():
    before = copy.deepcopy(NOTEBOOK)
    edition = editions.students(NOTEBOOK)
    assert before == NOTEBOOK
    assert sources(edition) == [
        "# Title",
        stubs.REPORTER.rstrip(),
        "import numpy",
        "**Exercise. Try. Build, 5 minutes**\n\n\nWrite `f`.",
        "# Your answer to a\n\ndef f(x, *, y=2):\n"
        '    raise NotImplementedError("f: your code here")',
        "Not the answer.",
        'with exercise("a", 5, "f"):\n    assert f(3) == 3',
        "**Exercise. Again. Prove, 3 minutes**\n\n\nSay.",
        "# Your answer to b\n\nclass C(int):\n    ...  # your code here\n"
        "g = ...  # your code here",
        'with exercise("b", 3, "g", "C"):\n    assert g and C',
        'print(sum(exercise.scores.values()), "of 8 points so far")',
    ]
    outputs = [c["outputs"] for c in edition["cells"] if c["cell_type"] == "code"]
    assert [bool(found) for found in outputs] == [False, True, *[False] * 5]


def test_a_stub_keeps_the_docstring():
    source = 'def f(x):\n    """What it does."""\n    return 1'
    stub = stubs.stub("a", source, "f(1)")
    assert '"""What it does."""' in stub and "return" not in stub


def test_a_check_asks_for_nothing_that_it_sets():
    stub = stubs.stub("a", "f = 1\nx = 2", "x = f\nassert x")
    assert stub == "# Your answer to a\nf = ...  # your code here"
    assert stubs.checked_names("f = [i for i in range(3)]", "i = f") == ["f"]
    assert stubs.checked_names("f = 1\nx = 2", "def g(x): return x\ng(f)") == ["f"]


def test_points_are_minutes():
    assert stubs.points("Try. Build, 12 minutes") == 12
    with pytest.raises(ValueError, match="must end with its minutes"):
        stubs.points("Try. Build")


def run(*cells):
    """What a check says in a student's notebook, and the points."""
    names, out = {}, io.StringIO()
    with contextlib.redirect_stdout(out):
        for cell in (stubs.REPORTER, *cells):
            exec(cell, names)
    return out.getvalue().strip(), names["exercise"].scores


def test_a_check_reports_and_goes_on():
    check = stubs.reported("a", 5, ["f"], 'assert f == 3, f"not {f}"')
    assert run("f = 3", check) == ("✓ a, 5 of 5 points: right", {"a": 5})
    assert run("f = 4", check) == ("✗ a, 0 of 5 points: not 4", {"a": 0})
    for cell in ("", "f = ..."):
        text, _ = run(cell, check)
        assert text == "✗ a, 0 of 5 points: not answered yet: f"
    check = stubs.reported("a", 5, ["f"], "assert f(0)")
    stub = stubs.stub("a", "def f(x): pass", "f")
    assert run(stub, check)[0].endswith("not answered yet: f: your code here")
    assert run("f = lambda x: 1 / x", check)[0].endswith(
        "ZeroDivisionError: division by zero"
    )


def test_a_check_stays_as_it_is_inside_of_its_report():
    for page in BOOK.notebooks:
        for cell in page.code_cells:
            if cell.tagged("check-"):
                text = stubs.reported("a", 1, [], cell.source)
                (block,) = ast.parse(text).body
                assert ast.unparse(block.body) == ast.unparse(ast.parse(cell.source))


def test_plain_markdown_has_no_marks_of_myst():
    text = "(a)=\n# T\n\n::::{admonition} Theorem\n:class: x\n\nBy {cite}`v17`.\n::::"
    assert editions.plain(text) == "# T\n\n**Theorem**\n\n\nBy [v17]."
    for page in BOOK.notebooks:
        for source in sources(editions.both(page)["student"]):
            assert ":::" not in source and "{cite" not in source
            assert not KEYS & set(re.findall(r"\[([\w-]+)\]", source))


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


@pytest.mark.parametrize("page", BOOK.notebooks, ids=lambda page: page.name)
def test_no_chapter_lets_an_answer_through(page):
    """Not a line, not a sentence, in no output or metadata; Jupyter can read both."""
    both = editions.both(page)
    for notebook in both.values():
        nbformat.validate(nbformat.from_dict(notebook))
    assert len(secrets(page)) >= len(page.exercises)
    student = json.dumps(both["student"], ensure_ascii=False)
    for piece in secrets(page):
        assert json.dumps(piece, ensure_ascii=False)[1:-1] not in student, piece
    assert "solution-" not in student
    signatures = "\n".join(sources(both["student"]))
    assert signatures.count("your code here") >= len(page.exercises)
    for exercise in page.exercises:
        text = links.linked(links.cited(exercise.text), page)
        assert editions.plain(text) in signatures


def find(where, hint="HOW", **options):
    """Run the first cell there, with no library installed."""
    edition = editions.findable(NOTEBOOK, hint, **options)
    source = "".join(edition["cells"][1]["source"])
    assert max(map(len, source.splitlines())) <= 72
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"{source}\nprint(Path.cwd())"],
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
    edition = editions.findable(NOTEBOOK, "HOW", "part", repository=there.as_uri())
    cell = "".join(edition["cells"][1]["source"])
    source = f"import sys\nsys.modules['google.colab'] = sys\n{cell}\nprint(Path.cwd())"
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", source],
            cwd=tmp_path / "machine",
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout.strip() == str(tmp_path / "machine/book/part"), done.stderr
    assert "colab" not in json.dumps(editions.findable(NOTEBOOK, "HOW"))


def test_only_a_page_that_reads_files_goes_to_them():
    moving = [
        page
        for page in BOOK.notebooks
        if "os.chdir" in json.dumps(editions.both(page)["student"])
    ]
    assert moving and all(page.reads for page in moving)
    folders = {(ROOT / p.name).parent / folder for p in moving for folder, _ in p.reads}
    assert all(folder.is_dir() for folder in folders)
