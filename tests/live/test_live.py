"""Chapters that run in the browser: they show what is stored; changes, and faults."""

import contextlib
import functools
import http.server
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.live import steps
from tests.website import site_checks as checks
from tests.website.site_checks import Site, Visit
from website import answers, manuscript
from website.live import extension, inside

PAGE = "book/beyond/relative"
TORCH = "book/pytorch/module"
POCKET, TERMS = 2, 5  # cells of PAGE: a small print, and one that others rest on
CHECKED = 4  # a cell of PAGE in the fold of its check
SIZES = 10  # a cell of PAGE that prints how many queries there are
EXERCISE = "ex-relative-wrong"
ANSWER = "def wrong(n):\n    return n * (n {} 1) // 2"
RUNNING = [p.name for p in manuscript.read().notebooks if not extension.lacking(p.name)]
NOT_HERE = {"book/fine_print/exact_tables": 2}
"""Cells that need ml_dtypes beyond rounding, and say so."""
CELLS = len(manuscript.read().pages[PAGE].code_cells)
ON_A_CHANGE = ("book/sinusoidal/rotation_deeper", "book/beyond/images")
"""One that fetches SymPy, and one without; PAGE is run anyway."""
GROWTH = 10 * checks.KB
FIRST_VISIT = 35_000 * checks.KB

needs_engine = pytest.mark.skipif(not extension.engine(), reason=steps.NOTHING)


@pytest.fixture(scope="module")
def seen(browser: Any, site: Site) -> Iterator[Visit]:
    """The chapter, where all cells have run, and give what is stored."""
    with checks.visit(browser, site, site.url(PAGE)) as visit:
        steps.begin(visit.page)
        message = steps.rest(visit.page)
        assert message == f"All {CELLS} cells give what was proved, figures included."
        assert_as_stored(visit, PAGE)
        yield visit


@pytest.fixture
def page(seen: Visit) -> Iterator[Any]:
    """The same, put back afterwards."""
    yield seen.page
    if seen.page.locator(".live-buttons button", has_text="Reset all").is_visible():
        seen.page.once("dialog", lambda dialog: dialog.accept())
        seen.page.locator(".live-buttons button", has_text="Reset all").click()


def write(page: Any, cell: int, text: str) -> None:
    """Replace the code of a cell."""
    page.evaluate(steps.UNFOLD)
    steps.editor(page, cell).fill(text)


def axe_faults(page: Any, *places: str) -> list[tuple[str, str]]:
    """What axe finds in some places, each with where it begins."""
    run = f"axe.run({{ include: {json.dumps(places)} }})"
    found = page.evaluate(f"{{ {checks.axe()} }} {run}.then(r => r.violations)")
    return [(fault["id"], fault["nodes"][0]["html"][:200]) for fault in found]


# What needs no engine


def test_bfloat16_is_rounded_as_by_ml_dtypes() -> None:
    """Any 32 bits, halves of a step, and integers."""
    bits = np.random.default_rng(0).integers(0, 2**32, 200_000, dtype=np.uint32)
    halves = np.arange(0, 2**32, 2**15, dtype=np.uint64).astype(np.uint32)
    with np.errstate(invalid="ignore"):
        for values in (
            bits.view(np.float32),
            halves.view(np.float32),
            np.arange(70_000),
        ):
            right = values.astype(ml_dtypes.bfloat16).astype(np.float32)
            assert np.array_equal(inside.to_bfloat16(values), right, equal_nan=True)


def test_what_a_chapter_lacks() -> None:
    """PyTorch is found also where the book's own modules bring it."""
    assert extension.lacking(PAGE) == ""
    assert extension.lacking(TORCH) == "PyTorch"
    assert (
        extension.lacking("book/beyond/far") == "PyTorch"
    )  # through pe_lib.experiments


