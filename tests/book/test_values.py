"""Every value that a page offers may be chosen: no cell raises anywhere in its range.

Both ends of each value, and two corners of all together, run once a week, and in
``make check`` for the chapters that changed; ten settings between them once a week.
"""

import os
from dataclasses import replace
from random import Random, SystemRandom
from typing import Any

import pytest

import manuscript
from manuscript import Cell, Page
from manuscript.values import MARK
from tests.book import values

BOOK = manuscript.read()
OFFERING = [page for page in BOOK.notebooks if page.values]


def name(page: Page) -> str:
    """As the other tests call it: failures/counting."""
    return page.name.removeprefix("book/")


def settings() -> list[Any]:
    """A page and a setting each."""
    return [
        pytest.param(page, it, id=f"{name(page)} {' '.join(map('='.join, it.items()))}")
        for page in OFFERING
        for it in values.ends(page)
    ]


@pytest.mark.weekly
@pytest.mark.parametrize(("page", "setting"), settings())
def test_no_cell_raises_at_the_ends(page: Page, setting: values.Setting) -> None:
    """Each value at either end; all at their least, and all at their most."""
    assert values.first_failure(page, setting) == ""


@pytest.mark.weekly
@pytest.mark.parametrize("page", OFFERING, ids=name)
def test_no_cell_raises_between_the_ends(page: Page) -> None:
    """Ten settings, drawn anew each week; SEED=... draws those of a red one again."""
    seed = int(os.environ.get("SEED") or SystemRandom().randrange(10**6))
    random = Random(f"{seed} {page.name}")
    for _ in range(10):
        setting = {one.name: one.drawn(random) for one in page.values}
        problem = values.first_failure(page, setting)
        assert not problem, f"SEED={seed} {setting}: {problem}"


@pytest.mark.parametrize(
    ("last", "setting", "problem"),
    [
        ("assert D > 4", {"D": "4"}, "last: AssertionError:  at assert D > 4"),
        ("assert D > 4", {"D": "6"}, ""),
        (
            "D.width",
            {},
            "last: AttributeError: 'int' object has no attribute 'width' at D.width",
        ),
        ("D +", {}, "last: SyntaxError: "),
        ("D", {"D": "7"}, "first: ValueError: this value must be 4 to 8, even; got 7"),
    ],
)
def test_a_failure_is_seen(last: str, setting: values.Setting, problem: str) -> None:
    """The first cell that raises is named, and what it says."""
    first = (
        "from pe_lib.values import chosen\n"
        f'{MARK}\nD = chosen(8, "4 to 8, even")  # width'
    )
    cells = tuple(
        Cell(
            which, "code", source, {"tags": ["parameters"] if which == "first" else []}
        )
        for which, source in (("first", first), ("last", last))
    )
    page = replace(OFFERING[0], cells=cells)
    found = values.first_failure(page, setting)
    assert found.startswith(problem) and bool(found) == bool(problem)


def test_ends_are_the_ends() -> None:
    """The least and the most of each, but for what is stored, and the two corners."""
    for page in OFFERING:
        offered, found = page.values, [*values.ends(page)]
        least = {one.name: one.least for one in offered}
        most = {one.name: one.most for one in offered}
        assert len(offered) < 2 or found[-2:] == [least, most]
        for one in offered:
            for end in {one.least, one.most} - {one.stored}:
                assert {one.name: end} in found
