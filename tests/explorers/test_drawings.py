"""The drawings' common frame: every handle over its range, without a browser; and one
test per kind of gesture over all drawings, with one."""

import asyncio
import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

from pe_lib import explorers
from pe_lib.explorers import drawing
from pe_lib.explorers.bench import PAGES
from pe_lib.explorers.drawing import Drawing
from tests.website.site_checks import TARGET, axe
from tests.website.site_checks import script as website_script

KINDS = [
    kind
    for kind in map(vars(explorers).get, explorers.__all__)
    if issubclass(kind, Drawing)
]
STATES = [
    explorers.Shuffle(codes=True),
    explorers.Rotation(position=40, offset=-24),
    explorers.Field(words=60, hands=9),
    explorers.Field(words=7, hands=1),
    explorers.HeatMap(base=256, position=31),
    explorers.HeatMap(d_model=4, base=100, position=0),
    explorers.DotProduct(d_model=2, base=2),
    explorers.DotProduct(d_model=512, base=1_000_000),
    explorers.Stretch(rule="ntk", factor=32, trained_length=512),
    explorers.Stretch(rule="llama3", base=100),
    explorers.Hero(moved_by=-3),
    explorers.Patches(down=0, right=-3),
    explorers.Patches(down=-2, right=3, diagonals=True),
    explorers.LookBack(query=1),
    explorers.MoveBoth(position=104, back=0),
    explorers.Skip(heads="twenty", quarters=6),
    explorers.Dial(k=3, position=25),
    *(explorers.Bench(page=page, words=n) for page in PAGES for n in (2, 9, 64)),
    *(kind() for kind in KINDS),
]
IDLE = {
    ("DotProduct(d_model=2, base=2)", "Base"),  # one hand, of one radian at any base
    (
        "Stretch(rule='llama3', factor=8, base=100, trained_length=4096)",
        "Factor, at the end of the lower line",  # no hand is slow enough
    ),
    (
        "Patches(down=0, right=-3, diagonals=False)",
        "Hands along the diagonals too",  # rows and columns do it as well
    ),
    ("MoveBoth(position=104, back=0)", "query, the query"),  # at both ends at once
}
"""Handles that change nothing from there."""
WALK = (Path(__file__).parent / "in_page/walk.js").read_text("utf-8")

each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
each_state = pytest.mark.parametrize("state", STATES, ids=repr)


# Without a browser


@each_state
def test_html_keeps_to_itself(state):
    """No ids, no handlers, no address; one script, whatever the state."""
    html = state._repr_html_()
    assert html == state._repr_html_()
    assert html.startswith(f'<div class="pe-explorer" data-drawing="{state._name}"')
    assert not re.search(r'https?:|@import|url\(| id="| on\w+="', html)
    usual, script = type(state)(), html.partition("<script>")[2]
    assert (html == usual._repr_html_()) == (state == usual)
    assert script == usual._repr_html_().partition("<script>")[2]
    assert eval(repr(state), vars(explorers)) == state
    assert f'<span class="line">{state}</span>' in html
    assert len(re.findall('aria-label="[^"]{60,}"', html)) == 1


@cache
def walked(state):
    """Every handle of a drawing at the ends and in the middle of its range."""
    walk = f"({WALK})(drawing, '{state._name}', {json.dumps(state._state())})"
    return json.loads(drawing.engine().eval(walk))


@each_state
def test_every_handle_over_its_range(state):
    """Each says where it is, keeps to its range, and moves what one sees."""
    first, *others = walked(state)
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
    for label, drawn in seen.items():
        if label not in ("", "Shuffle") and (repr(state), label) not in IDLE:
            assert drawn - {first["svg"]}, f"{label} moves nothing"


