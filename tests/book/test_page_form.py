"""The form of the pages: short, picture first, and deeper sections in a list."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

import manuscript
from manuscript import Cell, Page, pages
from tests.book import page_form

BOOK = manuscript.read()
SHORT = [*BOOK.path_pages, *BOOK.model_pages]
FOLLOWING = dict(pairwise(SHORT))


@pytest.mark.parametrize("page", BOOK.notebooks, ids=lambda page: page.name)
def test_form(page: Page) -> None:
    """Each fault of a chapter, one a line, with its remedy."""
    told = page in SHORT
    faults = [*page_form.faults(page), *page_form.furniture(page, told)]
    if told:
        following, companion = FOLLOWING.get(page), BOOK.companion(page)
        faults += page_form.faults_of_the_path(page, following, companion)
    if faults:
        pytest.fail("\n".join([page.name, *faults]), pytrace=False)


@pytest.mark.parametrize("name", BOOK.listed)
def test_words(name: str) -> None:
    """Title, description, first words."""
    if faults := list(page_form.in_the_fields_words(BOOK.pages[name])):
        pytest.fail("\n".join([name, *faults]), pytrace=False)


def bare(name: str) -> str:
    """A page's name as a sentence may have it: without an article, in small letters."""
    return name.casefold().removeprefix("the ").removeprefix("a ")


@pytest.mark.parametrize("page", BOOK.notebooks, ids=lambda page: page.name)
def test_a_page_has_one_name(page: Page) -> None:
    """What one must know before is called as in the menu."""
    for words, link in page_form.PAGE_LINK.findall(page.opening.get("You need", "")):
        name = BOOK.short[page.named(link)]
        assert bare(words) == bare(name), f"{words!r} is {name!r} in _toc.yml"


@pytest.mark.parametrize("name", ["book/teach", "README"])
def test_tables_name_pages_as_the_menu_does(name: str) -> None:
    """Lecture plans, and the table of the README."""
    text = (BOOK.root / f"{name}.md").read_text(encoding="utf-8")
    rows = "\n".join(line for line in text.splitlines() if line.startswith("| "))
    folder = "book/" if name == "book/teach" else ""
    found = page_form.PAGE_LINK.findall(rows)
    assert len(found) > 12
    for words, link in found:
        menu = BOOK.short[folder + link]
        assert bare(words) == bare(menu), f"{words!r} is {menu!r} in _toc.yml"


def test_teach_states_the_rule() -> None:
    """From which a page's minutes are estimated, in numbers."""
    text = BOOK.pages["book/teach"].text
    for rule in (
        f"{pages.WORDS_A_MINUTE} words a minute",
        f"{pages.SECONDS_A_LINE} seconds per line of code",
        f"{pages.SECONDS_A_PICTURE} per picture or formula",
        f"{pages.SECONDS_AN_EXPLORER} per drawing",
    ):
        assert rule in text, f"Teach does not say {rule!r}"


FIGURE = {"mystnb": {"figure": {"name": "fig-a"}}}
GOOD: dict[str, Cell | str] = {
    "title": "(a)=\n# A claim\n\n**Who won?** Three words.",
    "imports": Cell("imports", "code", "import a\n" * 9, {"tags": ["setup"]}),
    "figure": Cell("figure", "code", "draw()\n" * 20, FIGURE),
    "opening": ":::{dropdown} Before you start\n- **You need** more.\n:::\n\nRead it.",
    "idea": Cell("idea", "code", "x = 1\n\nprint(x)", {}),
    "check": Cell("check", "code", "assert x == y\n", {"checked": "one winner"}),
    "now": "## One idea\n\n*In one line:* nobody.\n\n**And now?** [b](b.ipynb#part)",
    "recall": "## Do you remember?\n\n" + "word " * 1000,
    "exercises": "## Exercises",
    "deeper": "## Deeper\n\n- [More](a_deeper.ipynb#more)",
}
COMPANION: dict[str, Cell | str] = {
    "title": "# Deeper in it",
    "more": "## More\n\nThe result is $x$.\n\nLetters are free here, $\\omega_k$.",
    "far": Cell("far", "code", "y = 2\n" * 25, {}),
}


def a_page(name: str, parts: dict[str, Cell | str]) -> Page:
    """A notebook of these cells."""
    cells = [
        Cell(key, "markdown", cell, {}) if isinstance(cell, str) else cell
        for key, cell in parts.items()
    ]
    return Page(name, Path("a.ipynb"), tuple(cells))


