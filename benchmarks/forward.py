"""Time the forward pass of pe_lib's module beside the least that one can do.

    make bench

prints how long a call takes, beside a bare module that adds a slice of a stored
table and looks at nothing, and keeps what it printed in forward.txt. The two are
timed in turns, in random order, and what is compared is each pair of neighbours:
the machine may be slow for a while, it is then slow for both. Time is processor
time, so that other people's programs count little. A benchmark is no test: nothing
here can fail.
"""

import datetime
import functools
import platform
import random
import statistics
import time
from collections.abc import Callable

import torch
from tables import keep, processor
from torch import Tensor, nn

from pe_lib.nn import SinusoidalPositionalEncoding

SHAPES = [(1, 1, 512), (8, 128, 512), (1, 4096, 512)]
# and for how many sequences positions are given, 0 for all at once
PLACED = [((1, 1, 512), 0), ((8, 1, 512), 8), ((8, 512, 512), 0), ((8, 512, 512), 8)]
DTYPES = [torch.float32, torch.bfloat16]
ROUNDS = 101
SECONDS = 0.01  # how long a module is timed before the other has its turn

Call = Callable[[Tensor], Tensor]


class Bare(nn.Module):
    """What cannot be undercut: a cached slice, added."""

    table: Tensor

    def __init__(self, max_length: int, d_model: int) -> None:
        super().__init__()
        table = torch.randn(max_length, d_model)
        self.register_buffer("table", table, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """x plus the first rows of the table."""
        return x + self.table[: x.shape[-2]]


def inputs(shape: tuple[int, int, int], dtype: torch.dtype, vary: bool) -> list[Tensor]:
    """Eight inputs of a shape, or of lengths from half of it to the whole."""
    batch, length, d_model = shape
    lengths = [length] * 8
    if vary:
        lengths = [random.randint((length + 1) // 2, length) for _ in range(8)]
    return [torch.randn(batch, n, d_model).to(dtype) for n in lengths]


def seconds(call: Call, xs: list[Tensor], rounds: int) -> float:
    """A call, on the average of so many rounds over the inputs."""
    begin = time.process_time()
    for _ in range(rounds):
        for x in xs:
            call(x)
    return (time.process_time() - begin) / (rounds * len(xs))


def compare(call: Call, other: Call, xs: list[Tensor]) -> str:
    """Microseconds of both, and the ratio: its median and its middle half."""
    seconds(call, xs, 1)
    once = max(seconds(other, xs, 1), 1e-7) * len(xs)
    rounds = max(1, round(SECONDS / once))
    pairs = []
    for _ in range(ROUNDS):
        turns = [call, other]
        random.shuffle(turns)
        times = {turn: seconds(turn, xs, rounds) for turn in turns}
        pairs.append((times[call], times[other]))
    ours, theirs = (
        1e6 * statistics.median(column) for column in zip(*pairs, strict=True)
    )
    low, middle, high = statistics.quantiles([a / b for a, b in pairs], n=4)
    return f"{ours:11.1f} {theirs:11.1f} {middle:9.2f} ({low:.2f} to {high:.2f})"


def report() -> list[str]:
    """Measure everything."""
    lines = [
        f"{datetime.date.today()}, {processor()}, one thread",
        f"Python {platform.python_version()}, torch {torch.__version__}",
        "",
        "A call of the module, and of a bare module that adds a cached slice: the",
        f"medians of {ROUNDS} turns in random order, in processor time, and the ratio",
        "within a turn (in brackets its middle half). x has the dtype of the module.",
        f"{'':36}{'pe_lib, us':>11} {'bare, us':>11} {'ratio':>9}",
    ]
    for shape in SHAPES:
        for dtype in DTYPES:
            module = SinusoidalPositionalEncoding(512, max_length=4096).to(dtype)
            bare = Bare(4096, 512).to(dtype)
            for vary in (False, True) if shape[1] > 1 else (False,):
                name = f"{list(shape)} {str(dtype).removeprefix('torch.')}"
                name += ", lengths vary" if vary else ""
                with torch.no_grad():
                    row = compare(module, bare, inputs(shape, dtype, vary))
                lines.append(f"{name:36}{row}")
    lines += ["", "The same, where positions below 512 are given, in any order"]
    module, bare = SinusoidalPositionalEncoding(512, max_length=4096), Bare(4096, 512)
    for (batch, length, d_model), each in PLACED:
        at = torch.stack([torch.randperm(512)[:length] for _ in range(each or 1)])
        call = functools.partial(module, positions=at if each else at[0])
        with torch.no_grad():
            xs = inputs((batch, length, d_model), torch.float32, vary=False)
            row = compare(call, bare, xs)
        name = f"{[batch, length, d_model]}, positions {[each, length][not each :]}"
        lines.append(f"{name:36}{row}")
    lines += ["", "The same, where the rows are not ready and have to be computed"]
    module = SinusoidalPositionalEncoding(512, max_length=0)
    bare = Bare(4096, 512)
    for shape in SHAPES:
        with torch.no_grad():
            row = compare(module, bare, inputs(shape, torch.float32, vary=False))
        lines.append(f"{f'{list(shape)} float32':36}{row}")
    return lines


if __name__ == "__main__":
    torch.set_num_threads(1)
    keep(__file__, report())
