"""The runs behind the chapters of experiments, kept as CSV.

    python -m evidence.runs                     all of them
    python -m evidence.runs masked freedom      some of them

Names are the keys of RUNS and WEIGHTS. It says how long it will take, shows
how far it is, and goes on where it was stopped: what is done lies in the folder
`parts`; empty it after a change of the programs. For several cores start it several
times, with different names. It takes one thread, so that no result depends on how
many there are.

The protocol is a page of the book, protocol.ipynb. First every scheme of a group is
trained with each of RATES and seeds 100 and 101 (kept in `rates/`); then with the best
of them and seeds 0 to 9 (kept above that). Tables and figures are drawn from the
files; in each chapter a part of one run is trained again and compared. The runs of
"four_times" and "steps" are the same, trained longer.
"""

import inspect
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch

from evidence import EXPERIMENTS
from pe_lib.experiments import (
    ensemble,
    induction,
    kept,
    loop,
    matrices,
    one_head,
    stretched,
    training,
)
from pe_lib.experiments.compare import best_rates
from pe_lib.experiments.schemes import WIDTH, Context, Scheme, scaled_sinusoid
from pe_lib.experiments.tasks import TASKS, Task, after_a_start
from pe_lib.experiments.training import Score, train
from pe_lib.frequencies import angular_frequencies

Settings = dict[str, Any]
"""The arguments of what makes one run."""

RATES = (0.01, 0.03, 0.003)
CHOOSING: Settings = {"seeds": 2, "first_seed": 100}
REPORTED: Settings = {"seeds": 10}

ALL = ["none", "counting", "normalized", "binary", "sinusoid", "learned", "rotary"]
ALL += ["t5_fast", "alibi_steep"]
TABLES = ["sinusoid", "learned_from_sinusoid", "random", "learned", "learned_quiet"]
MASKED = ["none", "counting", "sinusoid", "rotary", "t5", "t5_fast"]
MASKED += ["alibi", "alibi_steep"]
FAR: dict[str, Any] = {
    "steps": 600,
    "test_lengths": (16, 24, 32, 64, 128),
    "by_query": True,
}
SIX: dict[str, dict[str, Any]] = {
    "copy": {"steps": 300},
    "reverse": {"steps": 250, "train_lengths": (16, 16)},
    "place": {"steps": 200},
    "order": {"steps": 250, "test_lengths": (16, 64)},
    "half": {"steps": 200, "test_lengths": (16, 64)},
    "previous": {"steps": 200},
}
FEW: dict[str, Any] = {
    "task": "copy",
    "steps": 300,
    "train_lengths": (16, 16),
    "examples": 32,
}


SPEEDS = angular_frequencies(WIDTH)
"""Of all hands of the sinusoid; the three fastest go round within 24 positions."""


def few_hands(extra: np.ndarray) -> Scheme:
    """The three fast hands of the sinusoid and some more, as loud as all sixteen."""
    used = np.concatenate([SPEEDS[:3], extra])

    def encode(length: int, context: Context) -> np.ndarray:
        angles = np.outer(np.arange(length), used)
        code = np.zeros((length, context.width))
        code[:, 0 : 2 * len(used) : 2] = np.sin(angles)
        code[:, 1 : 2 * len(used) : 2] = np.cos(angles)
        return code * np.sqrt(context.width / 2 / len(used))

    return Scheme(encode)


EXTRA = (0, 2, 5, 8, 13)
HANDS = {"seen_0": few_hands(SPEEDS[:0])}
for extra in EXTRA[1:]:
    of_24 = np.geomspace(SPEEDS[0], 2 * np.pi / 24, extra + 2)[1:-1]
    HANDS[f"seen_{extra}"] = few_hands(of_24)
    HANDS[f"unseen_{extra}"] = few_hands(SPEEDS[3 : 3 + extra])
"""With extra hands that go round within 24 positions as well, and with slower ones."""

