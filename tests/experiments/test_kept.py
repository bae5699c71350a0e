"""Kept results: they survive a file, and say whether they still belong to the code."""

import re

import pytest

from pe_lib.experiments import kept, model
from pe_lib.experiments.kept import (
    by_scheme,
    largest_gap,
    load,
    load_header,
    save,
    training_fingerprint,
)
from pe_lib.experiments.schemes import Scheme, scaled_sinusoid
from pe_lib.experiments.training import Score

ROWS = [Score("copy", "t5", 0, 16, 0.125), Score("copy", "a", 1, 8, 1.0)]
MADE = {"command": "python make.py", "made_from": "abc", "seconds": 3.2}


def test_scores_survive_a_file(tmp_path):
    path = tmp_path / "a.csv"
    save({"one": ROWS, "two": ROWS[:1]}, path, **MADE)
    assert load(path) == {"one": ROWS, "two": ROWS[:1]}
    header = load_header(path)
    assert list(header) == [
        "command",
        "made",
        "versions",
        "machine",
        "code and settings",
        "rows",
    ]
    assert header["command"] == "python make.py"
    assert header["code and settings"] == "abc"
    assert header["made"].endswith("in 3 seconds")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[6:8] == [
        "run,task,scheme,seed,length,accuracy",
        "one,copy,t5,0,16,0.1250",
    ]


def test_a_row_changed_by_hand_is_noticed(tmp_path):
    path = tmp_path / "a.csv"
    save({"one": ROWS}, path, **MADE)
    path.write_text(path.read_text().replace("0.1250", "0.9250"))
    with pytest.raises(ValueError, match=r"path must hold the rows that were written"):
        load(path)


def test_by_scheme_keeps_seeds_in_order_and_refuses_an_unknown_length():
    rows = [Score("copy", "a", seed, n, seed + n) for seed in (0, 1) for n in (8, 16)]
    assert by_scheme(rows, 16)["a"].tolist() == [16, 17]
    with pytest.raises(ValueError, match=r"scores must have rows of length 9, .* none"):
        by_scheme(rows, 9)


def test_the_largest_gap_is_row_by_row():
    live = [Score("copy", "t5", 0, 16, 0.25), Score("copy", "a", 1, 8, 0.7)]
    assert largest_gap(live, ROWS) == pytest.approx(0.3)
    assert largest_gap(live[:1], ROWS) == pytest.approx(0.125)
    with pytest.raises(ValueError, match="kept must have the rows of live, got none"):
        largest_gap([Score("copy", "t5", 2, 16, 0.25)], ROWS)


# The fingerprint

RUN = {"task": "copy", "schemes": ["sinusoid", "t5"], "steps": 5}


def mark(**changes):
    return training_fingerprint({"run": RUN | changes})


@pytest.mark.parametrize(
    "change",
    [
        {"task": "reverse"},
        {"steps": 6},
        {"seeds": 6},
        {"layers": 2},
        {"spread": 64},
        {"token_std": 0.7},
        {"test_lengths": (16, 32)},
        {"train_lengths": (8, 23)},
        {"schemes": ["t5", "sinusoid"]},
        {"schemes": ["sinusoid", "alibi"]},
        {"schemes": {"sinusoid": scaled_sinusoid(1.01), "t5": Scheme(bias="t5")}},
        {"schemes": {"sinusoid": scaled_sinusoid(base=9_999), "t5": Scheme(bias="t5")}},
        {"schemes": {"sinusoid": scaled_sinusoid(), "t5": Scheme(rotary=True)}},
    ],
    ids=lambda change: re.sub(r" at 0x[0-9a-f]+", "", str(change)),
)
def test_every_setting_counts(change):
    assert mark(**change) != mark()


def test_only_what_decides_counts():
    named = {"sinusoid": scaled_sinusoid(), "t5": Scheme(bias="t5", label="T")}
    assert mark(schemes=named, seeds=5) == mark() == mark()


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("WIDER = 2", "WIDER = 3", False),
        ("One transformer of many members", "One model of many members", True),
        ("    codes: Tensor\n", "    codes: object  # by hand\n", True),
        (") -> Tensor:", ") -> object:", True),
        ("encoding must be finite", "encoding should be finite", True),
        ("import math\n", "import cmath\n", True),
    ],
)
def test_what_changes_a_row_counts_and_nothing_else_does(old, new, same, monkeypatch):
    before, read = mark(), kept.inspect.getsource
    assert old in read(model)
    monkeypatch.setattr(
        kept.inspect,
        "getsource",
        lambda module: (
            read(module).replace(old, new) if module is model else read(module)
        ),
    )
    assert (mark() == before) == same
