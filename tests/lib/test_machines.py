"""A text on two processes is the text on one; what goes wrong is said, and ends.

The short version of tools/machines/start.py: torchrun, gloo, two processes, seconds.
"""

import csv
import runpy
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
START = ROOT / "tools/machines/start.py"


def start(*options, port=None):
    """Exit status, what it printed, what it complained of."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = port or probe.getsockname()[1]
    done = subprocess.run(
        [sys.executable, START, "--ranks=2", f"--port={port}", "--limit=120", *options],
        capture_output=True, text=True, timeout=150, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def test_two_processes_agree_with_one_and_slips_are_noticed():
    """Forward and gradients, four schemes, two cuts, two documents."""
    status, said, complaint = start("--lengths=24,40")
    assert (status, complaint) == (0, "")
    rows = [line.split() for line in said.splitlines()[2:-1]]
    assert len(rows) == 4 * 2 * 4
    for scheme, order, *numbered, forward, gradients, test in rows:
        name = " ".join(numbered)
        forgiven = name == "not reset" and scheme != "sinusoid"
        for gap in (float(forward), float(gradients)):
            assert gap < 1e-5 if name == "right" or forgiven else gap > 0.1, order
        assert test == ("green" if name == "right" else "red")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--fail=kill"], "Rank 1 was killed (SIGKILL); the others were stopped, and"),
        (["--fail=hang", "--timeout=3"], "Rank 0 waited 3 s for a neighbour that did"),
        (["--lengths=24,5"], "The text cannot be cut for 2 ranks: length must be a"),
    ],
)
def test_what_fails_ends_with_one_sentence(options, sentence):
    status, said, complaint = start(*options)
    assert (status, said) == (2, "")
    assert complaint.startswith(sentence) and complaint.count("\n") == 1


def test_a_port_in_use():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        status, _, complaint = start(port=port)
    assert status == 2
    assert complaint == (
        f"Port {port} cannot be used (Address already in use): "
        "name another one with --port.\n"
    )


def test_the_kept_files_belong_to_these_programs():
    """Made by these programs; and all that they say holds in them."""
    made_from = runpy.run_path(str(START))["made_from"]()
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
