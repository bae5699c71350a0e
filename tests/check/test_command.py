"""The command, its process and its document; the tests for pytest; what is refused."""

import json
import subprocess
import sys
import textwrap

import pytest
import torch

from pe_lib.__main__ import main
from pe_lib.check import check
from pe_lib.check.child import answer
from pe_lib.check.kinds import READERS
from pe_lib.check.signature import Maker
from tests.check.modules import Added, make_class, table

FILE = """
    import os
    import sys
    import time
    import torch

    class Mine(torch.nn.Module):
        def __init__(self, d_model, rows=300, pause=0):
            super().__init__()
            self.rows = torch.nn.Embedding(rows, d_model, padding_idx=0)
            print("made")
            os.write(1, b"written")
            time.sleep(pause)

        def forward(self, x):
            return x + self.rows(torch.arange(x.shape[1], device=x.device))
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "random.py"  # as a module of Python is called, which all load
    path.write_text(textwrap.dedent(FILE), encoding="utf-8")
    return path


def run(*arguments, **options):
    command = [sys.executable, "-m", "pe_lib", "check", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False, **options)


def test_a_process_of_its_own_and_json_on_stdout_alone(file):
    asked = f"{file}:Mine", "--d-model", "16", "--json", "--strict"
    done = run(*asked, text=True, cwd=file.parent)
    found = json.loads(done.stdout)
    assert (found["schema"], found["status"], found["ok"]) == (1, 0, True)
    assert done.returncode == 1  # there is a warning
    assert "written" in done.stderr and "made" in done.stderr
    assert {*found["findings"][0]} == {"check", "state", "level", "what", "fix"}
    warned = [f["what"] for f in found["findings"] if f["level"] == "warning"]
    assert any("read, and never trained" in what for what in warned)


def test_after_the_time_it_is_ended(file, capsys):
    slow = ["check", f"{file}:Mine", "--arg", "pause=60", "--timeout", "0.5", "--json"]
    assert main(slow) == 2
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == 1 and "0.5 seconds" in found["error"]


def test_nobody_reads(file):
    command = [sys.executable, "-m", "pe_lib", "check", f"{file}:Mine", "-v"]
    with subprocess.Popen(command, stdout=-1, stderr=-3) as process:
        process.stdout.close()
        assert process.wait() == 0


@pytest.mark.parametrize("more", [["--d-model", "x"], ["--nothing"]])
def test_bad_usage_is_json_too(more, capsys):
    with pytest.raises(SystemExit) as left:
        main(["check", "torch.nn:Identity", "--json", *more])
    assert left.value.code == 2
    assert json.loads(capsys.readouterr().out)["status"] == 2


@pytest.mark.parametrize(
    ("target", "options", "words"),
    [
        ("torch.nn", {}, "got 'torch.nn'"),
        ("no_such_package:Class", {}, "ModuleNotFoundError"),
        ("torch.nn:NoSuchClass", {}, "AttributeError"),
        ("torch.nn:Identity", {"d_model": 0}, "d_model must be at least 1"),
        ("torch.nn:Identity", {"ignore": ["metal"]}, "metal"),
        ("torch.nn:Identity", {"arg": ["rows"]}, "NAME=VALUE"),
    ],
)
def test_what_is_no_verdict_says_why(target, options, words):
    document = answer(target, **{"d_model": 16, **options})
    assert document["report"]["status"] == 2
    assert words in document["report"]["error"]


@pytest.mark.parametrize("ending", ["sys.exit(0)", "1 / 0", "def f(:"])
def test_a_file_that_leaves_or_fails_is_named_with_its_line(file, ending):
    text = f"{file.read_text(encoding='utf-8')}\n{ending}\n"
    file.write_text(text, encoding="utf-8")
    error = answer(f"{file}:Mine", d_model=16)["report"]["error"]
    assert f"random.py:{len(text.splitlines())}" in error
    assert "random" in sys.modules and "Mine" not in vars(sys.modules["random"])


def test_the_report_is_in_the_document_and_arguments_reach_the_class(file):
    document = answer(f"{file}:Mine", d_model=16, arg=["rows=99"], verbose=True)
    assert "at most 99 positions" in document["text"]
    assert document["report"]["status"] == 0
    assert "not checked offset: " in document["text"]


@pytest.mark.parametrize("width", [40, 72])
def test_the_text_keeps_its_width(width):
    lines = check(Added, d_model=8).as_text(width, verbose=True).splitlines()
    assert max(map(len, lines)) <= width


PLUGIN = """
    from pe_lib.check.pytest import encoding_tests
    from torch.nn import Identity
    from pe_lib.nn import SinusoidalPositionalEncoding

    test_ours = encoding_tests(SinusoidalPositionalEncoding, d_model=16)
    test_refused = encoding_tests(lambda: None, d_model=16)

    class TestThem:
        test_none = encoding_tests(Identity, d_model=16, ignore=["meta"])