def test_without_the_engine(monkeypatch: Any, tmp_path: Path) -> None:
    """Not there, or cut short: the site is built without the button, and that is said.

    Nothing that an earlier build left of it stays there.
    """
    lines: list[str] = []
    monkeypatch.setattr(
        extension.logger, "info", lambda *words: lines.append(str(words[0]))
    )
    monkeypatch.setattr(extension, "ENGINE", tmp_path)
    extension.engine.cache_clear()
    assert extension.engine() == {} and not extension.runs(PAGE)
    extension.say_so(None)
    assert len(lines) == 1 and "without" in lines[0]
    folder = tmp_path / extension.FOLDER
    folder.mkdir(parents=True)
    app = SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=tmp_path)
    extension.write_files(app, None)
    assert not folder.exists()
    about = '{"files": {"python": {"file": "python.gz", "bytes": 3}}}'
    (tmp_path / "engine.json").write_text(about, encoding="utf-8")
    for content, there in ((b"ab", False), (b"abc", True)):
        (tmp_path / "python.gz").write_bytes(content)
        extension.engine.cache_clear()
        assert bool(extension.engine()) == there
    monkeypatch.undo()
    extension.engine.cache_clear()


@needs_engine
def test_the_first_visit_is_light() -> None:
    """Up to the first cell; the button's number holds what cells fetch beside it."""
    first = sum(extension.engine()[key]["bytes"] for key in extension.FIRST_FILES)
    weights = {name: extension.weight(name) for name in RUNNING}
    assert len(weights) > 15 and first <= min(weights.values()) and first <= FIRST_VISIT
    assert f"{-(-weights[PAGE] // 1_000_000)} MB" in extension.start(PAGE)


def test_a_large_figure_and_a_large_value_are_cut(capfd: Any) -> None:
    """Not only text: the first that is too much is told, once, and no more is sent."""
    inside.forget()
    table = "class T:\n  _repr_html_ = lambda self: 'x' * 3_000_000\n"
    shown = "inside.show_values(T(), T(), T(), 'y' * 900_000, 1)"
    assert inside.run(f"from website.live import inside\n{table}{shown}", "cell 1")
    events = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [event["kind"] for event in events] == ["html", "cut", "value", "cut"]
    assert [event.get("what") for event in events[1::2]] == ["html", "text"]
    assert len(events[2]["text"]) == inside.MOST


def test_a_cell_runs_again_with_the_names_above_it() -> None:
    """Also with functions that read them; the first of all runs with none."""
    inside.forget()
    for number, source in enumerate(("a = 1\ndef f(): return a", "a = 2; b = 3"), 1):
        assert inside.run(source, f"cell {number}")
        inside.keep()
    inside.again(1)
    assert inside.run("assert f() == a == 1 and 'b' not in dir()", "cell 2")
    inside.again(0)
    assert inside.run("assert 'a' not in dir()", "cell 1")


@pytest.mark.parametrize(
    ("source", "quoted"),
    [
        ("assert n == 29_503", True),
        ("assert m.round(1) == 4.3", True),
        ("assert abs(m - 0.58) < 0.005", True),
        ("assert np.allclose([m, n], [2, 3])", True),
        ("assert n == 1\nassert n == 29_503", False),
        ("assert n == 29_503\nassert n > 8", False),
        ("assert m > n", False),
        ("assert set() == {n}", False),
        ("n.nothing", False),
    ],
)
def test_a_quoted_number_is_no_claim(source: str, quoted: bool, capfd: Any) -> None:
    """By what it is compared with; where both fail, the claim counts."""
    inside.forget()
    assert inside.run("import numpy as np\nm, n = np.float64(4.0), 7", "cell 1")
    assert not inside.run(source, "cell 2", goes_on=True)
    events = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [event["quoted"] for event in events] == [quoted]


def test_an_assertion_that_is_tried_is_heard(capfd: Any) -> None:
    """By its own handler; and a pause lasts as long as it says."""
    inside.forget()
    source = "try:\n    assert 0\nexcept AssertionError:\n    heard = 1\nassert heard"
    assert inside.run(source, "cell 1", goes_on=True)
    source = "try:\n    assert 0, 'no'\nexcept KeyError:\n    pass"
    assert not inside.run(source, "cell 2", goes_on=True)
    assert '"name": "AssertionError"' in capfd.readouterr().out
    begun = time.perf_counter()
    inside.sleep(0.02)
    assert 0.02 <= time.perf_counter() - begun < 1


