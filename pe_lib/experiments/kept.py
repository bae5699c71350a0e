"""Results that are kept: where they come from, and whether that is still so.

A kept file is a CSV below a few lines that say what made it. Its fingerprint stands
for what decides the rows: all settings of its runs, and the programs of the modules
that run them, without docstrings, comments, annotations, imports and messages of
errors. For runs of ``training`` it stands also, as numbers, for the sequences that
their tasks draw and the position terms of their schemes, so that a new task or scheme
leaves it alone.
"""

import ast
import csv
import datetime
import hashlib
import inspect
import io
import platform
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NotRequired, TypedDict, Unpack

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from pe_lib.experiments import model, training
from pe_lib.experiments.model import encoded, position_terms
from pe_lib.experiments.schemes import SCHEMES, Context
from pe_lib.experiments.tasks import TASKS, Task
from pe_lib.experiments.training import Score, train

Settings = Mapping[str, Any]
"""The arguments of :func:`pe_lib.experiments.training.train` for one run."""

_COLUMNS = ["run", "task", "scheme", "seed", "length", "accuracy"]
_SPLIT = ["start", "queries"]
"""Columns that a file has if its scores are split by them."""


class Origin(TypedDict):
    """What the lines above the rows are made from; see :func:`save`."""

    command: str
    made_from: str
    seconds: float
    tolerance: NotRequired[str]


def save(
    runs: Mapping[str, Sequence[Score]], path: str | Path, **origin: Unpack[Origin]
) -> None:
    """Write runs as CSV, below lines that say what made them.

    Accuracies keep four digits. The lines tell the command, how long it took, the
    date, the versions, the kind of machine, the fingerprint, and a hash of the rows.

    ``command`` makes the file again, ``made_from`` is the :func:`fingerprint` of the
    settings, ``seconds`` is how long it took, ``tolerance`` (which may be left out) how
    far a rerun may be off.

    Raises ValueError if there are no scores.
    """
    if not any(runs.values()):
        raise ValueError("runs must have scores, got none")
    split = len({(r.start, r.queries) for rows in runs.values() for r in rows}) > 1
    rows = [_COLUMNS + _SPLIT * split]
    for run, scores in runs.items():
        for row in scores:
            of_row = [run, row.task, row.scheme, str(row.seed), str(row.length)]
            where = [str(row.start), row.queries] * split
            rows.append([*of_row, f"{row.accuracy:.4f}", *where])
    save_rows(rows, path, **origin)


