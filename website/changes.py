"""``{what-changed}``: which exercises and claims are new or gone since each release.

``course/released.txt`` has a line for each id that a release has had: its kind,
the id, the release, and ``gone`` if it is no longer there. The page is made from that
list and from the book; ``course/term.py`` holds the two together.
"""

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from website import manuscript
from website.manuscript import ROOT, Manuscript
from website.misconceptions import LEVEL

RELEASED = ROOT / "course/released.txt"
CHANGELOG = ROOT / "CHANGELOG.md"
RELEASE = re.compile(r"^## (.+)$", re.MULTILINE)
CORRECTED = re.compile(r"^### Corrected\n((?:- .*\n?)+)", re.MULTILINE)
Ids = dict[tuple[str, str], tuple[str, bool]]  # (kind, id) -> (release, is it gone)


def released(text: str) -> Ids:
    """The list."""
    found: Ids = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            kind, name, release, *gone = line.split()
            if gone not in ([], ["gone"]) or (kind, name) in found:
                raise ValueError(f"released.txt: {line!r}")
            found[kind, name] = release, bool(gone)
    return found


def of_book(book: Manuscript) -> set[tuple[str, str]]:
    """The ids that the book has now."""
    exercises = {
        ("exercise", e.label) for page in book.notebooks for e in page.exercises
    }
    return exercises | {("claim", name) for name in book.claims}


class WhatChanged(SphinxDirective):
    """A fold a release."""

    def run(self) -> list[nodes.Node]:
        """Write it as Markdown, which knows links and folds."""
        for path in (RELEASED, CHANGELOG):
            self.env.note_dependency(str(path))
        return self.parse_text_to_nodes("\n".join(lines(self.env.docname)))


def lines(docname: str, book: Manuscript | None = None) -> list[str]:
    """The Markdown: since each release what is new, what is gone, what was wrong."""
    book = book or manuscript.read()
    ids = released(RELEASED.read_text(encoding="utf-8"))
    numbers = sorted({release for release, _ in ids.values()}, key=_parts, reverse=True)
    up = "../" * (docname.count("/") - 1)
    text: list[str] = []
    for number in numbers:
        had = {key for key, (r, _) in ids.items() if _parts(r) <= _parts(number)}
        new = of_book(book) - had
        gone = sorted(key for key in had if ids[key][1])
        text += [f":::{{dropdown}} Since {number}", ":open:" * (number == numbers[0])]
        text += ["\n**New exercises**\n", *_exercises(book, new, up)]
        text += ["\n**New claims**\n", *_claims(book, new)]
        names = ", ".join(f"{kind} `{name}`" for kind, name in gone) or "nothing"
        text += [f"\n**Gone:** {names}.", ":::\n"]
    text += [":::{dropdown} What was wrong, and is corrected\n", *_wrong(up), ":::"]
    return text


def _parts(number: str) -> list[int]:
    return [int(part) for part in number.split(".")]


def _exercises(book: Manuscript, new: set[tuple[str, str]], up: str) -> list[str]:
    found = []
    for page in book.notebooks:
        some = [e for e in page.exercises if ("exercise", e.label) in new]
        named = "; ".join(f"{LEVEL.sub('', e.title)} (`{e.label}`)" for e in some)
        all_new = ", all new" if len(some) == len(page.exercises) else ""
        address = up + page.name.removeprefix("book/")
        if some:
            found += [f"- [{page.title}]({address}.ipynb){all_new}: {named}"]
    return found or ["- none"]


def _claims(book: Manuscript, new: set[tuple[str, str]]) -> list[str]:
    found = []
    for name, claim in book.claims.items():
        if ("claim", name) in new:
            proved = name in book.settled
            verdict = f"[{claim.verdict}](#claim-{name})" if proved else claim.verdict
            found += [f"- {claim.claim} {verdict}"]
    return found or ["- none"]


def _wrong(up: str) -> list[str]:
    """The corrections of the changelog, newest first, each list under its release."""
    pieces = RELEASE.split(CHANGELOG.read_text(encoding="utf-8"))[1:]
    text = []
    for title, piece in zip(pieces[::2], pieces[1::2], strict=True):
        for listed in CORRECTED.findall(piece):
            text += [f"**{title}**\n", listed.replace("](book/", f"]({up}")]
    return text


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_directive("what-changed", WhatChanged)
