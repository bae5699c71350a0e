"""Fold what a reader of the site does not need at first; in the notebook all is plain.

The role of a code cell (``manuscript.Cell.role``) says what folds: all set-ups in one,
the last below "Deeper"; the code of a figure or an explorer, below its picture; a
check, under the sentence that says what it found. A section ``## Deeper: ...`` folds
under its title and its first paragraph, the result, and all in a row fold once more
under their titles, as recall and exercises do: after the story a page has three folds.
In the library's reference all but the first paragraph of a function folds. Folds are
``<details class="fold fold-...">`` and need no script; ``folds.js`` opens those that an
address leads into.

The solution of an exercise folds, too, without the script of sphinx-exercise, which
runs after the page was drawn; and every part of an exercise has an id of its own, where
sphinx-exercise calls all of them ``exercise-content`` and ``solution-content``.

A heading stays a child of its section, where Sphinx looks for it. So the tags of a fold
are leaves beside what they enclose, and come last, when contents and labels are known.
"""

import re
from collections.abc import Iterator
from itertools import groupby, takewhile
from typing import Any

from docutils import nodes
from sphinx.addnodes import desc, desc_content, index
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.writers.html5 import HTML5Translator
from sphinx_exercise.nodes import solution_node

from website import manuscript

SUMMARIES = {
    "figure": "How this figure is drawn",
    "explorer": "How this explorer is made",
    "exercise-check": "The check of your answer",
}
KINDS = {
    "figure": "figure",
    "explorer": "figure",
    "check": "check",
    "exercise-check": "answer",
}
DEEPER_ENTRY = re.compile(
    r'<li>\s*<a[^>]*href="#deeper-[^"]*"[^>]*>.*?</a>\s*(?:<ul>.*?</ul>)?\s*</li>',
    re.DOTALL,
)
BELOW = (nodes.field_list, nodes.rubric)
HEADINGS = (nodes.field_name, nodes.rubric)
MINUTES = re.compile(r"(\d+) minutes?$")
REPEATED = {"exercise-content", "solution-content"}
INLINE = re.compile(r"`([^`]+)`|\$([^$]+)\$")


class tag(nodes.General, nodes.Element):  # type: ignore[misc]  # noqa: N801
    """A tag of a fold, written as it is."""


def _tag(html: str) -> tag:
    return tag("", html=html)


def opened(kind: str, *summary: nodes.Node) -> list[nodes.Node]:
    """What stands before the inside of a fold."""
    return [
        _tag(f'<details class="fold fold-{kind}">\n<summary>'),
        *summary,
        _tag('</summary>\n<div class="fold-body">\n'),
    ]


def closed() -> list[nodes.Node]:
    """What stands behind it."""
    return [_tag("</div>\n</details>\n")]


def inline(sentence: str) -> Iterator[nodes.Node]:
    """A sentence of a cell's metadata, which may hold code and formulas."""
    end = 0
    for match in INLINE.finditer(sentence):
        yield nodes.Text(sentence[end : match.start()])
        code, formula = match.groups()
        yield nodes.literal(code, code) if code else nodes.math(formula, formula)
        end = match.end()
    yield nodes.Text(sentence[end:])


def fold_cell(container: nodes.container, cell: manuscript.Cell) -> None:
    """Fold the cell, or the part of it that its role folds."""
    if cell.role not in KINDS:
        return
    code = [c for c in container if c.get("nb_element") == "cell_code_source"]
    rest = [c for c in container if c not in code]
    kind = KINDS[cell.role]
    if cell.role == "check":
        result = nodes.inline("", "", *inline(cell.checked), classes=["fold-result"])
        mark = nodes.inline("", "checked:", classes=["fold-mark"])
        summary = [mark, nodes.Text(" "), result]
    else:
        summary = [_tag(SUMMARIES[cell.role])]
    if kind == "figure":
        container.children = [*rest, *opened(kind, *summary), *code, *closed()]
    else:
        container.children = [*opened(kind, *summary), *code, *rest, *closed()]
    container["classes"].append(f"role-{cell.role}")


def fold_section(section: nodes.section) -> None:
    """Fold all of a section under its title and its first paragraph."""
    title, *inside = section.children
    summary = [title]
    if inside and isinstance(inside[0], nodes.paragraph):
        result = inside.pop(0)
        summary.append(nodes.inline("", "", *result.children, classes=["fold-result"]))
    section.children = [*opened("deeper", *summary), *inside, *closed()]


def fold_part(section: nodes.section, length: str) -> None:
    """Fold recall or exercises under their heading."""
    title, *inside = section.children
    summary = nodes.inline("", length, classes=["fold-result"])
    section.children = [*opened("part", title, summary), *inside, *closed()]


def length_of(section: nodes.section, page: manuscript.Page) -> str:
    """How much there is to do."""
    if section[0].astext() == manuscript.EXERCISES:
        minutes = sum(int(n) for e in page.exercises for n in MINUTES.findall(e.title))
        return f"{len(page.exercises)} exercises, {minutes} minutes"
    questions = sum("sd-dropdown" in node["classes"] for node in section[1:])
    return f"{questions} questions"


def fold_together(
    parent: nodes.Element, sections: list[nodes.Node], setups: list[nodes.Node]
) -> None:
    """Fold neighbouring sections once more, under their titles, and set-ups."""
    start = parent.index(sections[0])
    names = " · ".join(section.next_node(nodes.title).astext() for section in sections)
    names += " · Set-up" if setups else ""
    parent.children[start : start + len(sections)] = [
        *opened(
            "part",
            _tag("<h2>Deeper</h2>"),
            nodes.inline("", names, classes=["fold-result"]),
        ),
        *sections,
        *setups,
        *closed(),
    ]
    adopt(parent)


