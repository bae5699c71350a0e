"""A number in a sentence is what a cell computed; how: see ``prose_numbers``.

One line for each number without a proof:

    .venv/bin/python -m pytest -n0 -q --tb=line tests/book/test_numbers.py
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from statistics import median

import manuscript
import prose_numbers as numbers
import pytest
from manuscript import ROOT, Cell, Claim, Page
from prose_numbers import Evidence, Passage, Use

BOOK = manuscript.read()
README = manuscript.read_page("README", ROOT / "README.md")
PAGES = [*BOOK.pages.values(), README]
CLAIMS = [c for c in BOOK.claims.values() if c.settled_by == "cell"]
AT_MOST = 0.05
MEDIAN_AT_MOST = 0.02

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def complain(passages: list[Passage]) -> None:
    """Fail with one line for each number that nothing proves."""
    lines = [
        f"{passage.page.name} | {passage.section.title} | {passage.kind} | "
        f"{' '.join((use.number.text, use.number.form, use.number.beside)).strip()} | "
        f"{use.sentence}"
        for passage, use in numbers.unproved(BOOK, passages)
    ]
    if lines:
        pytest.fail(f"{len(lines)} numbers\n" + "\n".join(lines), pytrace=False)


@each_page
def test_numbers_are_proved(page: Page) -> None:
    """By the cells of their own section, or by those to which a link leads."""
    complain(list(numbers.passages(page)))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_numbers_of_claims_are_proved(claim: Claim) -> None:
    """The reason of a claim borrows from the section of its cell."""
    passage = numbers.claim_passage(BOOK, claim)
    complain([passage] if passage else [])


def chances() -> dict[str, float]:
    """The chance of every page on which a number is checked at all."""
    found = {}
    for page in PAGES:
        passages = list(numbers.passages(page))
        if not all(use.exempt for p in passages for use in numbers.uses(p.source)):
            found[page.name] = numbers.chance(BOOK, passages)
    return found


def test_a_random_number_seldom_passes(
    record_property: Callable[[str, object], None],
) -> None:
    """At most one in twenty on any page; pytest's last lines say how many."""
    found = chances()
    for page, chance in found.items():
        record_property(f"chance on {page}", chance)
    assert {page: c for page, c in found.items() if c > AT_MOST} == {}
    assert median(found.values()) <= MEDIAN_AT_MOST


# The lint itself, on examples


def cell(code: str, output: str = "", name: str = "") -> Cell:
    """A code cell that printed something."""
    metadata = {"tags": [name]} if name else {}
    return Cell(f"{code}{output}", "code", code, metadata, ({"text": output},))


def page(*cells: Cell | str) -> Page:
    """A chapter made of Markdown and cells."""
    return Page(
        "book/part/page",
        Path("page.ipynb"),
        tuple(
            Cell(str(i), "markdown", c, {}) if isinstance(c, str) else c
            for i, c in enumerate(cells)
        ),
    )


