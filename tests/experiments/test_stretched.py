"""The stretched models: their texts, that they are causal, their rules."""

import numpy as np
import pytest
from torch.nn import functional

from pe_lib import angular_frequencies
from pe_lib.experiments import matrices, stretched
from tests.experiments.helpers import DATA, generator


def test_answers_are_the_lag_and_the_needle():
    generators = [generator(seed) for seed in (0, 1)]
    tokens, answers = (x.flatten(0, 1) for x in stretched.texts(40, 50, generators))
    for (text, flag), wanted in zip(
        tokens.mT.numpy() - [[0], [stretched.SYMBOLS]], answers.numpy(), strict=True
    ):
        (place,) = np.flatnonzero(flag == stretched.IS_NEEDLE)
        for t in range(40):
            right = -1
            if flag[t] == stretched.ASKS_LAG and t >= 3:
                right = text[t - 3]
            elif flag[t] == stretched.ASKS_NEEDLE and t > place:
                right = text[place]
            assert wanted[t] == right


@pytest.mark.parametrize("task", stretched.TASKS)
def test_the_second_half_asks_and_a_right_answer_counts(task):
    """A model that knows is right at 33 words; one that is one off never is."""
    asks = stretched.SYMBOLS + stretched.TASKS.index(task)

    def knowing(tokens, *_):
        asked = (tokens[..., 1] == asks).all((0, 1))
        assert asked[16:].all() and not asked[:16].any()
        symbols = tokens[..., 0]
        before = symbols.roll(stretched.LAG, -1)
        answers = before if task == "lag" else symbols[..., :1].expand_as(symbols)
        return functional.one_hot((answers + off) % stretched.SYMBOLS, 16)

    arguments = (task, 33, angular_frequencies(32))
    for off in (0, 1):
        shares = stretched.share_right(knowing, *arguments, seeds=[0, 1], words=512)
        assert (shares == 1 - off).all()


def test_the_kept_reader_answers_and_a_fresh_one_guesses():
    """Within the lengths of training, and for either question."""
    frequencies = angular_frequencies(32)
    kept_one, fresh = stretched.models([0]), stretched.models([0])
    kept_one.load_matrices(matrices.load(DATA / "stretched_reader.csv"))
    for task in stretched.TASKS:
        good, bad = (
            stretched.share_right(m, task, 64, frequencies, seeds=[0], words=512)[0]
            for m in (kept_one, fresh)
        )
        assert bad < 0.2 < 0.99 < good


@pytest.mark.parametrize("rule", stretched.RULES)
def test_rules_change_nothing_within_the_training(rule):
    old = angular_frequencies(32)
    np.testing.assert_array_equal(stretched.stretched(rule, 1e4, 64), old)
    longer = stretched.stretched(rule, 1e4, 512)
    assert (rule == "none") == np.array_equal(longer, old)
    assert (rule == "interpolate") == np.allclose(longer, old / 8)