def fold_details(content: nodes.Element) -> None:
    """Fold all that is said of a function but the first paragraph, the result."""
    start = 0 if isinstance(next(iter(content), None), BELOW) else 1
    others = content[start:]
    inside = list(takewhile(lambda c: not isinstance(c, (index, desc)), others))
    names = [
        heading.astext()
        for child in inside
        for heading in child.findall(lambda n: isinstance(n, HEADINGS))
        if heading.astext() != "Return type"
    ]
    if inside and not isinstance(inside[0], BELOW):
        names.insert(0, "details")
    if names:
        fold = opened("api", _tag(", ".join(names).capitalize()))
        content.children[start : start + len(inside)] = [*fold, *inside, *closed()]


class PlainTitles(SphinxTransform):
    """Mark the sections that fold, and take "Deeper:" from their titles."""

    default_priority = 800

    def apply(self) -> None:
        """Before Sphinx collects the contents; names and anchors stay as they are."""
        for section in self.document.findall(nodes.section):
            title = section[0]
            start = next(iter(title.findall(nodes.Text)), nodes.Text(""))
            if not title.astext().startswith(manuscript.DEEPER):
                continue
            section["classes"].append("deeper")
            text = start.removeprefix(manuscript.DEEPER)
            start.parent.replace(start, nodes.Text(text[:1].upper() + text[1:]))


class Folds(SphinxPostTransform):
    """Fold cells and sections."""

    default_priority = 900
    formats = ("html",)

    def run(self, **_options: Any) -> None:
        """When all outputs have been chosen and all references resolved."""
        page = manuscript.read().pages.get(self.env.docname)
        for container in list(self.document.findall(nodes.container)):
            if page and container.get("nb_element") == "cell_code":
                fold_cell(container, page.cells[container["cell_index"]])
                adopt(container)
        setups = take_setups(self.document, page)
        sections = list(self.document.findall(nodes.section))
        deeper = [section for section in sections if "deeper" in section["classes"]]
        for section in deeper:
            fold_section(section)
            adopt(section)
        for parent in {
            id(section.parent): section.parent for section in deeper
        }.values():
            for is_deeper, row in groupby(list(parent), deeper.__contains__):
                if is_deeper and len(together := list(row)) > 1:
                    fold_together(parent, together, setups)
                    setups = []
        if setups:
            sections[0].extend(setups)
        for section in sections:
            if page and section[0].astext() in (
                manuscript.RECALL,
                manuscript.EXERCISES,
            ):
                fold_part(section, length_of(section, page))
                adopt(section)
        for content in list(self.document.findall(desc_content)):
            fold_details(content)
            adopt(content)


def take_setups(
    document: nodes.document, page: manuscript.Page | None
) -> list[nodes.Node]:
    """Take all set-ups of a page from their places, into one fold, in their order."""
    setups: list[nodes.Node] = [
        container
        for container in document.findall(nodes.container)
        if page
        and container.get("nb_element") == "cell_code"
        and page.cells[container["cell_index"]].role == "setup"
    ]
    for container in setups:
        container.parent.remove(container)
    if not setups:
        return []
    return [*opened("setup", _tag("Set-up")), *setups, *closed()]


def adopt(element: nodes.Element) -> None:
    """Tell the children whose they are."""
    for child in element.children:
        child.parent = element


def visit_tag(self: HTML5Translator, node: tag) -> None:
    """Write it."""
    self.body.append(node["html"])


def depart_tag(_self: HTML5Translator, _node: tag) -> None:
    """It has no inside."""


class UniqueIds(SphinxTransform):
    """Number the repeated ids."""

    default_priority = 900

    def apply(self) -> None:
        """After sphinx-exercise has merged its gated solutions."""
        for number, section in enumerate(self.document.findall(nodes.section)):
            section["ids"] = [
                f"{name}-{number}" if name in REPEATED else name
                for name in section["ids"]
            ]


def visit_solution(self: HTML5Translator, node: solution_node) -> None:
    """Open a fold whose title is its summary."""
    node["classes"] = [name for name in node["classes"] if name != "dropdown"]
    title = node.pop(0)
    self.body.append(self.starttag(node, "details", CLASS="admonition"))
    self.body.append(f'<summary class="admonition-title">{title.astext()}</summary>\n')


def depart_solution(self: HTML5Translator, _node: solution_node) -> None:
    """Close it."""
    self.body.append("</details>\n")


def tell_the_page(
    _app: Sphinx, pagename: str, _: str, context: dict[str, Any], doctree: Any
) -> None:
    """Whether the page has folds, which a button opens; on the path the story alone.

    There the contents leave out what is deeper.
    """
    context["has_folds"] = doctree is not None and any(doctree.findall(tag))
    if pagename in {page.name for page in manuscript.read().path_pages}:
        context["toc"] = DEEPER_ENTRY.sub("", context.get("toc", ""))


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.setup_extension("sphinx_exercise")
    app.add_node(tag, html=(visit_tag, depart_tag))
    app.add_node(solution_node, override=True, html=(visit_solution, depart_solution))
    app.add_transform(UniqueIds)
    app.add_transform(PlainTitles)
    app.add_post_transform(Folds)
    app.connect("html-page-context", tell_the_page)
    app.add_js_file("folds.js", loading_method="defer")
