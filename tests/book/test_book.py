"""The book's own lint: what a reader relies on and no other tool checks."""

import ast
import copy
import importlib
import inspect
import json
import pkgutil
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
import yaml
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

import pe_lib

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "book"
LEVELS = {"predict", "modify", "build", "prove"}
VERDICTS = re.compile(r"true|not as stated|open|true if .+")

Cell = dict[str, Any]


def visible(pattern: str) -> list[Path]:
    """Files below book/, without what editors leave in hidden folders."""
    return [
        path
        for path in sorted(BOOK.glob(pattern))
        if not any(part.startswith(".") for part in path.relative_to(BOOK).parts)
    ]


NOTEBOOKS = visible("**/*.ipynb")
TEXTS = visible("**/*.md")
CLAIMS: dict[str, dict[str, Any]] = {
    claim["id"]: claim
    for path in visible("claims/*.yml")
    for claim in yaml.safe_load(path.read_text(encoding="utf-8"))
}

each_notebook = pytest.mark.parametrize(
    "path", NOTEBOOKS, ids=lambda path: str(path.relative_to(BOOK))
)


def cells(path: Path, kind: str = "") -> list[Cell]:
    """The cells of a notebook, of one kind or all; sources are joined."""
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    for cell in found:
        cell["source"] = "".join(cell["source"])
    return [cell for cell in found if kind in ("", cell["cell_type"])]


def tags(cell: Cell, prefix: str) -> list[str]:
    """What follows `prefix` in the tags of a cell."""
    return [
        tag.removeprefix(prefix)
        for tag in cell["metadata"].get("tags", [])
        if tag.startswith(prefix)
    ]


def printed(path: Path) -> str:
    """Everything that the cells of a notebook print."""
    return "\n".join(
        "".join(output.get("text", ""))
        for cell in cells(path, "code")
        for output in cell["outputs"]
    )


def code(path: Path) -> str:
    """All code of a notebook."""
    return "\n".join(cell["source"] for cell in cells(path, "code"))


def images(cell: Cell) -> list[str]:
    """The SVG outputs of a cell."""
    return [
        "".join(output["data"]["image/svg+xml"])
        for output in cell["outputs"]
        if "image/svg+xml" in output.get("data", {})
    ]


# The table of contents


