"""Turn queries and keys with pe_lib and with its peers, in one run.

    make bench

prints milliseconds of processor time and ratios, and keeps what it printed in
rotary.txt. All forms take turns, in random order; each has its cosines and sines
ready, in the dtype that it wants them in. What is compared is the same round of two
forms: the machine may be slow for a while, it is then slow for both. A benchmark is
no test: nothing here can fail.

Halves in bfloat16 are the slowest of ours. No operator of torch takes bfloat16 and
float32 together, so numbers are widened, multiplied, added to and rounded, in float32:
what `rotate_half` does not do, and why its error is twice as large. Of the 2.3 ms that
a call takes for [4, 8, 1024, 64] these passes and new memory are 2.1; blocks, halves
copied or multiplied where they are, and other sums were no faster.

Compiled, neighbours in bfloat16 are behind `rotate_half`, which has halves: the
compiler reads and writes every second number one by one. A swapped view, repeated
cosines, or both numbers in one int32 took twice to three times as long.
An autograd.Function around a turn costs 8 to 9 %, so that there is one only where a
gradient is asked for. Where memory goes back to the system after each call, rotate_half
takes two or three times as long: so in float32, here.
"""

import datetime
import platform
import random
import statistics
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

import torch
from tables import keep, peer, processor
from torch import Tensor

from pe_lib.nn import RotaryEmbedding

Shape = tuple[int, int, int, int]  # batch, heads, length, width of a head
SHAPE: Shape = (1, 8, 4096, 128)
OTHERS: tuple[Shape, ...] = (
    (1, 8, 1, 128),
    (1, 8, 64, 64),
    (1, 8, 512, 64),
    (4, 8, 1024, 64),
)
DTYPES = [torch.float32, torch.bfloat16]
ROUNDS = 21

Build = Callable[[torch.dtype, Shape], "Both"]
Both = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


