"""Leave out of the site what no reader needs.

The theme brings scripts for services that this book does not use, 1,500 icons,
translations and debugging files. A page loads only what it shows, and no
script holds up its first paint.
"""

import base64
import re
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)
STATIC = Path(__file__).parents[1] / "_static"
FONTS = STATIC / "vendor/fontawesome/webfonts"

# Live code from another site, tabs, and folds: ours need no script.
UNUSED = ("thebe", "design-tabs", "togglebutton")
REMOVED = (
    "**/*.map",
    "**/fontawesome.js*",
    "**/webfonts/*.ttf",
    "**/webfonts/fa-regular*",
    "locales",
    "*webpack-macros.html",
    "sphinx-thebe.*",
    "togglebutton.*",
    "design-tabs.js",
)
ICON_RULE = re.compile(r'(?:\.fa-[\w-]+::?before,?)+\{content:"(.*?)"\}')


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


def icons_in(font: Path) -> set[str]:
    """The characters of a font."""
    return {chr(code) for code in TTFont(font).getBestCmap()}


def keep_icons(css: str, kept: set[str]) -> str:
    """Return a style sheet without the icons whose character is not `kept`."""

    def choose(rule: re.Match[str]) -> str:
        code = rule[1].removeprefix("\\")
        character = code if len(code) == 1 else chr(int(code, 16))
        return rule[0] if character in kept else ""

    return ICON_RULE.sub(choose, css)


def tidy(app: Sphinx, exception: Exception | None) -> None:
    """Remove files, icons, and the theme's notes to its own developers."""
    if exception or app.builder.format != "html":
        return
    static = Path(app.outdir, "_static")
    for pattern in REMOVED:
        for path in list(static.glob(pattern)):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for script in static.glob("**/*.js"):
        text = script.read_text(encoding="utf-8")
        quiet = re.sub(r"console\.(log|debug|info)\(", "void(", text)
        if quiet != text:
            script.write_text(quiet, encoding="utf-8")
    sheet = static / "styles/pydata-sphinx-theme.css"
    if not sheet.exists():
        return
    css = sheet.read_text(encoding="utf-8")
    kept = set().union(*map(icons_in, FONTS.glob("*.woff2")))
    css = keep_icons(css, kept)
    css = re.sub(r',url\([^)]*\.ttf\) format\("truetype"\)', "", css)
    css = re.sub(r"@font-face\{[^}]*fa-regular[^}]*\}", "", css)
    for font in FONTS.glob("*.woff2"):  # in the sheet: nothing moves when they come
        data = base64.b64encode(font.read_bytes()).decode()
        address = f"../vendor/fontawesome/webfonts/{font.name}"
        css = css.replace(address, f"data:font/woff2;base64,{data}")
    sheet.write_text(css, encoding="utf-8")
    known = set(re.findall(r"\.fa-([\w-]+)", css))
    for page in Path(app.outdir).glob("**/*.html"):
        used = set(re.findall(r'<[^<>]* class="([^"]*\bfa-[^"]*)"', page.read_text()))
        names = set(re.findall(r"\bfa-([\w-]+)", " ".join(used)))
        if names - known:
            logger.warning(
                "%s shows icons that the book's fonts lack: %s",
                page.relative_to(app.outdir),
                ", ".join(sorted(names - known)),
            )


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx, after the theme and the other extensions."""
    app.connect("html-page-context", choose_files, priority=900)
    app.connect("build-finished", tidy, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
