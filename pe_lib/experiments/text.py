"""A first real text: the same small transformers, asked for the next character.

The text is lower-case letters, the space and a few marks, 32 in all. A model sees
windows of it; the last tenth is kept for the test.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from pe_lib.experiments import kept
from pe_lib.experiments.ensemble import Ensemble
from pe_lib.experiments.schemes import ENCODING_RMS, SCHEMES
from pe_lib.experiments.tasks import Task
from pe_lib.experiments.training import fit_ensemble

ALPHABET = " abcdefghijklmnopqrstuvwxyz.,?'-"
WINDOW = 32
"""Characters that a model sees at once."""
PER_POINT = 50
"""Steps of training whose loss is one point of a curve."""


class Read(NamedTuple):
    """What came of training on a text, for each scheme and seed.

    Attributes
    ----------
    curves : array [schemes, seeds, points]
        Bits a character in training, a mean over PER_POINT steps.
    held_out : array [schemes, seeds]
        Bits a character on text that was not in the training.
    lines : list of list of str
        What each member writes, [schemes][seeds].
    """

    curves: NDArray[np.float64]
    held_out: NDArray[np.float64]
    lines: list[list[str]]


def numbers(text: str) -> torch.Tensor:
    """The characters of a plain text as tokens.

    >>> numbers("a b").tolist()
    [1, 0, 2]
    """
    return torch.tensor([ALPHABET.index(letter) for letter in text])


def next_character(text: str) -> Task:
    """The task "which character comes next?" on random windows of a text.

    >>> task = next_character("to be or not to be " * 3)
    >>> tokens, answers = task.draw(5, 2, torch.Generator().manual_seed(0))
    >>> tokens.shape, bool((tokens[:, 1:] == answers[:, :-1]).all())
    (torch.Size([2, 5]), True)
    """
    tokens = numbers(text)

    def draw(
        length: int, count: int, generator: torch.Generator
    ) -> tuple[torch.Tensor, torch.Tensor]:
        first = torch.randint(len(tokens) - length, (count, 1), generator=generator)
        windows = tokens[first + torch.arange(length + 1)]
        return windows[:, :-1], windows[:, 1:]

    return Task(
        "text",
        "which character comes next?",
        1,
        answers=len(ALPHABET),
        tokens=len(ALPHABET),
        causal=True,
        sequences=draw,
    )


def read(
    text: str,
    schemes: Sequence[str],
    *,
    steps: int,
    rates: Sequence[float],
    seeds: int = 10,
    first_seed: int = 0,
    layers: int = 2,
    begin: str = "the ",
    characters: int = 60,
) -> Read:
    """Train on the first nine tenths of a text, test on the last, and write.

    There is a rate for each scheme, or one for all. A line begins as `begin` and is so
    many characters long. Raises ValueError if the steps are no multiple of PER_POINT.
    """
    if steps < PER_POINT or steps % PER_POINT:
        raise ValueError(f"steps must be a multiple of {PER_POINT}, got {steps}")
    used = [SCHEMES[name] for name in schemes]
    cut = len(text) * 9 // 10
    members = Ensemble(
        next_character(text[:cut]),
        used,
        seeds=seeds,
        layers=layers,
        token_std=ENCODING_RMS,
        trained_length=WINDOW,
        longest=WINDOW,
        first_seed=first_seed,
    )
    losses = fit_ensemble(members, steps, (WINDOW, WINDOW), rates=rates) / math.log(2)
    curves = losses.reshape(-1, PER_POINT, len(used), seeds).mean(1)
    return Read(
        curves.transpose(1, 2, 0),
        held_out(members, text[cut:]),
        [
            written(members, number, begin=begin, characters=characters)
            for number in range(len(used))
        ],
    )


@torch.no_grad()
def held_out(model: Ensemble, text: str) -> NDArray[np.float64]:
    """Bits a character, [schemes, seeds], over a text cut into windows."""
    tokens = numbers(text)
    count = (len(tokens) - 1) // WINDOW
    inputs = tokens[: count * WINDOW].view(count, WINDOW)
    answers = tokens[1 : count * WINDOW + 1].view(count, WINDOW)
    total = torch.zeros(model.members)
    for i in range(0, count, 16):
        part = inputs[i : i + 16].expand(model.seeds, -1, -1)
        wanted = answers[i : i + 16].flatten().expand(model.members, -1)
        logits = model.logits(part).flatten(0, 1)
        each = functional.cross_entropy(logits, wanted.flatten(), reduction="none")
        total += each.view(model.members, -1).sum(1)
    bits = total.double() / (count * WINDOW) / math.log(2)
    return bits.view(len(model.schemes), model.seeds).numpy()


@torch.no_grad()
def written(model: Ensemble, scheme: int, *, begin: str, characters: int) -> list[str]:
    """What the members of one scheme write, a character at a time, drawn as likely
    as they hold it."""
    tokens = numbers(begin).expand(model.seeds, -1)
    generators = [torch.Generator().manual_seed(3_000 + s) for s in model.numbers]
    while tokens.shape[1] < characters:
        seen = tokens[:, -WINDOW:]
        logits = model.logits(seen[:, None]).view(
            len(model.schemes), model.seeds, seen.shape[1], -1
        )
        shares = torch.softmax(logits[scheme, :, -1], -1)
        drawn = [
            torch.multinomial(share, 1, generator=generator)
            for share, generator in zip(shares, generators, strict=True)
        ]
        tokens = torch.cat([tokens, torch.stack(drawn)], 1)
    return ["".join(ALPHABET[i] for i in line) for line in tokens.tolist()]


def chosen_rates(
    text: str, schemes: Sequence[str], rates: Sequence[float], **settings: Any
) -> list[float]:
    """For each scheme the rate with the lowest loss at the end of its training."""
    ends = [
        read(text, schemes, rates=[rate], **settings).curves[:, :, -1].mean(1)
        for rate in rates
    ]
    return [rates[i] for i in np.argmin(ends, 0)]


def rows_of(
    found: Read, schemes: Sequence[str], rates: Sequence[float]
) -> list[list[str]]:
    """What came of it as rows for :func:`pe_lib.experiments.kept.save_rows`."""
    rows = [["scheme", "seed", "what", "value"]]
    for i, name in enumerate(schemes):
        rows.append([name, "", "rate", str(rates[i])])
        for seed, curve in enumerate(found.curves[i]):
            first = [name, str(seed)]
            rows += [
                [*first, f"step {PER_POINT * (n + 1)}", f"{bits:.4f}"]
                for n, bits in enumerate(curve)
            ]
            rows.append([*first, "held out", f"{found.held_out[i, seed]:.4f}"])
            rows.append([*first, "writes", found.lines[i][seed]])
    return rows


def load_read(path: str | Path) -> tuple[dict[str, float], Read]:
    """The rates by scheme, and what came of it, from a kept file."""
    rows = kept.load_rows(path)
    rates = {r["scheme"]: float(r["value"]) for r in rows if r["what"] == "rate"}

    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for row in rows:
        what = row["scheme"], row["what"].split()[0]
        found.setdefault(what, {}).setdefault(row["seed"], []).append(row["value"])

    def values(what: str) -> list[list[list[str]]]:
        """Of each scheme and seed, what begins so."""
        return [list(found[name, what].values()) for name in rates]

    return rates, Read(
        np.array(values("step"), dtype=float),
        np.array(values("held"), dtype=float)[..., 0],
        [[line for (line,) in of_scheme] for of_scheme in values("writes")],
    )