def save_rows(
    rows: Iterable[Sequence[str]], path: str | Path, **origin: Unpack[Origin]
) -> None:
    """Write rows of any kind as CSV, the names of their columns first.

    The lines above and the arguments are those of :func:`save`.
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    tolerance = origin.get("tolerance", "")
    header = {
        "command": origin["command"],
        "made": f"{datetime.date.today()}, in {origin['seconds']:.0f} seconds",
        "versions": f"Python {platform.python_version()}, NumPy {np.__version__}, "
        f"torch {torch.__version__}",
        "machine": f"{platform.system()} {platform.machine()}, "
        f"{torch.get_num_threads()} thread(s)",
        **({"tolerance": tolerance} if tolerance else {}),
        "code and settings": origin["made_from"],
        "rows": _digest(text.getvalue()),
    }
    lines = "".join(f"# {name}: {value}\n" for name, value in header.items())
    Path(path).write_text(lines + text.getvalue(), encoding="utf-8", newline="\n")


def load_rows(path: str | Path) -> list[dict[str, str]]:
    """Read what :func:`save_rows` wrote, a dictionary for each row.

    Raises ValueError if the rows are not those that were written.
    """
    return list(csv.DictReader(io.StringIO(_rows(path))))


def save_weights(
    weights: Mapping[str, torch.Tensor], path: str | Path, **origin: Unpack[Origin]
) -> None:
    """Write matrices as CSV, a row of one a line, four digits, else as :func:`save`."""
    rows = []
    for name, matrix in weights.items():
        if matrix.ndim != 2:
            raise ValueError(f"weights must be matrices, got {name} {matrix.shape}")
        for row in matrix.tolist():
            rows.append([name, *(f"{value:.4f}" for value in row)])
    save_rows(rows, path, **origin)


def load_weights(path: str | Path) -> dict[str, torch.Tensor]:
    """Read what :func:`save_weights` wrote: float32 matrices by name.

    Raises ValueError if the rows are not those that were written.
    """
    rows: dict[str, list[list[float]]] = {}
    for name, *values in csv.reader(io.StringIO(_rows(path))):
        rows.setdefault(name, []).append([float(value) for value in values])
    return {name: torch.tensor(matrix) for name, matrix in rows.items()}


def load(path: str | Path) -> dict[str, list[Score]]:
    """Read what :func:`save` wrote: the scores of each run.

    Raises ValueError if the rows are not those that were written.
    """
    runs: dict[str, list[Score]] = {}
    for row in load_rows(path):
        score = Score(
            row["task"],
            row["scheme"],
            int(row["seed"]),
            int(row["length"]),
            float(row["accuracy"]),
            int(row.get("start", 0)),
            row.get("queries", "all"),
        )
        runs.setdefault(row["run"], []).append(score)
    return runs


def load_header(path: str | Path) -> dict[str, str]:
    """Read what made a kept file: command, made, versions, machine, hashes."""
    return _parts(path)[0]


def by_scheme(
    scores: Iterable[Score], length: int, *, queries: str = "all", start: int = 0
) -> dict[str, NDArray[np.float64]]:
    """The accuracies at one length: an array over the seeds for each scheme.

    >>> rows = [Score("copy", "none", 0, 16, 0.25), Score("copy", "none", 1, 16, 0.5)]
    >>> by_scheme(rows, 16)
    {'none': array([0.25, 0.5 ])}

    ``queries`` and ``start`` choose the rows of scores that are split by them.

    Raises ValueError if there is no row of that kind.
    """
    found: dict[str, list[float]] = {}
    for row in scores:
        if (row.length, row.queries, row.start) == (length, queries, start):
            found.setdefault(row.scheme, []).append(row.accuracy)
    if not found:
        raise ValueError(
            f"scores must have rows of length {length}, queries {queries!r} and start "
            f"{start}, got none"
        )
    return {name: np.array(values) for name, values in found.items()}


def largest_gap(live: Iterable[Score], kept: Iterable[Score]) -> float:
    """How far a live run is from the kept one at most, row by row.

    The kept run may have more schemes, seeds and lengths. Raises ValueError if it
    lacks one of the live run.

    >>> kept = [Score("copy", "none", seed, 16, 0.25) for seed in (0, 1)]
    >>> largest_gap([Score("copy", "none", 0, 16, 0.5)], kept)
    0.25
    """

    def key_of(row: Score) -> tuple[object, ...]:
        return row.task, row.scheme, row.seed, row.length, row.start, row.queries

    known = {key_of(row): row for row in kept}
    gaps = []
    for row in live:
        key = key_of(row)
        if key not in known:
            raise ValueError(f"kept must have the rows of live, got none for {key}")
        gaps.append(abs(row.accuracy - known[key].accuracy))
    return max(gaps)


def fingerprint(runs: Mapping[str, Settings], *modules: ModuleType) -> str:
    """A hash of the settings of some runs and of the modules that run them.

    >>> import pe_lib.table
    >>> one, two = ({"a": {"steps": n}} for n in (1, 2))
    >>> fingerprint(one, pe_lib.table) == fingerprint(two, pe_lib.table)
    False
    """
    parts = [*map(program, modules)]
    parts += [f"{run}: {sorted(settings.items())}" for run, settings in runs.items()]
    return _digest("\n".join(parts))


def training_fingerprint(runs: Mapping[str, Settings], *modules: ModuleType) -> str:
    """The same for runs of :func:`pe_lib.experiments.training.train`.

    Other `modules` may change how these are run; of "spread" they know what it is.

    >>> first = {"a": {"task": "copy", "schemes": ["none"], "steps": 1}}
    >>> again = {"a": {"task": "copy", "schemes": ["none"], "steps": 2}}
    >>> training_fingerprint(first) == training_fingerprint(again)
    False
    """
    decided = {run: {"by": _decided_by(settings)} for run, settings in runs.items()}
    return fingerprint(decided, model, training, *modules)


def program(module: ModuleType) -> str:
    """What a module does, whatever its comments, annotations and messages say."""
    return _shape(ast.parse(inspect.getsource(module)))


def _shape(node: object) -> str:
    """A syntax tree as text, without what cannot change a result."""
    if isinstance(node, list):
        kept = [
            item
            for item in node
            if not isinstance(item, (ast.Import, ast.ImportFrom))
            and not (
                isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)
            )
        ]
        return "[" + ",".join(map(_shape, kept)) + "]"
    if isinstance(node, ast.Raise):
        return "Raise"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = [
        f"{name}={_shape(value)}"
        for name, value in ast.iter_fields(node)
        # Empty fields differ between versions of Python.
        if value not in (None, [])
        and name not in ("annotation", "returns", "kind", "type_comment", "ctx")
    ]
    return f"{type(node).__name__}({','.join(fields)})"


def _decided_by(settings: Settings) -> str:
    """All settings of a run, its task and its schemes as the numbers they give."""
    others = dict(settings)
    spread = others.pop("spread", None)  # of randomised.measure
    bound = inspect.signature(train).bind(**others)
    bound.apply_defaults()
    given = dict(bound.arguments) | {"spread": spread}
    task, schemes = given.pop("task"), given.pop("schemes")
    if not isinstance(task, Task):
        task = TASKS[task]
    if not isinstance(schemes, Mapping):
        schemes = {name: SCHEMES[name] for name in schemes}
    trained = max(given["train_lengths"])
    lengths = sorted({*given["train_lengths"], *given["test_lengths"]})
    context = _probe(trained, lengths[-1], given["width"])
    parts = [repr(sorted(given.items())), repr((task.name, task.answers))]
    parts += [repr((task.pooled, task.causal, task.tokens))]
    for length in lengths:
        drawn = task.draw(length, 3, torch.Generator().manual_seed(length))
        parts += [_numbers(values) for values in drawn]
    for name, scheme in schemes.items():
        parts += [name, _numbers(encoded(scheme, context.longest, context))]
    for length in lengths:
        terms = position_terms(
            list(schemes.values()), [context], length, causal=task.causal
        )
        terms = terms._replace(
            turns=torch.view_as_real(terms.turns),
            bucket_one_hot=terms.bucket_one_hot.argmax(0),
        )
        parts += [_numbers(term) for term in terms]
    return _digest("\n".join(parts))


def _probe(trained_length: int, longest: int, width: int) -> Context:
    """A context that is the same on every machine."""
    random = np.random.default_rng(0)
    direction = np.full(width, width**-0.5)
    noise = random.standard_normal((longest, width))
    return Context(trained_length, longest, direction, noise)


def _numbers(values: ArrayLike) -> str:
    """Numbers to four decimals, the same on every processor, with their shape."""
    array = np.nan_to_num(np.asarray(values, dtype=np.float64), neginf=-1e9)
    rounded = np.round(array * 10_000).astype("<i8")
    return f"{array.shape} {hashlib.sha256(rounded.tobytes()).hexdigest()}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _rows(path: str | Path) -> str:
    """The rows of a kept file, if they are those that were written."""
    header, rows = _parts(path)
    if header.get("rows") != _digest(rows):
        raise ValueError(f"path must hold the rows that were written, got {path}")
    return rows


def _parts(path: str | Path) -> tuple[dict[str, str], str]:
    """The lines above the rows, and the rows."""
    lines = Path(path).read_text(encoding="utf-8").splitlines(keepends=True)
    above = [line for line in lines if line.startswith("# ")]
    header = dict(line[2:].rstrip("\n").split(": ", 1) for line in above)
    return header, "".join(lines[len(above) :])
