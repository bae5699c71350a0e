"""Attention over a text that is cut for several processes: the keys go round a ring.

Every rank keeps its queries. Keys and values travel from rank to rank, with three
whole numbers for each token: which token it is (for the mask), its position (for
the encoding) and its document. After as many steps as there are ranks every query has
met every key; nobody ever held more than two ranks' keys, or a score of more than
one block.

torch has ring attention of its own (torch.distributed.tensor.experimental), for the
fused kernels of GPUs; on the CPU torch 2.13 answers that its operator has no sharding
strategy, and none of its ring kernels takes a bias. So this one is written with
torch's sends.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

Bias = Callable[[Tensor, Tensor], Tensor]
"""From positions of queries and keys to what is added: [heads, queries, keys]."""

TOKEN, POSITION, DOCUMENT = range(3)  # the rows of the whole numbers


class Ring:
    """Who comes next; and how many bytes went there."""

    def __init__(self) -> None:
        self.rank, self.ranks = dist.get_rank(), dist.get_world_size()
        self.sent = 0

    def on(self, *tensors: Tensor) -> list[Tensor]:
        """Give these to the next rank, get those of the one before."""
        tensors = tuple(tensor.contiguous() for tensor in tensors)
        received = [torch.empty_like(tensor) for tensor in tensors]
        after, before = (self.rank + 1) % self.ranks, (self.rank - 1) % self.ranks
        work = []
        for mine, theirs in zip(tensors, received, strict=True):
            work.append(dist.P2POp(dist.isend, mine, after))
            work.append(dist.P2POp(dist.irecv, theirs, before))
            self.sent += mine.numel() * mine.element_size()
        for request in dist.batch_isend_irecv(work):
            request.wait()
        return received


def ring_attention(
    q: Tensor, k: Tensor, v: Tensor, facts: Tensor, ring: Ring, bias: Bias | None
) -> Tensor:
    """Causal attention of this rank's queries [heads, n, d] over everybody's keys.

    `facts` [3, n] are whole numbers: tokens, positions, documents of this rank.
    Gradients arrive at q, k and v of their own rank; what `bias` learns gets this
    rank's share, to be added up over the ranks.
    """
    apply: Callable[..., Tensor] = _RingAttention.apply
    return apply(q, k, v, facts, ring, bias)


def scores(
    q: Tensor, k: Tensor, mine: Tensor, theirs: Tensor, bias: Bias | None
) -> Tensor:
    """Of one block: [heads, queries, keys], minus infinity where a mask hides."""
    block: Tensor = q @ k.mT / q.shape[-1] ** 0.5
    if bias is not None:
        block = block + bias(mine[POSITION], theirs[POSITION])
    later = theirs[TOKEN] > mine[TOKEN][:, None]
    other = theirs[DOCUMENT] != mine[DOCUMENT][:, None]
    return block.masked_fill(later | other, float("-inf"))


class _RingAttention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, facts: Tensor, ring: Ring,
        bias: Bias | None,
    ) -> Tensor:  # fmt: skip
        # Sums so far, as if the largest score so far were 0.
        top = q.new_full((*q.shape[:-1], 1), float("-inf"))
        total, mixed = torch.zeros_like(top), torch.zeros_like(q)
        keys, values, theirs = k, v, facts
        for step in range(ring.ranks):
            block = scores(q, keys, facts, theirs, bias)
            higher = torch.maximum(top, block.amax(-1, keepdim=True))
            weights = (block - higher).exp()
            old = (top - higher).exp()
            total = total * old + weights.sum(-1, keepdim=True)
            mixed = mixed * old + weights @ values
            top = higher
            if step < ring.ranks - 1:
                keys, values, theirs = ring.on(keys, values, theirs)
        output = mixed / total
        ctx.save_for_backward(q, k, v, facts, output, top + total.log())
        ctx.ring, ctx.bias = ring, bias
        return output

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        q, k, v, facts, output, log_total = ctx.saved_tensors
        (gradient,), ring = gradients, ctx.ring
        mean = (gradient * output).sum(-1, keepdim=True)
        for_q = torch.zeros_like(q)
        keys, values, theirs = k.detach(), v.detach(), facts
        for_keys, for_values = torch.zeros_like(k), torch.zeros_like(v)
        for step in range(ring.ranks):
            # Gradients of keys travel with them, and are home after the last step.
            with torch.enable_grad():
                block = scores(q.detach(), keys, facts, theirs, ctx.bias)
            weights = (block.detach() - log_total).exp()
            of_scores = weights * (gradient @ values.mT - mean)
            if block.requires_grad:  # the bias learns
                torch.autograd.backward(block, of_scores)
            for_values += weights.mT @ gradient
            for_q += of_scores @ keys / q.shape[-1] ** 0.5
            for_keys += of_scores.mT @ q / q.shape[-1] ** 0.5
            if ring.ranks > 1:
                moving = [for_keys, for_values]
                if step < ring.ranks - 1:
                    moving += [keys, values, theirs]
                for_keys, for_values, *rest = ring.on(*moving)
                keys, values, theirs = rest or (keys, values, theirs)
        return for_q, for_keys, for_values, None, None, None
