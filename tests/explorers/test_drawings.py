"""The drawings' common frame: every handle over its range, and each kind of gesture."""

import asyncio
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import pytest

from pe_lib import explorers
from pe_lib.explorers import Bench, drawing
from pe_lib.explorers.bench import PAGES
from tests.website.site_checks import TARGET

NAMES = (name for name in explorers.__all__ if name != "Bench")
SHOWN = [getattr(explorers, name)() for name in NAMES] + [Bench(page=p) for p in PAGES]


def in_page(name):
    return (Path(__file__).parent / f"in_page/{name}.js").read_text("utf-8")


@pytest.mark.parametrize("one", SHOWN, ids=repr)
def test_html_keeps_to_itself(one):
    """No ids, no handlers, no address; one script, wherever it begins."""
    html = one._repr_html_()
    assert html == one._repr_html_()
    assert html.startswith(f'<div class="pe-explorer" data-drawing="{one._name}"')
    assert not re.search(r'https?:|@import|url\(| id="| on\w+="', html)
    script = html.partition("<script>")[2]
    assert f"drawings.{one._name} = " in script and "\nbeginAll();\n" in script
    assert script == type(one)()._repr_html_().partition("<script>")[2]
    assert eval(repr(one), vars(explorers)) == one
    assert f'<span class="line">{one}</span>' in html
    assert len(re.findall('aria-label="[^"]{60,}"', html)) == 1


@pytest.mark.parametrize("one", SHOWN, ids=repr)
def test_every_handle_over_its_range(one):
    """Each says where it is, keeps to its range, and moves what one sees."""
    state = json.dumps(one._state())
    script = f"({in_page('walk')})(drawing, '{one._name}', {state})"
    assert json.loads(drawing.engine().eval(script)) == []


@pytest.mark.parametrize("wrong", ["text", 2.0, True, None, 1, 65, [1]])
def test_wrong_arguments_are_refused(wrong):
    assert Bench(words=2) != Bench(words=64)  # the ends of its range
    for name, kind in (("page", str), ("words", int)):
        error = ValueError if type(wrong) is kind else TypeError
        with pytest.raises(error, match=f"^{name} must .*got "):
            Bench(**{name: wrong})


def test_without_mini_racer(monkeypatch):
    """A sentence, and the script makes the drawing."""
    monkeypatch.setattr(drawing, "engine", Mock(side_effect=ModuleNotFoundError))
    html = explorers.Turn()._repr_html_()
    assert f'<p class="absent">{drawing.ABSENT}</p>' in html
    assert "<svg" not in html.partition("<script>")[0]


def test_the_engine_joins_no_event_loop():
    """It is made where one runs, as in a notebook, and outlives it."""

    async def made():
        return drawing.interpreter("var six = 6; ")

    with ThreadPoolExecutor() as apart:  # from the loop of a browser
        engine = apart.submit(lambda: asyncio.run(made())).result()
    assert engine.eval("7 * six") == 42


@pytest.fixture(scope="module")
def drawn(browser):
    """All drawings on a phone, at rest."""
    messages = []
    page = browser.new_page(
        viewport={"width": 390, "height": 844}, has_touch=True, reduced_motion="reduce"
    )
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    inside = "".join(one._repr_html_() for one in SHOWN)
    viewport = '<meta name="viewport" content="width=device-width">'
    seen = "<style>.pe-explorer { content-visibility: auto }</style>"  # paint no other
    page.set_content(f"<!doctype html>{viewport}{seen}<main>{inside}</main>")
    yield page
    page.close()
    assert messages == []


def test_the_browser_draws_what_is_stored(drawn):
    """The same letters from the page's own script as from mini-racer's."""
    roots = drawn.query_selector_all(".pe-explorer.live")
    for root, one in zip(roots, SHOWN, strict=True):
        stored = drawing.view(one._name, one._state())
        assert root.evaluate("root => root.seen") == stored, one
        assert root.query_selector(".line").text_content() == stored["sentence"]
        assert len(root.query_selector_all(".buttons")) == 1


def test_by_keys(drawn):
    """Each has a name and a range; Home and End are its ends, arrows its steps."""
    many, wrong = drawn.evaluate(in_page("keys"))
    assert many > 30 and not wrong


