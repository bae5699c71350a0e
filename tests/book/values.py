"""The values of a chapter that a reader may change, and its cells run with others.

A cell that raises for a value within its printed range is a mistake of the book: what
is asserted there holds for every value, and what holds for one is printed.
"""

import re
import traceback
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from manuscript import Cell, Page
from tests.book.test_students import at_home

Setting = dict[str, str]
QUIET = Config({"HistoryManager": {"enabled": False}})


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
    import matplotlib.pyplot as plt

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
    import matplotlib.pyplot as plt

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
