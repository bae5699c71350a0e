"""Attention over a text that is cut for 2 and for 4 processes, beside one process.

    torchrun --nproc-per-node 2 tools/machines.py book/beyond/data/agreement.csv

Every rank keeps its queries; keys and values go round a ring, with three whole
numbers for each token: which it is (for the mask), its position and its document.
"""

import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from pe_lib.beyond.positions import ORDERS, document_of, packed, sharded
from pe_lib.experiments import kept
from pe_lib.nn import AlibiBias, RotaryEmbedding, SinusoidalPositionalEncoding, T5Bias

HEADS, WIDTH = 4, 16
LENGTHS = [96, 160]  # of the two documents in the text
NUMBERED = ("right", "local", "the other order", "not reset")
COLUMNS = ["scheme", "order", "positions", "ranks", "forward", "gradients", "noticed"]
SCHEMES: dict[str, Any] = {
    "sinusoid": lambda: SinusoidalPositionalEncoding(HEADS * WIDTH, max_length=0),
    "rotary": lambda: RotaryEmbedding(WIDTH, max_length=0),
    "alibi": lambda: AlibiBias(HEADS),
    "t5": lambda: T5Bias(HEADS, causal=True, init_std=1.0),
}


def send(x: Tensor, ahead: int) -> Tensor:
    """Give x to the rank so far ahead, get that of the rank as far behind."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    theirs = torch.empty_like(x, memory_format=torch.contiguous_format)
    sent = dist.isend(x.contiguous(), (rank + ahead) % ranks)
    dist.recv(theirs, (rank - ahead) % ranks)
    sent.wait()  # type: ignore[union-attr]
    return theirs


class PassOn(torch.autograd.Function):
    """To the next rank; its gradient comes back the other way."""

    forward = staticmethod(lambda _, x: send(x, 1))
    backward = staticmethod(lambda _, gradient: send(gradient, -1))  # type: ignore[assignment]


def ring(q: Tensor, k: Tensor, v: Tensor, facts: Tensor, scores: Any) -> Tensor:
    """Attention of this rank's queries [heads, n, d] over the keys of all."""
    top, theirs = q.new_full((*q.shape[:-1], 1), float("-inf")), facts
    total, mixed = torch.zeros_like(top), torch.zeros_like(q)
    for step in range(dist.get_world_size()):
        if step:
            k, v, theirs = PassOn.apply(k), PassOn.apply(v), send(theirs, 1)  # type: ignore[no-untyped-call]
        block = scores(q, k, facts, theirs)
        higher = torch.maximum(top, block.detach().amax(-1, keepdim=True))
        weights, old = (block - higher).exp(), (top - higher).exp()
        total = total * old + weights.sum(-1, keepdim=True)
        mixed, top = mixed * old + weights @ v, higher
    return mixed / total


def layer(scheme: str, facts: Tensor, *, cut: bool) -> list[Tensor]:
    """Of these tokens output and gradient, a row each; gradients of the weights."""
    torch.manual_seed(3)
    x, loud = (part[facts[0]] for part in torch.randn(2, sum(LENGTHS), HEADS * WIDTH))
    weights = torch.randn(3, x.shape[1], x.shape[1]).div(8).requires_grad_()
    module, inputs = SCHEMES[scheme](), x.requires_grad_()
    if scheme == "sinusoid":
        x = module(x, positions=facts[1])
    q, k, v = ((x @ w).unflatten(-1, (HEADS, WIDTH)).transpose(0, 1) for w in weights)
    if scheme == "rotary":
        q, k = module(q, k, positions=facts[1])

    def scores(q: Tensor, k: Tensor, mine: Tensor, theirs: Tensor) -> Tensor:
        block: Tensor = q @ k.mT / WIDTH**0.5
        if scheme in ("alibi", "t5"):
            at = {"positions": mine[1], "key_positions": theirs[1]}
            block = block + module(q.shape[1], k.shape[1], mask=False, **at)
        hidden = (theirs[0] > mine[0][:, None]) | (theirs[2] != mine[2][:, None])
        return block.masked_fill(hidden, float("-inf"))

    plain = scores(q, k, facts, facts).softmax(-1) @ v
    output = (ring(q, k, v, facts, scores) if cut else plain).transpose(0, 1).flatten(1)
    torch.autograd.backward((output * loud).sum())
    learned = [inputs, weights, *module.parameters()]
    return [output.detach(), *(part.grad for part in learned if part.grad is not None)]


def facts_of(ranks: int, rank: int, order: str, numbered: str = "right") -> Tensor:
    """Tokens, positions and documents of one rank; one of the slips, if asked for."""
    mine = {way: sharded(sum(LENGTHS), ranks, rank, order=way) for way in ORDERS}
    tokens = mine.pop(order)
    right, (other,) = packed(LENGTHS), mine.values()
    slips = right[tokens], np.arange(len(tokens)), right[other], tokens
    positions = dict(zip(NUMBERED, slips, strict=True))[numbered]
    return torch.from_numpy(np.stack([tokens, positions, document_of(LENGTHS)[tokens]]))


def gap(whole: Tensor, mine: Tensor) -> float:
    """The largest difference on any rank, beside the largest number."""
    most = (mine - whole).abs().max()
    dist.all_reduce(most, op=dist.ReduceOp.MAX)
    return float(most / whole.abs().max())


def compared(rank: int, ranks: int) -> Iterator[list[str]]:
    """A row for each scheme, cut and way of numbering."""
    for scheme in SCHEMES:
        right = layer(scheme, facts_of(1, 0, "contiguous"), cut=False)
        for order, numbered in product(ORDERS, NUMBERED):
            every = [facts_of(ranks, r, order, numbered) for r in range(ranks)]
            found = layer(scheme, every[rank], cut=True)
            gaps = [gap(right[i][every[rank][0]], found[i]) for i in (0, 1)]
            for whole, share in zip(right[2:], found[2:], strict=True):
                dist.all_reduce(share)
                gaps.append(gap(whole, share))
            # the test that a reader can keep
            shards = map(Tensor.numpy, every)
            noticed = any((at != packed(LENGTHS)[t]).any() for t, at, _ in shards)
            sizes = f"{gaps[0]:.1e}", f"{max(gaps[1:]):.1e}"
            yield [scheme, order, numbered, str(ranks), *sizes, str(noticed)]


def main() -> None:
    """One rank. The first keeps the rows, and those of other numbers of ranks."""
    dist.init_process_group("gloo", timeout=timedelta(minutes=1))
    rank, ranks = dist.get_rank(), dist.get_world_size()
    rows = [COLUMNS, *compared(rank, ranks)]
    path = sys.argv[1]
    if rank == 0:
        others = [r for r in kept.load_rows(path) if r["ranks"] != str(ranks)]
        rows += [list(row.values()) for row in others]
        command, spent = f"torchrun tools/machines.py {path}", time.process_time()
        told = {"text": {"documents": LENGTHS, "heads": HEADS, "width": WIDTH}}
        kept.save_rows(rows, path, command=command, settings=told, seconds=spent)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
