"""A stored figure as an element that can stand in a page, on light and on dark paper.

A stored figure has one ink and one opaque paper (``pe_lib.plotting``), so that it
reads well in an editor. In a page the paper becomes transparent; ink, sine, cosine and
target take the colours of the page, and text takes its face. A map is stored in inks of
growing opacity: each ink's opacities become a mask over the page's colour, so that one
drawing serves light and dark pages.
"""

import base64
import html
import io
import re

import numpy as np
from PIL import Image

from pe_lib import plotting

# What the page's style sheet may name; without it the stored colour stays.
COLOURS = {
    plotting.PAPER: "none",
    plotting.INK: "currentColor",
    "#000000": "currentColor",  # what a shape has that names no colour
    plotting.SINE: f"var(--sine, {plotting.SINE})",
    plotting.COSINE: f"var(--cosine, {plotting.COSINE})",
    plotting.TARGET: f"var(--target, {plotting.TARGET})",
    plotting.GREY: f"var(--edge, {plotting.GREY})",
    plotting.GREEN: f"var(--yes, {plotting.GREEN})",
    plotting.RED: f"var(--above, {plotting.RED})",
    # What matplotlib draws three dimensions on.
    **dict.fromkeys(
        ("#b0b0b0", "#e6e6e6", "#ececec", "#f2f2f2"), "var(--hair, #ddd8cb)"
    ),
}
SHARP = 512
"""Pixels along the longer side of a mask: some browsers smooth what they enlarge."""


def masks(png: bytes) -> dict[str, bytes]:
    """Split a map into its inks: for each the opacities, as white in a PNG.

    A pixel in a colour that is no ink of the house raises: such a map would glare
    on a dark page.
    """
    pixels = np.asarray(Image.open(io.BytesIO(png)).convert("RGBA"))
    opacity = pixels[..., 3]
    enlarge = max(1, SHARP // max(opacity.shape))
    found = {}
    for red, green, blue in np.unique(pixels[opacity > 0][:, :3], axis=0):
        ink = f"#{red:02x}{green:02x}{blue:02x}"
        if ink not in COLOURS or ink == plotting.PAPER:
            raise ValueError(
                "a map must be drawn in the colours of pe_lib.plotting (MAGNITUDE, "
                f"code_map), got a pixel of {ink}"
            )
        mine = (pixels[..., :3] == (red, green, blue)).all(axis=-1)
        grey = np.kron(np.where(mine, opacity, 0), np.ones((enlarge,) * 2))
        levels, places = np.unique(grey.astype(np.uint8), return_inverse=True)
        image = Image.fromarray(places.reshape(grey.shape).astype(np.uint8), "P")
        image.putpalette(b"\xff\xff\xff" * len(levels))
        file = io.BytesIO()
        image.save(file, "png", optimize=True, transparency=levels.tobytes())
        found[ink] = file.getvalue()
    return found


def masked(image: re.Match[str]) -> str:
    """Return the SVG image as areas of the page's colours behind its masks."""
    tag = image.group()
    ((data, name),) = re.findall(r'base64,\s*([^"]*)".* id="([^"]*)"', tag, re.DOTALL)
    layers = masks(base64.b64decode(data))
    group = " ".join(re.findall(r' ((?:opacity|transform)="[^"]*")', tag))
    box = " ".join(re.findall(r' ((?:x|y|width|height)="[^"]*")', tag))
    parts = [f"<g {group}>"]
    for ink, png in layers.items():
        mask = f"{name}-{image.start()}-{ink[1:]}"  # two may be equal
        coded = base64.b64encode(png).decode()
        parts += [
            f'<mask id="{mask}"><image {box} preserveAspectRatio="none" '
            'style="image-rendering: pixelated" '
            f'href="data:image/png;base64,{coded}"/></mask>',
            f'<rect {box} style="fill: {ink}" mask="url(#{mask})"/>',
        ]
    return "".join([*parts, "</g>"])


def rounded(coordinates: re.Match[str]) -> str:
    """Round to hundredths of a point, which nobody sees."""
    return re.sub(
        r"-?\d+\.\d{3,}",
        lambda number: str(round(float(number[0]), 2)).removesuffix(".0"),
        coordinates[0],
    )


def inline_svg(source: str, *, prefix: str, label: str) -> str:
    """Return `source` as an element that can stand in a page beside others.

    A map in other colours than the house's raises ValueError.
    """
    svg = source[source.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    # A style element inside a page would hold for the whole page.
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<image\b[^>]*>", masked, svg)
    svg = re.sub(r" font-family: [^;\"]*;", "", svg)
    # The style sheet keeps letters at one size however wide the drawing is.
    svg = re.sub(
        r"(<text[^>]*font-size: )([\d.]+px)", r"\1calc(\2 * var(--letters, 1))", svg
    )
    svg = re.sub(r'\b(?:d|x|y)="[^"]*"', rounded, svg)
    wide = re.search(r'width="([\d.]+)pt"', svg)
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    svg = re.sub(r'href="#', f'href="#{prefix}-', svg)
    svg = re.sub(r"url\(#", f"url(#{prefix}-", svg)
    # Grey letters need more contrast than grey lines.
    svg = re.sub(
        f"(<text[^>]*fill: ){plotting.GREY}",
        rf"\1var(--muted, {plotting.GREY.upper()})",
        svg,
    )
    for stored, shown in COLOURS.items():
        svg = svg.replace(stored, shown)
    attributes = (
        f'<svg role="img" aria-label="{html.escape(label)}" class="figure" '
        'style="stroke-linejoin: round; stroke-linecap: butt'
        f'{f"; --wide: {wide[1]}px" if wide else ""}"'
    )
    return svg.replace("<svg", attributes, 1).strip()
