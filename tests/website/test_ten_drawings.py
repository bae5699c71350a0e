"""Ten drawings: what their page says of them, and what is printed."""

import re

from pe_lib.explorers.drawing import view
from tests.website.site_checks import ROOT
from website import ten_drawings

PAGE = "book/ten_drawings"


def test_what_the_page_says():
    """The drawings in their order; the more hands, the taller one bar."""
    text = (ROOT / f"{PAGE}.md").read_text(encoding="utf-8")
    assert re.findall(r"{panel} (\w+)", text) == [*ten_drawings.DRAWINGS]
    spikes = [view("spike", {"hands": k})["sentence"] for k in (1, 2, 3)]
    shares = [int(re.search(r"(\d+) %", text)[1]) for text in spikes]
    assert shares[0] < 25 and shares[2] > 80 and shares == sorted(shares)


def test_on_paper_they_are_as_nobody_has_moved_them(at):
    page = at(PAGE).page
    stills = page.locator(".panel .line").all_text_contents()
    page.locator("[data-panel=spike] .take").last.press("End")
    assert page.locator(".panel .line").all_text_contents() != stills
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".panel .line").all_text_contents() == stills
    page.emulate_media(media="print")
    assert page.locator(".panel svg").first.is_visible()