@pytest.mark.parametrize(("said", "proof"), [("58 %", True), ("57 %", False)])
def test_what_a_check_says_is_prose(said: str, proof: bool) -> None:
    """Its numbers are those of its section."""
    check = replace(
        cell("assert rate > 0"), metadata={"checked": f"{said} look one back"}
    )
    made = page("## A", cell("print(rate)", "58%"), check)
    red = list(numbers.unproved(BOOK, numbers.passages(made)))
    assert (red == []) == proof


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It takes 60,611 steps, 3.5 % less.", ["60,611 integer", "3.5 percent"]),
        ("From 44-66 % to 3 to 19 %.", [f"{n} percent" for n in (44, 66, 3, 19)]),
        (
            "Wrong for 95 % of 128 and 58 %.",
            ["95 percent", "128 integer", "58 percent"],
        ),
        ("It fails in 4 of 10, and in seven of twelve.", ["4 N of M", "seven N of M"]),
        ("In 4 cases of 10, with six seeds.", ["4 N of M", "six N things"]),
        ("Half, $0.5$ or `0.25` or\n\n```\n17\n```\n", []),
        ("A table of 512 rows, see [17 of them](#x).", ["512 integer", "17 integer"]),
        (
            "- One row in 25\n- and 16 of 31 hands",
            ["25 integer", "16 integer", "31 integer"],
        ),
        ("A float32 of GPT-2 has 5 digits, the 3rd.", []),
        (
            ":::{exercise} Try. Build, 15 minutes\n:label: a\nFor 31.\n:::",
            ["31 integer"],
        ),
        ("```{stored-figure} fig-a\nOf 32 words.\n```", ["32 integer"]),
    ],
)
def test_numbers_are_found(text: str, found: list[str]) -> None:
    """And no more than should be."""
    seen = [f"{u.number.text} {u.number.form}" for u in numbers.uses(text)]
    assert seen == found


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("They report 25.8 {cite}`key`.", "cited"),
        ("See [the 41 layers](https://example.org).", "cited"),
        ("The paper of 2017 and Section 13.", "a year"),
        ("The base is 10000.", "the base"),
        ("It takes 45 minutes.", "a time that we estimate"),
        ("All 16 bits of it.", "a format"),
        ("By 180 degrees.", "an angle"),
        ("We have 2 × 16 = 32 of them.", ""),
        ("A guess of 41. <!-- not measured: a guess -->", "a guess"),
        ("<!-- not measured: a plan -->\n\n| 45 | this |\n| 15 | that |", "a plan"),
        ("A guess <!-- not measured: a guess --> of 41.", "a guess"),
        ("A guess <!-- a guess --> of 41.", ""),
        ("It has 41 columns.", ""),
        ("In all 2017 columns.", ""),
    ],
)
def test_reasons_are_seen(text: str, reason: str) -> None:
    """A number without a reason of its own is asked for a proof."""
    assert numbers.uses(text)[0].exempt == reason


@pytest.mark.parametrize(
    ("text", "right"),
    [("2 × 16 = 32", True), ("2 × 16 = 33", False), (r"$3 \cdot 512 = 1536$", True)],
)
def test_arithmetic_in_a_sentence(text: str, right: bool) -> None:
    """What the sentence works out is right, or is no reason."""
    result = numbers.uses(f"So there are {text}.".replace("$", ""))[-1]
    assert (result.exempt == "worked out in the sentence") == right


@pytest.mark.parametrize(
    ("said", "printed", "right"),
    [
        ("58 %", "58%", True),
        ("58 %", "57.9%", True),
        ("58 %", "0.5812", True),
        ("58 %", "58", False),
        ("58 %", "0.58 58.4", True),
        ("58 rows", "58%", False),
        ("58 rows", "58.2", False),
        ("about 58 rows", "58.2", True),
        ("582 rows", "582.3", True),
        ("0.998 of it", "0.9979", True),
        ("0.998 of it", "1.0", False),
        ("−0.42 of it", "-0.416", True),
        ("1,024 rows", "1024", True),
        ("4 of 10", "here: 4 of 10", True),
        ("4 of 10", "here: 10 4", False),
        ("4 of 10", "there: 4 of 10", False),
        ("six seeds", "6 seeds", True),
        ("six seeds", "6", False),
        ("58 % at 2048", "32 1%\n64 2%\n128 3%\n256 4%\n2048 58%", True),
        ("58 % at 2048", "32 1%\n64 2%\n128 3%\n256 58%\n2048 4%", False),
    ],
)
def test_what_proves_a_number(said: str, printed: str, right: bool) -> None:
    """The same number, equally rounded, in the same unit."""
    use = numbers.uses(f"It has {said} here.")[0]
    proves = Evidence((cell("pass", printed),)).proves(use.number, use.sentence)
    assert proves == right


CHAPTER = page(
    "# Title\n\nAt the top 41.\n\n## First\n\nIt is 41, of length 64, not 63.",
    cell("length = 64\nprint(41)", "41"),
    "## Second\n\nAgain 41. Or [41](#first). Or [42](#first). The [first](#first) 41.",
    cell("axes.set(xlim=(0, 77))\nuse(length)\nassert length < 99"),
    "It had length 64, or 77, or 99.",
)


def test_a_number_is_proved_in_its_own_section() -> None:
    """Not in another one, unless a link says so; nor by what only draws."""
    book = replace(BOOK, pages={CHAPTER.name: CHAPTER})
    found = [
        (passage.section.title, use.number.text)
        for passage, use in numbers.unproved(book, numbers.passages(CHAPTER))
    ]
    second = [("Second", n) for n in ("41", "42", "77", "99")]
    assert found == [("Title", "41"), ("First", "63"), *second]


