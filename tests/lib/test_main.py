"""The command line: what it prints, and its exit status."""

import json
import subprocess
import sys

import pytest

from pe_lib.__main__ import main

SOUND = "pe_lib.nn:SinusoidalPositionalEncoding"
WRONG = "torch.nn:Identity"


def run(capsys, *arguments):
    """Exit status, stdout and stderr."""
    status = main(["check", *arguments])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def test_nothing_wrong_is_status_0(capsys):
    status, out, err = run(capsys, SOUND, "--d-model", "16")
    assert (status, err) == (0, "")
    assert out.startswith("SinusoidalPositionalEncoding, d_model = 16\n")
    assert out.splitlines()[-1].startswith("0 wrong, ")
    assert max(map(len, out.splitlines())) <= 72


def test_something_wrong_is_status_1(capsys):
    status, out, err = run(capsys, WRONG)
    assert (status, err) == (1, "")
    assert "WRONG: axes" in out and "d_model = 64" in out


def test_json_says_the_same(capsys):
    status, out, _ = run(capsys, WRONG, "--json", "--d-model", "16")
    data = json.loads(out)
    assert status == 1
    assert (data["ok"], data["ran"], data["d_model"]) == (False, True, 16)
    assert data["findings"][0]["check"] == "axes"
    kept = {"check", "severity", "what", "why", "fix", "later"}
    assert set(data["findings"][0]) == kept


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("torch.nn", "or file.py:Class, got 'torch.nn'"),
        (":Identity", "or file.py:Class, got ':Identity'"),
        ("no_such_package:Class", "ModuleNotFoundError"),
        ("torch.nn:NoSuchClass", "AttributeError"),
        ("torch:float32", "build must be callable, got torch.float32"),
    ],
)
def test_what_cannot_be_found_is_status_2(capsys, target, words):
    status, out, err = run(capsys, target)
    assert (status, out) == (2, "")
    assert err.startswith("could not run: ") and words in err


def test_a_bad_width_is_status_2(capsys):
    status, _, err = run(capsys, SOUND, "--d-model", "0")
    assert status == 2
    assert "d_model must be at least 1, got 0" in err


def test_a_module_that_cannot_be_called_is_status_2_with_a_report(capsys):
    status, out, _ = run(capsys, "torch.nn:Bilinear")
    assert status == 2
    assert "WRONG: call" in out and "build(64) raised TypeError" in out


def test_arguments_for_the_class_and_checks_left_out(capsys):
    learned = ["pe_lib.nn:LearnedPositionalEmbedding", "--d-model", "16"]
    assert run(capsys, *learned)[0] == 2  # it wants max_length
    assert run(capsys, *learned, "--arg", "max_length=32")[0] == 0
    assert run(capsys, WRONG, "--ignore", "axes")[0] == 0
    status, _, err = run(capsys, WRONG, "--ignore", "axis")
    assert status == 2 and "got 'axis'" in err
    status, _, err = run(capsys, *learned, "--arg", "max_length:32")
    assert status == 2 and "--arg must be NAME=VALUE, got 'max_length:32'" in err


def test_an_argument_of_forward_is_named(capsys):
    _, out, _ = run(capsys, SOUND, "--d-model", "16", "--offset", "offset")
    assert "offset is right" in out
    status, out, _ = run(capsys, SOUND, "--d-model", "16", "--positions", "places")
    assert status == 1 and "unexpected keyword argument 'places'" in out


@pytest.mark.parametrize("arguments", [[], ["check"], ["bake"]])
def test_bad_usage_is_status_2(arguments, capsys):
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 2
    assert "usage: python -m pe_lib" in capsys.readouterr().err


def test_as_a_process_it_imports_from_the_current_folder(tmp_path):
    """And hands its status to the shell."""
    (tmp_path / "mine.py").write_text(
        "from torch import nn\nclass Mine(nn.Identity): pass\n", encoding="utf-8"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "pe_lib", "check", "mine:Mine"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("Mine, d_model = 64")


def test_a_file_is_checked_and_only_what_is_wrong_is_printed(capsys, tmp_path):
    path = tmp_path / "mine.py"
    (tmp_path / "beside_mine.py").write_text("from torch.nn import Identity as PE\n")
    path.write_text("from beside_mine import PE\n")
    status, out, _ = run(capsys, f"{path}:PE", "--quiet")
    assert status == 1 and out.startswith("WRONG: axes") and "fact" not in out
    assert run(capsys, SOUND, "--quiet", "--d-model", "8") == (0, "", "")
    status, _, err = run(capsys, f"{tmp_path}/none.py:PE")
    assert status == 2 and "FileNotFoundError" in err
