"""The explorers: what Python draws is true, and what the scripts compute is the same.

The second half plays with them in a real browser, by keyboard, and compares what
the readable sentence says with NumPy.
"""

import re
from collections import defaultdict
from dataclasses import fields
from html.parser import HTMLParser
from importlib.resources import files
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from pe_lib import explorers
from pe_lib.explorers import dial as dial_module
from pe_lib.explorers._explorer import Explorer

KINDS = [
    kind
    for kind in map(vars(explorers).get, explorers.__all__)
    if issubclass(kind, Explorer)
]
STATES = [
    explorers.Dial(k=3, position=25),
    *(kind() for kind in KINDS),
]
VOID = {"input"}

each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
each_state = pytest.mark.parametrize("state", STATES, ids=repr)


class Outline(HTMLParser):
    """Collects every element with its attributes, and refuses unbalanced tags."""

    def __init__(self, html):
        super().__init__()
        self.open, self.found = [], []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        assert len({name for name, _ in attrs}) == len(attrs)
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        assert "svg" in self.open  # only there does a slash close an element
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


# Without a browser


@each_state
def test_html_keeps_to_itself(state):
    """No ids, no inline handlers, no address: it can stand anywhere, many times."""
    html = state._repr_html_()
    assert html == state._repr_html_()
    assert html.startswith('<div class="pe-explorer ')
    assert not re.search(r"https?:|//|@import|url\(", html)
    for _, attributes in Outline(html).found:
        assert "id" not in attributes
        assert not any(name.startswith("on") for name in attributes)
        assert not any(value and "{" in value for value in attributes.values())


@each_state
def test_it_says_in_words_what_it_shows(state):
    assert eval(repr(state), vars(explorers)) == state
    html = state._repr_html_()
    line = '<output aria-live="polite"><span class="line">'
    assert f"{line}{state}</span>" in html
    pictures = [a for _, a in Outline(html).found if a.get("role") in ("img", "group")]
    assert pictures and max(len(a["aria-label"]) for a in pictures) > 30


@each_kind
@pytest.mark.parametrize("wrong", ["text", 2.0, True, None, -1000, 3.5, [1]])
def test_wrong_arguments_are_refused(kind, wrong):
    for field in fields(kind):
        flag = field.name in ("codes", "glide", "diagonals") and wrong is True
        if flag or (field.name, wrong) == ("k", None):
            continue
        with pytest.raises((TypeError, ValueError), match=f"^{field.name} must .*got "):
            kind(**{field.name: wrong})


