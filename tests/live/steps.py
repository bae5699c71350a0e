"""Steps of tests in which a page runs Python: start it, wait for it, change a cell."""

from pathlib import Path
from typing import Any

from website.live import extension

RESTS = """seconds => new Promise((done, late) => {
    const root = document.documentElement;
    const look = () => ["rests", "halted"].includes(root.dataset.live) && done();
    new MutationObserver(look).observe(root, { attributeFilter: ["data-live"] });
    setTimeout(late, 1000 * seconds, new Error("it still works"));
    look();
})"""
UNFOLD = "document.querySelectorAll('article details').forEach(d => d.open = true)"
WRITE = """([cell, text]) => {
    const area = document.querySelector(`.cell.c${cell} textarea`);
    area.value = text;
    area.dispatchEvent(new Event("input"));
    area.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", shiftKey: true }));
}"""
NOTHING = "the engine of `make book` is not here: website/live/engine.py"


def begin(page: Any) -> None:
    """Press "Edit and run", and see the bar."""
    page.locator(".live-start button").click()
    page.locator(".live-bar").wait_for()


def rest(page: Any, seconds: float = 300) -> str:
    """Wait until nothing runs; what the bar says then."""
    page.evaluate(RESTS, seconds)
    return message(page)


def message(page: Any) -> str:
    """What the bar says."""
    text: str = page.locator(".live-message").inner_text()
    return text


def press(page: Any, name: str) -> None:
    """Press a button of the bar."""
    page.locator(".live-buttons button", has_text=name).click()


def put_back(page: Any) -> None:
    """Put back each cell that is changed."""
    page.evaluate(UNFOLD)
    changed = page.locator(".live-line button:visible", has_text="Put back")
    for _ in range(changed.count()):
        changed.first.click()


def run_all(page: Any) -> str:
    """By the bar's own button, wait, and hear the bar."""
    press(page, "Run")
    return rest(page)


def editor(page: Any, cell: int) -> Any:
    """The editor of a cell, by its number from 0."""
    page.evaluate(UNFOLD)
    return page.locator(f".cell.c{cell} textarea")


def write(page: Any, cell: int, text: str) -> str:
    """Replace the code of a cell, run it, and wait; what it says then.

    By events: whoever types and presses lays the page out anew.
    """
    page.evaluate(WRITE, [cell, text])
    rest(page)
    return mark(page, cell)


def mark(page: Any, cell: int) -> str:
    """What is said below a cell."""
    text: str = page.locator(f".cell.c{cell} .live-mark").text_content()
    return text


def marks(page: Any) -> list[str]:
    """What is said below each cell that is no answer."""
    found: list[str] = page.locator(".cell .live-mark").all_text_contents()
    return found


def result(page: Any, cell: int) -> Any:
    """What a cell gives in the place of what is stored."""
    return page.locator(f".cell.c{cell} .live-result")


def fetched(seen: Any) -> int:
    """The bytes of the engine that a visit asked the site for."""
    names = {Path(url).name for url in seen.requests if "/live/engine/" in url}
    files = {Path(f["name"]).name: f["bytes"] for f in extension.engine().values()}
    return sum(files[name] for name in names & set(files))
