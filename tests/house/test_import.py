"""Importing pe_lib is cheap, silent and without consequences."""

import importlib
import pkgutil
import subprocess
import sys

from tests.core.optional import needs

IMPORT = """
import importlib, sys
before = set(sys.modules)
for module in sys.argv[1:]:
    importlib.import_module(module)
    loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
    print(module, *sorted(loaded - sys.stdlib_module_names))
"""


def loaded_after(*modules):
    """What a fresh Python has loaded after each besides its own library."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", IMPORT, *modules],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = {
        line.split()[0]: set(line.split()[1:]) for line in done.stdout.splitlines()
    }
    assert tuple(found) == modules, "something else was printed"
    return found


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
    (found,) = loaded_after("pe_lib.fit").values()
    assert "scipy" in found and not found & {"torch", "matplotlib"}


def test_the_core_loads_numpy_alone():
    rooms = "", ".geometry", ".attention", ".properties", ".beyond.bias", ".explorers"
    for module, found in loaded_after(*(f"pe_lib{room}" for room in rooms)).items():
        assert found == {"numpy", "pe_lib"}, module


def test_no_public_name_shadows_a_module():
    """`import pe_lib.table as t` gives a module, for every module that there is."""
    for folder in ("", "nn", "check", "beyond"):
        package = importlib.import_module(f"pe_lib.{folder}".rstrip("."))
        modules = {found.name for found in pkgutil.iter_modules(package.__path__)}
        assert not modules & set(getattr(package, "__all__", ())), package
