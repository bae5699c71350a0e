"""On paper there is what the site shows, and nothing that stops `make course`."""

import re
from pathlib import Path

import pytest
from PIL import Image

import manuscript
from course import handouts, slides

BOOK = manuscript.read()
PAGES = [*BOOK.path_pages, *BOOK.model_pages]
DRAWN = re.compile('base64,[^"]*')


@pytest.fixture()
def page(browser):
    """A page of the browser."""
    opened = browser.new_page()
    yield opened
    opened.close()


def test_a_handout_is_two_pages(page, tmp_path: Path) -> None:
    """With all that its deck shows; no link, no solution; the longest fits, too.

    `make course` prints them all.
    """
    texts = {chapter: handouts.handout(chapter, BOOK) for chapter in PAGES}
    for chapter, text in texts.items():
        shown = slides.of_chapter(chapter, BOOK).slides
        assert text.count("<img alt=") == sum(bool(slide.figure) for slide in shown) > 0
        assert text.count("∎") == sum(bool(slide.proof) for slide in shown)
        titles = [f"<h3>{slides.inline(one.title)}</h3>" for one in chapter.exercises]
        assert [text.count(title) for title in titles] == [1] * len(titles)
        assert "Exercises</h2>" in text.partition(titles[0])[0]
        assert not re.search("href|file:|:::", text)
        for cell in chapter.code_cells:
            assert not cell.tagged("solution-") or cell.source not in text
    path = tmp_path / "a.pdf"
    for text in sorted(texts.values(), key=lambda text: len(DRAWN.sub("", text)))[-3:]:
        handouts.to_pdf(page, text, path, 2)
        assert path.read_bytes().count(b"/MediaBox") == 2


def test_what_is_too_long_is_refused(page, tmp_path: Path) -> None:
    """Nobody reads letters of four points."""
    with pytest.raises(SystemExit, match="more than 2 pages"):
        handouts.to_pdf(page, "<p>Long.</p>" * 400, tmp_path / "a.pdf", 2)


def test_the_page_for_the_room_is_one_page(page, tmp_path: Path) -> None:
    """A section of the page for teachers, and nothing else; all twelve rows."""
    text = handouts.lab(BOOK)
    assert (
        text.count("<tr>") == 1 + 12 and "href" not in text and "<!--" not in text[15:]
    )
    assert "<h1>A lab, minute by minute</h1>" in text and "syllabus" not in text
    handouts.to_pdf(page, text, tmp_path / "lab.pdf", 1)


def test_a_figure_is_a_picture_and_a_page_of_its_size(page, tmp_path: Path) -> None:
    """The page has a line of credit below it."""
    _, cell = BOOK.figures["fig-dials"]
    handouts.draw(page, cell.drawings[-1], "Six hands", tmp_path / "fig")
    with Image.open(tmp_path / "fig.png") as picture:
        width, height = picture.size
    (box,) = re.findall(
        rb"MediaBox \[0 0 (\S+) (\S+)\]", (tmp_path / "fig.pdf").read_bytes()
    )
    assert abs(float(box[0]) - 0.75 * width) < 1
    assert 9 < float(box[1]) - 0.75 * height < 13
    assert page.locator("div").get_attribute("aria-label") == "Six hands"
    assert page.locator("p").inner_text() == slides.CREDIT
