"""The built site in a real browser, page by page: what a reader gets.

The checks are in ``site_checks.py``; one page that breaks them all is below. The
browser opens a page once, and all checks of that page follow.
"""

import os
import re
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import manuscript
from pe_lib.explorers import Bench, Hero
from tests.website import site_checks as checks
from tests.website.built_site import serve
from tests.website.site_checks import Opener, Site, faults
from website import ten_drawings

PAGES = checks.pages()
ONCE_A_WEEK = (
    pytest.param(width, marks=pytest.mark.weekly)
    for width in (checks.WIDE, checks.PHONE)
)
LANDING = PAGES[0]
CHAPTER = "book/sinusoidal/formula"
LEDGER = "book/reference/claims"
DRAWINGS = "book/ten_drawings"

# On a change axe and paper are tried on these alone: what they find is nearly always
# the same code on all pages. `make weekly` tries all.
SAMPLE = (LANDING, DRAWINGS, "book/failures/counting", "book/notation")
PATH = {page.name for page in manuscript.read().path_pages}
QUIET: tuple[checks.Rule, ...] = (checks.missing_files, checks.console)
AS_LOADED: tuple[checks.Rule, ...] = (
    *QUIET,
    checks.layout_shift,
    checks.first_load,
    *("blocking_scripts", "mathematics", "stops", "alt_texts"),
)
OF_THE_PATH = ("picture_first", "bench")
AT_EACH_WIDTH = (
    *("overflow", "out_of_cards", "lettering", "heading_sizes"),
    *("frame", "code", "letters", "cramped", "boxes"),
)
"""With all folds open."""


def none(found: list[str]) -> None:
    """There are no faults; those that there are, one a line."""
    assert not found, "\n".join(["", *found])


# Files


def test_files(built: Any, site: Site) -> None:
    """No warning, the pages of _toc.yml, and the way in; styles read what is there."""
    assert built.status == 0, built.output[-3000:]
    assert site.built() == sorted(PAGES)
    assert f'http-equiv="Refresh" content="0; url={LANDING}.html"' in site.text("index")
    assert 'rel="canonical"' not in site.text(LANDING)  # it has no address yet
    none([*checks.unknown_names(site)])


def test_links(site: Site) -> None:
    """Every local link, file and fragment exists, and an anchor is one place.

    A figure takes what it can from its page.
    """
    none(
        [
            f"{name}: {fault}"
            for name in PAGES
            for check in (checks.broken_links, checks.repeated_ids, checks.loud_figures)
            for fault in check(site, name)
        ]
    )


# Every page


@pytest.mark.parametrize("width", [checks.PHONE, checks.WIDE])
def test_nothing_moves_on_a_slow_machine(browser: Any, site: Site, width: int) -> None:
    """The first page is drawn before its end has come, and then stays as it is."""
    size = {"width": width, "height": checks.HEIGHTS[width]}
    with browser.new_context(viewport=size) as context:
        page = context.new_page()
        slow = context.new_cdp_session(page)
        slow.send("Emulation.setCPUThrottlingRate", {"rate": 6})
        page.add_init_script(checks.script("record_shifts"))
        page.goto(site.url(LANDING))
        page.evaluate(checks.script("settle"))
        shifts = page.evaluate("layoutShifts")
    assert sum(value for value, _ in shifts) <= checks.LAYOUT_SHIFT, shifts


@pytest.mark.parametrize("width", [checks.NARROW, *ONCE_A_WEEK])
@pytest.mark.parametrize("name", PAGES)
def test_page(at: Opener, name: str, width: int) -> None:
    """Opened once, narrow: what is too wide stands out there.

    Windows of a sample, and of pages with drawings, are widened, too.
    Once a week each is opened at each width; axe, too, finds nothing; and on paper
    there is the text.
    """
    seen = at(name, width=width)
    found = faults(seen, *AS_LOADED)
    seen.page.evaluate(checks.script("book_fonts"))
    closer = name in SAMPLE or seen.page.locator(".pe-explorer").count()
    for each in (checks.PHONE, checks.WIDE) if closer else ():
        checks.resize(seen.page, each)
        found += faults(seen, "tall", "jumps", *(OF_THE_PATH if name in PATH else ()))
    checks.unfold(seen.page)
    for each in (checks.WIDE, checks.NARROW) if closer else [width]:
        checks.resize(seen.page, each)
        found += faults(seen, *AT_EACH_WIDTH)
    if name in SAMPLE or width != checks.NARROW:
        checks.resize(seen.page, checks.PHONE)
        found += faults(seen, "letters_twice", checks.accessibility, checks.printing)
    none(found)


