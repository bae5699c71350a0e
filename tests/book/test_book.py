"""The book's own lint: what a reader relies on and no other tool checks."""

import ast
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter

import numpy as np
import pytest

import manuscript
import pe_lib
from manuscript import ROOT, Claim, Page
from manuscript.values import MARK
from tests.book.prose_numbers import uses
from website.live import extension

BOOK = manuscript.read()
LEVELS = {"predict", "modify", "build", "prove"}
VERDICTS = re.compile(r"true|not as stated: .+|open|true if .+")

each_notebook = pytest.mark.parametrize(
    "page", BOOK.notebooks, ids=lambda page: page.name.removeprefix("book/")
)


# The table of contents


def test_toc_and_files_match() -> None:
    """Every page is in _toc.yml, and every entry of it is a page."""
    assert sorted(BOOK.listed) == sorted(BOOK.pages), "list each page in _toc.yml once"


# The opening block


@each_notebook
def test_opening_block(page: Page) -> None:
    """It says what one will be able to do and what one needs, and no more."""
    assert set(page.opening) == {"You will be able to", "You need"}, (
        "below its question a page has the fold *Before you start*, with the two items "
        "**You will be able to** and **You need**: see book/failures/dials.ipynb"
    )
    assert page.needs or "No other chapter." in page.opening["You need"], (
        "*You need* links to chapters, or says 'No other chapter.'"
    )


def test_needs_exist_and_have_no_cycle() -> None:
    """One can read the book in some order without meeting an unknown word."""
    graph = {page.name: page.needs for page in BOOK.notebooks}
    missing = set().union(*graph.values()) - set(graph)
    assert not missing, f"*You need* links to no chapter: {missing}"
    assert list(TopologicalSorter(graph).static_order())


# Figures


@each_notebook
def test_figures_are_described(page: Page) -> None:
    """Each has an alternative text, a caption and a name.

    In a column of 358 pixels no letter is smaller than 12; none is an outline.
    """
    assert page.path.stat().st_size <= 1_000_000, "a notebook has 1 MB at most"
    for cell in page.code_cells:
        for svg in cell.drawings:
            figure = cell.figure
            assert figure, f"{cell.id}: give the figure a name, a caption, an alt"
            name = figure.name
            assert name.startswith("fig-"), f"{name}: its name begins with fig-"
            assert len(figure.caption) > 20, f"{name}: the caption says what one sees"
            assert len(figure.alt) > 40, f"{name}: the alt says what the figure shows"
            assert figure.alt != figure.caption, f"{name}: the alt is for who sees none"
            assert not re.search(r"\b(pale|dark|white)", figure.caption), (
                f"{name}: true in light and in dark: 'faint', or 'fades into the page'"
            )
            width = float(re.findall(r'viewBox="0 0 ([0-9.]+)', svg)[0])
            letters = [float(size) for size in re.findall(r"font-size: ([0-9.]+)", svg)]
            assert min(letters, default=12) * 358 / width >= 12, (
                f"{name}: draw it narrower or its letters larger"
            )
            outlines = 'id="DejaVu' in svg
            in_browser = not extension.lacking(page.name)  # which lacks its letters
            assert not outlines and not (in_browser and re.search("<!-- .*[$]", svg)), (
                f"{name}: write it without mathtext"
            )


def test_figure_names_are_unique() -> None:
    """A link to a figure leads to one figure."""
    names = [
        cell.figure.name
        for page in BOOK.notebooks
        for cell in page.code_cells
        if cell.drawings and cell.figure
    ]
    assert sorted(names) == sorted(BOOK.figures), "two figures have one name"


def test_cover_is_the_figure_of_the_chapter() -> None:
    """The picture of README and index is the stored output, byte for byte."""
    cover = (ROOT / "website/static/cover.svg").read_text(encoding="utf-8")
    assert [cover] == [
        svg
        for page in BOOK.notebooks
        for cell in page.code_cells
        for svg in cell.drawings
        if cell.tagged("cover")
    ]


# Code and outputs


@each_notebook
def test_cells_were_executed_in_order(page: Page) -> None:
    """The stored outputs come from one run from top to bottom."""
    counts = [cell.execution_count for cell in page.code_cells]
    assert counts == list(range(1, len(counts) + 1)), (
        f"run it: .venv/bin/python -m tools.execute {page.name}.ipynb"
    )


