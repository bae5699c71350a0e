"""The code of the chapters: checks that check what they seem to."""

import pytest

import manuscript
from manuscript import Page
from tests.book.code_lint import slips

BOOK = manuscript.read()


@pytest.mark.parametrize("page", BOOK.notebooks, ids=lambda page: page.name)
def test_no_slips(page: Page) -> None:
    """No last value of a loop, no assertion that cannot fail."""
    found = [
        f"{page.name} | cell {cell.id} | {slip}"
        for cell in page.code_cells
        for slip in slips(cell.source)
    ]
    if found:
        pytest.fail("\n".join(found), pytrace=False)


@pytest.mark.parametrize(
    ("source", "slip"),
    [
        ("for x in a:\n    y = x\nassert x == 1", "'x' is the last value"),
        ("assert 1 + 1 == 2", "constants only"),
        ("assert f(x) == f(x)", "the same expression"),
        ("x = 3\nassert x == 3", "'x' is what this cell says"),
        ("for x in a:\n    assert x == 1", ""),
        ("x = 3\nassert f(2) == x", ""),
        ("for x in a:\n    y = f(x)\nassert y == 1", "'y' of the last pass"),
    ],
)
def test_slips_are_seen(source: str, slip: str) -> None:
    """Each of them, and nothing that is right."""
    found = slips(source)
    assert bool(found) == bool(slip)
    assert all(slip in each for each in found)
