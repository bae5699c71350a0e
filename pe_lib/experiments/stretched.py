r"""Small rotary models, trained on short texts and stretched to longer ones.

A text is random symbols, and one of them is the needle. Each later word asks one of
two questions: which symbol stood three back (the lag, which needs near angles), or
which symbol is the needle's (which needs to find one word, however far)? A model is
one causal layer with rotary heads. After training nothing changes but its
frequencies: :func:`measure` tests it with each rule of :mod:`pe_lib.beyond.scaling`.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor
from torch.nn import functional

from pe_lib._arguments import as_choice
from pe_lib.beyond import scaling
from pe_lib.experiments.attention import causal_bias, cos_sin
from pe_lib.experiments.loop import fit
from pe_lib.experiments.model import Positions, Transformer
from pe_lib.experiments.training import Score, score_rows
from pe_lib.frequencies import angular_frequencies

Array = NDArray[np.float64]

SYMBOLS, WIDTH, HEADS, HEAD_DIM = 16, 48, 2, 32
SHORTEST, LONGEST, LAG = 16, 64, 3
BATCH, STEPS, RATE = 16, 500, 0.02
ASKS_LAG, ASKS_NEEDLE, IS_NEEDLE = 0, 1, 2
"""Flags: what a word asks, or that it is the needle; tokens 16, 17 and 18."""
NO_ANSWER = -1
TASKS = ("lag", "needle")
TEST_WORDS = 4_096
"""How many words a model is asked at each length and task, at least."""
RULES: dict[str, Callable[[Array, float], Array]] = {
    "none": lambda old, _: old,
    "interpolate": scaling.interpolate,
    "ntk": scaling.ntk,
    "ntk_twice": lambda old, factor: scaling.ntk(old, 2 * factor),
    "dynamic_program": lambda old, factor: scaling.ntk(
        old, scaling.dynamic_factor(int(factor * LONGEST), LONGEST, factor=factor)
    ),
    "yarn": lambda old, factor: scaling.by_parts(old, factor, LONGEST),
    "yarn_program": lambda old, factor: scaling.by_parts(
        old, factor, LONGEST, ramp="index"
    ),
    "llama3": lambda old, factor: scaling.llama3(old, factor, LONGEST),
}
"""New frequencies from the old ones, for texts `factor` times as long."""


def models(seeds: Sequence[int]) -> Transformer:
    """Models of some seeds, side by side and not trained."""
    return Transformer(
        [torch.Generator().manual_seed(seed) for seed in seeds],
        tokens=SYMBOLS + 3,
        answers=SYMBOLS,
        width=WIDTH,
        heads=HEADS,
        head_dim=HEAD_DIM,
        hidden=2 * WIDTH,
        norm="rms",
    )


def rotary(frequencies: ArrayLike, n: int) -> Positions:
    """Of a text of n words: rotations by these frequencies, and a causal mask."""
    angles = torch.from_numpy(np.outer(np.arange(n), np.asarray(frequencies)))
    return Positions(angles=cos_sin(angles), bias=causal_bias(n))


def texts(
    n: int,
    count: int,
    generators: Sequence[torch.Generator],
    *,
    needle_at: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Symbols and flags [seeds, count, n, 2], and answers [seeds, count, n] or -1.

    The needle stands anywhere in the text, or at `needle_at`. Words up to the needle
    have no answer if they ask for it, the first three none if they ask for the lag.
    """
    drawn = []
    for generator in generators:
        symbols = torch.randint(SYMBOLS, (count, n), generator=generator)
        flags = torch.randint(2, (count, n), generator=generator)
        places = torch.randint(n, (count, 1), generator=generator)
        if needle_at is not None:
            places.fill_(needle_at)
        flags.scatter_(1, places, IS_NEEDLE)
        back = functional.pad(symbols, (LAG, 0), value=NO_ANSWER)[:, :n]
        later = torch.arange(n) > places
        found = torch.where(later, symbols.gather(1, places), NO_ANSWER)
        answers = torch.where(flags == ASKS_LAG, back, found)
        answers.masked_fill_(flags == IS_NEEDLE, NO_ANSWER)
        drawn.append((torch.stack([symbols, SYMBOLS + flags], -1), answers))
    tokens, answers = (torch.stack(part) for part in zip(*drawn, strict=True))
    return tokens, answers


