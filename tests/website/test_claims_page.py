"""The list of claims and the landing page: whole without script, filtered with it."""

import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

import manuscript
from tests.website import site_checks as checks
from tests.website.site_checks import Alone, Opener, Site
from website import claims

LEDGER = "book/reference/claims"
BOOK = manuscript.read()
FIRST = next(iter(BOOK.claims.values()))
WORDS = {"yes": "True", "part": "True, if", "no": "Not as stated", "open": "Open"}
VERDICTS = ("true", "true if it is even", "not as stated: it is odd", "open")


def colour(verdict: str) -> str:
    """The class of a verdict's badge."""
    return claims.BADGES[claims.kind(verdict)].colour


@pytest.fixture
def page(at: Opener) -> Any:
    """The list of claims, with script."""
    return at(LEDGER, width=checks.PHONE).page


def test_each_verdict_has_its_shape() -> None:
    """And says its name to whoever does not see it."""
    marks = [claims.mark(verdict) for verdict in VERDICTS]
    assert len({mark.partition("<svg")[2] for mark in marks}) == len(VERDICTS)
    for mark, (shape, words) in zip(marks, WORDS.items(), strict=True):
        assert f'class="badge {shape}" role="img" aria-label="{words}:"' in mark


def test_without_script_all_claims_are_there(alone: Alone) -> None:
    """The most repeated first, each with its badge; no filter that would not work."""
    page = alone(LEDGER, java_script_enabled=False)
    assert not checks.dead_without_script(page)
    entries = page.locator(".claim-entry")
    assert entries.count() == page.locator(".claim-entry .badge").count()
    assert entries.count() == len(BOOK.claims)
    assert page.locator(".claim-filter").is_hidden()
    assert FIRST.claim[:30] in entries.first.inner_text()
    assert entries.last.is_visible()


def test_buttons_count_what_they_show(page: Any) -> None:
    """The counts are those of the files, then of what a word leaves; or all again."""
    count = Counter(colour(claim.verdict) for claim in BOOK.claims.values())
    entries = page.locator(".claim-entry:visible")
    for kind, number in count.items():
        button = page.locator(f".claim-filter button[value='{kind}']")
        assert " ".join(button.inner_text().split()) == f"{WORDS[kind]} {number}"
        button.click()
        assert button.get_attribute("aria-pressed") == "true"
        assert entries.count() == number
        assert page.locator(f".claim-entry.{kind}:visible").count() == number
        shown = page.locator(".claim-filter output").inner_text()
        assert shown == f"{number} of {len(BOOK.claims)} claims"
    page.fill(".claim-filter input", "sine")
    for kind in ("no", "part", ""):
        button = page.locator(f".claim-filter [role=group] button[value='{kind}']")
        button.click()
        assert entries.count() == int(button.locator("b").inner_text()) > 0
    assert entries.count() < len(BOOK.claims)
    page.click(".claim-filter [type=reset]")
    assert entries.count() == len(BOOK.claims)
    assert page.locator(".claim-filter [type=reset]").is_hidden()
    assert page.input_value(".claim-filter input") == ""
    # A link to a claim that the filter hides shows it.
    page.locator(".claim-filter button[value='no']").click()
    hidden = next(c for c in BOOK.claims.values() if colour(c.verdict) == "part")
    page.evaluate("id => location.hash = id", f"ledger-{hidden.id}")
    page.locator(".claim-filter [type=reset]").wait_for(state="hidden")
    assert page.locator(".claim-entry:visible").count() == len(BOOK.claims)


def test_words_leave_the_claims_that_hold_them(page: Any) -> None:
    """In any order, in the sentence or its reason; a topic without any is gone, too.

    The filter leaves room for what it finds: the first is in sight on a phone. A word
    that no claim has is taken for its nearest, and said so; if it has none, all stay.
    """
    shown = page.locator(".claim-entry:visible")
    page.fill(".claim-filter input", "table learned")
    both = shown.all_text_contents()
    assert both and all("learned" in text and "table" in text for text in both)
    assert page.locator(".claim-filter").evaluate(checks.STAYS)
    page.fill(".claim-filter input", "BFLOAT16")
    assert 0 < shown.count() < len(BOOK.claims)
    assert all("bfloat16" in text.lower() for text in shown.all_text_contents())
    headings = page.locator("section > section:has(.claim-entry) > h2:visible")
    assert 0 < headings.count() < len({c.question for c in BOOK.claims.values()})
    assert shown.first.bounding_box()["y"] < 844 - 100  # two lines and a half
    output = page.locator(".claim-filter output")
    page.fill(".claim-filter input", "positonal")
    output.filter(has_text="“positonal” taken for “position").wait_for()
    assert 0 < page.locator(".claim-entry:visible").count() < len(BOOK.claims)
    page.fill(".claim-filter input", "xyzzy")
    output.filter(has_text="none has “xyzzy”").wait_for()
    assert page.locator(".claim-entry:visible").count() == len(BOOK.claims)


def test_the_landing_page_has_three_cards(site: Site) -> None:
    """Each with its verdict, and leads to its claim in the list."""
    cards = site.text("book/index").split('<article class="claim-card">')[1:]
    led = [re.findall(r'badge (\w+)".*?href="([^"]*)"', card) for card in cards]
    assert len(led) == 3
    for ((shape, address),) in led:
        page, name = address.split("#ledger-")
        assert page == "reference/claims.html"
        assert shape == colour(BOOK.claims[name].verdict)


def test_the_sentence_on_top_counts_the_files() -> None:
    """All of them, by verdict; what is open, where anything is."""
    few = {str(i): replace(FIRST, verdict=v) for i, v in enumerate(("true", *VERDICTS))}
    assert ". 1 cannot be decided yet." in claims.summary(few)
    del few["4"]
    text = claims.summary(few)
    assert text.startswith("Of these 4 claims **2 are true as stated**. In 1 <ins>we")
    assert "1 <del>we strike out</del>" in text and "cannot be decided" not in text


def test_a_sentence_is_proofread() -> None:
    """What is missing is put in before the full stop, what is false struck out."""
    claim = replace(FIRST, claim="It is so.")
    marked = (
        "It is so.",
        "It is so <ins>if it is even</ins>.",
        "<del>It is so.</del> <ins>it is odd</ins>.",
        "It is so.",
    )
    for verdict, text in zip(VERDICTS, marked, strict=True):
        assert claims.proofread(replace(claim, verdict=verdict)) == text


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
    """It opens at its claim, which says so; its own link keeps the filter."""
    page = at(LEDGER, width=checks.PHONE, query="#ledger-no-direction").page
    mark = """[...document.querySelectorAll(".claim-entry")].filter((entry) =>
        getComputedStyle(entry, "::before").content.includes("You came")
        && getComputedStyle(entry).boxShadow !== "none")
        .map((entry) => [entry.id, entry.getBoundingClientRect().top])"""
    ((name, top),) = page.evaluate(mark)
    assert name == "ledger-no-direction" and 0 <= top < 400
    page.locator(".claim-filter button[value='no']").click()
    entry = page.locator(".claim-entry:visible").nth(3)
    entry.locator("summary").click()
    entry.locator("a[href^='#ledger-']").click()
    assert page.locator(".claim-entry:visible").count() < len(BOOK.claims)
    ((name, _),) = page.evaluate(mark)
    assert name == page.evaluate("location.hash.slice(1)") != "ledger-no-direction"
