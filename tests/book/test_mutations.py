"""Break the book on purpose, in a copy, and see the proof turn red.

Each mutation names the lints or the notebook that must notice it; two are of the
library, and a notebook must notice them. (Those that the library's own tests must
notice are made by a tool: `make mutants`.) The control runs the same lints on an
unbroken copy, and a notebook is green in a copy where figures are not compared, so
that red means the mutation and nothing else. What no two tests share is broken at once:
a run costs seconds before its first test.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FORMULA = "book/sinusoidal/formula.ipynb"
ROTATION = "book/sinusoidal/rotation.ipynb"
LINT = "tests/book/test_book.py"


def replace(file: str, old: str, new: str) -> Callable[[Path], None]:
    """A mutation of one place in a file."""

    def mutate(copy: Path) -> None:
        path = copy / file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{file} must contain {old!r} once"
        path.write_text(text.replace(old, new), encoding="utf-8")

    return mutate


def together(*mutations: Callable[[Path], None]) -> Callable[[Path], None]:
    """Several mutations, each for a test of its own."""

    def mutate(copy: Path) -> None:
        for each in mutations:
            each(copy)

    return mutate


def move_a_path(copy: Path) -> None:
    """Move one coordinate of one curve in a stored figure by a hundred-thousandth."""
    path = copy / FORMULA
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cell = next(cell for cell in notebook["cells"] if cell["id"] == "columns")
    data = cell["outputs"][0]["data"]
    svg = "".join(data["image/svg+xml"])
    curve = re.search(r"L (\d+\.\d{5})\d ", svg)
    assert curve
    digit = (int(svg[curve.end(1)]) + 1) % 10
    moved = svg[: curve.end(1)] + str(digit) + svg[curve.end(1) + 1 :]
    data["image/svg+xml"] = moved.splitlines(keepends=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")


MUTATIONS = {
    "the sign of one entry of T": (
        replace(
            "pe_lib/rotation.py",
            "matrix[cosines, cosines] = -sin, cos",
            "matrix[cosines, cosines] = sin, cos",
        ),
        [ROTATION],
        1,
    ),
    "cosine for sine": (
        replace(
            "pe_lib/_phasors.py",
            "np.sin(angle, out=hands.real)",
            "np.cos(angle, out=hands.real)",
        ),
        [FORMULA],
        1,
    ),
    "a digit in a stored output, one path coordinate in a stored SVG": (
        together(replace(FORMULA, "0.8415   0.5403", "0.8415   0.5404"), move_a_path),
        [FORMULA],
        2,
    ),
    "a sign in the printed theorem, a claim's tag, an alt text": (
        together(
            replace(ROTATION, '"-\\\\sin\\\\omega_j k', '"\\\\sin\\\\omega_j k'),
            replace(ROTATION, '"claim-single-sine"', '"claim-single-cosine"'),
            replace(ROTATION, '"alt": "Two dials', '"title": "Two dials'),
        ),
        [
            LINT + "::test_the_printed_theorem_is_the_matrix",
            LINT + "::test_claims_and_tagged_cells_match",
            LINT + "::test_figures_are_described",
        ],
        3,
    ),
}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the project, without what a build leaves behind."""
    hidden = shutil.ignore_patterns(".*", "_build", "*.egg-info")
    shutil.copytree(ROOT, tmp_path / "copy", ignore=hidden)
    return tmp_path / "copy"


def run(copy: Path, tests: list[str]) -> subprocess.CompletedProcess[str]:
    """Run tests in the copy, with the copy's own library, kernels included."""
    fast = ["-q", "-p", "no:cacheprovider"]
    if any(test.endswith(".ipynb") for test in tests):
        fast += ["-n0"]
    else:  # what notebooks need takes longer to load than most of these tests
        fast += ["-o", "addopts=", "-p", "no:nbval", "-p", "no:xdist"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *fast, *tests],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("name", MUTATIONS)
def test_mutation_turns_red(name: str, copy: Path) -> None:
    """As many tests fail as were broken, and not for want of collecting."""
    mutate, tests, broken = MUTATIONS[name]
    mutate(copy)
    result = run(copy, ["--maxfail", str(broken), *tests])
    assert result.returncode == 1, f"{tests} stayed green:\n{result.stdout}"
    assert f"{broken} failed" in result.stdout, result.stdout


def test_control_stays_green(copy: Path) -> None:
    """The same lints pass in an unbroken copy."""
    every = {test for _, tests, _ in MUTATIONS.values() for test in tests}
    result = run(copy, sorted(test for test in every if "::" in test))
    assert result.returncode == 0, result.stdout + result.stderr


def test_elsewhere_figures_are_not_compared(copy: Path) -> None:
    """On another processor a moved path passes, and the summary says why."""
    replace("conftest.py", '"x86_64"', '"another processor"')(copy)
    move_a_path(copy)
    result = run(copy, [FORMULA])
    assert result.returncode == 0, result.stdout
    assert "Figures were not compared" in result.stdout
