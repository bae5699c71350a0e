"""The questions that people ask: short answers, each with a sentence to take away."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import manuscript
import numpy as np
import pytest
import torch
from manuscript import count_words
from prose_numbers import masked

from pe_lib import sinusoidal_table
from pe_lib.nn import SinusoidalPositionalEncoding

BOOK = manuscript.read()
PAGE = BOOK.pages["book/reference/faq"]
GROUPS = range(4, 8)
WORDS = 30
FROM_THE_FIRST_PAGE = {
    "faq-why-sine-and-cosine",
    "faq-why-10000",
    "faq-why-add",
    "faq-extrapolate",
    "faq-which-one",
    "faq-rotary",
    "faq-code",
}
HEADING = re.compile(r"^\((\S+)\)=\n(##|###) (.+)\n", re.MULTILINE)
FIRST = re.compile(r"\s*\*\*((?:(?!\*\*).)+)\*\*\n")
# Between two sentences: a stop and a capital. A colon joins.
STOP = re.compile(r"[.!?] (?=[A-Z])")
TWO_DIGITS = re.compile(r"\d[\d.,]*\d")
SAYS_NOTHING = {"check", "here", "link", "the check", "this", "this page", "table"}


class Question(NamedTuple):
    """A heading with its label, and what stands below it."""

    label: str
    title: str
    answer: str


def groups(text: str) -> list[tuple[str, str]]:
    """Label and title of each group."""
    return [(m[1], m[3]) for m in HEADING.finditer(text) if m[2] == "##"]


def questions(text: str) -> list[Question]:
    """Every question of the page, in order."""
    found = list(HEADING.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    return [
        Question(match[1], match[3], text[match.end() : end])
        for match, end in zip(found, ends, strict=True)
        if match[2] == "###"
    ]


def first_sentence(answer: str) -> Iterator[str]:
    """Whether a newcomer can take the first sentence away, and nothing else."""
    first = FIRST.match(answer)
    if not first:
        yield "does not begin with a sentence in bold"
        return
    if count_words(first[1]) > WORDS:
        yield f"{count_words(first[1])} words, at most {WORDS}"
    if not first[1].endswith(".") or STOP.search(first[1]):
        yield "not one sentence"
    if number := TWO_DIGITS.search(first[1]):
        yield f"the number {number[0]}"
    if re.search(r"[$`\\=]|\{\w", first[1]):
        yield "a formula, code or a citation"


def links(answer: str) -> Iterator[str]:
    """Whether the text of each link says what is behind it."""
    for text in re.findall(r"\[([^\]]+)\]\(", answer):
        if text.lower() in SAYS_NOTHING:
            yield f"[{text}] does not say what is behind it"


QUESTIONS = questions(PAGE.text)
each_question = pytest.mark.parametrize(
    "question", QUESTIONS, ids=[question.label for question in QUESTIONS]
)


def test_groups_are_listed() -> None:
    """The list at the top has all groups and questions, in the order of the page."""
    listed = re.findall(r"^- \*\*\[(.+?)\]\(#(\S+?)\)", PAGE.text, re.MULTILINE)
    found = groups(PAGE.text)
    assert [(label, title) for title, label in listed[: len(found)]] == found
    asked = re.findall(r"^  - \[.+?\]\(#(\S+?)\)$", PAGE.text, re.MULTILINE)
    assert asked == [question.label for question in QUESTIONS]
    assert len(found) in GROUPS
    assert len(found) + len(QUESTIONS) == len(re.findall(r"^##+ ", PAGE.text, re.M))


def test_labels_stay() -> None:
    """Every question has a label of its own; the first page links to some."""
    labels = [question.label for question in QUESTIONS]
    assert len(set(labels)) == len(labels)
    assert all(label.startswith("faq-") for label in labels)
    assert set(labels) >= FROM_THE_FIRST_PAGE


@each_question
def test_first_sentence(question: Question) -> None:
    """At most thirty words, no number of two digits, no formula."""
    assert list(first_sentence(question.answer)) == []


@each_question
def test_answer_fits_a_phone(question: Question) -> None:
    """It is short, and links to a chapter; its links say where they lead."""
    words = masked(re.sub(r"^- ", "", question.answer, flags=re.MULTILINE))[0].split()
    assert 60 <= len(words) <= 135
    assert manuscript.NOTEBOOK_LINK.search(question.answer)
    assert list(links(question.answer)) == []


def test_code_to_copy_runs_and_is_right() -> None:
    """Each program by itself, as a reader pastes it; the library is what is right."""
    answer = next(asked.answer for asked in QUESTIONS if asked.label == "faq-code")
    in_numpy, in_torch = re.findall(r"```python\n(.*?)```", answer, re.DOTALL)
    pasted: dict[str, Any] = {}
    exec(in_numpy, pasted)
    for length, d in ((1, 2), (300, 64)):
        table = pasted["sinusoidal_table"](length, d)
        assert np.abs(table - sinusoidal_table(length, d)).max() < 1e-12
    with pytest.raises(ValueError, match="even"):
        pasted["sinusoidal_table"](5, 3)  # one cosine would go into two columns
    exec(in_torch, pasted := {})
    x = torch.ones(2, 7, 64)
    library = SinusoidalPositionalEncoding(64)
    assert torch.equal(pasted["Sinusoid"](64)(x, offset=3), library(x, offset=3))
    with pytest.raises(ValueError, match="even"):
        pasted["Sinusoid"](7)
    with pytest.raises(IndexError, match="2042:2049"):
        pasted["Sinusoid"](64)(x, offset=2042)


GOOD = (
    "\n**Because attention is blind to order: it sees which words there are.**\n\nMore."
)


def test_a_good_answer() -> None:
    """No fault is seen where there is none."""
    assert list(first_sentence(GOOD)) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("**Because", "Because", "does not begin with a sentence in bold"),
        ("order", "order" + " and" * 19, "31 words, at most 30"),
        ("are.", "are. It is.", "not one sentence"),
        ("are.", "are", "not one sentence"),
        ("which words", "which 58 words", "the number 58"),
        ("which words", "which 1.5 words", "the number 1.5"),
        ("order", "$t$", "a formula, code or a citation"),
        ("order", "`order`", "a formula, code or a citation"),
    ],
)
def test_a_bad_answer_turns_red(old: str, new: str, fault: str) -> None:
    """Each rule of the first sentence, broken."""
    assert GOOD.count(old) == 1
    assert list(first_sentence(GOOD.replace(old, new))) == [fault]


def test_a_link_that_says_nothing_turns_red() -> None:
    """Where does "here" lead?"""
    assert list(links("See [here](a.ipynb).")) == [
        "[here] does not say what is behind it"
    ]
    assert not list(links("See [both, run](a.ipynb)."))


def test_a_question_in_no_place_turns_red() -> None:
    """A question is a heading of the third level, below a group."""
    found = questions(
        "(a)=\n## Group\n\n(faq-b)=\n### B?\nYes.\n\n(faq-c)=\n### C?\nNo.\n"
    )
    assert [question.title for question in found] == ["B?", "C?"]
    assert found[0].answer == "Yes.\n\n"
