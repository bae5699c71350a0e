"""The wheel in an empty environment: complete, typed, and quiet about nothing."""

import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

import manuscript
import pe_lib
from manuscript import edition
from website import editions

ROOT = Path(__file__).parents[2]

USER = """\
import numpy as np
from pe_lib import scorecard, shift_matrix, sinusoidal, sinusoidal_table
from pe_lib.naive import binary

table = sinusoidal_table(32, 8, dtype=np.float32)
moved = shift_matrix(5, 8) @ sinusoidal([0, 1], 8).T
card = scorecard({"binary": lambda n: binary(range(n), 5)}, length=32)
assert card["binary"]["unique"].holds and moved.shape == (8, 2)
assert table.dtype == np.float32
"""


def run(*command, cwd):
    """What a command of the user's prints, and how it ended."""
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, "MPLBACKEND": "agg", "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of the library as it stands, built in a copy, without a network."""
    source = tmp_path_factory.mktemp("source")
    compiled = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "pe_lib", source / "pe_lib", ignore=compiled)
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(ROOT / name, source)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    offline = ["--no-deps", "--no-index", "--no-build-isolation"]
    done = run(*pip, "wheel", *offline, "--wheel-dir", "dist", ".", cwd=source)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = (source / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def empty(wheel, tmp_path_factory):
    """An environment with the wheel in it, and NumPy from this one."""
    folder = tmp_path_factory.mktemp("empty")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    scheme = {"base": str(folder), "platbase": str(folder)}
    home = Path(sysconfig.get_path("purelib", "venv", vars=scheme))
    here = sysconfig.get_path("purelib")
    (home / "numpy_of_this_environment.pth").write_text(f"{here}\n")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    done = run(
        *[*pip, "--python", python, "install", "--no-deps", "--no-index", wheel],
        cwd=folder,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return python


def test_the_wheel_holds_every_file_of_the_library(wheel):
    """And nothing else: a folder that pyproject.toml forgets would be missing."""
    kinds = {".py", ".js", ".css", ".json", ".md", ".txt", ".typed"}
    files = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "pe_lib").rglob("*")
        if path.suffix in kinds or path.name == "py.typed"
    }
    held = {n for n in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in n}
    assert held == files
    assert "pe_lib/py.typed" in held


def test_its_description_is_whole_without_the_repository(wheel):
    """A link to a file of the repository would be broken on every other page."""
    with zipfile.ZipFile(wheel) as opened:
        (name,) = (n for n in opened.namelist() if n.endswith("/METADATA"))
        text = opened.read(name).decode()
    found = message_from_string(text)
    assert found["Version"] == pe_lib.__version__
    assert found["Author"] and found.get_all("Classifier") and found["Project-URL"]
    links = re.findall(r"\]\((.*?)\)", found.get_payload())
    assert links and all(link.startswith("https://") for link in links)


def test_a_users_ten_lines_run(empty, tmp_path):
    code = f"{USER}import pe_lib; print(pe_lib.__file__)"
    done = run(empty, "-W", "error", "-c", code, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = done.stdout.splitlines()  # nothing else was printed
    assert Path(line).is_relative_to(empty.parents[1]), line


RUN = """
import json, sys
notebook = json.loads(open(sys.argv[1], encoding="utf-8").read())
names = {"__name__": "__main__"}
for cell in notebook["cells"]:
    if cell["cell_type"] == "code":
        exec("".join(cell["source"]), names)
"""
PAGES = (
    "sinusoidal/rotation_deeper",
    "beyond/language_model",
    "beyond/low_precision",
)
"""With SymPy, and with NumPy alone: data of their own and of other folders."""
EVERY = [
    pytest.param(name, marks=[] if name in PAGES else pytest.mark.weekly)
    for name in (p.name.removeprefix("book/") for p in manuscript.read().notebooks)
]


@pytest.mark.parametrize("name", EVERY)
def test_a_page_as_a_notebook_runs_beside_the_wheel(name, empty, tmp_path):
    """Unpacked in an empty folder: its data and the licences are in the zip."""
    page = manuscript.read().pages[f"book/{name}"]
    packed = editions.archive(page, edition.make(page))
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extractall(tmp_path)
    assert (tmp_path / "LICENSE").exists() and (tmp_path / "LICENSE-TEXT").exists()
    path = tmp_path / f"book/{name}.ipynb"
    done = run(empty, "-c", RUN, path, cwd=path.parent)
    assert done.returncode == 0, done.stderr[-2000:]


CHECK = """
from torch import nn
from pe_lib.check import check
print(check(lambda d_model: nn.Identity(), d_model=8))
"""


def test_the_checker_runs_from_the_wheel(empty, tmp_path):
    """With the torch of this environment."""
    pytest.importorskip("torch")
    done = run(empty, "-c", CHECK, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "error axes" in done.stdout