@each_kind
@pytest.mark.parametrize("wrong", ["text", 2.0, True, None, -1000, 3.5, [1]])
def test_wrong_arguments_are_refused(kind, wrong):
    for field in fields(kind):
        if (field.type is bool and wrong is True) or (field.name, wrong) == ("k", None):
            continue
        with pytest.raises((TypeError, ValueError), match=f"^{field.name} must .*got "):
            kind(**{field.name: wrong})


@pytest.mark.parametrize(
    ("kind", "name", "lowest", "highest"),
    [
        (explorers.Rotation, "position", 0, 40),
        (explorers.Rotation, "offset", -24, 24),
        (explorers.LookBack, "query", 1, 15),
        (explorers.MoveBoth, "position", 4, 104),
        (explorers.MoveBoth, "back", 0, 4),
        (explorers.Dial, "k", 0, 4),
        (explorers.Dial, "position", 0, 31),
    ],
)
def test_ranges_include_their_ends(kind, name, lowest, highest):
    for inside in (lowest, highest):
        kind(**{name: inside})
    for outside in (lowest - 1, highest + 1):
        with pytest.raises(ValueError, match=f"got {outside}"):
            kind(**{name: outside})


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
    pages = [explorers.Bench(page=page) for page in ("counting", *PAGES[5:])]
    shown = [*(kind() for kind in KINDS), *pages]
    inside = "".join(one._repr_html_() for one in shown)
    path.write_text(page_of(inside), encoding="utf-8")
    page.goto(path.as_uri())
    yield page
    context.close()
    assert messages == []


def handles(page):
    """All that can be taken, with its drawing."""
    for root in page.locator(".pe-explorer").all():
        for element in root.locator(".take:not([hidden])").element_handles():
            yield root, element


def sliders(page):
    for root, element in handles(page):
        if element.get_attribute("role") == "slider":
            yield root, element


def picture(root):
    return root.locator(".picture").inner_html()


def again(root):
    """From the beginning."""
    button = root.get_by_role("button", name="Start again")
    if button.is_visible():
        button.click()


def heard(element):
    names = ("aria-valuemin", "aria-valuenow", "aria-valuemax")
    return [float(element.get_attribute(name)) for name in names]


PRESSED = """(element, keys) => keys.map((key) => {
    element.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
    return Number(element.getAttribute("aria-valuenow")); })"""
"""Where each of some keys takes a handle, without a frame between them."""


def test_by_keys(drawn):
    """Each has a name and a range; Home and End are its ends, arrows its steps."""
    for root, element in sliders(drawn):
        named = element.get_attribute("aria-label")
        assert element.get_attribute("data-lm-suppress-shortcuts"), named
        element.press("End")
        low, now, high = heard(element)
        assert low < high and now <= high, named
        end = picture(root)
        (first,) = element.evaluate(PRESSED, ["Home"])
        assert first < now and picture(root) != end, named
        step = max(
            ("ArrowRight", "ArrowDown"),
            key=lambda arrow: element.evaluate(PRESSED, ["Home", arrow])[1],
        )
        element.evaluate(PRESSED, ["Home"])
        element.press(step)
        one = heard(element)[1] - first
        assert one > 0, named
        last = element.evaluate(PRESSED, [step] * 4)[-1]
        away = last - min(first + 5 * one, now)
        if named == "The first rise":  # it leaps over offsets where none is
            assert away > -0.01
        else:  # the hands of every key fall into notches
            assert abs(away) < (0.045 if "of every key" in named else 0.01), named
        again(root)


def box_of(element):
    """Its place on the screen."""
    element.scroll_into_view_if_needed()
    box = element.query_selector(".hit").bounding_box()
    return box["x"], box["y"], box["width"], box["height"]


def grasp(element):
    """Where a finger takes it: at its sign, or else in the middle."""
    x, y, wide, high = box_of(element)
    if sign := element.query_selector(".sign"):
        box = sign.bounding_box()
        x, y, wide, high = box["x"], box["y"], box["width"], box["height"]
    return x + wide / 2, y + high / 2


