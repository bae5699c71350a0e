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
from manuscript.stubs import points
from website.katex_math import draw


class Stop(NamedTuple):
    """A page of the path or on real models, for the templates; texts are HTML."""

    name: str
    title: str
    question: str
    minutes: int
    spoken: str  # the same in words, with those of the exercises


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
    return f"{part}, {spoken_minutes(book.pages[name])}. {begin}"


def spoken_minutes(page: manuscript.Page) -> str:
    """How long one reads, and how long one works on the exercises, if there are any."""
    practice = sum(points(exercise.title) for exercise in page.exercises)
    exercises = f", {practice} of exercises" if practice else ""
    return f"about {page.minutes} minutes to read{exercises}"


@cache
def told_pages() -> list[Stop]:
    """The pages of the path, then those on real models, in order."""
    book = manuscript.read()
    return [
        Stop(p.name, text(p.title), text(p.question), p.minutes, spoken_minutes(p))
        for p in (*book.path_pages, *book.model_pages)
    ]


def tell_the_page(
    _app: Sphinx, pagename: str, _: str, context: dict[str, Any], *_rest: Any
) -> None:
    """Give the templates the line above the chapter, and the path.

    ``path_pages`` is a list of stops, on every page; ``path_index`` the number of this
    page among them, or None; ``following`` the page whose question it leads to.
    """
    context["where"] = where_am_i(pagename, context["pathto"])
    told, length = told_pages(), len(manuscript.read().path_pages)
    context["path_pages"] = told[:length]
    names = [stop.name for stop in told]
    at = names.index(pagename) if pagename in names else len(told)
    context["path_index"] = at if at < length else None
    context["following"] = told[at + 1] if at + 1 < len(told) else None


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("html-page-context", tell_the_page)
