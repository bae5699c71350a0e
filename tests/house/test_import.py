"""Importing pe_lib is cheap, silent and without consequences."""

import importlib
import pkgutil
import subprocess
import sys

import pytest

from tests.core.optional import needs

IMPORT = """
import sys
before = set(sys.modules)
import {module}
loaded = {{name.partition(".")[0] for name in set(sys.modules) - before}}
print(*sorted(loaded - sys.stdlib_module_names))
"""


def loads(module):
    """What a fresh Python loads besides its own library, warnings being errors."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", IMPORT.format(module=module)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = done.stdout.splitlines()  # nothing else was printed
    return set(line.split())


def test_import_leaves_numpy_as_it_was():
    """No seed, no print options, no error state is set on the way."""
    code = (
        "import numpy as np\n"
        "def state():\n"
        "    return str((np.random.get_state(), np.geterr(), np.get_printoptions()))\n"
        "before = state()\n"
        "import pe_lib\n"
        "assert state() == before\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


@needs("scipy")
def test_fit_loads_scipy_and_no_torch():
    found = loads("pe_lib.fit")
    assert "scipy" in found and not found & {"torch", "matplotlib"}


@pytest.mark.parametrize(
    "module",
    ["", ".geometry", ".attention", ".properties", ".beyond.bias", ".explorers"],
)
def test_the_core_loads_numpy_alone(module):
    assert loads(f"pe_lib{module}") == {"numpy", "pe_lib"}


def test_no_public_name_shadows_a_module():
    """`import pe_lib.table as t` gives a module, for every module that there is."""
    for folder in ("", "nn", "check", "beyond"):
        package = importlib.import_module(f"pe_lib.{folder}".rstrip("."))
        modules = {found.name for found in pkgutil.iter_modules(package.__path__)}
        assert not modules & set(getattr(package, "__all__", ())), package
