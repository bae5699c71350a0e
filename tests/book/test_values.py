"""Every value that a page offers may be chosen: no cell raises anywhere in its range.

What is asserted in a chapter holds for every value; what holds for one is printed.
Both ends of each value, and two corners of all together, run once a week, and in
``make check`` for the chapters that changed; ten settings between them once a week.
"""

import os
import re
import traceback
from collections.abc import Iterator, Mapping
from random import Random, SystemRandom
from types import ModuleType
from typing import Any

import matplotlib.pyplot as plt
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import manuscript
from manuscript import Cell, Page
from manuscript.values import MARK
from tests.book.test_exercises import at_home
from tests.made_page import made_page

OFFERING = [page for page in manuscript.read().notebooks if page.values]
QUIET = Config({"HistoryManager": {"enabled": False}})
Setting = dict[str, str]


def name(page: Page) -> str:
    """As the other tests call it: failures/counting."""
    return page.name.removeprefix("book/")


def ends(page: Page) -> Iterator[Setting]:
    """Each value at both ends of its range; all at their least, all at their most."""
    offered = page.values
    for one in offered:
        for end in sorted({one.least, one.most} - {one.stored}):
            yield {one.name: end}
    if len(offered) > 1:
        yield {one.name: one.least for one in offered}
        yield {one.name: one.most for one in offered}


def first_failure(page: Page, setting: Mapping[str, str]) -> str:
    """The first cell that raises with these values, and what; empty if none does."""
    shell = InteractiveShell(config=QUIET, user_module=ModuleType("chapter"))
    with at_home(page):
        for cell in page.code_cells:
            problem = raised(shell, changed(cell, setting))
            plt.close("all")
            if problem is not None:
                line = traceback.extract_tb(problem.__traceback__)[-1].line
                return f"{cell.id}: {type(problem).__name__}: {problem} at {line}"
    return ""


def raised(shell: Any, source: str) -> BaseException | None:
    """What a cell raises when it runs, when its value is shown, or is drawn."""
    result = shell.run_cell(source)
    problem: BaseException | None = result.error_before_exec or result.error_in_exec
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()
    return problem


def changed(cell: Cell, setting: Mapping[str, str]) -> str:
    """Its source with other values in the set-up cell."""
    source = cell.source
    for name, value in setting.items() if "parameters" in cell.tagged("") else ():
        start = rf"^({name} = chosen\()[\d_.]+"
        source, count = re.subn(start, rf"\g<1>{value}", source, flags=re.MULTILINE)
        assert count == 1, name
    return source


def settings() -> list[Any]:
    """A page and a setting each."""
    return [
        pytest.param(page, it, id=f"{name(page)} {' '.join(map('='.join, it.items()))}")
        for page in OFFERING
        for it in ends(page)
    ]


@pytest.mark.weekly
@pytest.mark.parametrize(("page", "setting"), settings())
def test_no_cell_raises_at_the_ends(page: Page, setting: Setting) -> None:
    """Each value at either end; all at their least, and all at their most."""
    assert first_failure(page, setting) == ""


@pytest.mark.weekly
@pytest.mark.parametrize("page", OFFERING, ids=name)
def test_no_cell_raises_between_the_ends(page: Page) -> None:
    """Ten settings, drawn anew each week; SEED=... draws those of a red one again."""
    seed = int(os.environ.get("SEED") or SystemRandom().randrange(10**6))
    random = Random(f"{seed} {page.name}")
    for _ in range(10):
        setting = {one.name: one.drawn(random) for one in page.values}
        problem = first_failure(page, setting)
        assert not problem, f"SEED={seed} {setting}: {problem}"


@pytest.mark.parametrize(
    ("last", "setting", "problem"),
    [
        ("assert D > 4", {"D": "4"}, "c1: AssertionError:  at assert D > 4"),
        ("assert D > 4", {"D": "6"}, ""),
        (
            "D.width",
            {},
            "c1: AttributeError: 'int' object has no attribute 'width' at D.width",
        ),
        ("D +", {}, "c1: SyntaxError: "),
        ("D", {"D": "7"}, "c0: ValueError: this value must be 4 to 8, even; got 7"),
    ],
)
def test_a_failure_is_seen(last: str, setting: Setting, problem: str) -> None:
    """The first cell that raises is named, and what it says."""
    line = 'D = chosen(8, "4 to 8, even")  # width'
    first = f"from pe_lib.values import chosen\n{MARK}\n{line}"
    page = made_page((first, "parameters"), (last,))
    assert [*ends(page)] == [{"D": "4"}]
    found = first_failure(page, setting)
    assert found.startswith(problem) and bool(found) == bool(problem)
