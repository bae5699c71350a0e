"""Results that are kept: what made them, and whether it is still so.

A kept file is a CSV below a few lines: the command, versions, a hash of the rows, and
the settings of each run. It is stale if the command or a setting is another one now.
Whether the program still gives such rows, a short run beside them tells.
"""

import csv
import datetime
import io
import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pe_lib.experiments.training import Score

Settings = Mapping[str, Mapping[str, Any]]  # of each run


def save(runs: Mapping[str, Sequence[Score]], path: str | Path, **made: Any) -> None:
    """Write the scores of runs, accuracies with four digits, as :func:`save_rows`."""
    rows = [["run", "task", "scheme", "seed", "length", "accuracy", "start", "queries"]]
    for run, scores in runs.items():
        for r in scores:
            found = run, r.task, r.scheme, r.seed, r.length, f"{r.accuracy:.4f}"
            rows.append([*map(str, found), str(r.start), r.queries])
    split = len({(start, queries) for *_, start, queries in rows[1:]}) > 1
    save_rows(rows if split else [row[:-2] for row in rows], path, **made)


def save_rows(
    rows: Iterable[Sequence[str]],
    path: str | Path,
    *,
    command: str,
    settings: Settings,
    seconds: float,
    tolerance: str = "none given",
) -> None:
    """Write rows as CSV, the names of their columns first, below what made them.

    ``command`` makes the file again, ``tolerance`` is how far a rerun may be off.
    """
    csv.writer(written := io.StringIO(), lineterminator="\n").writerows(rows)
    text = written.getvalue()
    versions = f"NumPy {np.__version__}, torch {torch.__version__}"
    machine = f"{platform.system()} {platform.machine()}"
    lines = [
        f"command: {command}",
        f"made: {datetime.date.today()}, in {seconds:.0f} seconds",
        f"versions: Python {platform.python_version()}, {versions}",
        f"machine: {machine}, {torch.get_num_threads()} thread(s)",
        f"tolerance: {tolerance}",
        f"rows: {sha256(text.encode()).hexdigest()[:16]}",
        *(f"{json.dumps(run)}: {json.dumps(told)}" for run, told in settings.items()),
    ]
    text = "".join(f"# {line}\n" for line in lines) + text
    Path(path).write_text(text, encoding="utf-8", newline="\n")


def load(path: str | Path) -> dict[str, list[Score]]:
    """Read what :func:`save` wrote: the scores of each run."""
    runs: dict[str, list[Score]] = {}
    for row in load_rows(path):
        seed, length, start = (int(row.get(x, 0)) for x in ("seed", "length", "start"))
        right, queries = float(row["accuracy"]), row.get("queries", "all")
        score = Score(row["task"], row["scheme"], seed, length, right, start, queries)
        runs.setdefault(row["run"], []).append(score)
    return runs


def load_rows(path: str | Path) -> list[dict[str, str]]:
    """Read what :func:`save_rows` wrote, a dictionary a row, or raise as load_lines."""
    return list(csv.DictReader(load_lines(path)[1]))


def load_header(path: str | Path) -> dict[str, Any]:
    """Read what made a kept file; "settings" are those of each run, tuples as lists."""
    lines = load_lines(path)[0]
    runs = [line for line in lines if line.startswith('"')]
    header: dict[str, Any] = dict(x.split(": ", 1) for x in lines if x not in runs)
    return header | {"settings": json.loads("{" + ",".join(runs) + "}")}


def load_lines(path: str | Path) -> tuple[list[str], list[str]]:
    """The lines above the rows, and the rows; ValueError if these were changed."""
    lines = Path(path).read_text(encoding="utf-8").splitlines(keepends=True)
    above = [line[2:].rstrip("\n") for line in lines if line.startswith("# ")]
    rows = lines[len(above) :]
    digest = sha256("".join(rows).encode()).hexdigest()
    if f"rows: {digest[:16]}" not in above:
        raise ValueError(f"path must hold the rows that were written, got {path}")
    return above, rows


def contradictions(path: str | Path, command: str, settings: Settings) -> list[str]:
    """A sentence for each setting with which a kept file would be made otherwise."""
    header, now = load_header(path), json.loads(json.dumps(settings))
    then = header["settings"] | {"made": {"command": header["command"]}}
    now["made"], found = {"command": command}, []
    for run in {**then, **now}:
        pair = then.get(run, {}), now.get(run, {})
        for what in {**pair[0], **pair[1]}:
            old, new = (told.get(what) for told in pair)
            found += [f"{run}, {what}: was {old}, is {new}"] * (old != new)
    return found


def by_scheme(
    scores: Iterable[Score], length: int, *, queries: str = "all", start: int = 0
) -> dict[str, NDArray[np.float64]]:
    """The accuracies at one length: an array over the seeds for each scheme.

    >>> rows = [Score("copy", "none", 0, 16, 0.25), Score("copy", "none", 1, 16, 0.5)]
    >>> by_scheme(rows, 16)
    {'none': array([0.25, 0.5 ])}

    Raises ValueError if there is no row of that kind.
    """
    found: dict[str, list[float]] = {}
    for row in scores:
        if (row.length, row.queries, row.start) == (length, queries, start):
            found.setdefault(row.scheme, []).append(row.accuracy)
    if not found:
        kind = f"length {length}, queries {queries!r} and start {start}"
        raise ValueError(f"scores must have rows of {kind}, got none")
    return {name: np.array(values) for name, values in found.items()}


def largest_gap(live: Iterable[Score], kept: Iterable[Score]) -> float:
    """How far a live run is from the kept one at most, row by row.

    The kept run may have more schemes, seeds and lengths. Raises ValueError if it
    lacks one of the live run.

    >>> kept = [Score("copy", "none", seed, 16, 0.25) for seed in (0, 1)]
    >>> largest_gap([Score("copy", "none", 0, 16, 0.5)], kept)
    0.25
    """
    known = {replace(row, accuracy=0): row.accuracy for row in kept}
    gaps = []
    for row in live:
        if (key := replace(row, accuracy=0)) not in known:
            raise ValueError(f"kept must have the rows of live, got none for {key}")
        gaps.append(abs(row.accuracy - known[key]))
    return max(gaps)
