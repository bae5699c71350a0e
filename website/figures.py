"""Every figure of the book in its page as inline SVG, in a file, and elsewhere.

``drawings.py`` makes a stored figure one that the page colours. The alternative text
labels the drawing. A figure without one, or with a map in other colours, is a warning,
and so fails the build.

At the end of a build every stored figure is written to ``figures/<name>.svg``
as it is in its notebook, on paper, for slides; ``figures/index.json`` says for
each what it shows, its caption, its page and its licence.

``{stored-figure} fig-name`` shows the figure of a chapter on another page. It
is the output that the chapter stores and nbval proves, so it cannot be stale.
The directive's text is the caption; ``:alt:`` replaces the chapter's text.
"""

import json
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from website import manuscript
from website.inline_svg import inline_svg

logger = logging.getLogger(__name__)

LICENCE = "CC BY 4.0"
CREDIT = 'the authors of "Positional Encodings, Checked"'


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
                markup = inline_svg(source, prefix=prefix, label=label, maps=False)
            image.replace_self(nodes.raw("", markup, format="html"))


class StoredFigure(SphinxDirective):
    """Show a chapter's figure here."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"alt": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Inline the drawing, under an id of its own."""
        name = self.arguments[0]
        if name not in manuscript.read().figures:
            raise self.error(f"no chapter stores a figure named {name!r}")
        page, cell = manuscript.read().figures[name]
        self.env.note_dependency(str(page.path))
        label = self.options.get("alt") or (cell.figure.alt if cell.figure else "")
        prefix = f"shown-{name}"
        drawing = inline_svg(cell.drawings[-1], prefix=prefix, label=label)
        figure = nodes.figure("", nodes.raw("", drawing, format="html"))
        figure["classes"].append("stored-figure")
        if self.content:
            caption = nodes.caption()
            text, messages = self.state.inline_text(
                "\n".join(self.content), self.lineno
            )
            caption += text
            figure += [caption, *messages]
        return [figure]


def write_figures(app: Sphinx, exception: Exception | None) -> None:
    """Write the drawings and their index."""
    if exception or app.builder.format != "html":
        return
    folder = Path(app.outdir, "figures")
    folder.mkdir(exist_ok=True)
    index = []
    for name, (page, cell) in manuscript.read().figures.items():
        (folder / f"{name}.svg").write_text(cell.drawings[-1], encoding="utf-8")
        index.append(
            {
                "name": name,
                "file": f"figures/{name}.svg",
                "page": f"{page.name}.html#{name}",
                "alt": cell.figure.alt if cell.figure else "",
                "caption": cell.figure.caption if cell.figure else "",
                "licence": LICENCE,
                "credit": CREDIT,
            }
        )
    text = json.dumps(index, ensure_ascii=False, indent=1)
    (folder / "index.json").write_text(text + "\n", encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_post_transform(InlineFigures)
    app.add_directive("stored-figure", StoredFigure)
    app.connect("build-finished", write_figures)
