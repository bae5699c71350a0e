"""What the tests of the experiments share."""

from pathlib import Path

import torch

from pe_lib.experiments.ensemble import Ensemble
from pe_lib.experiments.schemes import SCHEMES, WIDTH
from pe_lib.experiments.tasks import TASKS

DATA = Path(__file__).parents[2] / "book/experiments/data"
LENGTH = 9


def generator(seed: int = 0) -> torch.Generator:
    """A generator of one seed."""
    return torch.Generator().manual_seed(seed)


def ensemble(
    *names,
    task="copy",
    seeds=2,
    layers=1,
    longest=LENGTH,
    trained=LENGTH,
    width=WIDTH,
):
    return Ensemble(
        TASKS[task],
        [SCHEMES[name] for name in names],
        seeds=seeds,
        layers=layers,
        token_std=0.7,
        trained_length=trained,
        longest=longest,
        width=width,
    )


def sequences(seeds=2, count=3, length=LENGTH):
    return torch.randint(16, (seeds, count, length), generator=generator(5))
