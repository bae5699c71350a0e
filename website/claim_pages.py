"""A page for every claim, so that a link to it shows what it says.

``claim/<id>.html`` has the sentence as a proofreader leaves it, the reason, and the
drawing beside its check (``website/theme/claim.html``).
"""

from collections.abc import Iterator
from typing import Any

from sphinx.application import Sphinx

from website import chapters, manuscript
from website.claims import badge, capital, kind, proofread
from website.inline_svg import inline_svg
from website.manuscript import Claim


def drawing_of(claim: Claim) -> str:
    """The figure nearest to the cell that settles it, or nothing."""
    if claim.id not in (settled := manuscript.read().settled):
        return ""
    page, cell = settled[claim.id]
    cells = page.code_cells
    for near in sorted(cells, key=lambda c: abs(cells.index(c) - cells.index(cell))):
        if near.drawings and near.figure:
            return inline_svg(near.drawings[-1], prefix=claim.id, label=near.figure.alt)
    return ""


def collect(_app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """A page for every claim: proofread, its reason, its drawing, and the next."""
    book = manuscript.read()
    every = [*book.claims.values()]
    for claim, following in zip(every, [*every[1:], every[0]], strict=True):
        page, _ = book.settled.get(claim.id, (None, None))
        title = manuscript.plain(claim.claim)
        yield (
            f"claim/{claim.id}",
            {
                "title": title,
                "about": manuscript.plain(f"{capital(claim.verdict)}. {claim.why}"),
                "claim": claim.id,
                "sentence": proofread(claim, chapters.text),
                "badge": badge(kind(claim.verdict)),
                "why": chapters.text(claim.why),
                "drawing": drawing_of(claim),
                "settled": page and page.name,
                "following": (following.id, proofread(following, chapters.text)),
            },
            "claim.html",
        )


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("html-collect-pages", collect)
