"""Folds on the site: what is folded, what opens it, and what stands above all folds."""

import re
from collections import Counter
from typing import Any

import pytest

import manuscript
from tests.website.site_checks import Opener, Site

BOOK = manuscript.read()
PAGE = "book/sinusoidal/rotation"
QUESTIONS = "do-you-remember"
CLAIM = "claim-shift-is-linear"  # its check


@pytest.mark.parametrize("name", [page.name for page in BOOK.notebooks])
def test_every_role_is_folded(site: Site, name: str) -> None:
    """As many folds of each kind as cells and sections ask for."""
    page = BOOK.pages[name]
    wanted = Counter(
        {"explorer": "figure"}.get(cell.role, cell.role) for cell in page.code_cells
    )
    wanted["recall"] = sum(s.title == manuscript.RECALL for s in page.sections)
    html = site.text(name)
    assert not re.search(r"<!-- (not measured|[^>]*#)", html), "a remark to authors"
    found = Counter(re.findall(r'<details class="fold fold-(\w+)"', html))
    wanted["setup"] = min(1, wanted["setup"])  # all in one, at the end
    kinds = ("setup", "figure", "check", "recall")
    assert {k: found[k] for k in kinds} == {k: wanted[k] for k in kinds}
    places = {cell.id: at for at, cell in enumerate(page.code_cells)}
    setups = [f" c{places[c.id]}" for c in page.code_cells if c.role == "setup"]
    inside = html.partition('<details class="fold fold-setup"')[2]
    found = [m[1] for m in re.finditer(r'class="cell[^"]*?( c\d+)[ "]', inside)]
    assert found[: len(setups)] == setups


IS_OPEN = """(e) => {
    const { top } = e.getBoundingClientRect();
    return e.querySelector("details").open && top > -1 && top < innerHeight; }"""
"""Whether a fold is, and it is in sight."""


def opened(page: Any) -> int:
    return page.locator("details.fold[open]").count()


def test_all_is_folded_at_first_but_for_the_printer(at: Opener) -> None:
    """A heading in a summary is one, with the number of questions beside it.

    A handout has the questions and the checks, folded or not, and no answer.
    """
    page = at(PAGE).page
    assert opened(page) == 0
    summary = page.locator(f"#{QUESTIONS} > details > summary")
    assert summary.locator("h2").inner_text() == "Do you remember?"
    number = page.locator(f"#{QUESTIONS} .sd-dropdown").count()
    assert summary.locator(".fold-result").inner_text() == f"{number} questions"
    code = page.locator(f"#{CLAIM} pre").first
    assert not code.is_visible()
    page.emulate_media(media="print")
    shown = "all => all.filter(e => e.checkVisibility()).length"
    parts = page.locator(":is(.fold-recall, .fold-check) > .fold-body")
    assert parts.evaluate_all(shown) == parts.count() > 3
    assert code.is_visible()
    answers = ".fold-answer, .fold-figure, .sd-dropdown .sd-summary-content p"
    assert page.locator(answers).evaluate_all(shown) <= 5  # of "Before you start"
    assert page.locator(".solution").evaluate_all(shown) == 0


@pytest.mark.parametrize(
    ("target", "query", "folder"),
    [(QUESTIONS, f"#{QUESTIONS}", False), (CLAIM, "", True)],
)
def test_an_address_and_a_link_open_what_they_lead_to(
    at: Opener, target: str, query: str, folder: bool
) -> None:
    """Also from a folder, and again after the reader has closed it."""
    page = at(PAGE, query=query, folder=folder).page
    fold, first = page.locator(f"#{target}"), page.locator("article p").first
    assert fold.evaluate(IS_OPEN) == bool(query) == opened(page)
    first.evaluate("(p, id) => (p.innerHTML = `<a href='#${id}'>there</a>`)", target)
    for _ in range(2):
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = 0)")
        first.locator("a").click()
        page.locator(f"#{target} > details[open]").wait_for()
        assert fold.evaluate(IS_OPEN)
