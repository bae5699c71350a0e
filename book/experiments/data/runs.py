"""The runs behind the chapters of experiments, kept beside this file as CSV.

    python book/experiments/data/runs.py                     all: 16 minutes of a core
    python book/experiments/data/runs.py masked bases        some of them

Names are the keys of RUNS and WEIGHTS. A run takes one thread, so that it does not
depend on how many there are. Tables and figures are drawn from the files; in each
chapter a part of one run is trained again and compared.
"""

import sys
import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from pe_lib.experiments import induction, stretched, surgery
from pe_lib.experiments.kept import (
    Settings,
    fingerprint,
    one_head_fingerprint,
    save,
    save_weights,
    surgery_fingerprint,
)
from pe_lib.experiments.one_head import HEADS, measure, trained
from pe_lib.experiments.schemes import scaled_sinusoid
from pe_lib.experiments.tasks import NUM_TOKENS, Task
from pe_lib.experiments.training import train

FOLDER = Path(__file__).parent


def after_a_start(
    length: int, count: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """The task "place", with token 0 at position 0 of every sequence only."""
    tokens = torch.randint(1, NUM_TOKENS, (count, length), generator=generator)
    tokens[:, 0] = 0
    return tokens, tokens[:, 5].clone()


PLACE_AFTER_START = Task(
    "place_after_start",
    "which token stands at position 5 after a start token?",
    6,
    pooled=True,
    sequences=after_a_start,
)

TEN = [
    "none",
    "counting_raw",
    "counting",
    "normalized",
    "binary",
    "sinusoid",
    "learned",
    "rotary",
    "t5",
    "alibi",
]
TABLES = ["sinusoid", "learned_from_sinusoid", "random", "learned", "learned_quiet"]
MASKED = ["none", "counting", "sinusoid", "rotary", "t5", "alibi", "alibi_steep"]
FAR: dict[str, Any] = {
    "task": "copy",
    "schemes": ["binary", "sinusoid", "learned", "rotary", "t5"],
    "test_lengths": (16, 24, 32, 48, 64, 96, 128),
}
SIX: dict[str, dict[str, Any]] = {
    "copy": {"steps": 300},
    "reverse": {"steps": 250, "train_lengths": (16, 16)},
    "place": {"steps": 200},
    "order": {"steps": 250, "test_lengths": (16, 64)},
    "half": {"steps": 200, "test_lengths": (16, 64)},
    "previous": {"steps": 250},
}
FEW: dict[str, Any] = {"task": "copy", "train_lengths": (16, 16), "examples": 32}

RUNS: dict[str, dict[str, Settings]] = {
    "training": {
        task: {"task": task, "schemes": TEN} | special for task, special in SIX.items()
    },
    "start_token": {
        "start_token": {
            "task": PLACE_AFTER_START,
            "schemes": ["none", "binary", "sinusoid", "rotary", "t5", "alibi"],
            "steps": 600,
        }
    },
    "extrapolation": {"copy": FAR | {"steps": 300}},
    "bases": {
        "copy": {
            "task": "copy",
            "schemes": {
                "base_10000": scaled_sinusoid(),
                "base_3": scaled_sinusoid(base=3),
            },
            "steps": 300,
            "test_lengths": (16, 32, 64, 128),
        }
    },
    "masked": {
        f"layers_{layers}": {
            "task": "previous",
            "schemes": MASKED,
            "steps": 250,
            "layers": layers,
            "test_lengths": (16, 64),
        }
        for layers in (1, 2)
    },
    "learned_or_fixed": {
        f"tokens_{std}": FEW | {"schemes": TABLES, "token_std": std, "steps": 300}
        for std in (1.0, 0.02)
    }
    | {
        "fresh": {
            "task": "copy",
            "schemes": TABLES,
            "token_std": 1.0,
            "steps": 300,
            "train_lengths": (16, 16),
        }
    },
    "loudness": {
        f"tokens_{std}": FEW
        | {
            "schemes": {
                f"times_{factor}": scaled_sinusoid(factor)
                for factor in (0.1, 0.3, 1, 3)
            },
            "token_std": std,
            "steps": 300,
        }
        for std in (0.03, 0.1, 0.3, 1.0)
    },
    "training_long": {
        task: {"task": task, "schemes": TEN} | special | {"steps": 600, "seeds": 10}
        for task, special in SIX.items()
    },
    "extrapolation_long": {"copy": FAR | {"steps": 1500, "seeds": 10}},
    "learned_or_fixed_long": {
        f"tokens_{std}": FEW
        | {"schemes": TABLES, "token_std": std, "steps": 1500, "seeds": 10}
        for std in (1.0, 0.02)
    },
    "one_back": {
        "to_24": {
            "schemes": list(HEADS),
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
RATES = {100: 0.02, 10_000: 0.02, 500_000: 0.02}
"""For each base of a stretched reader the rate that "stretched_rates" chooses."""
RUNS["stretched_rates"] = {
    f"base_{base}": {
        "schemes": ["0.005", "0.01", "0.02"],
        "base": base,
        "seeds": 3,
        "test_lengths": (64,),
    }
    for base in RATES
}
RUNS["stretched"] = {
    f"base_{base}": {
        "schemes": [
            f"{task}/{rule}"
            for task in stretched.TASKS
            for rule in (stretched.RULES if base == 10_000 else ["none"])
        ],
        "base": base,
        "rate": rate,
        "seeds": 10,
        "test_lengths": (64, 128, 256, 512),
    }
    for base, rate in RATES.items()
}
STRETCHED = {
    "stretched": stretched.measure,
    "stretched_rates": stretched.choose,
    "stretched_reader": stretched.one_reader,
}
"""Names that pe_lib.experiments.stretched makes, and how."""
ONE_HEAD = {"one_back"}
"""Names whose rows come from one_head.measure and not from training.train."""
WEIGHTS: dict[str, Settings] = {
    "one_back_weights": {"kind": "added", "seed": 0},
    "stretched_reader": {"base": 10_000, "rate": RATES[10_000], "seed": 0},
}
"""Models that are kept themselves: the arguments of one_head.trained or one_reader."""

SLOW: dict[str, Any] = {"steps": 2000, "rate": 0.01, "last_start": 0}
OTHERS: dict[str, dict[str, Any]] = {
    "louder words": {"loudness": 1.4},
    "words a little louder": {"loudness": 1.0},
    "width 16": {"width": 16},
    "width 64": {"width": 64, "rate": 0.01},
    "learned": SLOW | {"places": "learned"},
    "rotary with biases": SLOW | {"places": "rotary_biased"},
    "rotary": SLOW | {"places": "rotary"},
    "alibi, one steep": SLOW | {"places": "alibi", "slopes": (1.0, 0.004)},
    "none": SLOW | {"places": "none"},
}
"""Models of two layers beside those of the chapter, three seeds each."""
FIFTEEN: dict[str, Any] = {"seeds": 15, "test_lengths": (32, 64, 128)}
DIALS = ["as trained", *(f"30 T({k})" for k in range(5))]
TWO_LAYERS: dict[str, dict[str, Settings]] = {
    "dial": {
        f"{start}{told}": FIFTEEN | told_of | {"model": {"last_start": last}}
        for start, last in (("starts 0 to 500", 500), ("start 0", 0))
        for told, told_of in (
            ("", {"schemes": list(surgery.HEADS)}),
            (": looks", {"schemes": ["as trained"], "what": "looks"}),
        )
    }
    | {
        f"{after} after": {
            "seeds": 15,
            "test_lengths": (32,),
            "schemes": DIALS,
            "after": after,
        }
        for after in range(5)
    },
    "dial_others": {
        f"{name}{told}": {
            "seeds": 3,
            "test_lengths": (32, 128),
            "schemes": ["as trained"],
            "model": model,
            "what": what,
        }
        for name, model in OTHERS.items()
        for told, what in (("", "names"), (": looks", "looks"))
    },
}
"""Rows of surgery.measure: models of two layers, trained and operated on."""
RUNS.update(TWO_LAYERS)
OPENED: dict[str, Settings] = {
    "dial_tables": {"seeds": 15, "model": {}},
    "dial_weights": {"seed": 0},
}
"""What is inside them: surgery.tables, and the parameters of one model."""
WEIGHTS |= OPENED
MODELS = FOLDER / ".models"
"""Trained models of two layers: a run that was broken off goes on from them."""


def path(name: str) -> Path:
    """Where the results of one name are kept."""
    return FOLDER / f"{name}.csv"


def command(name: str) -> str:
    """What makes them again."""
    return f"python book/experiments/data/{Path(__file__).name} {name}"


def made_from(name: str) -> str:
    """The fingerprint of what decides the rows of one name."""
    if name in TWO_LAYERS:
        return surgery_fingerprint(RUNS[name])
    if name in OPENED:
        return surgery_fingerprint({name: OPENED[name]})
    if name in STRETCHED:
        return stretched.fingerprint(RUNS.get(name) or {name: WEIGHTS[name]})
    if name in WEIGHTS:
        return one_head_fingerprint({name: WEIGHTS[name]})
    if name in ONE_HEAD:
        return one_head_fingerprint(RUNS[name])
    return fingerprint(RUNS[name])


def make(name: str) -> float:
    """Run everything under one name and keep it; the seconds that it took."""
    torch.set_num_threads(1)
    begin = time.monotonic()
    if name == "dial_tables":
        weights = surgery.tables(**OPENED[name], folder=MODELS)
    elif name == "dial_weights":
        weights = surgery.course(0, induction.Settings(), MODELS)[-1]
    elif name in WEIGHTS:
        weights = (
            STRETCHED[name](**WEIGHTS[name])
            if name in STRETCHED
            else trained(**WEIGHTS[name]).state_dict()
        )
    elif name in TWO_LAYERS:
        runs = {
            run: surgery.measure(**settings, folder=MODELS)
            for run, settings in RUNS[name].items()
        }
    else:
        rows = STRETCHED.get(name, measure if name in ONE_HEAD else train)
        runs = {run: rows(**settings) for run, settings in RUNS[name].items()}
    seconds = time.monotonic() - begin
    origin: dict[str, Any] = {
        "command": command(name),
        "made_from": made_from(name),
        "seconds": seconds,
    }
    if name in WEIGHTS:
        save_weights(weights, path(name), **origin)
    else:
        save(runs, path(name), **origin)
    return seconds


def main(names: list[str]) -> None:
    """Make the files of these names, or all."""
    known = [*RUNS, *WEIGHTS]
    unknown = set(names) - set(known)
    if unknown:
        raise SystemExit(f"names must be of {', '.join(known)}, got {unknown}")
    for name in names or known:
        print(f"{name}: {make(name):.0f} seconds", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
