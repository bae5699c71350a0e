"""Give the parts of exercises ids that are unique in their page.

sphinx-exercise calls the inside of every exercise ``exercise-content`` and of
every solution ``solution-content``.
"""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

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


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_transform(UniqueIds)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
