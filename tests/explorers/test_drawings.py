"""The drawings' common frame: every handle over its range, without a browser; and one
test per kind of gesture over all drawings, with one."""

import asyncio
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pe_lib import explorers
from pe_lib.explorers import Bench, drawing
from pe_lib.explorers.bench import PAGES
from tests.website.site_checks import TARGET

DRAWINGS = [getattr(explorers, name)() for name in explorers.__all__]
WITH_MORE = [Bench(page=page) for page in ("counting", "formula", "rotation", "module")]
"""Pages where the bench has a button or a handle that it has nowhere else."""
SHOWN = [*DRAWINGS, *WITH_MORE]
STATES = [
    *((one._name, one._state()) for one in DRAWINGS),
    *(("bench", Bench(page=p, words=n)._state()) for p in PAGES for n in (2, 5, 9, 64)),
    ("shuffle", {"codes": True}),
    ("field", {"words": 60, "hands": 9}),
    ("field", {"words": 7, "hands": 1}),
    ("stretch", {"rule": "ntk", "factor": 32, "trained_length": 512}),
    ("stretch", {"rule": "llama3", "base": 100}),
    ("hero", {"moved_by": -3}),
    ("patches", {"down": 0, "right": -3}),
    ("patches", {"down": -2, "right": 3, "diagonals": True}),
    ("rotary", {"query": 28, "key": 3}),
    ("skip", {"heads": "twenty", "quarters": 6}),
    ("dial", {"k": 3, "position": 25}),
    ("wheel", {"alone": True}),
]
IDLE = {
    ("base 100", "Factor, at the end of the lower line"),  # no hand is slow enough
    ("right -3", "Hands along the diagonals too"),  # rows and columns do it as well
}
"""Handles that change nothing from there."""
IN_PAGE = Path(__file__).parent / "in_page"


# Without a browser


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


@pytest.mark.parametrize(("name", "state"), STATES, ids=str)
def test_every_handle_over_its_range(name, state):
    """Each says where it is, keeps to its range, and moves what one sees."""
    walk = (IN_PAGE / "walk.js").read_text("utf-8")
    walked = drawing.engine().eval(f"({walk})(drawing, '{name}', {json.dumps(state)})")
    first, *others = json.loads(walked)
    seen = {x["label"]: set() for x in first["handles"] if not x.get("hidden")}
    for now in (first, *others):
        assert not re.search("NaN|undefined|Infinity|null", now["svg"] + now["said"])
        assert re.fullmatch(r".*\w\W*[.?]", now["said"]), now["said"]
        assert len(now["handles"]) == len(first["handles"])
        for handle in now["handles"]:
            if "value" not in handle or handle.get("hidden"):
                continue
            low, value, high = handle["low"], handle["value"], handle["high"]
            assert low - 1e-9 <= value <= high + 1e-9, handle
            assert handle["text"] and -20 <= handle["x"] <= first["size"][0] + 20
            assert -20 <= handle["y"] <= first["size"][1] + 20
        seen.setdefault(now["moved"], set()).add(now["svg"])
    where = {f"{key} {value}" for key, value in state.items()}
    for label, drawn in seen.items():
        idle = label in ("", "Shuffle") or any((x, label) in IDLE for x in where)
        assert idle or drawn - {first["svg"]}, f"{label} moves nothing"


@pytest.mark.parametrize("wrong", ["text", 2.0, True, None, 1, 65, [1]])
def test_wrong_arguments_are_refused(wrong):
    for name, kind in (("page", str), ("words", int)):
        error = ValueError if type(wrong) is kind else TypeError
        with pytest.raises(error, match=f"^{name} must .*got "):
            Bench(**{name: wrong})


def test_without_mini_racer(monkeypatch):
    """A sentence, and the script makes the drawing."""

    def missing():
        raise ModuleNotFoundError("No module named 'py_mini_racer'")

    monkeypatch.setattr(drawing, "engine", missing)
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


# In a browser


def page_of(inside):
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Drawings</title>'
        '<meta name="viewport" content="width=device-width">'
        "<style>body { background: light-dark(#fdfcf9, #15181d) }</style>"
        f"<main><h1>Drawings</h1>{inside}</main>"
    )


@pytest.fixture(scope="module")
def drawn(browser, tmp_path_factory):
    """All drawings on a phone, from a folder on disk, at rest."""
    messages = []
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, reduced_motion="reduce"
    )
    page = context.new_page()
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    path = tmp_path_factory.mktemp("drawings") / "page.html"
    inside = "".join(one._repr_html_() for one in SHOWN)
    path.write_text(page_of(inside), encoding="utf-8")
    page.goto(path.as_uri())
    yield page
    context.close()
    assert messages == []


def test_the_browser_draws_what_is_stored(drawn):
    """The same letters from the page's own script as from mini-racer's."""
    same = """(root, [svg, said]) => {
        const stored = document.createElementNS("http://www.w3.org/2000/svg", "g");
        stored.innerHTML = svg;
        return root.querySelector(".picture").innerHTML === stored.innerHTML
            && root.querySelector(".line").textContent === said; }"""
    roots = drawn.query_selector_all(".pe-explorer.live")
    for root, one in zip(roots, SHOWN, strict=True):
        stored = drawing.view(one._name, one._state())
        assert root.evaluate(same, [stored["svg"], stored["sentence"]]), one


