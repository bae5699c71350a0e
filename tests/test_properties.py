"""Every criterion answers both ways, says why, and is right about codes by hand."""

import time

import numpy as np
import pytest

from pe_lib import scorecard, sinusoidal_table
from pe_lib.naive import binary, counting, dials, gray, normalized
from pe_lib.properties import (
    CRITERIA,
    Verdict,
    bounded,
    equal_length,
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
    "dials, sines": lambda n: dials(np.arange(n), 8),
    "dials, both": lambda n: dials(np.arange(n), 8, cosines=True),
    "random": random_directions,
    "sinusoid": lambda n: sinusoidal_table(n, 64),
}

# unique, equal length, one shift, bounded, at every length, distance, smooth, monotone
EXPECTED = {
    "counting": "+-+-++++",
    "normalised": "+-++-+++",
    "binary": "++-++---",
    "Gray": "++-++-+-",
    "dials, sines": "---++-+-",
    "dials, both": "-++++++-",
    "random": "++-++---",
    "sinusoid": "+++++++-",
}


@pytest.fixture(scope="module")
def card():
    return scorecard(EIGHT)


@pytest.mark.parametrize("name", EIGHT)
def test_the_scorecard_of_the_book(card, name):
    marks = "".join("+" if v.holds else "-" for v in card[name].values())
    assert marks == EXPECTED[name]
    assert list(card[name]) == list(CRITERIA)
    assert {verdict.n for verdict in card[name].values()} == {512}
    assert {verdict.d for verdict in card[name].values()} == {EIGHT[name](2).shape[1]}


def test_no_column_is_constant(card):
    for criterion in CRITERIA:
        assert {row[criterion].holds for row in card.values()} == {True, False}


def test_it_takes_less_than_five_seconds():
    start = time.perf_counter()
    scorecard(EIGHT, length=512)
    assert time.perf_counter() - start < 5


def column(*values):
    """A code of one number, whatever the length asked for, from a fixed list."""
    return lambda n: np.resize(values, n)[:, np.newaxis]


