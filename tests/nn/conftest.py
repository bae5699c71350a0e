"""What the tests of the modules share."""

import pytest
import torch


@pytest.fixture(autouse=True)
def _start():
    """The same random numbers for each test, and nothing compiled before."""
    torch.manual_seed(0)
    torch._dynamo.reset()