def picture(root):
    return root.query_selector(".picture").inner_html()


def again(root):
    """From the beginning."""
    root.evaluate("root => root.querySelector('button:last-child').click()")


def takes(page, role="slider"):
    """All that can be taken, with its drawing."""
    for root in page.query_selector_all(".pe-explorer"):
        for element in root.query_selector_all(f".take[role={role}]:not([hidden])"):
            yield root, element


def grasp(element):
    """Where a finger takes it: at its sign, or else in the middle; it has room."""
    element.scroll_into_view_if_needed()
    hit = element.query_selector(".hit").bounding_box()
    assert min(hit["width"], hit["height"]) >= TARGET
    sign = element.query_selector(".sign")
    box = sign.bounding_box() if sign else hit
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def watched(element):
    """The same, and from now on its picture is watched."""
    element.scroll_into_view_if_needed()
    width, height, *at = element.evaluate((IN_PAGE / "watched.js").read_text("utf-8"))
    assert min(width, height) >= TARGET
    return at


def goes_along(element):
    """Whether its picture changed as it was moved or pressed; it starts again."""
    moved, as_it_was = element.evaluate("element => element.let_go()")
    return moved and as_it_was


def test_by_keys(drawn):
    """Each has a name and a range; Home and End are its ends, arrows its steps."""
    found = drawn.evaluate((IN_PAGE / "keys.js").read_text("utf-8"))
    assert len(found) > 30
    for one in found:
        assert one["name"] and one["said"] and one["quiet"] and one["changed"], one
        low, high, steps = one["low"], one["high"], one["steps"]
        size = steps[0] - low
        away = steps[-1] - min(low + 5 * size, high)
        assert low < high and size > 0 and abs(away) < 0.01, one


def test_by_mouse(drawn):
    """What is dragged goes along; what is pressed changes; all can start again."""
    for _, element in takes(drawn):
        x, y = watched(element)
        drawn.mouse.move(x, y)
        drawn.mouse.down()
        for step in (-60, 60):
            drawn.mouse.move(x + step, y + step)
        drawn.mouse.up()
        assert goes_along(element), element.get_attribute("aria-label")
    for _, element in takes(drawn, "switch"):
        drawn.mouse.click(*watched(element))
        assert goes_along(element)


def test_buttons(drawn):
    """Each says whether it is pressed, or does something once."""
    for button in drawn.locator(".buttons button[aria-pressed]:not([hidden])").all():
        before = button.get_attribute("aria-pressed")
        button.click()
        assert button.get_attribute("aria-pressed") != before
        button.click()
        assert button.get_attribute("aria-pressed") == before


def test_by_a_finger(drawn):
    """A handle follows a finger while the page stays; a swipe beside it scrolls.

    One that scrolls up and down with the page and one that does not: all of them were
    taken by the mouse, by the same script.
    """
    finger = drawn.context.new_cdp_session(drawn)

    def touch(kind, *at):
        points = [{"x": x, "y": y} for x, y in at]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    kinds = {e.get_attribute("data-pans"): (root, e) for root, e in takes(drawn)}
    assert kinds.keys() == {None, ""}
    for pans, (root, element) in kinds.items():
        x, y = grasp(element)
        before, top, seen = picture(root), root.bounding_box()["y"], set()
        touch("touchStart", (x, y))
        for step in (-30, -60, 10, 60):
            touch("touchMove", (x + step, y + (step if pans is None else 0)))
            seen.add(picture(root))
        touch("touchEnd")
        assert seen - {before}, element.get_attribute("aria-label")
        assert abs(root.bounding_box()["y"] - top) < 1
        again(root)
        assert picture(root) == before
    drawn.evaluate("scrollTo(0, 0)")
    touch("touchStart", (200, 700))
    for step in range(0, 200, 20):
        touch("touchMove", (200, 700 - step))
    touch("touchEnd")
    drawn.wait_for_function("scrollY > 50")


def test_nothing_sticks_out_and_all_can_be_read(drawn):
    for wide in (320, 390):
        drawn.set_viewport_size({"width": wide, "height": 844})
        assert drawn.evaluate("document.documentElement.scrollWidth") <= wide
    small = drawn.evaluate(
        """() => [...document.querySelectorAll(".picture text")].filter((x) => {
            const { a, b } = x.getScreenCTM();
            return parseFloat(getComputedStyle(x).fontSize) * Math.hypot(a, b) < 12;
        }).map((x) => x.textContent)"""
    )
    assert not small


def test_the_page_says_the_colours(browser):
    """Its variables win; without any, JupyterLab's dark theme is heard."""
    page = browser.new_page()
    page.set_content(page_of(explorers.Turn()._repr_html_()))
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
    page.close()


def test_two_of_a_kind_do_not_meddle(browser):
    """Each has its script with it, and one state of its own."""
    page = browser.new_page(reduced_motion="reduce")
    page.set_content(page_of(2 * explorers.Turn()._repr_html_()))
    first, second = page.query_selector_all(".pe-explorer")
    before = picture(first)
    second.query_selector(".take").press("End")
    assert picture(first) == before != picture(second)
    assert len(first.query_selector_all("[role=slider]")) == 3
    page.close()
