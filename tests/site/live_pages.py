"""Every chapter that runs in the browser, all its cells: `make live`, some minutes.

Text and figures must be the stored ones, to the byte, in Chromium and in Firefox. At
the end a note says for each chapter its cells, figures, seconds and megabytes.
"""

import time
from collections.abc import Iterator
from typing import Any

import live
import live_steps as steps
import manuscript
import pytest
import site_checks as checks
from site_checks import Site

RUNNING = [page for page in manuscript.read().notebooks if live.runs(page.name)]
NOT_HERE = {"book/fine_print/exact_tables": 2}
"""Cells that need ml_dtypes beyond rounding, and say so."""


@pytest.fixture(scope="module")
def notes() -> Iterator[list[str]]:
    """Lines of the note, printed when all have run."""
    lines: list[str] = []
    yield lines
    print("", *lines, sep="\n")


def test_there_are_some() -> None:
    """The engine is here."""
    assert len(RUNNING) >= 15, steps.NOTHING


@pytest.mark.parametrize("name", [page.name for page in RUNNING])
@pytest.mark.parametrize("kind", ["browser", "firefox"])
def test_page(request: Any, site: Site, notes: list[str], kind: str, name: str) -> None:
    """All its cells give what is stored; no more is fetched than the button says."""
    browser = request.getfixturevalue(kind)
    cells = manuscript.read().pages[name].code_cells
    with checks.visit(browser, site, site.url(name)) as seen:
        start = time.perf_counter()
        steps.begin(seen.page)
        said = steps.rest(seen.page, 300)
        seconds = time.perf_counter() - start
        away = NOT_HERE.get(name, 0)
        found = steps.states(seen.page)
        assert found.count("same") == len(cells) - away, said
        assert found.count("away") == away, said
        size = int(seen.page.locator(".live-bar").get_attribute("data-memory"))
        faults = checks.external_requests(seen) + checks.missing_files(seen)
        assert not faults + checks.console(seen)
        assert steps.fetched(seen) == live.weight(name)
    figures = sum(len(cell.drawings) for cell in cells)
    notes.append(
        f"{kind:8} {name:34} {len(cells):3} cells {figures:2} figures "
        f"{seconds:5.1f} s {size / 1e6:4.0f} MB, {live.weight(name) / 1e6:4.1f} fetched"
    )
