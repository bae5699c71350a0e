"""Kept results and the code that made them belong together."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pe_lib.experiments import kept

DATA = Path(__file__).parents[2] / "book/experiments/data"


def load_runs() -> ModuleType:
    """The module that makes the kept files."""
    spec = importlib.util.spec_from_file_location("kept_runs", DATA / "runs.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["kept_runs"] = module
    spec.loader.exec_module(module)
    return module


runs = load_runs()


def stale(name: str) -> str:
    """What to do about a kept file that does not belong to its code, or nothing."""
    path = runs.path(name)
    now = runs.made_from(name)
    if path.exists() and kept.load_header(path).get("code and settings") == now:
        return ""
    return f"{path.name} was not made by this code. Make it again: {runs.command(name)}"


RATES = [f"rates/{name}" for name in runs.GROUPS]


@pytest.mark.parametrize("name", [*runs.RUNS, *RATES, *runs.TEXTS, *runs.WEIGHTS])
def test_kept_results_belong_to_the_code(name: str) -> None:
    """The code and the settings are those that made the file."""
    assert not stale(name), stale(name)


def test_every_kept_file_has_its_runs() -> None:
    """No file is left over from a run that nobody can make again."""
    known = {*runs.RUNS, *runs.TEXTS, *runs.WEIGHTS, "threads"}
    assert {path.stem for path in DATA.glob("*.csv")} == known
    assert {path.stem for path in (DATA / "rates").iterdir()} == {*runs.GROUPS}


@pytest.mark.parametrize("name", [*runs.RUNS, *RATES])
def test_kept_results_are_complete(name: str) -> None:
    """Each scheme, seed and length has its row; the lines above say what made them."""
    path = runs.path(name)
    header = kept.load_header(path)
    assert header["command"] == runs.command(name)
    assert header["versions"].startswith("Python 3.")
    assert header["machine"].endswith("1 thread(s)")
    found = kept.load(path)
    expected_runs = runs.rate_runs(path.stem) if name in RATES else runs.RUNS[name]
    assert list(found) == list(expected_runs)
    for run, settings in expected_runs.items():
        first = settings.get("first_seed", 0)
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


@pytest.mark.parametrize("name", [*runs.RUNS, *RATES, *runs.TEXTS, *runs.WEIGHTS])
def test_the_head_says_how_far_a_rerun_may_be_off(name: str) -> None:
    """It says what the program says, and what was made again lies within."""
    tolerance = runs.TOLERANCES[name]
    said = kept.load_header(runs.path(name))["tolerance"]
    assert tuple(float(x) for x in said.split() if x[0].isdigit()) == tolerance
    again = [r for r in kept.load_rows(runs.path("threads")) if r["file"] == name]
    assert {row["code and settings"] for row in again} == {runs.made_from(name)}
    for row in again:
        found = [float(row[what]) for what in ("trained", "longer", "mean")]
        assert all(x <= most for x, most in zip(found, tolerance, strict=True)), row


def test_other_code_is_noticed_and_the_message_is_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A constant of the model, a setting and a lost file turn it red."""
    name = "start_token"
    read = kept.inspect.getsource

    def other(module: Any) -> str:
        return read(module).replace("WIDER = 2", "WIDER = 3")

    with monkeypatch.context() as patch:
        patch.setattr(kept.inspect, "getsource", other)
        assert stale(name).endswith("python book/experiments/data/runs.py start_token")
    with monkeypatch.context() as patch:
        changed = {run: s | {"steps": 601} for run, s in runs.RUNS[name].items()}
        patch.setitem(runs.RUNS, name, changed)
        assert stale(name)
    with monkeypatch.context() as patch:
        patch.setattr(runs, "FOLDER", DATA / "nowhere")
        assert stale(name)
    assert not stale(name)


@pytest.mark.parametrize("name", runs.GROUPS)
def test_no_reported_seed_chose_a_rate(name: str) -> None:
    """The rates are the best ones of other seeds, and all runs have ten seeds."""
    chose = {
        r.seed for rows in kept.load(runs.path(f"rates/{name}")).values() for r in rows
    }
    assert not chose & set(range(runs.REPORTED["seeds"]))
    for settings in runs.RUNS[name].values():
        assert set(settings["rate"]) == set(settings["schemes"])
        assert set(settings["rate"].values()) <= set(runs.RATES)


def test_a_stopped_run_goes_on_and_processes_share_the_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What lies in `parts` is not made again; the second of two joins nothing."""
    small = {"task": "copy", "schemes": ["none"], "steps": 1, "seeds": 1}
    todo = {f"run {i}": small | {"first_seed": i} for i in range(3)}
    monkeypatch.setattr(runs, "FOLDER", tmp_path)
    monkeypatch.setattr(runs, "made_from", lambda _: "here")
    made = []
    monkeypatch.setattr(runs, "train", lambda **s: made.append(s) or kept.train(**s))
    monkeypatch.setattr(runs, "WORLD", 2)
    monkeypatch.setattr(runs, "RANK", 1)

    def enough(_: float) -> None:
        raise TimeoutError

    monkeypatch.setattr(runs.time, "sleep", enough)
    with pytest.raises(TimeoutError):  # it waits for the other one's runs
        runs.make_file("small", todo)
    assert [s["first_seed"] for s in made] == [1]
    monkeypatch.setattr(runs, "RANK", 0)
    runs.make_file("small", todo)
    assert [s["first_seed"] for s in made] == [1, 0, 2]
    assert "3 of 3" in capsys.readouterr().out
    found = kept.load(tmp_path / "small.csv")
    assert [rows[0].seed for rows in found.values()] == [0, 1, 2]
