"""The student's edition: the answers out, all else as it was, and it finds pe_lib."""

import copy
import json
import subprocess
import sys
from pathlib import Path

import editions
import manuscript
import nbformat
import pytest
from manuscript import ROOT

BOOK = manuscript.read()


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
        ":::{exercise} Again. Prove, 5 minutes\n:label: b\n\nSay.\n:::\n\n"
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
        "import numpy",
        "**Exercise. Try. Build, 5 minutes**\n\n\nWrite `f`.",
        "# Write your answer here. The check below asks for\n#     f(x, *, y=2)",
        "Not the answer.",
        "assert f(3) == 3",
        "**Exercise. Again. Prove, 5 minutes**\n\n\nSay.",
        "# Write your answer here. The check below asks for\n"
        "#     g\n#     class C(int)",
        "assert g and C",
    ]
    outputs = [c["outputs"] for c in edition["cells"] if c["cell_type"] == "code"]
    assert [bool(found) for found in outputs] == [True, *[False] * 4]


def test_a_check_asks_for_nothing_that_it_sets():
    cells = [code("f = 1\nx = 2", "solution-a"), code("x = f\nassert x", "check-a")]
    edition = editions.students({"cells": cells})
    assert sources(edition)[0].splitlines()[1:] == ["#     f"]


def test_plain_markdown_has_no_marks_of_myst():
    text = "(a)=\n# T\n\n::::{admonition} Theorem\n:class: x\n\nBy {cite}`v17`.\n::::"
    assert editions.plain(text) == "# T\n\n**Theorem**\n\n\nBy [v17]."
    for page in BOOK.notebooks:
        for source in sources(editions.both(page)["student"]):
            assert ":::" not in source and "{cite" not in source


def test_a_check_that_names_nothing_leaves_a_plain_stub():
    cells = [code("print(1)", "solution-a"), code("assert x", "check-a")]
    edition = editions.students({"cells": cells})
    assert sources(edition)[0] == "# Write your answer here."


@pytest.mark.parametrize("page", BOOK.notebooks, ids=lambda page: page.name)
def test_no_chapter_lets_an_answer_through(page):
    """Neither a word nor a line of it; and Jupyter can read both editions."""
    both = editions.both(page)
    for notebook in both.values():
        nbformat.validate(nbformat.from_dict(notebook))
    student, author = map("\n".join, map(sources, both.values()))
    answers = [
        cell.source
        for cell in page.code_cells
        if cell.tagged("solution-") and len(cell.source) > 20
    ]
    prose = [
        text.strip()
        for cell in page.cells
        for _, _, rest in [cell.source.partition(":::{solution-start}")]
        for text in [rest.partition(":::\n")[2].partition(":::{solution-end}")[0]]
        if text.strip()
    ]
    assert answers and prose
    for text in [*answers, *prose]:
        assert text in author and text not in student
    assert "solution-" not in student and student.count("# Write your answer") >= 2
    for exercise in page.exercises:
        assert editions.plain(exercise.text) in student


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


def test_the_hint_names_the_repository_if_there_is_one():
    assert "git clone https://x.org/y" in editions.hint("https://x.org/y")
    page = BOOK.pages["book/failures/counting"]
    assert "get the folder of the book" in json.dumps(editions.both(page))
    assert "git clone https://x.org/y" in json.dumps(
        editions.both(page, "https://x.org/y")
    )


def test_only_a_page_that_reads_files_goes_to_them():
    moving = [
        page.name
        for page in BOOK.notebooks
        if "os.chdir" in json.dumps(editions.both(page)["student"])
    ]
    assert moving and all(
        (ROOT / name).parent.joinpath("data").is_dir() for name in moving
    )


def test_make_lab_opens_the_first_chapter():
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8")
    _, _, rest = recipe.partition("--LabApp.default_url=/lab/tree/")
    assert ROOT / "book" / rest.split()[0] == BOOK.spine[0].path
