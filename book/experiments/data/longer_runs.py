"""Longer runs of the experiments, kept beside this file as CSV.

    python book/experiments/data/longer_runs.py training

Names are the keys of RUNS. The chapters run the same comparisons with fewer steps
and seeds and set these results beside their own.
"""

import sys
from pathlib import Path
from typing import Any

from pe_lib.experiments.training import save, train

PLUGS = [
    "none",
    "counting, raw",
    "counting",
    "normalised",
    "binary",
    "sinusoid",
    "learned",
    "rotary",
    "T5 bias",
    "ALiBi",
]
TABLES = [
    "sinusoid",
    "learned from sinusoid",
    "random",
    "learned",
    "learned, quiet",
]
LONG = {"steps": 1500, "seeds": 10}
LENGTHS = (16, 24, 32, 48, 64, 96, 128)

RUNS: dict[str, list[dict[str, Any]]] = {
    "training": [
        {"task": task, "schemes": PLUGS, "steps": 600} | special
        for task, special in {
            "copy": {},
            "reverse": {"train_lengths": (16, 16)},
            "place": {},
            "order": {"test_lengths": (16, 64)},
            "half": {"test_lengths": (16, 64)},
            "previous": {},
        }.items()
    ],
    "extrapolation": [
        {
            "task": "copy",
            "schemes": ["binary", "sinusoid", "learned", "rotary", "T5 bias"],
            "test_lengths": LENGTHS,
        }
    ],
    **{
        f"tokens_{token_std}": [
            {
                "task": "copy",
                "schemes": TABLES,
                "token_std": token_std,
                "train_lengths": (16, 16),
                "examples": 32,
            }
        ]
        for token_std in (1.0, 0.02)
    },
}


def main(name: str) -> None:
    """Run everything under one name and store it as name.csv."""
    folder = Path(__file__).parent
    scores = [row for settings in RUNS[name] for row in train(**LONG | settings)]
    command = f"python book/experiments/data/{Path(__file__).name} {name}"
    save(scores, folder / f"{name}.csv", command=command)


if __name__ == "__main__":
    main(sys.argv[1])