def made(name: str = "book/part/a", **changes: Cell | str) -> Page:
    """A good page, with other cells in the place of some."""
    return a_page(name, GOOD | changes)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, ""),
        ({"idea": "word " * 900}, "words, at most 800"),
        ({f"more-{n}": "b" for n in range(42)}, "cells, at most 42"),
        ({"title": "# A\n\n**Bold.** W?"}, "asks no question"),
        ({"imports": "Prose first."}, "begins with ['text', 'text', 'figure']"),
        ({"recall": "## Summary\n\nAll."}, "ends with ['Summary', 'Exercises'"),
        ({"now": "## One idea\n\nAnd now?"}, "does not end with a paragraph"),
        ({"now": "**And now?** See [that](c.ipynb)."}, "does not link to book/part/b"),
        ({"title": "# A\n\n**W?**\n\n*In one line:* no."}, "*In one line:* 2 times"),
        ({"idea": "**And now?**", "now": ""}, "is not at its place"),
        ({"recall": "**Next:** more."}, "'Next:': say"),
        ({"deeper": "## Deeper\n\n- [Less](b.ipynb#less)"}, "no entry [More]"),
        ({"deeper": f"{GOOD['deeper']}: the result."}, "not a linked title alone"),
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
    found = [
        *page_form.faults(page),
        *page_form.furniture(page, told=True),
        *page_form.faults_of_the_path(
            page, following, a_page("book/part/a_deeper", COMPANION)
        ),
    ]
    assert found == [] if not fault else any(fault in each for each in found), found


def test_a_long_model_is_seen() -> None:
    """Cells and all lines, only where a whole model is."""
    hidden = Cell("hidden", "code", "x = 1\n" * 140, {"tags": ["setup"]})
    more = {f"more-{n}": "b" for n in range(16)}
    page = made(page_form.WHOLE, hidden=hidden, **more)
    assert [*page_form.whole(made(page_form.WHOLE))] == []
    assert [fault.partition(",")[0] for fault in page_form.whole(page)] == [
        "27 cells",
        "172 lines of code",
    ]


def test_a_long_cell_is_seen() -> None:
    """One in view; a set-up may be longer."""
    long = "x = 1\n" * 16
    setup = Cell("setup", "code", long, {"tags": ["setup"]})
    (fault,) = page_form.cells(made(long=Cell("long", "code", long, {}), setup=setup))
    assert fault == "long: 16 lines in view, at most 15"


@pytest.mark.parametrize("page", BOOK.path_pages, ids=lambda page: page.name)
def test_code_in_view_runs_after_the_set_up(page: Page) -> None:
    """Nobody who copies both needs a cell that is folded."""
    names: dict[str, object] = {}
    for cell in page.code_cells:
        if cell.id == "for-exercises":
            break
        if cell.role in ("setup", "idea"):
            exec(cell.source, names)


def test_late_exercises_are_seen() -> None:
    """A notebook begins with what one came for."""
    parts = [*GOOD.items()]
    late = parts[:4] + [(f"more-{n}", "b") for n in range(20)] + parts[4:]
    (fault,) = page_form.cells(a_page("book/part/a", dict(late)))
    assert "exercises begin at cell 29" in fault


@pytest.mark.parametrize(
    "more", ["One. Two.", "$$x$$", "It is so: a, b and c", "word " * 31 + "."]
)
def test_a_section_begins_with_its_result(more: str) -> None:
    """One sentence of words, with a stop, that fits the list."""
    companion = a_page("book/part/a_deeper", {"more": f"## More\n\n{more}"})
    (fault,) = page_form.deeper(made(), companion)
    assert "one sentence of 30 words" in fault


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, ""),
        ({"title": "# " + "long " * 13}, "a title of"),
        ({"opening": "Positional encodings are not named."}, ""),
        ({"opening": "Nothing is named."}, "the first 100 words"),
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
    word, line = 60 / pages.WORDS_A_MINUTE, pages.SECONDS_A_LINE
    changes = (
        ({"figure": Cell("figure", "code", "draw()", caption)}, 120 * word),
        ({"check": Cell("check", "code", "assert x == y", check)}, 118 * word),
        ({"idea": "$$\na\n$$"}, word + pages.SECONDS_A_PICTURE - 2 * line),
    )
    assert made().length == (13, 2)
    for change, seconds in changes:
        assert made(**change).seconds == pytest.approx(made().seconds + seconds)
