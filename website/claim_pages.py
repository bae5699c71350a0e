"""A page and a picture for every claim, so that a link to it shows what it says.

``claim/<id>.html`` has the sentence as a proofreader leaves it, the reason, and the
drawing beside its check (``website/theme/claim.html``); what other sites show for it is
``claim/<id>.png``: the verdict with its shape and colour, and the sentence.
"""

import html
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image, ImageColor, ImageDraw, ImageFont
from sphinx.application import Sphinx

from website import chapters, manuscript
from website.claims import SHAPES, badge, capital, kind, named, proofread
from website.inline_svg import inline_svg
from website.manuscript import Claim

SIZE = 1200, 630
PAPER, INK = "#fdfcf9", "#1d2126"
COLOURS = {"yes": "#0a6e5c", "part": "#8a6700", "no": "#7f1517", "open": "#50545a"}
SIZES = (62, 54, 46, 38, 32)
LEFT, WIDTH, HEIGHT = 80, 1040, 308
STEPS = 16  # of each ink on the paper: smooth letters, small files


class Word(NamedTuple):
    """A word of the sentence: as it was said, put in, or struck out."""

    text: str
    mark: str = ""


@cache
def face(name: str, size: int) -> ImageFont.FreeTypeFont:
    """One of the book's own faces."""
    fonts = manuscript.ROOT / "website/static/fonts"
    return ImageFont.truetype(str(fonts / f"{name}.woff2"), size)


def sentence(claim: Claim) -> list[Word]:
    """The words of the claim as a proofreader leaves it, in quotation marks."""
    quoted = f"“{html.unescape(proofread(claim, manuscript.plain))}”"
    quoted = re.sub("^“(<...>)", r"\1“", re.sub("(</...>)([.”]+)$", r"\2\1", quoted))
    words, mark = [], ""
    for piece in re.split("(</?(?:ins|del)>)", quoted):
        if piece.startswith("<"):
            mark = "" if "/" in piece else piece[1:4]
        else:
            words += [Word(text, mark) for text in piece.split()]
    return words


def lines_of(words: list[Word], size: int) -> list[list[Word]]:
    """The words in lines that the card can hold."""
    lines: list[list[Word]] = [[]]
    for word in words:
        if lines[-1] and length([*lines[-1], word], size) > WIDTH:
            lines.append([])
        lines[-1].append(word)
    return lines


def letters_of(word: Word, size: int) -> ImageFont.FreeTypeFont:
    """What is put in is in italics, as on the site."""
    return face("serif-italic" if word.mark == "ins" else "serif-display", size)


def length(line: list[Word], size: int) -> float:
    """How long a line is."""
    gap = 0.25 * size
    return sum(letters_of(w, size).getlength(w.text) + gap for w in line) - gap


def write(
    draw: ImageDraw.ImageDraw, lines: list[list[Word]], size: int, colour: str
) -> None:
    """The sentence, with a caret before what is put in and a line through the rest."""
    y, gap, before = 190.0 + size, 0.25 * size, ""
    for line in lines:
        x: float = LEFT
        for number, word in enumerate(line):
            letters = letters_of(word, size)
            ink = {"ins": colour, "del": COLOURS["open"]}.get(word.mark, INK)
            draw.text((x, y), word.text, ink, letters, anchor="ls")
            end = x + letters.getlength(word.text)
            if word.mark == "ins" and before != "ins":
                at, d = x - 0.6 * gap, 0.16 * size
                caret = [(at - d, y + 2.4 * d), (at, y + d), (at + d, y + 2.4 * d)]
                draw.line(caret, colour, width=5, joint="curve")
            if word.mark == "del":
                last = number == len(line) - 1
                across = [
                    (x, y - 0.27 * size),
                    (end + gap * (not last), y - 0.27 * size),
                ]
                draw.line(across, colour, width=max(4, size // 12))
            x, before = end + gap, word.mark
        y += 1.28 * size


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
    letters = face("serif-display", 38)
    draw.text(
        (172, 111), named(kind(claim.verdict)), COLOURS[colour], letters, anchor="lm"
    )
    words = sentence(claim)
    size = next((s for s in SIZES if len(lines_of(words, s)) * s * 1.28 < HEIGHT), 32)
    write(draw, lines_of(words, size), size, COLOURS[colour])
    draw.line([(80, 552), (1120, 552)], fill=INK, width=2)
    draw.text((80, 572), book, INK, face("serif-display", 28))
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
    every = [*book.claims.values()]
    base = app.config.html_baseurl.rstrip("/")
    for claim, following in zip(every, [*every[1:], every[0]], strict=True):
        page, _ = book.settled.get(claim.id, (None, None))
        title = manuscript.plain(claim.claim)
        yield (
            f"claim/{claim.id}",
            {
                "title": title,
                "about": manuscript.plain(f"{capital(claim.verdict)}. {claim.why}"),
                "card": f"{base}/claim/{claim.id}.png" if base else "",
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


def write_cards(app: Sphinx, exception: Exception | None) -> None:
    """Draw the pictures when the site is built."""
    if exception or app.builder.format != "html":
        return
    for name, claim in manuscript.read().claims.items():
        path = Path(app.outdir, "claim", f"{name}.png")
        card(claim, app.config.html_title).save(path)


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("html-collect-pages", collect)
    app.connect("build-finished", write_cards)
