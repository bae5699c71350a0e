"""The form of the pages: short main text, picture first, folds with their result."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import manuscript
import page_form
import pytest
from manuscript import Cell, Manuscript, Page

BOOK = manuscript.read()
FOLLOWING = dict(zip(BOOK.spine, [*BOOK.spine[1:], None], strict=True))

each_spine = pytest.mark.parametrize("page", BOOK.spine, ids=lambda page: page.name)
each_notebook = pytest.mark.parametrize(
    "page", BOOK.notebooks, ids=lambda page: page.name
)


def none(faults: Iterable[str]) -> None:
    """There are no faults; those that there are, one a line."""
    found = list(faults)
    if found:
        pytest.fail("\n".join(found), pytrace=False)


@each_spine
def test_lengths(page: Page) -> None:
    """At most 900 words, 45 visible lines of code, 10 minutes."""
    none(page_form.lengths(page))


def test_hour() -> None:
    """The spine in 90 minutes."""
    none(page_form.hour(BOOK))


@each_spine
def test_beginning(page: Page) -> None:
    """The question, the answer, the set-up, the picture."""
    none(page_form.beginning(page))


@each_spine
def test_order(page: Page) -> None:
    """What is folded comes after what is read."""
    none(page_form.order(page))


@each_spine
def test_ending(page: Page) -> None:
    """**And now?**"""
    none(page_form.ending(page, FOLLOWING[page]))


@each_notebook
def test_deeper_sections(page: Page) -> None:
    """A fold shows its result in one sentence."""
    none(page_form.deeper(page))


@each_notebook
def test_checked(page: Page) -> None:
    """A folded check asserts."""
    none(page_form.checked(page))


@each_spine
def test_only_asserts(page: Page) -> None:
    """A cell that only asserts is folded."""
    none(page_form.only_asserts(page))


@each_spine
def test_reserved_letters(page: Page) -> None:
    """One name a thing."""
    none(page_form.reserved(page))


@each_notebook
def test_norms(page: Page) -> None:
    """A text has a length, a vector a norm."""
    none(page_form.norms(page))


# The checks themselves, on a page that is right and then is not

FIGURE = {"mystnb": {"figure": {"name": "fig-a"}}}
CHECK = {"checked": "four heads, one winner"}
GOOD: dict[str, Cell | str] = {
    "title": "(a)=\n# A claim\n\n**Who won?** Three words.\n\n*In one line:* nobody.",
    "imports": Cell("imports", "code", "import a\n" * 9, {"tags": ["setup"]}),
    "figure": Cell("figure", "code", "draw()\n" * 20, FIGURE),
    "opening": ":::{dropdown} Before you start\n- **You need** more.\n:::\n\nRead it.",
    "idea": Cell("idea", "code", "x = 1\n\nprint(x)", {}),
    "check": Cell("check", "code", "assert x == y\n", CHECK),
    "now": "## One idea\n\nText.\n\n**And now?** Then [what](b.ipynb#part)?",
    "deeper": "## Deeper: more\n\nThe result is $x$, by {cite:t}`a2017`.\n\n### In it",
    "far": Cell("far", "code", "y = 2\n" * 25, {}),
    "recall": "## Do you remember?\n\n" + "word " * 1000,
    "exercises": "## Exercises",
}


def page(name: str = "book/part/a", **changes: Cell | str) -> Page:
    """The page, with other cells in the place of some."""
    cells = [
        Cell(key, "markdown", cell, {}) if isinstance(cell, str) else cell
        for key, cell in (GOOD | changes).items()
    ]
    return Page(name, Path("a.ipynb"), tuple(cells))


def every_fault(made: Page) -> Iterator[str]:
    """What all checks find."""
    for check in (
        page_form.lengths,
        page_form.beginning,
        page_form.order,
        page_form.deeper,
        page_form.checked,
        page_form.only_asserts,
        page_form.reserved,
        page_form.norms,
    ):
        yield from check(made)
    yield from page_form.ending(made, page("book/part/b"))


def test_a_good_page() -> None:
    """It has no faults; recall, folds, set-up, figures and checks do not count."""
    assert list(every_fault(page())) == []
    assert page().length == (15, 2)


def code(source: str, **metadata: object) -> Cell:
    """A cell that was changed."""
    return Cell("changed", "code", source, metadata)


def captioned(words: int) -> Cell:
    """A figure with a caption of so many words."""
    figure = {"name": "fig-a", "caption": "word " * words}
    return Cell("figure", "code", "draw()", {"mystnb": {"figure": figure}})


def test_captions_and_explorers_take_time() -> None:
    """170 words a minute in captions too, half a minute an explorer."""
    explorer = ({"data": {"text/html": '<div class="pe-explorer x">'}},)
    playing = page(check=Cell("check", "code", "play()", {}, explorer))
    assert page(figure=captioned(170)).seconds == pytest.approx(page().seconds + 60)
    assert playing.seconds == pytest.approx(page().seconds + 30)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"idea": "word " * 900}, "words, at most 900"),
        ({"idea": code("x = 1\n" * 46)}, "46 visible lines of code, at most 45"),
        (
            {
                "figure": captioned(300),
                "idea": "word " * 890,
                "now": code("x = 1\n" * 45),
            },
            "minutes, at most 10",
        ),
        ({"title": "# A\n\n**Bold.** W?\n\n*In one line:* no."}, "asks no question"),
        ({"title": "# A\n\n**Who?** In one line: no."}, "does not answer"),
        ({"imports": code("import a")}, "begins with ['text', 'idea', 'figure']"),
        ({"figure": code("draw()")}, "begins with ['text', 'setup', 'idea']"),
        ({"imports": "Prose first."}, "begins with ['text', 'text', 'figure']"),
        ({"recall": "## Summary\n\nAll."}, "'Summary' stands below 'Deeper: more'"),
        ({"recall": "More."}, "does not end with"),
        ({"exercises": "## Exercises\n\n## More"}, "'More' stands below 'Exercises'"),
        ({"now": "## One idea\n\nAnd now?"}, "does not end with a paragraph"),
        ({"now": "**And now?** [That](b.ipynb)\n\nMore."}, "does not end with a para"),
        ({"now": "**And now?** See [that](c.ipynb)."}, "does not link to book/part/b"),
        ({"deeper": "## Deeper: more\n\nOne. Two."}, "is more than one sentence"),
        ({"deeper": "## Deeper: more\n\n" + "word " * 31 + "."}, "has 31 words"),
        ({"deeper": "## Deeper: more\n\nIt is so:"}, "is no sentence"),
        ({"deeper": "## Deeper: more\n\n$$\na\n$$"}, "does not begin with its result"),
        ({"deeper": "## Deeper: more"}, "does not begin with its result"),
        ({"check": code("print(x)", checked="it holds")}, "nothing is asserted"),
        ({"check": code("assert x", checked="it holds.")}, "no final stop"),
        ({"check": code("assert x", checked="")}, "one sentence"),
        ({"check": code("assert x", checked="[it](#a) holds")}, "no link"),
        ({"check": code("assert x", **FIGURE, **CHECK)}, "whose role is figure"),
        ({"check": code("assert x\nassert y")}, "only asserts"),
        ({"idea": r"The speed $\omega_k$."}, "a hand is j"),
        ({"idea": code("w = base ** (-2 * k / d)")}, "a hand is j"),
        ({"idea": "Column $P_{t,2k+1}$ and $10^{-2k/d}$."}, "a hand is j"),
        ({"idea": "The matrix $T_k$."}, "a shift is T(k)"),
        ({"idea": r"$PE_{pos}$"}, "a position is t"),
        ({"idea": "The code $P_i$."}, "a position is t"),
        ({"idea": r"The round $\lambda_{m}$."}, "a hand is j"),
        ({"idea": "Hand $k$ turns."}, "a hand is j"),
        ({"idea": "The PE is added."}, "the table P"),
        ({"idea": r"By $\delta$ words."}, "an offset k"),
        ({"idea": r"$P_s \cdot W P_t$"}, "a score is"),
        ({"idea": "The length of a code."}, "a vector has a norm"),
        ({"deeper": "## Deeper: more\n\nTwo vectors of equal length."}, "has a norm"),
        ({"check": code("assert x", checked="all codes are equally long")}, "a norm"),
    ],
)
def test_faults_are_seen(changes: dict[str, Cell | str], fault: str) -> None:
    """Each mutation by the check that is meant, and named."""
    found = list(every_fault(page(**changes)))
    assert any(fault in each for each in found), found


def test_a_page_outside_the_main_text_may_be_long() -> None:
    """Letters and words below "Deeper" are free; the last page asks nothing more."""
    made = page(far=r"$\omega_k$ and " + "word " * 2000, now="## One idea\n\nText.")
    assert list(page_form.lengths(made)) == list(page_form.reserved(made)) == []
    assert list(page_form.ending(made, None)) == []


def test_a_question_quoted_in_a_sentence_is_one() -> None:
    """What goes on in small letters has not ended."""
    made = page(deeper="## Deeper: more\n\n“Is it so?” is a question, e.g. here.")
    assert list(page_form.deeper(made)) == []


@pytest.mark.parametrize(("words", "faults"), [(900, 0), (960, 1)])
def test_the_hour_is_measured(words: int, faults: int) -> None:
    """Sixteen pages of 5 minutes and 40 seconds are too much."""
    pages = {f"p{i}": page(f"p{i}", idea="word " * words) for i in range(16)}
    book = Manuscript(Path(), {"index": ""} | dict.fromkeys(pages, "Hour"), pages, {})
    assert len(book.spine) == 16
    assert len(list(page_form.hour(book))) == faults


def test_only_the_first_part_is_the_spine() -> None:
    """Pages of other parts, and the first page, do not belong to the hour."""
    pages = {name: page(name) for name in ("index", "a", "b")}
    contents = {"index": "", "a": "Hour", "b": "Deeper"}
    book = Manuscript(Path(), contents, pages, {})
    assert [each.name for each in book.spine] == ["a"]


def test_roles() -> None:
    """A tag, a picture, an explorer, a sentence, an exercise; else the idea."""
    explorer = ({"data": {"text/html": '<div class="pe-explorer x">'}},)
    roles: list[tuple[str, Callable[[Cell], Cell]]] = [
        ("idea", lambda c: c),
        ("setup", lambda c: replace(c, metadata={"tags": ["setup"]})),
        ("figure", lambda c: replace(c, metadata=FIGURE)),
        ("figure", lambda c: replace(c, metadata=FIGURE | {"tags": ["claim-a"]})),
        ("explorer", lambda c: replace(c, outputs=explorer)),
        ("check", lambda c: replace(c, metadata=CHECK)),
        ("exercise-check", lambda c: replace(c, metadata={"tags": ["check-a"]})),
        ("exercise", lambda c: replace(c, metadata=FIGURE | {"tags": ["solution-a"]})),
        ("text", lambda c: replace(c, kind="markdown")),
    ]
    for role, change in roles:
        assert change(Cell("x", "code", "x = 1", {})).role == role


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Two words.", 2),
        ("A formula $a + b = c$ is one.", 5),
        ("$$\na + b\n$$", 1),
        ("[Two words](some/place.md#there) here", 3),
        ("{cite:t}`vaswani2017` said <!-- not measured: a year --> so", 3),
        ("```python\nx = 1\n```\n", 0),
        (":::{margin}\n:class: small\nOne note.\n:::", 2),
        ("| a | b |\n|---|---|\n| c | d |", 4),
        ("(label)=\n% a comment\nWord, – and word.", 3),
    ],
)
def test_words(text: str, words: int) -> None:
    """What one reads."""
    assert manuscript.count_words(text) == words
