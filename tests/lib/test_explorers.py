"""The explorers: what Python draws is true, and what the scripts compute is the same.

The second half plays with them in a real browser, by keyboard, and compares what
the readable sentence says with NumPy.
"""

import re
from dataclasses import fields
from html.parser import HTMLParser
from itertools import pairwise, product
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_hex
from test_import import loads

from pe_lib import angular_frequencies, explorers, plotting, shift_matrix, sinusoidal
from pe_lib.attention import attention, head_weights, hit_rate, look_back
from pe_lib.explorers.heat_map import COLOURS
from pe_lib.geometry import first_rise, similarity
from pe_lib.naive import binary, dials

KINDS = [getattr(explorers, name) for name in explorers.__all__]
STATES = [
    *(explorers.LookBack(code=c) for c in explorers.LookBack.CODES),
    explorers.LookBack(code="sinusoid", query=3),
    explorers.Rotation(position=40, offset=-24),
    explorers.Rotation(offset=0),
    explorers.DotProduct(d_model=2, base=2),
    explorers.DotProduct(d_model=512, base=1_000_000),
    explorers.HeatMap(base=256, position=31),
    explorers.HeatMap(d_model=4, base=100, position=0),
    explorers.Shuffle(codes=True),
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


def test_explorers_need_numpy_alone():
    assert loads("pe_lib.explorers") == {"numpy", "pe_lib"}


@each_state
def test_html_is_small_and_keeps_to_itself(state):
    """No ids, no inline handlers, no address: it can stand anywhere, many times."""
    html = state._repr_html_()
    assert html == state._repr_html_()
    assert html.startswith('<div class="pe-explorer ')
    if state == type(state)():
        assert len(html.encode()) <= 6144
    assert not re.search(r"https?:|//|@import|url\(", html)
    for _, attributes in Outline(html).found:
        assert "id" not in attributes
        assert not any(name.startswith("on") for name in attributes)
        assert not any(value and "{" in value for value in attributes.values())
    (script,) = re.findall(r"<script>\n(.*?)</script>", html, re.DOTALL)
    assert re.fullmatch(
        r"document\.querySelectorAll\(.*?\)\.forEach\(\(root\) => \{\n.*\}\);\n",
        script,
        re.DOTALL,
    )


@each_state
def test_it_says_in_words_what_it_shows(state):
    assert eval(repr(state), vars(explorers)) == state
    html = state._repr_html_()
    assert f'<output aria-live="polite">{state}</output>' in html
    (svg,) = [a for tag, a in Outline(html).found if tag == "svg"]
    assert svg["role"] == "img" and len(svg["aria-label"]) > 40


@each_kind
@pytest.mark.parametrize("wrong", ["text", 2.0, True, None, -1000, 3.5, [1]])
def test_wrong_arguments_are_refused(kind, wrong):
    for field in fields(kind):
        if (field.name, wrong) == ("codes", True):
            continue
        with pytest.raises((TypeError, ValueError), match=f"^{field.name} must .*got "):
            kind(**{field.name: wrong})


@pytest.mark.parametrize(
    ("kind", "name", "lowest", "highest"),
    [
        (explorers.LookBack, "query", 3, 15),
        (explorers.Rotation, "position", 0, 40),
        (explorers.Rotation, "offset", -24, 24),
        (explorers.HeatMap, "position", 0, 31),
    ],
)
def test_ranges_include_their_ends(kind, name, lowest, highest):
    for inside in (lowest, highest):
        kind(**{name: inside})
    for outside in (lowest - 1, highest + 1):
        with pytest.raises(ValueError, match=f"got {outside}"):
            kind(**{name: outside})


def test_colours_are_those_of_the_figures():
    style = explorers.LookBack()._repr_html_().partition("</style>")[0]
    named = {plotting.BLUE, plotting.ORANGE, plotting.GREEN, plotting.GREY}
    assert set(re.findall(r"#[0-9a-f]{6}", style)) == named
    scale = matplotlib.colormaps["RdBu_r"](np.linspace(0, 1, len(COLOURS)))
    assert [to_hex(colour) for colour in scale] == list(COLOURS)


def head(code, knobs):
    """A code's table and the W that the controls of its head make."""
    t = np.arange(16)
    tables = {
        "counting": t[:, np.newaxis],
        "binary": binary(t, 4, centered=True),
        "dials": dials(t, 6)[:, 2:],
        "sinusoid": sinusoidal(t, 32),
    }
    table = tables[code]
    W = np.zeros((table.shape[1] + 1,) * 2)
    if code == "counting":
        W[1, 0] = knobs[0]
    elif code == "sinusoid":
        W[:-1, :-1] = knobs[1] * shift_matrix(knobs[0], 32)
    else:
        np.fill_diagonal(W[:-1, :-1], knobs)
    return table, W


def looks(code, knobs, query):
    """The sentence of LookBack, from pe_lib.attention."""
    weights = head_weights(*head(code, knobs))
    row = weights[query]
    best = np.flatnonzero(row > row.max() * (1 - 1e-9))
    if len(best) > 1:
        said = f"cannot decide between {len(best)} positions."
    else:
        aim = "three back" if best[0] == query - 3 else f"not at {query - 3}"
        said = f"looks most at {best[0]} (weight {row[best[0]]:.2f}), {aim}."
    hits = round(13 * hit_rate(weights, look_back(3)(16)))
    won = " You win." if hits == 13 else ""
    return f"Position {query} {said} Right: {hits} of 13 positions.{won}"


FIRST = {"counting": [0.5], "binary": [1] * 4, "dials": [1] * 4, "sinusoid": [0, 1]}


@pytest.mark.parametrize("code", FIRST)
def test_look_back_draws_what_the_head_does(code):
    for query in (3, 8, 15):
        state = explorers.LookBack(code=code, query=query)
        assert str(state) == looks(code, FIRST[code], query)
        bars = re.search(r'class="now blue"[^>]* d="([^"]+)"', state._repr_html_())
        tops = [float(top) for top in re.findall(r"V([\d.]+)", bars[1])]
        weights = head_weights(*head(code, FIRST[code]))[query]
        np.testing.assert_allclose(105 - np.array(tops), 90 * weights, atol=0.051)


def test_counting_and_binary_cannot_win():
    """What the chapter says of the game: 1 and 4 of 13 at best, 13 with sinusoid."""

    def best(code, settings):
        return max(
            round(13 * hit_rate(head_weights(*head(code, s)), look_back(3)(16)))
            for s in settings
        )

    assert best("counting", [[slope] for slope in np.linspace(-2, 2, 41)]) == 1
    # A bit's weight decides by its sign alone.
    assert best("binary", product((-1, 0, 1), repeat=4)) == 4
    assert best("sinusoid", [(3, 0.5)]) == 13


# In a browser


def open_page(browser, tmp_path, *states, **options):
    """A page from a folder on disk with these explorers; faults raise at the end."""
    body = "\n".join(state._repr_html_() for state in states)
    path = tmp_path / "page.html"
    path.write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Explorers</title>'
        f'<meta name="viewport" content="width=device-width"><main>{body}</main>',
        encoding="utf-8",
    )
    page = browser.new_context(**options).new_page()
    page.said = []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("request", lambda request: page.said.append(request.url))
    page.goto(path.as_uri())
    assert page.said == [path.as_uri()]
    page.said.clear()
    return page


