"""Ten drawings: what their page says of them, and what surrounds them (quarter.js)."""

import re
from math import pi

from pe_lib.explorers.drawing import view
from tests.website.site_checks import PHONE, ROOT, resize
from website import quarter

PAGE = "book/quarter"


def test_what_the_page_says():
    """The sentences of the page that hold a number."""
    text = (ROOT / f"{PAGE}.md").read_text(encoding="utf-8")
    assert re.findall(r"{panel} (\w+)", text) == [*quarter.DRAWINGS]
    galaxy = view("galaxy", {"size": 1, "turn": 2 * pi / 5})
    assert "encoding 5 equals encoding 0" in galaxy["sentence"]
    assert view("galaxy", {"size": 1, "turn": 1})["reached"]
    spikes = [view("spike", {"hands": k})["sentence"] for k in (1, 2, 3)]
    shares = [int(re.search(r"(\d+) %", text)[1]) for text in spikes]
    assert shares[0] < 25 and shares[2] > 80 and shares == sorted(shares)
    assert "the word 3 positions before" in view("spike", {"back": 3})["sentence"]
    scores = {
        view("rotary", {"query": t, "key": t - 4})["sentence"].split("apart")[1]
        for t in range(6, 20)
    }
    assert len(scores) == 1
    skips = "king gave seven apples to his daughter before the snow fell on the town."
    said = view("skip", {"quarters": 4})["sentence"]
    assert said.endswith(f"turned back by 1: {skips}")
    trained = view("skip", {})["sentence"]
    assert "as trained: old king" in trained and "oldest" in trained


def test_a_law_that_is_found_fills_its_dot(at):
    """Beside the page; on a phone it is counted in a bar."""
    page = at(PAGE).page
    assert page.locator(".laws a").count() == 10
    page.locator('[data-panel="heap"] button', has_text="Add the positions").click()
    page.locator('[data-panel="heap"] .take').first.press("ArrowRight")
    assert page.locator(".laws a.found").all_text_contents() == ["Law 1, found"]
    assert page.locator(".laws p").text_content() == "1 / 10"
    resize(page, PHONE)
    assert page.locator(".laws").bounding_box()["height"] <= 34


def test_without_a_script_and_on_paper(at, alone):
    """Ten stills; on paper as they were before anyone moved them."""
    stills = [str(quarter.DRAWINGS[name]()) for name in quarter.DRAWINGS]
    page = alone(PAGE, java_script_enabled=False)
    shown = page.locator(".panel .line").all_text_contents()
    assert [text.replace("\xa0", " ") for text in shown] == stills
    assert all(svg.is_visible() for svg in page.locator(".panel svg").all())
    page = at(PAGE).page
    page.locator("[data-panel=spike] .take").last.press("End")
    assert page.locator(".panel .line").all_text_contents() != stills
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".panel .line").all_text_contents() == stills
    page.emulate_media(media="print")
    assert page.locator(".laws").is_hidden()
    assert page.locator(".panel svg").first.is_visible()
