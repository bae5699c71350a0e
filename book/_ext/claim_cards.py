"""A page and a picture for every claim, so that a link to it shows what it says.

``claim/<id>.html`` leads to the claim in the ledger; what other sites show for it is
``claim/<id>.png``: the verdict with its shape and colour, and the sentence.
"""

import html
from functools import cache
from pathlib import Path
from textwrap import wrap

import manuscript
from claims import SHAPES, capital, kind
from manuscript import Claim
from matplotlib import get_data_path
from PIL import Image, ImageColor, ImageDraw, ImageFont
from sphinx.application import Sphinx

SIZE = 1200, 630
PAPER, INK = "#fdfcf9", "#1d2126"
COLOURS = {"yes": "#0a6e5c", "part": "#8a6700", "no": "#7f1517", "open": "#50545a"}
LINES = ((58, 31), (48, 38), (38, 48), (30, 60))  # a letter's size, letters a line
STEPS = 16  # of each ink on the paper: smooth letters, small files
PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>{claim}</title>
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<meta property="og:type" content="article">
<meta property="og:title" content="{verdict}: {claim}">
<meta property="og:description" content="{why}">
<meta property="og:image" content="{base}{name}.png">
<meta property="og:image:alt" content="{verdict}: {claim}">
<meta name="twitter:card" content="summary_large_image">
<meta http-equiv="refresh" content="0; url={target}">
<p><a href="{target}">{verdict}: {claim}</a></p>
</html>
"""


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
    said = f"“{manuscript.plain(claim.claim)}”"
    size, width = next(
        (pair for pair in LINES if len(wrap(said, pair[1])) * pair[0] * 1.35 < 330),
        LINES[-1],
    )
    text = "\n".join(wrap(said, width))
    draw.text((80, 190), text, INK, face("Serif-Italic", size), spacing=0.35 * size)
    draw.line([(80, 552), (1120, 552)], fill=INK, width=2)
    draw.text((80, 572), book, INK, face("Serif-Bold", 26))
    return image.quantize(palette=palette(colour), dither=Image.Dither.NONE)


def page(claim: Claim, base: str) -> str:
    """What leads to the claim, and what other sites show of it."""
    return PAGE.format(
        name=claim.id,
        claim=html.escape(manuscript.plain(claim.claim)),
        verdict=html.escape(capital(claim.verdict)),
        why=html.escape(manuscript.plain(claim.why)),
        base=f"{base}/claim/" if base else "",
        target=f"../book/reference/claims.html#ledger-{claim.id}",
    )


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write them when the site is built."""
    if exception or app.builder.format != "html":
        return
    folder = Path(app.outdir, "claim")
    folder.mkdir(exist_ok=True)
    base = app.config.html_baseurl.rstrip("/")
    for name, claim in manuscript.read().claims.items():
        card(claim, app.config.html_title).save(folder / f"{name}.png")
        (folder / f"{name}.html").write_text(page(claim, base), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
