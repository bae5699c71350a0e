"""The bias modules beside transformers' T5, BLOOM and MPT, in one run.

    make bench

prints whether the numbers are the same, and milliseconds of processor time; and keeps
what it printed in biases.txt. A benchmark is no test: nothing here can fail.
"""

import datetime
import platform
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version

import torch
from tables import keep, peer, processor
from torch import Tensor

from pe_lib.nn import AlibiBias, T5Bias

HEADS = (1, 8, 12, 16, 40, 112)
LENGTH = 2048
ROUNDS = 11


def t5(heads: int, causal: bool) -> tuple[T5Bias, Callable[[int], Tensor]]:
    """Our module, and a T5 attention with the same weights."""
    attention = peer("transformers.models.t5.modeling_t5.T5Attention")
    config = peer("transformers.models.t5.configuration_t5.T5Config")(
        num_heads=heads, d_model=heads * 8, d_kv=8, is_decoder=causal
    )
    theirs = attention(config, has_relative_attention_bias=True, layer_idx=0)
    ours = T5Bias(heads, causal=causal)
    ours.load_state_dict(theirs.relative_attention_bias.state_dict())

    def bias(length: int) -> Tensor:
        made: Tensor = theirs.compute_bias(length, length)[0]
        return made

    return ours, bias


def same_t5(heads: int, causal: bool, length: int) -> bool:
    """Whether all that a mask leaves is equal, bit by bit."""
    ours, theirs = t5(heads, causal)
    mine = ours(length, mask=False)
    seen = torch.ones(length, length).tril() if causal else torch.ones(length, length)
    return bool((mine == theirs(length))[:, seen.bool()].all())


def same_bloom(heads: int) -> str:
    """BLOOM adds slope times key position: equal up to a number for each query."""
    build = peer("transformers.models.bloom.modeling_bloom.build_alibi_tensor")
    slopes = build(torch.ones(1, 2), heads, torch.float32)[:, 0, 1]
    return largest_gap(slopes, AlibiBias(heads).slopes)


def same_mpt(heads: int) -> str:
    """MPT's tensor is the last query's row."""
    build = peer("transformers.models.mpt.modeling_mpt.build_mpt_alibi_tensor")
    row = build(heads, LENGTH)[:, 0]
    return largest_gap(row, AlibiBias(heads)(1, LENGTH)[:, 0])


def largest_gap(theirs: Tensor, ours: Tensor) -> str:
    """The largest difference beside the number."""
    if torch.equal(theirs, ours):
        return "equal"
    gap = ((theirs - ours).abs() / ours.abs().clamp(min=1e-30)).max()
    return f"{gap:.0e}"


def milliseconds(call: Callable[[], object]) -> float:
    """The median of several rounds, after two that do not count."""
    times = []
    for _ in range(ROUNDS + 2):
        begin = time.process_time()
        with torch.no_grad():
            call()
        times.append(time.process_time() - begin)
    return 1e3 * statistics.median(times[2:])


def report() -> list[str]:
    """Compare and measure everything."""
    lines = [
        f"{datetime.date.today()}, {processor()}, one thread",
        f"Python {platform.python_version()}, torch {torch.__version__}, "
        f"transformers {version('transformers')}",
        "",
        "T5Bias with the weights of transformers' T5Attention, bit by bit, on all",
        f"pairs of {LENGTH} positions (that a mask leaves), and of 300",
    ]
    for causal in (False, True):
        name = "causal" if causal else "both directions"
        same = all(same_t5(8, causal, length) for length in (300, LENGTH))
        lines.append(f"{name:40}{'equal' if same else 'DIFFERENT':>10}")
    lines += ["", "largest relative difference of the slopes, by number of heads"]
    lines.append(" " * 40 + "".join(f"{heads:>8}" for heads in HEADS))
    for name, same_as in (("BLOOM, slopes", same_bloom), ("MPT, last row", same_mpt)):
        lines.append(f"{name:40}" + "".join(f"{same_as(h):>8}" for h in HEADS))
    lines += ["", f"a bias of 16 heads, {LENGTH} x {LENGTH}: milliseconds"]
    for causal in (False, True):
        ours, theirs = t5(16, causal)
        name = "causal" if causal else "both directions"
        for who, call in (("pe_lib T5Bias", ours), ("transformers T5", theirs)):
            spent = milliseconds(lambda call=call: call(LENGTH))  # type: ignore[misc]
            lines.append(f"{f'{who}, {name}':40}{spent:10.0f}")
    alibi = AlibiBias(16, causal=True)
    lines.append(f"{'pe_lib AlibiBias':40}{milliseconds(lambda: alibi(LENGTH)):10.0f}")
    return lines


if __name__ == "__main__":
    torch.set_num_threads(1)
    keep(__file__, report())
