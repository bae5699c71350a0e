"""Links and citations that are whole wherever a notebook is opened.

    cited("{cite}`vaswani2017`")      the authors and the year, with the paper's address
    linked(text, page, pages, site)   links to what lies in the same folder, and to the
                                      site for the rest; without a site the words alone

JupyterLab knows a heading by its words, with a hyphen for each space, and nothing else:
a link to a figure, a claim or an exercise leads to the heading above it.
"""

import re
from collections.abc import Collection
from functools import cache
from urllib.parse import quote

from pybtex.database import Entry, parse_file  # type: ignore[import-untyped]
from pybtex.richtext import Text  # type: ignore[import-untyped]

from manuscript.markdown import words
from manuscript.pages import EXERCISE, ROOT, Page

CITE = re.compile(r"\{cite(:t)?\}`([^`]+)`")
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:)([^()\s]*)\)")


@cache
def bibliography() -> dict[str, Entry]:
    """All entries, by their keys."""
    return dict(parse_file(str(ROOT / "book/references.bib")).entries)


def authors(key: str) -> tuple[str, str, str]:
    """Who wrote it, the year, and its address if it has one."""
    entry = bibliography()[key]
    people = entry.persons.get("author") or entry.persons.get("editor") or []
    names = [str(Text.from_latex(" ".join(one.last_names))) for one in people]
    match names:
        case [one, other]:
            who = f"{one} and {other}"
        case [one, _, *_]:
            who = f"{one} et al."
        case _:
            who = "".join(names) or str(Text.from_latex(entry.fields["title"]))
    return who, entry.fields.get("year", "no year"), entry.fields.get("url", "")


def cited(text: str) -> str:
    """Authors and year in the place of each key."""

    def named(found: re.Match[str]) -> str:
        keys = [key.strip() for key in found[2].split(",")]
        links = []
        for who, year, url in map(authors, keys):
            label = f"{who} ({year})" if found[1] else f"{who}, {year}"
            links.append(f"[{label}]({url})" if url else label)
        return ", ".join(links) if found[1] else f"({'; '.join(links)})"

    return CITE.sub(named, text)


@cache
def headings(page: Page) -> dict[str, str]:
    """The title of the section in which each anchor of a page is."""
    found: dict[str, str] = {}
    for section in page.sections:
        text = "\n".join(part.source for part in section.texts)
        names = [section.anchor, *section.labels]
        names += [label for _, label, _ in EXERCISE.findall(text)]
        for cell in section.cells:
            names += [cell.figure.name] if cell.figure else []
            names += [f"claim-{claim}" for claim in cell.tagged("claim-")]
        found |= {name: section.title for name in names if name not in found}
    return found


def fragment(title: str) -> str:
    """What stands behind # in a link to a heading in JupyterLab."""
    return quote(words(title, dollars=True).replace(" ", "-"), safe="-:,.?!'")


def linked(text: str, page: Page, pages: Collection[Page] = (), site: str = "") -> str:
    """With links to itself, to the pages that lie beside it, and to the site."""
    others = {other.name: other for other in pages}

    def link(found: re.Match[str]) -> str:
        shown, address = found.groups()
        file, _, anchor = address.partition("#")
        name = page.named(re.sub(r"\.(ipynb|md)$", "", file)) if file else page.name
        if file and name not in others:
            to = f"{site.rstrip('/')}/{name}.html{anchor and '#'}{anchor}"
            return f"[{shown}]({to})" if site else shown
        if not anchor:
            return f"[{shown}]({file})"
        title = headings(others.get(name, page)).get(anchor)
        if title is None:  # a claim that another page settles, a word of the glossary
            return f"[{shown}]({file})" if file else shown
        return f"[{shown}]({file}#{fragment(title)})"

    return LINK.sub(link, text)
