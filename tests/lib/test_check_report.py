"""Whatever a module does, there is a report; its JSON keeps to the schema."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from torch import nn

from pe_lib.__main__ import main
from pe_lib.check import check_encoding
from pe_lib.nn import SinusoidalPositionalEncoding


@pytest.fixture(autouse=True)
def short_inputs(monkeypatch):
    """Long inputs are tried elsewhere."""
    monkeypatch.setattr("pe_lib.check.longest.LARGEST", 2**14)
    monkeypatch.setattr("pe_lib.check.turner.FAR", (1_000,))


class WithoutWordsError(Exception):
    """An error that cannot even be printed."""

    def __str__(self):
        raise RuntimeError("no words")


class Adds(nn.Module):
    """What is odd about a module that adds codes, or about its answer."""

    def __init__(self, width, odd):
        super().__init__()
        self.width, self.odd, self.calls = width, odd, 0
        self.held = iter([1]) if odd == "cannot be copied" else [self]
        if odd == "parameter on meta":
            self.far = nn.Parameter(torch.zeros(3, device="meta"))
        if odd == "buffer of None":
            self.register_buffer("none", None)
        if odd == "hook":
            self.register_forward_hook(lambda *_: 0)

    def _apply(self, fn, recurse=True):
        if self.odd == "cannot move":
            raise OSError(2, "nowhere")
        return super()._apply(fn, recurse)

    def forward(self, x):
        self.calls += 1
        if self.odd == "wordless" and self.calls > 1:
            raise WithoutWordsError
        if self.odd == "leaves" and x.shape[-2] > 20:
            raise SystemExit(3)
        if self.odd == "default dtype":
            torch.set_default_dtype(torch.float64)
        code = torch.arange(x.shape[-2])[:, None].expand(-1, self.width).to(x)
        return {
            "nan": x + code / code,
            "complex": x + 1j * code,
            "sparse": (x + code).to_sparse(),
            "nested": torch.nested.as_nested_tensor(list(x + code)),
            "nothing": None,
            "numbers": 3.0,
            "empty": (),
            "too narrow": x[..., :1] + code[..., :1],
        }.get(self.odd, x + code)


ODD = (
    "cannot be copied", "parameter on meta", "buffer of None", "hook", "cannot move",
    "wordless", "leaves", "default dtype", "nan", "complex", "sparse", "nested",
    "nothing", "numbers", "empty", "too narrow",
)  # fmt: skip


@pytest.mark.parametrize("odd", ODD)
def test_any_module_gets_a_report(odd):
    kind = torch.get_default_dtype()
    report = check_encoding(lambda width: Adds(width, odd), d_model=6)
    assert torch.get_default_dtype() == kind
    json.dumps(report.as_dict())
    assert report.as_text(40)


class Loud(SinusoidalPositionalEncoding):
    """It prints, and leaves."""

    leaves = False

    def forward(self, x):
        print("here I am")
        if self.leaves:
            raise SystemExit(0)
        return super().forward(x)


class Leaves(Loud):
    leaves = True


def test_what_a_module_prints_is_not_in_the_json(capsys):
    status = main(["check", f"{__name__}:Loud", "--d-model", "8", "--json"])
    printed = capsys.readouterr()
    assert status == 0 and json.loads(printed.out)["ok"]
    assert "here I am" in printed.err


def test_a_module_that_leaves_the_program_is_status_2(capsys):
    assert main(["check", f"{__name__}:Leaves", "--d-model", "8"]) == 2
    text = capsys.readouterr().out
    assert "raised SystemExit" in text or "SystemExit: 0" in text


def test_an_error_while_looking_at_an_answer_is_no_fault():
    class Sparse(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.width = width

        def forward(self, x):
            code = torch.from_numpy(np.arange(x.shape[-2]))[:, None].expand_as(x)
            return x + code if x.any() else code.to(x).to_sparse()

    report = check_encoding(Sparse, d_model=4)
    assert not [f for f in report.wrong if "The module raised" in f.what], str(report)


A_SHORT_TABLE = """
from pe_lib.nn import LearnedPositionalEmbedding

def PositionalEncoding(width):
    return LearnedPositionalEmbedding(width, max_length=64)
"""


def test_the_workflow_on_the_page_runs(tmp_path):
    """What "Check yours" says to write: a workflow, and a test that its step runs."""
    page = (Path(__file__).parents[2] / "book/pytorch/check_yours.ipynb").read_text()
    cells = json.loads(page)["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells)
    fences = dict(re.findall(r"```(yaml|python)\n(.*?)```", text, re.DOTALL))
    workflow = yaml.safe_load(fences["yaml"])
    assert workflow["jobs"]["positions"]["runs-on"].startswith("ubuntu")
    steps = workflow["jobs"]["positions"]["steps"]
    assert [next(iter(step)) for step in steps] == ["uses", "uses", "run", "run"]
    assert "./pe-lib[torch,pytest]" in shlex.split(steps[2]["run"])
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_positions.py").write_text(fences["python"])
    (tmp_path / "mine.py").write_text(A_SHORT_TABLE)
    command = [sys.executable, *shlex.split(steps[3]["run"])[1:], "-q"]
    bare = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # of these tests
    ran = subprocess.run(
        command, cwd=tmp_path, env=bare, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "test_positions[prefix]" in (tmp_path / "report.xml").read_text()
