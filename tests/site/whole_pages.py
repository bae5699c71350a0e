"""axe-core on whole pages, nothing thinned out: `make axe`, a quarter of an hour.

`make test` looks with the same rules at thinned pages (``in_page/thin.js``): a drawing
is empty there, a formula is a box, and of what repeats, on any page, a sample is
enough. Here every element is looked at, at both widths, in light and in dark, folded
answers included.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
import site_checks as checks
from site_checks import Site, Visit
from test_site import PAGES, WIDTHS, none


@pytest.fixture(
    params=list(product(PAGES, WIDTHS)), ids=lambda param: f"{param[0]}-{param[1]}"
)
def seen(request: Any, browser: Any, site: Site) -> Iterator[Visit]:
    """One page at one width."""
    name, width = request.param
    with checks.visit(browser, site, site.url(name), width) as visit:
        yield visit


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_whole_page(seen: Visit, mode: str) -> None:
    """axe-core finds nothing on the page as it is."""
    page = seen.page
    page.set_default_timeout(0)
    checks.unfold(page)
    page.add_style_tag(content="* { transition: none !important; }")
    checks.set_mode(page, mode)
    page.evaluate(checks.axe())
    none(page.evaluate(checks.script("run_axe"), [None, []]))
