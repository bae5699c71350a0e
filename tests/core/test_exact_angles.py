"""The phases: turns per position to sixty digits, and what they leave near zero."""

import decimal
import math

import numpy as np
import pytest
from mpmath import mp, mpf

from pe_lib import sinusoidal
from pe_lib._exact_angles import fixed_point_frequencies, sines_and_cosines


def frequency(k, d_model, base, spacing):
    """omega_k with all digits of mpmath."""
    steps = math.ceil(d_model / 2) - 1
    part = mpf(2 * k) / d_model if spacing == "paper" else mpf(k) / max(steps, 1)
    return mpf(base) ** -part


def convergents(x, limit):
    """The fractions that come nearest to x, with denominators up to limit."""
    h0, h1, k0, k1 = 0, 1, 1, 0
    while True:
        a = int(mp.floor(x))
        h0, h1, k0, k1 = h1, a * h1 + h0, k1, a * k1 + k0
        if k1 > limit:
            return
        yield h1, k1
        x = 1 / (x - a)


def error_in_ulps(entry, truth, bits):
    """How far an entry is from the truth, in the last of `bits` binary digits."""
    _, exponent = mp.frexp(truth)
    return abs(mpf(float(entry)) - truth) / mpf(2) ** (exponent - bits)


def test_steps_do_not_depend_on_the_callers_decimals():
    expected = fixed_point_frequencies.__wrapped__(8, 10_000.0, "paper")
    context = decimal.Context(prec=3, traps=[decimal.Inexact])
    with decimal.localcontext(context):
        steps = fixed_point_frequencies.__wrapped__(8, 10_000.0, "paper")
    np.testing.assert_array_equal(steps, expected)


@pytest.mark.parametrize(
    ("d_model", "base", "spacing"),
    [(512, 10_000.0, "paper"), (64, 500_000.0, "endpoint"), (9, 100.0, "paper")],
)
def test_entries_near_zero_are_right_too(d_model, base, spacing):
    """The worst there is: the positions that come nearest to a quarter turn.

    Each convergent of the quarter turns per position has an entry near zero, down to
    2.2e-14, where a phase of 96 bits is wrong by more than ten float32 ulps.
    """
    smallest = 1
    with mp.workdps(60):
        for k in range(math.ceil(d_model / 2)):
            omega = frequency(k, d_model, base, spacing)
            # The last three have the smallest entries, of a sine or of a cosine.
            for quarters, t in list(convergents(2 * omega / mp.pi, 2**31))[-3:]:
                column = 2 * k + quarters % 2
                if column == d_model:  # the lone sine of an odd width
                    continue
                truth = (mp.cos if quarters % 2 else mp.sin)(omega * t)
                smallest = min(smallest, abs(truth))
                sign = -1 if quarters % 2 == 0 else 1
                codes = sinusoidal([t, -t], d_model, base=base, spacing=spacing)
                for entry, wanted in zip(
                    codes[:, column], (truth, sign * truth), strict=True
                ):
                    single = np.float32(entry)
                    assert error_in_ulps(single, wanted, 24) < 0.5001, (k, t)
    assert smallest < (1e-13 if d_model == 512 else 1e-8)


@pytest.mark.parametrize("shape", [(), (3,), (2, 2), (0,)])
@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32])
def test_small_integers_turn_as_far_as_large_ones(kind, shape):
    """Where NumPy's own integers have 32 bits, as in WebAssembly, 64 are taken."""
    limits = np.iinfo(kind)
    integers = np.resize([limits.max, limits.min, -1, 5], shape)
    large = sines_and_cosines(integers.astype(np.int64), 7, 10_000.0, "paper")
    small = sines_and_cosines(integers.astype(kind), 7, 10_000.0, "paper")
    np.testing.assert_array_equal(small, large)
