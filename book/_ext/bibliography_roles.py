"""Take out the ARIA roles of the bibliography that accessibility rules refuse.

docutils gives its entries a role that is deprecated, inside a list whose
children may have no other than list items.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

REFUSED = (' role="doc-biblioentry"', ' role="list"')


def drop_roles(
    _app: Sphinx,
    _pagename: str,
    _templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Change the text of a page that has such a list."""
    if doctree is not None and next(doctree.findall(nodes.citation), None):
        for role in REFUSED:
            context["body"] = context["body"].replace(role, "")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("html-page-context", drop_roles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
