"""The list of claims, the cards of the landing page, and the line below a check."""

import re
from dataclasses import replace

import pytest

import manuscript
from tests.website.site_checks import PHONE, Opener, Site
from website import claims

LEDGER = "book/reference/claims"
BOOK = manuscript.read()
FIRST = next(iter(BOOK.claims.values()))
VERDICTS = {  # with shape, name, and the sentence "It is so." proofread
    "true": ("yes", "True", "It is so."),
    "true if it is even": ("part", "True, if", "It is so <ins>if it is even</ins>."),
    "not as stated: it is odd": (
        *("no", "Not as stated"),
        "<del>It is so.</del> <ins>it is odd</ins>.",
    ),
    "open": ("open", "Open", "It is so."),
}


@pytest.mark.parametrize("verdict", VERDICTS)
def test_each_verdict_is_seen(verdict: str) -> None:
    """By a shape of its own, which says its name; what is missing is put in before the
    full stop, what is false struck out.
    """
    shape, name, text = VERDICTS[verdict]
    assert claims.proofread(replace(FIRST, claim="It is so.", verdict=verdict)) == text
    mark = claims.mark(verdict)
    assert f'class="badge {shape}" role="img" aria-label="{name}:"' in mark
    drawn = mark.partition("<svg")[2]
    assert [drawn in claims.mark(other) for other in VERDICTS].count(True) == 1


def test_all_claims_are_there_the_most_repeated_first(site: Site) -> None:
    """Each with its badge, below the question that it answers."""
    entries = site.text(LEDGER).split("claim-entry ")[1:]
    assert len(entries) == len(BOOK.claims)
    assert all('<span class="badge ' in entry for entry in entries)
    first = re.sub("<.*?>", "", entries[0])
    assert next(iter(claims.topics(BOOK.claims).values()))[0].claim[:30] in first


def test_each_claim_says_who_says_it() -> None:
    """The sources of the claim, or that nobody was found."""
    traced = claims.ledger({"a": replace(FIRST, sources=["denk2019"])})
    heard = claims.ledger({"a": replace(FIRST, sources=[manuscript.UNTRACED])})
    assert "{cite:p}`denk2019`" in traced and claims.UNTRACED not in traced
    assert "{cite:p}" not in heard and claims.UNTRACED in heard


def test_the_badge_below_a_cell_is_drawn(at: Opener) -> None:
    """With its shape, and its words as the link to the list."""
    page = at("book/sinusoidal/rotation").page
    notes = page.locator("p.claim")
    drawn = page.locator("p.claim > .badge:has(> svg):has(> a[href*='#ledger-'])")
    assert notes.count() == drawn.count() > 0
    assert not any("<" in text for text in notes.all_text_contents())


def test_a_deep_link_is_in_sight_and_marked(at: Opener) -> None:
    """It opens at its claim, which says so; so does the link of a claim to itself."""
    page = at(LEDGER, width=PHONE, query="#ledger-no-direction").page
    mark = """[...document.querySelectorAll(".claim-entry")].filter((entry) =>
        getComputedStyle(entry, "::before").content.includes("You came")
        && getComputedStyle(entry).boxShadow !== "none")
        .map((entry) => [entry.id, entry.getBoundingClientRect().top])"""
    ((name, top),) = page.evaluate(mark)
    assert name == "ledger-no-direction" and 0 <= top < 400
    entry = page.locator(".claim-entry").nth(3)
    entry.locator("summary").click()
    entry.locator("a[href^='#ledger-']").click()
    ((name, _),) = page.evaluate(mark)
    assert name == page.evaluate("location.hash.slice(1)") != "ledger-no-direction"
