"""What every process runs: one layer over its shard, compared with the whole.

    python tools/machines/start.py --keep

starts it by torchrun; see start.py. Every rank builds the same words and weights from
one seed, takes its own shard, and sends what it computed to rank 0, which has also
computed everything alone, in the plain way.
"""

import argparse
import csv
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from ring import POSITION, TOKEN, Bias, Ring, ring_attention, scores
from torch import Tensor, nn

from pe_lib.beyond.positions import check_shards, document_of, packed, sharded
from pe_lib.nn import AlibiBias, RotaryEmbedding, SinusoidalPositionalEncoding, T5Bias

HEADS, WIDTH = 4, 16
SCHEMES = ("sinusoid", "rotary", "alibi", "t5")
NUMBERED = ("right", "local", "the other order", "not reset")


class Layer(nn.Module):
    """One layer of attention, whose positions come in one of four ways."""

    def __init__(self, scheme: str) -> None:
        super().__init__()
        self.scheme = scheme
        size = HEADS * WIDTH
        weights = torch.randn(3, size, size, generator=torch.Generator().manual_seed(1))
        self.weights = nn.Parameter(weights / size**0.5)
        self.sinusoid = SinusoidalPositionalEncoding(size, max_length=0)
        self.rotary = RotaryEmbedding(WIDTH, max_length=0)
        self.alibi, self.t5 = AlibiBias(HEADS), T5Bias(HEADS, causal=True)
        with torch.no_grad():
            random = torch.Generator().manual_seed(2)
            self.t5.weight.copy_(torch.randn(32, HEADS, generator=random))

    def parts(self, x: Tensor, positions: Tensor) -> list[Tensor]:
        """Queries, keys, values [heads, n, width] of words [n, heads * width]."""
        if self.scheme == "sinusoid":
            x = self.sinusoid(x, positions=positions)
        wide = [(x @ w).unflatten(-1, (HEADS, WIDTH)) for w in self.weights]
        q, k, v = (part.transpose(0, 1) for part in wide)
        if self.scheme == "rotary":
            q, k = self.rotary(q, k, positions=positions)
        return [q, k, v]

    def bias(self) -> Bias | None:
        """The bias, by positions alone: the mask goes by tokens."""
        module = {"alibi": self.alibi, "t5": self.t5}.get(self.scheme)
        if module is None:
            return None

        def between(queries: Tensor, keys: Tensor) -> Tensor:
            bias: Tensor = module(
                len(queries), len(keys), positions=queries, key_positions=keys,
                mask=False,
            )  # fmt: skip
            return bias

        return between


def words(n: int) -> tuple[Tensor, Tensor]:
    """The words, and what the loss multiplies the outputs by."""
    random = torch.Generator().manual_seed(0)
    x, loud = torch.randn(2, n, HEADS * WIDTH, generator=random)
    return x, loud


def whole(scheme: str, n: int, facts: Tensor) -> dict[str, Tensor]:
    """Output and gradients in one process, by plain attention and autograd."""
    layer = Layer(scheme)
    x, loud = words(n)
    x.requires_grad_()
    q, k, v = layer.parts(x, facts[POSITION])
    weights = scores(q, k, facts, facts, layer.bias()).softmax(-1)
    output = (weights @ v).transpose(0, 1).flatten(1)
    torch.autograd.backward((output * loud).sum())
    return compared(layer, x, output)


def cut(scheme: str, n: int, facts: Tensor, ring: Ring) -> dict[str, Tensor]:
    """The same on this rank's shard; gradients of weights added up over ranks."""
    layer = Layer(scheme)
    x, loud = (part[facts[TOKEN]] for part in words(n))
    x.requires_grad_()
    q, k, v = layer.parts(x, facts[POSITION])
    output = ring_attention(q, k, v, facts, ring, layer.bias())
    output = output.transpose(0, 1).flatten(1)
    torch.autograd.backward((output * loud).sum())
    result = compared(layer, x, output)
    for name in ("weights", "t5"):
        dist.all_reduce(result[name])
    return result


def compared(layer: Layer, x: Tensor, output: Tensor) -> dict[str, Tensor]:
    """What is compared."""
    grads = {"x": x.grad, "weights": layer.weights.grad, "t5": layer.t5.weight.grad}
    zeros = {"t5": torch.zeros(32, HEADS)}
    found = {name: zeros[name] if g is None else g for name, g in grads.items()}
    return {"output": output.detach(), **found}


def facts_of(
    lengths: list[int], ranks: int, rank: int, order: str, numbered: str
) -> Tensor:
    """Tokens, positions and documents of one rank; one of the slips, if asked for."""
    n = sum(lengths)
    tokens = sharded(n, ranks, rank, order=order)
    other = {"contiguous": "zigzag", "zigzag": "contiguous"}[order]
    positions = {
        "right": packed(lengths)[tokens],
        "local": np.arange(len(tokens)),
        "the other order": packed(lengths)[sharded(n, ranks, rank, order=other)],
        "not reset": tokens,
    }[numbered]
    return torch.from_numpy(np.stack([tokens, positions, document_of(lengths)[tokens]]))


