"""A reader chooses other values, runs a cell twice, or goes back to one above.

Every value that a page offers may be chosen: no cell raises anywhere in its range. What
is asserted in a chapter holds for every value; what holds for one is printed. Both ends
of each value, and two corners of all together, run once a week, and in ``make check``
for the chapters that changed; ten settings between them once a week. So does each cell
of each chapter twice, and all from last to first: it gives what it gave.
"""

import contextlib
import io
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

PAGES = manuscript.read().notebooks
OFFERING = [page for page in PAGES if page.values]
QUIET = Config({"HistoryManager": {"enabled": False}})
NOT_YET = {
    "book/beyond/longer",
    "book/experiments/learned_or_fixed",
    "book/experiments/opened_head",
    "book/pytorch/broken_modules",
    "book/sinusoidal/attention_head_deeper",
}
"""Pages on which a name is still bound again; the test says when one is mended."""
Setting = dict[str, str]


def name(page: Page) -> str:
    """As the other tests call it: failures/counting."""
    return page.name.removeprefix("book/")


def empty_shell() -> InteractiveShell:
    """What runs the cells of a page."""
    return InteractiveShell(config=QUIET, user_module=ModuleType("chapter"))


def given(shell: InteractiveShell, source: str) -> tuple[BaseException | None, Any]:
    """What a cell raises when it runs, is shown, or drawn; and all that one sees."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        result = shell.run_cell(source)
    shown = getattr(result.result, "_repr_html_", str)()
    pictures = []
    for number in plt.get_fignums():
        canvas: Any = plt.figure(number).canvas
        canvas.draw()
        pictures.append(bytes(canvas.buffer_rgba()))
    plt.close("all")
    problem = result.error_before_exec or result.error_in_exec
    return problem, (str(problem), said.getvalue(), shown, pictures)


# Other values


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
    shell = empty_shell()
    with at_home(page):
        for cell in page.code_cells:
            problem, _ = given(shell, changed(cell, setting))
            if problem is not None:
                line = traceback.extract_tb(problem.__traceback__)[-1].line
                return f"{cell.id}: {type(problem).__name__}: {problem} at {line}"
    return ""


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
        pytest.param(page, it, id=f"{name(page)}-{' '.join(map('='.join, it.items()))}")
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


# Any order


def differences(page: Page) -> list[str]:
    """What each cell gives, once more at once, and from last to first after all."""
    shell, once, found = empty_shell(), [], []
    with at_home(page):
        for cell in page.code_cells:
            once.append(given(shell, cell.source)[1])
            if given(shell, cell.source)[1] != once[-1]:
                found.append(f"{cell.id}, twice")
        for cell, seen in reversed([*zip(page.code_cells, once, strict=True)]):
            if given(shell, cell.source)[1] != seen:
                found.append(f"{cell.id}, backwards")
    return found


@pytest.mark.weekly
@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_cell_gives_the_same_in_any_order(page: Page) -> None:
    """Each draws from its own generator, and no name means two things on a page."""
    found = differences(page)
    assert bool(found) == (page.name in NOT_YET), found


@pytest.mark.parametrize(
    ("second", "third", "found"),
    [
        ("print(rng.integers(1000))", "1", ["c1, twice", "c1, backwards"]),
        ("plt.plot(rng.random(9))", "1", ["c1, twice", "c1, backwards"]),
        ("size", "size = 5", ["c1, backwards"]),
        ("print(1 / size)", "size = 0", ["c1, backwards"]),
        ("print(size)", "print(rng.bit_generator.seed_seq.entropy)", []),
    ],
)
def test_it_is_noticed(second: str, third: str, found: list[str]) -> None:
    """One generator for two cells, and a name that is bound again."""
    first = "import numpy as np, matplotlib.pyplot as plt\nrng, size = "
    first += "np.random.default_rng(0), 4"
    assert differences(made_page((first,), (second,), (third,))) == found
