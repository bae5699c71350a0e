"""Make the kept files again on another number of threads, and compare.

    python -m evidence.threads                  all, on two threads
    python -m evidence.threads masked dial      some of them

The order in which numbers are added depends on how many threads add them, and some
hundred steps of training make another model of a last digit. So a rerun gives other
rows. The head of each file, from runs.TOLERANCES, says how far they may be off: a row
on texts like those of training, a row on longer or later ones, a mean over seeds.
Every file is made again whole, but of "changed" and "varied" a sample: a few seeds of
each run, and of "varied" no readers ("stretched" has them). A kept model is compared
by what it does, not by its numbers.

What came out is kept in `threads.csv`, and tests/book/test_kept_results.py says where
a difference is beyond its tolerance. Numbers are compared, not the sentences and
assertions of the pages. With OMP_WAIT_POLICY=PASSIVE threads do not burn the time of a
busy machine while they wait for each other.
"""

import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from evidence import EXPERIMENTS, runs
from pe_lib.experiments import (
    induction,
    kept,
    matrices,
    one_head,
    rotations,
    stretched,
    text,
)
from pe_lib.experiments.training import Score

KEPT = EXPERIMENTS / "threads.csv"
THREADS = 2
SAMPLED = {"changed": 3, "varied": 2}
"""Of these files so many seeds of each run are made again; they need many minutes."""
TRAINED_TO = {
    **dict.fromkeys(("stretched", "stretched_reader"), 64),
    **dict.fromkeys(("dial", "dial_others", "dial_weights", "varied, dial"), 32),
    "varied, dial from 0": 32,
}
"""The longest text of training, where the settings do not say; otherwise 24."""


class Gap(NamedTuple):
    """How far the rerun of one run and scheme is off, and in how many rows."""

    file: str
    run: str
    scheme: str
    rows: int
    trained: float
    longer: float
    mean: float


def names() -> list[str]:
    """All files that are compared, those that chose the rates too."""
    rates = [f"rates/{name}" for name in runs.GROUPS]
    return [*runs.RUNS, *rates, *runs.TEXTS, *runs.WEIGHTS]


def gaps(
    file: str, run: str, new: Iterable[Score], old: Iterable[Score], trained: int
) -> Iterator[Gap]:
    """Compare the rows of one run, scheme by scheme; `old` may have more seeds.

    Rows up to the length `trained`, at position 0, are those of training.
    """
    known = {(key_of(row), row.seed): row.accuracy for row in old}
    off: dict[str, dict[tuple[Any, ...], list[float]]] = {}
    for row in new:
        difference = row.accuracy - known[key_of(row), row.seed]
        of_scheme = off.setdefault(row.scheme, {})
        of_scheme.setdefault(key_of(row), []).append(difference)
    for scheme, of_scheme in off.items():
        parts: dict[bool, list[float]] = {True: [0.0], False: [0.0]}
        for (_, _, length, start, _), values in of_scheme.items():
            parts[length <= trained and start == 0] += values
        rows = sum(map(len, of_scheme.values()))
        mean = max(abs(float(np.mean(values))) for values in of_scheme.values())
        single = [max(map(abs, parts[short])) for short in (True, False)]
        yield Gap(file, run, scheme, rows, *(round(x, 4) for x in (*single, mean)))


def key_of(row: Score) -> tuple[Any, ...]:
    """What the rows of several seeds have in common."""
    return row.task, row.scheme, row.length, row.start, row.queries


# What is made again


def runs_of(name: str) -> Mapping[str, Mapping[str, Any]]:
    """The runs of one file that are made again."""
    # Readers are trained together: a sample of them would be others.
    of_name = runs.runs_of(name)
    return {run: s for run, s in of_name.items() if s.get("model") != "readers"}


def make(name: str, run: str, settings: Mapping[str, Any], path: Path) -> None:
    """Train one run again, and write it as its kept file is written."""
    origin = runs.origin(name, runs.runs_of(name), 0.0)
    if name in runs.TEXTS:
        kept.save_rows(runs.text_rows(name), path, **origin)
    elif name in runs.WEIGHTS:
        matrices.save(runs.weights_of(name), path, **origin)
    else:
        sample = {"seeds": SAMPLED[name]} if name in SAMPLED else {}
        run_of, _ = runs.maker(name)
        kept.save({run: run_of(**{**settings, **sample})}, path, **origin)


# What is compared


def read(name: str, path: Path) -> dict[str, list[Score]]:
    """The rows of a kept file; of a text the bits, of a model what it does."""
    if name in runs.TEXTS:
        rates, found = text.load_read(path)
        curves = np.concatenate([found.curves, found.held_out[..., None]], 2)
        return {
            name: [
                Score("text", scheme, seed, column, float(bits))
                for scheme, of_scheme in zip(rates, curves, strict=True)
                for seed, values in enumerate(of_scheme)
                for column, bits in enumerate(values)
            ]
        }
    if name not in runs.WEIGHTS:
        return kept.load(path)
    weights = matrices.load(path)
    if name == "dial_tables":
        return {name: list(of_tables(weights))}
    return {name: of_model(name, weights)}


