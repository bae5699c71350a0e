"""Test what differs from the last commit: `make check` runs it after the linters.

Of the notebooks those that changed and those that import what changed; of the tests
those that changed or import what changed; of the tests that read every page what they
say of the pages that changed.
"""

import subprocess
import sys
from pathlib import Path

from tools.execute import ROOT, changed, differing, rests_on

SITE = ("_ext", "_static", "_theme")


def touched() -> tuple[list[str], list[str]]:
    """What to hand to pytest: the tests of pages, with -k for these; all others."""
    differ, pages = {path for path in differing() if path.exists()}, changed()
    tests = [
        path
        for path in sorted(ROOT.glob("tests/*/test_*.py"))
        if path.parent.name != "site" and (path in differ or differ & rests_on(path))
    ]
    if any(
        path.is_relative_to(ROOT / "book" / part) for path in differ for part in SITE
    ):
        tests.append(ROOT / "tests/website/test_site_extensions.py")
    modules = [  # for their doctests
        path
        for path in sorted(differ)
        if path.is_relative_to(ROOT / "pe_lib") and path.suffix == ".py"
    ]
    names = [path.relative_to(ROOT).as_posix() for path in (*tests, *modules, *pages)]
    readers: list[str] = []
    if any(path.suffix in (".ipynb", ".md", ".yml", ".bib") for path in differ):
        readers = [
            path.relative_to(ROOT).as_posix()
            for path in sorted(ROOT.glob("tests/book/test_*.py"))
            if path not in tests
        ]
        these = [p.relative_to(ROOT / "book").with_suffix("") for p in pages]
        texts = [path for path in differ if path.suffix == ".md"]
        these += [p.relative_to(ROOT).with_suffix("") for p in texts]
        chosen = [*(path.as_posix() for path in these), *exercises(differ, pages)]
        readers += ["-k", " or ".join(["not /", *dict.fromkeys(chosen)])]
    return readers, names


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
    """Run them."""
    groups = [names for names in touched() if names]
    if not groups:
        print("Nothing that a test here looks at differs from the last commit.")
        return 0
    pytest = [sys.executable, "-m", "pytest", "-q"]
    runs = [subprocess.run([*pytest, *n], cwd=ROOT, check=False) for n in groups]
    return max(run.returncode for run in runs)


if __name__ == "__main__":
    sys.exit(main())
