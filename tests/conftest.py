"""What tests of the built site share.

``browser``     headless Chromium for one module; without one the test is skipped,
                and pytest's summary says so
``built``       the strict build of the site: folder, exit status, what it printed
``site``        the same, served on this machine: ``site.url("book/index")``

The browser lives as long as a module, not a session: while Playwright runs, no
other event loop can start in its process, and a notebook's tests need one.
"""

import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import pytest
from filelock import FileLock
from site_checks import Site

ROOT = Path(__file__).parents[1]
NO_BROWSER = "no Chromium found"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")

JUPYTER_BOOK = "from jupyter_book.cli.main import main; main()"

# It runs as root in a container, and talks to nobody but this machine.
CHROMIUM_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


def find_browser() -> str | None:
    """The path of a Chromium: what CHROMIUM names, or the first one installed."""
    return os.environ.get("CHROMIUM") or next(
        filter(None, map(shutil.which, BROWSERS)), None
    )


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Without a browser skip its tests before anything is built for them."""
    if find_browser() is None:
        for item in items:
            if "browser" in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.skip(reason=NO_BROWSER))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium, driven by Playwright."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=find_browser(), args=CHROMIUM_OPTIONS
        )
        yield chromium
        chromium.close()


class Build(NamedTuple):
    """A build of the site, and how it went."""

    folder: Path
    status: int
    output: str


def build(folder: Path) -> Build:
    """Build the site as `make book` does, but elsewhere; only once for all workers."""
    html = folder / "_build/html"
    log = folder / "build.log"
    with FileLock(f"{folder}.lock"):
        if not log.exists():
            options = ["--path-output", str(folder), "-W", "-n", "--keep-going"]
            result = subprocess.run(
                [sys.executable, "-c", JUPYTER_BOOK, "build", str(ROOT), *options],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            folder.mkdir(exist_ok=True)
            log.write_text(f"{result.returncode}\n{result.stdout}", encoding="utf-8")
    status, _, output = log.read_text(encoding="utf-8").partition("\n")
    return Build(html, int(status), output)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """The site of the project as it is now, from one build a run."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    done = build(base / "site")
    assert (done.folder / "book/index.html").exists(), done.output[-3000:]
    return done


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files, and says nothing."""

    def log_message(self, *_: Any) -> None:
        """Keep silent."""


def serve(folder: Path) -> Iterator[Site]:
    """Serve a folder at a free port of this machine."""
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Site(folder, f"http://127.0.0.1:{server.server_port}/")
        server.shutdown()


@pytest.fixture(scope="module")
def site(built: Build) -> Iterator[Site]:
    """The built site, served."""
    yield from serve(built.folder)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how strict the lint of numbers is, and where no browser was found."""
    chances = {
        str(page).removeprefix("chance on "): chance
        for reports in terminalreporter.stats.values()
        for report in reports
        for page, chance in getattr(report, "user_properties", [])
        if str(page).startswith("chance on ")
    }
    if chances:
        page, worst = max(chances.items(), key=lambda item: item[1])
        terminalreporter.write_line(
            "The chance that a random number in a sentence passes: "
            f"{median(chances.values()):.1%} on the median page, "
            f"{worst:.1%} at most ({page})."
        )
    skipped = terminalreporter.stats.get("skipped", [])
    if any(NO_BROWSER in str(report.longrepr) for report in skipped):
        terminalreporter.write_line("Browser tests did not run: no Chromium found.")
