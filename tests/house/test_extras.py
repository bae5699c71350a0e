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

# Each package besides NumPy, what needs it, and who says so.
NEED = {
    "matplotlib": {"import pe_lib.plotting": "pe_lib.plotting"},
    "scipy": {
        "import pe_lib.fit": "pe_lib.fit",
        "from pe_lib import geometry; geometry.decay_law(1)": (
            "pe_lib.geometry.decay_law"
        ),
    },
    "torch": {
        "import pe_lib.nn": "pe_lib.nn",
        "import pe_lib.nn.sinusoidal": "pe_lib.nn",
        "import pe_lib.check": "pe_lib.check",
        "import pe_lib.check.report": "pe_lib.check",
        "import pe_lib.experiments": "pe_lib.experiments",
        "import pe_lib.experiments.tasks": "pe_lib.experiments",
    },
}
WITHOUT = """
import sys
hidden, *lines = sys.argv[1:]
sys.modules[hidden] = None
for line in lines:
    try:
        exec(line)
        print("nothing")
    except ModuleNotFoundError as missing:
        print(missing)
"""


# requirements-torch.txt has what the chapters import, and what runs them.
FOR_CHAPTERS = {
    line.partition("==")[0]
    for name in ("numpy", "torch")
    for line in (ROOT / f"requirements-{name}.txt").read_text().splitlines()
    if "==" in line and not line.startswith(("#", "ipykernel"))
} | {"mpmath"}


@pytest.mark.parametrize("package", NEED)
def test_one_line_says_what_to_install(package):
    """In a fresh Python in which the package is missing."""
    python = [sys.executable, "-c", WITHOUT, package, *NEED[package]]
    said = subprocess.run(python, capture_output=True, text=True, check=True).stdout
    lines = [
        f"{by} needs {package}: pip install {package}" for by in NEED[package].values()
    ]
    assert said.splitlines() == lines


@pytest.mark.skipif(not PYPROJECT.exists(), reason="the project is not here")
def test_every_extra_that_is_named_exists():
    extras = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"]
    book = {requirement.partition(">=")[0] for requirement in extras.pop("book")}
    assert set(extras) == set(NEED)
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
