r"""Small rotary readers, trained on short texts and stretched to longer ones.

A text is random symbols, and one of them is the needle. Each later word asks one of
two questions: which symbol stood three back (the lag, which needs near angles), or
which symbol is the needle's (which needs to find one word, however far)? A reader is
one causal layer with rotary heads. After training nothing changes but its
frequencies: :func:`measure` tests it with each rule of :mod:`pe_lib.beyond.scaling`.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn
from torch.nn import functional

from pe_lib._arguments import as_choice, as_integer
from pe_lib.beyond import scaling
from pe_lib.experiments.training import Score
from pe_lib.frequencies import angular_frequencies
from pe_lib.nn import rotate

SYMBOLS, WIDTH, HEADS, HEAD_DIM = 16, 48, 2, 32
SHORTEST, LONGEST, LAG = 16, 64, 3
BATCH, STEPS, WARM_UP = 16, 500, 50
ASKS_LAG, ASKS_NEEDLE, IS_NEEDLE = 0, 1, 2
NO_ANSWER = -1
TASKS = ("lag", "needle")
TEST_WORDS = 4_096
"""How many words a reader is asked at each length and task, at least."""
CHOOSING_FROM = 100
"""The first seed of the readers that choose a learning rate; none is reported."""
RULES = (
    "none",
    "interpolate",
    "ntk",
    "ntk_twice",
    "dynamic_program",
    "yarn",
    "yarn_program",
    "llama3",
)


class Readers(nn.Module):
    """Readers of some seeds, side by side: each weight has a leading axis of seeds.

    Parameters
    ----------
    seeds : sequence of int
        Each draws the weights of one reader.
    width : int
        Of a word's vector; the hidden layer has twice as many.
    """

    def __init__(self, seeds: Sequence[int], width: int = WIDTH) -> None:
        super().__init__()
        draw = [torch.Generator().manual_seed(seed) for seed in seeds]

        def normal(rows: int, columns: int, size: float) -> nn.Parameter:
            drawn = [torch.randn(rows, columns, generator=g) for g in draw]
            return nn.Parameter(size * torch.stack(drawn))

        inner = HEADS * HEAD_DIM
        self.symbols = normal(SYMBOLS, width, 1)
        self.flags = normal(3, width, 1)
        self.Wq, self.Wk, self.Wv = (
            normal(width, inner, width**-0.5) for _ in range(3)
        )
        self.Wo = normal(inner, width, inner**-0.5)
        self.up = normal(width, 2 * width, width**-0.5)
        self.down = normal(2 * width, width, (2 * width) ** -0.5)
        self.answer = normal(width, SYMBOLS, width**-0.5)

    def forward(
        self,
        symbols: Tensor,
        flags: Tensor,
        frequencies: ArrayLike,
        *,
        asked_from: int = 0,
        sharper: float = 1.0,
    ) -> Tensor:
        """Guesses [seeds, texts, n - asked_from, 16] for symbols [seeds, texts, n].

        `sharper` multiplies the scores. Words before `asked_from` are not asked.
        """
        seeds, texts, n = symbols.shape
        angles = torch.from_numpy(np.outer(np.arange(n), np.asarray(frequencies)))
        cos, sin = angles.cos().float(), angles.sin().float()
        one_hot = functional.one_hot(symbols, SYMBOLS).float().flatten(1, 2)
        flag = functional.one_hot(flags, 3).float().flatten(1, 2)
        x = one_hot @ self.symbols + flag @ self.flags
        seen = _normed(x)

        def heads(W: Tensor) -> Tensor:
            split = (seen @ W).view(seeds, texts, n, HEADS, HEAD_DIM)
            return split.transpose(2, 3)

        query, key = (
            rotate(heads(W), cos, sin, "interleaved") for W in (self.Wq, self.Wk)
        )
        query, value = query[..., asked_from:, :], heads(self.Wv)
        scores = query @ key.mT * (sharper / HEAD_DIM**0.5)
        future = torch.ones(n, n, dtype=torch.bool).triu(1)[asked_from:]
        mixed = scores.masked_fill(future, -torch.inf).softmax(-1) @ value
        rest = x.view(seeds, texts, n, -1)[:, :, asked_from:].flatten(1, 2)
        x = rest + mixed.transpose(2, 3).flatten(3).flatten(1, 2) @ self.Wo
        x = x + functional.relu(_normed(x) @ self.up) @ self.down
        guess = _normed(x) @ self.answer
        return guess.view(seeds, texts, n - asked_from, SYMBOLS)


def _normed(x: Tensor) -> Tensor:
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)


def texts(
    n: int, count: int, generator: torch.Generator, *, needle_at: int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Symbols, flags and answers, each [count, n]; no answer is -1.

    The needle stands anywhere in the text, or at `needle_at`. Words up to the needle
    have no answer if they ask for it, the first three none if they ask for the lag.
    """
    symbols = torch.randint(SYMBOLS, (count, n), generator=generator)
    flags = torch.randint(2, (count, n), generator=generator)
    places = torch.randint(n, (count, 1), generator=generator)
    if needle_at is not None:
        places.fill_(needle_at)
    flags.scatter_(1, places, IS_NEEDLE)
    back = functional.pad(symbols, (LAG, 0), value=NO_ANSWER)[:, :n]
    found = symbols.gather(1, places).expand(-1, n)
    later = torch.arange(n) > places
    found = found.masked_fill(~later, NO_ANSWER)
    answers = torch.where(flags == ASKS_LAG, back, found)
    return symbols, flags, answers.masked_fill(flags == IS_NEEDLE, NO_ANSWER)


