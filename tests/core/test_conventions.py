"""Ten texts, each by its own formula, against what is on record of it."""

import re
from pathlib import Path

import numpy as np
import pytest

from pe_lib.conventions import CONVENTIONS, convention_table

KEYS = tuple(CONVENTIONS)


def widths(key):
    least = CONVENTIONS[key].smallest
    return [
        d
        for d in (1, 2, 3, 4, 5, 6, 7, 32)
        if d >= least and (d % 2 == 0 or CONVENTIONS[key].odd)
    ]


@pytest.mark.parametrize("key", KEYS)
def test_the_record_says_what_the_formula_does(key):
    """Waves and frequencies of the record, against the text's own formula."""
    for d_model in widths(key):
        columns = CONVENTIONS[key].columns(d_model, 23)
        t = np.arange(23) + CONVENTIONS[key].start
        waves = {"sine": np.sin, "cosine": np.cos, "zero": np.zeros_like}
        expected = [waves[wave](t * float(frequency)) for wave, frequency in columns]
        found = convention_table(key, 23, d_model)
        found = found.T if CONVENTIONS[key].array == "columns" else found
        assert found.shape == (23, d_model) and found.dtype == np.float64
        # Angles up to 25 with relative errors of a few 2**-53 each.
        assert np.abs(found - np.stack(expected, axis=1)).max() <= 8 * 27 * 2**-53


def test_every_source_is_in_the_bibliography():
    bib = Path(__file__).parents[2] / "book/references.bib"
    if not bib.exists():
        pytest.skip("the book is not here")
    keys = re.findall(r"^@\w+\{([^,]+),", bib.read_text(encoding="utf-8"), re.MULTILINE)
    named = [c.source for c in CONVENTIONS.values() if c.source]
    assert len(named) == len(set(named)) == 8
    assert set(named) <= set(keys)
