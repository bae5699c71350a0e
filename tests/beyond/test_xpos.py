"""xPos: rotary that fades, as its authors' program has it."""

import numpy as np
import pytest

from pe_lib.beyond.rotary import apply_rotary
from pe_lib.beyond.xpos import apply_xpos

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("layout", ["interleaved", "half_split"])
@pytest.mark.parametrize("head_dim", [2, 6, 64])
def test_a_score_is_rotarys_with_each_pair_faded(head_dim, layout):
    q, k = RNG.standard_normal((2, head_dim))
    t, s = 300.5, 17.0
    options = {"layout": layout, "scale_base": 64}
    score = apply_xpos(q, t, keys=False, **options) @ apply_xpos(
        k, s, keys=True, **options
    )
    half = np.arange(head_dim // 2)
    first, second = (
        (2 * half, 2 * half + 1)
        if layout == "interleaved"
        else (half, half + head_dim // 2)
    )
    products = apply_rotary(q, t, layout=layout) * apply_rotary(k, s, layout=layout)
    pairs = products[first] + products[second]
    fading = [(2 * j + 0.4 * head_dim) / (1.4 * head_dim) for j in half]
    np.testing.assert_allclose(score, pairs @ np.power(fading, (t - s) / 64))
