"""The glossary's filter: ``glossary.js`` leaves the words that hold what is typed."""

from typing import Any

from sphinx.application import Sphinx

PAGE = "book/reference/glossary"
FORM = (
    '<form class="word-filter" role="search"><label>Search words '
    '<input type="search" autocomplete="off"></label> <output></output></form>\n'
)


def add_filter(
    _app: Sphinx, pagename: str, _: str, context: dict[str, Any], *_rest: Any
) -> None:
    """Put it below the first paragraph."""
    if pagename == PAGE:
        context["body"] = context["body"].replace("</p>", f"</p>\n{FORM}", 1)


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("html-page-context", add_filter)
