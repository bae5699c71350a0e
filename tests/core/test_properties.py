"""Every criterion answers both ways, says why, and is right about encodings by hand."""

from functools import cache, partial
from html import escape

import numpy as np
import pytest

from pe_lib import scorecard, sinusoidal_table
from pe_lib.naive import binary, counting, doubling_waves, gray, normalized
from pe_lib.properties import (
    bounded,
    equal_norm,
    monotone,
    one_shift_matrix,
    same_at_every_length,
    same_distance,
    smooth,
    unique,
)


def random_directions(length, width=32):
    codes = np.random.default_rng(0).standard_normal((length, width))
    return codes / np.linalg.norm(codes, axis=1, keepdims=True)


EIGHT = {
    "counting": lambda n: counting(np.arange(n)),
    "normalised": lambda n: normalized(np.arange(n), n),
    "binary": lambda n: binary(np.arange(n), 16, centered=True),
    "Gray": lambda n: gray(np.arange(n), 16, centered=True),
    "dials, sines": lambda n: doubling_waves(np.arange(n), 8),
    "dials, both": lambda n: doubling_waves(np.arange(n), 8, cosines=True),
    "random": random_directions,
    "sinusoid": lambda n: sinusoidal_table(n, 64),
}


def column(*values):
    """An encoding of one number, whatever the length asked for, from a fixed list."""
    return lambda n: np.resize(values, n)[:, np.newaxis]


def reaching(*wanted):
    """An encoding of one number that gets so far from 0 with 4, 8 and 16 positions."""
    return lambda n: np.append(np.zeros(n - 1), wanted[(4, 8, 16).index(n)])[:, None]


REACHES = [  # of three lengths; whether that is bounded, and how much more it grows
    ((6, 6, 6), True, 0),
    ((0, 4, 12), False, 2),
    ((0, 0, 0), True, 0),
    ((10, 11, 12 - 1e-11), False, 1),
    ((10, 11, 11.99), True, 0.99),
    ((10, 10.4, 11), True, 0),
    ((10, 10, 12), False, np.inf),
    ((10, 20, 3), True, 0),
]
BY_HAND = [
    *(
        (
            bounded,
            reaching(*far),
            holds,
            more,
            "up to {:g}, {:g}, {:g} from encoding 0".format(*far),
        )
        for far, holds, more in REACHES
    ),
    (bounded, column(1, -5, 2, 3), True, 0, "up to 6, 6, 6 from encoding 0"),
    # two equal encodings, and two that differ by little
    (unique, column(0, 3, 1, 3), False, 0, "encodings 1 and 3 are equal"),
    (unique, column(0, 3, 1, 2.5), True, 0.5, "nearest are 1 and 3, 0.5 apart"),
    (unique, column(0, 3, 1, 3 + 1e-6), True, 1e-6, "nearest are 1 and 3, 1e-06 apart"),
    (equal_norm, column(0.1), True, 0, "every encoding has norm 0.1"),
    (equal_norm, column(2, 1, -3, 2), False, 2, "norm 1 at 1, norm 3 at 2"),
    (equal_norm, column(2, 1e-15, 2, 2), False, 2, "norm 0 at 1, norm 2 at 0"),
    (equal_norm, column(2, 2, 2.00001, 2), False, 1e-5, "norm 2 at 0, 1e-05 more at 2"),
    (same_at_every_length, column(1, 2, 3, 4), True, 0, "no encoding changes at n=8"),
    (
        same_at_every_length,
        lambda n: np.arange(n)[:, np.newaxis] / (n - 1),
        False,
        4 / 7,
        "encoding 3 is 1, but 0.4286 at n=8",
    ),
    (
        same_at_every_length,
        lambda n: np.ones((n, n)),
        False,
        np.inf,
        "encodings of 4 numbers, but of 8 at n=8",
    ),
    (same_distance, column(5, 7, 9, 11), True, 0, "every offset has one distance"),
    # offset 1: 1, 2, 3 apart; offset 2: 3 and 5; offset 3: 6
    (same_distance, column(0, 1, 3, 6), False, 1 / 3, "0 to 1 is 1, 2 to 3 is 3"),
    # distances 1, 3, 7, 2, 6, 4 in all; steps 1, 2, 4
    (smooth, column(0, 1, 3, 7), False, 4 / 3.5, "2 to 3 is 4, median 3.5"),
    (smooth, column(0, 1, 2, 3.5), True, 1.5 / 1.75, "2 to 3 is 1.5, median 1.75"),
    (smooth, column(0, 1, 0, 1), False, 1, "0 to 1 is 1, median 1"),
    (smooth, column(2), False, np.inf, "0 to 1 is 0, median 0"),
    (monotone, column(0, 1, 3, 3), True, 0, "distance never falls with the offset"),
    (monotone, column(0, 3, 2, 4), False, 0.25, "from 0, 2 is nearer than 1"),
]


