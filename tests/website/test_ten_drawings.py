"""Ten drawings: what their page says of them, and what surrounds them."""

import re

from pe_lib.explorers.drawing import view
from tests.website.site_checks import PHONE, ROOT, resize
from website import ten_drawings

PAGE = "book/ten_drawings"


def test_what_the_page_says():
    """The drawings in their order; the more hands, the taller one bar."""
    text = (ROOT / f"{PAGE}.md").read_text(encoding="utf-8")
    assert re.findall(r"{panel} (\w+)", text) == [*ten_drawings.DRAWINGS]
    spikes = [view("spike", {"hands": k})["sentence"] for k in (1, 2, 3)]
    shares = [int(re.search(r"(\d+) %", text)[1]) for text in spikes]
    assert shares[0] < 25 and shares[2] > 80 and shares == sorted(shares)


def test_a_law_that_is_found_fills_its_dot(at):
    """Beside the page; on a phone it is counted in a bar."""
    page = at(PAGE).page
    assert page.locator(".laws a").count() == 10
    page.locator('[data-panel="shuffle"] button', has_text="Add the positions").click()
    page.locator('[data-panel="shuffle"] .take').first.press("ArrowRight")
    assert page.locator(".laws a.found").all_text_contents() == ["Law 1, found"]
    assert page.locator(".laws p").text_content() == "Laws 1 of 10"
    page.reload()
    assert page.locator(".laws p").text_content() == "Laws 1 of 10"
    resize(page, PHONE)
    bar = page.locator(".laws").bounding_box()
    assert bar["height"] == 44 and bar["width"] == PHONE
    assert page.locator(".laws a").last.is_visible()


def test_on_paper_they_are_as_nobody_has_moved_them(at):
    page = at(PAGE).page
    stills = page.locator(".panel .line").all_text_contents()
    page.locator("[data-panel=spike] .take").last.press("End")
    assert page.locator(".panel .line").all_text_contents() != stills
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".panel .line").all_text_contents() == stills
    page.emulate_media(media="print")
    assert page.locator(".laws").is_hidden()
    assert page.locator(".panel svg").first.is_visible()
