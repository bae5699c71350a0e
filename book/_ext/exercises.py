"""Fold the solutions of exercises without a script, and give every part one id.

sphinx-exercise calls the inside of every exercise ``exercise-content`` and of
every solution ``solution-content``; and it leaves the folding to a script that
runs after the page was drawn.
"""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.writers.html5 import HTML5Translator
from sphinx_exercise.nodes import solution_node

REPEATED = {"exercise-content", "solution-content"}


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


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.setup_extension("sphinx_exercise")
    app.add_transform(UniqueIds)
    app.add_node(solution_node, override=True, html=(visit_solution, depart_solution))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
