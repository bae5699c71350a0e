"""What a page says about its place in the book, read from the chapters themselves.

Every chapter opens with a block that names what one needs; its place in _toc.yml says
whether it belongs to the path, and its length how long it takes. From these come the
quiet line above a chapter for those whom a search brought there, and the stops of the
path with their questions.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from sphinx.application import Sphinx

import manuscript
from manuscript.markdown import as_html
from website.katex_math import draw


class Stop(NamedTuple):
    """A page of the path, as the templates show it; texts are HTML."""

    name: str
    title: str
    question: str
    minutes: int
    times: str


def text(markdown: str) -> str:
    """A line in HTML, without its links and its marks of emphasis and code."""

    def drawn(tex: str) -> str:
        return f'<span class="math">{draw(tex, display=False)}</span>'

    return as_html(markdown, drawn, marks=False)


def where_am_i(name: str, pathto: Callable[[str], str]) -> str:
    """Return the line above a chapter: which one it is, and where to start."""
    book = manuscript.read()
    part = text(book.contents.get(name, ""))
    pages = [page.name for page in book.notebooks]
    begin = f'New here? <a href="{pathto(pages[0])}">Page 1 of the path</a>'
    if name not in pages:
        return f"{part}. {begin}" if part else ""
    if name == pages[0]:
        begin = f'<a href="{pathto("book/index")}">What this book is</a>.'
    place = f"Chapter {pages.index(name) + 1} of {len(pages)}: {part}"
    return f"{place}, about {book.pages[name].times}. {begin}"


@cache
def path_pages() -> list[Stop]:
    """The pages of the path, in order."""
    return [
        Stop(
            page.name,
            text(page.title),
            text(page.question),
            page.minutes,
            page.times,
        )
        for page in manuscript.read().path_pages
    ]


def tell_the_page(
    _app: Sphinx, pagename: str, _: str, context: dict[str, Any], *_rest: Any
) -> None:
    """Give the templates the line above the chapter, and the path.

    ``path_pages`` is a list of stops, on every page; ``path_index`` the number of this
    page among them, or None.
    """
    context["where"] = where_am_i(pagename, context["pathto"])
    context["path_pages"] = path_pages()
    context["words_a_minute"] = manuscript.WORDS_A_MINUTE
    names = [stop.name for stop in context["path_pages"]]
    context["path_index"] = names.index(pagename) if pagename in names else None


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("html-page-context", tell_the_page)
