"""Positions that are drawn at random and sorted."""

import pytest
import torch

from pe_lib.experiments import randomised, tasks
from pe_lib.experiments.model import Ensemble
from pe_lib.experiments.schemes import SCHEMES

NAMES = ["none", "binary", "sinusoid", "learned", "rotary", "t5", "alibi"]
SETTINGS = {"seeds": 2, "layers": 1, "token_std": 0.7, "trained_length": 8}


@pytest.mark.parametrize("task", ["copy", "previous"])
def test_all_positions_of_the_range_are_the_usual_ones(task):
    """Eight of eight positions in order are 0 to 7: the logits are an Ensemble's."""
    arguments = tasks.TASKS[task], [SCHEMES[name] for name in NAMES]
    usual = Ensemble(*arguments, **SETTINGS, lengths=[8])
    drawn = randomised.RandomPositions(*arguments, **SETTINGS, lengths=[8], spread=8)
    tokens = torch.randint(16, (2, 3, 8), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        torch.testing.assert_close(drawn(tokens), usual(tokens))


def test_positions_are_different_sorted_and_drawn_anew():
    model = randomised.RandomPositions(
        tasks.TASKS["copy"],
        [SCHEMES["learned"]],
        **SETTINGS,
        lengths=[8, 64],
        spread=64,
    )
    draws = [model.positions(8) for _ in range(50)]
    assert all((draw.diff() > 0).all() for draw in draws)
    assert len({tuple(draw.tolist()) for draw in draws}) == 50
    assert torch.stack(draws).min() == 0
    assert torch.stack(draws).max() == 63


def test_a_learned_table_is_trained_at_all_positions_and_nothing_is_left_behind():
    """Rows beyond the length get gradients; the terms are the usual ones again."""
    model = randomised.RandomPositions(
        tasks.TASKS["copy"],
        [SCHEMES["learned"]],
        **SETTINGS,
        lengths=[8, 16],
        spread=16,
    )
    before = model._terms[8]
    tokens = torch.zeros(2, 1, 8, dtype=torch.long)
    for _ in range(20):
        model(tokens).square().sum().backward()
    assert model._terms[8] is before
    assert (model.table.grad.abs().sum(-1) > 0).all()


def test_the_range_must_hold_the_longest_test():
    with pytest.raises(ValueError, match="spread must be at least 32, got 24"):
        randomised.measure(
            "copy", ["none"], spread=24, steps=1, rate=0.01, test_lengths=(32,)
        )
