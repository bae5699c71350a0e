"""A text on two processes is the text on one; a run that takes too long is stopped.

The short version of tools/machines/start.py: torchrun, gloo, two processes, seconds.
"""

import csv
import subprocess
import sys
from pathlib import Path

import ring
import shards

from pe_lib.experiments import kept

ROOT = Path(__file__).parents[2]
START = ROOT / "tools/machines/start.py"


def start(*options):
    """Exit status, what it printed, what it complained of."""
    done = subprocess.run(
        [sys.executable, START, "--ranks=2", "--limit=120", *options],
        capture_output=True, text=True, timeout=150, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def test_two_processes_agree_with_one_and_slips_are_noticed():
    """Forward and gradients, four schemes, two cuts, two documents."""
    status, printed, complaint = start("--lengths=24,40")
    assert (status, complaint) == (0, "")
    rows = [line.split() for line in printed.splitlines()[2:-1]]
    assert len(rows) == 4 * 2 * 4
    for scheme, order, *numbered, forward, gradients, test in rows:
        name = " ".join(numbered)
        forgiven = name == "not reset" and scheme != "sinusoid"
        for gap in (float(forward), float(gradients)):
            assert gap < 1e-5 if name == "right" or forgiven else gap > 0.1, order
        assert test == ("green" if name == "right" else "red")


def test_a_run_that_takes_too_long_is_stopped():
    status, printed, complaint = start("--limit=0.5")
    assert (status, printed) == (2, "")
    assert complaint == "2 ranks did not end within 0.5 s: all were stopped.\n"


def test_the_kept_files_belong_to_these_programs():
    """Made by these programs; and all that they say holds in them."""
    made_from = kept.fingerprint({}, ring, shards)
    for name in ("agreement", "cost"):
        text = (ROOT / f"book/beyond/data/{name}.csv").read_text()
        assert f"# made from {made_from}\n" in text, (
            "python tools/machines/start.py --keep"
        )
    lines = (ROOT / "book/beyond/data/agreement.csv").read_text().splitlines()
    rows = list(csv.DictReader(line for line in lines if line[0] != "#"))
    assert len(rows) == 2 * 4 * 2 * 4
    for row in rows:
        assert row["finite"] == "True"
        assert (row["noticed"] == "True") == (row["positions"] != "right")
        if row["positions"] == "right":
            assert max(float(row["forward"]), float(row["gradients"])) < 1e-5