@pytest.fixture
def play(browser, tmp_path):
    """Opens pages of explorers, and looks at their console in the end."""
    pages = []

    def play(*states, **options):
        pages.append(open_page(browser, tmp_path, *states, **options))
        return pages[-1]

    yield play
    for page in pages:
        assert page.said == []
        page.context.close()


def move(control, steps):
    """Move a slider by its arrow keys."""
    control.focus()
    for _ in range(abs(steps)):
        control.press("ArrowRight" if steps > 0 else "ArrowLeft")


def sentence(page, number=0):
    return page.locator(".pe-explorer output").nth(number).text_content()


def script(name):
    """What a test runs in the page: a file of the folder ``in_page``."""
    path = Path(__file__).with_name("in_page") / f"{name}.js"
    return path.read_text(encoding="utf-8")


def slider(page, name, number=0):
    return page.get_by_role("slider", name=name, exact=True).nth(number)


def same_drawing(page):
    """Whether the first two explorers of a page show the same."""
    return page.evaluate(script("same_drawing"))


@each_state
def test_script_redraws_what_python_drew(play, state):
    """Set the first state's controls without moving them: not a letter changes."""
    page = play(state, state)
    page.locator("form").first.dispatch_event("input")
    assert same_drawing(page) is True


def test_look_back_by_keyboard(play):
    page = play(explorers.LookBack())
    assert sentence(page) == looks("counting", [0.5], 11)
    move(slider(page, "slope"), -4)
    assert sentence(page) == looks("counting", [0.1], 11)  # a small lead is one
    move(slider(page, "slope"), -4)
    assert sentence(page) == looks("counting", [-0.3], 11)
    assert page.locator("b:visible").all_text_contents() == ["11", "−0.3"]
    move(slider(page, "position"), -8)
    assert sentence(page) == looks("counting", [-0.3], 3)
    assert "Right: 1 of 13" in sentence(page)  # as far as counting gets

    page.get_by_role("radio", name="counting").press("ArrowRight")
    assert sentence(page) == looks("binary", [1, 1, 1, 1], 3)
    for name, steps in [("fastest", -4), ("second", -6), ("third", 1)]:
        move(slider(page, f"weight, {name}"), steps)
    assert sentence(page) == looks("binary", [-1, -2, 1.5, 1], 3)
    assert "Right: 4 of 13" in sentence(page)
    move(slider(page, "weight, slowest"), -2)
    assert sentence(page) == looks("binary", [-1, -2, 1.5, 0], 3)
    assert "cannot decide between 2" in sentence(page)

    page.get_by_role("radio", name="binary").press("ArrowRight")
    assert sentence(page) == looks("dials", [-1, -2, 1.5, 0], 3)
    move(slider(page, "position"), 6)
    assert sentence(page) == looks("dials", [-1, -2, 1.5, 0], 9)

    page.get_by_role("radio", name="dials").press("ArrowRight")
    assert sentence(page) == looks("sinusoid", [0, 1], 9)
    move(slider(page, "offset k"), 2)
    assert sentence(page) == looks("sinusoid", [2, 1], 9)
    move(slider(page, "offset k"), 1)
    move(slider(page, "sharpness"), 9)
    assert sentence(page) == looks("sinusoid", [3, 5.5], 9)
    assert sentence(page).endswith("Right: 13 of 13 positions. You win.")
    move(slider(page, "sharpness"), -11)
    assert sentence(page) == looks("sinusoid", [3, 0], 9)
    assert "cannot decide between 16" in sentence(page)


