"""What the landing page shows of the book: the path, and some of the claims.

``{the-path}`` lists the path with its minutes; ``{claims}`` makes cards of the claims
whose ids are its lines.
"""

import os
from collections.abc import Iterator

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from website import chapters, claims, manuscript


class OnThePage(SphinxDirective):
    """What both have in common: files that the page depends on, and HTML."""

    has_content = True
    frame = "<div>{}</div>"

    def run(self) -> list[nodes.Node]:
        """Note what the page is made from, and write it."""
        book = manuscript.read()
        pages = [page.path for page in book.path_pages]
        for path in (*pages, book.root / "book/claims.yml"):
            self.env.note_dependency(str(path))
        text = self.frame.format("".join(self.items()))
        return [nodes.raw("", text, format="html")]

    def items(self) -> Iterator[str]:
        """What stands on the page, one by one."""
        raise NotImplementedError

    def address(self, name: str) -> str:
        """From this page to a page of _toc.yml."""
        here = os.path.dirname(self.env.docname)  # noqa: PTH120
        return f"{os.path.relpath(name, here)}.html"


class ThePath(OnThePage):
    """The pages of the path in order, each with its minutes."""

    frame = '<ol class="the-path">{}</ol>'

    def items(self) -> Iterator[str]:
        """A line for each page."""
        for stop in chapters.path_pages():
            yield (
                f'<li data-page="{stop.name}">'
                f'<a href="{self.address(stop.name)}">{stop.title}</a> '
                f'<span class="time">{stop.minutes} min</span></li>'
            )


class ClaimCards(OnThePage):
    """Claims as cards: the sentence, proofread, and the way to its check."""

    frame = '<div class="claim-cards">{}</div>'

    def items(self) -> Iterator[str]:
        """A card for each id."""
        known = manuscript.read().claims
        ledger = self.address("book/reference/claims")
        for key in filter(None, self.content):
            if key not in known:
                raise self.error(f"no claim has the id {key!r}")
            claim = known[key]
            yield (
                f'<article class="claim-card"><p class="sentence">'
                f"{claims.mark(claim.verdict)}"
                f"{claims.proofread(claim, chapters.text)}</p>"
                f'<p><a href="{ledger}#ledger-{key}">Why, and the check'
                f'<span class="visually-hidden"> of: {chapters.text(claim.claim)}'
                "</span></a></p></article>"
            )


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_directive("the-path", ThePath)
    app.add_directive("claims", ClaimCards)
