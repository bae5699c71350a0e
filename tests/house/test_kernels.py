"""Forked kernels: each as fresh as a started one, and none where it would differ."""

import json
import os

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from tests.kernels import CAN_FORK

pytestmark = pytest.mark.skipif(not CAN_FORK, reason="nothing is forked here")


def run(*sources: str) -> list[str]:
    """What the cells of a notebook print, in a kernel of its own."""
    notebook = new_notebook(cells=[*map(new_code_cell, sources)])
    NotebookClient(notebook, kernel_name="python3").execute()
    return [cell.outputs[0].text.strip() for cell in notebook.cells if cell.outputs]


ABOUT = """\
import json, os, sys
import numpy as np
print(json.dumps([os.getppid(), hasattr(np, "told"), np.random.random(),
                  sorted({"torch", "pe_lib", "pytest"} & {*sys.modules})]))
np.told = os.environ["TOLD"] = "yes"
"""


def test_a_kernel_knows_nothing_of_another() -> None:
    """Of modules and of the environment; nor do two draw the same numbers."""
    (first,), (second,) = run(ABOUT), run(ABOUT)
    parent, told, number, loaded = json.loads(second)
    assert not told and loaded in ([], ["torch"])
    assert parent == json.loads(first)[0] != os.getpid()
    assert number != json.loads(first)[2]


def test_one_that_dies_is_missed() -> None:
    """Its process is no child of this one, so nobody hands its end on."""
    with pytest.raises(Exception, match="Kernel died"):
        run("import os", "os._exit(3)")
    assert run("print(3)") == ["3"]


def test_another_environment_is_another_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What has been imported may have looked at it."""
    monkeypatch.setenv("ONE_MORE", "yes")
    assert run("import os", "print(os.getppid())") == [str(os.getpid())]
