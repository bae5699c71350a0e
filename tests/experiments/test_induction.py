"""Two layers that repeat a passage: the texts, the model, its training, its changes."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from pe_lib import shift_matrix, sinusoidal_table
from pe_lib.experiments import induction, kept, matrices
from pe_lib.experiments.attention import Intervention
from pe_lib.experiments.induction import TwoLayers
from pe_lib.experiments.model import score_matrix
from pe_lib.experiments.rotations import sizes_and_angles
from tests.experiments.helpers import DATA, generator
from tests.experiments.two_softmaxes import two_softmaxes


@pytest.mark.parametrize("n", [24, 32, 128])
def test_one_passage_comes_twice_and_no_other_word(n: int) -> None:
    """Asked are the words of the second time but the last, where the word is known."""
    texts = induction.passages(n, 200, generator())
    sizes = set()
    for words, match in zip(texts.words.tolist(), texts.match.tolist(), strict=True):
        matched = [t for t in range(n) if match[t] >= 0]
        twice = [t for t in range(n) if words.index(words[t]) < t]
        assert twice[:-1] == matched
        assert twice == list(range(twice[0], twice[-1] + 1))
        for t in matched:
            assert match[t] == words.index(words[t])
            assert words[match[t] + 1] == words[t + 1]
        assert words.index(words[twice[0]]) + len(twice) <= twice[0]
        sizes.add(len(twice))
    assert sizes == set(range(4, 13))


def weights_of(
    model: TwoLayers, words: torch.Tensor, at: int, intervention: Intervention
) -> list[torch.Tensor]:
    """What a listener is given: the weights of both layers."""
    found = []
    told = replace(intervention, listen=lambda *heard: found.append(heard[-1][0]))
    with torch.no_grad():
        model.logits(words, at, told)
    return found


def test_the_model_is_two_softmaxes_in_a_row() -> None:
    """Against NumPy, with and without another matrix between the codes."""
    model = TwoLayers(generator())
    words = torch.randperm(128, generator=generator(1))[:9]
    m, P = induction.products(model), sinusoidal_table(12, 32)[3:]
    for W in (None, np.random.default_rng(0).standard_normal((32, 32))):
        *expected, logits = two_softmaxes(m, words, P, W)
        changed = Intervention(between_codes=W)
        with torch.no_grad():
            found, each = (
                model.logits(words[None], start, changed)[0].numpy()
                for start in (3, torch.full((1, 1), 3))
            )
        assert np.abs(found - logits).max() < 1e-4
        assert np.array_equal(found, each)
        told = weights_of(model, words[None], 3, changed)
        for weights, right in zip(told, expected, strict=True):
            assert np.abs(weights[0, 0].numpy() - right).max() < 1e-5


# Changed


@pytest.fixture(scope="module")
def model() -> TwoLayers:
    """The kept model of the chapter."""
    weights = matrices.load(DATA / "dial_weights.csv")
    return induction.made_of(weights)


def test_operations_are_those_that_the_names_say(model: TwoLayers) -> None:
    """Parts add up; sizes or phases are kept."""
    done = induction.interventions(model)
    assert tuple(done) == induction.HEADS
    heads = {name: change.between_codes for name, change in done.items()}
    W = score_matrix(model)
    assert np.abs(heads["rotations"] + heads["residual"] - W).max() < 1e-12
    assert heads["as trained"] is None and not heads["zero"].any()
    sizes, phases = sizes_and_angles(W)
    for name, hands in (("three hands", 3), ("one hand", 1)):
        found = sizes_and_angles(heads[name])[0]
        assert np.abs(found[:hands] - sizes[:hands]).max() < 1e-12
        assert not found[hands:].any()
    for name in ("phases of T(1)", "random phases"):
        found, angles = sizes_and_angles(heads[name])
        assert np.abs(found - sizes).max() < 1e-12
        assert np.abs(angles - phases).max() > 0.1
    assert np.abs(angles).max() > 2
    assert np.array_equal(heads["30 T(3)"], 30 * shift_matrix(3, 32))


def test_what_is_kept_is_what_the_code_gives(model: TwoLayers) -> None:
    """Shares of seed 0, from its kept weights."""
    rows = kept.load(DATA / "dial.csv")
    texts = induction.test_texts(128, 0)
    for name in ("as trained", "three hands", "30 T(1)"):
        share = induction.share_predicted(
            model, texts, induction.interventions(model)[name]
        )
        row = kept.by_scheme(rows["starts 0 to 500"], 128)[name][0]
        assert abs(share - row) < 0.01


def test_tables_are_those_that_are_kept(
    model: TwoLayers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of seed 0, with its kept weights in the place of training; but for the start."""
    trained = [model.matrices()] * 2
    monkeypatch.setattr(induction, "_trained", lambda *_: trained)
    made = induction.tables(1, steps=1)
    then = matrices.load(DATA / "dial_tables.csv")
    assert (made["head 0"] - then["head 0"]).abs().max() < 0.01
    assert abs(made["right"][0, -1] - then["right"][0, -1]) < 0.01
    assert (made["misses"][0] - then["misses"][0]).abs().max() < 2.5
    assert (made["map 1"] - then["map 1000"]).abs().max() < 0.01


def test_the_word_that_is_counted_can_be_another(model: TwoLayers) -> None:
    """With 30 T(2) it is the second after the match."""
    texts = induction.test_texts(32, 0)
    change = induction.interventions(model)["30 T(2)"]
    shares = [induction.share_predicted(model, texts, change, after=k) for k in (1, 2)]
    assert shares[0] < 0.1 < 0.9 < shares[1]


def test_rows_are_in_the_order_asked_for() -> None:
    """Heads, then seeds, then lengths; tables have a row for each seed."""
    heads, wanted = ["30 T(1)", "as trained"], {"seeds": 2, "test_lengths": (24, 32)}
    rows = induction.measure(heads, **wanted, steps=2)
    assert [(row.scheme, row.seed, row.length) for row in rows] == [
        (head, seed, n) for head in heads for seed in (0, 1) for n in (24, 32)
    ]
    assert rows != induction.measure(heads, **wanted, steps=2, after=2)
    tables = induction.tables(2, steps=2)
    assert tables["right"].shape == (2, 2) and tables["map 0"].shape == (24, 24)
