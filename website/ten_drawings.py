"""The page of ten drawings, and the field of the first page.

``{panel} spike`` puts one on a page: what a reader without a script has, and what is
printed, and one script for all makes it live. They are drawings that chapters use, too.
"""

from pathlib import Path
from typing import ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from pe_lib import explorers
from pe_lib.explorers.drawing import Drawing, program, read

DRAWINGS: dict[str, type[Drawing]] = {
    kind._name: kind
    for kind in (
        explorers.Shuffle,
        explorers.StraightLine,
        explorers.Switches,
        explorers.Wheel,
        explorers.Galaxy,
        explorers.Field,
        explorers.Turn,
        explorers.Spike,
        explorers.Rotary,
        explorers.Skip,
        explorers.Hero,
    )
}


def panel(name: str) -> str:
    """A drawing as it stands on a page."""
    return f'<div class="panel" data-panel="{name}">{DRAWINGS[name]().panel()}</div>'


class Panel(SphinxDirective):
    """``{panel} name``: the drawing of that name."""

    required_arguments: ClassVar[int] = 1

    def run(self) -> list[nodes.Node]:
        """The drawing, which a script makes live."""
        return [nodes.raw("", panel(self.arguments[0]), format="html")]


def write_files(app: Sphinx) -> None:
    """What makes the drawings live, and their style."""
    folder = Path(app.outdir, "_static")
    folder.mkdir(parents=True, exist_ok=True)
    scripts = dict.fromkeys(x for kind in DRAWINGS.values() for x in kind._scripts)
    (folder / "drawings.js").write_text(program([*scripts]), encoding="utf-8")
    (folder / "drawing.css").write_text(read("drawing.css"), encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("builder-inited", write_files)
    app.add_directive("panel", Panel)
