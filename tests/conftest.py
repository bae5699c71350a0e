"""What tests of the built site share.

``transformers``  the library; without it the test is skipped
``browser``     headless Chromium for one module; without one the test is skipped,
                and pytest's summary says so
``built``       the strict build of the site: folder, exit status, what it printed
``site``        the same, served on this machine: ``site.url("book/index")``

The browser lives as long as a module, not a session: while Playwright runs, no
other event loop can start in its process, and a notebook's tests need one.
"""

import os
from collections.abc import Iterator
from typing import Any

import pytest

from manuscript import ROOT
from tests.website import built_site
from tests.website.built_site import NO_BROWSER, Build, build, find_browser, serve
from tests.website.site_checks import Site


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """What is marked so waits for `make weekly`, which runs nothing else."""
    weekly = config.getoption("weekly", False)
    chosen = [x for x in items if bool(x.get_closest_marker("weekly")) == weekly]
    left = [x for x in items if bool(x.get_closest_marker("weekly")) != weekly]
    config.hook.pytest_deselected(items=left)
    items[:] = chosen


@pytest.fixture
def transformers(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The library, where `make bench` installed it."""
    monkeypatch.syspath_prepend(str(ROOT / ".venv/peers"))
    return pytest.importorskip("transformers", reason="no transformers")


@pytest.fixture(scope="module")
def playwright() -> Iterator[Any]:
    """What drives browsers; a process can have one at a time."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="module")
def browser(playwright: Any) -> Iterator[Any]:
    """Headless Chromium."""
    if (path := find_browser()) is None:
        pytest.skip(NO_BROWSER)
    chromium = playwright.chromium.launch(
        executable_path=path, args=built_site.CHROMIUM_OPTIONS
    )
    yield chromium
    chromium.close()


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """The site of the project as it is now, from one build a run."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    done = build(base / "site")
    assert (done.folder / "book/index.html").exists(), done.output[-3000:]
    return done


@pytest.fixture(scope="module")
def site(built: Build) -> Iterator[Site]:
    """The built site, served."""
    yield from serve(built.folder)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say what was not there to test with."""
    skipped = {str(r.longrepr) for r in terminalreporter.stats.get("skipped", [])}
    for reason, said in (
        (NO_BROWSER, "Browser tests did not run: no Chromium found."),
        ("no bubblewrap", "No submission tried an attack: bubblewrap does not run."),
    ):
        if any(reason in why for why in skipped):
            terminalreporter.write_line(said)
