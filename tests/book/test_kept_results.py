"""Kept results and the settings of the programs that make them belong together."""

import contextlib
from functools import wraps
from itertools import islice
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from evidence import (
    BEYOND,
    opened,
    opened_controls,
    opened_gap,
    opened_long,
    runs,
    small_models,
    transformer,
)
from manuscript import read_page
from pe_lib.experiments import kept, matrices, minilm, one_head, smollm, training
from pe_lib.experiments.attention import Intervention, causal_bias
from pe_lib.nn import RotaryEmbedding
from tests.experiments.helpers import tiny_smollm


def stale(name: str) -> str:
    """What contradicts a kept file, and what to do about it; or nothing."""
    command, now = runs.command(name), runs.settings_of(name, runs.runs_of(name))
    found = kept.contradictions(runs.path(name), command, now)
    return "\n".join([*found, f"Make it again: {command}"]) if found else ""


RATES = [f"rates/{name}" for name in runs.GROUPS]


@pytest.mark.parametrize("name", [*runs.RUNS, *RATES, *runs.WEIGHTS])
def test_kept_results_have_the_settings_of_now(name: str) -> None:
    """Command, steps, rates, seeds and sizes are those that made the file.

    And it says how far a rerun may be off.
    """
    assert not stale(name), stale(name)
    text = kept.load_header(runs.path(name))["tolerance"]
    found = tuple(float(x) for x in text.split() if x[0].isdigit())
    assert found == runs.TOLERANCES[name]


@pytest.mark.parametrize("name", [*runs.RUNS, *RATES])
def test_kept_results_are_complete(name: str) -> None:
    """Each scheme, seed and length has its row; no reported seed chose a rate."""
    path = runs.path(name)
    header = kept.load_header(path)
    assert header["versions"].startswith("Python 3.")
    assert header["machine"].endswith("1 thread(s)")
    found = kept.load(path)
    expected_runs = runs.rate_runs(path.stem) if name in RATES else runs.RUNS[name]
    assert list(found) == list(expected_runs)
    for run, settings in expected_runs.items():
        first = settings.get("first_seed", 0)
        if name not in RATES and isinstance(settings.get("rate"), dict):
            assert set(settings["rate"]) == set(settings["schemes"])
            assert set(settings["rate"].values()) <= set(runs.RATES)
        assert (name in RATES) == (first >= runs.REPORTED["seeds"])
        expected = [
            (scheme, seed, length, start)
            for scheme in settings["schemes"]
            for seed in range(first, first + settings["seeds"])
            for length in settings.get("test_lengths", (16,))
            for start in settings.get("test_starts", (0,))
        ]
        of_all = [r for r in found[run] if r.queries == "all"]
        assert [(r.scheme, r.seed, r.length, r.start) for r in of_all] == expected
        assert all(0 <= row.accuracy <= 1 for row in found[run])


def test_another_setting_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of a run, and constants of the modules that train."""
    changed = runs.RUNS["one_back"]["to_24"] | {"steps": 599}
    monkeypatch.setitem(runs.RUNS["one_back"], "to_24", changed)
    assert "to_24, steps: was 600, is 599" in stale("one_back")
    monkeypatch.setattr(runs.training, "RATE", 0.02)
    assert "constants, training.RATE: was 0.01, is 0.02" in stale("masked")
    monkeypatch.setattr(runs.stretched, "STEPS", 501)
    assert "constants, stretched.STEPS: was 500, is 501" in stale("stretched")


def test_a_stopped_run_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What lies in `parts` is not made again, unless its settings are others now."""
    small = {"task": "copy", "schemes": ["none"], "steps": 1, "seeds": 1}
    todo = {f"run {i}": small | {"first_seed": i} for i in range(3)}
    monkeypatch.setattr(runs, "EXPERIMENTS", tmp_path)
    monkeypatch.setitem(runs.TOLERANCES, "small", (0.1, 0.1, 0.1))
    monkeypatch.setitem(runs.RUNS, "small", todo)
    made = []

    @wraps(training.train)
    def train(**settings: Any) -> list[training.Score]:
        if len(made) == 2:
            raise InterruptedError
        made.append(settings["first_seed"])
        return training.train(**settings)

    monkeypatch.setattr(runs, "train", train)
    with pytest.raises(InterruptedError):
        runs.make("small")
    assert made == [0, 1]
    made.clear()
    todo["run 1"] = todo["run 1"] | {"steps": 2}
    runs.make("small")
    assert made == [1, 2]
    assert "3 of 3" in capsys.readouterr().out
    found = kept.load(tmp_path / "small.csv")
    assert [rows[0].seed for rows in found.values()] == [0, 1, 2]
    assert not stale("small")


