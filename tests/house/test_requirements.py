"""Whatever is installed has one version."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PINS = sorted(
    {
        line
        for name in ("*requirements*.txt", "constraints.txt")
        for path in ROOT.glob(name)
        for text in path.read_text(encoding="utf-8").splitlines()
        if re.match(r"\w", line := text.partition("#")[0].strip())
    }
)


def test_all_is_pinned() -> None:
    """One version each, so that two installations are the same."""
    assert len(PINS) > 100
    assert all(re.fullmatch(r"[\w.\-\[\]]+==\S+( *;.*)?", pin) for pin in PINS), PINS


def test_actions_are_pinned() -> None:
    """By the commit, which nobody can move; its version is beside it."""
    lines = [
        line.strip()
        for path in (ROOT / ".github/workflows").glob("*.yml")
        for line in path.read_text(encoding="utf-8").splitlines()
        if "uses:" in line
    ]
    assert len(lines) > 20
    assert all(re.search(r"@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line) for line in lines)