GROUPS: dict[str, dict[str, Settings]] = {
    "freedom": {
        "hands": {
            "task": "copy",
            "schemes": HANDS,
            "steps": 600,
            "test_lengths": (24,),
            "test_starts": (0, 100),
        },
    },
    "extrapolation": {
        "copy": FAR
        | {
            "task": "copy",
            "schemes": ["binary", "sinusoid", "learned", "rotary", "t5", "t5_fast"],
        },
        "random_starts": FAR
        | {
            "task": "copy",
            "schemes": ["binary", "sinusoid", "learned"],
            "train_starts": 104,
        },
        "after_a_start": FAR
        | {
            "task": after_a_start(TASKS["copy"]),
            "schemes": ["sinusoid", "learned", "rotary", "t5_fast"],
        },
    },
    "masked": {
        f"layers_{layers}{start}": {
            "task": task,
            "schemes": schemes,
            "steps": 300,
            "layers": layers,
            "test_lengths": (16, 64),
        }
        for start, task, schemes in (
            ("", "previous", MASKED),
            (
                "_start",
                after_a_start(TASKS["previous"]),
                ["none", "sinusoid", "rotary"],
            ),
        )
        for layers in (1, 2)
    },
    "training": {
        task: {"task": task, "schemes": ALL} | special for task, special in SIX.items()
    },
    "start_token": {
        start: {
            "task": task,
            "schemes": ["rotary", "t5_fast", "alibi_steep"],
            "steps": 1200,
        }
        for start, task in (
            ("without", "place"),
            ("with", after_a_start(TASKS["place"])),
        )
    },
    "learned_or_fixed": {
        f"tokens_{std}": FEW | {"schemes": TABLES, "token_std": std}
        for std in (1.0, 0.02)
    }
    | {"fresh": FEW | {"schemes": TABLES, "token_std": 1.0, "examples": None}},
    "loudness": {
        f"tokens_{std}": FEW
        | {
            "schemes": {
                f"times_{factor}": scaled_sinusoid(factor)
                for factor in (0.1, 0.3, 1, 3)
            },
            "token_std": std,
        }
        for std in (0.1, 1.0)
    },
}


def rate_runs(name: str) -> dict[str, Settings]:
    """The runs that choose the rates of one name."""
    return {
        f"{group} @ {rate}": settings | CHOOSING | {"rate": rate}
        for group, settings in GROUPS[name].items()
        for rate in RATES
    }


def reported_runs(name: str) -> dict[str, Settings]:
    """The runs that are reported, at the rates that are best in `rates/`."""
    path = EXPERIMENTS / "rates" / f"{name}.csv"
    best = best_rates(kept.load(path)) if path.exists() else {}
    return {
        group: settings | REPORTED | ({"rate": best[group]} if group in best else {})
        for group, settings in GROUPS[name].items()
    }


def longer(run: Settings, times: int) -> Settings:
    """The same run, trained so many times as long."""
    return run | {"steps": times * run["steps"]}


FIXED: dict[str, dict[str, Settings]] = {
    "one_back": {
        "to_24": {
            "schemes": list(one_head.HEADS),
            "seeds": 10,
            "test_lengths": (24, 48, 96, 192),
        },
        "to_64": {
            "schemes": ["added"],
            "seeds": 10,
            "test_lengths": (64, 96, 192),
            "longest": 64,
        },
    },
}
"""Runs at rates that nothing here chooses."""
LONGER = (1, 2, 4, 16)
FIXED["steps"] = {
    f"{task} x {n}": {"task": task, "schemes": ALL, "rate": 0.01, "seeds": 5}
    | longer(special, n)
    for task, special in SIX.items()
    for n in LONGER
}
"""The tasks of "training", trained up to sixteen times as long, at one rate for all."""


def of_readers(whats: Iterable[str]) -> list[str]:
    """Schemes of both tasks."""
    return [f"{task}/{what}" for task in stretched.TASKS for what in whats]


FIXED["stretched"] = {
    f"base_{base}": {
        "schemes": of_readers(stretched.RULES if base == 10_000 else ["none"]),
        "base": base,
        "seeds": 10,
        "test_lengths": (64, 128, 256, 512),
    }
    for base in (100, 10_000, 500_000)
}
FOUR_TIMES = ["masked", "learned_or_fixed", "loudness", "extrapolation"]
FOUR_TIMES += ["freedom", "start_token"]
"""Names whose runs are trained four times as long at the same rates."""


@wraps(train)
def train_without_blocks(**settings: Any) -> list[Score]:
    """The rows of train but those of blocks of queries, for which nobody asks here."""
    return [row for row in train(**settings) if not row.queries[0].isdigit()]


WEIGHTS: dict[str, Settings] = {
    "one_back_weights": {"encoding": "added", "seed": 0},
    "stretched_reader": {"base": 10_000, "seeds": (0,)},
    "dial_tables": {"seeds": 15},
    "dial_weights": {"seed": 0},
}
"""Models that are kept: the arguments of what trains them, or looks into them."""

