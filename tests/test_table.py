"""The table is the function, row by row and bit by bit."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pe_lib import sinusoidal, sinusoidal_table

LIMIT = 2**31
DTYPES = (np.float64, np.float32, np.float16, ml_dtypes.bfloat16)


def assert_rows_are_codes(table, start, d_model, **choices):
    """Every row has the bits of the code of its position, signs of zero included."""
    for r, row in enumerate(table):
        code = sinusoidal(start + r, d_model, **choices)
        assert row.dtype == code.dtype
        assert row.tobytes() == code.tobytes(), f"row {r}"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", ["interleaved", "half_split"])
@pytest.mark.parametrize("spacing", ["paper", "endpoint"])
@pytest.mark.parametrize(
    ("length", "d_model", "start"),
    [(1, 1, 0), (5, 4, 0), (7, 9, -3), (130, 64, -65), (40, 33, 100_000)],
)
def test_row_r_is_the_code_of_start_plus_r(
    length, d_model, start, spacing, layout, dtype
):
    choices = {"base": 500, "spacing": spacing, "layout": layout, "dtype": dtype}
    table = sinusoidal_table(length, d_model, start=start, **choices)
    assert table.shape == (length, d_model)
    assert_rows_are_codes(table, start, d_model, **choices)


def test_defaults_are_those_of_the_function():
    table = sinusoidal_table(11, 6)
    assert table.dtype == np.float64
    assert_rows_are_codes(table, 0, 6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("start", [0, -4, 17])
def test_length_zero_has_a_width(start, dtype):
    table = sinusoidal_table(0, 6, start=start, dtype=dtype)
    assert table.shape == (0, 6)
    assert table.dtype == dtype


@pytest.mark.parametrize("start", [-LIMIT, LIMIT - 2])
def test_reaches_the_ends_of_what_a_position_may_be(start):
    table = sinusoidal_table(3, 8, start=start)
    assert_rows_are_codes(table, start, 8)


@pytest.mark.parametrize(
    ("start", "came"), [(-LIMIT - 1, -LIMIT - 1), (LIMIT - 1, LIMIT + 1)]
)
def test_goes_no_further(start, came):
    must = r"start and start \+ length - 1 must lie within -2\*\*31 and 2\*\*31"
    with pytest.raises(ValueError, match=f"{must}, got {came}"):
        sinusoidal_table(3, 8, start=start)


def test_a_longer_table_begins_with_the_shorter_one():
    longer, shorter = sinusoidal_table(500, 64), sinusoidal_table(77, 64)
    np.testing.assert_array_equal(longer[:77], shorter)


def test_two_parameter_sets_in_one_process():
    """One table does not remember another, and belongs to its caller."""
    for choices in ({}, {"base": 500}, {"spacing": "endpoint"}, {"start": 3}, {}):
        table = sinusoidal_table(9, 8, **choices)
        choices = dict(choices)
        assert_rows_are_codes(table, choices.pop("start", 0), 8, **choices)
        table[:] = 7


@settings(derandomize=True, deadline=None)
@given(
    length=st.integers(0, 20),
    d_model=st.integers(1, 40),
    start=st.integers(-LIMIT, LIMIT - 20),
    layout=st.sampled_from(["interleaved", "half_split"]),
    dtype=st.sampled_from(DTYPES),
)
def test_any_table_is_the_codes_of_its_positions(length, d_model, start, layout, dtype):
    choices = {"layout": layout, "dtype": dtype}
    table = sinusoidal_table(length, d_model, start=start, **choices)
    assert len(table) == length
    assert_rows_are_codes(table, start, d_model, **choices)