def test_look_back_draws_bars_and_dots(play):
    page = play(explorers.LookBack(code="sinusoid"))
    move(slider(page, "offset k"), 3)
    drawn = [path.get_attribute("d") for path in page.locator(".now").all()]
    tops = [float(top) for top in re.findall(r"V([\d.]+)", drawn[0])]
    weights = head_weights(*head("sinusoid", [3, 1]))[11]
    np.testing.assert_allclose(105 - np.array(tops), 90 * weights, atol=0.051)
    assert drawn[1].count("M") == 13 and not drawn[2]
    assert "green" in page.locator(".now").first.get_attribute("class")
    assert page.locator("svg g").get_attribute("transform") == "translate(220)"


def test_rotation_by_keyboard(play):
    target = explorers.Rotation(position=5, offset=-7)
    page = play(explorers.Rotation(), target)
    entries = page.locator(".entry")
    before = entries.all_text_contents()
    move(slider(page, "position"), 3)
    assert entries.all_text_contents() == before  # T(k) does not ask where
    move(slider(page, "offset k"), -10)
    assert same_drawing(page) is True
    T = shift_matrix(-7, 6, base=50)
    found = [float(x.replace("−", "-")) for x in entries.all_text_contents()[:12]]
    blocks = [T[i : i + 2, i : i + 2].ravel() for i in (0, 2, 4)]
    np.testing.assert_allclose(found, np.concatenate(blocks), atol=0.0051)
    turns = -7 * angular_frequencies(6, base=50)
    said = re.findall(r"−?\d+\.\d\d", sentence(page))
    said = [float(number.replace("−", "-")) for number in said]
    np.testing.assert_allclose(said[:3], turns, atol=0.0051)
    np.testing.assert_allclose(said[3:], T[:2, :2].ravel(), atol=0.0051)
    assert "T(−7) takes position 5 to −2" in sentence(page)