DIALS = ["as trained", *(f"30 T({k})" for k in range(5))]
FIXED["dial"] = {
    "starts 0 to 500": {
        "seeds": 15,
        "test_lengths": (32, 64, 128),
        "schemes": list(induction.HEADS),
    },
    **{
        f"{after} after": {
            "seeds": 15,
            "test_lengths": (32,),
            "schemes": DIALS,
            "after": after,
        }
        for after in range(5)
    },
}
"""Models of two layers, trained and operated on."""


def all_runs() -> dict[str, dict[str, Settings]]:
    """The runs of each name; those that come from GROUPS at the rates of now."""
    runs = {name: reported_runs(name) for name in GROUPS} | FIXED
    runs["four_times"] = {
        f"four times the steps, {name}/{group}": longer(run, 4)
        for name in FOUR_TIMES
        for group, run in runs[name].items()
    }
    return runs


RUNS = all_runs()


TOLERANCES: dict[str, tuple[float, float, float]] = {
    **dict.fromkeys(("learned_or_fixed", "loudness"), (0.01, 0.01, 0.01)),
    **dict.fromkeys(("one_back", "one_back_weights"), (0.01, 0.01, 0.01)),
    "training": (0.15, 0.25, 0.03),
    "start_token": (0.15, 0.15, 0.06),
    "steps": (0.50, 0.50, 0.20),
    "masked": (0.05, 0.10, 0.03),
    "freedom": (0.01, 0.30, 0.05),
    "extrapolation": (0.25, 0.50, 0.12),
    "four_times": (0.80, 0.70, 0.30),
    "stretched": (0.02, 0.60, 0.15),
    "stretched_reader": (0.01, 0.40, 0.40),
    "dial": (0.15, 0.20, 0.05),
    "dial_tables": (0.20, 0.20, 0.10),
    "dial_weights": (0.05, 0.12, 0.12),
    "rates/learned_or_fixed": (0.01, 0.01, 0.01),
    "rates/loudness": (0.01, 0.01, 0.01),
    "rates/training": (0.10, 0.15, 0.08),
    "rates/start_token": (0.50, 0.50, 0.25),
    "rates/masked": (0.10, 0.30, 0.20),
    "rates/freedom": (0.01, 0.20, 0.12),
    "rates/extrapolation": (0.20, 0.50, 0.35),
}
"""How far a rerun on another number of threads may be off: a row on texts like those
of training, a row on longer or later ones, a mean over seeds. It was measured once, in
2026, when all but "steps" and "four_times" were run again on two threads."""


def path(name: str) -> Path:
    """Where the results of one name are kept; of `rates/name` the rates'."""
    return EXPERIMENTS / f"{name}.csv"


def command(name: str) -> str:
    """What makes them again."""
    name = name.removeprefix("rates/")
    return f"python -m evidence.runs {name}"


def runs_of(name: str) -> Mapping[str, Settings]:
    """The runs of one file; a model is one run of its own name."""
    if name in WEIGHTS:
        return {name: WEIGHTS[name]}
    group = name.removeprefix("rates/")
    return RUNS[name] if name == group else rate_runs(group)


def settings_of(name: str, runs: Mapping[str, Settings]) -> dict[str, dict[str, Any]]:
    """What decides the rows of some runs of one name, as the kept file says it.

    The arguments of each run, also those that are left out; a task and a scheme by
    name. Under "constants" the numbers that the modules name in capitals.
    """
    run_of, modules = maker(name)
    constants = {
        f"{module.__name__.rpartition('.')[2]}.{constant}": value
        for module in modules
        for constant, value in vars(module).items()
        if constant.isupper() and isinstance(value, int | float)
    }
    told = {run: arguments(run_of, settings) for run, settings in runs.items()}
    return {"constants": constants, **told}


def arguments(run_of: Callable[..., Any], settings: Settings) -> dict[str, Any]:
    """All arguments of a call, by their names and as JSON can hold them."""
    bound = inspect.signature(run_of).bind_partial(**settings)
    bound.apply_defaults()
    told = dict(bound.arguments)
    if isinstance(told.get("task"), Task):
        told["task"] = told["task"].name
    if "schemes" in told:
        told["schemes"] = list(told["schemes"])
    return told


