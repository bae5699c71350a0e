"""A number in a sentence is what a cell computed; how: see ``prose_numbers``."""

import pytest
import yaml

import manuscript
from manuscript import ROOT, Cell, Page
from tests.book import prose_numbers as numbers

BOOK = manuscript.read()
README = manuscript.read_page("README", ROOT / "README.md")
PAGES = [*BOOK.pages.values(), README]
LISTED = yaml.safe_load((ROOT / "tests/book/not_measured.yml").read_bytes())
REMEDY = """
Is it right? Then say it in the words of the output's line, or link to where it is
computed, [58 %](#claim-x); or give a reason in the sentence,
<!-- not measured: an example --> (for README, in tests/book/not_measured.yml)."""


def unproved(page):
    """A line for each number that nothing proves, and each exemption that is idle."""
    idle = dict.fromkeys(LISTED.get(page.name, []))
    listed = [*idle]
    for text in numbers.passages(BOOK, page):
        for use in numbers.uses(text.source):
            places = numbers.evidence(BOOK, text, use)
            if numbers.proves(use, *places, text.drawn):
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


def test_what_the_gate_is_worth(record_property):
    """Pytest's last lines say it."""
    texts = [text for page in PAGES for text in numbers.passages(BOOK, page)]
    random, slip = numbers.worth(BOOK, texts)
    says = f"{random:.0%} of random numbers pass, {slip:.0%} of others of the outputs"
    record_property("numbers", f"In sentences {says}; digits below ten are not seen.")
    assert random < 0.06 and slip < 0.75, "the gate has become weaker: see `worth`"


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
    ],
)
def test_what_proves_a_number(number, printed, right):
    """The same number, equally rounded, in the same unit, in a line that is meant."""
    text = Cell("a", "markdown", f"# A\n\nIt has {number} here.", {})
    cell = Cell("b", "code", "pass", {}, ({"text": printed},))
    page = Page("page", ROOT / "page.ipynb", (text, cell))
    assert (not list(unproved(page))) == right