def test_toc_and_files_match() -> None:
    """Every page is in _toc.yml, and every entry of it is a page."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    chapters = [chapter for part in toc["parts"] for chapter in part["chapters"]]
    listed = [toc["root"], *(chapter["file"] for chapter in chapters)]
    pages = [str(page.relative_to(ROOT).with_suffix("")) for page in NOTEBOOKS + TEXTS]
    assert sorted(listed) == sorted(pages)


# The opening block


def opening(path: Path) -> dict[str, str]:
    """The four lines of "Before you start", by their bold heading."""
    for cell in cells(path, "markdown"):
        block = re.search(
            r"^:::\{dropdown\} Before you start\n(.*?)^:::$",
            cell["source"],
            re.DOTALL | re.MULTILINE,
        )
        if block:
            return dict(re.findall(r"^- \*\*(.+?)\*\* (.+)$", block[1], re.MULTILINE))
    raise AssertionError(f"{path.name} has no opening block 'Before you start'")


def needs(path: Path) -> set[Path]:
    """The chapters that an opening block says one must know."""
    links = re.findall(r"\]\((\S+?\.ipynb)\)", opening(path)["You need"])
    return {(path.parent / link).resolve() for link in links}


@each_notebook
def test_opening_block(path: Path) -> None:
    """It says what one will be able to do, what one needs, how long it takes."""
    block = opening(path)
    assert set(block) == {"You will be able to", "You need", "Time", "Level"}
    assert re.fullmatch(r"\d+ minutes to read, \d+ seconds? to run\.", block["Time"])
    assert block["Level"] in ("core.", "deeper.")
    assert needs(path) or "No other chapter." in block["You need"]


def test_needs_exist_and_have_no_cycle() -> None:
    """One can read the book in some order without meeting an unknown word."""
    graph = {path.resolve(): needs(path) for path in NOTEBOOKS}
    assert set().union(*graph.values()) <= set(graph)
    assert list(TopologicalSorter(graph).static_order())


# Figures


@each_notebook
def test_figures_are_described(path: Path) -> None:
    """Each has an alternative text, a caption, a name, and a bearable size."""
    assert path.stat().st_size <= 1_000_000
    for cell in cells(path, "code"):
        for svg in images(cell):
            described = cell["metadata"]["mystnb"]
            assert described["figure"]["name"].startswith("fig-")
            assert len(described["figure"]["caption"]) > 20
            assert len(described["image"]["alt"]) > 40
            assert described["image"]["alt"] != described["figure"]["caption"]
            assert len(svg) <= 150_000


def test_figure_names_are_unique() -> None:
    """A link to a figure leads to one figure."""
    names = [
        cell["metadata"]["mystnb"]["figure"]["name"]
        for path in NOTEBOOKS
        for cell in cells(path, "code")
        if images(cell)
    ]
    assert len(names) == len(set(names))


def test_cover_is_the_figure_of_the_chapter() -> None:
    """The picture of README and index is the stored output, byte for byte."""
    cover = (BOOK / "_static/cover.svg").read_text(encoding="utf-8")
    assert [cover] == [
        svg
        for path in NOTEBOOKS
        for cell in cells(path, "code")
        for svg in images(cell)
        if tags(cell, "cover")
    ]


# Code and outputs


@each_notebook
def test_cells_were_executed_in_order(path: Path) -> None:
    """The stored outputs come from one run from top to bottom."""
    counts = [cell["execution_count"] for cell in cells(path, "code")]
    assert counts == list(range(1, len(counts) + 1))


@each_notebook
def test_code_is_fit_to_print(path: Path) -> None:
    """Short lines, short cells, imports in the first cell, nothing personal."""
    first, *rest = cells(path, "code")
    assert len(first["source"].splitlines()) <= 6
    for cell in [first, *rest]:
        lines = cell["source"].splitlines()
        assert len(lines) <= 25
        assert max(map(len, lines)) <= 72, max(lines, key=len)
        assert not lines[-1].endswith(";"), "a trailing ; always fails nbval"
        assert not re.search(r"['\"](/|~|[A-Z]:\\)", cell["source"]), "absolute path"
        assert not re.search(r"requests|urllib|https?://|!pip|%pip", cell["source"])
    for cell in rest:
        assert not re.search(r"^\s*(import|from) ", cell["source"], re.MULTILINE)


@each_notebook
def test_outputs_are_fit_to_print(path: Path) -> None:
    """Text that fits a phone, SVG figures, our own tables and explorers, no more."""
    table, explorer = '<table class="dataframe scorecard">', '<div class="pe-explorer '
    for line in printed(path).splitlines():
        assert len(line) <= 40, line
    for cell in cells(path, "code"):
        for output in cell["outputs"]:
            assert output.get("name", "stdout") == "stdout"
            data = output.get("data", {})
            assert set(data) <= {"image/svg+xml", "text/html", "text/plain"}
            html = "".join(data.get("text/html", table))
            assert html.startswith((table, explorer)) and len(html.encode()) <= 6144


@each_notebook
def test_no_output_is_ignored(path: Path) -> None:
    """No cell is exempt: nbval compares every output."""
    for cell in cells(path, "code"):
        assert not tags(cell, "nbval-")


@each_notebook
def test_metadata_is_the_same_on_every_machine(path: Path) -> None:
    """`make outputs` has been over it, not only an editor."""
    for cell in cells(path):
        assert set(cell["metadata"]) <= {"tags", "mystnb"}


# Numbers in sentences

NUMBER = re.compile(
    r"(?<![\w.,/])(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\d+(?=\s?%))(?![\w/]|[.,]\d)"
)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a Markdown text, without code, formulas and addresses."""
    for noise in (
        r"```.*?```",
        r"\$\$.*?\$\$",
        r"\{cite[^}]*\}`[^`]*`(?P<cite>)",
        r"\{ref\}`[^`]*`",
        r"(?<!\})`[^`]*`",
        r"\$[^$]*\$",
        r"\]\([^)]*\)",
    ):
        mark = " CITED " if "cite" in noise else " "
        text = re.sub(noise, mark, text, flags=re.DOTALL)
    return iter(re.split(r"(?<=[.?!])\s+|\n\n", text))


def measured(text: str) -> list[str]:
    """The measured numbers of a text; a sentence with a citation is exempt."""
    return [
        number
        for sentence in sentences(text)
        if "CITED" not in sentence
        for number in NUMBER.findall(sentence)
    ]


def occurs(number: str, text: str) -> bool:
    """Whether a number occurs in a text, perhaps with more digits."""
    digits = len(number.partition(".")[2])
    wanted = number.replace(",", "")
    found = re.findall(r"\d+(?:\.\d+)?", text.replace(",", "").replace("_", ""))
    return any(f"{float(value):.{digits}f}" == wanted for value in found)


