"""What the landing page shows of the book: the path, the other chapters, the claims.

``{the-path}`` lists the path with its minutes, ``{the-rest}`` all else by part.
``{the-notebooks}`` lists every chapter's two editions.
``{guess}`` lets the reader choose among its lines, of which the last is right, and
opens the fold below it; ``{claims}`` makes cards of the claims whose ids are its lines.
"""

import html
import os
from itertools import groupby

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from website import chapters, claims, editions, manuscript


class OnThePage(SphinxDirective):
    """What all of them have in common: a page they depend on, and HTML."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Note what the page is made from, and write it."""
        book = manuscript.read()
        for page in book.notebooks:
            self.env.note_dependency(str(page.path))
        self.env.note_dependency(str(book.root / "book/claims.yml"))
        return [nodes.raw("", self.html(), format="html")]

    def html(self) -> str:
        """What stands on the page."""
        raise NotImplementedError

    def address(self, name: str) -> str:
        """From this page to a page of _toc.yml."""
        here = os.path.dirname(self.env.docname)  # noqa: PTH120
        return f"{os.path.relpath(name, here)}.html"

    def file(self, place: str) -> str:
        """From this page to another file of the site."""
        return os.path.relpath(place, os.path.dirname(self.env.docname))  # noqa: PTH120


class ThePath(OnThePage):
    """The pages of the path in order, each with its minutes."""

    def html(self) -> str:
        """A numbered list."""
        items = (
            f'<li data-page="{stop.name}">'
            f'<a href="{self.address(stop.name)}">{stop.title}</a> '
            f'<span class="time">{stop.minutes} min</span></li>'
            for stop in chapters.path_pages()
        )
        return f'<ol class="the-path">{"".join(items)}</ol>'


class TheRest(OnThePage):
    """All chapters beside the path, by part."""

    def html(self) -> str:
        """A line for each part."""
        book = manuscript.read()
        rest = [page for page in book.notebooks if page not in book.path_pages]
        parts = (
            f"<p><b>{html.escape(part)}.</b> "
            + " · ".join(
                f'<a href="{self.address(page.name)}">{chapters.text(page.title)}</a>'
                for page in members
            )
            + "</p>"
            for part, members in groupby(rest, key=lambda p: book.contents[p.name])
        )
        return f'<div class="the-rest">{"".join(parts)}</div>'


class TheNotebooks(OnThePage):
    """Every chapter with its two editions."""

    def html(self) -> str:
        """A row for each chapter."""
        rows = []
        for chapter in manuscript.read().notebooks:
            title = chapters.text(chapter.title)
            links = "".join(
                f'<td><a href="{self.file(place)}" download>{edition}'
                f'<span class="visually-hidden">: {title}</span></a></td>'
                for edition, place in editions.addresses(chapter.name).items()
            )
            page = f'<a href="{self.address(chapter.name)}">{title}</a>'
            rows.append(f"<tr><td>{page}</td>{links}</tr>")
        head = "<tr><th>Page</th><th>Reader's</th>"
        head += "<th>Author's</th>" * manuscript.SOLUTIONS + "</tr>"
        table = f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"
        return f'<div class="scrolls">{table}</div>'


class Guess(OnThePage):
    """What to choose from before one looks; ``book.js`` answers."""

    def html(self) -> str:
        """A button for each line."""
        *wrong, right = map(html.escape, self.content)
        buttons = [f'<button type="button">{line}</button>' for line in wrong]
        buttons.append(f'<button type="button" value="right">{right}</button>')
        group = f'<div role="group" aria-label="Your guess">{"".join(buttons)}</div>'
        return f'<div class="guess">{group}<output></output></div>'


class ClaimCards(OnThePage):
    """Claims as cards: the sentence, proofread, and the way to its check."""

    def html(self) -> str:
        """A card for each id."""
        book = manuscript.read()
        ledger = self.address("book/reference/claims")
        cards = []
        for key in filter(None, self.content):
            if key not in book.claims:
                raise self.error(f"no claim has the id {key!r}")
            claim = book.claims[key]
            sentence = chapters.text(claim.claim)
            cards.append(
                f'<article class="claim-card"><p class="sentence">'
                f"{claims.mark(claim.verdict)}"
                f"{claims.proofread(claim, chapters.text)}</p>"
                f'<p><a href="{ledger}#ledger-{key}">Why, and the check'
                f'<span class="visually-hidden"> of: {sentence}</span>'
                "</a></p></article>"
            )
        return f'<div class="claim-cards">{"".join(cards)}</div>'


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_directive("the-path", ThePath)
    app.add_directive("the-rest", TheRest)
    app.add_directive("the-notebooks", TheNotebooks)
    app.add_directive("guess", Guess)
    app.add_directive("claims", ClaimCards)
