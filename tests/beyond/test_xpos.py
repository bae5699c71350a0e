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


@pytest.mark.parametrize(("dtype", "last"), [("float16", 4532), ("float32", 36259)])
def test_where_keys_overflow(dtype, last):
    """Of a head of 128 that is not centred: one further, and it is said."""
    key = np.ones(128, dtype)
    with pytest.raises(ValueError, match=f"so near 0 that {dtype} holds the factors"):
        apply_xpos(key, last + 10, keys=True)
    assert np.isfinite(apply_xpos(key / 4, last - 10, keys=True)).all()
