"""On paper there is what the site shows, and nothing that stops `make course`."""

import re
from pathlib import Path

import pytest

import manuscript
from course import handouts, slides

BOOK = manuscript.read()
PAGES = [*BOOK.path_pages, *BOOK.model_pages]
STYLE = (manuscript.ROOT / "website/static/book.css").read_text(encoding="utf-8")
HTML = "<!doctype html><html><style>{}</style><article>{}</article></html>"
LAB = (
    '<p>Before.</p><section><span id="lab-guide"></span><h2>A lab</h2>{}</section>'
    "<p>After.</p>"
)


@pytest.fixture()
def page(browser):
    """A page of the browser."""
    opened = browser.new_page()
    yield opened
    opened.close()


@pytest.mark.parametrize("chapter", PAGES, ids=lambda page: page.name)
def test_a_handout_is_two_pages(page, chapter: manuscript.Page, tmp_path: Path) -> None:
    """With all that its deck shows; no link, no solution, nothing that hangs out."""
    text = handouts.handout(chapter, BOOK)
    shown = slides.of_chapter(chapter, BOOK).slides
    assert text.count("<img alt=") == sum(bool(slide.figure) for slide in shown) > 0
    assert text.count("∎") == sum(bool(slide.proof) for slide in shown)
    assert text.count(f"<h3>{slides.inline(chapter.exercises[0].title)}</h3>") == 1
    assert "Exercises</h2>" in text.partition(chapter.exercises[0].title[:20])[0]
    assert "href" not in text and "file:" not in text and ":::" not in text
    for cell in chapter.code_cells:
        assert not cell.tagged("solution-") or cell.source not in text
    page.set_content(text)
    path = tmp_path / "a.pdf"
    handouts.to_pdf(page, path, 2)
    assert path.read_bytes().count(b"/MediaBox") == 2


def test_what_is_too_long_is_refused(page, tmp_path: Path) -> None:
    """Nobody reads letters of four points."""
    page.set_content("<p>Long.</p>" * 999)
    with pytest.raises(SystemExit, match="more than 2 pages"):
        handouts.to_pdf(page, tmp_path / "a.pdf", 2)


def test_the_page_for_the_room_is_one_page(page, tmp_path: Path) -> None:
    """A section of the page for teachers, and nothing else, and no link of ours."""
    site = tmp_path / "teach.html"
    rows = "<p><a href='a.html'>One</a> <a href='https://a.b'>two</a>.</p>"
    site.write_text(HTML.format(STYLE, LAB.format(rows)), encoding="utf-8")
    page.goto(site.as_uri())
    page.evaluate(handouts.LAB)
    handouts.to_pdf(page, tmp_path / "lab.pdf", 1)
    assert (tmp_path / "lab.pdf").read_bytes().startswith(b"%PDF")
    assert page.locator("article").inner_text().split() == ["A", "lab", "One", "two."]
    assert re.findall('href="(.*?)"', page.content()) == ["https://a.b"]