@each_notebook
def test_numbers_in_prose_are_computed(path: Path) -> None:
    """A decimal or a percentage in a sentence is in an output of its page."""
    texts = [cell["source"] for cell in cells(path, "markdown")]
    for cell in cells(path, "code"):
        described = cell["metadata"].get("mystnb", {})
        texts += [part for kind in described.values() for part in kind.values()]
    outputs, literals = printed(path), code(path)
    assert [
        number
        for number in measured("\n\n".join(texts))
        if not occurs(number, outputs)
        and not ("," in number and occurs(number, literals))
    ] == []


def sections(text: str) -> list[str]:
    """A Markdown text, cut at its headings of the second level."""
    return re.split(r"^## ", text, flags=re.MULTILINE)


def linked_notebooks(path: Path, text: str) -> list[Path]:
    """The chapters that a text on the page `path` links to, also by a claim."""
    links = re.findall(r"\]\((\S+?\.ipynb)(?:#\S*)?\)", text)
    claims = re.findall(r"\{ref\}`[^`]*<claim-(\S+)>`", text)
    return [(path.parent / link).resolve() for link in links] + [
        notebook
        for notebook in NOTEBOOKS
        for cell in cells(notebook, "code")
        if set(tags(cell, "claim-")) & set(claims)
    ]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_pages_without_code_borrow_their_numbers(path: Path) -> None:
    """A measured number there is in an output of a chapter that its section links."""
    for section in sections(path.read_text(encoding="utf-8")):
        notebooks = linked_notebooks(path, section)
        outputs = "\n".join(printed(notebook) for notebook in notebooks)
        assert [n for n in measured(section) if not occurs(n, outputs)] == []


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("It takes 60,611 steps, 3.5 % less.", ["60,611", "3.5"]),
        ("Half of it, 48 %, is $0.5$ or `0.25`.", ["48"]),
        ("They report 25.8 {cite}`key`. We get 4.92.", ["4.92"]),
        ("Section 3, the 10000th of 2017.", []),
        ("{ref}`This <a>` and 0.5 of {ref}`that <b>`.", ["0.5"]),
    ],
)
def test_measured_numbers_are_found(text: str, numbers: list[str]) -> None:
    """The lint itself reads what it should, and no more."""
    assert measured(text) == numbers


# Claims


def test_claims_and_tagged_cells_match() -> None:
    """Every claim that a cell settles has one such cell, and the reverse."""
    tagged = [
        claim
        for path in NOTEBOOKS
        for cell in cells(path, "code")
        for claim in tags(cell, "claim-")
    ]
    settled = [key for key, claim in CLAIMS.items() if claim["settled_by"] == "cell"]
    assert sorted(tagged) == sorted(settled)


@each_notebook
def test_claim_cells_assert(path: Path) -> None:
    """A cell that settles a claim compares something that it computed."""
    for cell in cells(path, "code"):
        if tags(cell, "claim-"):
            asserted = [
                node.test
                for node in ast.walk(ast.parse(cell["source"]))
                if isinstance(node, ast.Assert)
            ]
            assert asserted
            for test in asserted:
                kinds = {type(node) for node in ast.walk(test)}
                assert ast.Name in kinds and kinds & {ast.Compare, ast.Call}
                assert not kinds & {ast.Is, ast.IsNot}


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS.keys())
def test_claim_is_complete(claim: dict[str, Any]) -> None:
    """It has a verdict, a reason, sources; its numbers are on its page."""
    required = {"id", "question", "rank", "claim", "sources", "verdict", "why"}
    assert set(claim) - {"place"} == required | {"settled_by"}
    assert VERDICTS.fullmatch(claim["verdict"])
    assert claim["settled_by"] in ("cell", "citation", "later")
    assert (claim["settled_by"] == "citation") == ("place" in claim)
    assert (claim["settled_by"] == "later") == (claim["verdict"] == "open")
    assert claim["question"].endswith("?") and type(claim["rank"]) is int
    assert len(claim["claim"]) > 10 and len(claim["why"]) > 10
    assert not measured(claim["claim"] + " " + claim["verdict"])
    for path in NOTEBOOKS:
        if any(claim["id"] in tags(cell, "claim-") for cell in cells(path)):
            for number in measured(claim["why"]):
                assert occurs(number, printed(path)), number


def test_claim_ranks_and_ids_are_unique() -> None:
    """The order of the ledger is decided."""
    ranks = [claim["rank"] for claim in CLAIMS.values()]
    assert sorted(ranks) == list(range(1, len(ranks) + 1))
    count = sum(
        len(yaml.safe_load(path.read_text(encoding="utf-8")))
        for path in visible("claims/*.yml")
    )
    assert count == len(CLAIMS)


