"""`make outputs` and `make check`: what they run, and what a failed notebook leaves."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.book.test_cells import settings
from tools import changes, check
from tools import execute as execution
from tools.changes import ROOT
from tools.execute import execute


def stored(path: Path, *sources: str) -> Path:
    """A notebook with these cells."""
    nbformat.write(new_notebook(cells=[*map(new_code_cell, sources)]), path)
    return path


def test_a_failed_notebook_stays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Beside it lies another, as far as it came; it goes when all is right again.

    Of a page's metadata the description stays; what an editor adds goes.
    """
    monkeypatch.setattr(execution, "computes_anew", lambda _: True)
    path = stored(tmp_path / "a.ipynb", "print(3)", "assert 0, 'no'", "1 / 0")
    before, failed = path.read_bytes(), tmp_path / "a.failed.ipynb"
    assert execute(path) == "AssertionError: no"
    assert path.read_bytes() == before and "AssertionError" in failed.read_text()
    notebook = nbformat.read(stored(path, "print(3)"), 4)
    notebook.metadata |= {"description": "What it is.", "toc": True}
    nbformat.write(notebook, path)
    assert execute(path) == "" and not failed.exists()
    found = nbformat.read(path, 4)
    assert found.cells[0].outputs[0].text == "3\n"
    assert found.metadata.description == "What it is." and "toc" not in found.metadata
    stored(path, "import sys; print(1, file=sys.stderr)")
    assert execute(path) == "1\n"


