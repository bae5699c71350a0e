"""A text on two processes is the text on one, and every slip is noticed."""

import csv
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "book/beyond/data/agreement.csv"


def again(folder):
    """The kept file, its rows of two processes made again by torchrun, with gloo."""
    made = shutil.copy(KEPT, folder)
    subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone",
         "--nproc-per-node=2", ROOT / "tools/machines.py", made],
        check=True, capture_output=True, timeout=150,
    )  # fmt: skip
    return made


@pytest.mark.parametrize("made", [again, lambda _: KEPT], ids=["made again", "kept"])
def test_processes_agree_with_one_and_slips_are_noticed(made, tmp_path):
    """Forward and gradients, four schemes, two cuts, two documents."""
    lines = Path(made(tmp_path)).read_text().splitlines()
    rows = list(csv.DictReader(line for line in lines if line[0] != "#"))
    assert len(rows) == 2 * 4 * 2 * 4
    for row in rows:
        right = row["positions"] == "right"
        forgiven = row["positions"] == "not reset" and row["scheme"] != "sinusoid"
        for gap in (float(row["forward"]), float(row["gradients"])):
            assert gap < 1e-5 if right or forgiven else gap > 0.1, row
        assert (row["noticed"] == "True") != right
