"""Random positions in order: Ruoss and others, 2023, under this book's protocol.

The n tokens of a sequence get n different positions, drawn from 0 to ``spread - 1``
and sorted, in training and in the test. As in the program of the paper's authors they
are drawn anew for each batch, and all sequences of the batch share them. All else is
:mod:`pe_lib.experiments.training`: the same first weights, sequences and rates.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from pe_lib._arguments import as_choice, as_integer
from pe_lib.experiments.model import BUCKETS, Ensemble, PositionTerms
from pe_lib.experiments.schemes import ENCODING_RMS, SCHEMES
from pe_lib.experiments.tasks import TASKS
from pe_lib.experiments.training import Score, answers_at, fit


class RandomPositions(Ensemble):
    """An ensemble that gives each batch positions drawn anew.

    ``spread`` is the number of positions to draw from.
    """

    def __init__(self, *args: Any, spread: int, **settings: Any) -> None:
        super().__init__(*args, **settings, reach=spread)
        self.spread = spread
        self.drawn = torch.Generator().manual_seed(0)

    def positions(self, length: int) -> Tensor:
        """So many different positions, in order."""
        shuffled = torch.randperm(self.spread, generator=self.drawn)
        return shuffled[:length].sort().values

    def forward(self, tokens: Tensor, start: int = 0) -> Tensor:
        """Logits as those of an Ensemble, at positions that are drawn now."""
        del start  # positions are drawn instead
        length = tokens.shape[-1]
        at = self.positions(length)
        all_terms, usual = self._terms[self.spread], self._terms[length]
        codes = all_terms.codes + all_terms.is_learned * self.table
        buckets = all_terms.bucket_one_hot.view(BUCKETS, self.spread, self.spread)
        self._terms[length] = PositionTerms(
            codes=codes[:, at],
            is_learned=torch.zeros_like(all_terms.is_learned),
            cos=all_terms.cos[:, :, at],
            sin=all_terms.sin[:, :, at],
            bias=all_terms.bias[:, :, at][..., at],
            t5_scale=all_terms.t5_scale,
            bucket_one_hot=buckets[:, at][..., at].flatten(1),
        )
        try:
            return super().forward(tokens)
        finally:
            self._terms[length] = usual


def measure(
    task: str,
    schemes: Sequence[str],
    *,
    spread: int,
    steps: int,
    rate: float | Mapping[str, float],
    seeds: int = 5,
    first_seed: int = 0,
    train_lengths: tuple[int, int] = (8, 24),
    test_lengths: Sequence[int] = (16,),
) -> list[Score]:
    """Train with random positions, and test with others: the scores of every seed.

    The arguments are those of :func:`pe_lib.experiments.training.train`; ``spread``,
    the number of positions to draw from, must be at least the longest length.

    >>> rows = measure("copy", ["none"], spread=32, steps=1, rate=0.01, seeds=1)
    >>> [(row.scheme, row.length) for row in rows]
    [('none', 16)]
    """
    chosen = TASKS[as_choice("task", task, tuple(TASKS))]
    longest = max(*train_lengths, *test_lengths)
    spread = as_integer("spread", spread, at_least=longest)
    rates = rate if isinstance(rate, Mapping) else dict.fromkeys(schemes, rate)
    low, high = train_lengths
    model = RandomPositions(
        chosen,
        [SCHEMES[name] for name in schemes],
        seeds=seeds,
        layers=1,
        token_std=ENCODING_RMS,
        trained_length=high,
        lengths={*range(low, high + 1), *test_lengths, spread},
        first_seed=first_seed,
        spread=spread,
    )
    fit(model, steps, (low, high), None, rates=[rates[name] for name in schemes])
    shares = {}
    for length in test_lengths:
        model.drawn.manual_seed(length)
        right, asked = answers_at(model, length)
        shares[length] = right.sum(-1) / asked.sum()
    return [
        Score(chosen.name, name, seed, length, float(shares[length][i, j]))
        for i, name in enumerate(schemes)
        for j, seed in enumerate(model.numbers)
        for length in test_lengths
    ]
