"""Each formula that people write, right or wrong, is told by its name."""

import math

import numpy as np
import pytest

from pe_lib import sinusoidal_table
from pe_lib.check.recognise import (
    best_fit,
    described,
    exactly_repeated,
    frequencies_of,
    waves,
)
from pe_lib.conventions import CONVENTIONS


def paired(sine, cosine, rows=200):
    """[rows, d] with these frequencies of the sines and of the cosines."""
    t = np.arange(rows)[:, None]
    both = np.stack([np.sin(t * sine), np.cos(t * cosine)], 2)
    return both.reshape(rows, -1).astype(np.float32).astype(float)


def told(codes):
    fit = best_fit(codes)
    return described(fit) if fit else None


def columns(d):
    return np.arange(0, d, 2), np.arange(1, d, 2)


def paper(d):
    return 10_000.0 ** (-columns(d)[0] / d)


FAULTS = {
    "exponent_2i_of_column": lambda d: [1e4 ** (-2 * i / d) for i in columns(d)],
    "exponent_i_of_column": lambda d: [1e4 ** (-i / d) for i in columns(d)],
    "cosine_one_step_on": lambda d: [paper(d), paper(d) * 1e4 ** (-2 / d)],
    "divided": lambda d: [1 / paper(d)] * 2,
    "degrees": lambda d: [paper(d) * math.pi / 180] * 2,
    "turns": lambda d: [paper(d) * 2 * math.pi] * 2,
}


@pytest.mark.parametrize("d", [8, 64, 512])
@pytest.mark.parametrize("name", FAULTS)
def test_a_wrong_formula_is_named(name, d):
    found = told(paired(*FAULTS[name](d)))
    assert found.formula == name and found.base == 10_000


@pytest.mark.parametrize("d", [8, 64, 512])
@pytest.mark.parametrize(
    ("name", "first", "second"),
    [("sines_only", 0, 0), ("cosines_only", 1, 1), ("half_empty", 0, None)],
)
def test_wrong_waves_are_named(name, first, second, d):
    pair = paired(paper(d), paper(d)).reshape(200, -1, 2)
    kept = [pair[..., first], 0 * pair[..., 0] if second is None else pair[..., second]]
    assert told(np.stack(kept, 2).reshape(200, d)).formula == name


@pytest.mark.parametrize("d", [2, 3, 7, 16, 512])
@pytest.mark.parametrize("scale", [1.0, 0.02, 22.6])
def test_the_paper_is_told_at_any_width_and_scale(d, scale):
    found = told(scale * sinusoidal_table(100, d))
    assert (found.formula, found.base) == ("sinusoid", 10_000)
    assert found.scale == pytest.approx(scale) and found.gap < 1e-12
    assert "Vaswani et al. (2017)" in str(found)


@pytest.mark.parametrize("key", ["tensor2tensor", "fairseq", "denk", "kernes"])
def test_published_conventions_are_told(key):
    known = CONVENTIONS[key]
    speeds = known.columns(32)
    t = np.arange(64)[:, None] + known.start
    codes = np.where(
        [wave == "sine" for wave, _ in speeds],
        np.sin(t * [float(w) for _, w in speeds]),
        np.cos(t * [float(w) for _, w in speeds]),
    )
    found = told(codes)
    assert found.formula == "sinusoid" and known.name in str(found)
    assert (found.spacing, found.layout) == (known.spacing, known.layout)
    assert (found.first, found.start) == (known.first, known.start)


@pytest.mark.parametrize("base", [30.0, 500.0, 9_000.0, 8_886_110.52, 1e8])
@pytest.mark.parametrize("layout", ["interleaved", "half_split"])
def test_another_base_is_fitted(base, layout):
    found = told(sinusoidal_table(200, 32, base=base, layout=layout).astype("f4") + 0.0)
    assert found.formula == "sinusoid" and found.layout == layout
    assert found.base == pytest.approx(base, rel=1e-4)


def test_a_fault_with_another_base_is_named():
    base = 1000.0 ** (-np.arange(0, 64, 2) / 64)
    found = told(paired(base, base * 1000 ** (-2 / 64)))
    assert found.formula == "cosine_one_step_on"
    assert found.base == pytest.approx(1000, rel=1e-3)


@pytest.mark.parametrize("axis", [0, 1])
def test_what_is_spoilt_is_named_and_the_rest_told(axis):
    codes = sinusoidal_table(100, 64)
    at = (7, slice(None)) if axis == 0 else (slice(None), 7)
    codes[at] = 0.3
    fit = best_fit(codes)
    assert fit.spoilt(axis) == [7] and described(fit).base == 10_000


def test_random_numbers_follow_nothing():
    codes = np.random.default_rng(0).standard_normal((100, 64))
    assert best_fit(codes) is None and waves(codes) is None


@pytest.mark.parametrize("slow", [1e-8, 1e-4, 0.3, 3.0, -2.0])
def test_a_frequency_is_fitted_however_slow(slow):
    hands = np.exp(1j * np.outer(np.arange(64), [slow, 1.0]))
    found = frequencies_of(hands.astype(np.complex64))
    np.testing.assert_allclose(found, [slow, 1.0], atol=2e-8)


def test_pairs_with_frequencies_of_their_own():
    own = np.array([1.0, 0.7, 0.4, 0.31])
    assert waves(paired(own, own))[0] == "interleaved"


def test_the_first_row_that_comes_again():
    codes = np.random.default_rng(0).standard_normal((9, 4))
    assert exactly_repeated(codes) is None
    codes[7], codes[5] = codes[2], codes[1]
    assert exactly_repeated(codes) == (5, 1)
