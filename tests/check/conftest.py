"""The tests of the checker need torch: they are left out where it is missing."""

from importlib.util import find_spec
from pathlib import Path

import pytest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out all files here without torch, or with --core."""
    del collection_path
    core = config.getoption("--core", default=False)
    return True if core or find_spec("torch") is None else None
