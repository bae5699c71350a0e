"""Leave out of the site whole files that no reader needs.

The theme brings scripts for services that this book does not use, a font of
icons, translations and debugging files. A page loads only what it shows, and no
script holds up its first paint. What stays is as its authors wrote it: a file
goes or is left alone.
"""

import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

# Live code from another site, tabs, and folds: ours need no script.
UNUSED = ("thebe", "design-tabs", "togglebutton")
REMOVED = (
    "**/*.map",
    "**/fontawesome.js*",
    "vendor/fontawesome",  # our icons are drawn in the page: _templates/icons.html
    "locales",
    "*webpack-macros.html",
    "sphinx-thebe.*",
    "play-solid.svg",
    "togglebutton.*",
    "design-tabs.js",
)


def choose_files(
    _app: Sphinx,
    pagename: str,
    _templatename: str,
    context: dict[str, Any],
    _doctree: nodes.document | None,
) -> None:
    """Drop unused files from a page, and run its scripts after its first paint."""
    unused = UNUSED if pagename == "search" else (*UNUSED, "sphinx_highlight")
    for kind in ("script_files", "css_files"):
        context[kind][:] = [
            file
            for file in context[kind]
            if file.filename and not any(name in str(file.filename) for name in unused)
        ]
    for script in context["script_files"]:
        script.attributes.pop("async", None)
        script.attributes["defer"] = "defer"


def remove_files(app: Sphinx, exception: Exception | None) -> None:
    """Remove what no page loads."""
    if exception or app.builder.format != "html":
        return
    static = Path(app.outdir, "_static")
    for pattern in REMOVED:
        for path in list(static.glob(pattern)):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx, after the theme and the other extensions."""
    app.connect("html-page-context", choose_files, priority=900)
    app.connect("build-finished", remove_files, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
