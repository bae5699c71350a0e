"""Which pairs of a rotary model break it on longer texts: some of them are held.

To *hold* a pair is to give it, for keys further away than the longest offset of
training, the angle of that offset; the other pairs go on. If the model works again,
it is enough to hold these pairs; other sets may be enough as well.
"""

import math
from collections.abc import Sequence

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from pe_lib.experiments.attention import Intervention, cos_sin
from pe_lib.nn import rotate


def holding(frequencies: ArrayLike, held: Sequence[int], longest: int) -> Intervention:
    """Keys further away than `longest` get the angles of that offset for some pairs."""
    omega = torch.as_tensor(frequencies, dtype=torch.float64)
    heard: list[Tensor] = []

    def listen(_: int, query: Tensor, key: Tensor, __: Tensor) -> None:
        heard[:] = query, key

    def scores(*positions: Tensor) -> Tensor:
        left, right = (
            rotate(x, *cos_sin(at * omega), "interleaved")
            for x, at in zip(heard, positions, strict=True)
        )
        return left @ right.mT / math.sqrt(left.shape[-1])

    def change(_: int, weights: Tensor) -> Tensor:
        positions = torch.arange(weights.shape[-1])
        own = positions[:, None].repeat(1, len(omega))
        of_query, of_key = own.clone(), own.clone()
        of_query[:, list(held)], of_key[:, list(held)] = longest, 0
        offsets = positions[:, None] - positions
        far = offsets > longest
        found = torch.where(far, scores(of_query, of_key), scores(own, own))
        return found.masked_fill_(offsets < 0, -torch.inf).softmax(-1)

    return Intervention(listen=listen, change=change)
