"""Build the sinusoidal table with pe_lib and with its peers, in one run.

    make bench

prints speed, accuracy and memory, and keeps what it printed in tables.txt.
Only ratios within one run mean something; below 1.5 call it a tie. A benchmark
is no test: nothing here can fail.
"""

import datetime
import importlib
import math
import platform
import random
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from mpmath import mp, mpf

from pe_lib import sinusoidal_table
from pe_lib._exact_angles import fixed_point_frequencies

SIZES = [(512, 64), (4096, 512), (65_536, 512)]
ROUNDS = 15
POWERS = range(3, 8)
LARGE = (65_536, 512)
M2M100 = "transformers.models.m2m_100.modeling_m2m_100"
SPEECHT5 = "transformers.models.speecht5.modeling_speecht5"

Build = Callable[[int, int], Any]


def pe_lib(length: int, d_model: int) -> Any:
    """This book's."""
    return sinusoidal_table(length, d_model, dtype=np.float32)


def float64_numpy(length: int, d_model: int) -> Any:
    """Every sine and cosine in float64, then rounded."""
    frequencies = 10_000.0 ** (-np.arange(0, d_model, 2) / d_model)
    angles = np.arange(length)[:, np.newaxis] * frequencies
    table = np.empty((length, d_model), np.float32)
    table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles)
    return table


def snippet(length: int, d_model: int) -> Any:
    """The one that most tutorials have: float32 throughout, exp of a log."""
    table = torch.zeros(length, d_model)
    position = torch.arange(0, length, dtype=torch.float).unsqueeze(1)
    steps = torch.arange(0, d_model, 2).float()
    frequencies = torch.exp(steps * (-math.log(10_000.0) / d_model))
    table[:, 0::2] = torch.sin(position * frequencies)
    table[:, 1::2] = torch.cos(position * frequencies)
    return table


def writing(length: int, d_model: int) -> Any:
    """The limit: only write that many numbers."""
    table = np.empty((length, d_model), np.float32)
    table.fill(1)
    return table


