"""The estimator is asked for what a table was drawn from, over its whole range."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pe_lib.check.waves import Series, Sinusoid, identify

SERIES = st.builds(
    Series,
    st.sampled_from([20.0, 500.0, 1e3, 1e4, 5e5, 1e6]),
    st.sampled_from(["paper", "endpoint"]),
)
DRAWN = st.builds(
    Sinusoid,
    st.sampled_from([16, 32, 64, 128]).map(lambda width: np.zeros((256, width))),
    SERIES,
    halves=st.booleans(),
    cosine_first=st.booleans(),
    start=st.sampled_from([0.0, 1.0, 2.0]),
    scale=st.sampled_from([1.0, 0.5, 0.02, 8.0]),
)


def named(codes):
    with np.errstate(all="ignore"):  # 16 bits overflow where they are tried
        return identify(codes)


@settings(max_examples=16, deadline=None, derandomize=True)
@given(DRAWN, st.booleans(), st.integers(0, 255), st.integers(0, 15))
def test_what_was_drawn_comes_back_and_what_is_spoilt_is_found(
    want, spoil, row, column
):
    codes = (want.scale * want.waves(want.angles).astype(np.float32)).astype(float)
    wrong = np.zeros(codes.shape, bool)
    if spoil:
        codes[row] += want.scale / 2
        codes[:, column] += want.scale / 3
        wrong[row], wrong[:, column] = True, True
    got = named(codes)
    assert got is not None and got.other is None
    said = got.halves, got.cosine_first, got.kinds, got.start
    assert said == (want.halves, want.cosine_first, (0, 1), want.start)
    assert np.isclose(got.scale, want.scale, rtol=2e-3)
    assert np.allclose(got.frequencies, want.frequencies, rtol=5e-3), got.series
    assert (got.agrees == ~wrong).mean() > 0.999


@pytest.mark.parametrize("spacing", ["paper", "endpoint"])
@pytest.mark.parametrize("sines", [9, 8, "8, and a column of zeros"])
def test_halves_of_an_odd_width(spacing, sines):
    t, pair = np.arange(300)[:, None], np.arange(9 - isinstance(sines, str))
    angles = t * Series(1e4, spacing).frequencies(len(pair))
    many = 8 + (sines == 9)
    halves = np.sin(angles)[:, :many], np.cos(angles)[:, : 17 - many]
    codes = np.zeros((300, 17))
    codes[:, : many + halves[1].shape[1]] = np.concatenate(halves, 1)
    got = named(codes)
    assert got is not None and got.halves and got.agrees.all() and not [*got.flaws()]
