"""Rotate queries and keys with pe_lib and with transformers, in one run.

    make bench

prints how many times as fast as transformers each form is, and keeps what it printed
in rotary.txt. Forms run in random order; what is compared is processor time in the same
round, because the machine may be slow for a while. Beside `rotate_half` each has its
cosines and sines ready: "rotate" is pe_lib.nn.rotate, "module" is RotaryEmbedding,
which looks them up and checks shapes. Beside "transformers, given positions" (Llama's;
Cohere's pairs are interleaved), which computes them as each of its models does, the
module is given positions as well. A benchmark is no test: nothing here can fail.
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
from pe_lib.nn import RotaryEmbedding, rotate

HEADS, WIDTH, LENGTHS, ROUNDS = 8, 128, (1, 1024, 4096), 15
DTYPES = (torch.float32, torch.bfloat16)
COMMON, WHOLE = "rotate_half", "transformers, given positions"

PLAIN = {"rope_type": "default", "rope_theta": 10_000.0}

Both = Callable[[Tensor, Tensor], object]


def forms(length: int, dtype: torch.dtype) -> dict[str, dict[str, Both]]:
    """What is compared with what, by name: functions of queries and keys."""
    llama, cohere, gptj, llama4 = (
        peer(f"transformers.models.{name}") for name in (
            "llama.modeling_llama.apply_rotary_pos_emb",
            "cohere.modeling_cohere.apply_rotary_pos_emb",
            "gptj.modeling_gptj.apply_rotary_pos_emb",
            "llama4.modeling_llama4.apply_rotary_emb",
        )
    )  # fmt: skip
    modules = {
        layout: RotaryEmbedding(WIDTH, max_length=length, layout=layout)
        for layout in LAYOUTS
    }
    cos, sin = modules["half_split"].cos_sin(torch.arange(length))
    hands = torch.complex(cos, sin)[None]
    twice = [torch.cat([part, part], -1)[None].to(dtype) for part in (cos, sin)]
    low_cos, low_sin = (part[None].to(dtype) for part in (cos, sin))

    def rotated(layout: str) -> Both:
        return lambda q, k: [rotate(x, cos, sin, layout) for x in (q, k)]

    def length_first(q: Tensor, k: Tensor) -> list[Tensor]:
        return [x.transpose(1, 2) for x in (q, k)]

    config, halves, neighbours = (
        peer(f"transformers.models.{name}") for name in (
            "llama.configuration_llama.LlamaConfig",
            "llama.modeling_llama.LlamaRotaryEmbedding",
            "cohere.modeling_cohere.CohereRotaryEmbedding",
        )
    )  # fmt: skip
    theirs, cohere_s = (
        rope(config(head_dim=WIDTH, rope_parameters=PLAIN))
        for rope in (halves, neighbours)
    )
    packed = torch.arange(length)[None] % max(1, length // 2)
    own: dict[str, Both] = {
        COMMON: lambda q, k: llama(q, k, *twice),
        **{f"rotate, {layout}": rotated(layout) for layout in LAYOUTS},
        **{f"module, {layout}": modules[layout] for layout in LAYOUTS},
        "rotate_every_two": lambda q, k: [
            gptj(x, low_sin, low_cos) for x in length_first(q, k)
        ],
        "complex (Llama 4)": lambda q, k: llama4(*length_first(q, k), hands),
    }

    def placed(layout: str) -> Both:
        return lambda q, k: modules[layout](q, k, positions=packed)

    given: dict[str, Both] = {
        WHOLE: lambda q, k: llama(q, k, *theirs(q, packed)),
        "Cohere's, interleaved": lambda q, k: cohere(q, k, *cohere_s(q, packed)),
        **{f"module, {layout}": placed(layout) for layout in LAYOUTS},
    }
    return {COMMON: own, WHOLE: given}


def once(form: Both, q: Tensor, k: Tensor) -> float:
    """Seconds of processor time for a call."""
    calls = max(1, 2**19 // q.numel()) if q.numel() > 2**14 else 200
    begin = time.process_time()
    for _ in range(calls):
        form(q, k)
    return (time.process_time() - begin) / calls


def compared(
    common: str, length: int, dtype: torch.dtype, compiled: bool
) -> Iterator[str]:
    """A line for each form: the median ratio, and the middle half of them."""
    given = forms(length, dtype)[common]
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
                    for common in (COMMON, WHOLE):
                        lines += compared(common, length, dtype, compiled)
    return lines


if __name__ == "__main__":
    torch.set_num_threads(1)
    keep(__file__, report())
