r"""Train every scheme and every seed at once on a task, and test them.

The members of an ensemble see the same sequences if they have the same seed. The
sum of their losses is trained in one go.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from pe_lib._arguments import as_choice, as_integer, as_reals
from pe_lib.experiments.model import Ensemble
from pe_lib.experiments.schemes import ENCODING_RMS, SCHEMES, Scheme
from pe_lib.experiments.tasks import NO_ANSWER, TASKS, Task

RATE, WARM_UP = 0.01, 50
SEQUENCES = 16
"""Sequences in a step of training, for each member."""
TEST_TOKENS = 16_384
"""Tokens on which each member is tested, at each length."""


@dataclass(frozen=True)
class Score:
    """One row of the result: a member's share of right answers at one length."""

    task: str
    scheme: str
    seed: int
    length: int
    accuracy: float


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
) -> list[Score]:
    """Train every scheme with every seed on a task, and test them.

    A pre-LN transformer of width 32 with 2 heads for each member; Adam at 0.01
    with warm-up and cosine decay, 16 sequences a step. A run is reproducible bit
    for bit on one machine with one number of threads, and leaves torch's global
    random state alone.

    Parameters
    ----------
    task : str or Task
        A key of TASKS, or a task of your own.
    schemes : sequence of keys of SCHEMES, or mapping of keys to Scheme
    steps : int
        At least 1.
    train_lengths : (int, int)
        Each step draws its length from this range, both ends included.
    test_lengths : sequence of int
    seeds : int
        How many: seeds 0, 1, 2 ...
    layers : int
        At least 1.
    token_std : float
        Standard deviation of the tokens' vectors at the start. The default makes
        them as loud as a sinusoid.
    examples : int or None
        Train on so many sequences only, of one length, instead of fresh ones.

    Returns
    -------
    list of Score
        One row for each scheme, seed and test length, in this order.

    Raises
    ------
    TypeError
        If a count or a length is no integer, `token_std` no number, or a scheme
        in a mapping no Scheme.
    ValueError
        If the task or a scheme is unknown, a length is outside the task's range,
        a count is below 1, or there is nothing to train or to test. All before
        anything is trained.

    Examples
    --------
    >>> rows = train("copy", ["none", "rotary"], steps=2, seeds=2)
    >>> [(row.scheme, row.seed, row.length) for row in rows]
    [('none', 0, 16), ('none', 1, 16), ('rotary', 0, 16), ('rotary', 1, 16)]
    """
    chosen = (
        task if isinstance(task, Task) else TASKS[as_choice("task", task, tuple(TASKS))]
    )
    members = _as_schemes(schemes)
    steps = as_integer("steps", steps, at_least=1)
    seeds = as_integer("seeds", seeds, at_least=1)
    layers = as_integer("layers", layers, at_least=1)
    std = _as_positive("token_std", token_std)
    shortest, longest = _as_range(train_lengths, chosen)
    tested = [chosen.as_length("test_lengths", n) for n in _as_list(test_lengths)]
    if examples is not None:
        examples = as_integer("examples", examples, at_least=1)
        if shortest != longest:
            raise ValueError(
                "train_lengths must be one length where examples are counted, got "
                f"{(shortest, longest)}"
            )
    model = Ensemble(
        chosen,
        members.values(),
        seeds=seeds,
        layers=layers,
        token_std=std,
        trained_length=longest,
        lengths={*range(shortest, longest + 1), *tested},
    )
    fit(model, steps, (shortest, longest), examples)
    accuracy = {n: accuracy_at(model, n) for n in tested}
    return [
        Score(chosen.name, name, seed, n, float(accuracy[n][i, seed]))
        for i, name in enumerate(members)
        for seed in range(seeds)
        for n in tested
    ]


def fit(
    model: Ensemble, steps: int, lengths: tuple[int, int], examples: int | None
) -> None:
    """Train a model in place; each step draws its length from a range."""
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE, fused=True)
    random = [torch.Generator().manual_seed(1_000 + s) for s in range(model.seeds)]
    of_lengths = torch.Generator().manual_seed(0)
    low, high = lengths
    kept = None if examples is None else _draw(model.task, high, examples, random)
    for step in range(steps):
        length = int(torch.randint(low, high + 1, (), generator=of_lengths))
        if kept is None:
            tokens, answers = _draw(model.task, length, SEQUENCES, random)
        else:
            tokens, answers = _some_of(kept, random)
        warm, share = min(1, (step + 1) / WARM_UP), step / steps
        for group in optimizer.param_groups:
            group["lr"] = RATE * warm * (1 + math.cos(math.pi * share)) / 2
        optimizer.zero_grad()
        _loss(model(tokens), answers).backward()  # type: ignore[no-untyped-call]
        optimizer.step()