def test_a_cell_goes_on_below_an_assertion(capfd: Any) -> None:
    """The names below it are there; its sides are told as they were."""
    inside.forget()
    source = "for i in range(3):\n    assert i < 1\na = 4\nprint(a)"
    assert not inside.run(source, "cell 1", goes_on=True)
    printed = capfd.readouterr().out
    assert "expected i < 1; i is 1" in printed and printed.count("AssertionError") == 2
    assert '"line": 2' in printed
    assert inside.run("assert a == 4", "cell 2", goes_on=True)
    assert "_note_failure_" not in inside._names


@pytest.mark.parametrize("name", RUNNING)
def test_exercises_of_a_page(name: str) -> None:
    """All are there, solution and check as one; and what helps whoever is wrong."""
    page = manuscript.read().pages[name]
    listed = answers.exercises(page)
    assert [one["label"] for one in listed] == [e.label for e in page.exercises]
    for one in listed:
        assert one["check"] == one["solution"] + 1
        assert page.code_cells[one["solution"]].source not in one["stub"]
        assert one["names"] and one["hints"]


# In the browser


def cut(route: Any) -> None:
    """Let Python not come: the editors are there all the same."""
    route.abort()


def assert_as_stored(visit: Visit, name: str) -> None:
    """Text and figures, to the byte; nothing from elsewhere, nothing in the console.

    And no more is fetched than the button says.
    """
    cells = manuscript.read().pages[name].code_cells
    found = steps.states(visit.page)
    away = NOT_HERE.get(name, 0)
    assert found.count("same") == len(cells) - away, found
    assert found.count("away") == away, found
    faults = checks.external_requests(visit) + checks.missing_files(visit)
    assert not faults + checks.console(visit)
    assert steps.fetched(visit) == extension.weight(name)


def each_chapter() -> Iterator[Any]:
    """Once a week all chapters, and in Firefox."""
    for name in ON_A_CHANGE:
        yield pytest.param("browser", name, id=f"{name}-browser")
    for name in RUNNING:
        for kind in ("browser", "firefox"):
            if kind == "firefox" or name not in ON_A_CHANGE:
                marks = pytest.mark.weekly
                yield pytest.param(kind, name, marks=marks, id=f"{name}-{kind}")


@needs_engine
@pytest.mark.parametrize(("kind", "name"), [*each_chapter()])
def test_chapter(request: Any, site: Site, kind: str, name: str) -> None:
    """All its cells, run on the page."""
    with checks.visit(request.getfixturevalue(kind), site, site.url(name)) as visit:
        steps.begin(visit.page)
        steps.rest(visit.page, 300)
        assert_as_stored(visit, name)


@needs_engine
def test_nothing_is_fetched_before_the_button(browser: Any, site: Site) -> None:
    """An ordinary visit fetches one small script, and the page grows by little."""
    with checks.visit(browser, site, site.url(PAGE)) as visit:
        assert "MB" in visit.page.locator(".live-start p").inner_text()
        fetched = [url for url in visit.requests if "/live/" in url]
        assert [url.partition("?")[0] for url in fetched] == [
            f"{site.address}_static/live/start.js"
        ]
        box = visit.page.locator(".live-start").evaluate("e => e.outerHTML.length")
    assert checks.compressed(site.path(fetched[0])) + box < GROWTH


@needs_engine
def test_a_change_shows_what_no_longer_holds(page: Any) -> None:
    """Above: stale; below: run again, compared, marked; Reset puts all back."""
    text = steps.editor(page, 0).input_value()
    assert "chosen(24," in text
    write(page, 0, text.replace("chosen(24,", "chosen(20,"))
    assert steps.mark(page, TERMS)[0] == "late"
    summary = steps.again(page, cell=SIZES)
    assert steps.mark(page, 1)[0] == "other"
    assert steps.mark(page, POCKET)[0] == "same"
    assert steps.sign(page, CHECKED) == "another result than proved"
    state, words = steps.mark(page, SIZES)
    assert state == "other" and "no longer" in words
    cell = page.locator(f".cell.c{SIZES}")
    assert "20 queries" in cell.locator(".live-result").inner_text()
    assert not cell.locator(".cell_output:not(.live-result)").is_visible()
    caption = page.locator(".cell.c1 .live-result figcaption").inner_text()
    assert caption.startswith("Written for other values")
    assert page.locator(".cell.c1 .live-result svg[role=img]").count() == 1
    assert "1 changed by you" in summary and "not run since your change" in summary
    assert not axe_faults(page, f".cell.c{SIZES}", ".live-bar")
    page.locator(".cell.c0 .live-line button", has_text="Reset").click()
    run_all(page)
    assert steps.states(page) == ["same"] * CELLS
    assert page.locator(".live-result").count() == 0


