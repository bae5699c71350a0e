"""``at`` opens a page of the built site as a new reader's browser does.

``at("book/index", width=390).page``; ``at("book/index", java_script_enabled=False)``
"""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.website import site_checks as checks
from tests.website.site_checks import Opener, Site, Visit


@pytest.fixture
def at(browser: Any, site: Site) -> Iterator[Opener]:
    """From the server or from the folder on disk."""
    with ExitStack() as stack:

        def open_page(
            name: str, *, query: str = "", folder: bool = False, **options: Any
        ) -> Visit:
            path = site.folder / f"{name}.html"
            url = (path.as_uri() if folder else site.url(name)) + query
            return stack.enter_context(checks.visit(browser, site, url, **options))

        yield open_page
