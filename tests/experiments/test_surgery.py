"""Two layers, opened and operated on."""

from pathlib import Path

import numpy as np
import pytest
import torch

from pe_lib import angular_frequencies, shift_matrix
from pe_lib.experiments import induction, kept, matrices, surgery
from pe_lib.experiments.induction import Settings, TwoLayers

DATA = Path(__file__).parents[2] / "book/experiments/data"


@pytest.fixture(scope="module")
def model() -> TwoLayers:
    """The kept model of the chapter."""
    weights = matrices.load(DATA / "dial_weights.csv")
    return induction.made_of(weights, Settings())


def test_hands_of_a_shift_and_back() -> None:
    """T(k) has sizes 1 and phases k omega; of_hands builds it; rests are not seen."""
    for k in (-1, 0, 2):
        T = shift_matrix(k, 8)
        sizes, phases = surgery.hands_of(5 * T)
        assert np.abs(sizes - 5).max() < 1e-12
        assert np.abs(phases - k * angular_frequencies(8)).max() < 1e-12
        assert np.abs(surgery.of_hands(sizes, phases) - 5 * T).max() < 1e-12
    W = np.random.default_rng(0).standard_normal((8, 8))
    rest = W - surgery.of_hands(*surgery.hands_of(W))
    assert surgery.hands_of(rest)[0].max() < 1e-12 < np.abs(rest).max()


def test_operations_are_those_that_the_names_say(model: TwoLayers) -> None:
    """Parts add up; sizes or phases are kept."""
    done = surgery.surgeries(model)
    assert tuple(done) == surgery.HEADS
    heads = {name: operation.head for name, operation in done.items()}
    W = induction.head_matrix(model)
    assert np.abs(heads["turning"] + heads["rest"] - W).max() < 1e-12
    assert heads["as trained"] is None and not heads["zero"].any()
    sizes, phases = surgery.hands_of(W)
    for name, hands in (("three hands", 3), ("one hand", 1)):
        found = surgery.hands_of(heads[name])[0]
        assert np.abs(found[:hands] - sizes[:hands]).max() < 1e-12
        assert not found[hands:].any()
    for name in ("phases of T(1)", "random phases"):
        found, angles = surgery.hands_of(heads[name])
        assert np.abs(found - sizes).max() < 1e-12
        assert np.abs(angles - phases).max() > 0.1
    assert np.abs(angles).max() > 2
    assert np.array_equal(heads["30 T(3)"], 30 * shift_matrix(3, 32))
    assert done["repaired"].deaf and done["repaired"].blind


def test_what_is_kept_is_what_the_code_gives(model: TwoLayers) -> None:
    """Shares and tables of seed 0, from its kept weights."""
    rows = kept.load(DATA / "dial.csv")
    texts = surgery.test_texts(128, 0)
    for name in ("as trained", "three hands", "30 T(1)", "repaired"):
        share = surgery.share_named(model, texts, surgery.surgeries(model)[name])
        row = kept.by_scheme(rows["starts 0 to 500"], 128)[name][0]
        assert abs(share - row) < 0.01
    found = (surgery.looks_back(model, texts) == 1).mean()
    row = kept.by_scheme(rows["starts 0 to 500: looks"], 128)["as trained"][0]
    assert abs(found - row) < 0.01
    tables = matrices.load(DATA / "dial_tables.csv")
    W = induction.head_matrix(model)
    assert np.abs(tables["head 0"].numpy() - W).max() < 0.01


def test_a_run_that_was_broken_off_goes_on(tmp_path: Path) -> None:
    """What is trained is taken from the folder; rows are in the order asked for."""
    heads = ["30 T(1)", "as trained"]
    wanted = {"seeds": 2, "test_lengths": (24, 32), "model": {"steps": 2}}
    first = surgery.measure(heads, **wanted, folder=tmp_path / "models")
    files = sorted((tmp_path / "models").iterdir())
    assert len(files) == 2
    stamps = [path.stat().st_mtime_ns for path in files]
    again = surgery.measure(heads, **wanted, folder=tmp_path / "models")
    assert again == first == surgery.measure(heads, **wanted)
    assert stamps == [path.stat().st_mtime_ns for path in files]
    assert [(row.scheme, row.seed, row.length) for row in first] == [
        (head, seed, n) for head in heads for seed in (0, 1) for n in (24, 32)
    ]
    tables = surgery.tables(2, model={"steps": 2})
    assert tables["right"].shape == (2, 2) and tables["map 0"].shape == (24, 24)
    assert torch.allclose(tables["words"].sum(1), torch.ones(2, dtype=torch.float64))


def test_unknown_names_are_refused() -> None:
    """Before anything is trained."""
    with pytest.raises(ValueError, match=r"schemes must be .*'T'"):
        surgery.measure(["T"], seeds=1, test_lengths=(32,))
    with pytest.raises(ValueError, match=r"what must be .*'sees'"):
        surgery.measure(["zero"], seeds=1, test_lengths=(32,), what="sees")