BY_HAND = [
    # two equal codes, and two that differ by little
    (unique, column(0, 3, 1, 3), False, 0, "codes 1 and 3 are equal"),
    (unique, column(0, 3, 1, 2.5), True, 0.5, "codes 1 and 3 are nearest"),
    (unique, column(0, 3, 1, 3 + 1e-6), True, 1e-6, "codes 1 and 3 are nearest"),
    (unique, column(0, 3, 1, 3 + 1e-12), False, 0, "codes 1 and 3 are equal"),
    (equal_length, column(-2, 2, 2, -2), True, 0, "every code has length 2"),
    (equal_length, column(2, 1, -3, 2), False, 2, "length 1 at 1, length 3 at 2"),
    (
        equal_length,
        column(2, 2, 2.00001, 2),
        False,
        1e-5,
        "length 2 at 0, length 2 at 2",
    ),
    (bounded, column(1, -5, 2, 3), True, 1, "entries reach 5, later 5"),
    (bounded, lambda n: np.full((n, 2), n), False, 4, "entries reach 4, later 16"),
    (bounded, lambda n: np.zeros((n, 2)), True, 1, "entries reach 0, later 0"),
    (
        same_at_every_length,
        column(1, 2, 3, 4),
        True,
        0,
        "no code changes at length 8",
    ),
    (
        same_at_every_length,
        lambda n: np.arange(n)[:, np.newaxis] / (n - 1),
        False,
        4 / 7,
        "code 3 is 1, but 0.4286 at length 8",
    ),
    (
        same_at_every_length,
        lambda n: np.ones((n, n)),
        False,
        np.inf,
        "codes of 4 numbers, but of 8 at length 8",
    ),
    (same_distance, column(5, 7, 9, 11), True, 0, "every offset has one distance"),
    # offset 1: 1, 2, 3 apart; offset 2: 3 and 5; offset 3: 6
    (same_distance, column(0, 1, 3, 6), False, 1 / 3, "0 to 1 is 1, 2 to 3 is 3"),
    # distances 1, 3, 7, 2, 6, 4 in all; steps 1, 2, 4
    (smooth, column(0, 1, 3, 7), False, 4 / 3.5, "2 to 3 is 4, median 3.5"),
    (smooth, column(0, 1, 2, 3.5), True, 1.5 / 1.75, "2 to 3 is 1.5, median 1.75"),
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


def orbit(matrix, constant, first):
    """The codes that one affine map makes."""

    def encode(length):
        codes = [np.asarray(first, float)]
        for _ in range(length - 1):
            codes.append(matrix @ codes[-1] + constant)
        return np.array(codes)

    return encode


ROTATION = np.array([[0.6, -0.8], [0.8, 0.6]])


@pytest.mark.parametrize("constant", [[0, 0], [3, -1]])
def test_every_affine_orbit_has_one_shift_matrix(constant):
    verdict = one_shift_matrix(orbit(ROTATION, constant, [1, 0]), 50)
    assert verdict.holds and verdict.measured < 1e-12
    assert verdict.evidence == "one matrix moves every code on by 1"


def test_the_unexplained_share_by_hand():
    """0, 0, 1, 0, 0, 0, 1, 0: what follows a 0 is a 1 in two of five, else 0."""
    verdict = one_shift_matrix(column(0, 0, 1, 0), 8)
    # predictions 2/5 after 0, 0 after 1; the mean of all followers is 2/7
    left = 3 * 0.4**2 + 2 * 0.6**2
    spread = 5 * (2 / 7) ** 2 + 2 * (5 / 7) ** 2
    assert verdict.measured == pytest.approx((left / spread) ** 0.5)
    assert verdict.evidence == "92% unexplained, worst from 1 to 2"
    assert not verdict.holds


def test_a_small_fault_in_one_code_is_seen():
    def encode(length):
        codes = orbit(ROTATION, [0, 0], [1, 0])(length)
        codes[30] += 0.01
        return codes

    verdict = one_shift_matrix(encode, 50)
    assert not verdict.holds
    assert verdict.evidence.endswith("worst from 29 to 30")


def test_constant_codes_move_on_by_doing_nothing():
    assert one_shift_matrix(column(1), 9).holds


def test_too_few_positions_for_a_fit_are_refused():
    message = r"length must be above d_model \+ 2 = 34, got 34"
    with pytest.raises(ValueError, match=message):
        one_shift_matrix(random_directions, 34)
    assert not one_shift_matrix(random_directions, 60).holds


@pytest.mark.parametrize("criterion", CRITERIA.values(), ids=CRITERIA.keys())
@pytest.mark.parametrize("scale", [1e-6, 1, 1e6])
def test_no_verdict_depends_on_the_scale(criterion, scale):
    for name, encode in EIGHT.items():
        scaled = criterion(lambda n, encode=encode: scale * encode(n), 100)
        assert scaled.holds == criterion(encode, 100).holds, name


def no_table(length):
    return np.zeros(length)


def not_finite(length):
    return np.full((length, 2), np.nan)


def stubborn(length):
    raise KeyError(length)


@pytest.mark.parametrize(
    ("broken", "evidence"),
    [
        (no_table, r"ValueError: encode(16) must have shape [16, d_model], got (16,)"),
        (
            lambda n: np.zeros((n + 1, 2)),
            "ValueError: encode(16) must have shape [16, d_model], got (17, 2)",
        ),
        (
            not_finite,
            "ValueError: encode(16) must be finite, got NaN or infinity in it",
        ),
        (lambda n: [["a"]] * n, "TypeError: encode(16) must be real numbers, got"),
        (stubborn, "KeyError: 16"),
        (lambda: 0, "TypeError: "),
    ],
)
def test_a_broken_encoding_is_reported_and_the_card_goes_on(broken, evidence):
    card = scorecard({"broken": broken, "counting": EIGHT["counting"]}, length=16)
    assert card["broken"]["unique"].holds is None
    assert card["broken"]["unique"].evidence.startswith(evidence)
    assert {verdict.holds for verdict in card["broken"].values()} == {None}
    assert card["counting"]["unique"].holds
    assert "broken    ? ? ? ? ? ? ? ?" in str(card)


def test_a_code_that_cannot_grow_fails_only_where_it_must():
    card = scorecard({"five digits": lambda n: binary(np.arange(n), 5)}, length=20)
    row = card["five digits"]
    unknown = {name for name, verdict in row.items() if verdict.holds is None}
    assert unknown == {"bounded", "same at every length"}
    assert "bits must be at least 7 to write position 79" in row["bounded"].evidence


def test_it_fits_a_phone(card):
    assert max(map(len, str(card).splitlines())) <= 40
    assert max(len(v.evidence) for row in card.values() for v in row.values()) <= 40


def test_the_table_can_be_read_by_a_screen_reader():
    card = scorecard({"<b>": EIGHT["counting"], "two": no_table}, length=16)
    html = card._repr_html_()
    assert html.count('<th scope="col">') == 1 + len(CRITERIA)
    assert html.count('<th scope="row">') == 2
    assert '<th scope="row">&lt;b&gt;</th>' in html
    assert html.count(">yes</td>") == 6 and html.count(">no</td>") == 2
    assert html.count(">?</td>") == len(CRITERIA)
    for name in CRITERIA:
        assert f">{name}</span>" in html


def test_an_empty_card_is_a_card():
    assert scorecard({}) == {}
    assert str(scorecard({})).startswith("1 unique")


def test_a_verdict_cannot_be_changed():
    verdict = Verdict(True, 0.0, "", 1, 4)
    with pytest.raises(AttributeError):
        verdict.holds = False


@pytest.mark.parametrize(
    ("encodings", "message"),
    [
        ([EIGHT["counting"]], "encodings must map names to functions, got"),
        ({"a": np.ones((9, 2))}, r"encodings\['a'\] must be callable, got array"),
    ],
)
def test_what_is_no_encoding_is_refused(encodings, message):
    with pytest.raises(TypeError, match=message):
        scorecard(encodings)