@pytest.mark.parametrize(
    ("kind", "name", "lowest", "highest"),
    [
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


def numbers(text):
    """The numbers of a path, or of a list of texts."""
    text = text if isinstance(text, str) else " ".join(text)
    return np.array(re.findall(r"-?\d+(?:\.\d+)?", text.replace("−", "-")), dtype=float)


def off(dial, angle):
    """How far the arm of a dial is from an angle in radians, whole turns left out."""
    (degrees,) = numbers(dial.locator(".arm").get_attribute("transform"))
    return abs((np.radians(degrees) - angle + np.pi) % (2 * np.pi) - np.pi)


def turn_matrix(angles):
    """The matrix that turns each pair of columns by its angle."""
    W = np.zeros((2 * len(angles),) * 2)
    for j, angle in enumerate(angles):
        sin, cos = np.sin(angle), np.cos(angle)
        W[2 * j : 2 * j + 2, 2 * j : 2 * j + 2] = [[cos, sin], [-sin, cos]]
    return W


def heights(path):
    """Of bars that start at 75 or 175 and go up."""
    return -np.array(re.findall(r"v(-?[\d.]+)", path.get_attribute("d")), dtype=float)


# In a browser


def open_page(page, tmp_path, *states):
    """A page from a folder on disk with these explorers; faults raise at the end."""
    body = "\n".join(state._repr_html_() for state in states)
    path = tmp_path / "page.html"
    path.write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Explorers</title>'
        f'<meta name="viewport" content="width=device-width"><main>{body}</main>',
        encoding="utf-8",
    )
    page.goto(path.as_uri())
    assert page.messages == [path.as_uri()]
    page.messages.clear()
    return page


@pytest.fixture(scope="module")
def tabs():
    """Open tabs by their options: a new one takes longer than most tests."""
    return defaultdict(list)


@pytest.fixture
def play(browser, tabs, tmp_path):
    """Opens pages of explorers, and looks at their console in the end."""
    pages = []

    def new_tab(options):
        page = browser.new_context(**options).new_page()
        page.messages = []
        page.on("console", lambda message: page.messages.append(message.text))
        page.on("pageerror", lambda error: page.messages.append(str(error)))
        page.on("request", lambda request: page.messages.append(request.url))
        return page

    def play(*states, **options):
        idle = tabs[repr(options)]
        page = idle.pop() if idle else new_tab(options)
        pages.append((page, idle))
        return open_page(page, tmp_path, *states)

    yield play
    for page, idle in pages:
        assert page.messages == []
        page.mouse.move(0, 0)
        page.emulate_media(media="screen")
        page.goto("about:blank")
        page.messages.clear()
        idle.append(page)


def move(control, steps):
    """Move a slider by its arrow keys."""
    control.focus()
    for _ in range(abs(steps)):
        control.press("ArrowRight" if steps > 0 else "ArrowLeft")


def spot(piece, across=0.5, down=0.5):
    """The point at these shares of a piece's width and height, as the mouse has it."""
    piece.scroll_into_view_if_needed()
    box = piece.bounding_box()
    return box["x"] + across * box["width"], box["y"] + down * box["height"]


def around(dial, angle):
    """The point at that angle on a dial."""
    (x, y), box = spot(dial), dial.bounding_box()
    reach = 0.3 * min(box["width"], box["height"])
    return x + reach * np.sin(angle), y - reach * np.cos(angle)


def drag(page, start, *points):
    """Press at the first point, pass the others, let go at the last."""
    page.mouse.move(*start)
    page.mouse.down()
    for point in points:
        page.mouse.move(*point, steps=4)
    page.mouse.up()


def start_again(page, words, css=".line"):
    """Press the button, and wait for what stands there in the beginning."""
    page.get_by_role("button", name="Start again").press("Enter")
    page.locator(css).filter(has_text=words).wait_for()


def sentence(page, number=0):
    return page.locator(".pe-explorer .line").nth(number).text_content()


def script(name):
    """What a test runs in the page: a file of the folder ``in_page``."""
    path = Path(__file__).with_name("in_page") / f"{name}.js"
    return path.read_text(encoding="utf-8")


def slider(page, name, number=0):
    return page.get_by_role("slider", name=name, exact=True).nth(number)


def same_drawing(page):
    """Whether the first two explorers of a page show the same."""
    return page.evaluate(script("same_drawing"))


def everywhere(page, **values):
    """Each setting of some controls, with all that the explorer shows there."""
    settings = [
        dict(zip(values, each, strict=True)) for each in product(*values.values())
    ]
    for setting, shown in zip(
        settings, page.evaluate(script("every"), settings), strict=True
    ):
        yield tuple(setting.values()), SimpleNamespace(**shown)


@each_state
def test_script_redraws_what_python_drew(play, state):
    """Set the first state's controls without moving them: not a letter changes."""
    page = play(state, state, reduced_motion="reduce")
    page.locator("form").first.dispatch_event("input")
    assert same_drawing(page) is True


PULLED = """pieces => pieces.forEach((piece) => {
  piece.ends = [];
  for (const end of ["pointercancel", "pointerup"])
    piece.addEventListener(end, () => piece.ends.push(end));
})"""


@each_kind
def test_a_finger_goes_round(play, kind):
    """Whole rounds, up and down too: the page does not take the finger away."""
    page = play(kind(), has_touch=True, viewport={"width": 390, "height": 700})
    page.add_style_tag(content="body { padding: 400px 0; }")
    pieces = page.locator(".turns, .pe-patches .map")
    pieces.evaluate_all(PULLED)
    send = page.context.new_cdp_session(page).send
    for piece in pieces.all():
        below = "x.closest('form') ? 'end' : 'center'"  # of the drawing, which stays
        piece.evaluate(f"x => x.scrollIntoView({{ block: {below} }})")
        (x, y), top = spot(piece), page.evaluate("scrollY")
        reach = 0.35 * min(piece.bounding_box()[side] for side in ("width", "height"))
        for step, angle in enumerate(np.linspace(0, 4 * np.pi, 40)):
            finger = {"x": x + reach * np.sin(angle), "y": y - reach * np.cos(angle)}
            phase = "touchMove" if step else "touchStart"
            send("Input.dispatchTouchEvent", {"type": phase, "touchPoints": [finger]})
        send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        assert piece.evaluate("x => x.ends") == ["pointerup"]
        assert page.evaluate("scrollY") == top


def dial_shows(page, k, t):
    """Compare all that Dial shows with NumPy, for the text on the page."""
    words = page.locator(".words span").all_text_contents()
    text = [dial_module.VOCABULARY.index(word) for word in words]
    found = dial_module.answer(text, k)
    named, looked = found.chances[t].argmax(), found.second[t].argmax()
    upper, lower = page.locator(".plot path.now").all()
    for path, weights in ((upper, found.second[t]), (lower, found.first[looked])):
        tops = re.findall(r"V([\d.]+)", path.get_attribute("d"))
        np.testing.assert_allclose(60 - numbers(tops), 44 * weights, atol=0.051)
    above = page.locator(".plot text").all_text_contents()
    brought = words[found.first[looked].argmax()]
    assert above[0] == f"second layer: {words[t]} looks at {words[looked]}"
    assert above[1] == f"first layer: brought {brought} to {words[looked]}"
    assert page.locator(".words .at").all_text_contents() == [words[t]]
    if looked != t:
        assert page.locator(".words .aim").all_text_contents() == [words[looked]]
    name = dial_module.VOCABULARY[named]
    (sure,) = re.findall(r"It is (\d+) % sure", sentence(page))
    assert abs(float(sure) - 100 * found.chances[t, named]) < 0.51
    how = "As trained" if k is None else f"With T({k})"
    start = f"{how}: after {words[t]} the model names {name}"
    assert sentence(page).startswith(start)
    return text, found


def test_dial_by_keyboard(play):
    """All that it computes is what NumPy computes with the same rounded matrices."""
    page = play(explorers.Dial())
    k, t, reached = slider(page, "the dial, k"), 23, page.locator(".reached")
    dial_shows(page, None, t)
    for step, now in ((-1, 0), (3, 3), (1, 4), (-2, 2), (-1, 1)):
        move(k, step)
        dial_shows(page, now, t)
        assert reached.is_visible() == (now == 3)
        assert sentence(page).endswith(f" 7 of 7 answers are {now} after the match.")
    move(slider(page, "word that asks"), -13)
    dial_shows(page, 1, t - 13)
    word = page.locator(".words .at").text_content()
    assert f". {word} has not stood here before." in sentence(page)
    page.locator(".words span").nth(t).click()
    dial_shows(page, 1, t)
    start_again(page, "As trained: after Tuesday")
    dial_shows(page, None, t)
    for _ in range(3):
        page.get_by_role("button", name="Another text").press("Enter")
        t = int(slider(page, "word that asks").input_value())
        text, _ = dial_shows(page, None, t)
        assert text.index(text[t]) < t
        assert set(map(text.count, text)) == {1, 2}


def test_each_fits_a_phone(play):
    """All of it on one screen, and the drawing stays in sight above its controls."""
    for kind in KINDS:
        page = play(kind(), viewport={"width": 390, "height": 844})
        as_there = "body { margin: 0 16px; font: 16px/1.4 serif }"
        page.add_style_tag(content=f"{as_there} .pe-explorer[class] {{ padding: 0 }}")
        height = "document.querySelector('.pe-explorer').offsetHeight"
        assert page.evaluate(height) <= 860, kind  # 833 in the book's own letters
        stage = page.locator(".stage").evaluate("x => getComputedStyle(x).position")
        assert stage == "sticky"


def test_dial_knows_which_words_have_stood_before():
    """The matches of the first text; and what is packed is read back."""
    text, match = dial_module.first_text()
    for t, at in enumerate(match):
        assert at == (text.index(text[t]) if text.index(text[t]) < t else -1)
    assert len(set(dial_module.VOCABULARY)) == 128
    again = dial_module.packed(dial_module.matrices())
    assert again.splitlines()[1] == dial_module._lines()[1]
    changed = dial_module.matrices() | {"W1": 2 * dial_module.matrices()["W1"]}
    assert dial_module.packed(changed).splitlines()[1] == again.splitlines()[1]
    assert dial_module.packed(changed).splitlines()[0] != again.splitlines()[0]


def served(scores):
    """Where each query from 1 on looks, as a list, and how many look one back."""
    looks = [list(np.flatnonzero(row > row.max() - 1e-9)) for row in scores[1:]]
    return looks, sum(at == [t] for t, at in enumerate(looks))


def lamps_show(page, scores):
    """Compare the lamps with the scores that pe_lib's codes have."""
    looks, right = served(scores)
    lamps = page.locator(".lamps span")
    states = lamps.evaluate_all("lamps => lamps.map((x) => x.dataset.is)")
    for t, (at, text, state) in enumerate(
        zip(looks, lamps.all_text_contents(), states, strict=True)
    ):
        assert text == f"{t + 1} → {', '.join(map(str, at))}"
        assert state == ("yes" if at == [t] else "part" if t in at else "no")
    if page.locator("dd").count():
        shown = page.locator("dd").first.text_content()
        assert shown == f"{right} of {len(looks)}"
    return right


def rounds_table(n):
    """Dials of 2, 4 and 8 words a round, each as sine and cosine."""
    angles = 2 * np.pi * np.arange(n)[:, np.newaxis] / (2, 4, 8)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, 6)


