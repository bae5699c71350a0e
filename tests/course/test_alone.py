"""What a submission sees, and what it leaves behind; without graders, in a second."""

import subprocess
import sys
from pathlib import Path

import pytest

from course import alone

SAID = "each submission runs as you"
TRY = """\
import os, pathlib, socket
for name in ("data.txt", "hidden.ipynb", "../marks.db", "link.txt", "shared/given.txt"):
    path = pathlib.Path(name)
    print(name, path.exists())
for name in ("new.txt", "../marks.db", "shared/told.txt", "data.txt"):
    try:
        pathlib.Path(name).write_text("written")
    except OSError as error:
        print(name, error.strerror)
print(socket.if_nameindex(), "own session:", os.getsid(0) > 0)
print(*sorted(os.environ))
"""


def test_a_submission_is_alone_or_it_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It reads what lies beside it, writes where it may, and nothing else changes."""
    folder, marks = tmp_path / "ada", tmp_path / "marks.db"
    shared = folder / "shared"
    shared.mkdir(parents=True)
    marks.write_text("140")
    (folder / "link.txt").symlink_to(marks)
    for name in ("data.txt", "hidden.ipynb", "shared/given.txt"):
        (folder / name).write_text("given")
    alone.runs.cache_clear()
    command = [*alone.alone(folder, shared), sys.executable, "-c", TRY]
    if SAID in capsys.readouterr().err:
        pytest.skip("no bubblewrap")
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "data.txt True",
        "hidden.ipynb False",
        "../marks.db False",
        "link.txt False",
        "shared/given.txt True",
        "data.txt Read-only file system",
        "[(1, 'lo')] own session: True",
        "HOME LANG PATH PWD",
    ]
    assert marks.read_text() == "140" and (shared / "told.txt").exists()
    assert not (folder / "new.txt").exists()


@pytest.mark.parametrize("why", ["No such file", "uid map: Permission denied"])
def test_without_bubblewrap_it_says_what_could_happen(
    why: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Once, however many submissions there are, and why: it is missing, or may not."""
    if "denied" in why:
        (tmp_path / "bwrap").write_text(f"#!/bin/sh\necho {why} >&2\nexit 1\n")
        (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    alone.runs.cache_clear()
    assert alone.alone(tmp_path) == alone.alone(tmp_path) == []
    told = capsys.readouterr().err
    assert told.count(SAID) == 1 and why in told
    alone.runs.cache_clear()
