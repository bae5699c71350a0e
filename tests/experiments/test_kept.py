"""Kept results: they survive a file, and say which settings made them."""

import pytest

from pe_lib.experiments.kept import (
    by_scheme,
    contradictions,
    largest_gap,
    load,
    load_header,
    load_rows,
    save,
    save_rows,
)
from pe_lib.experiments.training import Score

ROWS = [Score("copy", "t5", 0, 16, 0.125), Score("copy", "a", 1, 8, 1.0)]
MADE = {
    "command": "python make.py",
    "settings": {"one": {"steps": 5, "lengths": (8, 16)}, "two: again": {"steps": 6}},
    "seconds": 3.2,
}


def test_scores_survive_a_file(tmp_path):
    path = tmp_path / "a.csv"
    save({"one": ROWS, "two": ROWS[:1]}, path, **MADE)
    assert load(path) == {"one": ROWS, "two": ROWS[:1]}
    header = load_header(path)
    assert header["command"] == "python make.py"
    assert header["settings"] == {
        "one": {"steps": 5, "lengths": [8, 16]},
        "two: again": {"steps": 6},
    }
    assert header["made"].endswith("in 3 seconds")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[6:10] == [
        '# "one": {"steps": 5, "lengths": [8, 16]}',
        '# "two: again": {"steps": 6}',
        "run,task,scheme,seed,length,accuracy",
        "one,copy,t5,0,16,0.1250",
    ]


def test_a_row_changed_by_hand_is_noticed(tmp_path):
    path = tmp_path / "a.csv"
    save({"one": ROWS}, path, **MADE)
    path.write_text(path.read_text().replace("0.1250", "0.9250"))
    for read in (load, load_rows, load_header):
        with pytest.raises(ValueError, match=r"path must hold the rows that were writ"):
            read(path)


def test_by_scheme_keeps_seeds_in_order_and_refuses_an_unknown_length():
    rows = [Score("copy", "a", seed, n, seed + n) for seed in (0, 1) for n in (8, 16)]
    rows += [
        Score("copy", "a", 0, 16, 0, start=5),
        Score("copy", "a", 0, 16, 0, 0, "old"),
    ]
    assert by_scheme(rows, 16)["a"].tolist() == [16, 17]
    with pytest.raises(ValueError, match=r"scores must have rows of length 9, .* none"):
        by_scheme(rows, 9)


def test_the_largest_gap_is_row_by_row():
    live = [Score("copy", "t5", 0, 16, 0.25), Score("copy", "a", 1, 8, 0.7)]
    assert largest_gap(live, ROWS) == pytest.approx(0.3)
    assert largest_gap(live[:1], ROWS) == pytest.approx(0.125)
    with pytest.raises(ValueError, match="kept must have the rows of live, got none"):
        largest_gap([Score("copy", "t5", 2, 16, 0.25)], ROWS)


# Whether a file is stale

RUN = {"task": "copy", "schemes": ["sinusoid", "t5"], "steps": 5, "rate": {"t5": 0.01}}


@pytest.fixture
def path(tmp_path):
    save_rows(
        [["a"], ["1"]], made := tmp_path / "a.csv", **MADE | {"settings": {"r": RUN}}
    )
    return made


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"task": "reverse"}, "r, task: was copy, is reverse"),
        ({"steps": 6}, "r, steps: was 5, is 6"),
        ({"seeds": 6}, "r, seeds: was None, is 6"),
        ({"rate": {"t5": 0.02}}, "r, rate: was {'t5': 0.01}, is {'t5': 0.02}"),
        ({"schemes": ["t5", "sinusoid"]}, "r, schemes: was"),
    ],
)
def test_every_setting_counts(path, change, told):
    (found,) = contradictions(path, MADE["command"], {"r": RUN | change})
    assert found.startswith(told)


def test_runs_and_the_command_count_and_nothing_else_does(path):
    same = {"r": RUN | {"schemes": tuple(RUN["schemes"])}}
    assert contradictions(path, MADE["command"], same) == []
    (found,) = contradictions(path, "python other.py", same)
    assert found == "made, command: was python make.py, is python other.py"
    for runs in ({}, {"r": RUN, "s": {"steps": 1}}):
        assert contradictions(path, MADE["command"], runs)
