"""`make outputs` and `make check`: what they run, and what a failed notebook leaves."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tools import check
from tools.execute import execute, rests_on
from website.manuscript import ROOT


def stored(path: Path, *sources: str) -> Path:
    """A notebook with these cells."""
    nbformat.write(new_notebook(cells=[*map(new_code_cell, sources)]), path)
    return path


def test_a_failed_notebook_stays_and_shows_what_was_compared(tmp_path: Path) -> None:
    """Beside it lies another with both sides; it goes when all is right again."""
    path = stored(tmp_path / "a.ipynb", "x = 3", "assert x + 1 == 5, 'no'", "x / 0")
    before, failed = path.read_bytes(), tmp_path / "a.failed.ipynb"
    assert execute(path) == "AssertionError: no\nx + 1 is 4\n"
    assert path.read_bytes() == before and "x + 1 is 4" in failed.read_text()
    stored(path, "print(3)")
    assert execute(path) == "" and not failed.exists()
    assert nbformat.read(path, 4).cells[0].outputs[0].text == "3\n"
    stored(path, "import sys; print(1, file=sys.stderr)")
    assert execute(path) == "1\n"


def test_of_a_page_s_metadata_the_description_stays(tmp_path: Path) -> None:
    """What an editor adds goes, as in the cells."""
    path = stored(tmp_path / "a.ipynb", "1")
    notebook = nbformat.read(path, 4)
    notebook.metadata |= {"description": "What it is.", "toc": True}
    nbformat.write(notebook, path)
    execute(path)
    found = nbformat.read(path, 4).metadata
    assert found.description == "What it is." and "toc" not in found


def test_a_notebook_rests_on_what_it_imports(tmp_path: Path) -> None:
    """Also through a package that hands a name on; not on all of the package."""
    path = stored(tmp_path / "a.ipynb", "from pe_lib import sinusoidal_table")
    names = {file.name for file in rests_on(path)}
    assert {"table.py", "frequencies.py"} <= names
    assert "scorecards.py" not in names and "plotting.py" not in names


def test_a_changed_page_runs_all_its_readers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a file with tests of each page also those that read the whole book."""
    page = ROOT / "book/sinusoidal/rotation.ipynb"
    monkeypatch.setattr(check, "differing", lambda: {page})
    monkeypatch.setattr(check, "changed", lambda: [page])
    files, pages = check.touched()[0], "not / or sinusoidal/rotation"
    assert "tests/book/test_students.py" in files and files[-2:] == ["-k", pages]
