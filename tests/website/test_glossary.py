"""The glossary as a list, and its words explained where they stand."""

import re
from typing import Any

import pytest
from docutils import nodes
from docutils.utils import new_document

import manuscript
from tests.website.site_checks import Alone, Opener, Site
from website.glossary import as_definitions, meaning

GLOSSARY = "book/reference/glossary"
PAGE = "book/failures/criteria"
WORD = 'a[href$="glossary.html#norm"]'
SHOWN = ".word:popover-open"


def test_every_word_is_in_the_list(site: Site) -> None:
    """With its anchor, and as a heading nowhere."""
    text = manuscript.read().pages[GLOSSARY].text
    words = re.findall(r"^## (.+)$", text, re.MULTILINE)
    html = site.path(site.url(GLOSSARY)).read_text(encoding="utf-8")
    assert html.count("<dt>") == html.count("<dd>") == len(words) > 50
    assert html.count('<dl class="words">') == 1 and "<h2>" not in html
    assert words == sorted(words, key=str.lower)
    for entry in ("angle-sum-identities", "meta-device", "rotary-encoding"):
        assert f'<div id="{entry}"><dt>' in html


def test_only_sections_become_definitions() -> None:
    """What stands around them stays; a page without any stays whole."""
    section = '<section id="a-b">\n<h2>A b</h2>\n<p>What.</p>\n</section>'
    entry = '<div id="a-b"><dt>A b</dt>\n<dd><p>What.</p></dd></div>'
    body = (
        f'<section id="top">\n<h1>T</h1>\n<p>P</p>\n{section}\n{section}\n</section>\n'
    )
    made = as_definitions(body)
    assert made.startswith('<section id="top">\n<h1>T</h1>\n<p>P</p>\n')
    assert '<a href="#a-b">A</a></nav>' in made  # one letter, of the first word
    assert made.endswith(f'<dl class="words">\n{entry}\n{entry}\n</dl>\n</section>\n')
    assert as_definitions("<h1>T</h1>") == "<h1>T</h1>"


@pytest.mark.parametrize(
    ("links", "kept"),
    [
        (["../a.html#b"], "It is. "),
        (["../a.html", "b.html#c"], "It is. "),
        (["#x"], None),
    ],
)
def test_a_meaning_has_no_links(links: list[str], kept: str | None) -> None:
    """Links to other pages go, from the end; other words stay as words."""
    paragraph = nodes.paragraph("", "", nodes.Text("It is. "))
    for link in links:
        paragraph += [nodes.reference("", "See it", refuri=link), nodes.Text(".")]
    section = nodes.section("", nodes.title("", "It"), paragraph)
    new_document("").append(section)
    found = meaning(section)
    assert found.astext() == (kept or "It is. See it.")
    assert not list(found.findall(nodes.reference))
    assert list(paragraph.findall(nodes.reference))


def test_the_filter_leaves_the_words_that_hold_it(at: Opener) -> None:
    """In the word or in what it means, and counts them."""
    page = at(GLOSSARY).page
    every = page.locator("dl.words > div").count()
    page.fill(".word-filter input", "Matrix")
    left = page.locator("dl.words > div:visible").all_text_contents()
    assert 1 < len(left) < every and all("matrix" in text.lower() for text in left)
    assert page.locator(".word-filter output").inner_text() == (
        f"{len(left)} of {every} words"
    )


def test_the_filter_forgives(at: Opener) -> None:
    """A word that no entry has is taken for its nearest, and that is said."""
    page = at(GLOSSARY).page
    page.fill(".word-filter input", "rotery")
    output = page.locator(".word-filter output")
    output.filter(has_text="“rotery” taken for “rotary”").wait_for()
    left = page.locator("dl.words > div:visible").all_text_contents()
    assert left and all("rotary" in text.lower() or "RoPE" in text for text in left)


@pytest.fixture
def page(at: Opener) -> Any:
    """A chapter that links to words."""
    page = at(PAGE).page
    page.locator(WORD).first.scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    return page


def test_shown_under_the_mouse(page: Any) -> None:
    """It stays while the mouse is on it, and goes with the mouse or by Escape."""
    page.locator(WORD).first.hover()
    note = page.locator(SHOWN)
    assert "the root of the sum of its squares" in note.inner_text()
    box = note.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= page.viewport_size["width"]
    note.hover()
    page.wait_for_timeout(400)
    assert note.count() == 1
    page.mouse.move(2, 2)
    page.wait_for_timeout(400)
    assert note.count() == 0
    page.locator(WORD).first.hover()
    page.keyboard.press("Escape")
    assert note.count() == 0


def test_shown_by_keyboard(page: Any) -> None:
    """On the way through the page; Enter follows the link."""
    page.locator(WORD).first.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert page.locator(SHOWN).count() == 1
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{GLOSSARY}.html#norm")


def test_shown_at_a_first_tap(alone: Alone) -> None:
    """The second tap follows the link; a tap elsewhere takes it away."""
    phone = {"width": 390, "height": 844}
    page = alone(PAGE, viewport=phone, has_touch=True, is_mobile=True)
    word = page.locator(WORD).first
    word.scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    word.tap()
    assert page.locator(SHOWN).count() == 1
    page.touchscreen.tap(5, 700)
    assert page.locator(SHOWN).count() == 0 and PAGE in page.url
    word.tap()
    word.tap()
    page.wait_for_url(f"**/{GLOSSARY}.html#norm")