# The questions

FIRST_QUESTIONS = [  # the landing page links to these
    "faq-why-sine-and-cosine",
    "faq-why-10000",
    "faq-why-add",
    "faq-extrapolate",
    "faq-which-one",
]
PLANNED: set[str] = set()  # chapters that an answer of the FAQ waits for
QUESTIONS: list[tuple[str, str, str]] = re.findall(
    r"^\((faq-\S+)\)=\n## ([^\n]+)\n(.+?)(?=^\(faq-|\Z)",
    (BOOK / "reference/faq.md").read_text(encoding="utf-8"),
    re.DOTALL | re.MULTILINE,
)


def test_every_question_is_listed() -> None:
    """The list at the top of the FAQ is its headings, in their order."""
    text = (BOOK / "reference/faq.md").read_text(encoding="utf-8")
    links = re.findall(r"^- \[(.+)\]\(#(\S+)\)$", text, re.MULTILINE)
    assert links == [(title, label) for label, title, _ in QUESTIONS]
    assert len(QUESTIONS) == text.count("\n## ")
    assert [label for label, _, _ in QUESTIONS][:5] == FIRST_QUESTIONS


@pytest.mark.parametrize(
    "answer", [text for *_, text in QUESTIONS], ids=[label for label, *_ in QUESTIONS]
)
def test_answer_is_short_and_open_where_it_says_so(answer: str) -> None:
    """It fits a phone, links to a cell, and waits only for what does not exist."""
    opened = re.findall(r"^% open: (.+)$", answer, re.MULTILINE)
    prose = re.sub(r"^(% open: .+|- )", "", answer, flags=re.MULTILINE)
    words = [word for sentence in sentences(prose) for word in sentence.split()]
    toc = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    assert 60 <= len(words) <= 135
    assert linked_notebooks(BOOK / "reference/faq.md", answer)
    assert set(opened) <= PLANNED
    assert [name for name in opened if f"book/{name}\n" in toc + "\n"] == []


def test_nn_transformer_adds_no_positions() -> None:
    """What the FAQ says: no table, and no reaction to the order of the source."""
    import torch

    torch.manual_seed(0)
    model = torch.nn.Transformer(16, 2, 2, 2, 32, dropout=0.0, batch_first=True)
    assert not list(model.buffers())
    assert not [name for name, _ in model.named_parameters() if "pos" in name]
    source, target = torch.randn(1, 7, 16), torch.randn(1, 5, 16)
    code = torch.linspace(0, 1, 7)[:, None]
    with torch.no_grad():
        output = model(source, target)
        shuffled = model(source.flip(1), target)
        coded = model(source + code, target) - model(source.flip(1) + code, target)
    assert (output - shuffled).abs().max() < 1e-5
    assert coded.abs().max() > 1e-3


# Exercises


@each_notebook
def test_exercises_have_their_form(path: Path) -> None:
    """Exercise, folded solution with its cell, then the check outside the fold."""
    found = []
    for cell in cells(path):
        source = cell["source"]
        for title, label in re.findall(
            r"^:::\{exercise\} (.+)\n:label: (\S+)$", source, re.MULTILINE
        ):
            level, minutes = re.search(r" (\w+), (\d+) minutes$", title).groups()
            assert level.lower() in LEVELS and 0 < int(minutes) <= 30
            found.append(("exercise", label))
        for label in re.findall(
            r"^:::\{solution-start\} (\S+)\n:class: dropdown$", source, re.MULTILINE
        ):
            found.append(("start", label))
        found += [("solution", label) for label in tags(cell, "solution-")]
        found += [("end", "")] * source.count(":::{solution-end}")
        found += [("check", label) for label in tags(cell, "check-")]
    labels = [label for step, label in found if step == "exercise"]
    assert 2 <= len(labels) <= 4
    assert found == [
        step
        for label in labels
        for step in [
            ("exercise", label),
            ("start", label),
            ("solution", label),
            ("end", ""),
            ("check", label),
        ]
    ]


def nothing_but_zeros(source: str) -> str:
    """A wrong solution: the names of the right one, each of them zero."""
    names = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            names.append(f"{node.name} = lambda *arguments: 0")
        names += [
            f"{name.id} = 0"
            for name in ast.walk(node)
            if isinstance(node, ast.Assign)
            and isinstance(name, ast.Name)
            and isinstance(name.ctx, ast.Store)
        ]
    return "\n".join(names)


