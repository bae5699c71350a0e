"""The search: an index of all sections, made by the script that asks it.

``static/find.js`` cuts texts into words and finds sections with MiniSearch; it runs
here in mini-racer, and in the reader's browser, which fetches the index with the first
letter of a question. An entry is a section: its heading, its page's title, its
sentences, the names in its code, and how it begins; the first of a page also has what
the page says of itself. Sphinx's own search is not built.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.environment import BuildEnvironment
from sphinx_exercise.nodes import solution_node

import manuscript
from manuscript import sources
from website.katex_math import engine

STATIC = Path(__file__).parent / "static"
SCRIPTS = (STATIC / "minisearch/minisearch.js", STATIC / "find.js")
# What is not read aloud as a sentence; the names in code are kept apart.
SKIPPED = (
    nodes.literal_block,
    nodes.math_block,
    nodes.raw,
    nodes.comment,
    nodes.citation,
    solution_node,
)
NAME = re.compile(r"[A-Za-z_]\w{2,}(?:\.[A-Za-z_]\w+)*")
EXCERPT = 150  # letters


def own(section: nodes.Element) -> Iterator[nodes.Node]:
    """What stands in a section and in no section of its own inside."""
    for child in section.children:
        if not isinstance(child, nodes.section | nodes.title):
            yield child


def words(node: nodes.Node) -> str:
    """The sentences of a node: formulas are short, code and images are not there."""
    if isinstance(node, SKIPPED):
        return ""
    if isinstance(node, nodes.Text):
        return str(node)
    if isinstance(node, pending_xref) and node["refdomain"] == "cite":
        cited = map(sources.authors, node["reftarget"].split(","))
        return ", ".join(f"{who} {year}" for who, year, _ in cited)
    apart = not isinstance(node, nodes.TextElement) or isinstance(node, nodes.title)
    joined = " " if apart else ""
    return joined.join(filter(None, map(words, node.children)))


def code(node: nodes.Node) -> str:
    """The names in the code of a node, each once."""
    blocks = node.findall(lambda n: isinstance(n, nodes.literal_block | nodes.literal))
    return " ".join(sorted({name for b in blocks for name in NAME.findall(b.astext())}))


def beginning(text: str) -> str:
    """How a text begins, in whole words, before a formula that cannot be read."""
    readable = text.partition("\\")[0][:EXCERPT]
    return text if readable == text else readable.rsplit(" ", 1)[0] + " …"


def entries(env: BuildEnvironment) -> list[dict[str, Any]]:
    """All sections of all pages that are listed."""
    found: list[dict[str, Any]] = []
    book = manuscript.read()
    for name in sorted(env.found_docs):
        doctree = env.get_doctree(name)
        page = book.short.get(name) or env.titles[name].astext()
        for section in doctree.findall(nodes.section):
            if not isinstance(section.parent, nodes.section | nodes.document):
                continue  # inside an exercise
            top = section.parent is doctree
            heading = section.next_node(nodes.title).astext()
            about = book.pages[name].description if top else ""
            text = " ".join(" ".join(map(words, own(section))).split())
            if not (text or top):
                continue  # a heading above others
            found.append(
                {
                    "id": len(found),
                    "path": f"{name}.html" + ("" if top else f"#{section['ids'][0]}"),
                    "page": page,
                    "heading": heading,
                    "about": about,
                    "text": text,
                    "code": " ".join(map(code, own(section))),
                    "excerpt": beginning(text or about),
                }
            )
    return found


def no_search(app: Sphinx) -> None:
    """Tell Sphinx to build none of its own."""
    if isinstance(app.builder, StandaloneHTMLBuilder):
        app.builder.search = False


def write_index(app: Sphinx, exception: Exception | None) -> None:
    """Write the index as a script: a page that was opened from a folder may load it."""
    if exception or app.builder.format != "html":
        return
    javascript = engine()
    for script in SCRIPTS:
        javascript.eval(script.read_text(encoding="utf-8") + "; 0")
    index = javascript.call("Find.make", entries(app.env))
    target = Path(app.outdir, "_static/search-index.js")
    target.write_text(f"const INDEX = {json.dumps(index)};\n", encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Register with Sphinx, before the engine is closed."""
    app.connect("builder-inited", no_search)
    app.connect("build-finished", write_index, priority=400)
