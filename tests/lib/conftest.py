"""Which tests of the library need more than NumPy, and their names where it is missing.

Every other file in this folder is the NumPy part: it needs NumPy, pytest, hypothesis
and mpmath, no torch, no scipy, no matplotlib. ``--core`` runs the NumPy part alone.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).parent
NEEDS = {
    "torch": ("check*", "experiments*", "extras", "import", "machines", "main", "nn*"),
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


@pytest.fixture
def integers_of_32_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """What NumPy makes of Python's integers on a small processor: 32 bits.

    That is, of arrays that a function makes itself, without saying of what.
    """
    arange = np.arange

    def small(*arguments: Any, dtype: Any = None, **more: Any) -> Any:
        made = arange(*arguments, dtype=dtype, **more)
        if dtype is not None or made.dtype.kind != "i":
            return made
        limits = np.iinfo(np.int32)
        if made.size and not limits.min <= made.min() <= made.max() <= limits.max:
            raise OverflowError(f"arange{arguments} does not fit 32 bits")
        return made.astype(np.int32)

    monkeypatch.setattr(np, "arange", small)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Name what was left out, and why."""
    left_out = terminalreporter.config.stash.get(REASON, {})
    for name, reason in sorted(left_out.items()):
        terminalreporter.write_line(f"Left out: {name} ({reason})")
