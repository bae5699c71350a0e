"""Training: fair, reproducible, and refused where it makes no sense."""

import itertools

import numpy as np
import pytest
import torch

from pe_lib.experiments import training
from pe_lib.experiments.kept import by_scheme
from pe_lib.experiments.schemes import SCHEMES, Scheme
from pe_lib.experiments.tasks import TASKS, Task
from pe_lib.experiments.training import fit_ensemble, train
from tests.experiments.helpers import LENGTH, ensemble


def test_a_member_alone_trains_as_in_company():
    """But for rounding: a product of more members may add in another order."""
    alone = ensemble("sinusoid", seeds=1)
    company = ensemble("none", "sinusoid", "alibi", seeds=3)
    for model in (alone, company):
        fit_ensemble(model, 5, (LENGTH, LENGTH))
    for name, parameter in alone.named_parameters():
        other = dict(company.named_parameters())[name]
        # Adam's first steps follow the sign of a gradient: near 0 it may be noise.
        close = (parameter[0] - other[3]).abs() < 1e-3
        assert close.float().mean() > 0.98, name
        if name.startswith("maps"):
            assert (parameter[0] - other[4]).abs().max() > 0.1  # another seed


def test_every_seed_sees_sequences_of_its_own_and_every_step_new_ones():
    model = ensemble("none", seeds=3)
    seen = []
    model.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    fit_ensemble(model, 2, (LENGTH, LENGTH))
    drawn = [rows for step in seen for rows in step]
    assert len(drawn) == 6
    assert not any(torch.equal(a, b) for a, b in itertools.combinations(drawn, 2))


def test_each_share_is_of_the_queries_that_were_asked():
    """Of 32 tokens 21 inside and 8 beyond have an answer."""
    rows = train("copy", ["none"], steps=1, test_lengths=(32,), by_query=True)
    share = {row.queries: row.accuracy for row in rows if row.seed == 0}
    mean = (21 * share["inside"] + 8 * share["beyond"]) / 29
    assert share["all"] == pytest.approx(mean)


def accuracies(rows):
    return [row.accuracy for row in rows]


def test_examples_are_drawn_again_with_their_answers():
    tokens = torch.arange(2 * 5 * 3).view(2, 5, 3)
    random = [torch.Generator().manual_seed(seed) for seed in (1, 2)]
    drawn, answers = training._some_of((tokens, 10 * tokens), random)
    assert torch.equal(answers, 10 * drawn)
    first, other = drawn.flatten(1)
    assert first.max() < 15 <= other.min()  # each seed's own
    assert len(first.unique()) > 3 and not torch.equal(first + 15, other)


def test_the_same_call_gives_the_same_bits():
    torch.manual_seed(123)
    settings = {"steps": 5, "seeds": 2, "test_lengths": (16, 24)}
    first = train("copy", ["sinusoid", "learned", "t5"], **settings)
    torch.manual_seed(456)
    again = train("copy", ["sinusoid", "learned", "t5"], **settings)
    assert first == again
    assert len(set(accuracies(first))) > 6  # seeds, schemes and lengths differ
    longer = train("copy", ["sinusoid", "learned", "t5"], **settings | {"steps": 6})
    assert accuracies(longer) != accuracies(first)


def test_rows_come_in_order_and_a_new_scheme_is_welcome():
    schemes = {"mine": Scheme(lambda n, _: np.zeros((n, 32))), "none": SCHEMES["none"]}
    rows = train("order", schemes, steps=3, seeds=2, test_lengths=(16, 8))
    assert [(r.scheme, r.seed, r.length) for r in rows] == [
        (scheme, seed, length)
        for scheme in ("mine", "none")
        for seed in (0, 1)
        for length in (16, 8)
    ]
    assert {r.task for r in rows} == {"order"}
    halves = by_scheme(rows, 8)
    np.testing.assert_array_equal(halves["mine"], halves["none"])  # 0 changes nothing


def test_a_new_task_is_welcome():
    def always_three(length, count, generator):
        tokens = torch.randint(16, (count, length), generator=generator)
        return tokens, torch.full((count,), 3)

    task = Task("three", "which?", 2, pooled=True, sequences=always_three)
    rows = train(task, ["none"], steps=60, seeds=1)
    assert [(row.task, row.accuracy) for row in rows] == [("three", 1.0)]
    assert task.name not in TASKS


def test_positions_reach_training_and_tests():
    """A learned table is trained at all positions; and tests ask at other ones."""
    model = ensemble("learned", longest=40)
    before = model.table.detach().clone()
    fit_ensemble(model, 60, (LENGTH, LENGTH), starts=31)
    assert ((model.table - before).abs().sum(-1) > 0).all()
    usual, later = (training.answers_at(model, LENGTH, at)[0] for at in (0, 20))
    assert not torch.equal(later, usual)
