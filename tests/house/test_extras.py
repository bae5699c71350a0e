"""A missing package is one clear line that says what to install."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from pe_lib._extras import require_package

ROOT = Path(__file__).parents[2]
PYPROJECT = ROOT / "pyproject.toml"

# Each module, what it needs beside NumPy, and who says so.
NEED = {
    "pe_lib.plotting": ("matplotlib", "pe_lib.plotting"),
    "pe_lib.fit": ("scipy", "pe_lib.fit"),
    "pe_lib.nn": ("torch", "pe_lib.nn"),
    "pe_lib.nn.sinusoidal": ("torch", "pe_lib.nn"),
    "pe_lib.check": ("torch", "pe_lib.check"),
    "pe_lib.check.report": ("torch", "pe_lib.check"),
    "pe_lib.check.pytest": ("pytest", "pe_lib.check.pytest"),
    "pe_lib.experiments": ("torch", "pe_lib.experiments"),
    "pe_lib.experiments.tasks": ("torch", "pe_lib.experiments"),
}


# requirements-torch.txt has what the chapters import, and what runs them.
FOR_CHAPTERS = {
    line.partition("==")[0]
    for name in ("numpy", "torch")
    for line in (ROOT / f"requirements-{name}.txt").read_text().splitlines()
    if "==" in line and not line.startswith(("#", "ipykernel"))
} | {"mpmath"}


def last_line(code, hidden):
    """What a fresh Python says last of `code`, in which a package is missing."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.modules[{hidden!r}] = None; {code}"],
        capture_output=True,
        text=True,
        check=False,
    )
    return (done.stderr.splitlines() or [""])[-1]


@pytest.mark.parametrize("module", NEED)
def test_one_line_says_what_to_install(module):
    package, by = NEED[module]
    line = f"ModuleNotFoundError: {by} needs {package}: pip install {package}"
    assert last_line(f"import {module}", package) == line


def test_the_one_function_of_geometry_that_needs_scipy():
    code = "from pe_lib.geometry import decay_law; decay_law(1)"
    line = "pe_lib.geometry.decay_law needs scipy: pip install scipy"
    assert last_line(code, "scipy") == f"ModuleNotFoundError: {line}"


@pytest.mark.skipif(not PYPROJECT.exists(), reason="the project is not here")
def test_every_extra_that_is_named_exists():
    extras = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"]
    named = {package for package, _ in NEED.values()}
    book = {requirement.partition(">=")[0] for requirement in extras.pop("book")}
    assert set(extras) == named
    for name, (requirement,) in extras.items():
        assert re.match(rf"{name}>=", requirement)
    assert book == FOR_CHAPTERS - {"numpy"}


def test_another_missing_module_is_not_blamed_on_the_extra():
    with (
        pytest.raises(ModuleNotFoundError, match="'nowhere_at_all'"),
        require_package("torch", by="pe_lib.nn"),
    ):
        import nowhere_at_all  # noqa: F401


def test_what_is_installed_runs_on_the_oldest_python_that_the_project_names():
    # Debian's 3.11.2 met a pin that wanted 3.11.5; newer Pythons never notice.
    floor = tomllib.loads(PYPROJECT.read_text())["project"]["requires-python"]
    oldest = floor.removeprefix(">=") + ".0"
    wants = {d.name: d.metadata.get("Requires-Python") for d in distributions()}
    late = [n for n, want in wants.items() if oldest not in SpecifierSet(want or "")]
    assert len(wants) > 100 and late == []
