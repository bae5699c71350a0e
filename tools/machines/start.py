"""A text cut for 2 and for 4 processes, compared with one process; what it costs.

    python tools/machines/start.py --keep
    python tools/machines/start.py --ranks 2 --lengths 24,40

Starts `torchrun` on this machine (gloo, no GPU), one run for each number of
processes. Prints a line for each scheme, and keeps everything in book/beyond/data
if --keep is given. Exit status 0 if forward and gradients agree with one process and
every slip is noticed, 1 if not, 2 if it did not end well; then torchrun says why.
"""

import argparse
import csv
import datetime
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import ring
import shards

from pe_lib.experiments import kept

HERE = Path(__file__).parent
DATA = HERE.parents[1] / "book/beyond/data"
BOUND = 1e-5
COST = [512, 1024, 2048, 4096]
"""Lengths of the texts whose cost is measured."""
COMMAND = "python tools/machines/start.py --keep"


class CannotRunError(Exception):
    """Why a run did not end well."""


def run(ranks: int, chosen: argparse.Namespace, out: Path) -> None:
    """One run of torchrun; whatever happens, it ends, and so do its children."""
    command = [
        sys.executable, "-m", "torch.distributed.run", "--standalone",
        f"--nproc-per-node={ranks}", "--monitor-interval=0.1",
        str(HERE / "shards.py"), f"--lengths={json.dumps(chosen.lengths)}",
        f"--timeout={chosen.timeout}", f"--out={out}",
        *([f"--cost={COST}", "--own"] if chosen.keep else []),
    ]  # fmt: skip
    environment = os.environ | {
        "OMP_NUM_THREADS": "1",
        # Every large array is given back at once, so that memory can be measured.
        "MALLOC_MMAP_THRESHOLD_": "65536",
    }
    with (out / "log.txt").open("w+") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, env=environment, start_new_session=True
        )
        try:
            process.wait(chosen.limit)
        except subprocess.TimeoutExpired:
            raise CannotRunError(
                f"{ranks} ranks did not end within {chosen.limit} s: all were stopped."
            ) from None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        log.seek(0)
        if process.returncode:
            raise CannotRunError(log.read())


def header(torch_says: str) -> str:
    """What made a kept file."""
    versions = f"Python {platform.python_version()}, torch {version('torch')}"
    lines = [
        COMMAND,
        f"{datetime.date.today()}, {versions}, gloo, {platform.machine()}",
        f"made from {kept.fingerprint({}, ring, shards)}",
    ]
    if torch_says:
        lines.append(f"torch's own context parallelism here: {torch_says}")
    return "".join(f"# {line}\n" for line in lines)


def keep(out: Path, all_ranks: list[int]) -> None:
    """One file for all numbers of ranks, below lines that say what made it."""
    torch_says = (out / "own.txt").read_text()
    for name in ("agreement", "cost"):
        files = [out / f"{name}.{ranks}.csv" for ranks in all_ranks]
        texts = [file.read_text().splitlines(True) for file in files if file.exists()]
        rows = [texts[0][0], *(row for _, *rows in texts for row in rows)]
        text = header(torch_says if name == "agreement" else "") + "".join(rows)
        (DATA / f"{name}.csv").write_text(text)


def judge(out: Path, ranks: int) -> bool:
    """Print a table; whether all is as it should be."""
    good = True
    print(f"{ranks} ranks: largest difference to one process, beside the largest")
    print(f"{'':10}{'cut':12}{'positions':17}{'forward':>9}{'gradients':>11}  test")
    with (out / f"agreement.{ranks}.csv").open() as file:
        for row in csv.DictReader(file):
            gap = max(float(row["forward"]), float(row["gradients"]))
            seen = row["noticed"] == "True"
            right = row["positions"] == "right"
            fine = gap < BOUND and not seen and row["finite"] == "True"
            good &= fine if right else seen
            print(
                f"{row['scheme']:10}{row['order']:12}{row['positions']:17}"
                f"{row['forward']:>9}{row['gradients']:>11}",
                " red" if seen else " green",
            )
    return good


def numbers(text: str) -> list[int]:
    """24,40 as a list."""
    return [int(part) for part in text.split(",") if part]


def main() -> int:
    """Run, print, keep."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--ranks", type=numbers, default=[2, 4], metavar="2,4")
    options.add_argument(
        "--lengths", type=numbers, default=[96, 160], metavar="96,160",
        help="of the documents in the text",
    )  # fmt: skip
    options.add_argument("--timeout", type=float, default=60, help="seconds")
    options.add_argument("--limit", type=float, default=600, help="seconds for a run")
    options.add_argument("--keep", action="store_true", help=f"keep it in {DATA.name}")
    chosen = options.parse_args()
    if len(chosen.lengths) < 2:
        options.error(
            f"--lengths must be of two documents at least, got {chosen.lengths}"
        )
    good = True
    try:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder)
            for ranks in ([1] if chosen.keep else []) + chosen.ranks:
                run(ranks, chosen, out)
                if ranks > 1:
                    good &= judge(out, ranks)
            if chosen.keep and good:
                keep(out, [1, *chosen.ranks])
    except CannotRunError as error:
        print(error, file=sys.stderr)
        return 2
    print("All agree, and every slip is noticed." if good else "NOT as it should be.")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