def train(
    model: Transformer,
    seeds: Sequence[int],
    frequencies: ArrayLike,
    *,
    lengths: tuple[int, int] = (SHORTEST, LONGEST),
    texts_a_step: int = BATCH,
    steps: int,
) -> None:
    """Train models of these seeds as :func:`pe_lib.experiments.loop.fit` does.

    The texts of a step have one length, drawn from the first of `lengths` to the last.
    """
    generators = [torch.Generator().manual_seed(1_000 + seed) for seed in seeds]
    of_lengths = torch.Generator().manual_seed(0)

    def loss_at(_: int) -> Tensor:
        n = int(torch.randint(lengths[0], lengths[1] + 1, (), generator=of_lengths))
        tokens, answers = texts(n, texts_a_step, generators)
        guess = model(tokens, rotary(frequencies, n))
        loss = functional.cross_entropy(
            guess.flatten(0, 2), answers.flatten(), ignore_index=NO_ANSWER
        )
        return loss * len(seeds)  # each model's own: the mean is over all of them

    fit(model.parameters(), loss_at, steps, RATE)


def trained(base: float, seeds: Sequence[int], steps: int = STEPS) -> Transformer:
    """Models of these seeds, trained on texts of 16 to 64 words."""
    model = models(seeds)
    train(model, seeds, angular_frequencies(HEAD_DIM, base=base), steps=steps)
    return model


def stretched(rule: str, base: float, n: int) -> Array:
    """The frequencies of a rule for a text of n words, after training up to 64.

    "none" changes nothing, at any length; "ntk_twice" slows by twice the factor;
    "dynamic_program" is transformers' with factor n / 64. Up to 64 words no rule
    changes anything.
    """
    old = angular_frequencies(HEAD_DIM, base=base)
    return RULES[rule](old, n / LONGEST) if n > LONGEST else old


@torch.no_grad()
def share_right(
    model: Transformer,
    task: str,
    n: int,
    frequencies: ArrayLike,
    *,
    seeds: Sequence[int],
    words: int = TEST_WORDS,
) -> Array:
    """Right answers of each model at length n: the second half asks, needle at 0.

    `seeds` draw the texts; the same texts for every model, rule and base.
    """
    half, positions = n // 2, rotary(frequencies, n)
    right, asked = torch.zeros(len(seeds)), 0
    generators = [torch.Generator().manual_seed(2_000_000 + seed) for seed in seeds]
    count = max(1, 1_024 // n)
    while asked < words:
        tokens, _ = texts(n, count, generators, needle_at=0)
        tokens[:, :, half:, 1] = SYMBOLS + TASKS.index(task)
        symbols = tokens[..., 0]
        lag, needle = symbols[..., half - LAG : n - LAG], symbols[..., :1]
        guess = model(tokens, positions)[:, :, half:].argmax(-1)
        right += (guess == (lag if task == "lag" else needle)).flatten(1).sum(1)
        asked += count * (n - half)
    return (right.double() / asked).numpy()


def measure(
    schemes: Sequence[str],
    *,
    base: float,
    seeds: int,
    test_lengths: Sequence[int],
) -> list[Score]:
    """Train models of each seed on a base, and test them with rules.

    `schemes` are a task and a rule, as in "lag/ntk" or "needle/none". Raises
    ValueError for an unknown one, before anything is trained.
    """
    for scheme in schemes:
        task, _, rule = scheme.partition("/")
        as_choice("task", task, TASKS)
        as_choice("rule", rule, tuple(RULES))
    each = range(seeds)
    model = trained(base, each)

    def shares(scheme: str, n: int) -> Array:
        task, _, rule = scheme.partition("/")
        return share_right(model, task, n, stretched(rule, base, n), seeds=each)

    return score_rows("stretched", schemes, each, test_lengths, shares)
