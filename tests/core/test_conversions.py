"""What leads from one text's table to another's, and why sometimes nothing does."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pe_lib.conventions import CONVENTIONS, convention_table
from pe_lib.conversions import convert, find_conversion
from tests.core.test_conventions import (
    KEYS,
    MAPPED,
    UNMAPPED,
    bound,
    difference,
)

sizes = st.tuples(st.integers(2, 200), st.integers(2, 32).map(lambda k: 2 * k))


@settings(derandomize=True, deadline=None, max_examples=300)
@given(pair=st.sampled_from(MAPPED), size=sizes)
def test_every_map_there_and_back(pair, size):
    source, target = pair
    table = convention_table(source, *size)
    there = convert(table, source, target)
    assert difference(there, convention_table(target, *size)) <= bound(size[0])
    assert difference(convert(there, target, source), table) <= bound(size[0])
    forth, back = (
        find_conversion(source, target, *size),
        find_conversion(target, source, *size),
    )
    assert (forth.reason, forth.gap) == ("", 0)
    assert (back.offset, back.transpose) == (-forth.offset, forth.transpose)
    assert np.array_equal(np.argsort(forth.columns), back.columns)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(pair=st.sampled_from(UNMAPPED), size=sizes.filter(lambda size: size[1] > 2))
def test_no_map_between_the_groups(pair, size):
    forth, back = find_conversion(*pair, *size), find_conversion(*pair[::-1], *size)
    if forth.columns is not None:  # at 100 positions its base is 10,000 too
        assert "phuong_hutter" in pair and size[0] == 100
        return
    assert back.columns is None
    assert forth.gap == back.gap > 1e-4  # two words already differ
    assert "in common" in forth.reason


def exponent(key, k, d):
    """The k-th exponent (k from 0) as an exact fraction."""
    if key in ("tensor2tensor", "fairseq", "flash_card"):
        return Fraction(k, d // 2 - 1)
    if key == "notebook_text":
        return Fraction(k + 1, d)
    return Fraction(2 * (k + (key in ("denk", "phuong_hutter"))), d)


@pytest.mark.parametrize(
    ("source", "target"), [pair for pair in UNMAPPED if "phuong_hutter" not in pair]
)
@pytest.mark.parametrize("d_model", [4, 12, 64])
def test_the_frequencies_in_common_are_counted(source, target, d_model):
    sets = [
        {exponent(key, k, d_model) for k in range(d_model // 2)}
        for key in (source, target)
    ]
    common = len(sets[0] & sets[1])
    reason = find_conversion(source, target, 30, d_model).reason
    assert reason == f"{common} of {d_model // 2} frequencies in common"


@pytest.mark.parametrize("key", ["tensor2tensor", "fairseq"])
@pytest.mark.parametrize("d_model", [5, 7, 33])
def test_an_odd_width_gets_a_column_of_zeros(key, d_model):
    table = convention_table(key, 40, d_model)
    np.testing.assert_array_equal(table[:, -1], 0)
    np.testing.assert_array_equal(table[:, :-1], convention_table(key, 40, d_model - 1))
    other = "fairseq" if key == "tensor2tensor" else "tensor2tensor"
    moved = convert(table, key, other)
    assert difference(moved, convention_table(other, 40, d_model)) <= bound(40)


@pytest.mark.parametrize("key", [k for k in KEYS if CONVENTIONS[k].odd is None])
@pytest.mark.parametrize("d_model", [1, 3, 5])
def test_odd_widths_that_a_text_does_not_define(key, d_model):
    with pytest.raises(ValueError, match=f"d_model must be even for '{key}', got"):
        convention_table(key, 9, d_model)
    with pytest.raises(ValueError, match=f"d_model must be even for '{key}', got"):
        find_conversion("paper", key, 9, d_model)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_convert_takes_rounded_tables(dtype):
    table = convention_table("tensor2tensor", 50, 16).astype(dtype)
    moved = convert(table.tolist(), "tensor2tensor", "fairseq")
    assert moved.dtype == np.float64
    # Two rounded numbers are turned into one: at most sqrt(2) half ulps of 1.
    close = np.sqrt(2) * np.finfo(dtype).eps / 2
    assert difference(moved, convention_table("fairseq", 50, 16)) <= close