def gathered(mine: Tensor, tokens: Tensor, ranks: int) -> Tensor:
    """The rows of all ranks in the order of the tokens."""
    mine, tokens = mine.contiguous(), tokens.contiguous()
    parts = [torch.empty_like(mine) for _ in range(ranks)]
    names = [torch.empty_like(tokens) for _ in range(ranks)]
    dist.all_gather(parts, mine)
    dist.all_gather(names, tokens)
    order = torch.cat(names).argsort()
    return torch.cat(parts)[order]


def agreement(lengths: list[int], ring: Ring) -> Iterator[dict[str, Any]]:
    """A row for each scheme, order and way of numbering."""
    n = sum(lengths)
    everything = facts_of(lengths, 1, 0, "contiguous", "right")
    for scheme in SCHEMES:
        right = whole(scheme, n, everything)
        for order in ("contiguous", "zigzag"):
            for numbered in NUMBERED:
                facts = facts_of(lengths, ring.ranks, ring.rank, order, numbered)
                mine = cut(scheme, n, facts, ring)
                for name in ("output", "x"):
                    mine[name] = gathered(mine[name], facts[TOKEN], ring.ranks)
                gaps = {
                    name: float((mine[name] - right[name]).abs().max() / size)
                    for name in right
                    if (size := float(right[name].abs().max()))
                }
                finite = all(bool(part.isfinite().all()) for part in mine.values())
                yield {
                    "scheme": scheme, "order": order, "positions": numbered,
                    "ranks": ring.ranks, "length": n, "documents": len(lengths),
                    "finite": finite,
                    "forward": f"{gaps.pop('output'):.1e}",
                    "gradients": f"{max(gaps.values()):.1e}",
                    "noticed": noticed(lengths, ring.ranks, order, numbered),
                }  # fmt: skip


def noticed(lengths: list[int], ranks: int, order: str, numbered: str) -> bool:
    """Whether the test of positions that a reader can keep is red."""
    facts = [facts_of(lengths, ranks, r, order, numbered).numpy() for r in range(ranks)]
    try:
        check_shards([(f[TOKEN], f[POSITION]) for f in facts], lengths=lengths)
    except AssertionError:
        return True
    return False


def cost(n: int, ring: Ring) -> dict[str, Any]:
    """How much memory one layer takes beside its weights; how much a rank sends."""
    facts = facts_of([n], ring.ranks, ring.rank, "zigzag" if ring.ranks > 1 else
                     "contiguous", "right")  # fmt: skip
    before, ring.sent = resident("VmRSS"), 0
    Path("/proc/self/clear_refs").write_text("5")  # the high water mark begins anew
    if ring.ranks == 1:
        whole("rotary", n, facts)
    else:
        cut("rotary", n, facts, ring)
    most = torch.tensor([resident("VmHWM") - before, ring.sent])
    dist.all_reduce(most, op=dist.ReduceOp.MAX)
    memory, sent = most.tolist()
    return {"ranks": ring.ranks, "length": n, "memory": memory, "sent": sent}


def resident(name: str) -> int:
    """Bytes of this process in memory, now or at most."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no {name} in /proc/self/status: memory is measured on Linux")


def own() -> str:
    """What torch's context parallelism says on this engine."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.experimental import context_parallel

    q, k, v = (torch.randn(1, 2, 8 * dist.get_world_size(), 8) for _ in range(3))
    try:
        mesh = init_device_mesh("cpu", (dist.get_world_size(),))
        with context_parallel(mesh, buffers=[q, k, v], buffer_seq_dims=[2, 2, 2]):
            nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    except Exception as error:
        return f"{type(error).__name__}: {error}".splitlines()[0]
    return "works"


def main() -> None:
    """One rank."""
    options = argparse.ArgumentParser()
    options.add_argument("--lengths", type=json.loads, required=True)
    options.add_argument("--cost", type=json.loads, default=[])
    options.add_argument("--timeout", type=float, required=True)
    options.add_argument("--own", action="store_true")
    options.add_argument("--out", type=Path, required=True)
    chosen = options.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=timedelta(seconds=chosen.timeout))
    ring = Ring()
    dist.barrier()
    rows = list(agreement(chosen.lengths, ring)) if ring.ranks > 1 else []
    costs = [cost(n, ring) for n in chosen.cost]
    says = own() if chosen.own and ring.ranks > 1 else ""
    if ring.rank == 0:
        (chosen.out / "own.txt").write_text(says)
        for name, table in (("agreement", rows), ("cost", costs)):
            if table:
                with (chosen.out / f"{name}.{ring.ranks}.csv").open("w") as file:
                    writer = csv.DictWriter(file, table[0], lineterminator="\n")
                    writer.writeheader()
                    writer.writerows(table)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