@each_notebook
def test_code_is_fit_to_print(page: Page) -> None:
    """Short lines, short cells, imports in the first cell, nothing personal."""
    first, *rest = page.code_cells
    plumbing, _, values = first.source.partition(f"\n{MARK}\n")
    assert len(plumbing.splitlines()) <= 11, "eleven lines of imports at most"
    assert len(values.splitlines()) <= 4, "four values that a reader may change"
    for cell in [first, *rest]:
        lines = cell.source.splitlines()
        assert len(lines) <= 25, f"{cell.id}: 25 lines at most, so split the cell"
        longest = max(lines, key=len)
        assert len(longest) <= 72, f"{cell.id}: 72 characters a line at most: {longest}"
        assert not lines[-1].endswith(";"), "a trailing ; always fails nbval"
        assert not re.search(r"['\"](/|~|[A-Z]:\\)", cell.source), "absolute path"
        assert not re.search(r"requests|urllib|https?://|!pip|%pip", cell.source), (
            f"{cell.id}: a chapter needs no network"
        )
    for cell in rest:
        # SymPy where it is used: on the page its megabytes come with that cell.
        imports = re.search(r"^\s*(import (?!sympy$)|from )", cell.source, re.MULTILINE)
        assert not imports, f"{cell.id}: imports stand in the first cell"


@each_notebook
def test_outputs_are_fit_to_print(page: Page) -> None:
    """Text that fits a phone, SVG figures, our own tables and explorers, no more."""
    allowed = ('<table class="dataframe scorecard">', '<div class="pe-explorer')
    for line in page.printed.splitlines():
        assert len(line) <= 40, f"print 40 characters a line at most: {line}"
    for cell in page.code_cells:
        for output in cell.outputs:
            assert output.get("name", "stdout") == "stdout", "something has warned"
            kinds = {"image/svg+xml", "text/html", "text/plain"}
            assert set(output.get("data", {})) <= kinds, (
                "text, SVG or HTML alone: figures are SVG where the set-up cell has "
                "plotting.use_house_style()"
            )
        for html in cell.tables:
            assert html.startswith(allowed), "our own tables and explorers alone"


@each_notebook
def test_metadata_is_the_same_on_every_machine(page: Page) -> None:
    """`make outputs` has been over it; and nbval compares every cell."""
    for cell in page.cells:
        assert not cell.tagged("nbval-"), f"{cell.id}: print what is always the same"
        assert set(cell.metadata) <= {"tags", "mystnb", "checked"}, (
            f"run it: .venv/bin/python -m tools.execute {page.name}.ipynb"
        )


# Claims


def test_claims_and_tagged_cells_match() -> None:
    """Every claim that a cell settles has one such cell, and the reverse."""
    tagged = [
        claim
        for page in BOOK.notebooks
        for cell in page.code_cells
        for claim in cell.tagged("claim-")
    ]
    settled = [key for key, c in BOOK.claims.items() if c.settled_by == "cell"]
    assert sorted(tagged) == sorted(settled), (
        "a claim settled_by: cell has one cell tagged claim-<id>"
    )


@each_notebook
def test_claim_cells_assert(page: Page) -> None:
    """A cell that settles a claim compares something that it computed."""
    for cell in page.code_cells:
        if cell.tagged("claim-"):
            asserted = [
                node.test
                for node in ast.walk(ast.parse(cell.source))
                if isinstance(node, ast.Assert)
            ]
            assert asserted, f"{cell.id}: it settles a claim, so it asserts something"
            for test in asserted:
                kinds = {type(node) for node in ast.walk(test)}
                compared = ast.Name in kinds and kinds & {ast.Compare, ast.Call}
                assert compared and not kinds & {ast.Is, ast.IsNot}, (
                    f"{cell.id}: compare a name's value, not by `is`"
                )


@pytest.mark.parametrize("claim", BOOK.claims.values(), ids=BOOK.claims.keys())
def test_claim_is_complete(claim: Claim) -> None:
    """It has a verdict, a reason, a place where it is settled, and a question."""
    assert VERDICTS.fullmatch(claim.verdict), f"a verdict is {VERDICTS.pattern}"
    assert claim.settled_by in ("cell", "citation", "later")
    assert (claim.settled_by == "citation") == bool(claim.place), (
        "what a citation settles has a place: the page or section of the source"
    )
    assert (claim.settled_by == "later") == (claim.verdict == "open")
    assert claim.question.endswith("?"), "its question groups it on the page"
    assert len(claim.claim) > 10 and len(claim.why) > 10
    sentence = f"{claim.claim} Verdict: {claim.verdict}."
    precise = [use.text for use in uses(sentence) if use.percent or "." in use.text]
    assert not precise, "no shares or decimals in a claim: they belong into its `why`"


# Exercises


