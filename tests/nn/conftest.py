"""What the tests of the modules share."""

import sys

import pytest
import torch


@pytest.fixture(autouse=True)
def _start():
    """The same random numbers for each test, and nothing compiled before."""
    torch.manual_seed(0)
    if compiler := sys.modules.get("torch._dynamo"):  # it takes seconds to import
        compiler.reset()
