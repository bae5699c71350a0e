"""A model that reads: windows, bits, and what is kept of it."""

import numpy as np

from pe_lib.experiments.kept import save_rows
from pe_lib.experiments.text import chosen_rates, load_read, read, rows_of

TEXT = "to be or not to be, that is the question. " * 12


def test_it_learns_a_text_by_heart_and_is_kept(tmp_path):
    schemes, few = ["none", "rotary"], {"seeds": 2, "layers": 1, "characters": 20}
    found = read(TEXT, schemes, steps=100, rates=[0.01], **few)
    assert found.curves.shape == (2, 2, 2)
    assert (found.curves[..., 0] > found.curves[..., 1]).all()
    assert found.held_out.max() < 4  # five bits are a blind guess of 32 characters
    assert found.held_out[1].max() < found.held_out[0].min() - 0.5
    lines = [line for of_scheme in found.lines for line in of_scheme]
    assert all(len(line) == 20 and line.startswith("the ") for line in lines)
    assert len(set(lines)) == 4
    path = tmp_path / "text.csv"
    rows = rows_of(found, schemes, [0.01, 0.02])
    save_rows(rows, path, command="", settings={}, seconds=0)
    rates, again = load_read(path)
    assert rates == {"none": 0.01, "rotary": 0.02}
    np.testing.assert_allclose(again.curves, found.curves, atol=1e-4)
    np.testing.assert_allclose(again.held_out, found.held_out, atol=1e-4)
    assert again.lines == found.lines


def test_the_rate_with_the_lowest_loss_is_chosen():
    few = {"seeds": 1, "layers": 1, "characters": 5, "steps": 50}
    assert chosen_rates(TEXT, ["none"], [1e-6, 0.01], **few) == [0.01]
