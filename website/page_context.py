"""What the templates of ``website/theme`` need, and which files a page loads.

Style sheets are the book's own and KaTeX's: what extensions bring is made for other
themes. Scripts run after the first paint.
"""

import re
from functools import cache
from typing import Any

import yaml
from sphinx.application import Sphinx

import manuscript
from website.katex_math import COLOURS

STYLES = ("book.css", "katex.min.css", "drawing.css", "ten_drawings.css", "bench.css")
UNUSED_SCRIPTS = ("design-tabs.js", "sphinx_highlight.js")
LOADS = {  # a page that has the one loads the others
    'class="panel"': ("drawings.js", "drawing.css", "ten_drawings.css"),
    '<div class="pe-explorer" data-drawing="bench"': ("bench.js", "bench.css"),
    '<div class="live-start" data-': ("live/start.js",),  # its button
}
CODE = re.compile(r"<(pre|code|dt)\b.*?</\1>", re.DOTALL)
PERCENT = re.compile(r"(<(pre|code)\b.*?</\2>)|(?<=\d) %", re.DOTALL)
# What no rule names: half of all elements, if they stayed.
PLAIN = re.compile(r'<span class="(?:[nopw]|m[if]|pre|sig-paren)">([^<]*)</span>')
ENDED = re.compile(
    r'^(<pre><span></span>)?([ ]*)((?!<pre)\S.*?)(<span class="c1">#.*</span>)$',
    re.MULTILINE,
)
# In a bibliography, deprecated the one, without list items the other.
REFUSED = re.compile(' role="(?:doc-biblioentry|list)"')


def tell_the_page(
    app: Sphinx, pagename: str, _: str, context: dict[str, Any], *_rest: Any
) -> None:
    """Name all parts of the book with their pages."""
    parts: dict[str, list[tuple[str, str]]] = {}
    book = manuscript.read()
    contents = book.contents
    for name, part in contents.items():
        if part and name in app.env.titles:
            title = book.short.get(name) or app.env.titles[name].astext()
            parts.setdefault(part, []).append((name, title))
    context["parts"] = list(parts.items())
    context["titles"] = app.env.titles
    context["story_ends"] = pagename == book.model_pages[-1].name
    context["edition"] = edition()
    context["author"] = app.config.author
    context["toc"] = CODE.sub(as_styled, context.get("toc", ""))
    styled = CODE.sub(as_styled, context.get("body", ""))
    context["drawn"] = 'class="panel"' in styled  # such a page needs no list
    context["body"] = REFUSED.sub("", unbroken(with_tables(styled)))


@cache
def edition() -> dict[str, Any]:
    """Version and year, as the file has them that says how to cite the book."""
    cited = yaml.safe_load((manuscript.ROOT / "CITATION.cff").read_text("utf-8"))
    return {"version": cited["version"], "year": cited["date-released"].year}


def as_styled(code: re.Match[str]) -> str:
    """Sine and cosine have their colours; spans without a rule are gone."""
    body = code[0]
    for function, colour in COLOURS.items():
        body = body.replace(
            f'<span class="n">{function}</span>',
            f'<span class="n {colour}">{function}</span>',
        )
    return ENDED.sub(as_ended, PLAIN.sub(r"\1", body))


def as_ended(line: re.Match[str]) -> str:
    """A line and the comment at its end, which stands above it where it is narrow."""
    pre, indent, statement, comment = line.groups(default="")
    if statement.count("<span") != statement.count("</span>"):
        return line[0]  # it began above
    return f'{pre}{indent}<span class="ended"><span>{statement}</span>{comment}</span>'


def with_tables(body: str) -> str:
    """Tables scroll in a box of their own; an empty corner is no heading."""
    boxed = re.sub(
        r'<table class="[^"]*docutils.*?</table>',
        r'<div class="scrolls">\g<0></div>',
        body,
        flags=re.DOTALL,
    )
    return boxed.replace('<th class="head"><p></p></th>', "<td></td>")


def unbroken(body: str) -> str:
    """No line of the text ends between a number and its per cent; code stays."""
    return PERCENT.sub(lambda found: found[1] or "\u00a0%", body)


def choose_files(
    app: Sphinx, _page: str, _: str, context: dict[str, Any], *_rest: Any
) -> None:
    """Load what the page uses, and run its scripts after its first paint."""
    for mark, names in LOADS.items():
        for name in names if mark in context.get("body", "") else ():
            add = app.add_css_file if name.endswith(".css") else app.add_js_file
            add(name)
    context["css_files"][:] = [
        file for file in context["css_files"] if _named(file).endswith(STYLES)
    ]
    context["script_files"][:] = [
        file
        for file in context["script_files"]
        if not _named(file).endswith(UNUSED_SCRIPTS)
    ]
    for script in context["script_files"]:
        script.attributes.pop("async", None)
        script.attributes["defer"] = "defer"


def _named(file: Any) -> str:
    return str(file.filename or "").partition("?")[0]


def setup(app: Sphinx) -> None:
    """Register with Sphinx, after the other extensions."""
    app.connect("html-page-context", tell_the_page)
    app.connect("html-page-context", choose_files, priority=900)
