"""The arithmetic of the tests, and figures compared only where it is that one."""

import os
import sys
from typing import Any

import pytest

from tests.kernels import CAN_FORK, Forked, Parent, fork_kernels
from tools import arithmetic

arithmetic.pin(arithmetic.COMPARED)
SAME_FIGURES = arithmetic.is_pinned()

# Hundreds of processes need not compile the same files: a fifth of their time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

LONGEST_FIRST = (
    "tests/live/test_live.py",  # builds the site; meanwhile come tests without it
    "tests/course/test_graders.py",  # waits a minute for an answer without an end
    "book/beyond/transformer.ipynb",
    "tests/explorers/test_drawings.py",
    "tests/book",
    "tests/nn",
    "tests/website",
    "tests/live",
)
"""So that no process waits for another's site, or is left alone at the end."""


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """What takes longest comes first, the rest in its order."""

    def place(item: Any) -> int:
        found = (i for i, it in enumerate(LONGEST_FIRST) if item.nodeid.startswith(it))
        return next(found, len(LONGEST_FIRST))

    items.sort(key=place)


def pytest_addoption(parser: Any) -> None:
    """What `make weekly` says."""
    parser.addoption(
        "--weekly",
        action="store_true",
        help="of tests/ only what is otherwise left to once a week",
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are cores: some wait for a browser or a kernel."""
    return (os.cpu_count() or 1) + 1


def pytest_configure(config: Any) -> None:
    """The kernels of all processes come from one."""
    if not (place := getattr(config, "workerinput", {}).get("kernels")) and CAN_FORK:
        parent = Parent()
        config.add_cleanup(parent.end)
        place = parent.place
    fork_kernels(place)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell another process of them."""
    node.workerinput["kernels"] = Forked.place


def pytest_collectstart(collector: Any) -> None:
    """Elsewhere tell nbval to leave them out."""
    if hasattr(collector, "skip_compare") and not SAME_FIGURES:
        collector.skip_compare = (*collector.skip_compare, "image/svg+xml")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How to run each red test alone, and whether figures were compared."""
    red = [
        *terminalreporter.getreports("failed"),
        *terminalreporter.getreports("error"),
    ]
    for name in dict.fromkeys(report.nodeid for report in red):
        file, separator, _ = name.partition("::")
        if file.endswith(".ipynb"):  # its cells need those above them
            name, separator = file, ""
        quoted = (
            f"'{name}'" if separator else f"{name}  # outputs are old? make outputs"
        )
        terminalreporter.write_line(f".venv/bin/python -m pytest -n0 {quoted}")
    if not SAME_FIGURES:
        terminalreporter.write_line(
            "Figures were not compared: tools/arithmetic.py says where they are."
        )
