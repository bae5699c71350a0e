"""A line of Markdown, as markdown-it reads it: its words, or HTML.

words("*old* [the row P[0]](x) $t$")       "old the row P[0] t"
as_html("*old* `x < 1`", draw)             "<i>old</i> <code>x &lt; 1</code>"
"""

import html
import re
from collections.abc import Callable

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.myst_role import myst_role_plugin

PARSER = MarkdownIt("commonmark", {"html": False})
PARSER.use(dollarmath_plugin, double_inline=True).use(myst_role_plugin)
REMARK = re.compile(r"<!--.*?-->", re.DOTALL)
TARGET = re.compile(r" <[^<>]*>$")  # of a role
TAGS = {
    "strong_open": "<b>",
    "strong_close": "</b>",
    "em_open": "<i>",
    "em_close": "</i>",
}


def pieces(text: str) -> list[Token]:
    """Its parts in order: text, code, formulas, and where emphasis begins and ends.

    A role is the text that is shown, a line break a line feed.
    """
    (line,) = PARSER.parseInline(REMARK.sub("", text))
    found = line.children or []
    for piece in found:
        if piece.type == "myst_role":
            piece.content = TARGET.sub("", piece.content)
        elif piece.type in ("softbreak", "hardbreak"):
            piece.content = "\n"
    return found


def words(text: str, *, dollars: bool = False) -> str:
    """Words alone: no marks, no addresses; of a formula its TeX, between `dollars`."""
    return "".join(
        f"${piece.content}$"
        if dollars and piece.type == "math_inline"
        else piece.content
        for piece in pieces(text)
    )


def as_html(text: str, draw: Callable[[str], str], *, marks: bool = True) -> str:
    """A little Markdown as HTML, its links as words; `draw` makes HTML of a formula."""
    done = []
    for piece in pieces(text.replace("\n", " ")):
        shown = html.escape(piece.content)
        if piece.type.startswith("math"):
            done.append(draw(piece.content))
        elif marks and piece.type == "code_inline":
            done.append(f"<code>{shown}</code>")
        else:
            done.append(TAGS.get(piece.type, shown) if marks else shown)
    return "".join(done)
