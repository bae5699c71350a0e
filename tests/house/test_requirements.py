"""Every pin has a wheel on every machine that the README names."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

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
MACHINES = {
    "Linux x86-64": [f"manylinux_2_{n}_x86_64" for n in (5, 12, 17, 18, 24, 27, 28)],
    "Linux arm64": [f"manylinux_2_{n}_aarch64" for n in (17, 18, 24, 26, 27, 28)],
    "macOS arm64": [
        f"macosx_{n}_0_{k}" for n in range(11, 15) for k in ("arm64", "universal2")
    ],
    "Windows": ["win_amd64"],
}


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


@pytest.mark.weekly
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
@pytest.mark.parametrize("machine", MACHINES)
def test_wheels_exist(machine: str, version: str, tmp_path: Path) -> None:
    """Nothing is built on the way; pip only says what it would install."""
    (tmp_path / "pins.txt").write_text("\n".join(PINS), encoding="utf-8")
    platforms = [f"--platform={name}" for name in MACHINES[machine]]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--no-deps"]
    where = ["--ignore-installed", "--only-binary=:all:", "--target", tmp_path / "to"]
    pins = ["--python-version", version, "--requirement", tmp_path / "pins.txt"]
    done = subprocess.run(
        [*pip, *where, *platforms, *pins], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
