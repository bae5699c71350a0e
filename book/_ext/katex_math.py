r"""Draw mathematics while the site is built, with KaTeX.

A page then arrives with its formulas drawn: no script runs, nothing moves, and
a formula that KaTeX does not understand is a warning, and so fails the build.
``katex.min.js`` beside this file and the style sheet and fonts in
``_static/katex`` are of the same version.
"""

import html
from functools import cache
from pathlib import Path

from docutils import nodes
from py_mini_racer import JSEvalException, MiniRacer
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)
KATEX = Path(__file__).parent / "katex.min.js"
CLOSING = tuple(".,;:!?)")
COLOURS = {"sin": "sine", "cos": "cosine"}  # classes of book.css


@cache
def engine() -> MiniRacer:
    """One JavaScript engine with KaTeX in it."""
    javascript = MiniRacer()
    javascript.eval(KATEX.read_text(encoding="utf-8") + "; 0")
    return javascript


@cache
def draw(tex: str, *, display: bool) -> str:
    """Return a formula as HTML for the eye and MathML for a screen reader."""
    options = {"displayMode": display, "throwOnError": True, "strict": "ignore"}
    drawn = str(engine().call("katex.renderToString", tex, options))
    for function, colour in COLOURS.items():
        drawn = drawn.replace(
            f'class="mop">{function}<', f'class="mop {colour}">{function}<'
        )
    return drawn


def _drawn(tex: str, node: nodes.Element, *, display: bool) -> str:
    try:
        return draw(tex, display=display)
    except JSEvalException as error:
        line = next(line for line in str(error).splitlines() if "ParseError" in line)
        logger.warning(line, location=node)
        return f"<code>{html.escape(tex)}</code>"


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    drawn = _drawn(node.astext(), node, display=False)
    self.body.append(f'<span class="math">{drawn}</span>')
    following = node.next_node(descend=False, siblings=True)
    if isinstance(following, nodes.Text) and following[:1] in CLOSING:
        self.body.append("&#8288;")  # no line may begin with what ends a sentence
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on its own line, in a box that scrolls if it must."""
    self.body.append(self.starttag(node, "div", CLASS="math"))
    if node["number"]:
        self.body.append(f'<span class="eqno">({node["number"]})</span>')
    self.body.append(_drawn(node.astext(), node, display=True))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_html_math_renderer("katex", (visit_inline, None), (visit_block, None))
    app.add_css_file("katex/katex.min.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