def peer(path: str) -> Any:
    """One name of a package beside ours."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def labml_nn() -> Build:
    """labml-nn."""
    table = peer("labml_nn.transformers.positional_encoding.get_positional_encoding")
    return lambda length, d: table(d, length)[:, 0]


def positional_encodings() -> Build:
    """positional-encodings."""
    module = peer("positional_encodings.torch_encodings.PositionalEncoding1D")
    one = torch.zeros(1, 1, 1)
    return lambda length, d: module(d)(one.expand(1, length, d))[0]


def x_transformers() -> Build:
    """x-transformers; its learned scale set to 1."""
    module = peer("x_transformers.x_transformers.ScaledSinusoidalEmbedding")
    one = torch.zeros(1, 1, 1)

    def build(length: int, d_model: int) -> Any:
        embedding = module(d_model).requires_grad_(False)
        embedding.scale.fill_(1)
        return embedding(one.expand(1, length, d_model))

    return build


def m2m100() -> Build:
    """transformers, the embedding of M2M100 (fairseq's)."""
    module = peer(f"{M2M100}.M2M100SinusoidalPositionalEmbedding")
    return lambda length, d: module.get_embedding(length, d)


def speecht5() -> Build:
    """transformers, the scaled encoding of SpeechT5; its scale is 1."""
    module = peer(f"{SPEECHT5}.SpeechT5ScaledPositionalEncoding")
    return lambda length, d: module(0.0, d, length).pe[0]


OURS: dict[str, Build] = {
    "pe_lib": pe_lib,
    "float32 snippet": snippet,
    "float64 NumPy": float64_numpy,
    "only writing": writing,
}
PEERS = {
    "labml-nn": labml_nn,
    "positional-encodings": positional_encodings,
    "x-transformers": x_transformers,
    "transformers m2m100": m2m100,
    "transformers speecht5": speecht5,
}
HALF_SPLIT = {"x-transformers", "transformers m2m100"}
ENDPOINT = {"transformers m2m100"}


def contenders() -> tuple[dict[str, Build], list[str]]:
    """What there is to measure, and the peers that are missing."""
    found, missing = dict(OURS), []
    for name, load in PEERS.items():
        try:
            found[name] = load()
        except ImportError as error:
            missing.append(f"{name}: not installed, so not measured ({error})")
    return found, missing


def speed(builds: dict[str, Build], length: int, d_model: int) -> dict[str, float]:
    """Milliseconds, the median of ROUNDS rounds in shuffled order."""
    times: dict[str, list[float]] = {name: [] for name in builds}
    names = list(builds)
    for _ in range(ROUNDS + 1):
        random.shuffle(names)
        for name in names:
            begin = time.perf_counter()
            table = builds[name](length, d_model)
            times[name].append(1000 * (time.perf_counter() - begin))
            del table
    return {name: float(np.median(found[1:])) for name, found in times.items()}


def ulps(name: str, build: Build, position: int, d_model: int = 8) -> float:
    """The largest error of the 100 rows before a position, in float32 ulps."""
    table = np.asarray(build(position, d_model))[-100:].astype(np.float64)
    if name in HALF_SPLIT:
        table = table.reshape(-1, 2, d_model // 2).swapaxes(1, 2).reshape(-1, d_model)
    last = d_model // 2 - (name in ENDPOINT)
    worst = mpf(0)
    with mp.workdps(40):
        for t, row in zip(range(position - 100, position), table, strict=True):
            for k in range(d_model // 2):
                angle = t / mpf(10_000) ** (mpf(k) / last)
                for entry, truth in zip(
                    row[2 * k :], (mp.sin(angle), mp.cos(angle)), strict=False
                ):
                    _, exponent = mp.frexp(truth)
                    error = abs(mpf(float(entry)) - truth) * mpf(2) ** (24 - exponent)
                    worst = max(worst, error)
    return float(worst)


def memory(name: str) -> str:
    """Peak resident memory of a fresh process that builds LARGE, over the table's."""
    command = [sys.executable, __file__, "--memory", name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


def print_memory(name: str) -> None:
    """What `memory` runs in the fresh process."""
    build = contenders()[0][name]
    build(64, LARGE[1])  # imports and caches are no part of the table
    before = resident("VmRSS")
    table = build(*LARGE)
    peak = resident("VmHWM")
    print(f"{(peak - before) * 1024 / (4 * table.shape[0] * table.shape[1]):.2f}")


def resident(kind: str) -> int:
    """Resident memory of this process in KiB, now or at its peak, as Linux tells it."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(kind):
            return int(line.split()[1])
    raise LookupError(kind)


def processor() -> str:
    """The processor's name, where Linux tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def keep(program: str, lines: list[str]) -> None:
    """Print a report, and store it beside the program that made it."""
    text = "\n".join(map(str.rstrip, lines)) + "\n"
    print(text, end="")
    Path(program).with_suffix(".txt").write_text(text, encoding="utf-8")


def report() -> list[str]:
    """Measure everything."""
    builds, missing = contenders()
    lines = [
        f"{datetime.date.today()}, {processor()}, one thread",
        f"Python {platform.python_version()}, NumPy {np.__version__}, "
        f"torch {torch.__version__}",
        *(
            f"{name} {version(name)}"
            for name in sorted({peer.split()[0] for peer in PEERS if peer in builds})
        ),
        *missing,
        "",
        f"Building a float32 table: milliseconds, the median of {ROUNDS} rounds in",
        "shuffled order; in brackets how many times as long as pe_lib takes",
        f"{'':22}" + "".join(f"{f'{n} x {d}':>20}" for n, d in SIZES),
    ]
    speed(builds, *SIZES[0])  # Python and the allocator take some calls to settle
    times = [speed(builds, *size) for size in SIZES]
    lines += [
        f"{name:22}"
        + "".join(f"{t[name]:11.3f} ({t[name] / t['pe_lib']:5.2f})  " for t in times)
        for name in builds
    ]
    begin = time.perf_counter()
    fixed_point_frequencies.__wrapped__(512, 10_000.0, "paper")
    first = 1000 * (time.perf_counter() - begin)
    lines += [
        f"(pe_lib's first table with 512 columns takes {first:.2f} ms more)",
        "",
        "Largest error in float32 ulps, the 100 rows before a position, 8 columns",
        f"{'':22}" + "".join(f"{f'10^{power}':>10}" for power in POWERS),
    ]
    lines += [
        f"{name:22}"
        + "".join(f"{ulps(name, build, 10**power):10.3g}" for power in POWERS)
        for name, build in builds.items()
        if build is not writing
    ]
    lines += [
        "",
        f"Peak memory for {LARGE[0]} x {LARGE[1]}, over the table's own 128 MiB",
        "(resident memory of a fresh process, so that NumPy and torch are alike)",
        *(f"{name:22}{memory(name):>10}" for name in builds),
    ]
    return lines


if __name__ == "__main__":
    torch.set_num_threads(1)
    if sys.argv[1:2] == ["--memory"]:
        print_memory(sys.argv[2])
    else:
        keep(__file__, report())
