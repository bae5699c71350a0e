r"""Draw mathematics while the site is built, with KaTeX.

A page then arrives with its formulas drawn: no script runs, nothing moves, and
a formula that KaTeX does not understand is a warning, and so fails the build.
``katex.min.js`` beside this file and the style sheet and fonts in
``_static/katex`` are of the same version. Its four largest fonts are cut to
``LETTERS`` by ``fonts.py``; a formula that draws another is a warning, too.
"""

import html
import re
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from py_mini_racer import JSEvalException
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

from pe_lib.explorers.drawing import interpreter

logger = logging.getLogger(__name__)
KATEX = Path(__file__).parent / "katex.min.js"
CLOSING = (".", ",", ";", ":", "!", "?", ")")
SHORT = 40  # letters of TeX that need not break
COLOURS = {"sin": "sine", "cos": "cosine"}  # classes of book.css
LETTERS = (
    *"".join(map(chr, range(0x20, 0x7F))),
    *"\u00a0\u200b\u20d7\ue020±×ˉΔΠΣΩαβγδεζηθκλμνξπρστφψω’“”…′ℓ→↦",
    *"∈∑−∞∣∥∫≈≤≥⊤⋅⋯⌊⌋",
)
"""\ue020 strikes through the = of ≠."""


@cache
def engine() -> Any:
    """One JavaScript engine with KaTeX in it."""
    return interpreter(KATEX.read_text(encoding="utf-8") + "; ")


@cache
def draw(tex: str, *, display: bool) -> str:
    """Return a formula as HTML for the eye and MathML for a screen reader.

    A letter that the fonts lack raises ValueError.
    """
    options = {"displayMode": display, "throwOnError": True, "strict": "ignore"}
    drawn = str(engine().call("katex.renderToString", tex, options))
    seen = re.sub(r"<math.*?</math>|<svg.*?</svg>|<[^>]*>", "", drawn, flags=re.DOTALL)
    if lacking := {*html.unescape(seen)}.difference(LETTERS):
        raise ValueError(
            f"{tex} draws {' '.join(sorted(lacking))}, which the fonts lack: "
            "website/fonts.py cuts them to the letters of katex_math.LETTERS"
        )
    for function, colour in COLOURS.items():
        drawn = drawn.replace(
            f'class="mop">{function}<', f'class="mop {colour}">{function}<'
        )
    return drawn


def _drawn(tex: str, node: nodes.Element, *, display: bool) -> str:
    try:
        return draw(tex, display=display)
    except JSEvalException as error:
        said = next(line for line in str(error).splitlines() if "ParseError" in line)
    except ValueError as error:
        said = str(error)
    logger.warning(said, location=node)
    return f"<code>{html.escape(tex)}</code>"


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    drawn = _drawn(node.astext(), node, display=False)
    if "after" in node or "before" in node:
        # &#8288;: no line begins with what follows a formula
        tied = f"{node.get('before', '')}{drawn}&#8288;{node.get('after', '')}"
        short = drawn.count('class="base"') < 3
        drawn = f'<span class="unbroken">{tied}</span>' if short else tied
    self.body.append(f'<span class="math">{drawn}</span>')
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on its own line, in a box that scrolls if it must."""
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(_drawn(node.astext(), node, display=True))
    self.body.append("</div>\n")
    raise nodes.SkipNode


class TieStops(SphinxPostTransform):
    """Keep a stop with the formula before it, a bracket with the one behind it."""

    default_priority = 900
    formats = ("html",)

    def run(self, **_options: Any) -> None:
        """Move it from the text into the formula, which draws it."""
        for formula in self.document.findall(nodes.math):
            if len(formula.astext()) > SHORT:
                continue
            around, place = formula.parent, formula.parent.index(formula)
            before = around[place - 1] if place else None
            if isinstance(before, nodes.Text) and before.endswith("("):
                formula["before"] = "("
                around[place - 1] = nodes.Text(before[:-1])
            after = around[place + 1] if place + 1 < len(around) else None
            if isinstance(after, nodes.Text) and after.startswith(CLOSING):
                formula["after"] = after[0]
                around[place + 1] = nodes.Text(after[1:])


def close_engine(_app: Sphinx, _exception: Exception | None) -> None:
    """Stop its thread: from Python 3.13 on, the build would wait for it without end."""
    if engine.cache_info().currsize:
        engine().close()
        engine.cache_clear()


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_html_math_renderer("katex", (visit_inline, None), (visit_block, None))
    app.add_post_transform(TieStops)
    app.add_css_file("katex/katex.min.css")
    app.connect("build-finished", close_engine)
