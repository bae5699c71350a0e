"""What the tests of the experiments share."""

from pathlib import Path

import torch

from pe_lib.experiments import smollm
from pe_lib.experiments.ensemble import Ensemble
from pe_lib.experiments.schemes import SCHEMES
from pe_lib.experiments.tasks import TASKS

DATA = Path(__file__).parents[2] / "book/experiments/data"
LENGTH = 9


def generator(seed: int = 0) -> torch.Generator:
    """A generator of one seed."""
    return torch.Generator().manual_seed(seed)


def tiny_smollm():
    """Two layers of random weights, on words of 32 numbers; its heads are SmolLM2's."""
    random, shape = generator(), smollm.Shape(layers=2)
    sizes = {
        **{"attn_norm": (32,), "ffn_norm": (32,), "attn_output": (32, 576)},
        **{"attn_q": (576, 32), "attn_k": (192, 32), "attn_v": (192, 32)},
        **{"ffn_gate": (48, 32), "ffn_up": (48, 32), "ffn_down": (32, 48)},
    }
    names = {f"blk.{i}.{n}.weight": s for i in range(2) for n, s in sizes.items()}
    names |= {"token_embd.weight": (20, 32), "output_norm.weight": (32,)}
    return smollm.Model(
        {n: torch.randn(s, generator=random) / 4 for n, s in names.items()}, shape
    )


def ensemble(*names, task="copy", seeds=2, layers=1, longest=LENGTH, trained=LENGTH):
    """Untrained, of some schemes."""
    return Ensemble(
        TASKS[task],
        [SCHEMES[name] for name in names],
        seeds=seeds,
        layers=layers,
        token_std=0.7,
        trained_length=trained,
        longest=longest,
    )


def sequences(seeds=2, count=3, length=LENGTH):
    return torch.randint(16, (seeds, count, length), generator=generator(5))