def test_rotation_moves_the_hands(play):
    """The tips of the blue hands are the code of the position where they arrive."""
    page = play(explorers.Rotation())
    move(slider(page, "offset k"), 4)
    tips = [
        re.findall(r"-?\d+\.\d", hand.get_attribute("d"))
        for hand in page.locator("svg .now.blue").all()
    ]
    code = sinusoidal(9, 6, base=50).reshape(3, 2) * [44, -44]
    np.testing.assert_allclose(np.array(tips, dtype=float), code, atol=0.051)


def test_dot_product_by_keyboard(play):
    page = play(explorers.DotProduct(), explorers.DotProduct(d_model=512, base=256))
    move(slider(page, "numbers, d"), 3)
    move(slider(page, "base"), -2)
    assert same_drawing(page) is True
    assert slider(page, "base").get_attribute("aria-valuetext") == "256"
    assert "first rises from offset 43 to 44" in sentence(page)


def test_dot_product_everywhere(play):
    """All widths and bases that the sliders reach, against pe_lib.geometry."""
    page = play(explorers.DotProduct())
    said = page.evaluate(script("every_dot_product"))
    bases = (2, 4, 16, 100, 256, 1000, 10_000, 100_000, 1_000_000)
    expected = []
    for d, base in product(2 ** np.arange(1, 10), bases):
        k = first_rise(d, base=base)
        rises = sum(b > a for a, b in pairwise(similarity(range(101), d, base=base)))
        expected.append(
            f"{d} numbers, base {base:,}: first rises from offset {k} to {k + 1}."
            f" Rises {rises} times in 100."
        )
    assert said == expected


def test_heat_map_by_keyboard(play):
    target = explorers.HeatMap(d_model=8, base=16, position=13)
    page = play(explorers.HeatMap(), target)
    move(slider(page, "position"), 7)
    move(slider(page, "numbers, d"), -1)
    move(slider(page, "base"), -4)
    assert same_drawing(page) is True
    factor, said = re.search(r"is ([\d.]+) times.*code (.*)\.", sentence(page)).groups()
    speeds = angular_frequencies(8, base=16)
    assert float(factor) == speeds[0] / speeds[1] == 2
    code = [float(number.replace("−", "-")) for number in said.split()]
    np.testing.assert_allclose(code, sinusoidal(13, 8, base=16), atol=0.0051)
    assert "Position 13: digits 1 0 1 1 0," in sentence(page)

    levels = np.full((8, 32), -1)
    paths = page.locator(".pe-explorer").first.locator(".now").all()
    for level, path in enumerate(paths):
        for x, y, width in re.findall(r"M(\d+) (\d+)h(\d+)", path.get_attribute("d")):
            cells = slice(int(x), int(x) + int(width))
            assert (levels[int(y), cells] == -1).all()
            levels[int(y), cells] = level
    table = sinusoidal(np.arange(32), 8, base=16).T
    assert np.abs(levels / 4 - 1 - table).max() < 0.126


