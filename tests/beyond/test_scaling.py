"""Scaling rotary: papers' formulas written otherwise, and a program's own numbers."""

import math

import numpy as np
import pytest

from pe_lib import angular_frequencies
from pe_lib.beyond import scaling

OLD = angular_frequencies(128)
L = 4096

# Printed by transformers 5.23.0 (modeling_rope_utils, ROPE_INIT_FUNCTIONS) in
# float32: head width 16, base 10,000, original length 4096.
TRANSFORMERS = {
    "linear": """0.125 0.0395284705 0.0125000002 0.00395284733 0.00124999997
        0.000395284733 0.000125000006 3.95284733e-05""",
    "yarn": """1.0 0.316227764 0.100000001 0.0242111888 0.00531250006 0.000938801211
        6.2500003e-05 1.97642366e-05""",
    "dynamic": """1.0 0.177484632 0.0315007903 0.00559090637 0.000992299872
        0.000176117974 3.12582306e-05 5.54785538e-06""",
    "llama3": """1.0 0.193922758 0.0376060307 0.00729266508 0.000524846022
        3.42810235e-05 6.64786967e-06 1.28917316e-06""",
}


def by_hand(turns, s, slow, fast):
    """One pair of YaRN, section 3.2, as three cases."""
    if turns <= slow:
        return 1 / s
    if turns >= fast:
        return 1.0
    gamma = (turns - slow) / (fast - slow)
    return (1 - gamma) / s + gamma


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_a_programs_numbers(name):
    old = angular_frequencies(16)
    ours = {
        "linear": lambda: scaling.interpolate(old, 8),
        "yarn": lambda: scaling.by_parts(old, 16, L, ramp="index"),
        "dynamic": lambda: scaling.ntk(old, scaling.dynamic_factor(8 * L, L, factor=8)),
        "llama3": lambda: scaling.llama3(
            angular_frequencies(16, base=500_000), 8, 8192
        ),
    }[name]()
    np.testing.assert_allclose(ours, np.fromstring(TRANSFORMERS[name], sep=" "), 3e-6)


@pytest.mark.parametrize(("s", "slow", "fast"), [(8, 1, 32), (16, 1, 4), (2, 0.5, 3)])
def test_by_parts_is_three_cases(s, slow, fast):
    expected = [w * by_hand(L * w / (2 * np.pi), s, slow, fast) for w in OLD]
    found = scaling.by_parts(OLD, s, L, slow=slow, fast=fast)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_dynamic_factors():
    assert scaling.dynamic_factor(1, L) == scaling.dynamic_factor(L, L, factor=9) == 1
    # n = fL: f in the paper, f*f - f + 1 in programs.
    for f in (2, 4, 8):
        assert scaling.dynamic_factor(f * L, L) == f
        assert scaling.dynamic_factor(f * L, L, factor=f) == f * f - f + 1
    assert scaling.dynamic_factor(L + 1, L) == 4097 / 4096


def test_unseen_angles():
    slow = 2 * np.pi > (OLD * L)
    for new, most in ((OLD, 8), (scaling.interpolate(OLD, 8), 1)):
        found = scaling.unseen_angles(OLD, new, L, 8 * L)
        np.testing.assert_allclose(found, np.where(slow, most, 0), rtol=1e-12)
    assert (scaling.unseen_angles([0.1], [0.1], 62, 100) > 1).all()  # 6.2 < 2 pi
    assert (scaling.unseen_angles([0.1], [0.1], 63, 100) == 0).all()
    assert (scaling.unseen_angles([0.0], [0.0], 1, 9) == 0).all()


def test_what_stands_still_stays_and_factor_one_changes_nothing():
    old = np.append(OLD[:5], 0)
    assert (scaling.longrope(old, np.arange(1, 7)) == old / np.arange(1, 7)).all()
    for rule in (scaling.interpolate, scaling.ntk):
        assert rule(old, 3)[-1] == 0
        np.testing.assert_array_equal(rule(old, 1), old)
    assert scaling.by_parts(old, 3, L)[-1] == 0
    np.testing.assert_allclose(scaling.by_parts(OLD, 1, L, ramp="index"), OLD, 1e-15)
    assert scaling.attention_factor(1) == 1
    assert math.isclose(scaling.attention_factor(math.e), 1.1)


def test_lengths_beyond_every_threshold():
    """As the program: its ramp ends before the first pair or late, and keeps all."""
    old = angular_frequencies(4)
    found = scaling.by_parts(old, 8, 10**9, ramp="index")
    np.testing.assert_array_equal(found, old)
    np.testing.assert_array_equal(scaling.by_parts(OLD, 8, 4, ramp="index"), OLD)
    np.testing.assert_allclose(scaling.by_parts(OLD, 8, 4), OLD / 8)