@pytest.mark.parametrize(
    ("criterion", "encode", "holds", "measured", "evidence"), BY_HAND
)
def test_by_hand(criterion, encode, holds, measured, evidence):
    verdict = criterion(encode, 4)
    assert (verdict.holds, verdict.evidence) == (holds, evidence)
    assert verdict.measured == pytest.approx(measured, abs=1e-11)
    assert (verdict.n, verdict.d) == (4, np.asarray(encode(4)).shape[1])


@pytest.mark.parametrize(("width", "holds"), [(50, True), (52, False)])
def test_bounded_is_a_matter_of_chance_for_random_rows(width, holds):
    """Each has norm 1, so both are bounded; at one width the hint says no."""
    assert bounded(partial(random_directions, width=width), 512).holds == holds


GRAIN = 2.0**-42  # all sums below are exact
"""Codes that span 3 are equal up to 3.005e-12: 13 grains are rounding, 14 are not."""


LINES = [  # what holds at 13 grains, and what is said there and at 14
    (
        *(unique, lambda x: column(0, 3, 1, 3 - x), False),
        *("encodings 1 and 3 equal up to rounding", "nearest are 1 and 3, {x} apart"),
    ),
    (
        *(equal_norm, lambda x: column(1.5, -1.5 + x, 1.5, 1.5), True),
        *("every encoding has norm 1.5", "norm 1.5 at 1, {x} more at 0"),
    ),
    (
        *(
            same_at_every_length,
            lambda x: lambda n: column(0, 3 + x * (n > 4), 1, 2)(n),
            True,
        ),
        *("no encoding changes at n=8", "encoding 1 changes by {x} at n=8"),
    ),
    (
        *(same_distance, lambda x: column(0, 1, 2, 3 - x), True),
        *("every offset has one distance", "2 to 3 is 1, 0 to 1 {x} more"),
    ),
    (  # distances 0.75, 0.75, 1.5, 1.5 - 2x, 2.25 - 2x, 3 - 2x
        *(smooth, lambda x: column(0, 0.75, 1.5, 3 - 2 * x), False),
        *("2 to 3 is 1.5, median 1.5", "2 to 3 is {x} below median 1.5"),
    ),
    (
        *(monotone, lambda x: column(0, 3, 3 - x, 3), True),
        *("distance never falls with the offset", "from 0, 2 is nearer than 1"),
    ),
]


@pytest.mark.parametrize(("criterion", "encode", "inside", "rounding", "more"), LINES)
def test_the_line_between_rounding_and_a_difference(
    criterion, encode, inside, rounding, more
):
    for many, holds, text in ((13, inside, rounding), (14, not inside, more)):
        verdict = criterion(encode(many * GRAIN), 4)
        assert verdict.holds is holds
        assert verdict.evidence == text.format(x=f"{many * GRAIN:.4g}")


def nearly_still(n):
    """Eight times yes, if distances and norms had each a tolerance of their own."""
    return np.stack([np.ones(n), 5e-8 * np.arange(n)], axis=1)


HUGE = {
    "powers": lambda n: np.arange(n)[:, np.newaxis] ** [1.0, 2.0, 4.0],
    "beside a constant": lambda n: np.stack([np.full(n, 1e10), np.arange(n)], axis=1),
}