def test_shuffle_by_keyboard(play):
    page = play(explorers.Shuffle())
    names, order = ["dog", "bites", "man"], [0, 1, 2]
    vectors = np.array([[1.0, 0], [1, 1], [0, -1]])

    def expected(codes):
        X = vectors[order] + (sinusoidal([0, 1, 2], 2) if codes else 0)
        first = vectors + (sinusoidal([0, 1, 2], 2) if codes else 0)
        now, then = attention(X, X, X)[0], attention(first, first, first)[0]
        numbers = [
            [f"{x + 0:.2f}".replace("-", "−") for x in row]
            for row in np.hstack([X, now])
        ]
        boxes = page.locator("svg > g").evaluate_all(script("numbers_shown"))
        assert [boxes[word] for word in order] == numbers
        words = [" ".join([names[order[t]], *numbers[t][2:]]) for t in range(3)]
        changed = [
            names[w]
            for w in range(3)
            if np.abs(now[order.index(w)] - then[w]).max() > 0.005
        ]
        verdict = "no number changed, they moved along"
        if order == [0, 1, 2]:
            verdict = "the order to compare with"
        elif changed:
            verdict = f"changed: {', '.join(changed)}"
        return f"{', '.join(words)}: {verdict}."

    assert sentence(page) == expected(codes=False)
    for codes in (False, True):
        for place in (0, 1, 0, 1, 0, 1):
            name = "swap first two" if place == 0 else "swap last two"
            page.get_by_role("button", name=name).press("Enter")
            order[place], order[place + 1] = order[place + 1], order[place]
            assert sentence(page) == expected(codes)
            shown = page.locator("svg > g").evaluate_all(
                "groups => groups.map((g) => parseFloat(g.style.transform.slice(11)))"
            )
            assert list(np.argsort(shown)) == order
        page.get_by_role("checkbox", name="add position codes").press("Space")
        assert sentence(page) == expected(not codes)


@each_kind
def test_every_control_is_reached_and_labelled(play, kind):
    """By Tab, with a name, large enough for a finger; Enter sends nothing."""
    page = play(kind(), viewport={"width": 390, "height": 844}, has_touch=True)
    address = page.url
    controls = page.locator("form input:visible, form button:visible").all()
    for control in controls:
        if control.get_attribute("type") == "radio" and not control.is_checked():
            continue  # the arrow keys lead there
        page.keyboard.press("Tab")
        assert control.evaluate("control => control === document.activeElement")
        page.keyboard.press("Enter")
    for control in controls:
        # JupyterLab takes the arrow keys for itself otherwise.
        assert control.get_attribute("data-lm-suppress-shortcuts")
        name = control.evaluate("x => (x.closest('label') || x).textContent.trim()")
        assert len(name) > 3
        box = control.evaluate(
            "x => (x.closest('label') || x).getBoundingClientRect().toJSON()"
        )
        assert box["height"] >= 44 and box["width"] >= 44
    page.evaluate("document.forms[0].requestSubmit()")  # as Enter does elsewhere
    assert page.url == address
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@each_kind
def test_two_of_a_kind_do_not_meddle(play, kind):
    page = play(kind(), kind())
    first = sentence(page, 0)
    control = page.locator("form").nth(1).locator("button, [type=range]:visible").first
    control.press("ArrowLeft")
    control.press("Enter")
    assert sentence(page, 0) == first != sentence(page, 1)


@each_kind
def test_without_a_script_it_is_a_true_picture(play, kind):
    page = play(kind(), java_script_enabled=False)
    assert page.locator("svg").is_visible() and sentence(page) == str(kind())
    assert page.locator("form").is_hidden()


@each_kind
def test_print_and_reduced_motion(play, kind):
    page = play(kind(), reduced_motion="reduce")
    moving = "[...document.querySelectorAll('*')].map(x => getComputedStyle(x))"
    assert page.evaluate(f"{moving}.every((x) => x.transitionDuration == '0s')")
    page.emulate_media(media="print")
    assert page.locator("form").is_hidden() and page.locator("svg").is_visible()


def test_touch_moves_a_slider(play):
    page = play(explorers.Rotation(), has_touch=True)
    box = slider(page, "offset k").bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] - 3, box["y"] + box["height"] / 2)
    assert "T(24)" in sentence(page) or "T(23)" in sentence(page)
