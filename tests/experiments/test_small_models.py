"""Pairs that are held: their scores, which they are, and a part of the kept run."""

import numpy as np
import pytest
import torch

from evidence import small_models
from pe_lib.experiments import kept, stretched
from tests.experiments.helpers import DATA, generator


def test_a_held_pair_has_the_angle_of_the_longest_offset():
    """Scores of a head of three pairs, against a sum over pairs and offsets."""
    n, longest, pairs = 12, 4, [0, 2]
    omega = np.array([1.0, 0.3, 0.05])
    query, key = torch.randn(2, n, 6, generator=generator(0))
    hold = small_models.holding(omega, pairs, longest)
    hold.listen(0, query, key, None)
    found = hold.change(0, torch.zeros(n, n))
    q, k = (x.double().numpy().reshape(n, 3, 2) @ [1, 1j] for x in (query, key))
    for t in range(n):
        scores = np.zeros(t + 1)
        for s in range(t + 1):
            offsets = np.full(3, t - s)
            offsets[pairs] = min(t - s, longest)
            scores[s] = (q[t] * k[s].conj() * np.exp(1j * offsets * omega)).real.sum()
        weights = np.exp(scores / 6**0.5)
        assert np.abs(found[t, : t + 1].numpy() - weights / weights.sum()).max() < 1e-6
        assert not found[t, t + 1 :].any()


def test_means_predict_what_holding_a_pair_does():
    """Heads of one pair whose keys and queries never vary, each of them another."""
    frequencies, longest, n = np.zeros(small_models.PAIRS), 5, 12
    frequencies[0] = 0.4
    own = {"lag": 3, "needle": 2 + 1j, "others": 2 - 2j, "needles": 1 + 3j}
    mean = {name: np.zeros((1, 1, small_models.PAIRS), complex) for name in own}
    for name, value in own.items():
        mean[name][..., 0] = value
    for pairs in ([], [0]):
        at = np.where(np.arange(n) > longest, longest, np.arange(n))
        turned = np.exp(0.4j * (at if pairs else np.arange(n))) / 32**0.5

        def weights(query: str, key: str, turned=turned) -> np.ndarray:
            return np.exp((own[query] * np.conj(own[key]) * turned).real)

        near, found = small_models.predicted(mean, frequencies, n, pairs, longest)
        lag, rest = weights("lag", "others"), weights("needle", "others")[:-1]
        needle = weights("needle", "needles")[-1]
        assert near == pytest.approx(lag[: longest + 1].sum() / lag.sum())
        assert found == pytest.approx(needle / (needle + rest.sum()))


def test_a_model_of_each_kind_has_its_rows():
    """For each length and task each pair, and all; holding all cures nearly all."""
    rows = kept.load_rows(DATA.parents[1] / "beyond/data/small_models_held.csv")
    keys = ("longest", "base", "times", "pair", "task")
    pairs = [*map(str, range(small_models.PAIRS)), "all"]
    kinds = [(str(longest), str(base)) for longest, base in small_models.KINDS]
    assert [tuple(row[key] for key in keys) for row in rows] == [
        (*kind, str(times), pair, task)
        for kind in kinds
        for times in small_models.TIMES
        for pair in pairs
        for task in stretched.TASKS
    ]
    left = [float(r["loss"]) - float(r["gain"]) for r in rows if r["pair"] == "all"]
    assert max(left) < 0.1


@pytest.mark.weekly
def test_a_part_of_the_kept_run_is_made_again(monkeypatch):
    """One kind at one length, with two seeds of five and other texts."""
    for name, value in (("KINDS", small_models.KINDS[:1]), ("SEEDS", range(70, 72))):
        monkeypatch.setattr(small_models, name, value)
    monkeypatch.setattr(small_models, "TIMES", (3,))
    head, *rows = small_models.small_models_held()
    for task in stretched.TASKS:
        own = [dict(zip(head, row, strict=True)) for row in rows if task in row]
        predicted, gain = (
            [float(row[name]) for row in own if row["pair"] != "all"]
            for name in ("predicted", "gain")
        )
        assert np.corrcoef(predicted, gain)[0, 1] > 0.6
