"""Values of a chapter: what may be chosen, and the one sentence for what may not."""

import re

import pytest

from pe_lib.values import chosen


@pytest.mark.parametrize(
    ("value", "range_"),
    [
        (4, "4 to 512, even"),
        (512, "4 to 512, even"),
        (5, "1 to 8"),
        (1_000_000, "30 to 1_000_000"),
        (0.1, "0.1 to 4.0"),
        (4, "0.1 to 4.0"),
    ],
)
def test_a_value_within_its_range(value: float, range_: str) -> None:
    """Both ends are in it; a whole number will do where any number may be chosen."""
    assert chosen(value, range_) == value


@pytest.mark.parametrize(
    ("value", "range_", "message"),
    [
        (2, "4 to 512, even", "this value must be 4 to 512, even; got 2"),
        (514, "4 to 512, even", "this value must be 4 to 512, even; got 514"),
        (33, "4 to 512, even", "this value must be 4 to 512, even; got 33"),
        (4.01, "0.1 to 4.0", "this value must be 0.1 to 4.0; got 4.01"),
        (float("nan"), "0.1 to 4.0", "this value must be 0.1 to 4.0; got nan"),
        (8, 4, "range_ must be like '4 to 512, even', got 4"),
        (8, "4, 8", "range_ must be like '4 to 512, even', got '4, 8'"),
    ],
)
def test_a_value_outside(value: float, range_: str, message: str) -> None:
    """It says what may be chosen, and what came."""
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        chosen(value, range_)


@pytest.mark.parametrize("value", [32.0, "32", True, None])
def test_another_type(value: object) -> None:
    """A whole number is asked for where the ends are whole."""
    with pytest.raises(
        TypeError, match=r"^this value must be an integer, 4 to 512; got"
    ):
        chosen(value, "4 to 512")  # type: ignore[arg-type]
