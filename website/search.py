"""The search: all sections of all pages, as a script that a reader's browser asks.

``static/find.js`` cuts texts into words and finds sections with MiniSearch; the browser
fetches it, and the sections, with the first question. An entry is a section: its
heading, its page's title, its sentences, the names in its code, and the other words in
which people ask for it, from ``book/asked.yml``; the first of a page also has what the
page says of itself. A source is an entry under its title.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from pybtex.richtext import Text  # type: ignore[import-untyped]
from sphinx.addnodes import desc_content, desc_signature, pending_xref
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.environment import BuildEnvironment
from sphinx_exercise.nodes import solution_node

import manuscript
from manuscript import sources

STATIC = Path(__file__).parent / "static"
SCRIPTS = [
    STATIC / name for name in ("minisearch/minisearch.js", "synonyms.js", "find.js")
]
# What is not read aloud as a sentence; the names in code are kept apart.
SKIPPED = (
    nodes.literal_block,
    nodes.math_block,
    nodes.raw,
    nodes.comment,
    nodes.citation,
    desc_signature,
    solution_node,
)
NAME = re.compile(r"[A-Za-z_]\w{2,}(?:\.[A-Za-z_]\w+)*")
SOURCES = "book/reference/bibliography"


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
    if isinstance(node, nodes.reference) and node.get("refid", "").startswith(
        "ledger-"
    ):
        return ""  # a claim's link to itself
    if isinstance(node, desc_content):  # its first sentences; its names are code
        return words(node.next_node(nodes.paragraph) or nodes.Text(""))
    apart = not isinstance(node, nodes.TextElement) or isinstance(node, nodes.title)
    joined = " " if apart else ""
    return joined.join(filter(None, map(words, node.children)))


def code(node: nodes.Node) -> str:
    """The names in the code of a node, each once."""
    blocks = node.findall(lambda n: isinstance(n, nodes.literal_block | nodes.literal))
    return " ".join(sorted({name for b in blocks for name in NAME.findall(b.astext())}))


def asked() -> dict[str, list[str]]:
    """In which other words people ask for a section, by its path."""
    told = yaml.safe_load((manuscript.ROOT / "book/asked.yml").read_text("utf-8"))
    return {
        "book/{}.html{}{}".format(*place.partition("#")): phrases.split("; ")
        for place, phrases in told.items()
    }


def entries(env: BuildEnvironment) -> list[dict[str, Any]]:
    """All sections of all pages that are listed, and all sources.

    Other words for a section that is not there raise ValueError.
    """
    found: list[dict[str, Any]] = []

    def add(path: str, page: str, heading: str, text: str, **more: Any) -> None:
        rest = {"about": "", "asked": [], "code": "", **more}
        entry = {"id": len(found), "path": path, "page": page, "heading": heading}
        found.append({**entry, "text": text, **rest})

    book, others = manuscript.read(), asked()
    for name in sorted(env.found_docs):
        doctree = env.get_doctree(name)
        page = book.short.get(name) or env.titles[name].astext()
        for section in doctree.findall(nodes.section):
            if not isinstance(section.parent, nodes.section | nodes.document):
                continue  # inside an exercise
            top = section.parent is doctree
            text = " ".join(" ".join(map(words, own(section))).split())
            if not (text or top):
                continue  # a heading above others
            path = f"{name}.html" + ("" if top else f"#{section['ids'][0]}")
            add(
                path,
                page,
                section.next_node(nodes.title).astext(),
                text,
                about=book.pages[name].description if top else "",
                asked=others.pop(path, []),
                code=" ".join(map(code, own(section))),
            )
    if others:
        raise ValueError(f"book/asked.yml names no section: {', '.join(others)}")
    for cited in env.domaindata["cite"]["citations"]:
        who, year, _ = sources.authors(cited.key)
        title = str(Text.from_latex(cited.entry.fields["title"]))
        path = f"{SOURCES}.html#{cited.citation_id}"
        add(path, book.short[SOURCES], title, f"{who} {year}.")
    return found


def no_search(app: Sphinx) -> None:
    """Tell Sphinx to build none of its own."""
    if isinstance(app.builder, StandaloneHTMLBuilder):
        app.builder.search = False


def write_sections(app: Sphinx, exception: Exception | None) -> None:
    """Write a script: a page that was opened from a folder may load it."""
    if exception or app.builder.format != "html":
        return
    target = Path(app.outdir, "_static/sections.js")
    text = json.dumps(entries(app.env), ensure_ascii=False)
    target.write_text(f"const SECTIONS = {text};\n", encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("builder-inited", no_search)
    app.connect("build-finished", write_sections)
