"""What tests of the NumPy part can use beside NumPy; without it they are skipped."""

from importlib.util import find_spec
from typing import Any

import pytest


def needs(package: str) -> Any:
    """A mark that skips a test where `package` is not installed."""
    reason = f"{package} is not installed"
    return pytest.mark.skipif(find_spec(package) is None, reason=reason)


try:
    from ml_dtypes import bfloat16
except ModuleNotFoundError:
    bfloat16 = None

BFLOAT16 = pytest.param(bfloat16, id="bfloat16", marks=needs("ml_dtypes"))
