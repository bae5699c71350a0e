"""Folds on the site: what is folded, what opens it, and what stands above all folds."""

import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.website import site_checks as checks
from tests.website.site_checks import Site
from website import manuscript

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
    html = site.path(site.url(name)).read_text(encoding="utf-8")
    found = Counter(re.findall(r'<details class="fold fold-(\w+)"', html))
    wanted["setup"] = min(1, wanted["setup"])  # all in one, at the end
    kinds = ("setup", "figure", "check", "recall")
    assert {k: found[k] for k in kinds} == {k: wanted[k] for k in kinds}
    places = {cell.id: at for at, cell in enumerate(page.code_cells)}
    setups = [f" c{places[c.id]}" for c in page.code_cells if c.role == "setup"]
    inside = html.partition('<details class="fold fold-setup"')[2]
    found = [m[1] for m in re.finditer(r'class="cell[^"]*?( c\d+)[ "]', inside)]
    assert found[: len(setups)] == setups


def test_both_editions_are_there(site: Site) -> None:
    """The reader's notebook and the author's, and whoever teaches has a list."""
    listed = site.path(site.url("book/teach")).read_text(encoding="utf-8")
    assert listed.count('.zip" download>') == 2 * len(BOOK.notebooks)
    for page in BOOK.notebooks:
        place = site.folder / "notebooks" / page.name.removeprefix("book/")
        author = place.with_name(f"{place.name}-author")
        reader, other = (
            zipfile.ZipFile(path.with_suffix(".zip")).read(f"{page.name}.ipynb")
            for path in (place, author)
        )
        assert place.with_suffix(".ipynb").read_bytes() == reader
        assert json.loads(reader)["cells"]
        assert b'"solution-' not in reader
        assert (b'"solution-' in other) == bool(page.exercises)


@pytest.fixture
def page(browser: Any, site: Site) -> Iterator[Any]:
    """A chapter with folds."""
    with checks.visit(browser, site, site.url(PAGE)) as seen:
        yield seen.page


def is_open(page: Any, target: str) -> bool:
    """Whether its fold is, and it is in sight."""
    return page.evaluate(
        """id => {
        const at = document.getElementById(id), { top } = at.getBoundingClientRect();
        return at.querySelector(":scope > details").open
          && top > -1 && top < innerHeight; }""",
        target,
    )


def opened(page: Any) -> int:
    return page.locator("details.fold[open]").count()


def test_all_is_folded_at_first(page: Any) -> None:
    """And a heading in a summary is one, with the number of questions beside it."""
    assert opened(page) == 0
    summary = page.locator(f"#{QUESTIONS} > details > summary")
    assert summary.locator("h2").inner_text() == "Do you remember?"
    number = page.locator(f"#{QUESTIONS} .sd-dropdown").count()
    assert summary.locator(".fold-result").inner_text() == f"{number} questions"
    assert not page.locator(f"#{CLAIM} pre").first.is_visible()


@pytest.mark.parametrize("folder", [False, True])
@pytest.mark.parametrize("target", [QUESTIONS, CLAIM])
def test_an_address_opens_what_it_leads_into(
    browser: Any, site: Site, target: str, folder: bool
) -> None:
    """Also from a folder, where the page waits for its faces before it shows."""
    url = (site.folder / f"{PAGE}.html").as_uri() if folder else site.url(PAGE)
    with checks.visit(browser, site, f"{url}#{target}") as seen:
        assert is_open(seen.page, target)
        assert opened(seen.page) == 1


def test_a_link_opens_what_it_leads_into(page: Any) -> None:
    """Once, and again after the reader has closed it."""
    page.evaluate(
        """id => document.querySelector("article p").insertAdjacentHTML(
        "beforeend", `<a id="there" href="#${id}">there</a>`)""",
        CLAIM,
    )
    for _ in range(2):
        page.locator("#there").click()
        page.wait_for_timeout(100)
        assert is_open(page, CLAIM)
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = 0)")
        assert not is_open(page, CLAIM)


def test_one_button_opens_and_closes_all(page: Any) -> None:
    """By the keyboard, and it says what it will do; answers stay folded."""
    button = page.locator("button.open-folds")
    every = page.locator("details.fold").count()
    assert every > 3 and button.inner_text() == "Open all"
    button.focus()
    page.keyboard.press("Enter")
    assert opened(page) == every
    checks.wait_until(
        page, "document.querySelector('button.open-folds').textContent == 'Close all'"
    )
    assert page.locator("details.solution[open]").count() == 0
    page.keyboard.press("Enter")
    assert opened(page) == 0


def test_the_printer_gets_all_but_answers(page: Any) -> None:
    """A handout: the questions, the checks, the address; and afterwards as before."""
    page.locator("details.fold > summary").first.click()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    printed = page.locator(":is(.fold-recall, .fold-check)[open]").count()
    assert printed == page.locator(".fold-recall, .fold-check").count() > 3
    assert opened(page) == printed + 1
    assert page.locator(".printed i").inner_text() == page.url
    page.emulate_media(media="print")
    shown = "all => all.filter(e => e.checkVisibility()).length"
    answers = (
        ".solution, .fold-answer, .fold-figure, .sd-dropdown .sd-summary-content p"
    )
    assert page.locator(answers).evaluate_all(shown) <= 5  # of "Before you start"
    assert page.locator("details.solution").evaluate_all(shown) == 0
    assert page.locator(f"#{CLAIM} pre").first.is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert opened(page) == 1


def test_folds_need_no_script(browser: Any, site: Site) -> None:
    """They open by a click; the button, which would do nothing, is not shown."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site.url(PAGE))
    assert not page.locator("button.open-folds").is_visible()
    check = page.locator(f"#{CLAIM} pre").first
    assert not check.is_visible()
    page.locator(f"#{CLAIM} > details > summary").click(position={"x": 5, "y": 5})
    assert check.is_visible()
    context.close()


def test_the_reference_folds_what_is_below_each_first_paragraph(
    browser: Any, site: Site
) -> None:
    """All of it and nothing else; the address of a function opens its own alone."""
    url = f"{site.url('book/reference/api')}#pe_lib.shift_matrix"
    with checks.visit(browser, site, url) as seen:
        assert seen.page.locator("dl.field-list:not(.fold-body dl)").count() == 0
        assert seen.page.locator(".fold-api .fold-api").count() == 0
        (fold,) = seen.page.locator("details.fold[open]").all()
        summary = fold.locator("summary").inner_text()
        assert summary == "Details, parameters, raises, examples"
        assert "offset" in fold.locator("dl").inner_text()