def test_by_mouse(drawn):
    """What is dragged goes along; what is pressed changes; all can start again."""
    for root, element in handles(drawn):
        x, y, wide, high = box_of(element)
        assert min(wide, high) >= TARGET, element.get_attribute("aria-label")
        before = picture(root)
        if element.get_attribute("role") == "switch":
            element.click()
            seen = {picture(root)}
        else:
            x, y = grasp(element)
            drawn.mouse.move(x, y)
            drawn.mouse.down()
            seen = set()
            for step in (-60, 60):
                drawn.mouse.move(x + step, y + step)
                seen.add(picture(root))
            drawn.mouse.up()
        assert seen - {before}, element.get_attribute("aria-label")
        again(root)
        assert picture(root) == before


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

    One of each kind in each drawing: all of them were taken by the mouse.
    """
    finger = drawn.context.new_cdp_session(drawn)

    def touch(kind, *at):
        points = [{"x": x, "y": y} for x, y in at]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    taken = {
        (id(root), element.get_attribute("data-pans")): (root, element)
        for root, element in sliders(drawn)
    }
    for root, element in taken.values():
        x, y = grasp(element)
        before, top = picture(root), root.locator("svg").bounding_box()["y"]
        seen = set()
        touch("touchStart", (x, y))
        for step in (-30, -60, 10, 60):
            sideways = element.get_attribute("data-pans") is not None
            touch("touchMove", (x + step, y + (0 if sideways else step)))
            seen.add(picture(root))
        touch("touchEnd")
        assert len({before, *seen}) > 1, element.get_attribute("aria-label")
        moved = root.locator("svg").bounding_box()["y"] - top
        assert abs(moved) < 1, element.get_attribute("aria-label")
        again(root)
        assert picture(root) == before
    drawn.evaluate("scrollTo(0, 0)")
    x, y, _, high = box_of(drawn.query_selector(".take"))
    touch("touchStart", (x + 4, y + high + 60))
    for step in range(0, 200, 20):
        touch("touchMove", (x + 4, y + high + 60 - step))
    touch("touchEnd")
    drawn.wait_for_function("scrollY > 50")


def test_nothing_sticks_out_and_axe_finds_nothing(drawn):
    for wide in (320, 390):
        drawn.set_viewport_size({"width": wide, "height": 844})
        assert drawn.evaluate("document.documentElement.scrollWidth") <= wide
    drawn.locator(".reward").evaluate_all("all => all.map((x) => (x.hidden = false))")
    drawn.evaluate(axe())
    for scheme in ("light", "dark"):
        drawn.add_style_tag(content=f":root {{ color-scheme: {scheme} }}")
        assert not drawn.evaluate(website_script("run_axe"), [])
    small = drawn.evaluate(
        """() => [...document.querySelectorAll(".picture text")].filter((x) => {
            const box = x.getBoundingClientRect();
            const scale = x.ownerSVGElement.getScreenCTM().a;
            return parseFloat(getComputedStyle(x).fontSize) * scale < 12;
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
    first, second = page.locator(".pe-explorer").all()
    before = picture(first)
    second.locator(".take").first.press("End")
    assert picture(first) == before != picture(second)
    assert first.get_by_role("slider").count() == 3
    page.close()


def test_the_browser_draws_what_is_stored(browser):
    """The same letters from the page's own script as from mini-racer's."""
    page = browser.new_page(java_script_enabled=True)
    for state in STATES:
        page.set_content(page_of(state._repr_html_()))
        stored = drawing.view(state._name, state._state())
        page.locator(".live").wait_for()
        same = """([svg, said]) => {
            const stored = document.createElementNS("http://www.w3.org/2000/svg", "g");
            stored.innerHTML = svg;
            const shown = document.querySelector(".picture").innerHTML;
            return shown === stored.innerHTML
                && document.querySelector(".line").textContent === said; }"""
        assert page.evaluate(same, [stored["svg"], stored["sentence"]]), state
    page.close()
