"""The quarter of an hour: what its drawings show is what ``pe_lib`` computes.

The stills are drawn by Python; for the same state the script draws the same. Each grip
is moved by keys and by a finger; the sentences that hold a number are computed.
"""

import re
from math import pi

import numpy as np
import pytest

from pe_lib.explorers.drawing import view
from tests.website.site_checks import (
    ROOT,
    accessibility,
    broken_links,
    console,
    overflow,
    script,
    visit,
)
from website import quarter

PAGE = "book/quarter"
STATES = [
    *(("rotary", {"query": t, "key": s}) for t, s in ((27, 2), (9, 8), (20, 12))),
    *(("king", {"back": step / 4}) for step in range(9)),
    *((name, {}) for name in quarter.DRAWINGS),
]


@pytest.fixture(scope="module")
def drawings(browser, tmp_path_factory):
    """All of them on a page from a folder, at rest; what it says must be nothing."""
    messages = []
    page = browser.new_page(reduced_motion="reduce")
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    static = (ROOT / "website/static").as_uri()
    body = "".join(map(quarter.panel, quarter.DRAWINGS))
    path = tmp_path_factory.mktemp("quarter") / "page.html"
    path.write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Ten</title>'
        f'<link rel="stylesheet" href="{static}/quarter.css"><main>{body}</main>'
        f'<script src="{static}/quarter.js"></script>',
        encoding="utf-8",
    )
    page.goto(path.as_uri())
    yield page
    page.close()
    assert messages == []


def parts(drawn):
    """What is written between the numbers, and the numbers."""
    number = r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?|(?<=[A-Za-z])-?\d+(?:\.\d+)?"
    return re.sub(number, "#", drawn), np.array(re.findall(number, drawn), dtype=float)


@pytest.mark.parametrize(("name", "state"), STATES, ids=map(str, STATES))
def test_the_script_draws_what_python_draws(drawings, name, state):
    """Every attribute, to a tenth of a unit; and the sentence to the letter."""
    drawing = quarter.DRAWINGS[name](**state)
    still, moved, text = drawings.evaluate(
        script("same_drawing"), [name, state, drawing.body]
    )
    assert text == drawing.sentence
    (words, numbers), (others, their) = parts(still), parts(moved)
    assert words == others
    np.testing.assert_allclose(numbers, their, atol=0.101)


def sentence(name, **state):
    """The sentence of a state."""
    return quarter.DRAWINGS[name](**state).sentence


def test_what_the_page_says():
    """The sentences of the page that hold a number."""
    text = (ROOT / f"{PAGE}.md").read_text(encoding="utf-8")
    assert re.findall(r"{panel} (\w+)", text) == [*quarter.PANELS, "hero"]
    galaxy = view("galaxy", {"size": 1, "turn": 2 * pi / 5})
    assert "code 5 equals code 0" in galaxy["sentence"]
    assert view("galaxy", {"size": 1, "turn": 1})["reached"]
    spikes = [view("spike", {"hands": k})["sentence"] for k in (1, 2, 3)]
    shares = [int(re.search(r"(\d+) %", text)[1]) for text in spikes]
    assert shares[0] < 25 and shares[2] > 80 and shares == sorted(shares)
    assert "the word 3 positions before" in view("spike", {"back": 3})["sentence"]
    scores = {
        sentence("rotary", query=t, key=t - 4).split("apart")[1] for t in range(6, 20)
    }
    assert len(scores) == 1
    skips = "king gave seven apples to his daughter before the snow fell on the town."
    assert sentence("king").endswith(f"turned back by 1: {skips}")
    assert "as trained: old king" in sentence("king", back=0)
    assert "oldest" in sentence("king", back=0)


def sliders(page):
    """All that can be taken, with the sentence of its drawing."""
    for panel in page.locator(".panel[data-still]").all():
        for grip in panel.locator(".take").element_handles():
            yield panel, grip


def test_by_keys(drawings):
    """Tab reaches each grip, which has a name; arrows or Enter change the drawing."""
    for panel, grip in sliders(drawings):
        assert len(grip.get_attribute("aria-label")) > 3
        assert grip.get_attribute("tabindex") == "0"
        before = panel.locator("svg").inner_html()
        grip.focus()
        for key in ("Enter", "ArrowRight", "ArrowLeft", "ArrowLeft"):
            grip.press(key)
            if panel.locator("svg").inner_html() != before:
                break
        else:
            raise AssertionError(grip.get_attribute("aria-label"))