@each_notebook
@pytest.mark.parametrize("answer", ["no answer", "a wrong answer"])
def test_students_edition_fails_its_checks(path: Path, answer: str) -> None:
    """Without its solution an exercise is not solved, by accident or by zeros."""
    edition = copy.deepcopy(nbformat.read(path, as_version=4))
    for cell in edition.cells:
        if tags(cell, "solution-"):
            wrong = nothing_but_zeros(cell.source)
            assert wrong
            cell.source = wrong if answer == "a wrong answer" else ""
    client = NotebookClient(
        edition,
        timeout=120,
        allow_errors=True,
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute()
    for cell in edition.cells:
        failed = any(o.output_type == "error" for o in cell.get("outputs", []))
        assert failed == bool(tags(cell, "check-")), cell.source


def test_the_students_edition_would_notice() -> None:
    """The test above sees errors at all."""
    cell = nbformat.v4.new_code_cell("assert undefined_name")
    with pytest.raises(CellExecutionError):
        NotebookClient(nbformat.v4.new_notebook(cells=[cell])).execute()


# The formulas that everything stands on


def prose(name: str) -> str:
    """All Markdown of a chapter."""
    return "\n\n".join(cell["source"] for cell in cells(BOOK / name, "markdown"))


def test_the_printed_theorem_is_the_matrix() -> None:
    """The block in the theorem, read entry by entry, is what pe_lib computes."""
    theorem = prose("sinusoidal/rotation.ipynb").partition("Theorem (shift)")[2]
    entries = re.findall(r"(-?)\\(cos|sin)\\omega_j k", theorem)[:4]
    k = 0.7
    block = [
        (-1 if sign else 1) * {"cos": np.cos, "sin": np.sin}[name](k)
        for sign, name in entries
    ]
    np.testing.assert_allclose(
        np.reshape(block, (2, 2)), pe_lib.shift_matrix(k, 2), rtol=1e-15
    )


def test_the_printed_formula_is_the_encoding() -> None:
    """The three lines of the formula, evaluated, are what pe_lib computes."""
    text = prose("sinusoidal/formula.ipynb")
    assert r"P_{t,\,2k} &= \sin(\omega_k t)" in text
    assert r"P_{t,\,2k+1} &= \cos(\omega_k t)" in text
    printed_formula = re.search(r"\\omega_k &= (\d+)\^\{(-?)2k/d\}", text)
    assert printed_formula
    sign = -1 if printed_formula[2] else 1
    frequencies = int(printed_formula[1]) ** (sign * 2 * np.arange(4) / 8)
    np.testing.assert_allclose(frequencies, pe_lib.angular_frequencies(8), rtol=1e-15)


# References and the library's page


def test_bibliography_is_used_and_defined() -> None:
    """Every citation has an entry, every entry is cited."""
    entries = (BOOK / "references.bib").read_text(encoding="utf-8")
    defined = re.findall(r"^@\w+\{([^,\s]+),", entries, re.MULTILINE)
    texts = [path.read_text(encoding="utf-8") for path in TEXTS]
    texts += [cell["source"] for path in NOTEBOOKS for cell in cells(path)]
    cited = {
        key
        for text in texts
        for keys in re.findall(r"\{cite[^}]*\}`([^`]+)`", text)
        for key in keys.split(",")
    }
    for claim in CLAIMS.values():
        text = claim["why"] + claim.get("place", "")
        cited |= set(claim["sources"])
        cited |= set(",".join(re.findall(r"\{cite[^}]*\}`([^`]+)`", text)).split(","))
    cited.discard("")
    assert sorted(defined) == sorted(cited)


def public_functions() -> Iterator[str]:
    """The full names of what pe_lib defines for others."""
    for module in pkgutil.walk_packages(pe_lib.__path__, "pe_lib."):
        if not module.name.rpartition(".")[2].startswith("_"):
            for name, value in vars(importlib.import_module(module.name)).items():
                own = getattr(value, "__module__", None) == module.name
                if own and not name.startswith("_") and inspect.isroutine(value):
                    yield f"{module.name}.{name}"


def test_every_public_name_is_on_the_api_page() -> None:
    """And the page has none that does not exist."""
    page = (BOOK / "reference/api.md").read_text(encoding="utf-8")
    shown = set()
    for name in re.findall(r"^\.\. autofunction:: (\S+)$", page, re.MULTILINE):
        module, _, function = name.rpartition(".")
        value = getattr(importlib.import_module(module), function)
        shown.add(f"{value.__module__}.{value.__name__}")
    assert shown == set(public_functions())
