"""Fold what a reader of the site does not need at first; in the notebook all is plain.

The role of a code cell (``manuscript.Cell.role``) says what folds: all set-ups in one,
at the end of the page; the code of a figure or an explorer, below its picture; a check,
under the sentence that says what it found. Of the sections only the recall questions
fold. Folds are ``<details class="fold fold-...">`` and need no script; ``folds.js``
opens those that an address leads to.

The solution of an exercise folds, too, without the script of sphinx-exercise, which
runs after the page was drawn; and every part of an exercise has an id of its own, where
sphinx-exercise calls all of them ``exercise-content`` and ``solution-content``.

A heading stays a child of its section, where Sphinx looks for it. So the tags of a fold
are leaves beside what they enclose, and come last, when contents and labels are known.
"""

from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.writers.html5 import HTML5Translator
from sphinx_exercise.nodes import solution_node

import manuscript
from manuscript.markdown import REMARK, pieces

KINDS = {  # of folds, by the role of a cell, and what the summary says
    "figure": ("figure", "How this figure is drawn"),
    "explorer": ("figure", "How this explorer is made"),
    "check": ("check", ""),  # what it found
    "exercise-check": ("answer", "The check of your answer"),
}
REPEATED = {"exercise-content", "solution-content"}


def _tag(html: str) -> nodes.raw:
    return nodes.raw("", html, format="html")


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
    kinds = {"code_inline": nodes.literal, "math_inline": nodes.math}
    for piece in pieces(sentence):
        kind = kinds.get(piece.type)
        yield kind("", piece.content) if kind else nodes.Text(piece.content)


def fold_cell(container: nodes.container, cell: manuscript.Cell) -> None:
    """Fold the cell, or the part of it that its role folds."""
    if cell.role not in KINDS:
        return
    code = [c for c in container if c.get("nb_element") == "cell_code_source"]
    rest = [c for c in container if c not in code]
    kind, words = KINDS[cell.role]
    if cell.role == "check":
        result = nodes.inline("", "", *inline(cell.checked), classes=["fold-result"])
        mark = nodes.inline("", "checked:", classes=["fold-mark"])
        summary = [mark, nodes.Text(" "), result]
    else:
        summary = [_tag(words)]
    if kind == "figure":
        container[:] = [*rest, *opened(kind, *summary), *code, *closed()]
    else:
        container[:] = [*opened(kind, *summary), *code, *rest, *closed()]
    container["classes"].append(f"role-{cell.role}")


def fold_recall(section: nodes.section) -> None:
    """Fold the recall questions under their heading, if they have their answers."""
    if not manuscript.SOLUTIONS:
        return
    title, *inside = section.children
    questions = sum("sd-dropdown" in node["classes"] for node in inside)
    length = nodes.inline("", f"{questions} questions", classes=["fold-result"])
    section[:] = [*opened("recall", title, length), *inside, *closed()]


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
        sections = list(self.document.findall(nodes.section))
        if setups := take_setups(self.document, page):
            sections[0].extend(setups)
        for section in sections:
            if page and section[0].astext() == manuscript.RECALL:
                fold_recall(section)


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


class Remarks(SphinxTransform):
    """Leave out remarks to authors, which Markdown hands on as HTML."""

    default_priority = 900

    def apply(self) -> None:
        """Wherever they stand."""
        for raw in list(self.document.findall(nodes.raw)):
            if REMARK.fullmatch(raw.astext().strip()):
                raw.parent.remove(raw)


def visit_solution(self: HTML5Translator, node: solution_node) -> None:
    """Open a fold whose title is its summary."""
    node["classes"] = [name for name in node["classes"] if name != "dropdown"]
    title = node.pop(0)
    self.body.append(self.starttag(node, "details", CLASS="admonition"))
    self.body.append(f'<summary class="admonition-title">{title.astext()}</summary>\n')


def depart_solution(self: HTML5Translator, _node: solution_node) -> None:
    """Close it."""
    self.body.append("</details>\n")


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.setup_extension("sphinx_exercise")
    app.add_node(solution_node, override=True, html=(visit_solution, depart_solution))
    app.add_transform(UniqueIds)
    app.add_transform(Remarks)
    app.add_post_transform(Folds)
    app.add_js_file("folds.js")