@pytest.fixture(scope="module")
def phone(browser, site):
    """The page on a phone, at rest."""
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(site.url(PAGE))
    page.evaluate("document.documentElement.style.scrollBehavior = 'auto'")
    yield page
    context.close()


def test_by_a_finger(phone):
    """A grip follows a finger all the way, up and down too, while the page stays."""
    finger = phone.context.new_cdp_session(phone)
    for panel, grip in sliders(phone):
        if grip.get_attribute("role") == "switch":
            grip.tap()
            assert grip.get_attribute("aria-checked") == "true"
            continue
        panel.evaluate("x => x.closest('section').scrollIntoView()")
        phone.mouse.wheel(0, 60)
        phone.wait_for_timeout(60)
        box = grip.query_selector(".grip").bounding_box()
        assert min(box["width"], box["height"]) >= 38, grip.get_attribute("aria-label")
        grip.evaluate("x => (x.cancelled = 0, x.onpointercancel = () => x.cancelled++)")
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.3
        before, top = panel.locator("svg").inner_html(), phone.evaluate("scrollY")

        def touch(kind, *at):
            points = [{"x": x, "y": y} for x, y in at]
            event = {"type": kind, "touchPoints": points}
            finger.send("Input.dispatchTouchEvent", event)

        pans = panel.get_attribute("data-panel") == "hero"  # it moves sideways alone
        touch("touchStart", (x, y))
        seen = {before}
        for step, aside in enumerate((*range(10, 50, 10), *range(30, -50, -20))):
            touch("touchMove", (x + aside, y + (0 if pans else 6 * step)))
            seen.add(panel.locator("svg").inner_html())
        touch("touchEnd")
        assert grip.evaluate("x => x.cancelled") == 0
        assert phone.evaluate("scrollY") == top
        assert len(seen) > 1, grip.get_attribute("aria-label")


@pytest.mark.parametrize("name", quarter.PANELS)
def test_each_panel_has_a_page(browser, site, name):
    """The drawing, which moves, its law, the next."""
    assert not broken_links(site, f"panel/{name}")
    with visit(browser, site, site.url(f"panel/{name}"), 320) as seen:
        assert seen.page.locator("h1 ~ .panel .take[tabindex]").count()
        assert not [*console(seen), *overflow(seen)]
        if name == "heap":  # the page round a drawing is the same for all
            assert not accessibility(seen)


def test_without_a_script_and_on_paper(browser, site):
    """Ten stills."""
    stills = [draw().sentence for draw in quarter.DRAWINGS.values()]
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site.url(PAGE))
    shown = page.locator(".panel[data-still] output").all_inner_texts()
    assert [text.replace("\xa0", " ") for text in shown] == stills
    assert all(svg.is_visible() for svg in page.locator(".panel[data-still] svg").all())
    context.close()
    page = browser.new_page()
    page.goto(site.url(PAGE))
    assert page.locator(".panel[data-still] output").all_text_contents() != stills
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".panel[data-still] output").all_text_contents() == stills
    page.emulate_media(media="print")
    assert page.locator(".panel[data-still] svg").first.is_visible()
    page.close()


def test_a_drawing_comes_out_of_the_one_before(browser, site):
    """While the page scrolls; not where the reader wants no motion."""
    for motion, morphs in (("no-preference", True), ("reduce", False)):
        page = browser.new_page(reduced_motion=motion)
        page.goto(site.url(PAGE))
        for panel in page.locator(".panel[data-still]").all()[1:-1]:
            top = panel.evaluate("x => x.getBoundingClientRect().top + scrollY")
            seen = set()
            for part in (0.8, 0.6, 0.1):
                page.evaluate(
                    "y => scrollTo({top: y, behavior: 'instant'})", top - part * 720
                )
                page.wait_for_timeout(50)
                seen.add(panel.locator("svg").inner_html())
            assert (len(seen) == 3) == morphs, panel.get_attribute("data-panel")
        page.close()