def _of_seeds(
    n: int, count: int, generators: Sequence[torch.Generator], needle_at: int | None
) -> tuple[Tensor, Tensor, Tensor]:
    drawn = [texts(n, count, g, needle_at=needle_at) for g in generators]
    symbols, flags, answers = (torch.stack(part) for part in zip(*drawn, strict=True))
    return symbols, flags, answers


def trained(
    base: float,
    seeds: Sequence[int],
    rate: float,
    *,
    steps: int = STEPS,
    width: int = WIDTH,
) -> Readers:
    """Readers of these seeds, trained on texts of 16 to 64 words.

    Adam with warm-up to `rate` and cosine decay, 16 texts of one length a step.
    """
    steps = as_integer("steps", steps, at_least=1)
    model = Readers(seeds, width)
    frequencies = angular_frequencies(HEAD_DIM, base=base)
    adam = torch.optim.Adam(model.parameters(), lr=rate)
    generators = [torch.Generator().manual_seed(1_000 + seed) for seed in seeds]
    of_lengths = torch.Generator().manual_seed(0)
    for step in range(steps):
        n = int(torch.randint(SHORTEST, LONGEST + 1, (), generator=of_lengths))
        symbols, flags, answers = _of_seeds(n, BATCH, generators, None)
        warm = min(1, (step + 1) / WARM_UP)
        for group in adam.param_groups:
            group["lr"] = rate * warm * (1 + math.cos(math.pi * step / steps)) / 2
        guess = model(symbols, flags, frequencies)
        losses = functional.cross_entropy(
            guess.flatten(0, 2), answers.flatten(), ignore_index=NO_ANSWER
        )
        adam.zero_grad()
        # Each reader's own gradient, since the mean is over all of them.
        (losses * len(seeds)).backward()  # type: ignore[no-untyped-call]
        adam.step()
    return model


def stretched(rule: str, base: float, n: int) -> NDArray[np.float64]:
    """The frequencies of a rule for a text of n words, after training up to 64.

    "none" changes nothing, at any length; "ntk_twice" slows by twice the factor;
    "dynamic_program" is transformers' with factor n / 64. Up to 64 words no rule
    changes anything. Raises ValueError for an unknown rule.
    """
    as_choice("rule", rule, RULES)
    old = angular_frequencies(HEAD_DIM, base=base)
    factor = max(1.0, n / LONGEST)
    if factor == 1:
        return old
    of_program = scaling.dynamic_factor(n, LONGEST, factor=factor)
    rules = {
        "none": lambda: old,
        "interpolate": lambda: scaling.interpolate(old, factor),
        "ntk": lambda: scaling.ntk(old, factor),
        "ntk_twice": lambda: scaling.ntk(old, 2 * factor),
        "dynamic_program": lambda: scaling.ntk(old, of_program),
        "yarn": lambda: scaling.by_parts(old, factor, LONGEST),
        "yarn_program": lambda: scaling.by_parts(old, factor, LONGEST, ramp="index"),
        "llama3": lambda: scaling.llama3(old, factor, LONGEST),
    }
    return rules[rule]()


