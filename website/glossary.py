"""The glossary as a list of definitions, and its words explained where they stand.

In the source each word is a heading, so that every reader of Markdown has its anchor.
On the site it is a term with its definition. A page with links to words carries what
they mean, hidden; ``glossary.js`` shows it to a mouse, a keyboard, a first tap.
"""

import html
import re
from functools import cache
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

PAGE = "book/reference/glossary"
SECTION = re.compile(
    r'<section id="([\w-]+)">\s*<h2>(.*?)</h2>\s*(.*?)\s*</section>', re.DOTALL
)
LINK = re.compile(
    r'(?<=<a class="reference internal" )href="\S*glossary\.html#([\w-]+)"'
)


def as_definitions(body: str) -> str:
    """Turn sections of the second level into one list."""
    entry = r'<div id="\1"><dt>\2</dt>\n<dd>\3</dd></div>'
    listed, count = SECTION.subn(entry, body)
    if not count:
        return body
    start, end = listed.index('<div id="'), listed.rindex("</dd></div>") + 11
    inside = f'<dl class="words">\n{listed[start:end]}\n</dl>'
    return f"{listed[:start]}{letters(listed[start:end])}{inside}{listed[end:]}"


def letters(entries: str) -> str:
    """A way to the first word of each letter, and a filter for those with a script."""
    first: dict[str, str] = {}
    for anchor, word in re.findall(r'<div id="([\w-]+)"><dt>(?:<[^>]*>)*(\w)', entries):
        first.setdefault(word.upper(), anchor)
    links = " ".join(f'<a href="#{to}">{letter}</a>' for letter, to in first.items())
    return (
        f'<nav class="letters" aria-label="A to Z">{links}</nav>\n'
        '<form class="word-filter" role="search"><label>Search words '
        '<input type="search" autocomplete="off"></label> <output></output></form>\n'
    )


def leads_away(node: nodes.Node) -> bool:
    """Whether it is a link to another page."""
    return isinstance(node, nodes.reference) and ".html" in node.get("refuri", "")


def meaning(section: nodes.section) -> nodes.paragraph:
    """The definition without links; those to other pages stand at its end."""
    text = section.next_node(nodes.paragraph).deepcopy()
    while len(text) > 1 and leads_away(text[-2]):  # and a stop behind it
        text.children[-2:] = []
    if leads_away(text[-1]):
        text.children.pop()
    for link in list(text.findall(nodes.reference)):
        link.parent.replace(link, nodes.Text(link.astext()))
    return text


@cache
def meanings(app: Sphinx) -> dict[str, str]:
    """What each word means, as HTML, by its anchor."""
    builder: Any = app.builder
    page = app.env.get_and_resolve_doctree(PAGE, builder)
    return {
        section["ids"][0]: builder.render_partial(meaning(section))["fragment"]
        for section in page.findall(nodes.section)
        if isinstance(section.parent, nodes.section)
    }


def explain(
    app: Sphinx, pagename: str, _: str, context: dict[str, Any], *_rest: Any
) -> None:
    """Make the list, or bring the meanings of the words that a page links to."""
    body = context.get("body", "")
    if pagename == PAGE:
        context["body"] = as_definitions(body)
        context["toc"] = ""  # the letters serve better than a hundred links
        app.add_js_file("filter.js", loading_method="defer")
        app.add_js_file("glossary.js", loading_method="defer")
        return
    words = sorted(set(LINK.findall(body)) & set(meanings(app)) if body else ())
    if not words:
        return
    context["body"] = LINK.sub(
        lambda link: f'{link[0]} aria-describedby="word-{html.escape(link[1])}"', body
    ) + "".join(
        f'<div class="word" id="word-{word}" role="tooltip" popover="manual">'
        f"{meanings(app)[word]}</div>\n"
        for word in words
    )
    app.add_js_file("glossary.js", loading_method="defer")


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("html-page-context", explain)