# All of them


AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


@each_kind
def test_axe_finds_nothing(play, kind):
    """In both colours; nothing is wider than a small phone, moves, or asks on paper."""
    page = play(kind(), reduced_motion="reduce", viewport={"width": 320, "height": 640})
    moving = "[...document.querySelectorAll('*')].map(x => getComputedStyle(x))"
    assert page.evaluate(f"{moving}.every((x) => x.transitionDuration == '0s')")
    page.locator(".reached").evaluate("x => (x.hidden = false)")
    page.evaluate(AXE)
    run = "options => axe.run({...options, preload: false}).then((r) => r.violations)"
    for scheme, options in (
        ("light", {"rules": {"page-has-heading-one": {"enabled": False}}}),
        ("dark", {"runOnly": ["color-contrast"]}),  # all else is as it was
    ):
        page.add_style_tag(content=f":root {{ color-scheme: {scheme} }}")
        assert page.evaluate(run, options) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.emulate_media(media="print")
    assert page.locator("form").is_hidden() and page.locator(".stage").is_visible()


def test_forced_colours_are_the_systems(play):
    page = play(explorers.LookBack(), forced_colors="active")
    stroke = "x => getComputedStyle(x).stroke"
    system = page.evaluate("getComputedStyle(document.body).color")
    assert page.locator(".arm path").first.evaluate(stroke) == system


