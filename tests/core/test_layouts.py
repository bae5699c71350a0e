"""Where sines and cosines stand, column by column."""

import numpy as np
import pytest

from pe_lib.layouts import layout_columns

ORDER = {
    # Vaswani et al. (2017), section 3.5: PE(pos, 2i) is a sine, PE(pos, 2i+1) a cosine.
    ("interleaved", 1): ["sin 0"],
    ("interleaved", 2): ["sin 0", "cos 0"],
    ("interleaved", 5): ["sin 0", "cos 0", "sin 1", "cos 1", "sin 2"],
    ("interleaved", 6): ["sin 0", "cos 0", "sin 1", "cos 1", "sin 2", "cos 2"],
    # tensor2tensor, get_timing_signal_1d: concat([sin(scaled_time), cos(scaled_time)]).
    ("half_split", 1): ["sin 0"],
    ("half_split", 2): ["sin 0", "cos 0"],
    ("half_split", 5): ["sin 0", "sin 1", "sin 2", "cos 0", "cos 1"],
    ("half_split", 6): ["sin 0", "sin 1", "sin 2", "cos 0", "cos 1", "cos 2"],
}


@pytest.mark.parametrize(("layout", "d_model"), ORDER)
def test_names_of_the_columns(layout, d_model):
    sines, cosines = layout_columns(d_model, layout)
    names = np.full(d_model, "nobody's")
    names[sines] = [f"sin {k}" for k in range(len(names[sines]))]
    names[cosines] = [f"cos {k}" for k in range(len(names[cosines]))]
    assert names.tolist() == ORDER[layout, d_model]
