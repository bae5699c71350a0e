"""Every figure of the book in its page as inline SVG.

``inline_svg.py`` makes a stored figure one that the page colours. The alternative text
labels the drawing. A figure without one, or with a map in other colours, is a warning,
and so fails the build.
"""

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

from website.inline_svg import inline_svg

logger = logging.getLogger(__name__)


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
            source, label = path.read_text(encoding="utf-8"), image.get("alt", "")
            try:
                markup = inline_svg(source, prefix=prefix, label=label)
            except ValueError as error:
                logger.warning("%s", error, location=image)
            else:
                image.replace_self(nodes.raw("", markup, format="html"))


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_post_transform(InlineFigures)
