"""The stretched readers: their texts, that they are causal, their rules."""

import numpy as np
import pytest
import torch

from pe_lib import angular_frequencies
from pe_lib.experiments import stretched


def test_answers_are_the_lag_and_the_needle():
    generator = torch.Generator().manual_seed(0)
    symbols, flags, answers = (x.numpy() for x in stretched.texts(40, 50, generator))
    for text, flag, wanted in zip(symbols, flags, answers, strict=True):
        (place,) = np.flatnonzero(flag == stretched.IS_NEEDLE)
        for t in range(40):
            right = -1
            if flag[t] == stretched.ASKS_LAG and t >= 3:
                right = text[t - 3]
            elif flag[t] == stretched.ASKS_NEEDLE and t > place:
                right = text[place]
            assert wanted[t] == right


def test_a_reader_is_causal_and_keeps_its_weights():
    weights = {k: v[0] for k, v in stretched.Readers([3]).state_dict().items()}
    model, frequencies = stretched.reader_of(weights), angular_frequencies(32)
    drawn = stretched.texts(20, 2, torch.Generator().manual_seed(1))
    symbols, flags = drawn[0][None], drawn[1][None]
    changed = symbols.clone()
    changed[..., 12] = (changed[..., 12] + 1) % 16
    with torch.no_grad():
        first = model(symbols, flags, frequencies)
        other = model(changed, flags, frequencies)
        late = model(symbols, flags, frequencies, asked_from=15)
    assert torch.equal(first[..., :12, :], other[..., :12, :])
    assert (first - other)[..., 13:, :].abs().max() > 1e-3
    torch.testing.assert_close(first[..., 15:, :], late)
    assert torch.equal(stretched.Readers([3]).state_dict()["Wq"][0], weights["Wq"])


@pytest.mark.parametrize("rule", stretched.RULES)
def test_rules_change_nothing_within_the_training(rule):
    old = angular_frequencies(32)
    np.testing.assert_array_equal(stretched.stretched(rule, 1e4, 64), old)
    longer = stretched.stretched(rule, 1e4, 512)
    assert (rule == "none") == np.array_equal(longer, old)
    with pytest.raises(ValueError, match="rule must be"):
        stretched.stretched("no", 1e4, 64)
