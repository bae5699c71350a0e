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


@pytest.mark.parametrize("name", [*runs.RUNS, *runs.WEIGHTS])
def test_kept_results_belong_to_the_code(name: str) -> None:
    """The code and the settings are those that made the file."""
    assert not stale(name), stale(name)


def test_every_kept_file_has_its_runs() -> None:
    """No file is left over from a run that nobody can make again."""
    assert {path.stem for path in DATA.glob("*.csv")} == {*runs.RUNS, *runs.WEIGHTS}


@pytest.mark.parametrize("name", runs.RUNS)
def test_kept_results_are_complete(name: str) -> None:
    """Each scheme, seed and length has its row; the lines above say what made them."""
    path = runs.path(name)
    header = kept.load_header(path)
    assert header["command"] == runs.command(name)
    assert header["versions"].startswith("Python 3.")
    assert header["machine"].endswith("1 thread(s)")
    found = kept.load(path)
    assert list(found) == list(runs.RUNS[name])
    for run, settings in runs.RUNS[name].items():
        expected = [
            (scheme, seed, length)
            for scheme in settings["schemes"]
            for seed in range(settings.get("seeds", 5))
            for length in settings.get("test_lengths", (16,))
        ]
        assert [(r.scheme, r.seed, r.length) for r in found[run]] == expected
        assert all(0 <= row.accuracy <= 1 for row in found[run])


def test_other_code_is_noticed_and_the_message_is_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A constant of the model, a setting and a lost file turn it red."""
    name = "bases"
    read = kept.inspect.getsource

    def other(module: Any) -> str:
        return read(module).replace("HEADS, HIDDEN = 2, 64", "HEADS, HIDDEN = 2, 65")

    with monkeypatch.context() as patch:
        patch.setattr(kept.inspect, "getsource", other)
        assert stale(name).endswith("python book/experiments/data/runs.py bases")
    with monkeypatch.context() as patch:
        changed = {run: s | {"steps": 301} for run, s in runs.RUNS[name].items()}
        patch.setitem(runs.RUNS, name, changed)
        assert stale(name)
    with monkeypatch.context() as patch:
        patch.setattr(runs, "FOLDER", DATA / "nowhere")
        assert stale(name)
    assert not stale(name)