NOISE = os.urandom(checks.FIRST_LOAD).hex()  # alone too much
BROKEN = f"""<!DOCTYPE html>
<html lang="en"><head><title>Why</title><script src="noise.js"></script></head>
<body><nav class="bar"><button>x</button></nav>
<main><h1>A</h1><h2 style="font-size: 40px">above</h2><h1>B</h1>
<div style="height: 1500px"></div>
<svg class="figure" role="img" width="9" height="9">
  <text x="9" fill="#123456">x</text></svg>
<div class="cell_input"><pre class="highlight"
  style="height: 3000px; width: 20px; overflow: hidden">xxxxxxxxxxxxxxx</pre></div>
<section class="fold-recall"><h4 id="here">C</h4><p id="here">$x_t$
(<span class="math"><span class="katex">y</span></span>)</p></section>
<img src="https://example.org/a.png"><img src="none.png">
<a href="#nowhere">a</a><a href="nowhere.html">b</a><a href="http://example.org">c</a>
<p style="color: #999; background: #fff">pale</p>
<p style="color: #fff; background: #fff">unseen</p>
<div class="pe-explorer live"><button onclick="this.style.height = '99px'">x</button>
<output style="display: block; width: 900px">1</output></div>
<div class="cell highlight"><pre style="white-space: pre-wrap">1</pre>copy</div>
<section><p class="law"><div class="panel">
  <p class="goal"></p><p style="height: 700px"></p><output></output></div></section>
<details><summary><b style="position: relative; top: 30px; border: 1px solid">b</b>
<a href="#here" style="display: flex; font-size: 9px">c</a></summary></details>
{"<details><summary>a</summary></details>" * 10}
<details><summary style="width: 700px">more</summary>
<div style="width: 2000px">wide</div></details>
<input aria-label="trap" onkeydown="if (event.key === 'Tab') event.preventDefault()">
<script>console.log("here");
requestAnimationFrame(() => requestAnimationFrame(() => {{
  const late = document.createElement("div");
  late.style.height = "300px";
  document.body.prepend(late); }}))</script></main></body></html>"""


def test_each_rule_sees_its_fault(browser: Any, tmp_path: Path) -> None:
    """On a page that has them all."""
    (tmp_path / "noise.js").write_text(f"// {NOISE}", encoding="utf-8")
    (tmp_path / "broken.html").write_text(BROKEN, encoding="utf-8")
    rules = [*AS_LOADED, *OF_THE_PATH, *AT_EACH_WIDTH, "tall", "jumps", "letters_twice"]
    rules += [checks.accessibility, checks.printing, checks.keyboard]
    for broken in serve(tmp_path):
        with checks.visit(browser, broken, broken.url("broken"), width=390) as seen:
            assert [rule for rule in rules if not faults(seen, rule)] == []
            assert len(faults(seen, "code")) == 3
        assert len([*checks.broken_links(broken, "broken")]) == 4
        assert checks.repeated_ids(broken, "broken") == ["here"]
        assert [*checks.loud_figures(broken, "broken")] == ["#123456"]
        (tmp_path / "_static").mkdir()
        (tmp_path / "_static/book.css").write_text("a { color: var(--pale) }")
        assert checks.unknown_names(broken) == {"--pale"}


# Across pages


@pytest.mark.parametrize(
    "what", ["<title>(.*?)</title>", "<h1>(.*?)<", '"description" content="(.*?)"']
)
def test_titles_and_descriptions_differ(site: Site, what: str) -> None:
    """Each page has one, and a list of search results tells them apart, without TeX."""
    (found,) = zip(*(re.findall(what, site.text(name)) for name in PAGES), strict=True)
    assert len(set(found)) == len(PAGES) and not re.search(r"[\\$]", "".join(found))


def test_a_late_font_moves_nothing(at: Opener) -> None:
    """Of the text it is for the next page; a formula has its room before it."""
    page = at(CHAPTER, width=checks.NARROW).page
    page.route("**/*.woff2", lambda route: (time.sleep(0.3), route.continue_()))
    page.reload()
    page.evaluate(checks.script("settle"))
    none([what for value, what in page.evaluate("layoutShifts") if value > 0.002])


@pytest.mark.parametrize("name", [CHAPTER, "book/reference/faq"])
def test_the_bar_stays_in_reach(at: Opener, name: str) -> None:
    """Away on the way down, back after 24 px up; its menu opens at this page, by finger
    or keyboard, and closes again.
    """
    page = at(name, width=checks.PHONE).page
    top = "document.querySelector('.bar').getBoundingClientRect().top"
    page.evaluate("scrollTo(0, 3000)")
    checks.wait_until(page, f"{top} < -40")
    page.evaluate("scrollBy(0, -20)")
    page.wait_for_timeout(400)
    assert page.evaluate(top) < -40
    page.evaluate("scrollBy(0, -20)")
    checks.wait_until(page, f"{top} === 0")
    assert page.locator(".search-button").is_visible()
    links, opener = page.locator(".menu nav a:visible"), page.locator(".menu > summary")
    for press in (opener.click, lambda: page.keyboard.press("Enter")):
        assert links.count() == 0
        press()
        links.nth(10).wait_for()
        here = page.locator(".menu [aria-current]").bounding_box()
        assert 0 < here["y"] < checks.HEIGHTS[checks.PHONE] - 44
        fits = "e => e.scrollWidth <= e.clientWidth"
        assert page.locator(".menu > nav").evaluate(fits)
        page.keyboard.press("Escape")  # which leads back to what opened it
        links.first.wait_for(state="detached")