@pytest.fixture
def moving(drawn):
    """Where motion is welcome, and the keyboard was used before."""
    drawn.emulate_media(reduced_motion="no-preference")
    drawn.keyboard.press("Tab")
    drawn.evaluate("document.activeElement.blur()")
    yield
    drawn.emulate_media(reduced_motion="reduce")


@pytest.mark.usefixtures("moving")
def test_by_mouse(drawn):
    """What is dragged or pressed goes along, alone; all can start again."""
    taken = ".take:not([hidden]), button[aria-pressed]:not([hidden])"
    for element in drawn.query_selector_all(taken):
        x, y = element.evaluate(in_page("watched"), TARGET)
        drawn.mouse.move(x, y)
        drawn.mouse.down()
        for step in (-60, 60) if element.get_attribute("role") == "slider" else ():
            drawn.mouse.move(x + step, y + step)
        drawn.mouse.up()
        said = element.get_attribute("aria-label") or element.text_content()
        assert element.evaluate("one => one.let_go()"), said


def test_start_again_has_its_room(drawn):
    """It comes with the first touch, and what is below stays where it is."""
    buttons = drawn.query_selector_all(".buttons")
    high = """(buttons, hidden) => {
        const again = buttons.lastChild, before = again.hidden;
        again.hidden = hidden;
        const { height } = buttons.getBoundingClientRect();
        again.hidden = before;
        return height;
    }"""
    for one in buttons:
        assert one.evaluate(high, True) == one.evaluate(high, False) >= TARGET


def test_a_word_pressed_again_is_let_go(drawn):
    bench = drawn.locator("[data-drawing=bench]").first
    query = bench.get_by_role("slider", name="Query")
    for pressed in ("2", "-1", "2", "-1"):
        query.click()
        assert query.get_attribute("aria-valuenow") == pressed


def test_by_a_finger(drawn):
    """A handle follows a finger while the page stays; a swipe beside it scrolls."""
    send = drawn.context.new_cdp_session(drawn).send

    def touch(kind, *at):
        points = [{"x": x, "y": y} for x, y in at]
        send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    # One that lets the page scroll, one that does not: it is one script for all.
    for pans, down in ("[data-pans]", 0), (":not([data-pans])", 1):
        element = drawn.query_selector_all(f"[role=slider]{pans}:not([hidden])")[3]
        x, y = element.evaluate(in_page("watched"), TARGET)
        top = drawn.evaluate("scrollY")
        touch("touchStart", (x, y))
        for step in (-30, -60, 10, 60):
            touch("touchMove", (x + step, y + step * down))
        touch("touchEnd")
        assert element.evaluate("one => one.let_go()")
        assert drawn.evaluate("scrollY") == top
    drawn.evaluate("scrollTo(0, 0)")
    touch("touchStart", (200, 700))
    for step in range(0, 200, 20):
        touch("touchMove", (200, 700 - step))
    touch("touchEnd")
    drawn.wait_for_function("scrollY > 50")


def test_all_can_be_read(drawn):
    """Letters are 12 px high or more; that nothing sticks out is seen on all pages."""
    assert not drawn.evaluate(
        """() => [...document.querySelectorAll(".picture text")].filter((x) => {
            const { a, b } = x.getScreenCTM();
            return parseFloat(getComputedStyle(x).fontSize) * Math.hypot(a, b) < 12;
        }).map((x) => x.textContent)"""
    )


def test_the_page_says_the_colours(browser):
    """Its variables win; without any, JupyterLab's dark theme is heard."""
    page = browser.new_page()
    page.set_content(explorers.Turn()._repr_html_())
    ink = "getComputedStyle(document.querySelector('.ink')).stroke"
    light = page.evaluate(ink)
    page.evaluate("document.body.dataset.jpThemeLight = 'false'")
    assert page.evaluate(ink) != light
    page.evaluate("document.documentElement.style.setProperty('--ink', 'rgb(1, 2, 3)')")
    assert page.evaluate(ink) == "rgb(1, 2, 3)"
    page.emulate_media(forced_colors="active")
    assert page.evaluate(ink) == page.evaluate("getComputedStyle(document.body).color")
    page.emulate_media(media="print", forced_colors="none")
    assert page.locator(".buttons").is_hidden() and page.locator("svg").is_visible()