def _draw(
    task: Task, length: int, count: int, random: list[torch.Generator]
) -> tuple[Tensor, Tensor]:
    """Sequences [seeds, count, length] and their answers, flat: [seeds, ...]."""
    drawn = [task.draw(length, count, generator) for generator in random]
    tokens = torch.stack([tokens for tokens, _ in drawn])
    return tokens, torch.stack([answers.flatten() for _, answers in drawn])


def _some_of(
    kept: tuple[Tensor, Tensor], random: list[torch.Generator]
) -> tuple[Tensor, Tensor]:
    tokens, answers = kept
    count = tokens.shape[1]
    answers = answers.view(len(answers), count, -1)
    chosen = [torch.randint(count, (SEQUENCES,), generator=g) for g in random]
    tokens = torch.stack([t[c] for t, c in zip(tokens, chosen, strict=True)])
    answers = torch.stack([a[c] for a, c in zip(answers, chosen, strict=True)])
    return tokens, answers.flatten(1)


def _loss(logits: Tensor, answers: Tensor) -> Tensor:
    """The sum over the members of each one's mean cross entropy."""
    wanted = answers.repeat(len(logits) // len(answers), 1)
    asked = (answers[0] != NO_ANSWER).sum()
    total = functional.cross_entropy(
        logits.flatten(0, 1), wanted.flatten(), ignore_index=NO_ANSWER, reduction="sum"
    )
    return total / asked


@torch.no_grad()
def accuracy_at(model: Ensemble, length: int) -> NDArray[np.float64]:
    """The share of right answers, [schemes, seeds]."""
    random = [torch.Generator().manual_seed(2_000 + s) for s in range(model.seeds)]
    count = max(1, 512 // length)
    rights, asked = torch.zeros(len(model.schemes), model.seeds), 0
    for _ in range(TEST_TOKENS // (count * length)):
        tokens, answers = _draw(model.task, length, count, random)
        found = model(tokens).argmax(-1).view(-1, *answers.shape)
        rights += ((found == answers) & (answers != NO_ANSWER)).sum(-1)
        asked += int((answers[0] != NO_ANSWER).sum())
    return (rights.double() / asked).numpy()


def _as_schemes(schemes: Sequence[str] | Mapping[str, Scheme]) -> dict[str, Scheme]:
    if isinstance(schemes, Mapping):
        found = dict(schemes)
        for name, scheme in found.items():
            if not isinstance(name, str) or not isinstance(scheme, Scheme):
                raise TypeError(f"schemes must map keys to Scheme, got {scheme!r}")
            as_choice("bias", scheme.bias, ("", "alibi", "t5"))
    else:
        names = _as_list(schemes, "schemes")
        known = [as_choice("schemes", name, tuple(SCHEMES)) for name in names]
        found = {name: SCHEMES[name] for name in known}
        if len(found) < len(names):
            raise ValueError(f"schemes must be different, got {names}")
    if not found:
        raise ValueError("schemes must not be empty, got none")
    return found


def _as_list(values: object, name: str = "test_lengths") -> list[object]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a sequence, got {values!r}")
    found = list(values)
    if not found:
        raise ValueError(f"{name} must not be empty, got {values!r}")
    return found


def _as_range(lengths: object, task: Task) -> tuple[int, int]:
    pair = _as_list(lengths, "train_lengths")
    if len(pair) != 2:
        raise ValueError(f"train_lengths must be two lengths, got {lengths!r}")
    low, high = (task.as_length("train_lengths", n) for n in pair)
    if low > high:
        raise ValueError(f"train_lengths must not fall, got {lengths!r}")
    return low, high


def _as_positive(name: str, value: float) -> float:
    number = as_reals(name, value)
    if number.ndim:
        raise TypeError(f"{name} must be a single number, got shape {number.shape}")
    if not 0 < number < math.inf:
        raise ValueError(f"{name} must be finite and above 0, got {value!r}")
    return float(number)