def test_a_model_is_kept_in_one_piece(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As its page loads it, with four digits."""
    monkeypatch.setattr(runs, "EXPERIMENTS", tmp_path)
    few = runs.WEIGHTS["one_back_weights"] | {"steps": 1}
    monkeypatch.setitem(runs.WEIGHTS, "one_back_weights", few)
    runs.make("one_back_weights")
    weights = matrices.load(tmp_path / "one_back_weights.csv")
    for name, value in one_head.trained(**few).state_dict().items():
        assert (weights.pop(name) - value).abs().max() < 0.00006
    assert not weights and not stale("one_back_weights")


def test_a_file_says_how_it_was_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """On one thread, whatever there were; and all are made if none is named."""
    threads = torch.get_num_threads()
    rows = {"a": lambda: [["x"], ["1"]], "b": lambda: [["x"], ["2"]]}
    maker = SimpleNamespace(
        COMMAND="make", SETTINGS={}, TOLERANCES={"a": "0.1", "b": "0.2"}, **rows
    )
    monkeypatch.setattr(opened, "BEYOND", tmp_path)
    torch.set_num_threads(2)
    opened.make(maker, ["b"])
    header = kept.load_header(tmp_path / "b.csv")
    assert (header["command"], header["tolerance"]) == ("make b", "0.2")
    assert header["machine"].endswith(" 1 thread(s)")
    assert not (tmp_path / "a.csv").exists()
    opened.make(maker, [])
    torch.set_num_threads(threads)
    assert kept.load_rows(tmp_path / "a.csv") == [{"x": "1"}]


WHOLE_KEPT = BEYOND.parent / transformer.KEPT
MADE = [
    *(
        (BEYOND / f"{name}.csv", f"{maker.COMMAND} {name}", maker, tolerance)
        for maker in (opened, opened_controls, opened_gap, small_models)
        for name, tolerance in maker.TOLERANCES.items()
    ),
    (
        *(BEYOND / f"{opened_long.NAME}.csv", "python -m evidence.opened_long cuda"),
        *(opened_long, opened_long.TOLERANCE),
    ),
    (WHOLE_KEPT, transformer.COMMAND, transformer, transformer.TOLERANCE),
]


@pytest.mark.parametrize(("path", "command", "maker", "tolerance"), MADE)
def test_results_of_models_have_the_settings_of_now(
    path: Path, command: str, maker: ModuleType, tolerance: str
) -> None:
    """The models and the texts are those that made them."""
    assert not kept.contradictions(path, command, maker.SETTINGS), f"Again: {command}"
    assert kept.load_header(path)["tolerance"] == tolerance
    assert kept.load_rows(path)


@pytest.mark.parametrize("after", [0, 1])
def test_of_a_copy_each_word_but_the_last_is_asked(after: int) -> None:
    """Right at the last of these alone, it is right once in as many."""
    tokens, asked = 1 + torch.arange(2 * opened.WORDS)[None], opened.WORDS - 1
    logits = torch.zeros(1, tokens.shape[1], 1 + tokens.shape[1])
    logits[0, asked - 1, tokens[0, asked - 1 + after]] = 1
    share, _ = opened.of_logits(logits.expand(2, -1, -1), tokens, after)
    assert share == pytest.approx(1 / asked)


def test_a_mean_score_is_a_sum_of_cosines() -> None:
    """Of one pair it falls for half a turn, and held it is what it is there."""
    means = np.zeros(32, complex)
    means[23] = 2j
    omega = opened_gap.OLD[23]
    offsets = np.array([0, 1000, 8192, 20_000])
    expected = -2 * np.sin(omega * offsets)
    assert np.allclose(opened_gap.curve(means, offsets), expected)
    held = opened_gap.curve(means, offsets, held="22 23")
    assert np.allclose(held, expected[2])
    level = opened_gap.curve(means, offsets, held=opened_gap.ALL)
    biased = opened_gap.curve(means, offsets) + opened_gap.bias(means, offsets)
    assert np.allclose(biased, level) and np.allclose(level, expected[2])
    same = opened_gap.Condition(opened_gap.INSIDE)
    share = np.array(0.3)
    assert np.isclose(opened_gap.predicted(means, share, same), share)
    means[31] = -1e3  # a slow pair that rises all the way
    assert opened_gap.predicted(means, share, opened_gap.Condition()) > 0.5


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch) -> opened_gap.Window:
    """Of a tiny model: 40 words, and 24 that may be moved away."""
    model, text = tiny_smollm(), torch.arange(65) ** 2 % 19
    for module, name, value in (
        *((opened_gap, "FIRST", 40), (opened_gap, "SECOND", 24)),
        *((opened_gap, "SHAPE", model.shape), (opened_gap, "tokens", lambda _: text)),
        *((opened_long, "PIECE", 16), (opened_long, "loaded", lambda _: model)),
        (smollm, "load", lambda: model),
    ):
        monkeypatch.setattr(module, name, value)
    return opened_gap.Window("later", 0)


def losses_of(text: torch.Tensor, change: Intervention) -> np.ndarray:
    """Of the tiny model, with all scores at once."""
    logits = smollm.forward(smollm.load(), text[None, :-1], intervention=change)
    return cross_entropy(logits[0], text[1:], reduction="none").numpy()


@pytest.mark.parametrize(
    "told",
    [(0,), (7,), (7, "3 8-10", 50), (7, "0-31", 50, "first"), (7, "none", 0, "masked")],
)
def test_a_window_is_read_as_it_is_told(told: Any, window: opened_gap.Window) -> None:
    """Losses and attention, against a sum over pairs and offsets in one pass."""
    condition = opened_gap.Condition(*told)
    t, omega = torch.arange(64), smollm.load().shape.frequencies
    far = (t < 40) & (t[:, None] >= 40)
    angles = (t[:, None] - t + condition.gap * far)[..., None] * omega
    few = far & (t < 4) if condition.keys == "first" else far
    for j in opened_long.numbers(condition.held):
        angles[..., j][few] = condition.at * omega[j]
    heard, shares = [], []

    def change(*_: Any) -> torch.Tensor:
        q, k = (x.double()[0, ..., 0::2] + 1j * x[0, ..., 1::2] for x in heard[-2:])
        turned = torch.einsum("htj,hsj,tsj->hts", q, k.conj(), torch.exp(1j * angles))
        scores = turned.real / 8 + causal_bias(64)
        if condition.keys == "masked":
            scores[:, far] = -torch.inf
        shares.append(scores.softmax(-1)[:, 40:, 4:40].sum(-1).mean(-1))
        return scores.softmax(-1)[None].float()

    listening = Intervention(
        listen=lambda _, *told: heard.extend(told[:2]), change=change
    )
    expected = losses_of(window.text, listening)[40:]
    each, found = window.read(condition)
    assert np.abs(each - expected).max() < 1e-5
    assert np.abs(found - torch.stack(shares).numpy()).max() < 1e-5


def test_a_large_bias_hides_the_first_part(window: opened_gap.Window) -> None:
    """And none changes nothing; the first four keys are spared where it says so."""
    means = np.zeros((2, opened_gap.SHAPE.heads, 32), complex)

    def losses(keys: str) -> np.ndarray:
        return window.read(opened_gap.Condition(keys=keys), means)[0]

    usual = window.read(opened_gap.Condition())[0]
    assert np.abs(losses("biased") - usual).max() < 1e-3
    means[..., 31] = -1e6  # a slow pair that rises all the way
    hidden = window.read(opened_gap.Condition(keys="masked"))[0]
    assert np.abs(losses("biased") - hidden).max() < 1e-3
    assert np.abs(losses("biased but 4") - hidden).max() > 1e-2


def test_the_whole_transformer_is_that_of_the_page() -> None:
    """What was kept was trained by the cells that the page shows."""
    page = transformer.cells_before_the_run()
    assert {name: page[name] for name in transformer.RUN} == transformer.RUN
    assert transformer.cells_before_the_run(seed=2)["SEED"] == 2
    shapes = {name: loss.shape for name, loss in matrices.load(WHOLE_KEPT).items()}
    eighths = {"learned": transformer.RUN["LENGTH"] // 8}
    assert shapes == {
        name: (1, eighths.get(name, transformer.RUN["FAR"] // 8))
        for name in page["encodings"]()
    } | {
        way: (len(transformer.SEEDS), transformer.RUN["FAR"] // 8)
        for way in transformer.WAYS
    }


def run_of_the_page(page: dict[str, Any], mine: str) -> None:
    """Train, and hold it against the kept run, as if a reader had named this one."""
    cells = {
        c.id: c.source for c in read_page(transformer.PAGE.stem, transformer.PAGE).cells
    }
    assert 'mine = "ALiBi"' in cells["run"]
    with contextlib.chdir(transformer.PAGE.parent):
        exec(cells["run"].replace('"ALiBi"', repr(mine)), page)
        exec(cells["kept"], page)


@pytest.mark.parametrize("mine", ["none", "learned", "sinusoidal", "RoPE", "ALiBi"])
def test_a_model_of_the_reader_is_held_against_the_kept_one(mine: str) -> None:
    """If steps and seed are those; of others nothing is said."""
    page, kept_losses = transformer.cells_before_the_run(), matrices.load(WHOLE_KEPT)

    def run(off: float, **setting: int) -> None:
        losses = kept_losses[mine][0] + off
        fake = {"trained": lambda _: None, "by_position": lambda *_: losses}
        run_of_the_page(page | fake | setting, mine)

    run(0.1)
    run(1, SEED=1)
    run(1, STEPS=50)
    with pytest.raises(AssertionError):
        run(0.2)


def test_a_limited_rotation_has_the_scores_of_the_longest_offset() -> None:
    """Nearer keys have their own, and a masked one has none."""
    rotary, longest, n = RotaryEmbedding(8), 3, 6
    limited = transformer.Limited(rotary, longest)
    query, key = torch.randn(2, 1, 2, n, 8, generator=torch.Generator().manual_seed(0))
    q, k = rotary(query, key)
    scores = (q @ k.mT / 8**0.5 + limited(n))[0]
    hidden = transformer.Masked(longest)(n)
    for t in range(n):
        for s in range(t + 1):
            at = torch.tensor([min(t - s, longest)])
            turned = rotary.rotate(query[0, :, [t]], positions=at)
            expected = (turned * key[0, :, [s]]).sum((1, 2)) / 8**0.5
            assert torch.allclose(scores[:, t, s], expected, atol=1e-5)
            assert hidden[t, s] == (-torch.inf if t - s > longest else 0)


@pytest.mark.weekly
def test_all_five_are_trained_again() -> None:
    """As the page asserts; and limited offsets repair RoPE as in the kept run."""
    page = transformer.cells_before_the_run()
    for name in page["encodings"]():
        run_of_the_page(page, name)
    kept_losses = matrices.load(WHOLE_KEPT)
    for way, loss in zip(transformer.WAYS, transformer.three_ways(page), strict=True):
        of_seed = kept_losses[way][transformer.SEEDS.index(page["SEED"])]
        assert (loss - of_seed)[:4].abs().max() < 0.15
        assert (
            (loss[8:].mean() > 4)
            == (of_seed[8:].mean() > 4)
            == (way == transformer.WAYS[0])
        )


@pytest.mark.parametrize("pairs", [(), (3, 8, 22)])
def test_a_long_text_is_read_as_a_short_one_is(
    pairs: tuple[int, ...], window: opened_gap.Window
) -> None:
    """In pieces and with pairs held, it has the losses of a pass over all scores."""
    holding = small_models.holding(smollm.load().shape.frequencies, pairs, 20)
    expected = losses_of(window.text, holding)
    reader = opened_long.Reader(window.text)
    found = torch.cat([reader.losses()[:20], reader.losses(20, pairs, 20)])
    assert np.abs(found.numpy() - expected).max() < 1e-5


@pytest.mark.weekly
@pytest.mark.skipif(not smollm.WHEEL.exists(), reason="no SmolLM2: `make models`")
def test_the_first_block_of_a_long_text_is_made_again() -> None:
    """As trained, within the tolerance that the file says."""
    for row in kept.load_rows(BEYOND / f"{opened_long.NAME}.csv"):
        if row["rule"] == "as trained" and row["first"] == "0":
            tokens = opened_long.tokens(row["text"])[: opened_long.BLOCK + 1]
            found = opened_long.Reader(tokens).losses().mean()
            assert abs(float(found) - float(row["loss"])) < 0.02


AGAIN: list[tuple[ModuleType, str, int, dict[str, float]]] = [
    (opened, "smollm_heads", 270, {"one_back": 0.002}),
    (opened, "smollm_angles", 1, {"copied": 0.01, "loss": 0.01}),
    (opened_controls, "smollm_prose", 2, {"loss": 0.01, "above": 0.01}),
    (
        *(opened_controls, "minilm_heads", 12),
        {"rotations": 0.005, "size": 0.02, "largest": 0.02, "one_back": 0.02},
    ),
    (opened_gap, "smollm_gap", 2, {"loss": 0.02, "attention": 0.02}),
]
"""Makers, their files, how many rows are made again, and how far these may be off."""


@pytest.mark.weekly
@pytest.mark.skipif(not smollm.WHEEL.exists(), reason="no models: `make models`")
@pytest.mark.parametrize(("maker", "name", "count", "within"), AGAIN)
def test_the_first_rows_are_made_again(
    maker: ModuleType, name: str, count: int, within: dict[str, float]
) -> None:
    """Within the tolerance that the file says."""
    made, stored = getattr(maker, name)(), kept.load_rows(BEYOND / f"{name}.csv")
    assert next(made) == list(stored[0])
    for again, then in zip(islice(made, count), stored, strict=False):
        now = dict(zip(then, again, strict=True))
        for column, most in within.items():
            assert abs(float(now[column]) - float(then[column])) <= most, column


@pytest.mark.skipif(not minilm.WHEEL.exists(), reason="no MiniLM: `make models`")
def test_the_extract_is_made_byte_by_byte(tmp_path: Path) -> None:
    """From the wheel alone."""
    opened.minilm_extract(tmp_path)
    stored = (BEYOND / f"{opened.EXTRACT}.npz").read_bytes()
    assert (tmp_path / "minilm.npz").read_bytes() == stored
    assert len(stored) <= 300_000
