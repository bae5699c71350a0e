"""What a page says about its place in the book, read from the chapters themselves.

Every chapter opens with a block that names what one needs; its place in _toc.yml says
whether it belongs to the hour, and its length how long it takes. From these come the
quiet line above a chapter for those whom a search brought there, and the stops of the
hour with their questions.
"""

import html
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import manuscript
from docutils import nodes
from katex_math import draw
from sphinx.application import Sphinx

FORMULA = re.compile(r"\$([^$]+)\$")


@dataclass(frozen=True)
class Chapter:
    """A notebook of the book, and what the page says of itself."""

    name: str  # as in _toc.yml, for example book/problem/adding
    part: str
    title: str
    in_hour: bool
    minutes: int
    needs: tuple[str, ...]


class Stop(NamedTuple):
    """A page of the hour, as the templates show it; texts are HTML."""

    name: str
    title: str
    question: str
    minutes: int
    answer: str


def parts() -> dict[str, str]:
    """The part of every page of _toc.yml but the first, in reading order."""
    return {name: part for name, part in manuscript.read().contents.items() if part}


@cache
def chapters() -> dict[str, Chapter]:
    """The chapters by name, in reading order."""
    book = manuscript.read()
    return {
        name: Chapter(
            name=name,
            part=part,
            title=book.pages[name].title,
            in_hour=book.pages[name] in book.spine,
            minutes=book.pages[name].minutes,
            needs=book.pages[name].needs,
        )
        for name, part in parts().items()
        if book.pages[name].is_notebook
    }


def text(markdown: str) -> str:
    """A line in HTML, without its links and its marks of emphasis and code."""
    unlinked = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", markdown)
    words = FORMULA.split(unlinked)
    words[::2] = [html.escape(re.sub(r"[`*]", "", text)) for text in words[::2]]
    words[1::2] = [
        f'<span class="math">{draw(tex, display=False)}</span>' for tex in words[1::2]
    ]
    return "".join(words)


def where_am_i(name: str, pathto: Callable[[str], str]) -> str:
    """Return the line above a chapter: which one it is, and where to start."""
    book = chapters()
    first = next(iter(book.values()))
    if name not in book:
        part = parts().get(name)
        begin = f'<a href="{pathto(first.name)}">Page 1 of the hour</a>'
        return f"{text(part)}. New here? {begin}" if part else ""
    number = list(book).index(name) + 1
    place = f"Chapter {number} of {len(book)}: {text(book[name].part)}."
    if name == first.name:
        return f'{place} <a href="{pathto("book/index")}">What this book is</a>.'
    return f'{place} New here? <a href="{pathto(first.name)}">Page 1 of the hour</a>'


@cache
def hour() -> list[Stop]:
    """The pages of the hour, in order."""
    return [
        Stop(
            page.name,
            text(page.title),
            text(page.question),
            page.minutes,
            text(page.answer[:1].upper() + page.answer[1:]),
        )
        for page in manuscript.read().spine
    ]


def tell_the_page(
    _app: Sphinx,
    pagename: str,
    _templatename: str,
    context: dict[str, Any],
    _doctree: nodes.document | None,
) -> None:
    """Give the templates the line above the chapter, and the hour.

    ``hour`` is a list of stops, on every page; ``hour_index`` is the number of this
    page among them, or None.
    """
    context["where"] = where_am_i(pagename, context["pathto"])
    context["hour"] = hour()
    names = [stop.name for stop in context["hour"]]
    context["hour_index"] = names.index(pagename) if pagename in names else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("html-page-context", tell_the_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
