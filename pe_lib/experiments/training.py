"""Train every scheme and every seed at once on a task, and test them."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from pe_lib._arguments import as_choice, as_integer, as_positive
from pe_lib.experiments.ensemble import Ensemble
from pe_lib.experiments.loop import fit
from pe_lib.experiments.schemes import ENCODING_RMS, SCHEMES, Scheme
from pe_lib.experiments.tasks import NO_ANSWER, TASKS, Task

RATE = 0.01
SEQUENCES = 8
"""Sequences in a step of training, for each member."""
TEST_TOKENS, TEST_SEQUENCES = 8_192, 512
"""On so many tokens each member is tested at each length, or on so many sequences
where there is one answer a sequence."""
BLOCK = 8
"""Queries in a block, where scores are split by the position of the query."""


@dataclass(frozen=True)
class Score:
    """One row of the result: a member's share of right answers at one length.

    ``start`` is the position of the first token of the tests, ``queries`` which
    queries were asked: "all", those "inside" the longest trained length, those
    "beyond" it, or a block of positions such as "24-31".
    """

    task: str
    scheme: str
    seed: int
    length: int
    accuracy: float
    start: int = 0
    queries: str = "all"


def score_rows(
    task: str,
    schemes: Iterable[str],
    seeds: Iterable[int],
    lengths: Sequence[int],
    accuracies: Callable[[str, int], Iterable[float]],
) -> list[Score]:
    """The rows of a task from `accuracies` of a scheme at a length, one for each seed.

    >>> rows = score_rows("copy", ["none"], [4, 5], [16], lambda scheme, n: (0.5, 1))
    >>> [(row.seed, row.length, row.accuracy) for row in rows]
    [(4, 16, 0.5), (5, 16, 1.0)]
    """
    rows = []
    for scheme in schemes:
        found = [list(accuracies(scheme, n)) for n in lengths]
        for i, seed in enumerate(seeds):
            rows += [
                Score(task, scheme, seed, n, float(of_seeds[i]))
                for n, of_seeds in zip(lengths, found, strict=True)
            ]
    return rows


def train(
    task: str | Task,
    schemes: Sequence[str] | Mapping[str, Scheme],
    *,
    steps: int,
    train_lengths: tuple[int, int] = (8, 24),
    test_lengths: Sequence[int] = (16,),
    seeds: int = 5,
    layers: int = 1,
    token_std: float = ENCODING_RMS,
    examples: int | None = None,
    rate: float | Mapping[str, float] = RATE,
    first_seed: int = 0,
    train_starts: int = 0,
    test_starts: Sequence[int] = (0,),
    by_query: bool = False,
) -> list[Score]:
    """Train every scheme with every seed on a task, and test them.

    A pre-LN transformer with 2 heads for each member; 8 sequences a step. A run is
    reproducible bit for bit on one machine with one number of threads, and leaves
    torch's random state alone.

    Parameters
    ----------
    task : str or Task
        A key of TASKS, or a task of your own.
    schemes : sequence of keys of SCHEMES, or mapping of keys to Scheme
    steps, layers : int
        At least 1.
    train_lengths : (int, int)
        Each step draws its length from this range, both ends included.
    test_lengths, test_starts : sequences of int
        How long the tests are, and where they begin.
    seeds, first_seed : int
        How many, and the first of them: 0, 1, 2 ... or 100, 101, 102 ...
    token_std : float
        Standard deviation of the tokens' vectors at the start; as loud as a sinusoid.
    examples : int or None
        Train on so many sequences only, of one length, instead of fresh ones.
    rate : float or mapping of keys to float
        Adam's learning rate, for all schemes or for each.
    train_starts : int
        Each step draws the position of its first token from 0 to this number.
    by_query : bool
        Also score queries inside and beyond apart, and in blocks of 8 positions.

    Returns one Score for each scheme, seed, length and start; with ``by_query`` more.
    Raises TypeError or ValueError for an unknown task or scheme, layers, token_std or
    starts out of range, or arguments that do not go together.

    Examples
    --------
    >>> rows = train("copy", ["none", "rotary"], steps=2, seeds=2)
    >>> [(row.scheme, row.seed, row.length) for row in rows]
    [('none', 0, 16), ('none', 1, 16), ('rotary', 0, 16), ('rotary', 1, 16)]
    """
    if not isinstance(task, Task):
        task = TASKS[as_choice("task", task, tuple(TASKS))]
    if not isinstance(schemes, Mapping):
        names = [as_choice("schemes", name, tuple(SCHEMES)) for name in schemes]
        schemes = {name: SCHEMES[name] for name in names}
    layers = as_integer("layers", layers, at_least=1)
    token_std = as_positive("token_std", token_std)
    train_starts = as_integer("train_starts", train_starts, at_least=0)
    test_starts = [as_integer("test_starts", s, at_least=0) for s in test_starts]
    shortest, longest = train_lengths
    if examples is not None and shortest != longest:
        raise ValueError(
            "train_lengths must be one length where examples are counted, got "
            f"{train_lengths}"
        )
    if by_query and task.pooled:
        raise ValueError(f"by_query must be False for the task {task.name!r}")
    of_schemes = rate if isinstance(rate, Mapping) else dict.fromkeys(schemes, rate)
    model = Ensemble(
        task,
        schemes.values(),
        seeds=seeds,
        layers=layers,
        token_std=token_std,
        trained_length=longest,
        longest=max(train_starts + longest, max(test_starts) + max(test_lengths)),
        first_seed=first_seed,
    )
    fit_ensemble(
        model,
        steps,
        train_lengths,
        examples=examples,
        rates=[of_schemes[name] for name in schemes],
        starts=train_starts,
    )
    rows = []
    for n, start in product(test_lengths, test_starts):
        right, asked = answers_at(model, n, start)
        groups = _groups(n, longest) if by_query else {"all": slice(None)}
        for queries, part in groups.items():
            if not asked[part].any():
                continue
            shares = right[..., part].sum(-1) / asked[part].sum()
            for name, of_scheme in zip(schemes, shares.tolist(), strict=True):
                rows += [
                    Score(task.name, name, seed, n, share, start, queries)
                    for seed, share in zip(model.numbers, of_scheme, strict=True)
                ]
    order = list(schemes)
    return sorted(rows, key=lambda row: (order.index(row.scheme), row.seed))


def _groups(length: int, trained: int) -> dict[str, slice]:
    """The queries that are scored together, by name."""
    groups = {
        "all": slice(None),
        "inside": slice(trained),
        "beyond": slice(trained, length),
    }
    for first in range(0, length, BLOCK):
        last = min(first + BLOCK, length) - 1
        groups[f"{first}-{last}"] = slice(first, last + 1)
    return groups


def fit_ensemble(
    model: Ensemble,
    steps: int,
    lengths: tuple[int, int],
    *,
    examples: int | None = None,
    rates: Sequence[float] = (RATE,),
    starts: int = 0,
) -> NDArray[np.float64]:
    """Train an ensemble in place on its task, as :func:`train` says.

    ``rates`` has one rate for each scheme, or one for all. Returns the mean cross
    entropies [steps, members].
    """
    shares = torch.tensor([rate / max(rates) for rate in rates]).float()
    shares = shares.repeat_interleave(model.members // len(rates))[:, None, None]
    random = [torch.Generator().manual_seed(1_000 + s) for s in model.numbers]
    of_lengths = torch.Generator().manual_seed(0)
    low, high = lengths
    kept = None if examples is None else _draw(model.task, high, examples, random)

    def loss_at(_: int) -> Tensor:
        length = int(torch.randint(low, high + 1, (), generator=of_lengths))
        start = None
        if starts:
            start = int(torch.randint(starts + 1, (), generator=of_lengths))
        if kept is None:
            tokens, answers = _draw(model.task, length, SEQUENCES, random)
        else:
            tokens, answers = _some_of(kept, random)
        return _loss(model.logits(tokens, start), answers.flatten(1))

    different = shares if len(set(rates)) > 1 else None
    losses = fit(model.parameters(), loss_at, steps, max(rates), shares=different)
    return torch.stack(losses).double().numpy()


def _draw(
    task: Task, length: int, count: int, random: list[torch.Generator]
) -> tuple[Tensor, Tensor]:
    """Sequences [seeds, count, length] and their answers."""
    drawn = [task.draw(length, count, generator) for generator in random]
    tokens, answers = (torch.stack(part) for part in zip(*drawn, strict=True))
    return tokens, answers


def _some_of(
    kept: tuple[Tensor, Tensor], random: list[torch.Generator]
) -> tuple[Tensor, Tensor]:
    count = kept[0].shape[1]
    chosen = [torch.randint(count, (SEQUENCES,), generator=g) for g in random]
    tokens, answers = (
        torch.stack([of[c] for of, c in zip(part, chosen, strict=True)])
        for part in kept
    )
    return tokens, answers


def _loss(logits: Tensor, answers: Tensor) -> Tensor:
    """Each member's mean cross entropy."""
    wanted = answers.repeat(len(logits) // len(answers), 1)
    asked = (answers[0] != NO_ANSWER).sum()
    each = functional.cross_entropy(
        logits.flatten(0, 1), wanted.flatten(), ignore_index=NO_ANSWER, reduction="none"
    )
    return each.view_as(wanted).sum(1) / asked


@torch.no_grad()
def answers_at(model: Ensemble, length: int, start: int = 0) -> tuple[Tensor, Tensor]:
    """How many right answers [schemes, seeds, queries], of how many [queries].

    A pooled task has one query. Positions begin at `start`.
    """
    random = [torch.Generator().manual_seed(2_000 + s) for s in model.numbers]
    count = max(1, 512 // length)
    pooled = model.task.pooled
    total = TEST_SEQUENCES if pooled else max(1, TEST_TOKENS // length)
    queries = 1 if pooled else length
    right = torch.zeros(len(model.schemes), model.seeds, queries).double()
    asked = torch.zeros(queries).double()
    for _ in range(math.ceil(total / count)):
        tokens, answers = _draw(model.task, length, count, random)
        answers = answers.flatten(1)
        found = model.logits(tokens, start or None).argmax(-1).view(-1, *answers.shape)
        hits = (found == answers) & (answers != NO_ANSWER)
        right += hits.view(*hits.shape[:2], -1, queries).sum(-2)
        asked += (answers[0] != NO_ANSWER).view(-1, queries).sum(0)
    return right, asked
