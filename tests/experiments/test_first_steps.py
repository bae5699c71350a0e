"""The first steps of each kind of training are those of the rows that are kept."""

import numpy as np
import pytest
import torch

from evidence import runs
from pe_lib.experiments import induction, one_head, stretched, training
from pe_lib.experiments.loop import fit
from pe_lib.experiments.tasks import TASKS, after_a_start


def train(task="copy", **more):
    few = {"seeds": 1, "steps": 20, "test_lengths": (24,)} | more
    training.train(task, few.pop("schemes", ["rotary"]), **few)


RUNS = {
    "learned": (training, lambda: train(schemes=["learned"]), [3.17322, 2.99401]),
    "T5": (training, lambda: train(schemes=["t5_fast"], layers=2), [3.39890, 2.96592]),
    "seed": (training, lambda: train(first_seed=7), [2.94136, 2.98433]),
    "rates": (
        training,
        lambda: train(schemes=["none", "alibi"], rate={"none": 0.01, "alibi": 0.03}),
        [6.17345, 5.71702],
    ),
    "examples": (
        training,
        lambda: train(train_lengths=(16, 16), examples=8),
        [3.30692, 2.57298],
    ),
    "starts": (
        training,
        lambda: train(schemes=["sinusoid"], train_starts=30),
        [3.17040, 2.99970],
    ),
    "hands": (
        training,
        lambda: train(schemes={n: runs.HANDS[n] for n in ("seen_5", "unseen_2")}),
        [6.28528, 5.92754],
    ),
    "start token": (
        training,
        lambda: train(after_a_start(TASKS["place"])),
        [2.67259, 2.70102],
    ),
    "one head": (
        one_head,
        lambda: one_head.trained("added", 2, steps=20),
        [2.81387, 2.65831],
    ),
    "rotary head": (
        one_head,
        lambda: one_head.trained("rotary", 2, steps=20),
        [2.80703, 2.63369],
    ),
    "readers": (
        stretched,
        lambda: stretched.trained(1e4, [2, 5], steps=20),
        [6.21951, 5.69544],
    ),
    "sinusoid": (induction, lambda: induction.train(2, 20), [5.99969, 5.23946]),
}
"""Where the loop is called, a short run, and two of its losses."""


@pytest.mark.parametrize("name", RUNS)
def test_losses(name, monkeypatch):
    """Of the first step and the twentieth; torch's own random state stays."""
    module, run, expected = RUNS[name]
    found, before = [], torch.get_rng_state()

    def told(*arguments, **settings):
        found.extend(fit(*arguments, **settings))
        return found

    monkeypatch.setattr(module, "fit", told)
    run()
    assert torch.equal(torch.get_rng_state(), before)
    losses = torch.stack(found).reshape(len(found), -1).sum(1)
    np.testing.assert_allclose(losses[[0, 19]], expected, rtol=2e-4)
