"""The list of claims and the landing page: whole without script, filtered with it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.website import site_checks as checks
from tests.website.site_checks import Site
from website import claim_pages, claims, manuscript

LEDGER = "book/reference/claims"
BOOK = manuscript.read()
WORDS = {"yes": "True", "part": "True, if", "no": "Not as stated", "open": "Open"}


def colour(verdict: str) -> str:
    """The class of a verdict's badge."""
    return claims.SHAPES[claims.kind(verdict)][0]


@pytest.fixture
def page(site: Site, browser: Any) -> Iterator[Any]:
    """The list of claims, with script."""
    with checks.visit(browser, site, site.url(LEDGER), 390) as seen:
        yield seen.page


@pytest.mark.parametrize(
    ("verdict", "kind"),
    [
        ("true", "true"),
        ("true if it is even", "true if"),
        ("not as stated: it is odd", "not as stated"),
        ("open", "open"),
    ],
)
def test_each_verdict_has_its_badge(verdict: str, kind: str) -> None:
    """A shape of its own beside the words."""
    assert claims.kind(verdict) == kind
    drawn = claims.badge(verdict)
    assert claims.SHAPES[kind][1] in drawn and f"{verdict[1:]}</span>" in drawn
    assert len({shape for _, shape in claims.SHAPES.values()}) == len(claims.SHAPES)


def test_without_script_all_claims_are_there(site: Site, browser: Any) -> None:
    """The most repeated first, each with its badge; no filter that would not work."""
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(site.url(LEDGER))
        entries = page.locator(".claim-entry")
        assert entries.count() == page.locator(".claim-entry .badge").count()
        assert entries.count() == len(BOOK.claims)
        assert page.locator(".claim-filter").is_hidden()
        first = next(iter(BOOK.claims.values()))
        assert first.claim[:30] in entries.first.inner_text()
        assert entries.last.is_visible()


def test_the_marks_stay_in_sight(site: Site, browser: Any) -> None:
    """A row per topic, which leads there; no row of marks is broken."""
    with checks.visit(browser, site, site.url(LEDGER), 1280) as seen:
        marks = seen.page.locator(".claim-marks")
        assert marks.locator("a").count() == len(claims.topics(BOOK.claims))
        heights = "all => Math.max(...all.map((x) => x.offsetHeight))"
        assert marks.locator("span").evaluate_all(heights) < 30
        seen.page.evaluate("scrollTo({top: 4000, behavior: 'instant'})")
        assert 0 <= marks.bounding_box()["y"] < 100


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


def test_a_word_leaves_the_claims_that_hold_it(page: Any) -> None:
    """In the sentence or in its reason; a topic without any is gone, too.

    The filter leaves room for what it finds: the first is in sight on a phone.
    """
    page.fill(".claim-filter input", "BFLOAT16")
    shown = page.locator(".claim-entry:visible")
    assert 0 < shown.count() < len(BOOK.claims)
    assert all("bfloat16" in text.lower() for text in shown.all_text_contents())
    headings = page.locator("section > section:has(.claim-entry) > h2:visible")
    assert 0 < headings.count() < len({c.question for c in BOOK.claims.values()})
    assert shown.first.bounding_box()["y"] < 844 - 100  # two lines and a half


def test_each_word_counts_under_all_its_names(page: Any) -> None:
    """In any order, whole or begun, by the name that the reader knows."""
    shown = page.locator(".claim-entry:visible")

    def found(word: str) -> list[str]:
        page.fill(".claim-filter input", word)
        return shown.all_inner_texts()

    assert found("rotary") and set(found("rotary")) <= set(found("RoPE"))
    assert found("learned table") == found("table learned") != []
    assert found("codes") and found("PE") and found("extrapolation")
    assert not found("rope xylophone")


def test_an_address_shows_its_claim_in_spite_of_the_filter(page: Any) -> None:
    """A link to a claim that the filter hides shows it."""
    page.locator(".claim-filter button[value='no']").click()
    hidden = next(c for c in BOOK.claims.values() if colour(c.verdict) == "part")
    page.evaluate("id => location.hash = id", f"ledger-{hidden.id}")
    checks.wait_until(
        page,
        "count => document.querySelectorAll('.claim-entry:not([hidden])').length"
        " === count",
        len(BOOK.claims),
    )


def test_the_landing_page_lists_the_path(site: Site, browser: Any) -> None:
    """All its pages with their minutes, and three claims as cards."""
    with checks.visit(browser, site, site.url("book/index")) as seen:
        page = seen.page
        assert page.locator(".the-path li").count() == len(BOOK.path_pages)
        minutes = page.locator(".the-path .time").all_text_contents()
        assert minutes == [f"{page.minutes} min" for page in BOOK.path_pages]
        assert page.locator(".claim-card .badge").count() == 3