def angles(shape: Shape) -> Tensor:
    """What each pair has turned by at each position, in float64."""
    _, _, length, width = shape
    pairs = torch.arange(width // 2, dtype=torch.float64)
    return torch.outer(torch.arange(length).double(), 10_000.0 ** (-2 * pairs / width))


def pe_lib(layout: str) -> Build:
    """This book's module, its table float32 whatever the dtype."""

    def build(dtype: torch.dtype, shape: Shape) -> Both:
        module = RotaryEmbedding(shape[-1], max_length=shape[-2], layout=layout)
        return module.to(dtype)

    return build


def multiplied(dtype: torch.dtype, shape: Shape) -> Both:
    """The least: one multiplication by a table."""
    table = angles(shape).cos().repeat(1, 2).to(dtype)
    return lambda q, k: (q * table, k * table)


def transformers_llama(dtype: torch.dtype, shape: Shape) -> Both:
    """The common form: rotate_half."""
    turn = peer("transformers.models.llama.modeling_llama.apply_rotary_pos_emb")
    both = angles(shape).repeat(1, 2)[None]
    cos, sin = both.cos().to(dtype), both.sin().to(dtype)
    return lambda q, k: turn(q, k, cos, sin)


def transformers_gptj(dtype: torch.dtype, shape: Shape) -> Both:
    """Neighbours, by rotate_every_two; [batch, length, heads, width]."""
    turn = peer("transformers.models.gptj.modeling_gptj.apply_rotary_pos_emb")
    cos, sin = (
        part[None].to(dtype) for part in (angles(shape).cos(), angles(shape).sin())
    )

    def one(x: Tensor) -> Tensor:
        turned: Tensor = turn(x.transpose(1, 2), sin, cos)
        return turned.transpose(1, 2)

    return lambda q, k: (one(q), one(k))


def transformers_llama4(_: torch.dtype, shape: Shape) -> Both:
    """Complex numbers, as in Meta's programs; [batch, length, heads, width]."""
    turn = peer("transformers.models.llama4.modeling_llama4.apply_rotary_emb")
    hands = torch.polar(torch.ones_like(angles(shape)), angles(shape)).to(
        torch.complex64
    )[None]

    def both(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        turned = turn(q.transpose(1, 2), k.transpose(1, 2), hands)
        return turned[0].transpose(1, 2), turned[1].transpose(1, 2)

    return both


def x_transformers(_: torch.dtype, shape: Shape) -> Both:
    """x-transformers: neighbours, from angles; their cosines each time anew."""
    turn = peer("x_transformers.x_transformers.apply_rotary_pos_emb")
    table = angles(shape).repeat_interleave(2, dim=-1)[None].float()

    def one(x: Tensor) -> Tensor:
        turned: Tensor = turn(x, table)
        return turned

    return lambda q, k: (one(q), one(k))


def halves_in_place(dtype: torch.dtype, shape: Shape) -> Both:
    """Halves, the second product added in place: the fastest that we could write."""
    cos, sin = angles(shape).cos().to(dtype), angles(shape).sin().to(dtype)
    table, half = cos.repeat(1, 2), cos.shape[-1]

    def one(x: Tensor) -> Tensor:
        turned = x * table
        turned[..., :half].addcmul_(x[..., half:], sin, value=-1)
        turned[..., half:].addcmul_(x[..., :half], sin)
        return turned

    return lambda q, k: (one(q), one(k))


FORMS: dict[str, Build] = {
    "pe_lib, interleaved": pe_lib("interleaved"),
    "pe_lib, half_split": pe_lib("half_split"),
    "rotate_half (transformers, Llama)": transformers_llama,
    "rotate_every_two (transformers, GPT-J)": transformers_gptj,
    "complex (transformers, Llama 4)": transformers_llama4,
    "x-transformers": x_transformers,
    "halves, addcmul_ in place": halves_in_place,
    "one multiplication": multiplied,
}
COMMON = "rotate_half (transformers, Llama)"
NEIGHBOURS = "rotate_every_two (transformers, GPT-J)"
COMPLEX = "complex (transformers, Llama 4)"
ALONE = "one multiplication"


def once(form: Both, q: Tensor, k: Tensor, backward: bool) -> float:
    """Seconds of processor time for a call, perhaps with its gradients."""
    calls = max(1, 2**19 // q.numel())  # a clock has its grain
    begin = time.process_time()
    if backward:
        q, k = (x.detach().requires_grad_() for x in (q, k))
        turned = form(q, k)
        torch.autograd.grad(turned, (q, k), turned)
    else:
        with torch.no_grad():
            for _ in range(calls):
                form(q, k)
        return (time.process_time() - begin) / calls
    return time.process_time() - begin


def measure(
    forms: dict[str, Both], dtype: torch.dtype, shape: Shape, backward: bool
) -> dict[str, list[float]]:
    """Seconds of each form in each round."""
    q, k = torch.randn(2, *shape).to(dtype)
    times: dict[str, list[float]] = {name: [] for name in forms}
    for turn in range(ROUNDS + 2):
        for name in random.sample(list(forms), len(forms)):
            seconds = once(forms[name], q, k, backward)
            if turn > 1:
                times[name].append(seconds)
    return times


def compare(forms: dict[str, Both], dtype: torch.dtype, backward: bool) -> list[str]:
    """A line for each form."""
    times = measure(forms, dtype, SHAPE, backward)
    lines = []
    for name, mine in times.items():
        row = f"{name:40}{1e3 * statistics.median(mine):8.1f}"
        for other in (COMMON, ALONE):
            ratios = [a / b for a, b in zip(times[other], mine, strict=True)]
            low, middle, high = statistics.quantiles(ratios, n=4)
            row += f"{middle:8.2f} ({low:.2f} to {high:.2f})"
        lines.append(row)
    return lines


def other_shapes(builds: dict[str, Build], compiled: bool) -> Iterator[str]:
    """How many times faster than rotate_half, forward, for other texts."""
    known = ("pe_lib, interleaved", "pe_lib, half_split", COMPLEX, NEIGHBOURS)
    shown = [name for name in known if name in builds]
    title = f"forward{', compiled' * compiled}, times as fast as rotate_half"
    yield f"{title:48}" + "".join(
        f"{name.removeprefix('pe_lib, ').partition(' (')[0]:>18}" for name in shown
    )
    for shape in OTHERS[compiled * 2 :]:  # one token alone measures the guards
        for dtype in DTYPES:
            forms = {name: builds[name](dtype, shape) for name in (*shown, COMMON)}
            if compiled:
                torch.compiler.reset()
                forms = {name: torch.compile(form) for name, form in forms.items()}
            times = measure(forms, dtype, shape, backward=False)
            row = f"{list(shape)!s:22}{str(dtype).removeprefix('torch.'):26}"
            for name in shown:
                ratios = zip(times[COMMON], times[name], strict=True)
                row += f"{statistics.median(a / b for a, b in ratios):18.2f}"
            yield row


def largest_error(form: Both, dtype: torch.dtype, layout: str) -> float:
    """How far it is from the same in float64, beside the largest number."""
    q, k = torch.randn(2, *SHAPE).to(dtype)
    exact = RotaryEmbedding(SHAPE[-1], max_length=SHAPE[-2], layout=layout).double()
    errors = [
        (turned.double() - right).abs().max() / right.abs().max()
        for turned, right in zip(form(q, k), exact(q.double(), k.double()), strict=True)
    ]
    return float(max(errors))


def installed() -> tuple[dict[str, Build], list[str]]:
    """The forms whose programs are here, and a line for each that is not."""
    found, missing = {}, []
    for name, build in FORMS.items():
        try:
            form: Any = build(torch.float32, SHAPE)
            form(*torch.randn(2, 1, 1, *SHAPE[2:]))
            found[name] = build
        except Exception as error:
            missing.append(f"{name}: left out ({type(error).__name__}: {error})")
    return found, missing


def report() -> list[str]:
    """Measure everything."""
    builds, missing = installed()
    peers = ", ".join(
        f"{name} {version(name)}" for name in ("transformers", "x-transformers")
    )
    lines = [
        f"{datetime.date.today()}, {processor()}, one thread",
        f"Python {platform.python_version()}, torch {torch.__version__}, {peers}",
        "",
        f"q and k of {list(SHAPE)}: milliseconds of processor time (median of {ROUNDS}",
        "rounds in random order), and how many times faster than rotate_half and than",
        "one multiplication (median of the ratios in a round, and their middle half).",
        *missing,
    ]
    for dtype in DTYPES:
        forms = {name: build(dtype, SHAPE) for name, build in builds.items()}
        for backward in (False, True):
            what = "forward and backward" if backward else "forward"
            title = f"{str(dtype).removeprefix('torch.')}, {what}"
            lines += ["", f"{title:40}{'ms':>8}{'rotate_half':>12}{'multiply':>22}"]
            lines += compare(forms, dtype, backward)
        lines += ["", "largest error beside the largest number"]
        for name, layout in (
            ("pe_lib, interleaved", "interleaved"),
            ("complex (transformers, Llama 4)", "interleaved"),
            ("pe_lib, half_split", "half_split"),
            (COMMON, "half_split"),
        ):
            if name in forms:
                lines.append(
                    f"{name:40}{largest_error(forms[name], dtype, layout):8.1e}"
                )
    if COMMON in builds:
        for compiled in (False, True):
            lines += ["", *other_shapes(builds, compiled)]
    return lines


if __name__ == "__main__":
    torch.set_num_threads(1)
    keep(__file__, report())