def of_model(name: str, weights: Mapping[str, torch.Tensor]) -> list[Score]:
    """The answers of a kept model, as its page asks for them."""
    if name == "one_back_weights":
        model = one_head.OneHead(torch.Generator())
        model.load_state_dict(weights)
        shares = {
            (head, n): one_head.share_of({"added": model}, head, n)
            for head in one_head.HEADS
            for n in (24, 48, 96, 192)
            if head != "rotary"
        }
    elif name == "dial_weights":
        two = induction.made_of(weights, induction.Settings())
        shares = {
            (head, n): induction.share_predicted(two, texts, change)
            for head, change in induction.interventions(two).items()
            for n, texts in ((n, induction.test_texts(n, 0)) for n in (32, 128))
        }
    else:
        reader, base = stretched.models([0]), runs.WEIGHTS[name]["base"]
        reader.load_matrices(weights)
        shares = {
            (f"{task}/{rule}", n): stretched.share_right(
                reader, task, n, stretched.stretched(rule, base, n), seeds=[0]
            ).item()
            for task in stretched.TASKS
            for rule in stretched.RULES
            for n in (64, 512)
        }
    return [Score(name, scheme, 0, n, x) for (scheme, n), x in shares.items()]


def of_tables(tables: Mapping[str, torch.Tensor]) -> Iterator[Score]:
    """What the dial's page reads off its tables; sizes and spreads in tens."""
    found = {name: table.double().numpy() for name, table in tables.items()}
    heads = [found[f"head {seed}"] for seed in range(len(found["right"]))]
    sizes, phases = np.swapaxes([rotations.sizes_and_angles(W) for W in heads], 0, 1)
    turns = (np.arange(128) - 1) / (2 * np.pi)
    near = np.abs(turns - turns.round()) < 0.1
    misses, maps = found["misses"], [name for name in found if name.startswith("map")]
    squares = np.square(heads).sum((1, 2))
    columns: dict[str, NDArray[np.float64]] = {
        "right": found["right"],
        "words in three hands": found["words"][:, :3].sum(1, keepdims=True),
        "spread": found["spread"] / 10,
        "heard": found["heard"],
        "turns": (2 * np.square(sizes).sum(1) / squares)[:, None],
        "sizes": sizes[:, :3] / 10,
        "angles": phases[:, :3],
        "whole turns": (misses[:, near].sum(1) / misses.sum(1))[:, None],
        "map, one back": np.array([[np.diagonal(found[x], -1).mean() for x in maps]]),
    }
    for name, values in columns.items():
        for (seed, column), value in np.ndenumerate(values):
            yield Score("tables", name, seed, column, float(value))


def compare(name: str, folder: Path) -> list[Gap]:
    """All differences of one file."""
    old = read(name, runs.path(name))
    found: list[Gap] = []
    for run, settings in runs_of(name).items():
        new = read(name, runs.part_of(folder, name, run))[run]
        kind = f"varied, {settings['model']}" if name == "varied" else name
        trained = TRAINED_TO.get(kind, settings.get("train_lengths", (8, 24))[1])
        trained = settings.get("longest", trained)
        found += gaps(name, run, new, old[run], trained)
    return found


def keep(found: Iterable[Gap]) -> None:
    """Write the differences, and to which rows; those of other files stay."""
    marks = {name: kept.load_header(runs.path(name))["rows"] for name in names()}
    rows: dict[str, list[tuple[str, ...]]] = {name: [] for name in marks}
    for gap in found:
        rows[gap.file].append((*map(str, gap), marks[gap.file]))
    new = {name for name in rows if rows[name]}
    for row in kept.load_rows(KEPT) if KEPT.exists() else ():
        if row["file"] in rows and row["file"] not in new:
            rows[row["file"]].append(tuple(row.values()))
    seconds = runs.seconds_of(KEPT) if KEPT.exists() else 0.0
    kept.save_rows(
        [(*Gap._fields, "rows of"), *(r for of in rows.values() for r in of)],
        KEPT,
        command="python -m evidence.threads",
        settings={"threads": {"threads": THREADS, "seeds": SAMPLED}},
        seconds=seconds + time.process_time(),
    )


def main(asked: Sequence[str]) -> None:
    """Make again what is missing in the folder of parts, compare, and keep."""
    folder = EXPERIMENTS / "parts" / "threads"
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(THREADS)
    for name in asked:
        for run, settings in runs_of(name).items():
            part = runs.part_of(folder, name, run)
            if not part.exists():
                print(f"{name}, {run}", flush=True)
                make(name, run, settings, part)
    keep(gap for name in asked for gap in compare(name, folder))


if __name__ == "__main__":
    main(sys.argv[1:] or names())