"""


def test_one_line_gives_a_test_for_each_check(tmp_path, monkeypatch, capsys):
    (tmp_path / "test_mine.py").write_text(textwrap.dedent(PLUGIN), encoding="utf-8")
    options = ["-p", "no:cacheprovider", "--import-mode=importlib", "-q", "-rA"]
    monkeypatch.chdir(tmp_path)
    pytest.main([*options, "."])
    out = capsys.readouterr().out
    assert "PASSED test_mine.py::test_ours[prefix]" in out, out
    assert "FAILED test_mine.py::TestThem::test_none[axes]" in out
    assert "FAILED test_mine.py::test_refused[call]" in out
    assert out.count("FAILED test_mine.py::test_refused") == 1
    assert "test_none[meta]" not in out and "SKIPPED" in out


class NeedsRows(Added):
    def __init__(self, width, rows):
        super().__init__(width)
        self.many = rows


def gives(forward):
    """The class whose forward is this function of itself and one argument."""
    return make_class(Added, forward=forward)


def broken(self, x):  # noqa: ARG001
    raise KeyError(f"no {x.ndim}")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (NeedsRows, "--arg rows=VALUE"),
        (make_class(Added, forward=broken), "test_command.py:"),
        (make_class(Added, forward=lambda *_: None), "returned no tensor"),
        (make_class(Added, forward=lambda *_: torch.zeros(2)), "it returned [2]"),
        (make_class(Added, parameters=lambda _: 1 / 0), "ZeroDivisionError"),
        (gives(lambda _, x: table(x.shape[1])), "x + table(...)"),
        (gives(lambda _, length: table(length)), "x + table(...)"),
        (gives(lambda _, length: torch.zeros(8, length, length)), "a bias is not"),
        (gives(lambda _, scores: scores + scores.diagonal()), "takes scores"),
        (lambda _: 3, "must return a torch.nn.Module, got int"),
    ],
)
def test_what_cannot_be_called_says_what_would_help(make, words):
    report = check(make, d_model=16)
    assert (report.status, report.ran) == (2, False)
    assert words in report.as_text(999)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"d_model": 2.0}, TypeError, "d_model must be an integer"),
        ({"kind": "learned"}, ValueError, "kind must be"),
        ({"axes": "batch rows dim"}, ValueError, "axes must be"),
        ({"axes": "batch length"}, ValueError, "length or rows and columns"),
        ({"ignore": "meta"}, TypeError, "ignore must be"),
    ],
)
def test_bad_arguments(options, error, words):
    with pytest.raises(error, match=words):
        check(Added, **{"d_model": 16, **options})


def test_an_argument_may_be_named_and_must_be_there():
    def forward(self, x, whence=0):
        return x + self.pe[whence : whence + x.shape[1]].to(x.dtype)

    named = make_class(Added, forward=forward)
    asked = check(named, d_model=16, positions="whence")
    assert asked.ok and "offset" not in {f.check for f in asked.unchecked}
    assert "no argument is 'begin'" in str(check(named, d_model=16, positions="begin"))


def test_what_raises_in_one_check_is_not_checked_there_alone():
    report = check(make_class(Added, modules=lambda _: 1 / 0), d_model=16)
    assert report.ok and "half: it raises ZeroDivision" in report.as_text(verbose=True)


def test_what_fails_in_the_checker_itself_is_said(monkeypatch):
    monkeypatch.setattr("pe_lib.check.properties.repeated", int)
    told = check(Added, d_model=16).as_text()
    assert "distinct: the checker itself failed" in told and "TypeError" in told


def test_a_module_that_is_there_is_checked_at_its_width():
    there = Added(16)
    assert check(there, d_model=16).ok
    assert torch.equal(there.pe, Added(16).pe) and there.training


def test_a_big_table_is_shared_by_all_copies():
    big = make_class(Added, rows=lambda _, width: torch.zeros(2**18, width))
    r = READERS["added"](Maker.of(big, 32), 32, None, None)
    assert r.is_big and r.copy(r.begun).pe is r.begun.pe
