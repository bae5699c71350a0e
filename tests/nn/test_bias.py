"""The bias module is the core's numbers, whatever was done to it before."""

import numpy as np
import pytest
import torch

from pe_lib.beyond.bias import alibi_slopes
from pe_lib.nn import AlibiBias
from pe_lib.nn._arguments import wide_of

LONGEST = 131_072


def expected(module, offsets, causal):
    """By the core, in float64, rounded once: [heads, *offsets]."""
    slopes = alibi_slopes(module.num_heads, rule=module.rule)
    values = np.multiply.outer(slopes, 0 - np.abs(offsets))
    if causal:
        values = np.where(offsets > 0, -np.inf, values)
    return torch.from_numpy(values).to(wide_of(module.table))


@pytest.mark.parametrize("causal", [{}, {"causal": True}])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("rule", ["program", "paper"])
def test_the_bias_is_the_cores_to_the_last_bit(rule, dtype, causal):
    """All, the last with a cache, a stretch in the middle, keys alone after it."""
    for heads in (1, 12, 128):
        far = LONGEST // heads
        module = AlibiBias(heads, rule=rule, **causal).to(dtype)
        for length, keys, offset in (
            (1, 1, None), (90, 90, None), (1, 90, None), (5, 90, None), (5, 90, 20),
            (90, 5, 0), (3, 4, -2), (2, 3, 2**31 - 1), (1, far, far - 1), (1, far, 5),
        ):  # fmt: skip
            bias = module(length, keys, offset=offset)
            start = keys - length if offset is None else offset
            right = expected(module, np.arange(keys) - start - np.c_[:length], causal)
            assert bias.dtype == right.dtype and bias.shape == (heads, length, keys)
            assert torch.equal(bias, right)