@torch.no_grad()
def share_right(
    model: Readers,
    task: str,
    n: int,
    frequencies: ArrayLike,
    *,
    seeds: Sequence[int],
    words: int = TEST_WORDS,
) -> NDArray[np.float64]:
    """Right answers of each reader at length n: the second half asks, needle at 0.

    `seeds` draw the texts; the same texts for every model, rule and base.
    """
    as_choice("task", task, TASKS)
    asks, half = TASKS.index(task), n // 2
    right, asked = torch.zeros(len(seeds)), 0
    generators = [torch.Generator().manual_seed(2_000_000 + seed) for seed in seeds]
    count = max(1, 1_024 // n)
    while asked < words:
        symbols, flags, _ = _of_seeds(n, count, generators, 0)
        flags[..., half:] = asks
        if asks == ASKS_LAG:
            wanted = symbols[..., half - LAG : n - LAG]
        else:
            wanted = symbols[..., :1].expand(-1, -1, n - half)
        guess = model(symbols, flags, frequencies, asked_from=half).argmax(-1)
        right += (guess == wanted).flatten(1).sum(1)
        asked += count * (n - half)
    return (right.double() / asked).numpy()


def choose(
    schemes: Sequence[str], *, base: float, seeds: int, test_lengths: Sequence[int]
) -> list[Score]:
    """How sure readers of other seeds are of the right answer, for learning rates.

    `schemes` are rates, written as text; the seeds 100, 101, ... are not reported
    anywhere. "accuracy" is the geometric mean of the probability of the right
    answer on fresh texts.
    """
    chosen = [CHOOSING_FROM + seed for seed in range(as_integer("seeds", seeds))]
    frequencies = angular_frequencies(HEAD_DIM, base=base)
    rows = []
    for scheme in schemes:
        model = trained(base, chosen, float(scheme))
        sure = {n: _sureness(model, chosen, n, frequencies) for n in test_lengths}
        rows += [
            Score("choice", scheme, seed, n, float(sure[n][seed]))
            for seed in range(seeds)
            for n in test_lengths
        ]
    return rows


@torch.no_grad()
def _sureness(
    model: Readers, seeds: Sequence[int], n: int, frequencies: ArrayLike
) -> Tensor:
    generators = [torch.Generator().manual_seed(3_000_000 + seed) for seed in seeds]
    symbols, flags, answers = _of_seeds(n, 64, generators, None)
    guess = model(symbols, flags, frequencies).permute(0, 3, 1, 2)
    losses = functional.cross_entropy(
        guess, answers, ignore_index=NO_ANSWER, reduction="none"
    )
    asked = (answers != NO_ANSWER).flatten(1).sum(1)
    return (-losses.flatten(1).sum(1) / asked).exp()


def measure(
    schemes: Sequence[str],
    *,
    base: float,
    rate: float,
    seeds: int,
    test_lengths: Sequence[int],
) -> list[Score]:
    """Train readers of each seed on a base, and test them with rules.

    `schemes` are a task and a rule, as in "lag/ntk" or "needle/none".
    """
    split = {scheme: scheme.split("/") for scheme in schemes}
    each = range(as_integer("seeds", seeds, at_least=1))
    model = trained(base, each, rate)
    rows = []
    for scheme, (task, rule) in split.items():
        shares = {
            n: share_right(model, task, n, stretched(rule, base, n), seeds=each)
            for n in test_lengths
        }
        rows += [
            Score("stretched", scheme, seed, n, float(shares[n][seed]))
            for seed in each
            for n in test_lengths
        ]
    return rows


def one_reader(base: float, rate: float, seed: int) -> dict[str, Tensor]:
    """The weights of a single trained reader, as matrices."""
    state = trained(base, [seed], rate).state_dict()
    return {name: weight[0] for name, weight in state.items()}


def reader_of(weights: Mapping[str, Tensor]) -> Readers:
    """A reader that has these matrices, as :func:`one_reader` gives them."""
    model = Readers([0])
    model.load_state_dict({name: matrix[None] for name, matrix in weights.items()})
    return model
