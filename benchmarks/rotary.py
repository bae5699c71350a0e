"""Rotate queries and keys with pe_lib and with transformers, in one run.

    make bench

prints how many times as fast as transformers each form is, and keeps what it printed
in rotary.txt. Forms run in random order; what is compared is processor time in the same
round, because the machine may be slow for a while. Beside `rotate_half` the module
takes its cosines and sines from its table. Beside Llama's module and Cohere's, whose
pairs are interleaved, it is given positions, as each of their models gives them. A
benchmark is no test: nothing here can fail.
"""

import datetime
import platform
import random
import statistics
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import torch
from peers import keep, peer
from torch import Tensor

from pe_lib.layouts import LAYOUTS
from pe_lib.nn import RotaryEmbedding

HEADS, WIDTH, LENGTHS, ROUNDS = 8, 128, (1, 1024, 4096), 15
DTYPES = (torch.float32, torch.bfloat16)

PLAIN = {"rope_type": "default", "rope_theta": 10_000.0}

Both = Callable[[Tensor, Tensor], object]


def forms(length: int, dtype: torch.dtype) -> dict[str, dict[str, Both]]:
    """What is compared with what, by name: functions of queries and keys."""
    config, *programs = (
        peer(f"transformers.models.{name}") for name in (
            "llama.configuration_llama.LlamaConfig",
            "llama.modeling_llama.apply_rotary_pos_emb",
            "llama.modeling_llama.LlamaRotaryEmbedding",
            "cohere.modeling_cohere.apply_rotary_pos_emb",
            "cohere.modeling_cohere.CohereRotaryEmbedding",
        )
    )  # fmt: skip
    llama, llamas, cohere, coheres = programs
    theirs, cohere_s = (
        rope(config(head_dim=WIDTH, rope_parameters=PLAIN))
        for rope in (llamas, coheres)
    )
    modules = {
        layout: RotaryEmbedding(WIDTH, max_length=length, layout=layout)
        for layout in LAYOUTS
    }
    cos, sin = modules["half_split"].cos_sin(torch.arange(length))
    twice = [torch.cat([part, part], -1)[None].to(dtype) for part in (cos, sin)]
    at = torch.arange(length)[None] % max(1, length // 2)  # packed
    neighbours, halves = modules["interleaved"], modules["half_split"]
    return {
        "rotate_half": {
            "rotate_half": lambda q, k: llama(q, k, *twice),
            **{f"module, {layout}": modules[layout] for layout in LAYOUTS},
        },
        "Llama's, given positions": {
            "Llama's, given positions": lambda q, k: llama(q, k, *theirs(q, at)),
            "module, half_split": lambda q, k: halves(q, k, positions=at),
        },
        "Cohere's, given positions": {
            "Cohere's, given positions": lambda q, k: cohere(q, k, *cohere_s(q, at)),
            "module, interleaved": lambda q, k: neighbours(q, k, positions=at),
        },
    }


def once(form: Both, q: Tensor, k: Tensor) -> float:
    """Seconds of processor time for a call."""
    calls = max(1, 2**19 // q.numel()) if q.numel() > 2**14 else 200
    begin = time.process_time()
    for _ in range(calls):
        form(q, k)
    return (time.process_time() - begin) / calls


def compared(
    common: str,
    given: dict[str, Both],
    length: int,
    dtype: torch.dtype,
    compiled: bool,
) -> Iterator[str]:
    """A line for each form: the median ratio, and the middle half of them."""
    if compiled:
        torch.compiler.reset()
        given = {name: torch.compile(form) for name, form in given.items()}
    q, k = torch.randn(2, 1, HEADS, length, WIDTH).to(dtype)
    times: dict[str, list[float]] = {name: [] for name in given}
    for turn in range(ROUNDS + 2):
        for name in random.sample(list(given), len(given)):
            seconds = once(given[name], q, k)
            if turn > 1:
                times[name].append(seconds)
    for name, mine in times.items():
        ratios = [a / b for a, b in zip(times[common], mine, strict=True)]
        low, middle, high = statistics.quantiles(ratios, n=4)
        ms = 1e3 * statistics.median(mine)
        yield f"{name:30}{ms:10.3f}{middle:8.2f} ({low:.2f} to {high:.2f})"


def processor() -> str:
    """Its name, where Linux tells it."""
    about = Path("/proc/cpuinfo")
    told = about.read_text(encoding="utf-8") if about.is_file() else ""
    _, found, rest = told.partition("model name\t: ")
    return rest.partition("\n")[0] if found else platform.machine()


def report() -> list[str]:
    """Measure everything."""
    lines = [
        f"{datetime.date.today()}, {processor()}, one thread",
        f"Python {platform.python_version()}, torch {torch.__version__}, "
        f"transformers {version('transformers')}",
        "",
        f"q and k of [1, {HEADS}, length, {WIDTH}], forward: milliseconds of processor",
        f"time, and how many times as fast as the first (median of {ROUNDS} rounds,",
        "and the middle half of them)",
    ]
    for compiled in (False, True):
        for dtype in DTYPES:
            for length in LENGTHS:
                how = "compiled" if compiled else "eager"
                kind = str(dtype).removeprefix("torch.")
                lines += ["", f"{how}, {kind}, length {length}"]
                with torch.no_grad():
                    for common, given in forms(length, dtype).items():
                        lines += compared(common, given, length, dtype, compiled)
    return lines


if __name__ == "__main__":
    torch.set_num_threads(1)
    keep(__file__, report())
