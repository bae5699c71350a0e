"""On paper there is what the site shows, and the page for the room is one page."""

from pathlib import Path

import pytest

from course import handouts
from pe_lib import explorers
from website import manuscript

BOOK = manuscript.read()
PAGE = BOOK.pages["book/sinusoidal/rotation"]
STYLE = (manuscript.ROOT / "website/static/book.css").read_text(encoding="utf-8")
HTML = "<!doctype html><html><style>{}</style><article>{}</article></html>"


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
    assert not page.locator(".pe-explorer form").is_visible()
    content = "e => getComputedStyle(e, '::after').content"
    assert "as it begins" in page.locator(".pe-explorer .title").evaluate(content)


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
