"""A number in a sentence is what a cell computed; how: see ``measured_numbers``."""

import pytest
import yaml

import manuscript
from manuscript import ROOT
from tests.book import measured_numbers as numbers
from tests.made_page import made_page

BOOK = manuscript.read(remarks=True)
README = manuscript.read_page("README", ROOT / "README.md", remarks=True)
PAGES = [*BOOK.pages.values(), README]
LISTED = yaml.safe_load((ROOT / "tests/book/not_measured.yml").read_bytes())
REMEDY = """
Is it right? Then quote the line that says it right behind it, 0.39<!-- best # -->: on
the path and on real models nothing else will do. Elsewhere say it in the words of the
output's line, or link to where it is computed, [58 %](#claim-x). Or give a reason in
the sentence, <!-- not measured: an example --> (for README, in not_measured.yml)."""


def unproved(page):
    """A line for each number that nothing proves, and each exemption that is idle."""
    idle = dict.fromkeys(LISTED.get(page.name, []))
    listed = [*idle]
    for text in numbers.passages(BOOK, page):
        for use in text.uses:
            places = numbers.evidence(BOOK, text, use)
            if numbers.proves(use, *places, text.drawn, text.strict):
                continue
            excused = [words for words in listed if words in use.sentence]
            for words in excused:
                idle.pop(words, None)
            if not excused:
                yield f"{text.section.title} | {use.text} | {use.sentence}"
    for words in idle:
        yield f"tests/book/not_measured.yml | {words} | excuses no number"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_numbers_are_proved(page):
    """By the cells beside them, or by those to which a link leads."""
    if lines := list(unproved(page)):
        pytest.fail("\n".join([page.name, *lines]) + REMEDY, pytrace=False)


@pytest.mark.parametrize(
    ("number", "printed", "right"),
    [
        ("58 %", "0.5812", True),
        ("57 %", "58%", False),
        ("58 rows", "58.2", False),
        ("about 29,500 steps", "29503", True),
        ("58 % at 2048", "32 1%\n64 2%\n128 3%\n256 4%\n512 5%\n2048 58%", True),
        ("58 % at 2048", "32 1%\n64 2%\n128 3%\n256 58%\n512 5%\n2048 4%", False),
        ("58 <!-- not measured: a guess -->", "", True),
        ("5<!-- best # -->", "best 5 of 9", True),
        ("9<!-- best # -->", "best 5 of 9", False),
        ("nine<!-- best * of # -->", "best 5 of 9", True),
        ("58 %<!-- off by # -->", "off by 0.58", True),
        ("5<!-- best # -->", "best 5\nbest 6", False),
        ("5<!-- best # -->", "at best 5.1", False),
        ("5<!-- no such # -->", "best 5", False),
        ("5<!-- est # -->", "best 5", False),
        ("5<!-- # m -->", "5 mm", False),
    ],
)
def test_what_proves_a_number(number, printed, right):
    """The same number, equally rounded, in the same unit, in a line that is meant."""
    page = made_page(f"# A\n\nIt has {number} here.", ("pass", {"text": printed}))
    assert (not list(unproved(page))) == right


PLAIN = manuscript.read()


@pytest.mark.parametrize(
    "page", [*PLAIN.path_pages, *PLAIN.model_pages], ids=lambda page: page.name
)
def test_without_its_marks_a_page_proves_no_number(page):
    """None of its main text, and none of its captions."""
    texts = [text for text in numbers.passages(PLAIN, page) if text.strict]
    figures = [cell.figure for part in page.main for cell in part.cells if cell.figure]
    assert {one.caption for one in figures} <= {text.source for text in texts}
    proved = [
        numbers.proves(
            use, *numbers.evidence(PLAIN, text, use), text.drawn, text.strict
        )
        for text in texts
        for use in text.uses
    ]
    assert proved and not any(proved)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("It takes 5 here.", ["5"]),
        ("It takes 5<!-- takes # --> here.", ["5"]),
        ("From 0 to 1, at keys 3, 4 and 5, in 1999.", []),
        ("It takes 5 <!-- not measured: an example --> here.", []),
        ("Query 3, or five<!-- or # -->, or nine.", ["five"]),
        ("It is 60° wide.", ["60"]),
    ],
)
def test_where_a_number_is_bound(text, asked):
    """Each is but what names a position and the like, digits below ten too."""
    assert [use.text for use in numbers.uses(text, strict=True)] == asked
