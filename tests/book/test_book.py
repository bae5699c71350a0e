"""The book's own lint: what a reader relies on and no other tool checks.

The strict build of the site refuses links, sources, labels and functions that lead
nowhere, and a label that two things have.
"""

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
from manuscript import ROOT, Claim
from tests.book.measured_numbers import uses

BOOK = manuscript.read()
CELLS = [cell for page in BOOK.notebooks for cell in page.code_cells]
VERDICTS = re.compile(r"true|not as stated: .+|open|true if .+")


def test_toc_and_files_match() -> None:
    """Every page is in _toc.yml, and every entry of it is a page."""
    assert sorted(BOOK.listed) == sorted(BOOK.pages), "list each page in _toc.yml once"


def test_needs_have_no_cycle() -> None:
    """One can read the book in some order without meeting an unknown word."""
    graph = {page.name: page.needs for page in BOOK.notebooks}
    assert list(TopologicalSorter(graph).static_order())


def test_cover_is_the_figure_of_the_chapter() -> None:
    """The picture of README and index is the stored output, byte for byte."""
    cover = (ROOT / "website/static/cover.svg").read_text(encoding="utf-8")
    assert [cover] == [svg for c in CELLS if c.tagged("cover") for svg in c.drawings]


# Claims


def test_claims_and_tagged_cells_match() -> None:
    """Every claim that a cell settles has one such cell, and the reverse."""
    tagged = [claim for cell in CELLS for claim in cell.tagged("claim-")]
    settled = [key for key, c in BOOK.claims.items() if c.settled_by == "cell"]
    assert sorted(tagged) == sorted(settled), (
        "a claim settled_by: cell has one cell tagged claim-<id>"
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


# The formulas that everything stands on


def test_the_printed_theorem_is_the_matrix() -> None:
    """The block in the theorem, read entry by entry, is what pe_lib computes."""
    text = BOOK.pages["book/sinusoidal/rotation"].text
    _, _, theorem = text.partition("Theorem (shift)")
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


def test_every_source_is_cited() -> None:
    """On a page, or by a claim."""
    entries = (ROOT / "book/references.bib").read_text(encoding="utf-8")
    texts = [cell.source for page in BOOK.pages.values() for cell in page.cells]
    said = [text for c in BOOK.claims.values() for text in (c.why, c.place)]
    text = "\n".join(texts + said)
    keys = ",".join(re.findall(r"\{cite[^}]*\}`([^`]+)`", text)).split(",")
    cited = {*keys, *(key for claim in BOOK.claims.values() for key in claim.cited)}
    idle = {*re.findall(r"^@\w+\{([^,\s]+),", entries, re.MULTILINE)} - cited
    assert not idle, "book/references.bib has what is cited"


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
    """And the page has none that is not public."""
    page = BOOK.pages["book/reference/api"].text
    shown = set()
    for name in re.findall(r"^\.\. autofunction:: (\S+)$", page, re.MULTILINE):
        module, _, function = name.rpartition(".")
        value = getattr(importlib.import_module(module), function)
        shown.add(f"{value.__module__}.{value.__name__}")
    assert shown == set(public_functions()), (
        "list it in book/reference/api.md by `.. autofunction::`, or begin it with _"
    )
