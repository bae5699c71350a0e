"""Put every figure of the book into its page as inline SVG.

A stored figure has one ink and one opaque paper (``pe_lib.plotting``), so that
it reads well in an editor. On the site the paper becomes transparent and the
ink takes the colour of the text, in light and dark mode. The alternative text
labels the drawing; a figure without one is a warning, and so fails the build.
"""

import html
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

from pe_lib.plotting import INK, PAPER

logger = logging.getLogger(__name__)


def inline_svg(source: str, *, prefix: str, label: str) -> str:
    """Return `source` as an element that can stand in a page beside others."""
    svg = source[source.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    # A style element inside a page would hold for the whole page.
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    svg = re.sub(r'href="#', f'href="#{prefix}-', svg)
    svg = re.sub(r"url\(#", f"url(#{prefix}-", svg)
    svg = svg.replace(PAPER, "none").replace(INK, "currentColor")
    attributes = (
        f'<svg role="img" aria-label="{html.escape(label)}" class="figure" '
        'style="stroke-linejoin: round; stroke-linecap: butt"'
    )
    return svg.replace("<svg", attributes, 1).strip()


class InlineFigures(SphinxPostTransform):
    """Replace the SVG images of a page, after myst-nb has chosen its outputs."""

    default_priority = 5
    formats = ("html",)

    def run(self, **_options: Any) -> None:
        """Inline each one, prefixed by the name of its figure."""
        for number, image in enumerate(list(self.document.findall(nodes.image))):
            if not image["uri"].endswith(".svg"):
                continue
            if not image.get("alt"):
                logger.warning("figure without alt text", location=image)
            prefix = (image.parent.get("ids") or [f"figure-{number}"])[0]
            path = Path(self.env.srcdir, image["uri"].lstrip("/"))
            markup = inline_svg(
                path.read_text(encoding="utf-8"),
                prefix=prefix,
                label=image.get("alt", ""),
            )
            image.replace_self(nodes.raw("", markup, format="html"))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_post_transform(InlineFigures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
