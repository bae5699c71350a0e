"""How far sines and cosines of rotary programs are from the truth, far out.

    make bench

prints the largest error of pe_lib and of its peers over the hundred positions up to
4,096, to a million and to 2**31, with 128 numbers a head and base 10,000; once as
each program comes, once after .to(torch.bfloat16). Then how far the speeds of
transformers' scaling rules are from pe_lib's. Keeps what it printed in angles.txt.
"""

import datetime
import platform
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
import torch
from mpmath import mp, mpf
from numpy.typing import NDArray
from peers import keep, peer

from pe_lib import angular_frequencies
from pe_lib.beyond import scaling
from pe_lib.nn import RotaryEmbedding

WIDTH = 128
COLUMNS = {"4096": 4096, "10^6": 10**6, "2^31": 2**31}

Parts = tuple[torch.Tensor, torch.Tensor]


def llama_config(**parameters: Any) -> Any:
    """A Llama with heads of 128 numbers."""
    return peer("transformers.LlamaConfig")(
        hidden_size=WIDTH,
        num_attention_heads=1,
        head_dim=WIDTH,
        max_position_embeddings=32_768,
        rope_parameters={"rope_theta": 10_000.0, **parameters},
    )


def llama_rotary(**parameters: Any) -> Any:
    """Its rotary module."""
    module = peer("transformers.models.llama.modeling_llama.LlamaRotaryEmbedding")
    return module(llama_config(**parameters))


def programs(dtype: torch.dtype) -> dict[str, Callable[[torch.Tensor], Parts]]:
    """Each after .to(dtype): from positions [n] to cosines and sines [n, 64]."""
    modules = {
        "ours": RotaryEmbedding(WIDTH, max_length=0),
        "llama": llama_rotary(rope_type="default"),
        "llama4": peer(
            "transformers.models.llama4.modeling_llama4.Llama4TextRotaryEmbedding"
        )(llama_config(rope_type="default")),
        "x": peer("x_transformers.x_transformers.RotaryEmbedding")(WIDTH),
        "rotary": peer("rotary_embedding_torch.RotaryEmbedding")(WIDTH),
    }
    ours, llama, llama4, x, rotary = (it.to(dtype) for it in modules.values())
    speeds = 10_000.0 ** (-torch.arange(0, WIDTH, 2).double() / WIDTH)

    def of_angles(angles: torch.Tensor) -> Parts:
        return angles.cos(), angles.sin()

    def of_llama(positions: torch.Tensor) -> Parts:
        cos, sin = llama(torch.zeros(1), positions[None])
        return cos[0, :, : WIDTH // 2], sin[0, :, : WIDTH // 2]

    def of_llama4(positions: torch.Tensor) -> Parts:
        hands = llama4(torch.zeros(1), positions[None])[0]
        return hands.real, hands.imag

    return {
        "pe_lib": ours.cos_sin,
        "float64 throughout": lambda at: of_angles(torch.outer(at.double(), speeds)),
        "transformers Llama": of_llama,
        "transformers Llama4": of_llama4,
        "x-transformers": lambda at: of_angles(x(at)[0][0, :, 0::2]),
        "rotary-emb.-torch": lambda at: of_angles(rotary(at)[:, 0::2]),
    }


def exact(position: int) -> NDArray[np.float64]:
    """Cosines and sines of one position, by mpmath."""
    with mp.workdps(40):
        angles = [
            position / mpf(10_000) ** (mpf(j) / (WIDTH // 2)) for j in range(WIDTH // 2)
        ]
        return np.array(
            [[float(turn(angle)) for angle in angles] for turn in (mp.cos, mp.sin)]
        )


def errors(truth: dict[str, NDArray[np.float64]], dtype: torch.dtype) -> list[str]:
    """A line for each program: its largest error in each column."""
    lines = []
    for name, turns in programs(dtype).items():
        line = f"{name:19}"
        for last in COLUMNS:
            positions = torch.arange(COLUMNS[last] - 99, COLUMNS[last] + 1)
            found = np.stack([it.detach().double().numpy() for it in turns(positions)])
            line += f"{np.abs(found - truth[last]).max():7.0e}"
        lines.append(line)
    return lines


def rules() -> list[str]:
    """How far the speeds of transformers' rules are from ours, as a share."""
    old, length = angular_frequencies(WIDTH), 4096
    given: dict[str, dict[str, Any]] = {
        "linear": {"factor": 8.0},
        "llama3": {
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": length,
        },
        "yarn": {"factor": 8.0, "original_max_position_embeddings": length},
    }
    ours = {
        "linear": scaling.interpolate(old, 8),
        "llama3": scaling.llama3(old, 8, length),
        "yarn": scaling.by_parts(old, 8, length, ramp="index"),
    }
    lines = []
    for name, parameters in given.items():
        module = llama_rotary(rope_type=name, **parameters)
        speeds = module.inv_freq.double().numpy()
        apart = np.abs(speeds / ours[name] - 1).max()
        lines.append(f"{name:19}{apart:7.0e}{module.attention_scaling:10.4f}")
    return lines


def report() -> list[str]:
    """Measure everything."""
    truth = {
        name: np.stack([exact(p) for p in range(last - 99, last + 1)], axis=1)
        for name, last in COLUMNS.items()
    }
    peers = ("transformers", "x-transformers", "rotary-embedding-torch")
    head = "".join(f"{name:>7}" for name in COLUMNS)
    return [
        f"{datetime.date.today()}, Python {platform.python_version()},"
        f" torch {torch.__version__}",
        ", ".join(f"{name} {version(name)}" for name in peers),
        "",
        "Largest error of cosines and sines over the hundred positions up to the one",
        "named; 128 numbers a head, base 10,000.",
        "",
        f"{'as it comes':19}{head}",
        *errors(truth, torch.float32),
        "",
        f"{'.to(bfloat16)':19}{head}",
        *errors(truth, torch.bfloat16),
        "",
        "transformers' speeds beside pe_lib's: the largest difference as a share, and",
        "the factor on cosines and sines (s = 8, L = 4096).",
        "",
        *rules(),
    ]


if __name__ == "__main__":
    keep(__file__, report())