@each_notebook
def test_exercises_have_their_form(page: Page) -> None:
    """Exercise, folded solution with its cell, then the check outside the fold."""
    for exercise in page.exercises:
        level = re.search(r" (\w+), (\d+) minutes$", exercise.title)
        assert level and level[1].lower() in LEVELS and 0 < int(level[2]) <= 30, (
            f"{exercise.title!r} ends as in 'Build, 5 minutes': one of {LEVELS}"
        )
    found = []
    for cell in page.cells:
        for label in re.findall(
            r"^:::\{exercise\} .+\n:label: (\S+)$", cell.source, re.MULTILINE
        ):
            found.append(("exercise", label))
        for label in re.findall(
            r"^:::\{solution-start\} (\S+)\n:class: dropdown$",
            cell.source,
            re.MULTILINE,
        ):
            found.append(("start", label))
        found += [("solution", label) for label in cell.tagged("solution-")]
        found += [("end", "")] * cell.source.count(":::{solution-end}")
        found += [("check", label) for label in cell.tagged("check-")]
    labels = [exercise.label for exercise in page.exercises]
    fewest = 0 if page.name.endswith("_deeper") else 1
    assert fewest <= len(labels) <= 4, f"up to four exercises, here {len(labels)}"
    steps = ("exercise", "start", "solution", "end", "check")
    expected = [(step, "" if step == "end" else x) for x in labels for step in steps]
    assert found == expected, (
        "the exercise, its folded solution around a cell tagged solution-<label>, then "
        f"the cell tagged check-<label>; here {found}"
    )


# The formulas that everything stands on


def test_the_printed_theorem_is_the_matrix() -> None:
    """The block in the theorem, read entry by entry, is what pe_lib computes."""
    theorem = BOOK.pages["book/sinusoidal/rotation"].text.partition("Theorem (shift)")[
        2
    ]
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
    text = BOOK.pages["book/sinusoidal/formula"].text
    assert r"P_{t,\,2j} &= \sin(\omega_j t)" in text
    assert r"P_{t,\,2j+1} &= \cos(\omega_j t)" in text
    printed_formula = re.search(r"\\omega_j &= (\d+)\^\{(-?)2j/d\}", text)
    assert printed_formula
    sign = -1 if printed_formula[2] else 1
    frequencies = int(printed_formula[1]) ** (sign * 2 * np.arange(4) / 8)
    np.testing.assert_allclose(frequencies, pe_lib.angular_frequencies(8), rtol=1e-15)


# References and the library's page


def test_bibliography_is_used_and_defined() -> None:
    """Every citation has an entry, every entry is cited."""
    entries = (ROOT / "book/references.bib").read_text(encoding="utf-8")
    defined = re.findall(r"^@\w+\{([^,\s]+),", entries, re.MULTILINE)
    texts = [cell.source for page in BOOK.pages.values() for cell in page.cells]
    cited = {
        key
        for text in texts
        for keys in re.findall(r"\{cite[^}]*\}`([^`]+)`", text)
        for key in keys.split(",")
    }
    for claim in BOOK.claims.values():
        text = claim.why + claim.place
        cited |= set(claim.cited)
        cited |= set(",".join(re.findall(r"\{cite[^}]*\}`([^`]+)`", text)).split(","))
    cited.discard("")
    assert sorted(defined) == sorted(cited), "book/references.bib has what is cited"


def public_functions() -> Iterator[str]:
    """The full names of what pe_lib defines for others.

    The modules of a package that lists its names in ``__all__`` are its own affair, and
    so are the two packages that are for the chapters alone.
    """
    for module in pkgutil.walk_packages(pe_lib.__path__, "pe_lib."):
        if module.name.startswith(("pe_lib.experiments", "pe_lib.explorers")):
            continue
        package, _, short = module.name.rpartition(".")
        closed = package != "pe_lib" and hasattr(sys.modules[package], "__all__")
        if not short.startswith("_"):
            found = importlib.import_module(module.name)
            names = set() if closed else set(vars(found))
            for name in names | set(getattr(found, "__all__", ())):
                value = vars(found)[name]
                is_ours = getattr(value, "__module__", "").startswith(module.name)
                if is_ours and not name.startswith("_") and inspect.isroutine(value):
                    yield f"{value.__module__}.{name}"


def test_every_public_name_is_on_the_api_page() -> None:
    """And the page has none that does not exist."""
    page = BOOK.pages["book/reference/api"].text
    shown = set()
    for name in re.findall(r"^\.\. autofunction:: (\S+)$", page, re.MULTILINE):
        module, _, function = name.rpartition(".")
        value = getattr(importlib.import_module(module), function)
        shown.add(f"{value.__module__}.{value.__name__}")
    assert shown == set(public_functions()), (
        "list it in book/reference/api.md by `.. autofunction::`, or begin it with _"
    )
