"""The form of the pages: short main text, picture first, folds with their result."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.book import page_form
from website import manuscript
from website.manuscript import Cell, Page

BOOK = manuscript.read()
FOLLOWING = dict(zip(BOOK.path_pages, BOOK.path_pages[1:], strict=False))


@pytest.mark.parametrize("page", BOOK.notebooks, ids=lambda page: page.name)
def test_form(page: Page) -> None:
    """Each fault of a chapter, one a line, with its remedy."""
    faults = list(page_form.faults(page))
    if page in BOOK.path_pages:
        faults += page_form.faults_of_the_path(page, FOLLOWING.get(page))
    if faults:
        pytest.fail("\n".join([page.name, *faults]), pytrace=False)


@pytest.mark.parametrize("name", BOOK.listed)
def test_words(name: str) -> None:
    """Title, description, first words, lines of checks."""
    if faults := list(page_form.in_the_fields_words(BOOK.pages[name])):
        pytest.fail("\n".join([name, *faults]), pytrace=False)


def test_path() -> None:
    """The first part of _toc.yml in 100 minutes."""
    minutes = sum(page.seconds for page in BOOK.path_pages) / 60
    assert minutes <= 100, "the path is too long: move text into '## Deeper: ...'"


FIGURE = {"mystnb": {"figure": {"name": "fig-a"}}}
GOOD: dict[str, Cell | str] = {
    "title": "(a)=\n# A claim\n\n**Who won?** Three words.\n\n*In one line:* nobody.",
    "imports": Cell("imports", "code", "import a\n" * 9, {"tags": ["setup"]}),
    "figure": Cell("figure", "code", "draw()\n" * 20, FIGURE),
    "opening": ":::{dropdown} Before you start\n- **You need** more.\n:::\n\nRead it.",
    "idea": Cell("idea", "code", "x = 1\n\nprint(x)", {}),
    "check": Cell("check", "code", "assert x == y\n", {"checked": "one winner"}),
    "now": "## One idea\n\nText.\n\n**And now?** Then [what](b.ipynb#part)?",
    "deeper": "## Deeper: more\n\nThe result is $x$, by {cite:t}`a2017`.\n\n### In it",
    "far": Cell("far", "code", "y = 2\n" * 25, {}),
    "recall": "## Do you remember?\n\n" + "word " * 1000,
    "exercises": "## Exercises",
}


def made(name: str = "book/part/a", **changes: Cell | str) -> Page:
    """A good page, with other cells in the place of some."""
    cells = [
        Cell(key, "markdown", cell, {}) if isinstance(cell, str) else cell
        for key, cell in (GOOD | changes).items()
    ]
    return Page(name, Path("a.ipynb"), tuple(cells))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, ""),
        (
            {"far": r"$\omega_k$ and " + "word " * 2000},
            "",
        ),  # letters of a fold are free
        ({"idea": "word " * 900}, "words, at most 800"),
        ({"title": "# A\n\n**Bold.** W?\n\n*In one line:* no."}, "asks no question"),
        ({"imports": "Prose first."}, "begins with ['text', 'text', 'figure']"),
        ({"recall": "## Summary\n\nAll."}, "'Summary' stands below 'Deeper: more'"),
        ({"now": "## One idea\n\nAnd now?"}, "does not end with a paragraph"),
        ({"now": "**And now?** See [that](c.ipynb)."}, "does not link to book/part/b"),
        ({"deeper": "## Deeper: more\n\nOne. Two."}, "one sentence of 30 words"),
        ({"check": Cell("a", "code", "x", {"checked": "it holds"})}, "asserts nothing"),
        ({"check": Cell("a", "code", "assert x", {})}, "only asserts"),
        ({"idea": r"The speed $\omega_k$."}, "a hand is j"),
        ({"idea": "The length of a code."}, "a vector has a norm"),
    ],
)
def test_faults_are_seen(changes: dict[str, Cell | str], fault: str) -> None:
    """Each by the check that is meant; none where there is none."""
    page = made(**changes)
    following = made("book/part/b")
    found = [*page_form.faults(page), *page_form.faults_of_the_path(page, following)]
    assert found == [] if not fault else any(fault in each for each in found), found


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, ""),
        ({"title": "# " + "long " * 13}, "a title of"),
        ({"opening": "Positional encodings are not named."}, ""),
        ({"opening": "Nothing is named."}, "the first 100 words"),
        ({"check": Cell("a", "code", "assert x", {"checked": "w " * 7})}, "6 words"),
    ],
)
def test_words_are_seen(changes: dict[str, Cell | str], fault: str) -> None:
    """Each by the check that is meant; a page without a description, too."""
    page = made(**({"opening": "A positional encoding."} | changes))
    found = list(page_form.in_the_fields_words(page))
    assert any("no description" in each for each in found)
    page = replace(page, description="What one finds.")
    found = list(page_form.in_the_fields_words(page))
    assert found == [] if not fault else any(fault in each for each in found), found


def test_what_counts_as_reading() -> None:
    """Recall and folds do not; captions, lines of checks, formulas take time."""
    caption = {"mystnb": {"figure": {"name": "fig-a", "caption": "word " * 120}}}
    check = {"checked": "word " * 120}
    changes = (
        ({"figure": Cell("figure", "code", "draw()", caption)}, 60),
        ({"check": Cell("check", "code", "assert x == y", check)}, 59),
        ({"idea": "$$\na\n$$"}, 8.5),
    )
    assert made().length == (15, 2)
    for change, seconds in changes:
        assert made(**change).seconds == pytest.approx(made().seconds + seconds)