@each_kind
def test_every_control_is_reached_and_labelled(play, kind):
    """By Tab, with a name, large enough for a finger; Enter sends nothing."""
    page = play(kind(), viewport={"width": 390, "height": 844}, has_touch=True)
    address = page.url
    css = "[tabindex='0']:visible, form input:visible, form button:visible"
    controls = page.locator(css).all()
    for control in controls:
        if control.get_attribute("type") == "radio" and not control.is_checked():
            continue  # the arrow keys lead there
        page.keyboard.press("Tab")
        assert control.evaluate("control => control === document.activeElement")
        page.keyboard.press("Enter")
    for control in controls:
        # JupyterLab takes the arrow keys for itself otherwise.
        assert control.get_attribute("data-lm-suppress-shortcuts")
        name = control.evaluate(
            "x => x.ariaLabel || ['fieldset', 'label', '*'].map((css) =>"
            " x.closest(css)).find((found) => found).textContent.trim()"
        )
        assert len(name) > 3
        box = control.evaluate(
            "x => (x.closest('label') || x).getBoundingClientRect().toJSON()"
        )
        assert box["height"] >= 44 and box["width"] >= 44
    page.evaluate("document.forms[0].requestSubmit()")  # as Enter does elsewhere
    assert page.url == address


@each_kind
def test_two_of_a_kind_do_not_meddle(play, kind):
    page = play(kind(), kind(), reduced_motion="reduce")
    stages = page.locator(".stage")
    first = stages.nth(0).inner_html()
    css = "input:visible:not(:checked), .hand[role=slider], .point"
    control = page.locator(".pe-explorer").nth(1).locator(css).first.element_handle()
    control.press("ArrowRight")
    control.press("Space")
    assert stages.nth(0).inner_html() == first != stages.nth(1).inner_html()


@each_kind
def test_without_a_script_it_is_a_true_picture(play, kind):
    page = play(kind(), java_script_enabled=False)
    assert page.locator(".stage").is_visible() and sentence(page) == str(kind())
    assert page.locator("form").is_hidden()
