"""The rules of ``page_rules.py`` over every page, and over one that breaks them all."""

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

import manuscript
from manuscript import Page, pages
from manuscript.values import MARK
from tests.book import page_rules as rules
from tests.made_page import made_page

BOOK = manuscript.read()
SHORT = [*BOOK.path_pages, *BOOK.model_pages]
FOLLOWING = dict(pairwise(SHORT))


def faults(page: Page, *some: list[rules.Rule]) -> list[str]:
    """What the rules of these lists find."""
    return [fault for listed in some for rule in listed for fault in rule(page)]


def unmet(name: str, remedies: rules.Remedies) -> list[str]:
    """What of a rule beside another page does not hold."""
    return [f"{name}: {remedy}" for remedy, held in remedies.items() if not held]


def beside(page: Page, following: Page | None, other: Page | None) -> list[str]:
    """What it lacks of the next page, and of its companion."""
    found = unmet("ending", rules.ending(page, following)) if following else []
    return found + (unmet("deeper", rules.deeper(page, other)) if other else [])


@pytest.mark.parametrize("name", BOOK.listed)
def test_page(name: str) -> None:
    """Each fault of a page, one a line, with its remedy."""
    page = BOOK.pages[name]
    found = faults(page, rules.EVERY)
    if page.is_notebook:
        found += faults(page, rules.CHAPTER)
        found += unmet("furniture", rules.furniture(page, told=page in SHORT))
    if page in SHORT:
        found += faults(page, rules.SHORT)
        found += beside(page, FOLLOWING.get(page), BOOK.pages.get(f"{name}_deeper"))
    if found:
        pytest.fail("\n".join([name, *found]), pytrace=False)


# One page that breaks each rule, and one that breaks none

EXERCISE = """\
:::{{exercise}} Try it. {0}
:label: ex-a

Write it.
:::

:::{{solution-start}} ex-a
:class: dropdown
:::"""
SVG = '<svg viewBox="0 0 {0} 9" style="font-size: 12px">{1}</svg>'


def described(name: str, alt: str, caption: str) -> dict[str, object]:
    """The metadata of a figure."""
    return {
        "mystnb": {"figure": {"name": name, "caption": caption}, "image": {"alt": alt}}
    }


def drawing(width: int, inside: str) -> dict[str, object]:
    """An output that is a figure."""
    return {"data": {"image/svg+xml": SVG.format(width, inside)}}


GOOD = [
    "(a)=\n# A claim\n\n**Who won?** Three words of positional encoding.",
    ("import a\n\n" + MARK + '\nD = chosen(4, "2 to 9")  # width', "setup parameters"),
    ("draw(D)", described("fig-a", "a" * 41, "b" * 21), drawing(300, "")),
    ":::{dropdown} Before you start\n- **You will be able to** read.\n"
    "- **You need** No other chapter.\n:::\n\nRead it.",
    ("x = 1\n\nprint(x)", ""),
    ("assert x == y", "claim-a", {"checked": "one winner"}),
    "## One idea\n\n*In one line:* nobody.\n\n**And now?** Then [what](b.ipynb#part)?",
    "## Do you remember?\n\n" + "word " * 1000,
    "## Exercises\n\n" + EXERCISE.format("Build, 5 minutes"),
    ("f = 1", "solution-ex-a"),
    ":::{solution-end}\n:::",
    ("assert f == x", "check-ex-a"),
    "## Deeper\n\n- [More](a_deeper.ipynb#more)",
]
COMPANION = [
    "# Deeper in it",
    "## More\n\nThe result is $x$.",
    ("y = 2\n" * 25, ""),
]
BROKEN = [
    "# " + "long " * 13 + "\n\n**Bold.** " + 2 * "*In one line:* no. ",
    ("import a\n" * 12 + MARK + '\nA = chosen(9, "5 to 4")  # width', "parameters"),
    "The length of a code, $\\omega_k$, " + "word " * 2000,
    *4 * ["b"],
    ("draw()", {}, drawing(300, "")),
    (
        "draw()",
        {**described("a", "dark", "dark"), "checked": ""},
        drawing(400, '<g id="DejaVuSans-61">'),
    ),
    *28 * ["b"],
    (
        "import b\n" + "y = 1\n" * 50 + "y = 'http://a.org', '/" + "a" * 60 + "';",
        "nbval-skip",
        {"collapsed": True},
        {"name": "stderr", "text": "long " * 9},
        {"data": {"image/png": "", "text/html": "<table>"}},
    ),
    ("assert 1 + 1 == 2", "claim-a"),
    ("assert x is x", "claim-a"),
    ("print(x)", "claim-b", {"checked": "[a](b)."}),
    "## Exercises\n\n" + EXERCISE.format("Sing, 99 minutes"),
    EXERCISE.format("Build, 9 minutes"),
    EXERCISE.format("Predict, 9 minutes"),
    ("f = 1", "check-ex-a"),
    "## Deeper\n\n- [More](a_deeper.ipynb#more): the result is $y$.\n"
    "- [A title of just one word too many](a_deeper.ipynb#more)",
]
SEEN = {
    **{"in_the_fields_words": 3, "opening": 2, "executed": 2, "set_up": 3, "code": 4},
    **{"asserted": 5, "checked": 3, "outputs": 4, "letters": 1, "figures": 7},
    **{"exercises": 2, "tasks": 2, "lengths": 3, "notebook": 2, "in_view_is_short": 3},
    **{"outline": 4, "furniture": 2, "ending": 1, "deeper": 1},
}
"""How often each rule is broken on it."""


