"""The bench of the path: what was found stays found; test_site.py says where it is."""

from pe_lib.explorers import Bench
from pe_lib.explorers.bench import PAGES
from tests.website.site_checks import PHONE

BENCH = '.bench > [data-drawing="bench"]'


def test_what_a_reader_did_is_kept(at):
    """On the next page what was found is, what was closed is, and the text is as long,
    which is no answer yet; the strip says what the bench shows.
    """
    page = at("book/failures/normalised", width=PHONE).page
    words = page.locator(BENCH).get_by_role("slider", name="Words in the text")
    assert words.get_attribute("aria-valuenow") == "5"
    words.press("PageUp")
    assert not page.locator(".bench .check").first.is_visible()
    words.press("End")
    words.press("Home")
    for _ in range(7):
        words.press("ArrowRight")
    assert page.locator(f"{BENCH} .normalised > .check").is_visible()
    page.locator(".bench > summary").click()
    said = page.locator(".bench > summary small").text_content()
    assert said == str(Bench(page="normalised", words=9))
    page.goto(page.url.replace("normalised", "criteria"))
    assert not page.locator(BENCH).is_visible()
    page.locator(".bench > summary").click()
    assert page.locator(f"{BENCH} .normalised > .check").is_visible()
    assert not page.locator(f"{BENCH} .dials > .check").is_visible()
    for name in ("criteria", "../pytorch/module"):
        page.goto(page.url.replace("criteria", name))
        assert words.get_attribute("aria-valuetext") == "9 words"
        assert page.locator(f"{BENCH} .reward").is_hidden()
    page.get_by_role("button", name="Start again").click()
    for kept in (None, "[65]", "[2.5]", "{"):  # and what no bench can have kept
        if kept:
            page.evaluate("kept => localStorage.setItem('bench-words', kept)", kept)
        page.reload()
        assert words.get_attribute("aria-valuenow") == "5"


def test_each_encoding_has_its_tick(at):
    """Where all are shown: only those that were found."""
    bench = at("book/pytorch/module").page.locator(BENCH)
    for found in PAGES:
        bench.evaluate("(root, found) => (root.dataset.found = found)", found)
        ticks = bench.locator(".tab:has(> .check:visible)").all()
        assert [tick.get_attribute("class") for tick in ticks] == [f"tab {found}"]
