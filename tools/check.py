"""Test what differs from the last commit: `make check` runs it after the linters.

    python tools/check.py          runs the tests
    python tools/check.py --list   prints what it would run instead

Of the notebooks those that changed and those that import what changed; of the tests
those that changed, import what changed, or read the book if a page changed.
"""

import subprocess
import sys
from pathlib import Path

from execute import ROOT, changed, differing, rests_on

ANSWERS = "tests/book/test_students.py::test_checks_tell_right_from_wrong"
"""Exercises with their right and wrong answers; a chapter takes seconds."""


def touched() -> list[str]:
    """What to hand to pytest."""
    differ, pages = differing(), changed()
    tests = [
        path
        for path in sorted(ROOT.glob("tests/*/test_*.py"))
        if path.parent.name != "site" and (path in differ or differ & rests_on(path))
    ]
    modules = [  # for their doctests
        path
        for path in sorted(differ)
        if path.is_relative_to(ROOT / "pe_lib") and path.suffix == ".py"
    ]
    names = [path.relative_to(ROOT).as_posix() for path in (*tests, *modules, *pages)]
    if any(path.is_relative_to(ROOT / "book") for path in differ):
        names += [
            f"tests/book/{path.name}"
            for path in sorted(ROOT.glob("tests/book/test_*.py"))
            if path.name not in ANSWERS and path not in tests
        ]
        names += [f"{ANSWERS}[{page}]" for page in exercises(differ, pages)]
    return names


def exercises(differ: set[Path], pages: list[Path]) -> list[str]:
    """The chapters whose exercises changed, with their wrong answers."""
    parts = {path.stem for path in differ if path.parent.name == "exercises"}
    found = {*pages}.union(*(ROOT.glob(f"book/{part}/[a-z]*.ipynb") for part in parts))
    return [
        f"{path.parent.name}/{path.stem}"
        for path in sorted(found)
        if "{exercise}" in path.read_text(encoding="utf-8")
    ]


def main() -> int:
    """Run them, or print their names."""
    names = touched()
    if "--list" in sys.argv or not names:
        print(
            "\n".join(names)
            or "Nothing that a test here looks at differs from the last commit."
        )
        return 0
    command = [sys.executable, "-m", "pytest", "-q", *names]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
