"""Which pairs of a rotary reader break it on longer texts: some of them are held.

To *hold* a pair is to give it, for keys further away than the longest offset of
training, the angle of that offset; the other pairs go on. If the reader works again,
it is enough to hold these pairs; other sets may be enough as well.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from pe_lib.experiments import stretched
from pe_lib.experiments.attention import Intervention, cos_sin
from pe_lib.experiments.training import Score, score_rows
from pe_lib.frequencies import angular_frequencies
from pe_lib.nn import rotate

STEPS, WORDS = 1_000, 1_024
"""Steps of training, and words of each: 16 texts of 64 words or 4 of 256."""
TEXTS = 16
"""How many texts a reader is asked about at each length and task."""
HELD = ("none", "slow", "fast", "all")
"""Slow pairs did not come round in the longest text of training, fast ones did."""


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


def groups(frequencies: NDArray[np.float64], longest: int) -> dict[str, list[int]]:
    """The pairs that are held, by the names of HELD."""
    fast = frequencies * longest >= 2 * np.pi
    found = {"none": fast & ~fast, "slow": ~fast, "fast": fast, "all": fast | ~fast}
    return {name: np.flatnonzero(which).tolist() for name, which in found.items()}


def measure(
    schemes: Sequence[str],
    *,
    longest: int,
    turns_of: int,
    rate: float,
    seeds: int,
    test_lengths: Sequence[int],
) -> list[Score]:
    """Train readers of each seed up to a length, and test them with pairs held.

    `schemes` are a task and what is held, as in "lag/fast". The frequencies are those
    of base 10,000 times `turns_of` / `longest`, so that a pair makes in `longest` words
    the turns that it would make in `turns_of`. Raises ValueError for an unknown scheme.
    """
    asked = stretched.split_schemes(schemes, "held", HELD)
    frequencies = angular_frequencies(stretched.HEAD_DIM) * (turns_of / longest)
    each = range(seeds)
    model = stretched.readers(each)
    stretched.train(
        model,
        each,
        frequencies,
        lengths=(longest // 4, longest),
        texts_a_step=WORDS // longest,
        steps=STEPS,
        rate=rate,
    )
    held = groups(frequencies, longest)

    def shares(scheme: str, n: int) -> NDArray[np.float64]:
        task, name = asked[scheme]
        return stretched.share_right(
            model,
            task,
            n,
            frequencies,
            seeds=each,
            words=TEXTS * (n - n // 2),
            at_once=1,
            intervention=holding(frequencies, held[name], longest),
        )

    return score_rows("held", schemes, each, test_lengths, shares)