@pytest.mark.parametrize(
    ("code", "rests"),
    [
        ("from pe_lib import sinusoidal_table", True),
        ("from pe_lib import frequencies as f\nf.angular_frequencies(4)", True),
        ("from pe_lib import frequencies\nfrequencies.SPACINGS", False),
        ("from pe_lib.attention import softmax", False),
        ("angular_frequencies = 3", False),
        ("from pe_lib import frequencies\ngetattr(frequencies, 'wavelengths')", True),
        ("from pe_lib.experiments import training\ntraining.train", True),
    ],
)
def test_a_notebook_rests_on_what_it_names(
    code: str, rests: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Also through other modules, and a package that hands a name on."""
    path = ROOT / "pe_lib/frequencies.py"
    before = path.read_text("utf-8").replace("def angular_frequencies(", "def old(")
    monkeypatch.setattr(changes, "committed", lambda _: before)
    changes.new_names.cache_clear()
    assert changes.rests_on(stored(tmp_path / "a.ipynb", code), {path}) == rests


BEFORE = """
SIZE = 2


def half(x):
    return x / 2
"""


@pytest.mark.parametrize(
    ("old", "new", "acts"),
    [
        ("    return", '    """Half of it."""\n    # as it is\n    return', False),
        ("SIZE = 2", 'SIZE = 2\n"""As wide as a hand."""', False),
        ("return x / 2", "return x / 3", True),
        ("SIZE = 2", 'SIZE = "2"', True),
        ("SIZE = 2", "from scipy import special\n\nSIZE = 2", True),
        ("def half", "def third(x):\n    return x / 3\n\n\ndef half", True),
        ("def half(x)", "def half(x: float)", True),
    ],
)
def test_only_comments_and_docstrings_touch_nothing_else(
    old: str, new: str, acts: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An import that was added made the core load SciPy, and no test was chosen."""
    module = tmp_path / "module.py"
    module.write_text(BEFORE.replace(old, new))
    monkeypatch.setattr(changes, "ROOT", tmp_path)
    monkeypatch.setattr(changes, "git", lambda *_: BEFORE)
    assert changes.acts_anew(module) == acts
    module.unlink()
    assert changes.acts_anew(module)


def test_outputs_of_an_untouched_notebook_are_not_replaced_unasked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row once vanished from a page because a module had changed, and was stored."""
    value = tmp_path / "value.py"
    value.write_text("SEEN = 3")
    late = "if SEEN > 3:\n    print('late')"
    path = stored(tmp_path / "a.ipynb", "from value import SEEN\nSEEN", late)
    monkeypatch.setattr(execution, "computes_anew", lambda _: True)
    assert execute(path) == ""
    before = path.read_bytes()
    value.write_text("SEEN = 2 + 2")  # longer: a compiled file is told by its size
    monkeypatch.setattr(execution, "computes_anew", lambda _: False)
    assert "ACCEPT=1" in execute(path) and path.read_bytes() == before
    printed = capsys.readouterr().out
    assert "its code cell 1 changed" in printed and "its code cell 2 changed" in printed
    monkeypatch.setenv("ACCEPT", "1")
    assert execute(path) == "" and "4" in path.read_text()


def runs(monkeypatch: pytest.MonkeyPatch, changed: str) -> list[list[str]]:
    """What `make check` hands to pytest after a change of one file."""
    for name in ("differing", "touching"):
        monkeypatch.setattr(check, name, lambda: {ROOT / changed})
    monkeypatch.setattr(changes, "touching", lambda: {ROOT / changed})
    monkeypatch.setattr(check, "computes_anew", lambda _: True)
    for module in (changes, check):
        monkeypatch.setattr(module, "is_new_or_gone", lambda path: path.suffix == ".py")
    changes.new_names.cache_clear()
    return check.touched()


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("book/sinusoidal/rotation.ipynb", "tests/book/test_exercises.py"),
        ("book/claims.yml", "tests/book/test_book.py"),
        ("pe_lib/frequencies.py", "tests/core/test_frequencies.py"),
        ("pe_lib/frequencies.py", "frequencies. or test_every_public_name"),
        ("pe_lib/frequencies.py", "tests/house/test_import.py"),
        ("pe_lib/check/reader.py", "tests/house/test_wheel.py"),
        ("tests/kernels.py", "tests/house/test_kernels.py"),
        ("book/problem/adding.ipynb", "tests/house/test_arrows.py"),
        ("pe_lib/explorers/__init__.py", "book/beyond/images.ipynb"),
        ("pe_lib/explorers/dial.py", "tests/explorers/test_drawings.py"),
        ("pe_lib/explorers/dial.js", "tests/explorers/test_drawn_numbers.py"),
        ("pe_lib/explorers/patches.js", "book/beyond/images.ipynb"),
        ("README.md", "tests/book/test_numbers.py"),
        ("website/live/inside.py", "tests/live/test_live.py"),
        ("website/live/scripts/page.js", "tests/live/test_live.py"),
        ("website/static/bench.js", "tests/website/test_bench.py"),
        ("website/static/book.css", "tests/website/test_site.py"),
        ("course/plans/45.yml", "tests/course/test_slides.py"),
    ],
)
def test_a_change_runs_the_tests_of_its_room(
    changed: str, tests: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever room it is in."""
    found = runs(monkeypatch, changed)
    assert any(tests in run for run in found), found


def test_a_changed_page_runs_what_reads_every_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a file with tests of each page also those that read the whole book."""
    found = runs(monkeypatch, "book/sinusoidal/formula.ipynb")
    assert found[1][-2:] == [
        "-k",
        "not / or sinusoidal/formula] or sinusoidal/formula-",
    ]
    assert found[2] == [
        "--weekly",
        "tests/book/test_cells.py",
        "-k",
        "test_no_cell_raises_at_the_ends"
        " and (sinusoidal/formula] or sinusoidal/formula-)",
    ]


def test_the_ends_of_a_range_are_found_by_their_page() -> None:
    """pytest selects them by words in their names, and none would be no test."""
    for one in settings():
        page, _ = one.values
        words = check.of_pages([ROOT / f"{page.name}.ipynb"])
        assert any(word in f"[{one.id}]" for word in words), one.id


def test_the_script_of_a_drawing_runs_what_shows_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither other chapters that import the package, nor the wheel, nor the site."""
    (found,) = runs(monkeypatch, "pe_lib/explorers/two_hands.js")
    assert "book/sinusoidal/formula.ipynb" in found
    assert "tests/explorers/test_drawings.py" in found
    assert "pe_lib/explorers/two_hands.py" in found  # its doctests
    rooms = {"book/failures", "tests/live", "tests/manuscript", "tests/website"}
    assert not {name.rpartition("/")[0] for name in found} & rooms
    assert "tests/house/test_wheel.py" not in found


def test_a_docstring_touches_its_file_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its examples run, and what calls every function that is described."""
    monkeypatch.setattr(check, "differing", lambda: {ROOT / "pe_lib/table.py"})
    monkeypatch.setattr(check, "touching", set)
    monkeypatch.setattr(changes, "touching", set)
    first, called = check.touched()
    assert first == ["pe_lib/table.py"] and "table. or" in called[-1]
