"""The bench of the path: what was found stays found; test_site.py says where it is."""

import re

import manuscript
from pe_lib.explorers import Bench
from pe_lib.explorers.bench import PAGES
from tests.website.site_checks import PHONE, dead_without_script

PATH = manuscript.read().path_pages
BENCH = '.bench > [data-drawing="bench"]'


def test_each_page_of_the_path_has_its_own():
    """In the order in which the bench has them."""
    shown = [
        re.findall(r'Bench\(page="(\w+)"\)', "".join(c.source for c in page.code_cells))
        for page in PATH
    ]
    assert shown == [[page] for page in PAGES]


def test_closed_stays_closed_and_found_stays_found(at):
    """Both are kept on the next page; the strip says what the bench shows."""
    page = at("book/failures/normalised", width=PHONE).page
    words = page.get_by_role("slider", name="Words in the text")
    words.press("PageUp")
    assert not page.locator(".bench .check").first.is_visible()
    words.press("Home")
    for _ in range(7):
        words.press("ArrowRight")
    assert page.locator(f"{BENCH} .normalised > .check").is_visible()
    page.locator(".bench > summary").click()
    said = page.locator(".bench > summary small").text_content()
    assert said == str(Bench(page="normalised", words=9))
    page.goto(page.url.replace("normalised", "binary"))
    assert not page.locator(BENCH).is_visible()
    page.locator(".bench > summary").click()
    assert page.locator(f"{BENCH} .normalised > .check").is_visible()
    assert not page.locator(f"{BENCH} .binary > .check").is_visible()


def test_the_strip_says_what_one_sees(at):
    """On a phone its first sentence is not cut."""
    small = at(PATH[0].name, width=PHONE).page.locator(".bench > summary small")
    assert small.evaluate("""(small) => {
        const range = new Range(), { data } = small.firstChild;
        range.setStart(small.firstChild, 0);
        range.setEnd(small.firstChild, data.indexOf(".") + 1);
        const [said, room] = [range, small].map((one) => one.getBoundingClientRect());
        return said.bottom < room.bottom + 5;  // a line is 18 px
    }""")


def test_a_length_goes_along(at):
    """To the next page, where it is no answer yet; "Start again" is five words."""
    page = at("book/failures/normalised").page
    words = page.locator(BENCH).get_by_role("slider", name="Words in the text")
    assert words.get_attribute("aria-valuenow") == "5"
    words.press("End")
    words.press("Home")
    for _ in range(7):
        words.press("ArrowRight")
    for name in ("failures/criteria", "pytorch/module"):
        page.goto(re.sub(r"book/.*(?=\.html)", f"book/{name}", page.url))
        assert words.get_attribute("aria-valuetext") == "9 words"
        assert page.locator(f"{BENCH} .reward").is_hidden()
    page.get_by_role("button", name="Start again").click()
    page.reload()
    assert words.get_attribute("aria-valuenow") == "5"
    for other in ("[65]", "[2.5]", "{"):
        page.evaluate("other => localStorage.setItem('bench-words', other)", other)
        page.reload()
        assert words.get_attribute("aria-valuenow") == "5"


def test_each_encoding_has_its_tick(at):
    """Where all are shown: only those that were found."""
    bench = at(PATH[-1].name).page.locator(BENCH)
    for found in PAGES:
        bench.evaluate("(root, found) => (root.dataset.found = found)", found)
        ticks = bench.locator(".tab:has(> .check:visible)").all()
        assert [tick.get_attribute("class") for tick in ticks] == [f"tab {found}"]


def test_without_a_script_and_on_paper(alone):
    page = alone("book/sinusoidal/formula", java_script_enabled=False)
    assert not dead_without_script(page)
    still = page.locator('[data-drawing="bench"]')
    assert still.locator(".line").text_content() == str(Bench(page="formula"))
    assert still.locator("svg").is_visible()
    page.emulate_media(media="print")
    assert still.locator("svg").is_visible()
