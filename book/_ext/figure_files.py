"""Figures under stable addresses, and figures of a chapter shown elsewhere.

At the end of a build every stored figure is written to ``figures/<name>.svg``
as it is in its notebook, on paper, for slides; ``figures/index.json`` says for
each what it shows, its caption, its page and its licence.

``{stored-figure} fig-name`` shows the figure of a chapter on another page. It
is the output that the chapter stores and nbval proves, so it cannot be stale.
The directive's text is the caption; ``:alt:`` replaces the chapter's text.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import manuscript
from docutils import nodes
from docutils.parsers.rst import directives
from drawings import inline_svg
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

LICENCE = "CC BY 4.0"
CREDIT = 'the authors of "Positional Encodings, Checked"'


@cache
def stored_figures() -> dict[str, dict[str, str]]:
    """Every figure of the notebooks by name: its page, texts and drawing."""
    return {
        name: {
            "page": f"{page.name}.html",
            "alt": cell.figure.alt,
            "caption": cell.figure.caption,
            "svg": cell.drawings[-1],
        }
        for name, (page, cell) in manuscript.read().figures.items()
        if cell.figure
    }


class StoredFigure(SphinxDirective):
    """Show a chapter's figure here."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"alt": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Inline the drawing, under an id of its own."""
        name = self.arguments[0]
        if name not in stored_figures():
            raise self.error(f"no chapter stores a figure named {name!r}")
        stored = stored_figures()[name]
        self.env.note_dependency(str(manuscript.read().figures[name][0].path))
        drawing = inline_svg(
            stored["svg"],
            prefix=f"shown-{name}",
            label=self.options.get("alt", stored["alt"]),
        )
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
    for name, stored in stored_figures().items():
        (folder / f"{name}.svg").write_text(stored["svg"], encoding="utf-8")
        index.append(
            {
                "name": name,
                "file": f"figures/{name}.svg",
                "page": f"{stored['page']}#{name}",
                "alt": stored["alt"],
                "caption": stored["caption"],
                "licence": LICENCE,
                "credit": CREDIT,
            }
        )
    text = json.dumps(index, ensure_ascii=False, indent=1)
    (folder / "index.json").write_text(text + "\n", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("stored-figure", StoredFigure)
    app.connect("build-finished", write_figures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
