"""Steps of tests in which a page runs Python: start it, wait for it, change a cell."""

from pathlib import Path
from typing import Any

from tests.website import site_checks as checks
from website.live import extension

RESTS = "['rests', 'halted'].includes(document.documentElement.dataset.live)"
UNFOLD = "document.querySelectorAll('article details').forEach(d => d.open = true)"
NOTHING = "the engine of `make book` is not here: website/live/engine.py"


def begin(page: Any) -> None:
    """Press "Edit and run", and see the bar."""
    page.locator(".live-start button").click()
    page.locator(".live-bar").wait_for()


def rest(page: Any, seconds: float = 60) -> str:
    """Wait until nothing runs; what the bar says then."""
    checks.wait_until(page, RESTS, seconds=seconds)
    text: str = page.locator(".live-message").inner_text()
    return text


def again(page: Any, *, key: str = "Shift+Enter", cell: int) -> str:
    """Run a cell by its editor, and wait."""
    page.evaluate(UNFOLD)
    editor(page, cell).press(key)
    return rest(page)


def editor(page: Any, cell: int) -> Any:
    """The editor of a cell, by its number from 0."""
    return page.locator(f".cell.c{cell} textarea")


def mark(page: Any, cell: int) -> tuple[str, str]:
    """What stands under a cell: the state, and the words."""
    line = page.locator(f".cell.c{cell} .live-mark")
    return line.get_attribute("data-state"), line.text_content()


def sign(page: Any, cell: int) -> str:
    """What the line of its fold says of a cell."""
    text: str = page.locator(f".cell.c{cell} .live-sign").text_content()
    return text


def states(page: Any) -> list[str]:
    """The states of all cells."""
    found: list[str] = page.locator(".live-mark").evaluate_all(
        "all => all.map(each => each.dataset.state)"
    )
    return found


def fetched(seen: Any) -> int:
    """The bytes of the engine that a visit asked the site for."""
    names = {Path(url).name for url in seen.requests if "/live/engine/" in url}
    files = {
        Path(file["name"]).name: file["bytes"] for file in extension.engine().values()
    }
    return sum(files[name] for name in names & set(files))
