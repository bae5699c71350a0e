"""Which tests of the library need more than NumPy, and their names where it is missing.

Every other file in this folder is the NumPy part: it needs NumPy, pytest, hypothesis
and mpmath, no torch, no scipy, no matplotlib. ``--core`` runs the NumPy part alone.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
NEEDS = {
    "torch": ("experiments*", "extras", "import", "machines", "nn*"),
    "scipy": ("fit",),
    "matplotlib": ("plotting",),
    "playwright": ("explorers",),
    "mypy": ("wheel",),
}
REASON = pytest.StashKey[dict[str, str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """A switch for the fast loop."""
    parser.addoption("--core", action="store_true", help="the NumPy part alone")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out a file whose package is missing, and remember it."""
    if collection_path.parent != HERE:
        return None
    for package, names in NEEDS.items():
        if any(collection_path.match(f"test_{name}.py") for name in names):
            core = config.getoption("--core", default=False)
            if core or find_spec(package) is None:
                reason = "--core" if core else f"no {package}"
                config.stash.setdefault(REASON, {})[collection_path.stem] = reason
                return True
    return None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Name what was left out, and why."""
    left_out = terminalreporter.config.stash.get(REASON, {})
    for name, reason in sorted(left_out.items()):
        terminalreporter.write_line(f"Left out: {name} ({reason})")