def is_made(file: Path, name: str, runs: Mapping[str, Settings]) -> bool:
    """Whether a kept file is there and was made with these settings."""
    now = command(name), settings_of(name, runs)
    return file.exists() and not kept.contradictions(file, *now)


def make(name: str) -> None:
    """Run everything under one name and keep it."""
    if name in GROUPS:
        make_file(f"rates/{name}", rate_runs(name))
        RUNS.update(all_runs())
    if name in RUNS:
        make_file(name, RUNS[name])
        return
    begin = time.process_time()
    made = weights_of(name)
    seconds = time.process_time() - begin
    matrices.save(made, path(name), **origin(name, runs_of(name), seconds))


def weights_of(name: str) -> Mapping[str, torch.Tensor]:
    """The matrices of one name of WEIGHTS."""
    made = maker(name)[0](**WEIGHTS[name])
    if name == "dial_weights":
        return made[-1]
    if name == "stretched_reader":
        return made.matrices()
    return made if name == "dial_tables" else made.state_dict()


def origin(name: str, runs: Mapping[str, Settings], seconds: float) -> dict[str, Any]:
    """What the first lines of a kept file say."""
    row, later, mean = TOLERANCES[name]
    return {
        "command": command(name),
        "settings": settings_of(name, runs),
        "seconds": seconds,
        "tolerance": f"{row} a row, {later} a row on longer texts, {mean} a mean",
    }


def maker(name: str) -> tuple[Callable[..., Any], tuple[ModuleType, ...]]:
    """What makes the rows of a name, and the modules whose constants count."""
    learns = ensemble, training, loop
    two_layers, readers = (induction, loop), (stretched, loop)
    makers: dict[str, tuple[Callable[..., Any], tuple[ModuleType, ...]]] = {
        "dial": (induction.measure, two_layers),
        "dial_tables": (induction.tables, two_layers),
        "dial_weights": (induction.train, two_layers),
        "stretched": (stretched.measure, readers),
        "stretched_reader": (stretched.trained, readers),
        "one_back": (one_head.measure, (one_head,)),
        "one_back_weights": (one_head.trained, (one_head,)),
        "four_times": (train_without_blocks, learns),
    }
    return makers.get(name.removeprefix("rates/"), (train, learns))


def make_file(name: str, runs: Mapping[str, Settings]) -> None:
    """Make the runs of one file that are not there yet, and join them."""
    (EXPERIMENTS / "parts").mkdir(exist_ok=True)
    run_of, _ = maker(name)
    found: dict[str, list[Score]] = {}
    begin, seconds = time.monotonic(), 0.0
    for number, (run, settings) in enumerate(runs.items(), 1):
        part = part_of(EXPERIMENTS / "parts", name, run)
        if not is_made(part, name, {run: settings}):
            began = time.process_time()
            rows = {run: run_of(**settings)}
            made = origin(name, {run: settings}, time.process_time() - began)
            kept.save(rows, part, **made)
        found |= kept.load(part)
        seconds += seconds_of(part)
        minutes = (time.monotonic() - begin) / 60
        done = f"\r{name}: {number} of {len(runs)}, {minutes:.0f} min"
        print(done, end="", flush=True)
    print()
    path(name).parent.mkdir(exist_ok=True)
    kept.save(found, path(name), **origin(name, runs, seconds))


def part_of(folder: Path, name: str, run: str) -> Path:
    """Where one run is put until all of its file are done."""
    letters = "".join(c if c.isalnum() else "-" for c in f"{name}--{run}")
    return folder / f"{letters}.csv"


def seconds_of(file: Path) -> float:
    """How long the making of a kept file took, of one core."""
    return float(kept.load_header(file)["made"].split(" in ")[1].split()[0])


def main(names: list[str]) -> None:
    """Make the files of these names, or all that are not there yet."""
    torch.set_num_threads(1)
    known = [*RUNS, *WEIGHTS]
    unknown = set(names) - set(known)
    if unknown:
        raise SystemExit(f"names must be of {', '.join(known)}, got {unknown}")
    wanted = names or [n for n in known if not is_made(path(n), n, runs_of(n))]
    files = [path(x) for name in wanted for x in (name, f"rates/{name}")]
    last_time = sum(seconds_of(file) for file in files if file.exists())
    print(f"{len(wanted)} names; last time {last_time / 60:.0f} minutes of a core")
    for name in wanted:
        make(name)


if __name__ == "__main__":
    main(sys.argv[1:])
