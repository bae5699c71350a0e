"""Every page and every explorer in Firefox, once a week: two minutes.

A page opens without a word in the console, with nothing missing and nothing cut off.
A drawing's handles are moved by the keyboard until it shows something new.
Chromium, which `make test` looks with, is not the only browser.
"""

import re
from typing import Any

import pytest

from pe_lib import explorers
from tests.website import site_checks as checks
from tests.website.site_checks import Site
from tests.website.test_site import PAGES, none

pytestmark = pytest.mark.weekly

SHOWN = "e => e.querySelector('.picture').innerHTML"


@pytest.mark.parametrize("name", PAGES)
def test_page(firefox: Any, site: Site, name: str) -> None:
    """It opens, wide and narrow, and what moves there moves."""
    for width in (1280, checks.PHONE):
        with checks.visit(firefox, site, site.url(name), width=width) as seen:
            some = (checks.external_requests, checks.missing_files, "overflow")
            none(checks.faults(seen, *some))  # and all is unfolded
            for explorer in seen.page.locator(".pe-explorer").all():
                none(play(explorer))
            # It lays out what it has read, and may complain of half a formula.
            none([x for x in checks.console(seen) if "number of children" not in x])


def play(explorer: Any) -> list[str]:
    """Move each of its handles by the keyboard until it shows something new."""
    faults = []
    for control in explorer.locator(".take").all():
        before = explorer.evaluate(SHOWN)
        for key in ("End", "Home", "Enter"):
            control.press(key)
            explorer.page.wait_for_timeout(300)
            if explorer.evaluate(SHOWN) != before:
                break
        else:
            faults.append(f"{control.get_attribute('aria-label')} moves nothing")
    return faults


def test_all_explorers_are_met(site: Site) -> None:
    """Each stands on some page."""
    pages = [site.path(site.url(name)).read_text("utf-8") for name in PAGES]
    met = set(
        re.findall(r'<div class="pe-explorer" data-drawing="(\w+)"', "".join(pages))
    )
    assert met == {getattr(explorers, name)._name for name in explorers.__all__}
