"""Toy tasks that need positions: a model that is blind to order cannot solve them.

Every sequence consists of tokens 0 to 15, and its answers follow from it without
doubt, so a model that has understood the task scores 100 %. What the best model
without order scores is :func:`best_without_order`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor
from torch.nn import functional

from pe_lib._arguments import as_integer

NUM_TOKENS = 16
NO_ANSWER = -100
"""Stands where a token has no answer; torch's cross entropy leaves it out."""

_Pair = tuple[Tensor, Tensor]
_Draw = Callable[[int, int, torch.Generator], _Pair]


@dataclass(frozen=True)
class Task:
    """One question about sequences of tokens.

    Attributes
    ----------
    name, question : str
    shortest : int
        The shortest length at which the question makes sense.
    answers : int
        How many different answers there are.
    tokens : int
        How many different tokens there are.
    pooled : bool
        One answer a sequence, to be read off the mean over its positions; otherwise
        one answer a token.
    causal : bool
        A token sees itself and the tokens before it, not those after it.
    """

    name: str
    question: str
    shortest: int
    answers: int = NUM_TOKENS
    tokens: int = NUM_TOKENS
    pooled: bool = False
    causal: bool = False
    sequences: _Draw = field(repr=False, kw_only=True)

    def draw(
        self, length: int, count: int, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """Sequences [count, length] and their answers, from a generator of your own.

        Answers have the same shape, with NO_ANSWER where a token has none, or
        [count] if the task is pooled. Raises TypeError or ValueError if the length is
        no integer or too short.

        >>> generator = torch.Generator().manual_seed(0)
        >>> tokens, answers = TASKS["copy"].draw(6, 1, generator)
        >>> answers[0, 3:].equal(tokens[0, :3]), answers[0, :3].tolist()
        (True, [-100, -100, -100])
        """
        length = as_integer("length", length, at_least=self.shortest)
        return self.sequences(length, count, generator)


def after_a_start(task: Task) -> Task:
    """The same question with one token more in front, the same in every sequence.

    The start token is number ``task.tokens``, which no sequence has. It has no
    answer, and every question means the sequence behind it.

    >>> task = after_a_start(TASKS["place"])
    >>> tokens, answers = task.draw(8, 1, torch.Generator().manual_seed(0))
    >>> int(tokens[0, 0]), bool(answers[0] == tokens[0, 1 + 5])
    (16, True)
    """

    def draw(length: int, count: int, generator: torch.Generator) -> _Pair:
        tokens, answers = task.sequences(length - 1, count, generator)
        tokens = functional.pad(tokens, (1, 0), value=task.tokens)
        if not task.pooled:
            answers = functional.pad(answers, (1, 0), value=NO_ANSWER)
        return tokens, answers

    return replace(
        task,
        name=f"{task.name}_after_start",
        shortest=task.shortest + 1,
        tokens=task.tokens + 1,
        sequences=draw,
    )


def best_without_order(task: str, length: int) -> float:
    """What the best guess scores that knows which tokens are there, not where.

    A token's answer is one of the other tokens that it sees (of all tokens, in the
    task "place"), each as likely as any other: the best guess is the most frequent
    one. A question with yes or no is a coin toss. The mean over 2,000 sequences,
    always the same ones.

    >>> best_without_order("order", 16)
    0.5
    >>> round(best_without_order("copy", 16), 1)
    0.2
    """
    chosen = TASKS[task]
    if chosen.answers == 2:
        return 0.5
    tokens, answers = chosen.draw(length, 2000, torch.Generator().manual_seed(0))
    one_hot = functional.one_hot(tokens, NUM_TOKENS).double()
    if chosen.pooled:
        return float(one_hot.mean(1).amax(-1).mean())
    seen = one_hot.cumsum(1) if chosen.causal else one_hot.sum(1, keepdim=True)
    others = seen - one_hot  # the answer to a token is never the token itself
    shares = others.amax(-1) / others.sum(-1)
    return float(shares[answers != NO_ANSWER].mean())


def _random(low: int, length: int, count: int, generator: torch.Generator) -> Tensor:
    return torch.randint(low, NUM_TOKENS, (count, length), generator=generator)


def _back(lag: int) -> _Draw:
    def draw(length: int, count: int, generator: torch.Generator) -> _Pair:
        tokens = _random(0, length, count, generator)
        answers = torch.full_like(tokens, NO_ANSWER)
        answers[:, lag:] = tokens[:, :-lag]
        return tokens, answers

    return draw


def _reversed(length: int, count: int, generator: torch.Generator) -> _Pair:
    tokens = _random(0, length, count, generator)
    answers = tokens.flip(1)
    if length % 2:
        answers[:, length // 2] = NO_ANSWER  # the middle is its own mirror image
    return tokens, answers


def _token_at(place: int) -> _Draw:
    def draw(length: int, count: int, generator: torch.Generator) -> _Pair:
        tokens = _random(0, length, count, generator)
        return tokens, tokens[:, place].clone()

    return draw


def _zero_before_one(length: int, count: int, generator: torch.Generator) -> _Pair:
    tokens = _random(2, length, count, generator)
    shuffled = torch.rand(count, length, generator=generator).argsort(1)
    places = shuffled[:, :2]
    tokens.scatter_(1, places, torch.tensor([0, 1]).expand(count, 2))
    return tokens, (places[:, 0] < places[:, 1]).long()


def _zero_in_first_half(length: int, count: int, generator: torch.Generator) -> _Pair:
    tokens = _random(1, length, count, generator)
    places = torch.randint(length // 2, (count, 1), generator=generator)
    answers = torch.randint(2, (count,), generator=generator)
    # A middle token belongs to neither half: no zero stands there.
    places = torch.where(answers[:, None] == 1, places, length - 1 - places)
    tokens.scatter_(1, places, 0)
    return tokens, answers


TASKS = {
    task.name: task
    for task in [
        Task("copy", "which token stands three back?", 4, sequences=_back(3)),
        Task("reverse", "which token is my mirror image?", 2, sequences=_reversed),
        Task(
            "place",
            "which token stands at position 5?",
            6,
            pooled=True,
            sequences=_token_at(5),
        ),
        Task(
            "order",
            "does token 0 come before token 1?",
            2,
            answers=2,
            pooled=True,
            sequences=_zero_before_one,
        ),
        Task(
            "half",
            "does token 0 stand in the first half?",
            2,
            answers=2,
            pooled=True,
            sequences=_zero_in_first_half,
        ),
        Task(
            "previous",
            "which token came just before?",
            2,
            causal=True,
            sequences=_back(1),
        ),
    ]
}
"""The six tasks by name: copy, reverse, place, order, half, previous."""
