"""Slips in code that are seen; ``page_rules.py`` looks for them in every chapter."""

import pytest

from tests.book.code_lint import slips


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