@pytest.mark.parametrize("script", [True, False])
def test_the_puzzle_asks_first(site: Site, browser: Any, script: bool) -> None:
    """A guess opens the answer and is judged; without script there is the fold."""
    with browser.new_context(java_script_enabled=script) as context:
        page = context.new_page()
        page.goto(site.url("book/index"))
        assert page.locator(".puzzle svg.figure").is_hidden()
        guesses, reply = page.locator(".guess button"), page.locator(".guess output")
        if script:
            guesses.first.click()
            assert "Not every time" in reply.inner_text()
            guesses.last.click()
            assert "Yes" in reply.inner_text()
            pressed = page.locator(".guess [aria-pressed=true]")
            assert pressed.all_inner_texts() == [guesses.last.inner_text()]
        else:
            assert guesses.first.is_hidden()
            page.locator("details.puzzle > summary").click()
        assert page.locator(".puzzle svg.figure").is_visible()


def test_the_sentence_on_top_counts_the_files() -> None:
    """All of them, by verdict; what is open, where anything is."""
    first = next(iter(BOOK.claims.values()))
    verdicts = ["true", "true", "true if so", "not as stated"]
    few = {str(i): replace(first, verdict=v) for i, v in enumerate(verdicts)}
    text, marks = claims.summary(few).split("\n\n")
    assert text.startswith("Of these 4 claims **2 are true as stated**. In 1 <ins>we")
    assert "1 <del>we strike out</del>" in text and "cannot be decided" not in text
    assert [marks.count(f"badge {kind}") for kind in WORDS] == [2, 1, 1, 0]
    few["4"] = replace(first, verdict="open")
    assert ". 1 cannot be decided yet." in claims.summary(few)


def test_a_sentence_is_proofread() -> None:
    """What is missing is put in before the full stop, what is false struck out."""
    claim = replace(next(iter(BOOK.claims.values())), claim="It is so.")
    marked = {
        "true": "It is so.",
        "true if d is even": "It is so <ins>if d is even</ins>.",
        "not as stated: no": "<del>It is so.</del> <ins>no</ins>.",
    }
    for verdict, proofread in marked.items():
        assert claims.proofread(replace(claim, verdict=verdict)) == proofread


def test_each_claim_says_who_says_it() -> None:
    """The sources of the claim, or that nobody was found."""
    traced = replace(next(iter(BOOK.claims.values())), sources=["denk2019"])
    heard = replace(traced, sources=[manuscript.UNTRACED])
    assert "{cite:p}`denk2019`" in claims.ledger({"a": traced})
    assert claims.UNTRACED not in claims.ledger({"a": traced})
    assert claims.UNTRACED in claims.ledger({"a": heard})
    assert "{cite:p}" not in claims.ledger({"a": heard})


def test_each_claim_has_a_page(site: Site) -> None:
    """With its marks, its links and its drawing."""
    pages = {path.stem for path in (site.folder / "claim").glob("*.html")}
    assert pages == set(BOOK.claims)
    for key, claim in BOOK.claims.items():
        page = f"claim/{key}"
        assert not checks.broken_links(site, page)
        text = (site.folder / f"{page}.html").read_text(encoding="utf-8")
        assert ("<del>" in text.partition('class="onward"')[0]) is (
            claims.kind(claim.verdict) == "not as stated"
        )
        assert ('<svg role="img"' in text) is bool(claim_pages.drawing_of(claim))


def test_the_badge_below_a_cell_is_drawn(site: Site, browser: Any) -> None:
    """With its shape, and its words as the link to the list."""
    with checks.visit(browser, site, site.url("book/sinusoidal/rotation")) as seen:
        page = seen.page
        notes = page.locator("p.claim")
        drawn = page.locator("p.claim > .badge:has(> svg):has(> a[href*='#ledger-'])")
        assert notes.count() == drawn.count() > 0
        assert not any("<" in text for text in notes.all_text_contents())


def test_a_deep_link_is_in_sight_and_marked(site: Site, browser: Any) -> None:
    """It opens at its claim, which says so; its own link keeps the filter."""
    phone = {"width": 390, "height": 844}
    with browser.new_context(viewport=phone, reduced_motion="reduce") as context:
        page = context.new_page()
        page.goto(f"{site.url(LEDGER)}#ledger-no-direction")
        page.wait_for_load_state("load")
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
