"""The encodings that fail do so for the reasons of the book, and no others."""

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pe_lib.naive import binary, doubling_waves, gray


@pytest.mark.parametrize("position", [0, 1, 6, 511, 512, 1000, 1023])
def test_binary_is_what_python_writes_backwards(position):
    written = [int(digit) for digit in reversed(f"{position:010b}")]
    assert binary(position, 10).tolist() == written
    assert binary(position, 10, centered=True).tolist() == [2 * x - 1 for x in written]


def reflected(bits):
    """Gray's own construction: the list, then the list backwards with a new digit."""
    if bits == 0:
        return [[]]
    smaller = reflected(bits - 1)
    return [[*row, 0] for row in smaller] + [[*row, 1] for row in reversed(smaller)]


@pytest.mark.parametrize("bits", [1, 2, 3, 8])
def test_gray_is_the_reflected_code(bits):
    codes = gray(np.arange(2**bits), bits)
    assert codes.tolist() == reflected(bits)
    np.testing.assert_array_equal(
        gray(np.arange(2**bits), bits, centered=True), 2 * codes - 1
    )


@settings(deadline=None)
@given(st.floats(-(2**31), 2**31), st.integers(1, 40))
@example(2.0**30 - 2.0**-23, 3)  # a quarter more has a digit less
def test_doubling_waves_against_50_digits(position, count):
    codes = doubling_waves(position, count, cosines=True)
    with mpmath.workdps(50):
        angles = [2 * mpmath.pi * mpmath.mpf(position) / 2**j for j in range(count)]
        truth = [float(f(a)) for a in angles for f in (mpmath.sin, mpmath.cos)]
    np.testing.assert_allclose(codes, truth, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(doubling_waves(position, count), codes[::2])


def test_quarters_of_a_turn_are_exact():
    assert set(doubling_waves(np.arange(16), 3, cosines=True).flat) == {-1, 0, 1}