def run_all(page: Any) -> None:
    """By the bar's own button."""
    page.locator(".live-buttons button", has_text="Run").first.click()
    steps.rest(page)


@needs_engine
def test_reset_starts_a_fresh_python(page: Any) -> None:
    """What a cell did to a module goes with it; an answer's names stay with it."""
    result = page.locator(f".cell.c{POCKET} .live-result")

    def run_here(text: str) -> None:
        write(page, POCKET, text)
        steps.again(page, cell=POCKET)

    run_here("import math\nmath.pi = 3")
    page.locator(f".cell.c{POCKET} .live-line button", has_text="Reset").click()
    assert "afresh" in page.locator(".live-message").inner_text()
    run_here("import math\nprint(math.pi)\nmath.pi = 3")
    assert "3.14" in result.inner_text()
    assert check(page, ANSWER.format("-")).startswith("Right.")
    assert check(page, "").startswith("NameError: name 'wrong' is not defined")


@needs_engine
def test_an_answer_is_checked_in_its_place(browser: Any, site: Site) -> None:
    """By itself, on a fresh page; the hint; done is remembered; saved as a notebook."""
    with checks.visit(browser, site, site.url(PAGE)) as visit:
        page = visit.page
        place = page.locator(f"#{EXERCISE}")
        page.evaluate(steps.UNFOLD)
        place.locator(".live-answer button").click()
        steps.rest(page)
        assert "run" not in steps.states(page)[:-2]
        assert check(page, "\ndef wrong(n:").startswith("SyntaxError in line 2: ")
        assert check(page, "wrong = ...") == "Not answered yet: wrong"
        assert "1 tokens: 0 are wrong, yours 1" in check(page, ANSWER.format("+"))
        assert "Counts the diagonal" in place.locator(".live-hint").inner_text()
        assert place.locator(".live-hint a").get_attribute("href").startswith("#fig-")
        assert not axe_faults(page, f"#{EXERCISE}", ".live-bar")
        assert check(page, ANSWER.format("-")) == "Right."
        bar = page.locator(".live-exercises")
        assert bar.locator("summary").inner_text() == "Exercises: 1 of 2 done"
        bar.locator("summary").click()
        with page.expect_download() as saved:
            bar.locator("button", has_text="Save as notebook").click()
        notebook = json.loads(saved.value.path().read_text(encoding="utf-8"))
        (answer,) = (
            "".join(cell["source"])
            for cell in notebook["cells"]
            if f"answer-{EXERCISE}" in cell["metadata"].get("tags", [])
        )
        assert answer == f"# Your answer to {EXERCISE}\n{ANSWER.format('-')}"
        page.reload()
        assert "1 of 2 exercises done" in page.locator(".live-start p").inner_text()
        assert place.locator(".live-done").count() == 1
        page.evaluate("localStorage.clear()")
        page.reload()
        assert not place.locator(".live-done").count()


def check(page: Any, answer: str) -> str:
    """Check an answer; what is said of it."""
    place = page.locator(f"#{EXERCISE}")
    place.locator("textarea").fill(answer)
    place.locator("textarea").press("Shift+Enter")
    steps.rest(page)
    message: str = place.locator(".live-status").inner_text()
    return message


@needs_engine
def test_an_assertion_and_a_mistake(page: Any) -> None:
    """Each is said under its cell; the rest of the page stays as it was."""
    write(page, POCKET, "length = 3\nassert length == 4, 'too short'")
    steps.again(page, cell=POCKET)
    state, words = steps.mark(page, POCKET)
    assert state == "fails" and "too short" in words and "length is 3" in words
    write(page, POCKET, "1 / 0")
    summary = steps.again(page, cell=POCKET)
    assert (
        steps.mark(page, POCKET)[1] == "ZeroDivisionError in line 1: division by zero"
    )
    assert "1 fails" in summary
    assert "Traceback" in page.locator(f".cell.c{POCKET} .stderr").inner_text()


