"""On paper there is what the site shows, and nothing that stops `make course`."""

from pathlib import Path

import pytest

from course import handouts
from pe_lib import explorers
from tests.website.built_site import Build
from website import manuscript

BOOK = manuscript.read()
PAGE = BOOK.pages["book/sinusoidal/rotation"]
STYLE = (manuscript.ROOT / "website/static/book.css").read_text(encoding="utf-8")
HTML = "<!doctype html><html><style>{}</style><article>{}</article></html>"


CELL = "<div class='cell'><figure><figcaption>A caption.</figcaption></figure></div>"
HIDDEN, ABOVE = "<p style='display: none'>Hidden.", "<p style='margin-top: -2em'>Above."


def test_every_chapter_can_be_printed(
    browser, built: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In both editions, as parts of the whole book, too; and the page for the room."""
    monkeypatch.setattr(handouts, "SITE", built.folder)
    page = handouts.sheet(browser)
    articles = []
    for chapter in BOOK.notebooks:
        handouts.show(page, chapter, "student")
        page.evaluate(handouts.OPEN_ALL)
        handouts.refuse_covered(page)
        article = page.locator("article").inner_html()
        articles.append([f"{chapter.name}.html", article])
    handouts.join(page, articles)
    assert page.locator("article figcaption").count() >= len(BOOK.figures)
    handouts.write_lab(page, tmp_path / "lab.pdf")
    page.close()


@pytest.fixture()
def page(browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A page of the browser; the site is a folder with one chapter."""
    monkeypatch.setattr(handouts, "SITE", tmp_path)
    drawing = explorers.Rotation()._repr_html_()
    path = tmp_path / f"{PAGE.name}.html"
    path.parent.mkdir(parents=True)
    path.write_text(HTML.format(STYLE, drawing), encoding="utf-8")
    opened = browser.new_page()
    yield opened
    opened.close()


def test_an_explorer_is_a_figure_on_paper(page) -> None:
    """Its first state is there, its controls are not, and it says so."""
    handouts.show(page, PAGE, "student")
    assert page.locator(".pe-explorer svg").first.is_visible()
    assert not page.locator(".pe-explorer .take").first.is_visible()
    content = "e => getComputedStyle(e, '::after').content"
    assert "as it begins" in page.locator(".pe-explorer .goal").evaluate(content)


@pytest.mark.parametrize(
    ("after", "covered"),
    [("<p>Below.", 0), (HIDDEN, 0), (f"{HIDDEN}{ABOVE}", 1), (ABOVE, 1)],
)
def test_what_is_printed_over_a_caption_is_refused(page, after, covered) -> None:
    """By the next thing that is printed at all."""
    page.set_content(CELL + after)
    assert len(page.evaluate(handouts.COVERED)) == covered
    if covered:
        with pytest.raises(SystemExit, match="printed over 'A caption"):
            handouts.refuse_covered(page)


def test_a_lost_part_of_a_drawing_is_refused(page) -> None:
    """One that points to a shape of another chapter, or to none."""
    drawing = "<svg><path id='{}'/><use href='#{}'/></svg>".format
    page.set_content("<article></article>")
    handouts.join(page, [["a.html", drawing(1, 1)], ["b.html", drawing(1, 1)]])
    with pytest.raises(SystemExit, match="drawings of the whole book lack"):
        handouts.join(page, [["a.html", drawing(1, 1)], ["b.html", drawing(2, 1)]])


def test_the_page_for_the_room_is_one_page(page, tmp_path: Path) -> None:
    """A section of the page for teachers, and nothing else of it."""
    lab = (
        '<p>Before.</p><section><span id="lab-guide"></span><h2>A lab</h2>{}</section>'
        "<p>After.</p>"
    )
    site = tmp_path / "book/teach.html"
    site.write_text(HTML.format(STYLE, lab.format("<p>One.</p>")), encoding="utf-8")
    handouts.write_lab(page, tmp_path / "instructor/lab.pdf")
    assert (tmp_path / "instructor/lab.pdf").read_bytes().startswith(b"%PDF")
    assert page.locator("article").inner_text().split() == ["A", "lab", "One."]
    site.write_text(HTML.format(STYLE, lab.format("<p>One.</p>" * 99)), "utf-8")
    with pytest.raises(SystemExit, match="pages, and a lecturer"):
        handouts.write_lab(page, tmp_path / "lab.pdf")
