"""On paper there is what the site shows, and nothing that stops `make course`."""

import csv
import html
import re
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import manuscript
from course import handouts, slides
from tests.website.built_site import NO_BROWSER, find_browser

BOOK = manuscript.read()
PAGES = [*BOOK.path_pages, *BOOK.model_pages]
DRAWN = re.compile('base64,[^"]*')
TAGGED = b"/StructTreeRoot"  # for a screen reader


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    """The page that `make course` prints with."""
    if find_browser() is None:
        pytest.skip(NO_BROWSER)
    with handouts.browser() as opened:
        yield opened


def test_a_handout_is_two_pages(page, tmp_path: Path) -> None:
    """With all that its deck shows; no link, no solution; the longest fits, too.

    `make course` prints them all; the page for the room is one.
    """
    texts = {chapter: handouts.handout(chapter, BOOK) for chapter in PAGES}
    for chapter, text in texts.items():
        shown = slides.of_chapter(chapter, BOOK).slides
        assert text.count("<figcaption>") == sum(bool(one.figure) for one in shown) > 0
        places = [place for one in shown for place in one.places]
        quoted = [slides.quoted(*at, BOOK) for at in places if at[0] in slides.QUOTED]
        assert all(found and found[2] in text for found in quoted)
        assert f"<b>{slides.inline(chapter.question)}</b>" in text
        before, titles = text.partition("Exercises</h2>")[::2]
        for one in chapter.exercises:
            assert f"<h3>{slides.inline(one.title)}</h3>" in titles
            assert slides.inline(one.title) not in before
        assert not re.search("href|file:|:::", text)
        read = html.unescape(text)
        assert not [code for code in chapter.solutions.values() if code in read]
    lab = handouts.lab(BOOK)
    assert lab.count("<tr>") == 1 + 12 and "href" not in lab and "<!--" not in lab[15:]
    assert "<h1>A lab, minute by minute</h1>" in lab and "syllabus" not in lab
    longest = sorted(texts.values(), key=lambda text: len(DRAWN.sub("", text)))[-3:]
    path = tmp_path / "a.pdf"
    for text, sheets in (*((text, 2) for text in longest), (lab, 1)):
        handouts.to_pdf(page, text, path, sheets)
        assert path.read_bytes().count(b"/MediaBox") == sheets
        assert TAGGED in path.read_bytes()
    assert [*handouts.SCALES] == sorted(handouts.SCALES, reverse=True)
    with pytest.raises(SystemExit, match="more than 2 pages"):  # letters of four points
        handouts.to_pdf(page, "<p>Long.</p>" * 400, path, 2)


def test_figures_are_pictures_and_pages_of_their_size(
    page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A picture has twice as many dots; a page has a line of credit below it.

    A table has the texts of each figure of the chapters that are chosen.
    """
    monkeypatch.setattr(handouts, "browser", lambda: nullcontext(page))
    chosen = {name: its for name, (its, _) in BOOK.figures.items() if its in PAGES[:2]}
    handouts.write_figures(PAGES[:2], tmp_path)
    for name in chosen:
        with Image.open(tmp_path / f"{name}.png") as picture:
            width, height = picture.width / 2, picture.height / 2
        printed = (tmp_path / f"{name}.pdf").read_bytes()
        (box,) = re.findall(rb"MediaBox \[0 0 (\S+) (\S+)\]", printed)
        assert TAGGED in printed and abs(float(box[0]) - 0.75 * width) < 1
        assert 9 < float(box[1]) - 0.75 * height < 13
    with (tmp_path / "index.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["figure"]: row for row in csv.DictReader(file)}
    titles = {name: its.title for name, its in chosen.items()}
    assert {name: row["chapter"] for name, row in rows.items()} == titles
    assert all(row["credit"] == slides.CREDIT for row in rows.values())
    last = rows[[*rows][-1]]["alternative text"]
    assert page.locator("div").get_attribute("aria-label") == last != ""
    assert page.locator("p").inner_text() == slides.CREDIT
