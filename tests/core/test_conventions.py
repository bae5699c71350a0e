"""Ten texts against their formulas in mpmath."""

import re
from pathlib import Path

import mpmath
import numpy as np
import pytest

from pe_lib import angular_frequencies
from pe_lib.conventions import CONVENTIONS, Convention, convention_table

KEYS = tuple(CONVENTIONS)


def rows(key, length, d_model):
    """The table with a row a position, whatever way the text writes it."""
    table = convention_table(key, length, d_model)
    return table.T if CONVENTIONS[key].array == "columns" else table


def bound(length):
    """Angles up to length + 2 with relative errors of a few 2**-53 each."""
    return 8 * (length + 4) * 2**-53


def difference(left, right):
    return np.abs(np.asarray(left) - np.asarray(right)).max(initial=0.0)


# Each text by itself: word r (from 0), column j (from 0), in 40 digits.


def wave(cosine, angle):
    return mpmath.cos(angle) if cosine else mpmath.sin(angle)


def truth(key, r, j, n, d):
    """The formula as printed; `n` is the length of the table."""
    ten, t = mpmath.mpf(10_000), mpmath.mpf(r)
    half = d // 2
    with mpmath.workdps(40):
        if key in ("paper", "d2l", "uva"):
            return wave(j % 2, t / ten ** (mpmath.mpf(j - j % 2) / d))
        if key == "kernes":
            return wave(
                j % 2 == 0, t * mpmath.mpf("1e-4") ** (mpmath.mpf(j - j % 2) / d)
            )
        if key == "denk":
            return wave(j % 2, (t + 1) / ten ** (mpmath.mpf(2 * (j // 2 + 1)) / d))
        if key == "phuong_hutter":
            return wave(
                j % 2, (t + 1) / mpmath.mpf(n) ** (mpmath.mpf(2 * (j // 2 + 1)) / d)
            )
        if key == "notebook_text":
            return wave(j % 2, t * ten ** (-mpmath.mpf(j // 2 + 1) / d))
        if j == 2 * half:
            return mpmath.mpf(0)
        t += 2 if key == "fairseq" else 0
        slower = -mpmath.mpf(j % half) / max(half - 1, 1)
        return wave(j >= half, t * ten**slower)


def widths(key):
    least = CONVENTIONS[key].smallest
    return [
        d
        for d in (1, 2, 3, 4, 5, 6, 7, 32)
        if d >= least and (d % 2 == 0 or CONVENTIONS[key].odd)
    ]


@pytest.mark.parametrize(
    ("key", "d_model"), [(key, d) for key in KEYS for d in widths(key)]
)
def test_every_entry_is_what_the_text_prints(key, d_model):
    length = 23
    table = rows(key, length, d_model)
    assert table.shape == (length, d_model)
    assert table.dtype == np.float64
    expected = [
        [float(truth(key, r, j, length, d_model)) for j in range(d_model)]
        for r in range(length)
    ]
    assert difference(table, expected) <= bound(length)


# The record of a text, column by column


@pytest.mark.parametrize("key", KEYS)
def test_the_record_says_what_the_formula_does(key):
    """Waves and frequencies of the record, against the text's own formula."""
    for d_model in widths(key):
        columns = CONVENTIONS[key].columns(d_model, 23)
        t = np.arange(23) + CONVENTIONS[key].start
        waves = {"sine": np.sin, "cosine": np.cos, "zero": np.zeros_like}
        expected = [waves[wave](t * float(frequency)) for wave, frequency in columns]
        found = rows(key, 23, d_model)
        assert difference(found, np.stack(expected, axis=1)) <= bound(23)


@pytest.mark.parametrize("spacing", ["paper", "endpoint"])
@pytest.mark.parametrize("layout", ["interleaved", "half_split"])
@pytest.mark.parametrize("d_model", [1, 2, 3, 4, 7, 64])
def test_the_frequencies_are_those_of_pe_lib(spacing, layout, d_model):
    """One vocabulary: the words mean here what they mean in angular_frequencies."""
    record = Convention("", None, spacing=spacing, layout=layout, base=500.0)
    frequencies = angular_frequencies(d_model, base=500.0, spacing=spacing)
    for wave, share in (("sine", frequencies), ("cosine", frequencies[: d_model // 2])):
        held = [float(w) for name, w in record.columns(d_model) if name == wave]
        np.testing.assert_allclose(held, share, rtol=1e-14)


# Odd and small widths


@pytest.mark.parametrize("key", ["fairseq", "flash_card"])
def test_a_width_that_divides_by_zero(key):
    with pytest.raises(
        ValueError, match=f"d_model must be at least 4 for '{key}', got 2"
    ):
        convention_table(key, 9, 2)
    assert np.isfinite(convention_table(key, 9, 4)).all()


@pytest.mark.parametrize("key", ["tensor2tensor", "fairseq"])
@pytest.mark.parametrize("d_model", [5, 7, 33])
def test_an_odd_width_gets_a_column_of_zeros(key, d_model):
    table = convention_table(key, 40, d_model)
    np.testing.assert_array_equal(table[:, -1], 0)
    np.testing.assert_array_equal(table[:, :-1], convention_table(key, 40, d_model - 1))


@pytest.mark.parametrize("key", [k for k in KEYS if CONVENTIONS[k].odd is None])
@pytest.mark.parametrize("d_model", [1, 3, 5])
def test_odd_widths_that_a_text_does_not_define(key, d_model):
    with pytest.raises(ValueError, match=f"d_model must be even for '{key}', got"):
        convention_table(key, 9, d_model)


# The records


def test_every_source_is_in_the_bibliography():
    bib = Path(__file__).parents[2] / "book/references.bib"
    if not bib.exists():
        pytest.skip("the book is not here")
    keys = re.findall(r"^@\w+\{([^,]+),", bib.read_text(encoding="utf-8"), re.MULTILINE)
    named = [c.source for c in CONVENTIONS.values() if c.source]
    assert len(named) == len(set(named)) == 8
    assert set(named) <= set(keys)
