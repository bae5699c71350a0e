"""What tests of the built site share.

``browser``     headless Chromium for one module; without one the test is skipped,
                and pytest's summary says so
``firefox``     the same with Firefox
``built``       the strict build of the site: folder, exit status, what it printed
``site``        the same, served on this machine: ``site.url("book/index")``

The browser lives as long as a module, not a session: while Playwright runs, no
other event loop can start in its process, and a notebook's tests need one.
"""

import os
from collections.abc import Iterator
from statistics import median
from typing import Any

import pytest
from built_site import CHROMIUM_OPTIONS, NO_BROWSER, Build, build, find_browser, serve
from firefox import NO_FIREFOX, find_firefox, start
from site_checks import PHONE, Site


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Leave out what two widths show alike; without a browser skip what needs one.

    A second proof of the same waits for `make weekly`, which runs nothing else.
    """
    weekly = config.getoption("weekly", False)
    set_aside = {
        item
        for item in items
        if is_weekly(item) != weekly
        or (item.get_closest_marker("sampled") and not is_sampled(item))
        or (item.get_closest_marker("phone") and is_wide(item))
        or (item.get_closest_marker("hour") and not is_of_the_hour(item))
        or (
            item.get_closest_marker("wide") and item.callspec.params["seen"][1] == PHONE
        )
    }
    if set_aside:
        config.hook.pytest_deselected(items=list(set_aside))
        items[:] = [item for item in items if item not in set_aside]
    if find_browser() is None:
        for item in items:
            if "browser" in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.skip(reason=NO_BROWSER))


def is_weekly(item: Any) -> bool:
    """A test that says so, or of a page off the hour at the wide screen."""
    if item.get_closest_marker("weekly"):
        return True
    if item.get_closest_marker("alike") and not is_sampled(item):
        return True
    if not hasattr(item, "callspec") or not hasattr(item.module, "SAMPLE"):
        return False
    seen = item.callspec.params.get("seen")
    return bool(seen) and is_wide(item) and not is_of_the_hour(item)


def is_wide(item: Any) -> bool:
    """Whether a test opens the wide page of one that is checked as on a phone."""
    name, width = item.callspec.params["seen"]
    return width != PHONE and name not in item.module.SAMPLE


def is_sampled(item: Any) -> bool:
    """Whether a test opens a page of the hour, or one that stands for others."""
    name = item.callspec.params["seen"][0]
    return is_of_the_hour(item) or name in (*item.module.SAMPLE, *item.module.ONE_EACH)


def is_of_the_hour(item: Any) -> bool:
    """Whether a test opens a page of the hour."""
    return item.callspec.params["seen"][0] in item.module.SPINE


@pytest.fixture(scope="module")
def playwright() -> Iterator[Any]:
    """What drives browsers; a process can have one at a time."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="module")
def browser(playwright: Any) -> Iterator[Any]:
    """Headless Chromium."""
    chromium = playwright.chromium.launch(
        executable_path=find_browser(), args=CHROMIUM_OPTIONS
    )
    yield chromium
    chromium.close()


@pytest.fixture(scope="module")
def firefox(playwright: Any) -> Iterator[Any]:
    """Headless Firefox."""
    if find_firefox() is None:
        pytest.skip(NO_FIREFOX)
    with start(playwright) as browser:
        yield browser


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