@pytest.mark.parametrize(("width", "length"), [(64, 70), (64, 2048), (128, 2048)])
def test_the_sinusoid_has_its_matrix_at_every_width_and_length(width, length):
    verdict = one_shift_matrix(lambda n: sinusoidal_table(n, width), length)
    assert verdict.holds and verdict.measured < 1e-13


def test_the_unexplained_share_by_hand():
    """0, 0, 1, 0, 0, 0, 1, 0: what follows a 0 is a 1 in two of five, else 0."""
    verdict = one_shift_matrix(column(0, 0, 1, 0), 8)
    # predictions 2/5 after 0, 0 after 1; the mean of all followers is 2/7
    left = 3 * 0.4**2 + 2 * 0.6**2
    spread = 5 * (2 / 7) ** 2 + 2 * (5 / 7) ** 2
    assert verdict.measured == pytest.approx((left / spread) ** 0.5)
    assert verdict.evidence == "92% unexplained, worst from 1 to 2"
    assert not verdict.holds


CODES = EIGHT | {"nearly still": nearly_still} | HUGE


def verdicts(codes):
    return {
        (name, title): verdict.holds
        for name, row in scorecard(codes, length=100).items()
        for title, verdict in row.items()
    }


@cache
def expected():
    return verdicts(CODES)


@pytest.mark.parametrize("factor", [1e-290, 1e-160, 1 / 3, 1e290])
def test_no_verdict_depends_on_the_scale(factor):
    scaled = {
        name: lambda n, encode=encode: factor * encode(n)
        for name, encode in CODES.items()
        if name != "powers" or factor < 1e200  # they reach 1e300, and are refused
    }
    for key, holds in verdicts(scaled).items():
        assert holds == expected()[key], key


@pytest.mark.parametrize("constant", [-1000.5, 1e9])
def test_only_the_norm_depends_on_a_constant(constant):
    moved = {
        name: lambda n, encode=encode: constant + encode(n)
        for name, encode in EIGHT.items()
    }
    for key, holds in verdicts(moved).items():
        assert holds == expected()[key] or key[1] == "equal norm", key


@pytest.mark.parametrize(
    ("broken", "evidence"),
    [
        (np.zeros, r"ValueError: encode(16) must have shape [16, d_model], got (16,)"),
        (lambda n: [["a"]] * n, "TypeError: encode(16) must be real numbers, got"),
        (lambda n: n / 0, "ZeroDivisionError: division by zero"),
        (lambda n: {}[n], "KeyError: 16"),
        (lambda n: (_ for _ in ()).throw(MemoryError(n)), "MemoryError: 16"),
        (lambda: 0, "TypeError: "),
    ],
)
def test_a_broken_encoding_is_reported_and_the_card_goes_on(broken, evidence):
    card = scorecard({"broken": broken, "counting": EIGHT["counting"]}, length=16)
    assert card["broken"]["unique"].holds is None
    assert card["broken"]["unique"].evidence.startswith(evidence)
    assert {verdict.holds for verdict in card["broken"].values()} == {None}
    assert card["counting"]["unique"].holds
    (said,) = card.notes.values()
    assert said.startswith(evidence) and list(card.notes) == ["broken"]
    assert f"broken    ? ? ? ? ? ? ? ?  {said}" in str(card)
    assert escape(said) in card._repr_html_()


@pytest.mark.parametrize("signal", [KeyboardInterrupt, SystemExit])
def test_a_reader_can_stop_it(signal):
    def stop(length):
        raise signal(length)

    with pytest.raises(signal):
        scorecard({"stop": stop}, length=16)


def test_a_code_that_cannot_grow_fails_only_where_it_must():
    card = scorecard({"five digits": lambda n: binary(np.arange(n), 5)}, length=20)
    row = card["five digits"]
    unknown = {name for name, verdict in row.items() if verdict.holds is None}
    assert unknown == {"bounded", "same at every length"}
    assert "bits must be at least 6 to write position 39" in row["bounded"].evidence
