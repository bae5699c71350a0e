"""The first steps of each kind of training are those of the rows that are kept."""

import numpy as np
import pytest
import torch

from evidence import runs
from pe_lib.experiments import induction, one_head, stretched, training
from pe_lib.experiments.loop import fit
from pe_lib.experiments.tasks import TASKS, after_a_start

OF_TASKS = {  # what is not "copy" with one seed of rotary, and two of its losses
    "learned": ({"schemes": ["learned"]}, [3.17322, 2.99401]),
    "T5": ({"schemes": ["t5_fast"], "layers": 2}, [3.39890, 2.96592]),
    "seed": ({"first_seed": 7}, [2.94136, 2.98433]),
    "rates": (
        {"schemes": ["none", "alibi"], "rate": {"none": 0.01, "alibi": 0.03}},
        [6.17345, 5.71702],
    ),
    "examples": ({"train_lengths": (16, 16), "examples": 8}, [3.30692, 2.57298]),
    "starts": ({"schemes": ["sinusoid"], "train_starts": 30}, [3.17040, 2.99970]),
    "hands": (
        {"schemes": {name: runs.HANDS[name] for name in ("seen_5", "unseen_2")}},
        [6.28528, 5.92754],
    ),
    "start token": ({"task": after_a_start(TASKS["place"])}, [2.67259, 2.70102]),
}
OTHERS = {
    "one head": (one_head, one_head.trained, ("added", 2), [2.81387, 2.65831]),
    "rotary head": (one_head, one_head.trained, ("rotary", 2), [2.80703, 2.63369]),
    "readers": (stretched, stretched.trained, (1e4, [2, 5]), [6.21951, 5.69544]),
    "sinusoid": (induction, induction.train, (2,), [5.99969, 5.23946]),
}


def losses_of(module, run, monkeypatch):
    """Of the first step and the twentieth; torch's own random state stays."""
    found, before = [], torch.get_rng_state()

    def told(*arguments, **settings):
        found.extend(fit(*arguments, **settings))
        return found

    monkeypatch.setattr(module, "fit", told)
    run()
    assert torch.equal(torch.get_rng_state(), before)
    return torch.stack(found).reshape(len(found), -1).sum(1)[[0, 19]]


@pytest.mark.parametrize("name", OF_TASKS)
def test_losses_of_tasks(name, monkeypatch):
    change, expected = OF_TASKS[name]
    usual = {"task": "copy", "schemes": ["rotary"], "seeds": 1, "steps": 20}
    given = usual | {"test_lengths": (24,)} | change
    losses = losses_of(training, lambda: training.train(**given), monkeypatch)
    np.testing.assert_allclose(losses, expected, rtol=2e-4)


@pytest.mark.parametrize("name", OTHERS)
def test_losses_of_others(name, monkeypatch):
    module, train, arguments, expected = OTHERS[name]
    losses = losses_of(module, lambda: train(*arguments, steps=20), monkeypatch)
    np.testing.assert_allclose(losses, expected, rtol=2e-4)
