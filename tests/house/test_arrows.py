"""What a room of the house may import: arrows go downwards, and none in a circle."""

from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tools.changes import ROOT, imports

LIBRARY = {"core", "beyond", "nn", "check"}
MAY_USE = {
    "core": set(),
    "beyond": {"core"},
    "nn": {"core", "beyond"},
    "check": {"core", "beyond", "nn"},
    "experiments": LIBRARY - {"check"},
    "explorers": {"core", "beyond"},
    "manuscript": {"core"},
    "evidence": {*LIBRARY - {"check"}, "experiments", "manuscript"},
    "website": {*LIBRARY, "explorers", "manuscript"},
    "course": {"core", "manuscript", "website"},
    "tools": {*LIBRARY, "experiments", "explorers", "manuscript", "website", "course"},
}
"""Each also itself. Chapters may use all of pe_lib; nothing imports book or tests."""


def room_of(path: Path) -> str:
    """The room that a file is in."""
    folder, *rest = path.relative_to(ROOT).parts
    if folder != "pe_lib":
        return folder
    return rest[0] if rest[1:] else "core"


@cache
def files() -> dict[Path, set[Path]]:
    """What each file imports; it takes seconds, which no collection waits for."""
    return {
        path: imports(path) - {path}
        for folder in ("pe_lib", "evidence", "manuscript", "website", "course", "tools")
        for path in sorted((ROOT / folder).rglob("*.py"))
    }


@pytest.mark.parametrize("room", MAY_USE)
def test_a_room_uses_what_is_below_it(room: str) -> None:
    """So that each can be read, and thrown away, without those above."""
    inside = [path for path in files() if room_of(path) == room]
    assert inside, f"{room} has no file"
    for path in inside:
        wrong = {p for p in files()[path] if room_of(p) not in {room, *MAY_USE[room]}}
        assert not wrong, f"{path} imports {sorted(map(str, wrong))}"


def test_every_room_is_named() -> None:
    """A new folder says here what it may use."""
    assert {room_of(path) for path in files()} == set(MAY_USE)


def test_no_module_imports_itself_through_others() -> None:
    """A circle has no first page to read."""
    assert list(TopologicalSorter(files()).static_order())