STILLS = {
    LANDING: [Hero()],
    LEDGER: [],
    CHAPTER: [Bench(page="formula")],
    DRAWINGS: [drawn() for drawn in ten_drawings.DRAWINGS.values()],
}


@pytest.mark.parametrize("name", STILLS)
def test_without_a_script_and_on_paper(at: Opener, name: str) -> None:
    """No control is dead; drawings are there, as nobody has moved them, with a word."""
    page = at(name, java_script_enabled=False).page
    assert not page.locator(":is(button, input):visible").count()
    said = "runs no scripts" in page.locator("main").inner_text()
    assert said == bool(page.locator(".pe-explorer").count())
    drawings = page.locator(':is(.panel, [data-drawing="bench"])')
    told = drawings.locator(".line").all_text_contents()
    assert [text.replace("\xa0", " ") for text in told] == [*map(str, STILLS[name])]
    for medium in ("screen", "print"):
        page.emulate_media(media=medium)
        assert all(svg.is_visible() for svg in drawings.locator("svg").all())


def test_the_glossary_is_in_the_order_of_the_alphabet() -> None:
    text = manuscript.read().pages["book/reference/glossary"].text
    words = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
    assert len(words) > 50 and sorted(words, key=str.lower) == words


def test_the_hour_leads_on(site: Site) -> None:
    """Each page of the path and on real models ends with the question of the next.

    It says which page it is; any other chapter, where the path begins.
    """
    book = manuscript.read()
    for page, following in pairwise((*book.path_pages, *book.model_pages)):
        text = site.text(page.name)
        block = text[text.index('<a class="next"') :].partition("</a>")[0]
        assert f"{following.name.rpartition('/')[2]}.html" in block
        assert f"{following.minutes} minutes" in block
        assert f"<strong>{following.title}" not in block
    for number, page in enumerate(book.path_pages, 1):
        text = site.text(page.name)
        assert f"Page {number} of the path · about {page.minutes}" in text
        assert (
            f'data-drawing="bench" data-state="{{&quot;home&quot;: {number - 1},'
            in text
        )
    start = book.path_pages[0].name.rpartition("/")[2]
    begin = re.compile(
        rf'New here\? <a href="[^"]*{start}.html">Page 1 of the path</a>'
    )
    for page in book.notebooks[len(book.path_pages) :]:
        assert f"about {page.minutes} minutes to read" in site.text(page.name)
        assert begin.search(site.text(page.name))


@pytest.mark.parametrize(("width", "height"), [(1280, 650), (checks.PHONE, 844)])
def test_the_first_screen(at: Opener, width: int, height: int) -> None:
    """It says for whom the book is, what to press, and what can be dragged."""
    page = at(LANDING, width=width).page
    page.evaluate(checks.script("book_fonts"))
    named = ("h1", "a.start", ".panel svg", ".doors")
    title, button, picture, doors = (page.locator(css).bounding_box() for css in named)
    assert title["y"] < button["y"] < button["y"] + button["height"] < height
    assert picture["y"] + picture["height"] < doors["y"]
    goal = page.locator(".panel .goal").bounding_box()
    field = page.locator(".panel .pe-explorer").bounding_box()["width"]
    assert field % 66 < 1  # whole words, from the first
    if width == checks.WIDE:
        assert field >= 10 * 66
        assert goal["y"] < picture["y"] + picture["height"] < height
    else:
        assert picture["y"] < height - 100
        assert page.evaluate("document.documentElement.scrollHeight") <= 3500


@pytest.mark.parametrize("name", [LANDING, CHAPTER, DRAWINGS])
def test_from_a_folder(at: Opener, name: str) -> None:
    """Opened from disk, a page is complete and quiet, and in its own faces.

    Also in a browser that keeps nothing of what a reader does.
    """
    refused = "{ get() { throw Error() } }"
    first = f"Object.defineProperty(window, 'localStorage', {refused})"
    seen = at(name, folder=True, first=first)
    none(faults(seen, *QUIET))
    own = seen.page.evaluate("""[...document.fonts]
        .filter(({ display, status }) => display === "block" && status === "loaded")
        .map(({ family }) => family)""")
    formula = {"KaTeX_Main", "KaTeX_Math"} if name == CHAPTER else set()
    assert {'"PE Text"', '"PE Display"', *formula} <= {*own}


@pytest.mark.parametrize(
    ("name", "width"),
    [
        (LANDING, checks.WIDE),
        *((name, checks.PHONE) for name in (LANDING, CHAPTER, LEDGER)),
    ],
)
def test_keyboard(at: Opener, name: str, width: int) -> None:
    """Tab reaches every control, shows where it is, and is nowhere trapped."""
    seen = at(name, width=width)
    if name == LEDGER:  # whose claims are alike
        some = "all => all.slice(10).forEach((e) => (e.hidden = true))"
        seen.page.locator(".claim-entry").evaluate_all(some)
        none(checks.accessibility(seen))
    none(checks.keyboard(seen))
