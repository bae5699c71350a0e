"""The questions that people ask: each answer has a sentence to take away."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

import manuscript
from manuscript import count_words
from manuscript.pages import NOTEBOOK_LINK
from pe_lib import sinusoidal_table
from tests.book import measured_numbers

BOOK = manuscript.read()
PAGE = BOOK.pages["book/reference/faq"]
HEADING = re.compile(r"^\((\S+)\)=\n(##|###) (.+)\n", re.MULTILINE)
FIRST = re.compile(r"\s*\*\*((?:(?!\*\*).)+)\*\*\n")
LINKS, NUMBERS = 3, 5
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


def faults(answer: str) -> Iterator[str]:
    """Whether a newcomer can take the first sentence away; links that say nothing."""
    first = FIRST.match(answer)
    sentence = first[1] if first else ""
    if not sentence.endswith(".") or re.search(r"[.!?] (?=[A-Z])", sentence):
        yield "begin the answer with one sentence in bold"
    if count_words(sentence) > 30 or re.search(r"\d[\d.,]*\d|[$`\\=]|\{\w", sentence):
        yield "the bold sentence has 30 words at most, no number, formula, code, source"
    for text in re.findall(r"\[([^\]]+)\]\(", answer):
        if text.lower() in SAYS_NOTHING:
            yield f"[{text}] does not say what is behind it"
    if "#claim-" not in answer and not NOTEBOOK_LINK.search(answer):
        yield "link to the chapter that shows it"
    links = [to for to in re.findall(r"\]\(([^)]+)\)", answer) if "faq-" not in to]
    if len(links) > LINKS:
        yield f"{len(links)} links, at most {LINKS}"
    numbers = {use.text for use in measured_numbers.uses(answer)}
    if len(numbers) > NUMBERS:
        yield f"{len(numbers)} numbers, at most {NUMBERS}"


QUESTIONS = questions(PAGE.text)
each_question = pytest.mark.parametrize(
    "question", QUESTIONS, ids=[question.label for question in QUESTIONS]
)


def test_groups_are_listed() -> None:
    """The list at the top has all groups and questions, in the order of the page.

    Each with a label of its own.
    """
    listed = re.findall(r"^- \*\*\[(.+?)\]\(#(\S+?)\)", PAGE.text, re.MULTILINE)
    found = groups(PAGE.text)
    assert [(label, title) for title, label in listed[: len(found)]] == found
    entries = re.findall(r"^  - \[.+?\]\(#(\S+?)\)$", PAGE.text, re.MULTILINE)
    assert entries == [question.label for question in QUESTIONS]
    assert len(found) + len(QUESTIONS) == len(re.findall(r"^##+ ", PAGE.text, re.M))
    assert len({*entries}) == len(entries)
    assert all(label.startswith("faq-") for label in entries)


@each_question
def test_answers(question: Question) -> None:
    """A first sentence to take away, and the way to the chapter."""
    assert list(faults(question.answer)) == []


def test_code_to_copy_runs_and_is_right() -> None:
    """Each program by itself, as a reader pastes it; the library is what is right."""
    answer = next(q.answer for q in QUESTIONS if q.label == "faq-code")
    in_torch, one_line, in_numpy = re.findall(r"```python\n(.*?)```", answer, re.DOTALL)
    pasted: dict[str, Any] = {}
    exec(in_numpy, pasted)
    for length, d in ((1, 2), (300, 64), (300, 7)):
        table = pasted["sinusoidal_table"](length, d)
        assert np.abs(table - sinusoidal_table(length, d)).max() < 1e-12
    exec(in_torch, pasted := {})
    exec(one_line, library := {})
    for d, first in ((64, True), (7, True), (64, False)):
        x = torch.ones(2, 7, d)
        ours, theirs = (
            module(d, batch_first=first)(x, offset=3)
            for module in (
                pasted["PositionalEncoding"],
                library["SinusoidalPositionalEncoding"],
            )
        )
        assert torch.equal(ours, theirs)
    with pytest.raises(IndexError, match="no position 5000"):
        pasted["PositionalEncoding"](64)(torch.ones(7, 64), offset=4994)


GOOD = "\n**Attention is blind to order.**\n\nSee [both](a.ipynb)."


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("", "", ""),
        ("**Attention", "Attention", "begin the answer with one sentence in bold"),
        ("is blind", "is $t$", "the bold sentence has 30 words at most"),
        ("both", "here", "[here] does not say what is behind it"),
        ("a.ipynb", "a.md", "link to the chapter"),
        ("See", "See [a](b.md) [c](d.md) [e](f.md)", "4 links"),
        ("See", "See 21, 22, 23, 24, 25, 26", "6 numbers"),
    ],
)
def test_faults_are_seen(old: str, new: str, fault: str) -> None:
    """Each rule of an answer, broken."""
    found = list(faults(GOOD.replace(old, new, 1)))
    assert found == [] if not fault else any(each.startswith(fault) for each in found)