@needs_engine
def test_too_much_is_cut(page: Any) -> None:
    """A hundred megabytes of print leave a page that can be read."""
    write(page, POCKET, "for _ in range(100):\n    print('x' * 1_000_000)")
    steps.again(page, cell=POCKET)
    result = page.locator(f".cell.c{POCKET} .live-result")
    assert "more than a page can hold" in result.inner_text()
    assert result.evaluate("e => e.textContent.length") < 2 * inside.MOST
    lines = ["import matplotlib.pyplot as plt", "fig, ax = plt.subplots()"]
    lines.append("ax.text(0.5, 0.5, 'x', url='y' * 100_000_000)")
    write(page, POCKET, "\n".join([*lines, "plt.show()"]))
    steps.again(page, cell=POCKET)
    assert "drew more than a page can hold" in result.inner_text()
    assert not result.locator("svg").count()


DRAWN = """<style>@import 'FAR/1';</style>
<style>rect { fill: url(FAR/2#x) }</style>
<rect style="fill: url(FAR/3#x)" width="9" height="9"/>
<rect style="fill: u\\72l(FAR/4#x)" width="9" height="9"/>
<rect filter="url(FAR/5#x)" width="9" height="9"/>
<image href="FAR/6.png" width="9" height="9"/>
<image xlink:href="FAR/7.png" width="9" height="9"/>
<use href="FAR/8.svg#x"/>
<filter id="f"><feImage href="FAR/9.png"/></filter><rect filter="url(#f)" width="9"/>
<foreignObject><img src="FAR/10.png"/></foreignObject>
<script>fetch("FAR/11")</script>
<rect onload="fetch('FAR/12')" width="9" height="9"/>
<image href="#" width="9"><set attributeName="href" to="FAR/13"/></image>
</svg><img src="FAR/14.png"><svg>
<text mask="url( 'FAR/15#x' )">x</text>"""
LEADING = """<desc><meta http-equiv="refresh" content="0;url=FAR/50"/></desc>
<title><link rel="preconnect" href="FAR/51"/></title>
<desc><table background="FAR/52"><tr><td>x</td></tr></table></desc>
<desc><form action="FAR/53"><button>x</button></form></desc>"""
"""What would lead away or fetch if it came into the page with a drawing."""
SHOWN = """<img src="FAR/20.png">
<link rel="stylesheet" href="FAR/21.css">
<style>body { background: url(FAR/22.png) }</style>
<script>fetch("FAR/23").catch(() => 0)</script>
<script>new Image().src = "FAR/24"</script>
<iframe src="FAR/25"></iframe>
<form action="FAR/26"></form><script>[...document.forms].at(-1).submit()</script>
<script>navigator.sendBeacon("FAR/27")</script>
<video src="FAR/28" autoplay></video><object data="FAR/29"></object>
<script>new WebSocket("FAR/30".replace("http", "ws"))</script>
<script>import("FAR/31.js").catch(() => 0)</script>
<link rel="preload" as="image" href="FAR/32.png"><link rel="prefetch" href="FAR/33">
<base href="FAR"><img src="34.png"><script src="35.js"></script>
<script>new Worker(URL.createObjectURL(new Blob(["fetch('FAR/36')"])))</script>
<template shadowrootmode="open"><img src="FAR/37"></template>
<svg><style><a title="</style><iframe src='FAR/38'></iframe>"></a></style></svg>
<iframe srcdoc="<link rel='preconnect' href='FAR/39'>"></iframe>
<script>location = "FAR/40"</script>
<meta http-equiv="refresh" content="0; url=FAR/41">
<script>parent.location = "FAR/42"; top.location = "FAR/43"; open("FAR/44")</script>
<script>CALL('stun:HOST', 'all')</script>
<script>CALL('turn:HOST?transport=tcp', 'relay')</script>
<iframe srcdoc="<script>CALL('stun:HOST', 'all')</script>"></iframe>"""
"""The last six lead away, which a frame must not; a page may."""
REACHED = "a connection, before it is asked for anything"
CALL = (
    "((urls, iceTransportPolicy) => { const iceServers = [{ urls, username: 'a', "
    "credential: 'b' }]; const it = new RTCPeerConnection({ iceServers, "
    "iceTransportPolicy }); it.createDataChannel('x'); "
    "it.createOffer().then((offer) => it.setLocalDescription(offer)); })("
)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[tuple[str, list[str]]]:
    """Another server, and what it was asked for."""
    requests: list[str] = []

    class Noting(http.server.SimpleHTTPRequestHandler):
        def setup(self) -> None:
            requests.append(REACHED)
            super().setup()

        def log_message(self, *message: Any) -> None:
            requests.append(" ".join(map(str, message)))

    handler = functools.partial(Noting, directory=str(tmp_path))
    with (
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
        socket.socket(type=socket.SOCK_DGRAM) as packets,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        packets.bind(server.server_address[:2])

        def note() -> None:
            with contextlib.suppress(OSError):
                while True:
                    requests.append(f"a packet: {packets.recv(99)!r}")

        threading.Thread(target=note, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", requests
        server.shutdown()


@needs_engine
@pytest.mark.parametrize(
    "kind", ["browser", pytest.param("firefox", marks=pytest.mark.weekly)]
)
def test_nothing_leaves_the_page(
    request: Any, site: Site, elsewhere: tuple[str, list[str]], kind: str
) -> None:
    """Whatever a cell draws or shows; the figure and the tables are there."""
    far, requests = elsewhere
    host = far.removeprefix("http://")
    drawn, shown, leading = (
        text.replace("FAR", far).replace("CALL(", CALL).replace("HOST", host)
        for text in (DRAWN, SHOWN, LEADING)
    )
    with checks.visit(request.getfixturevalue(kind), site, site.url(PAGE)) as visit:
        page = visit.page
        steps.begin(page)
        steps.rest(page)
        drawing = f"<svg role='img'><path d='M0 0h9v9z'/>{leading}{drawn}</svg>"
        lines = [
            "from website.live import inside",
            f"inside.Room.tell('figure', 'x', {drawing!r})",
        ]
        for number, one in enumerate(shown.splitlines()):
            lines.append(f"inside.Room.tell('html', 'x{number}', {one!r})")
        write(page, POCKET, "\n".join(lines))
        steps.again(page, cell=POCKET)
        result = page.locator(f".cell.c{POCKET} .live-result")
        figure = result.locator("figure svg")
        figure.locator("path").first.wait_for(state="attached")
        result.locator("iframe").nth(19).wait_for(state="attached")
        assert far not in figure.evaluate("e => e.outerHTML")
        page.wait_for_timeout(1000)
        assert requests == [] and PAGE in page.url
        # And if the page itself were to hold it, nothing would be asked for.
        page.evaluate(
            """texts => texts.forEach((text) => document.body.append(
            document.createRange().createContextualFragment(text)))""",
            [drawn, *shown.splitlines()[:-6]],
        )
        page.wait_for_timeout(500)
        assert set(requests) <= {REACHED} and PAGE in page.url


def test_a_policy_on_every_page(site: Site) -> None:
    """Also on those that only lead elsewhere."""
    pages = [p for p in site.folder.rglob("*.html") if "_static" not in p.parts]
    bare = [p for p in pages if "Content-Security-Policy" not in p.read_text()]
    assert len(pages) > 50 and not bare


@needs_engine
def test_an_explorer_in_a_cell_moves(page: Any) -> None:
    """Its script is one of those that a frame may run."""
    write(page, POCKET, "from pe_lib.explorers import LookBack\nLookBack()")
    steps.again(page, cell=POCKET)
    frame = page.frame_locator(f".cell.c{POCKET} .live-frame")
    frame.locator(".take").first.wait_for(state="visible")  # its script makes them


@needs_engine
def test_keys_of_the_editor(page: Any) -> None:
    """Enter keeps the indentation, Tab moves on, undo works."""
    area = steps.editor(page, POCKET)
    before = area.input_value()
    area.focus()
    page.keyboard.press("Control+Home")
    page.keyboard.type("for i in x:\np()\n")
    assert area.input_value().startswith(f"for i in x:\n    p()\n    {before[:9]}")
    area.press("Tab")
    assert not area.evaluate("area => area === document.activeElement")
    area.focus()
    undone = []
    while before not in undone:
        page.keyboard.press("Control+z")
        undone.append(area.input_value())
        assert len(undone) < 30


@needs_engine
def test_a_run_away_is_stopped(page: Any) -> None:
    """The loop ends, that is said, and the next run starts afresh from the cache."""
    write(page, POCKET, "while True:\n    pass")
    steps.editor(page, POCKET).press("Shift+Enter")
    page.wait_for_timeout(300)
    page.locator(".live-buttons button", has_text="Stop").click()
    assert "starts afresh" in steps.rest(page)
    page.locator(f".cell.c{POCKET} .live-line button", has_text="Reset").click()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    steps.again(page, cell=POCKET)
    assert steps.mark(page, POCKET)[0] == "same"
    assert not [url for url in requests if url.endswith(".wasm.gz")]


@needs_engine
def test_numbers_in_sentences(browser: Any, site: Site) -> None:
    """Struck out where their cell printed them and does no longer, as rounded."""
    page = browser.new_page()
    page.goto(site.url(PAGE))
    found = page.evaluate(
        """async (address) => {
        const { fade } = await import(address);
        document.querySelector("article").insertAdjacentHTML("beforeend",
            `<section id="new"><p>It is 58 %, of 1,064 pairs, in 17 years.</p>
            <p><code>58</code></p><div class="cell" id="of"></div></section>`);
        const struck = () => [...document.querySelectorAll("#new mark")]
            .map((mark) => mark.textContent);
        const before = [["text", "share 0.583 of 1064, 17"]];
        fade(document.querySelector("#of"), { before, now: [["text", "0.4, 17"]] });
        const first = struck();
        fade(document.querySelector("#of"), null);
        return [first, struck(), document.querySelector("#new p").childNodes.length];
        }""",
        f"{site.address}_static/live/{extension.version()}/numbers.js",
    )
    assert found == [["58", "1,064"], [], 1]
    page.close()


# Faults: the page stays as readable as before


AS_LONG = b"\x1f\x8b" + b"0" * (
    extension.engine().get("book", {"bytes": 2})["bytes"] - 2
)
STUB = """
let runs = 0;
addEventListener("message", ({ data }) => {
  if (data.do === "start") postMessage({ kind: "ready" });
  else if (++runs === 3) postMessage({ kind: "broken", text: "unreachable" });
  else postMessage({ kind: "done" });
});
"""
"""In place of Python: it gives nothing, and breaks down in the third cell."""


FAULTS = [
    ("engine/python-*", {"status": 404}, "the site has no engine/python"),
    ("engine/python-*", {"body": b"\x1f\x8babc"}, "damaged or incomplete"),
    ("*/worker.js", {"body": STUB, "content_type": "text/javascript"}, "Cell 3: "),
    ("*/page.js", {"status": 404}, "could not be started"),
]
MORE_FAULTS = [
    ("engine/book-*", {"body": AS_LONG}, "damaged or incomplete"),
    ("engine/python-*", None, "is there a network?"),
    ("*/worker.js", {"status": 404}, "a file of the site is missing"),
    ("cells/*", {"status": 404}, "could not be started"),
]


@needs_engine
@pytest.mark.parametrize(
    ("file", "answer", "expected"),
    [*FAULTS, *(pytest.param(*it, marks=pytest.mark.weekly) for it in MORE_FAULTS)],
)
def test_a_file_is_missing_or_damaged(
    browser: Any, site: Site, file: str, answer: dict[str, Any] | None, expected: str
) -> None:
    """One clear sentence, and the page as it was."""
    context = browser.new_context()
    page = context.new_page()
    page.route(
        f"**/_static/live/{file}",
        lambda route: route.fulfill(**answer) if answer else route.abort(),
    )
    page.goto(site.url(PAGE))
    prose = page.locator("article section > p")
    before = prose.all_text_contents()
    page.locator(".live-start button").click()
    place = page.locator(".live-message, .live-start p", has_text=expected)
    place.first.wait_for()
    sentence = place.first.inner_text()
    assert len(sentence) < 200 and "undefined" not in sentence
    assert page.locator(f".cell.c{POCKET} .cell_output").is_visible()
    assert len(before) > 10 and prose.all_text_contents() == before
    context.close()


@pytest.mark.weekly
@needs_engine
def test_storage_is_full_and_what_it_holds_is_damaged(browser: Any, site: Site) -> None:
    """A damaged file comes anew, all cells run; that nothing is kept is said."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(site.url(PAGE))
    quota = {"origin": site.address.rstrip("/"), "quotaSize": 1_000_000}
    keep = """async ([address, letters]) => {
        const { cache } = document.querySelector(".live-start").dataset;
        await (await caches.open(cache)).put(address, new Response(letters));
        for (let size = 5_000_000; size; size >>= 1)
            try { localStorage.setItem(`full${size}`, "x".repeat(size)); } catch {}
    }"""
    book = f"{site.address}{extension.FOLDER}/{extension.engine()['book']['name']}"
    page.evaluate(keep, [book, "damaged"])
    context.new_cdp_session(page).send("Storage.overrideQuotaForOrigin", quota)
    steps.begin(page)
    assert f"All {CELLS} cells give what was proved" in steps.rest(page)
    kept = """async () => (await Promise.all((await caches.keys()).map(async (name) =>
        (await (await caches.open(name)).keys()).map(({ url }) => url)))).flat()"""
    assert not [url for url in page.evaluate(kept) if "/python-" in url]
    page.evaluate(steps.UNFOLD)
    steps.editor(page, POCKET).fill("changed = True")
    assert "keeps nothing" in page.locator(".live-message").inner_text()
    assert steps.editor(page, POCKET).input_value() == "changed = True"
    context.close()


@pytest.mark.weekly
@needs_engine
def test_two_tabs_and_a_reload(browser: Any, site: Site) -> None:
    """A change in one tab comes to the other, and outlives both."""
    context = browser.new_context()
    context.route("**/*.wasm.gz", cut)
    pages = [context.new_page() for _ in range(2)]
    for page in pages:
        page.goto(site.url(PAGE))
        steps.begin(page)
        steps.rest(page)
    steps.editor(pages[0], POCKET).fill("changed = True")
    checks.wait_until(
        pages[1],
        f"document.querySelector('.c{POCKET} textarea').value === 'changed = True'",
    )
    pages[1].reload()
    assert "still here" in pages[1].locator(".live-start p").inner_text()
    steps.begin(pages[1])
    assert steps.editor(pages[1], POCKET).input_value() == "changed = True"
    context.close()


@needs_engine
def test_storage_forbidden(browser: Any, site: Site) -> None:
    """Nothing can be kept, which is said; all else works."""
    context = browser.new_context()
    context.add_init_script(
        "for (const name of ['localStorage', 'caches']) Object.defineProperty("
        "window, name, { get() { throw new DOMException('no', 'SecurityError') } })"
    )
    context.route("**/*.wasm.gz", cut)
    page = context.new_page()
    errors: list[Any] = []
    page.on("pageerror", lambda error: errors.append(error))
    page.goto(site.url(PAGE))
    steps.begin(page)
    steps.rest(page)
    steps.editor(page, POCKET).fill("changed = True")
    assert "keeps nothing" in page.locator(".live-message").inner_text()
    assert not errors
    context.close()


@needs_engine
def test_from_a_folder_and_in_an_old_browser(browser: Any, site: Site) -> None:
    """One line each, and a button that cannot be pressed."""
    context = browser.new_context()
    page = context.new_page()
    page.goto((site.folder / f"{PAGE}.html").as_uri())
    assert "make serve" in page.locator(".live-start p").inner_text()
    assert page.locator(".live-start button").is_disabled()
    for lacking in ("DecompressionStream", "WebAssembly"):
        page.add_init_script(f"delete window.{lacking}")
        page.goto(site.url(PAGE))
        assert "too old" in page.locator(".live-start p").inner_text()
        page.add_init_script(f"window.{lacking} ??= class {{}}")
    context.close()


@needs_engine
def test_a_page_with_pytorch_says_why_not(site: Site) -> None:
    """In one sentence, with its notebook; without a button or a script."""
    text = site.path(site.url(TORCH)).read_text(encoding="utf-8")
    (sentence,) = re.findall('<div class="live-start"><p>(.*?)</p>', text, re.DOTALL)
    assert "PyTorch" in sentence and "download" in sentence
    assert "live/start.js" not in text
