"""What a page says about its place in the book, read from the chapters themselves.

Every chapter opens with a block that names what one needs; its place in _toc.yml says
whether it belongs to the hour, and its length how long it takes. From these come the
map of the book (``{chapter-map}`` in a page), the quiet line above a chapter for those
whom a search brought there, what ties a chapter to the previous and the next, and the
stops of the hour with their questions.
"""

import html
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import manuscript
from docutils import nodes
from katex_math import draw
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

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


def direct_needs() -> dict[str, list[str]]:
    """What each chapter needs, without what those chapters need already."""
    book = chapters()

    @cache
    def all_needs(name: str) -> frozenset[str]:
        return frozenset(book[name].needs).union(*map(all_needs, book[name].needs))

    return {
        name: [
            need
            for need in chapter.needs
            if not any(need in all_needs(other) for other in chapter.needs)
        ]
        for name, chapter in book.items()
    }


class ChapterMap(SphinxDirective):
    """All chapters in reading order; arcs tie each to those it builds on."""

    def run(self) -> list[nodes.Node]:
        """Note the chapters as sources of this page, and draw them."""
        for name in chapters():
            self.env.note_dependency(str(manuscript.read().pages[name].path))
        own = os.path.dirname(self.env.docname)  # noqa: PTH120
        return [nodes.raw("", draw_map(own), format="html")]


def draw_map(folder: str) -> str:
    """Return the map as HTML, with links from a page in `folder`."""
    book, direct = chapters(), direct_needs()
    rows = {name: row for row, name in enumerate(book)}
    arcs, items = [], []
    for name, chapter in book.items():
        for need in direct[name]:
            start, end = rows[need] + 0.5, rows[name] + 0.5
            reach = 40 - min(36, 7 * (end - start))
            level = "core" if chapter.in_hour and book[need].in_hour else "deeper"
            arcs.append(
                f'<path class="{level}" d="M40 {start} '
                f'C{reach:g} {start} {reach:g} {end} 40 {end}"/>'
            )
        needs = "; ".join(book[need].title for need in direct[name])
        items.append(
            f'<li class="{"core" if chapter.in_hour else "deeper"}">'
            f'<a href="{os.path.relpath(name, folder)}.html">'
            f"{_text(chapter.title)}</a> "
            f'<span class="time">{chapter.minutes} min</span>'
            '<span class="visually-hidden">. '
            f"{'Part of the hour. ' if chapter.in_hour else ''}"
            f"{'Builds on: ' + _text(needs) if needs else 'Needs no other chapter'}."
            "</span></li>"
        )
    return (
        '<div class="chapter-map">\n'
        f'<svg viewBox="0 0 40 {len(book)}" preserveAspectRatio="none" '
        f'aria-hidden="true">{"".join(arcs)}</svg>\n'
        f"<ol>\n{chr(10).join(items)}\n</ol>\n</div>\n"
    )


def _text(markdown: str) -> str:
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
        begin = f'<a href="{pathto(first.name)}">{_text(first.title)}</a>'
        return f"{_text(part)}. The book starts with {begin}." if part else ""
    number = list(book).index(name) + 1
    place = f"Chapter {number} of {len(book)}: {_text(book[name].part)}."
    if name == first.name:
        return f'{place} <a href="{pathto("book/index")}">What this book is</a>.'
    return (
        f'{place} New here? Start with <a href="{pathto(first.name)}">'
        f"{_text(first.title)}</a>."
    )


def neighbours(name: str) -> dict[str, str]:
    """Return what ties a chapter to the previous and to the next one."""
    book = chapters()
    names = list(book)
    if name not in book:
        return {"left": "", "right": ""}
    row = names.index(name)
    reasons = {"left": "", "right": ""}
    if row > 0 and names[row - 1] in book[name].needs:
        reasons["left"] = "this chapter builds on it"
    if row + 1 < len(names):
        following = book[names[row + 1]]
        reasons["right"] = f"{following.minutes} minutes"
        if name in following.needs:
            reasons["right"] += ", builds on this"
    return reasons


@cache
def hour() -> list[Stop]:
    """The pages of the hour, in order."""
    return [
        Stop(
            page.name,
            _text(page.title),
            _text(page.question),
            page.minutes,
            _text(page.answer[:1].upper() + page.answer[1:]),
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
    """Give the templates the line above the chapter, the reasons below it, the hour.

    ``hour`` is a list of stops, on every page; ``hour_index`` is the number of this
    page among them, or None.
    """
    context["where"] = where_am_i(pagename, context["pathto"])
    context["reasons"] = neighbours(pagename)
    context["hour"] = hour()
    names = [stop.name for stop in context["hour"]]
    context["hour_index"] = names.index(pagename) if pagename in names else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("chapter-map", ChapterMap)
    app.connect("html-page-context", tell_the_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
