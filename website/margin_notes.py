"""Notes that stand beside the text where the window has room for them.

A source stands in full beside the first paragraph of a page that cites it; in a narrow
window the citation is a link, as everywhere. A paragraph in parentheses is an aside.
Both are paragraphs that the style sheet places (``p.beside``, ``p.aside``).
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

MOST = 3
"""A paragraph that cites more is a list of sources, and its notes would be a column."""


class Notes(SphinxPostTransform):
    """Find the paragraphs of sections: in a list or a frame there is no room."""

    default_priority = 850  # when citations are links, and before sections fold
    formats = ("html",)

    def run(self, **_options: Any) -> None:
        """Once a source and page."""
        seen: set[str] = set()
        for paragraph in list(self.document.findall(nodes.paragraph)):
            if not isinstance(paragraph.parent, nodes.section):
                continue
            text = paragraph.astext()
            if text.startswith("(") and text.endswith(")") and text.count("(") == 1:
                paragraph["classes"].append("aside")
            cited = {
                link.astext(): link["reftitle"]
                for link in paragraph.findall(nodes.reference)
                if "bibtex-citation" in link.parent.get("classes", ())
                and link.get("reftitle")
            }
            new = {key: source for key, source in cited.items() if key not in seen}
            seen.update(cited)
            if new and len(new) <= MOST:
                place = paragraph.parent.index(paragraph)
                paragraph.parent.insert(place, [note(*each) for each in new.items()])


def note(key: str, source: str) -> nodes.paragraph:
    """One source: its address stays in the bibliography."""
    text = source.partition(" URL:")[0]
    label = nodes.strong("", key)
    return nodes.paragraph("", "", label, nodes.Text(f" {text}"), classes=["beside"])


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_post_transform(Notes)
