"""The list of claims and the landing page: all there without script, filtered with it."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import claims
import manuscript
import pytest
from site_checks import Site

LEDGER = "book/reference/claims"
BOOK = manuscript.read()
WORDS = {"yes": "True", "part": "True, if", "no": "Not as stated", "open": "Open"}


def colour(verdict: str) -> str:
    """The class of a verdict's badge."""
    return claims.SHAPES[claims.kind(verdict)][0]


@pytest.fixture
def page(site: Site, browser: Any) -> Iterator[Any]:
    """The list of claims, with script."""
    with browser.new_context(viewport={"width": 390, "height": 844}) as context:
        page = context.new_page()
        page.goto(site.url(LEDGER))
        yield page


@pytest.mark.parametrize(
    ("verdict", "kind"),
    [
        ("true", "true"),
        ("true if it is even", "true if"),
        ("not as stated", "not as stated"),
        ("open", "open"),
    ],
)
def test_each_verdict_has_its_badge(verdict: str, kind: str) -> None:
    """A shape of its own beside the words."""
    assert claims.kind(verdict) == kind
    drawn = claims.badge(verdict)
    assert claims.SHAPES[kind][1] in drawn and f" {verdict[1:]}</span>" in drawn
    assert len({shape for _, shape in claims.SHAPES.values()}) == len(claims.SHAPES)


def test_without_script_all_claims_are_there(site: Site, browser: Any) -> None:
    """The most repeated first, each with its badge, and no filter that would not work."""
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(site.url(LEDGER))
        entries = page.locator(".claim-entry")
        assert entries.count() == page.locator(".claim-entry .badge").count()
        assert entries.count() == len(BOOK.claims)
        assert page.locator(".claim-filter").count() == 0
        first = min(BOOK.claims.values(), key=lambda claim: claim.rank)
        assert first.claim[:30] in entries.first.inner_text()
        assert entries.last.is_visible()


def test_buttons_count_what_they_show(page: Any) -> None:
    """The counts are those of the files; pressed, a button leaves so many."""
    count = Counter(colour(claim.verdict) for claim in BOOK.claims.values())
    for kind, number in count.items():
        button = page.locator(f".claim-filter button[value='{kind}']")
        assert button.inner_text() == f"{WORDS[kind]} {number}"
        button.click()
        assert button.get_attribute("aria-pressed") == "true"
        assert page.locator(".claim-entry:visible").count() == number
        assert page.locator(f".claim-entry.{kind}:visible").count() == number
        said = page.locator(".claim-filter output").inner_text()
        assert said == f"{number} of {len(BOOK.claims)} claims"


def test_word_and_topic_filter_together(page: Any) -> None:
    """A word leaves the claims that hold it; a topic, those of its question."""
    page.fill(".claim-filter input", "BFLOAT16")
    shown = page.locator(".claim-entry:visible")
    assert 0 < shown.count() < len(BOOK.claims)
    assert all("bfloat16" in text.lower() for text in shown.all_inner_texts())
    page.fill(".claim-filter input", "")
    topic = "Why sine and cosine?"
    page.select_option(".claim-filter select", topic)
    expected = [c for c in BOOK.claims.values() if c.question == topic]
    assert shown.count() == len(expected) > 0


def test_an_address_shows_its_claim_in_spite_of_the_filter(page: Any) -> None:
    """A link to a claim that the filter hides shows it."""
    page.locator(".claim-filter button[value='no']").click()
    hidden = next(c for c in BOOK.claims.values() if colour(c.verdict) == "part")
    page.evaluate("id => location.hash = id", f"ledger-{hidden.id}")
    page.wait_for_function(
        "count => document.querySelectorAll('.claim-entry:not([hidden])').length"
        " === count",
        arg=len(BOOK.claims),
    )


def test_the_landing_page_lists_the_hour(site: Site, browser: Any) -> None:
    """All its pages with their minutes, the moving hands, five claims as cards."""
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(site.url("book/index"))
        assert page.locator(".the-hour li").count() == len(BOOK.spine)
        minutes = page.locator(".the-hour .time").all_inner_texts()
        assert minutes == [f"{page.minutes} min" for page in BOOK.spine]
        assert page.locator(".claim-card .badge").count() == 5
        slider = page.locator(".pe-hands input[type=range]")
        said = page.locator(".pe-hands output")
        slider.evaluate("s => { s.value = 3; s.dispatchEvent(new Event('input')); }")
        assert "word 3" in said.inner_text().lower()