# The book, falsified


@cache
def proved() -> list[tuple[Passage, Use]]:
    """Every number of the book that has a proof or a reason now."""
    every = [passage for each in PAGES for passage in numbers.passages(each)]
    every += [p for c in CLAIMS if (p := numbers.claim_passage(BOOK, c))]
    return [
        (passage, use)
        for passage in every
        for use in numbers.uses(passage.source)
        if use.exempt or numbers.proved(BOOK, passage, use)
    ]


@cache
def red(passage: Passage) -> list[Use]:
    """The numbers of a passage that the lint names as it is."""
    return [use for _, use in numbers.unproved(BOOK, [passage])]


def turns_red(passage: Passage, start: int, end: int, text: str) -> bool:
    """Whether the lint notices if a stretch of a passage is replaced."""
    source = passage.source[:start] + text + passage.source[end:]
    grown = len(source) - len(passage.source)
    before = {
        (use.number.start + grown * (use.number.start > start), use.number)
        for use in red(passage)
    }
    return any(
        not any(
            at == use.number.start and same.text == use.number.text
            for at, same in before
        )
        for _, use in numbers.unproved(BOOK, [replace(passage, source=source)])
    )


def in_section(*titles: str) -> Callable[[Passage, Use], bool]:
    """Numbers below one of these headings."""
    return lambda passage, _: passage.section.title.startswith(titles)


KINDS: dict[str, Callable[[Passage, Use], bool]] = {
    "an integer": lambda p, u: p.kind == "text" and u.number.form == "integer",
    "a large integer": lambda _p, u: (
        u.number.form == "integer" and u.number.value > 999
    ),
    "a decimal": lambda _p, u: u.number.form == "decimal" and u.number.decimals > 1,
    "a percentage": lambda _p, u: u.number.form == "percent",
    "a range": lambda _p, u: bool(
        re.search(rf"\d (to|and) {u.number.text} ", u.sentence)
    ),
    "N of M": lambda _p, u: u.number.form == "N of M",
    "an answer of the FAQ": lambda p, _u: p.page.name.endswith("faq"),
    "the first page or README": lambda p, _u: p.page.name in ("book/index", "README"),
    "a caption": lambda p, _u: p.kind == "caption",
    "an alternative text": lambda p, _u: p.kind == "alt",
    "the reason of a claim": lambda p, _u: p.kind == "why",
    "a summary": in_section("Summary"),
    "an exercise": in_section("Exercises"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_falsified_sentence_turns_red(kind: str) -> None:
    """Of forty falsifications of each kind, nearly all."""
    random = Random(kind)
    fitting = [(p, u) for p, u in proved() if KINDS[kind](p, u) and not u.exempt]
    assert fitting, f"the book has no {kind}"
    noticed = 0
    for _ in range(40):
        passage, use = random.choice(fitting)
        other = numbers.another(use.number, random).text
        noticed += turns_red(passage, use.number.start, use.number.end, other)
    assert noticed >= 34


def test_changed_digits() -> None:
    """One digit of every number in the prose, one by one: nine in ten are noticed."""
    random = Random(2017)
    red_already = {
        (id(passage.section), passage.source, use.number.start)
        for every in PAGES
        for passage, use in numbers.unproved(BOOK, numbers.passages(every))
    }
    places = [
        (passage, match)
        for every in PAGES
        for passage in numbers.passages(every)
        for text in [numbers.masked(passage.source)[0]]
        for match in re.finditer(r"(?<![\w.,])\d[\d,.]*\d", text)
        if "\x01" not in _sentence(text, match.start())
        and (id(passage.section), passage.source, match.start()) not in red_already
    ]
    survivors = []
    for passage, match in places:
        digits = [i for i in range(*match.span()) if passage.source[i].isdigit()]
        place = random.choice(digits)
        allowed = "123456789" if place == match.start() else "0123456789"
        digit = random.choice([d for d in allowed if d != passage.source[place]])
        if not turns_red(passage, place, place + 1, digit):
            survivors.append(f"{passage.page.name}: {match[0]} ({place}: {digit})")
    assert len(places) > 500 and len(survivors) <= len(places) / 10, survivors


def _sentence(text: str, place: int) -> str:
    spans = numbers._spans(text, numbers.SENTENCE_END)
    return next(text[a:b] for a, b in spans if a <= place < b)