def every(page: Page, following: Page, companion: Page) -> list[str]:
    """What any rule finds."""
    found = faults(page, rules.EVERY, rules.CHAPTER, rules.SHORT)
    found += unmet("furniture", rules.furniture(page, told=True))
    return found + beside(page, following, companion)


@pytest.fixture
def good() -> Page:
    """A page that breaks no rule."""
    return replace(made_page(*GOOD), description="What one finds.")


def test_each_rule_sees_its_faults(good: Page) -> None:
    """Each as often as it is broken; and none where there is none."""
    following = made_page(name="book/part/b")
    companion = made_page(*COMPANION, name=f"{good.name}_deeper")
    assert every(good, following, companion) == []
    found = every(made_page(*BROKEN), following, companion)
    assert Counter(fault.partition(":")[0] for fault in found) == SEEN, found


def test_rules_that_no_page_breaks_beside_the_others(good: Page) -> None:
    """Another order of cells, no exercise, another next page."""
    for remedies, fault in (
        (rules.executed(replace(good, cells=good.cells[::-1])), "run it"),
        (rules.exercises(replace(good, cells=())), "one to four exercises, not 0"),
        (rules.ending(good, made_page(name="book/part/c")), "does not link"),
    ):
        (found,) = unmet("", remedies)
        assert fault in found


# Names and minutes


def bare(name: str) -> str:
    """A page's name as a sentence may have it: without an article, in small letters."""
    return name.casefold().removeprefix("the ").removeprefix("a ")


PAGE_LINK = re.compile(r"\[([^\[\]]+)\]\(([^)#\s]+)\.ipynb\)")


@pytest.mark.parametrize("name", ["book/teach", "README", *map(str, BOOK.listed)])
def test_a_page_has_one_name(name: str) -> None:
    """As in the menu: in lecture plans, the README's table, and *You need*."""
    page = BOOK.pages.get(name) or manuscript.read_page(name, BOOK.root / f"{name}.md")
    tables = "\n".join(x for x in page.text.splitlines() if x.startswith("| "))
    text = page.opening.get("You need", "") if page.is_notebook else tables
    found = PAGE_LINK.findall(text)
    assert len(found) > 12 or name not in ("book/teach", "README")
    for words, link in found:
        menu = BOOK.short[page.named(link).lstrip("/")]
        assert bare(words) == bare(menu), f"{words!r} is {menu!r} in _toc.yml"


def test_what_counts_as_reading(good: Page) -> None:
    """Recall, folds and exercises do not."""
    word, line = 60 / pages.WORDS_A_MINUTE, pages.SECONDS_A_LINE
    picture, drawing = pages.SECONDS_A_PICTURE, pages.SECONDS_AN_EXPLORER
    html = {"data": {"text/html": '<div class="pe-explorer"></div>'}}
    assert good.length == (17, 2)
    for part, seconds in (
        (("assert x", {"checked": "word " * 9}), 9 * word),
        (("Dial()", html), drawing),
        (("x = 1\n\nx",), 2 * line),
        ("$$\na\n$$", picture + word),
        (("draw()", described("fig-b", "", "word " * 9)), picture + 9 * word),
    ):
        (cell,) = made_page(part).cells
        longer, exercised = (
            replace(good, cells=(*good.cells[:at], cell, *good.cells[at:]))
            for at in (3, -1)
        )
        assert longer.seconds == pytest.approx(good.seconds + seconds)
        assert exercised.seconds == good.seconds


@pytest.mark.parametrize("page", BOOK.path_pages, ids=lambda page: page.name)
def test_code_in_view_runs_after_the_set_up(page: Page) -> None:
    """Nobody who copies both needs a cell that is folded."""
    names: dict[str, object] = {}
    for cell in page.code_cells:
        if cell.id == "for-exercises":
            break
        if cell.role in ("setup", "idea"):
            exec(cell.source, names)
