"""Test what differs from the last commit: `make check` runs it after the linters.

Of the notebooks and the tests those that changed and those that rest on what changed,
and those of the drawings where a script did; of the tests that read or open every
page what they say of changed pages; of those that call every public function what they
say of changed modules; of the house what a change can touch, the wheel where a file of
the library is new or gone. Notebooks whose code changed also run with their values at
the ends of their ranges. A docstring alone runs what reads it, and the script of a
drawing not the site.
"""

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tools.changes import (
    ROOT,
    changed_notebooks,
    computes_anew,
    differing,
    file_dependencies,
    is_new_or_gone,
    rests_on,
    touching,
)

KEPT = ROOT / "tests/book/test_kept_results.py"
READ = {*ROOT.glob("tests/book/test_*.py"), *ROOT.glob("tests/manuscript/test_*.py")}
READ -= {KEPT}
CELLS = ROOT / "tests/book/test_cells.py"
OPENED = {ROOT / "tests/website/test_site.py"}
WHEEL = ROOT / "tests/house/test_wheel.py"
KERNELS = ROOT / "tests/house/test_kernels.py"
SITE = ("live", "manuscript", "website")
"""The rooms that show a drawing as it is: not tested anew where its script changed."""
BY_PAGE = {CELLS, ROOT / "tests/book/test_exercises.py"}
"""What takes the library through pages, which a change of the library executes."""
CALLED = [ROOT / "tests/book/test_book.py", ROOT / "tests/core/test_arguments.py"]
MAKES_PAGES = ("manuscript", "website")
ALONE = ["-n0"]
"""To find the tests of a page costs more than to run them: one process does."""
SAMPLE = ["book/index", "problem/order_blindness"]
"""Where a change of style, scripts or templates is looked at; `make test` sees all."""


def touched() -> list[list[str]]:
    """What to hand to pytest, run by run."""
    differ, felt, notebooks = differing(), touching(), changed_notebooks()
    library = {path for path in felt if path.is_relative_to(ROOT / "pe_lib")}
    drawn = {path for path in library if path.suffix != ".py"}
    scripts = {path for path in drawn if not is_new_or_gone(path)}
    unseen = dict.fromkeys(BY_PAGE, library) | {
        path: scripts for room in SITE for path in ROOT.glob(f"tests/{room}/*.py")
    }
    plans = {*(ROOT / "course").glob("**/*.yml")} & differ
    tests = {
        path
        for path in ROOT.glob("tests/*/test_*.py")
        if path in differ
        or rests_on(path, felt - unseen.get(path, set()))
        or (felt and path.parent.name == "house" and path not in (KERNELS, WHEEL))
        or (path == WHEEL and any(map(is_new_or_gone, library)))
        or (drawn and path.parent.name == "explorers")
        or (plans and path.parent.name == "course")
    }
    documented = {
        path
        for path in differ & {*ROOT.glob("pe_lib/**/*.py")}
        if path.exists()  # for its doctests
    }
    shows = {
        path
        for path in ROOT.glob("pe_lib/explorers/*.py")
        if drawn & file_dependencies(path)  # its doctests say what is drawn
    }
    in_book = any(
        path.is_relative_to(ROOT / "book") or path.suffix == ".md" for path in differ
    )
    pages = of_pages([*notebooks, *written(differ)])
    runs = [
        paths(
            (tests - OPENED - (READ if in_book else set()))
            | documented
            | shows
            | {*notebooks}
        )
    ]
    if documented:
        called = ["test_every_public_name", *(f"{path.stem}." for path in documented)]
        runs.append([*ALONE, *paths(CALLED), "-k", " or ".join(sorted(called))])
    if in_book:
        runs.append([*ALONE, *paths(READ), "-k", " or ".join(["not /", *pages])])
    edited = [page for page in notebooks if page in differ and computes_anew(page)]
    if offering := [p for p in edited if "= chosen(" in p.read_text("utf-8")]:
        names = " or ".join(of_pages(offering))
        ends = f"test_no_cell_raises_at_the_ends and ({names})"
        runs.append(["--weekly", *paths([CELLS]), "-k", ends])
    if any(path.is_relative_to(ROOT / room) for path in felt for room in MAKES_PAGES):
        runs.append([*paths(OPENED), "-k", " or ".join([*SAMPLE, *pages])])
    return [run for run in runs if run]


def written(differ: set[Path]) -> list[Path]:
    """The pages of text, and the chapters of parts whose exercises differ."""
    parts = [path.stem for path in differ if path.parent.name == "exercises"]
    chapters = [p for part in parts for p in ROOT.glob(f"book/{part}/[a-z]*.ipynb")]
    texts = [path for path in differ if path.suffix == ".md" and path.exists()]
    return sorted(chapters) + sorted(texts)


def of_pages(paths: list[Path]) -> list[str]:
    """What ends the name of a test of a page, or stands in it: failures/counting]."""
    files = [path.relative_to(ROOT).with_suffix("").as_posix() for path in paths]
    names = [file.removeprefix("book/") for file in files]
    return [f"{name}{end}" for name in names for end in ("]", "-")]


def paths(files: Iterable[Path]) -> list[str]:
    """Files as one types them."""
    return sorted(path.relative_to(ROOT).as_posix() for path in files)


def main() -> int:
    """Run them."""
    if not (runs := touched()):
        print("Nothing that a test here looks at differs from the last commit.")
        return 0
    pytest = [sys.executable, "-m", "pytest", "-q"]
    codes = [subprocess.run([*pytest, *r], cwd=ROOT, check=False) for r in runs]
    return max(run.returncode for run in codes)


if __name__ == "__main__":
    sys.exit(main())
