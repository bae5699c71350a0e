"""The claims ledger: one page of verdicts, and an anchor at every check.

``book/claims.yml`` holds the claims. A cell tagged ``claim-<id>`` gets
the anchor ``#claim-<id>`` and a line below it that names the claim. In
``reference/claims.md`` the line ``{{ claims }}`` becomes the ledger: by topic, the most
repeated first, each sentence proofread: the missing condition is put in, what is false
is struck out.
"""

import os
from collections.abc import Callable, Mapping
from typing import NamedTuple

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective

import manuscript
from manuscript import Claim
from website import chapters

PLACEHOLDER = "{{ claims }}"
UNTRACED = "Heard often, not traced"  # a group of its own, the last


class Badge(NamedTuple):
    """How one of the four verdicts is shown: its class, its name, its shape."""

    colour: str
    name: str
    shape: str

    @property
    def drawing(self) -> str:
        """The shape, for an element that says the name."""
        return f'<svg viewBox="0 0 16 16" aria-hidden="true">{self.shape}</svg>'


TICK = '<circle cx="8" cy="8" r="7.5"/><path d="M4.5 8.2 7 10.7l4.5-5"/>'
HALF = '<circle cx="8" cy="8" r="7"/><path d="M8 1v14a7 7 0 0 1 0-14"/>'
CROSS = '<path d="M1 1h14v14H1z"/><path d="m5 5 6 6m0-6-6 6"/>'
BADGES = {
    "true": Badge("yes", "True", TICK),
    "true if": Badge("part", "True, if", HALF),
    "not as stated": Badge("no", "Not as stated", CROSS),
    "open": Badge("open", "Open", '<circle cx="8" cy="8" r="6.5"/>'),
}


def kind(verdict: str) -> str:
    """Which of the four verdicts it is: one may go on with its condition."""
    return next(name for name in reversed(BADGES) if verdict.startswith(name))


def mark(verdict: str) -> str:
    """The shape alone, before a sentence that is proofread."""
    badge = BADGES[kind(verdict)]
    return (
        f'<span class="badge {badge.colour}" role="img" aria-label="{badge.name}:">'
        f"{badge.drawing}</span> "
    )


def capital(text: str) -> str:
    """The text, with a large first letter."""
    return text[:1].upper() + text[1:]


def proofread(claim: Claim, text: Callable[[str], str] = str) -> str:
    """The sentence as a proofreader leaves it: something put in, or all struck out.

    `text` writes what stands between the marks.
    """
    if kind(claim.verdict) == "not as stated":
        reason = text(claim.verdict.removeprefix("not as stated: "))
        return f"<del>{text(claim.claim)}</del> <ins>{reason}</ins>."
    if kind(claim.verdict) == "true if":
        condition = text(claim.verdict.removeprefix("true "))
        return f"{text(claim.claim.removesuffix('.'))} <ins>{condition}</ins>."
    return text(claim.claim)


def topics(claims: Mapping[str, Claim]) -> dict[str, list[Claim]]:
    """The claims by their question, the most repeated first; then those of nobody."""
    found: dict[str, list[Claim]] = {}
    for claim in sorted(claims.values(), key=lambda claim: not claim.cited):
        topic = claim.question if claim.cited else UNTRACED
        found.setdefault(topic, []).append(claim)
    return found


def ledger(claims: Mapping[str, Claim]) -> str:
    """The page's text: each topic's sentences, proofread."""
    lines = []
    for question, group in topics(claims).items():
        lines += [f"## {question}\n", *map(_entry, group)]
    return "\n".join(lines)


def _entry(claim: Claim) -> str:
    cited = f"{{cite:p}}`{','.join(claim.cited)}`" if claim.cited else ""
    checks = {
        "cell": f"{{ref}}`See the check <claim-{claim.id}>`.",
        "citation": f"Settled by {claim.place}.",
        "later": "Not settled in this book yet.",
    }
    return (
        f"(ledger-{claim.id})=\n"
        f"::::{{div}} claim-entry {BADGES[kind(claim.verdict)].colour}\n"
        f"<details><summary>\n\n"
        f"{mark(claim.verdict)}{proofread(claim)}\n\n"
        f"</summary>\n\n"
        f"{claim.why} {checks[claim.settled_by]} {cited}\n\n"
        f"[Link to this sentence](#ledger-{claim.id})\n\n"
        "</details>\n"
        "::::\n"
    )


def insert_ledger(app: Sphinx, _docname: str, source: list[str]) -> None:
    """Replace the placeholder, on whichever page has it."""
    if PLACEHOLDER in source[0]:
        book = manuscript.read()
        app.env.note_dependency(str(book.root / "book/claims.yml"))
        source[0] = source[0].replace(PLACEHOLDER, ledger(book.claims))


class Cards(SphinxDirective):
    """``{claims}`` makes cards of the claims whose ids are its lines."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """For each the sentence, proofread, and the way to its check."""
        book = manuscript.read()
        self.env.note_dependency(str(book.root / "book/claims.yml"))
        here = os.path.dirname(self.env.docname)  # noqa: PTH120 (a name, not a path)
        ledger = os.path.relpath("book/reference/claims.html", here)
        cards = []
        for key in filter(None, self.content):
            if key not in book.claims:
                raise self.error(f"no claim has the id {key!r}")
            claim = book.claims[key]
            cards.append(
                f'<p class="sentence">'
                f"{mark(claim.verdict)}{proofread(claim, chapters.text)}</p>"
                f'<p><a href="{ledger}#ledger-{key}">Why, and the check'
                f'<span class="visually-hidden"> of: {chapters.text(claim.claim)}'
                "</span></a></p>"
            )
        return [nodes.raw("", "".join(cards), format="html")]


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
            nodes.inline("", capital(claim.verdict)),
            refdomain="std",
            reftype="ref",
            reftarget=f"ledger-{claim.id}",
            refexplicit=True,
            refwarn=True,
            refdoc=self.env.docname,
        )
        quoted = nodes.Text(f"People say: “{claim.claim}” ")
        badge = BADGES[kind(claim.verdict)]
        shape = nodes.raw("", f"{badge.drawing} ", format="html")
        verdict = nodes.inline("", "", shape, link, classes=["badge", badge.colour])
        return nodes.paragraph("", "", quoted, verdict, classes=["claim"])


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("source-read", insert_ledger)
    app.add_directive("claims", Cards)
    app.add_transform(ClaimAnchors)
