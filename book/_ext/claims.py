"""The claims ledger: one page of verdicts, and an anchor at every check.

``book/claims/<part>.yml`` holds the claims. A cell tagged ``claim-<id>`` gets
the anchor ``#claim-<id>`` and a line below it that names the claim. In
``reference/claims.md`` the line ``{{ claims }}`` becomes the ledger: one list, the most
repeated claims first. ``claims.js`` filters it; without script all of it is there.
"""

import html
from collections.abc import Mapping

import manuscript
from docutils import nodes
from manuscript import Claim
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

PLACEHOLDER = "{{ claims }}"


SHAPES = {  # a disc with a tick, a half disc, a square with a cross, a broken ring
    "true": ("yes", '<circle cx="8" cy="8" r="7.5"/><path d="M4.5 8.2 7 10.7l4.5-5"/>'),
    "true if": (
        "part",
        '<circle cx="8" cy="8" r="7"/><path d="M8 1v14a7 7 0 0 1 0-14"/>',
    ),
    "not as stated": ("no", '<path d="M1 1h14v14H1z"/><path d="m5 5 6 6m0-6-6 6"/>'),
    "open": ("open", '<circle cx="8" cy="8" r="6.5"/>'),
}


def kind(verdict: str) -> str:
    """Which of the four verdicts it is: one may go on with its condition."""
    return next(name for name in reversed(list(SHAPES)) if verdict.startswith(name))


def badge(verdict: str) -> str:
    """The verdict with its shape and colour, as HTML."""
    colour, shape = SHAPES[kind(verdict)]
    words = html.escape(verdict[0].upper() + verdict[1:])
    return (
        f'<span class="badge {colour}"><svg viewBox="0 0 16 16" aria-hidden="true">'
        f"{shape}</svg> {words}</span>"
    )


def ledger(claims: Mapping[str, Claim]) -> str:
    """The page's text: one list, the most repeated first, each with its verdict."""
    return "\n".join(map(_entry, sorted(claims.values(), key=lambda c: c.rank)))


def _entry(claim: Claim) -> str:
    sources = ",".join(claim.sources)
    said_by = f" {{cite:p}}`{sources}`" if sources else ""
    checks = {
        "cell": f"{{ref}}`See the check <claim-{claim.id}>`.",
        "citation": f"Settled by {claim.place}.",
        "later": "Not settled in this book yet.",
    }
    return (
        f"(ledger-{claim.id})=\n"
        f"::::{{div}} claim-entry {SHAPES[kind(claim.verdict)][0]}\n"
        f"{{verdict}}`{claim.verdict}`\n\n"
        f"{claim.claim}{said_by}\n\n"
        f"{claim.why} {checks[claim.settled_by]}\n\n"
        f"[{claim.question}](#ledger-{claim.id})\n"
        "::::\n"
    )


def verdict_role(
    _name: str, _raw: str, text: str, _line: int, _inliner: object, **_rest: object
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """``{verdict}`true if ...``` is a badge."""
    return [nodes.raw("", badge(text), format="html")], []


def insert_ledger(app: Sphinx, _docname: str, source: list[str]) -> None:
    """Replace the placeholder, on whichever page has it."""
    if PLACEHOLDER in source[0]:
        book = manuscript.read()
        for path in manuscript.visible(book.root / "book", "claims/*.yml"):
            app.env.note_dependency(str(path))
        source[0] = source[0].replace(PLACEHOLDER, ledger(book.claims))


class ClaimAnchors(SphinxTransform):
    """Give every tagged cell its anchor and the line that names its claim."""

    default_priority = 20

    def apply(self) -> None:
        """Find the cells by the class that myst-nb makes of a tag."""
        claims = manuscript.read().claims
        for cell in list(self.document.findall(nodes.container)):
            for name in cell["classes"]:
                key = name.removeprefix("tag_claim-")
                if key == name or key not in claims:
                    continue
                cell["names"].append(f"claim-{key}")
                self.document.note_explicit_target(cell)
                cell.parent.insert(cell.parent.index(cell) + 1, self.note(claims[key]))

    def note(self, claim: Claim) -> nodes.paragraph:
        """The line below the cell: the claim, its verdict, a link to the ledger."""
        link = pending_xref(
            "",
            nodes.raw("", badge(claim.verdict), format="html"),
            refdomain="std",
            reftype="ref",
            reftarget=f"ledger-{claim.id}",
            refexplicit=True,
            refwarn=True,
            refdoc=self.env.docname,
        )
        said = nodes.Text(f"People say: “{claim.claim}” ")
        return nodes.paragraph("", "", said, link, classes=["claim"])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", insert_ledger)
    app.add_transform(ClaimAnchors)
    app.add_role("verdict", verdict_role)
    app.add_js_file("claims.js", loading_method="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
