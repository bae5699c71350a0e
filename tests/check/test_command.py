"""The report, the command line with its exit status, and the tests for pytest."""

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from pe_lib.__main__ import main
from pe_lib.check import check
from pe_lib.check.registry import CHECKS
from tests.check.modules import Added

SOUND = "pe_lib.nn:SinusoidalPositionalEncoding"
WRONG = "torch.nn:Identity"
FILE = """
    import sys
    import torch

    class Mine(torch.nn.Module):
        def __init__(self, d_model, rows=9):
            super().__init__()
            self.rows = torch.nn.Embedding(rows, d_model, padding_idx=0)
            print("made")

        def forward(self, x):
            return x + self.rows(torch.arange(x.shape[1], device=x.device))
"""


def run(capsys, *arguments):
    """Exit status, stdout and stderr."""
    status = main(["check", *arguments])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(textwrap.dedent(FILE))
    return path


def test_no_error_is_status_0_and_notes_are_printed_if_asked_for(capsys):
    status, out, err = run(capsys, SOUND)
    assert (status, err) == (0, "")
    assert out.startswith("SinusoidalPositionalEncoding: no errors; the encoding of ")
    assert "note" not in out and "note formula: " in run(capsys, SOUND, "-v")[1]


def test_an_error_is_status_1(capsys):
    status, out, _ = run(capsys, WRONG)
    assert status == 1 and "error axes: " in out


def test_a_warning_is_status_1_if_strict(capsys, file):
    mine = f"{file}:Mine", "--arg", "rows=300"
    status, out, err = run(capsys, *mine)
    assert (status, err) == (0, "made\n" * err.count("made\n"))
    assert "warning gradient: Row 0" in out
    assert run(capsys, *mine, "--strict")[0] == 1
    assert run(capsys, *mine, "--strict", "--ignore", "gradient")[0] == 0


def test_json_says_the_same(capsys, file):
    status, out, _ = run(capsys, f"{file}:Mine", "--d-model", "16", "--json")
    found = json.loads(out)
    assert (found["ok"], found["ran"], found["kind"]) == (status == 0, True, "added")
    assert set(found["findings"][0]) == {"check", "level", "what", "fix"}
    assert found["recognised"]["formula"] == "trained"


def test_the_kind_is_told(capsys):
    more = "--kind", "bias", "--d-model", "8", "--json"
    out = run(capsys, "pe_lib.nn:AlibiBias", *more)[1]
    assert json.loads(out)["kind"] == "bias"


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("torch.nn", "got 'torch.nn'"),
        (":Identity", "got ':Identity'"),
        ("no_such_package:Class", "ModuleNotFoundError"),
        ("torch.nn:NoSuchClass", "AttributeError"),
    ],
)
def test_what_cannot_be_found_is_status_2(capsys, target, words):
    status, out, err = run(capsys, target)
    assert (status, out) == (2, "")
    assert err.startswith("could not run: ") and words in err


@pytest.mark.parametrize("ending", ["sys.exit(0)", "1 / 0"])
def test_a_file_that_leaves_or_fails_is_status_2(capsys, file, ending):
    file.write_text(f"{file.read_text()}\n{ending}\n")
    assert run(capsys, f"{file}:Mine")[0] == 2


def test_a_file_sees_none_of_our_arguments(capsys, file):
    file.write_text(f"{file.read_text()}\nassert len(sys.argv) == 1, sys.argv\n")
    assert run(capsys, f"{file}:Mine", "--d-model", "16")[0] == 0


@pytest.mark.parametrize(
    "more", [["--arg", "rows"], ["--d-model", "0"], ["--ignore", "metal"]]
)
def test_bad_values_are_status_2(capsys, file, more):
    assert run(capsys, f"{file}:Mine", *more)[0] == 2


@pytest.mark.parametrize("arguments", [[], ["check"], ["bake"]])
def test_bad_usage_is_status_2(arguments, capsys):
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 2 and "usage: python -m pe_lib" in capsys.readouterr().err


def test_as_a_process_it_imports_from_the_current_folder(file):
    done = subprocess.run(
        [sys.executable, "-m", "pe_lib", "check", "mine:Mine"],
        cwd=file.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and done.stdout.startswith("Mine: no errors"), done


@pytest.mark.parametrize("width", [40, 72])
def test_the_text_keeps_its_width(width):
    for make in (Added, lambda d: Added(d - 1)):
        report = check(make, d_model=8)
        lines = report.as_text(width, verbose=True).splitlines()
        assert max(map(len, lines)) <= width


PLUGIN = """
    from pe_lib.check.pytest import encoding_tests
    from torch.nn import Identity
    from pe_lib.nn import RotaryEmbedding, SinusoidalPositionalEncoding

    test_ours = encoding_tests(SinusoidalPositionalEncoding, d_model=16)
    test_turns = encoding_tests(RotaryEmbedding, d_model=16, kind="rotary")
    test_none = encoding_tests(Identity, d_model=16, ignore=["meta"])
    test_refused = encoding_tests(lambda: None, d_model=16)
"""


def test_one_line_gives_a_test_for_each_check(tmp_path, monkeypatch, capsys):
    (tmp_path / "test_mine.py").write_text(textwrap.dedent(PLUGIN))
    options = ["-p", "no:cacheprovider", "--import-mode=importlib", "-q", "-rA"]
    monkeypatch.chdir(tmp_path)
    pytest.main([*options, "."])
    out = capsys.readouterr().out
    assert "PASSED test_mine.py::test_ours[prefix]" in out, out
    assert "PASSED test_mine.py::test_turns[relative]" in out
    assert "FAILED test_mine.py::test_none[axes]" in out
    assert "FAILED test_mine.py::test_refused[prefix]" in out
    assert "test_none[meta]" not in out and "test_turns[widths]" not in out


def test_every_check_is_met_by_name_in_a_test():
    """A new one needs a module in which it finds something."""
    tests = Path(__file__).parent.glob("test_*.py")
    text = "".join(path.read_text(encoding="utf-8") for path in tests)
    said = {*re.findall(r'"(?:error |warning )?(\w+)"', text)}
    names = {name for checks in CHECKS.values() for name in checks}
    unmet = names - said
    assert len(names) > 20 and not unmet, (
        f"{unmet}: name it in a test, with a module where it finds a fault"
    )
