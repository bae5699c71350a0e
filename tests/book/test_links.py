"""Links to a page, a section, a figure, an exercise or a claim: each leads to one.

Links to other files and to functions are followed in the strict build of the site.
"""

import re

import pytest

import manuscript
from manuscript import Page
from manuscript.sources import LINK, headings

BOOK = manuscript.read()
LABELS = {name for page in BOOK.pages.values() for name in headings(page)}
LABELS |= {f"{kind}-{claim}" for kind in ("claim", "ledger") for claim in BOOK.claims}


def is_lost(page: Page, address: str) -> bool:
    """A page that is not there, a heading that it lacks, a label that no page has."""
    file, _, anchor = address.partition("#")
    if not file:
        return bool(anchor) and anchor not in LABELS | headings(page).keys()
    other = BOOK.pages.get(page.named(re.sub(r"\.(ipynb|md)$", "", file)))
    if other is None:
        return bool(anchor) or file.endswith(".ipynb")
    return bool(anchor) and anchor not in headings(other)


@pytest.mark.parametrize("page", BOOK.pages.values(), ids=BOOK.pages.keys())
def test_each_link_leads_to_a_section(page: Page) -> None:
    """Of its text, wherever it stands."""
    text = "\n".join(cell.source for cell in page.cells if cell.kind != "code")
    lost = [address for _, address in LINK.findall(text) if is_lost(page, address)]
    assert not lost, (
        f"{lost}: nothing has this name; a heading's is its words in lower case, "
        "joined by hyphens, and what stands above it as (name)= is another"
    )


@pytest.mark.parametrize(
    ("address", "lost"),
    [
        ("normalised.ipynb#how-the-length-shows", True),
        ("nowhere.ipynb#deeper", True),
        ("nowhere.ipynb", True),
        ("#fig-nowhere", True),
        ("normalised.ipynb#deeper", False),
        ("normalised.ipynb", False),
        ("#claim-unique-codes", False),
    ],
)
def test_what_is_lost(address: str, lost: bool) -> None:
    """Seen from a page beside it."""
    assert is_lost(BOOK.pages["book/failures/counting"], address) is lost
