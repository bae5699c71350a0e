"""A page and a picture for every claim, so that a link to it shows what it says.

``claim/<id>.html`` has the sentence as a proofreader leaves it, the reason, and the
drawing beside its check (``book/_theme/claim.html``); what other sites show for it is
``claim/<id>.png``: the verdict with its shape and colour, and the sentence.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from textwrap import wrap
from typing import Any

import chapters
import manuscript
from claims import SHAPES, badge, capital, kind, proofread
from drawings import inline_svg
from manuscript import Claim
from matplotlib import get_data_path
from PIL import Image, ImageColor, ImageDraw, ImageFont
from sphinx.application import Sphinx

SIZE = 1200, 630
PAPER, INK = "#fdfcf9", "#1d2126"
COLOURS = {"yes": "#0a6e5c", "part": "#8a6700", "no": "#7f1517", "open": "#50545a"}
LINES = ((58, 31), (48, 38), (38, 48), (30, 60))  # a letter's size, letters a line
STEPS = 16  # of each ink on the paper: smooth letters, small files


def face(name: str, size: int) -> ImageFont.FreeTypeFont:
    """One of the faces that matplotlib brings along, the same on every machine."""
    return ImageFont.truetype(
        Path(get_data_path(), f"fonts/ttf/DejaVu{name}.ttf"), size
    )


def shape(draw: ImageDraw.ImageDraw, colour: str) -> None:
    """The verdict's shape, as ``claims.SHAPES`` has it."""
    box, ink = (80, 76, 150, 146), COLOURS[colour]
    if colour == "yes":
        draw.ellipse(box, fill=ink)
        draw.line([(97, 112), (110, 126), (134, 97)], fill=PAPER, width=8)
    elif colour == "part":
        draw.ellipse(box, outline=ink, width=7)
        draw.pieslice(box, 90, 270, fill=ink)
    elif colour == "no":
        draw.rectangle(box, fill=ink)
        draw.line([(100, 96), (130, 126)], fill=PAPER, width=8)
        draw.line([(130, 96), (100, 126)], fill=PAPER, width=8)
    else:
        for start in range(0, 360, 45):
            draw.arc(box, start, start + 28, fill=ink, width=7)


@cache
def palette(colour: str) -> Image.Image:
    """The paper with more and more of the verdict's colour, and of the ink."""
    paper, *inks = map(ImageColor.getrgb, (PAPER, COLOURS[colour], INK))
    image = Image.new("P", (1, 1))
    image.putpalette(
        [
            round(start + (end - start) * step / (STEPS - 1))
            for ink in inks
            for step in range(STEPS)
            for start, end in zip(paper, ink, strict=True)
        ]
    )
    return image


def card(claim: Claim, book: str) -> Image.Image:
    """Verdict, sentence, and the book's name."""
    image = Image.new("RGB", SIZE, PAPER)
    draw = ImageDraw.Draw(image)
    colour = SHAPES[kind(claim.verdict)][0]
    shape(draw, colour)
    verdict = wrap(capital(claim.verdict), 46)
    letters = face("Sans-Bold", 32 if len(verdict) < 3 else 27)
    draw.text((172, 111), "\n".join(verdict), COLOURS[colour], letters, anchor="lm")
    quoted = f"“{manuscript.plain(claim.claim)}”"
    size, width = next(
        (pair for pair in LINES if len(wrap(quoted, pair[1])) * pair[0] * 1.35 < 330),
        LINES[-1],
    )
    text = "\n".join(wrap(quoted, width))
    draw.text((80, 190), text, INK, face("Serif-Italic", size), spacing=0.35 * size)
    draw.line([(80, 552), (1120, 552)], fill=INK, width=2)
    draw.text((80, 572), book, INK, face("Serif-Bold", 26))
    return image.quantize(palette=palette(colour), dither=Image.Dither.NONE)


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


def collect(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """A page for every claim: proofread, its reason, its drawing, and the next."""
    book = manuscript.read()
    every = sorted(book.claims.values(), key=lambda claim: claim.rank)
    base = app.config.html_baseurl.rstrip("/")
    for claim, following in zip(every, [*every[1:], every[0]], strict=True):
        page, _ = book.settled.get(claim.id, (None, None))
        said = manuscript.plain(claim.claim)
        yield (
            f"claim/{claim.id}",
            {
                "title": said,
                "about": manuscript.plain(f"{capital(claim.verdict)}. {claim.why}"),
                "card": f"{base}/claim/{claim.id}.png" if base else "",
                "claim": claim.id,
                "sentence": proofread(claim, chapters.text),
                "badge": badge(claim.verdict),
                "why": chapters.text(claim.why),
                "drawing": drawing_of(claim),
                "settled": page and page.name,
                "following": (following.id, proofread(following, chapters.text)),
            },
            "claim.html",
        )


def write_cards(app: Sphinx, exception: Exception | None) -> None:
    """Draw the pictures when the site is built."""
    if exception or app.builder.format != "html":
        return
    for name, claim in manuscript.read().claims.items():
        path = Path(app.outdir, "claim", f"{name}.png")
        card(claim, app.config.html_title).save(path)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("html-collect-pages", collect)
    app.connect("build-finished", write_cards)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
