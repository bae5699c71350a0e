"""What two published models do, kept beside this file.

    make models                                        fetches them, once
    python book/beyond/data/opened.py                  everything
    python book/beyond/data/opened.py smollm_dial      some of it

Each function named in MADE writes one file. The texts are drawn here: the heads are
chosen on some texts of random words, and measured on others.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from pe_lib.experiments import kept, minilm, smollm
from pe_lib.experiments.attention import Head, Intervention
from pe_lib.nn import rotate

HERE = Path(__file__).parent
TEXT = HERE.parents[1] / "experiments/data/text.txt"
EXTRACT = "minilm"
WORDS = 40
"""Words of a random text before it is said again."""
TOLERANCES = {
    "smollm_heads": "0.002 of a weight, 0.02 of an R2",
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


def random_texts(seed: int, texts: int, copies: int = 2) -> Tensor:
    """Different words of one token each, said some times over."""
    tokens = smollm.load().tokens
    known = [
        i
        for i, token in enumerate(tokens)
        if len(token) > 3 and token[0] == "Ġ" and token[1:].isascii()
        and token[1:].isalpha() and token[1:].islower()
    ][:4000]  # fmt: skip
    rng = np.random.default_rng(seed)
    drawn = [rng.permutation(known)[:WORDS] for _ in range(texts)]
    return torch.from_numpy(np.tile(np.array(drawn), copies))


@cache
def book() -> Tensor:
    """The text that the book carries, its own older pages, as tokens."""
    words = " ".join(TEXT.read_text(encoding="utf-8").split())
    return torch.tensor(smollm.encode(smollm.load(), " " + words))


def natural_texts(texts: int, length: int, first: int = 500) -> Tensor:
    """Stretches of the book."""
    starts = np.linspace(first, len(book()) - length, texts).astype(int)
    return torch.stack([book()[start : start + length] for start in starts])


@cache
def tested() -> Tensor:
    """The random texts that every share is measured on."""
    return torch.cat([random_texts(seed, texts) for seed, texts in TESTED])


def weights_at(tokens: Tensor, offsets: Sequence[int], first: int) -> Tensor:
    """Mean weights [heads, offsets] exactly so far back, of queries from `first` on."""
    found = []

    def listen(_layer: int, _q: Tensor, _k: Tensor, attention: Tensor) -> None:
        rows = [
            attention.diagonal(-k, 2, 3)[..., max(0, first - k) :].mean((0, 2))
            for k in offsets
        ]
        found.append(torch.stack(rows, -1))

    heard = Intervention(listen=listen)
    smollm.forward(smollm.load(), tokens, intervention=heard, last=1)
    return torch.cat(found)


def shared(tokens: Tensor) -> Tensor:
    """For each head and hand the product of the mean query and the mean key."""
    found = []

    def listen(_layer: int, q: Tensor, k: Tensor, _attention: Tensor) -> None:
        q, k = (x[:, :, 4:].double().mean((0, 2)) for x in (q, k))
        hands = (torch.complex(x[..., 0::2], x[..., 1::2]) for x in (q, k))
        found.append(next(hands) * next(hands).conj() / SHAPE.size**0.5)

    heard = Intervention(listen=listen)
    smollm.forward(smollm.load(), tokens, intervention=heard, last=1)
    return torch.cat(found)


def curves(products: Tensor, distances: Tensor) -> Tensor:
    """Scores over the distance that every pair of tokens shares."""
    angles = distances.double()[:, None] * SHAPE.frequencies
    return (products[..., None, :] * torch.exp(1j * angles)).real.sum(-1)


def shared_weights(products: Tensor, length: int, back: float = 0) -> Tensor:
    """Weights [..., queries, keys] if every query and key is the mean one."""
    t = torch.arange(length)
    apart = (t[:, None] - t).double() - back
    scores = curves(products, apart.flatten()).unflatten(-1, (length, length))
    later = torch.full((length, length), -torch.inf).triu(1)
    return (scores + later).softmax(-1)


def explained(tokens: Tensor, products: Tensor) -> list[float]:
    """The share of each head's scores, around their mean, that the curve explains."""
    length = tokens.shape[1]
    t = torch.arange(length)
    expected = curves(products, (t[:, None] - t).clamp(min=0).flatten().double())
    expected = expected.unflatten(-1, (length, length)).float()
    cos, sin = (
        f(t[:, None] * SHAPE.frequencies).float() for f in (torch.cos, torch.sin)
    )
    found: list[float] = []

    def listen(layer: int, q: Tensor, k: Tensor, _attention: Tensor) -> None:
        q, k = (rotate(y, cos, sin, "interleaved") for y in (q, k))
        scores = q @ k.mT
        scores = scores / SHAPE.size**0.5
        for head in range(SHAPE.heads):
            left = total = 0.0
            curve = expected[layer * SHAPE.heads + head]
            for at in range(16, length):  # the first key, a sink, is left out
                row = scores[:, head, at, 1 : at + 1]
                row = row - row.mean(-1, keepdim=True)
                own = curve[at, 1 : at + 1]
                left += float(((row - own + own.mean()) ** 2).sum())
                total += float((row**2).sum())
            found.append(1 - left / total)

    heard = Intervention(listen=listen)
    smollm.forward(smollm.load(), tokens, intervention=heard, last=1)
    return found


@cache
def chosen() -> dict[str, list[Head]]:
    """Sets of heads, chosen on texts that no share is measured on."""
    tokens = torch.cat([random_texts(0, 8), random_texts(1, 8)])
    found = weights_at(tokens, (1, WORDS - 1), WORDS)
    back = weights_at(tokens, (1,), 2)[:, 0].argsort(descending=True).tolist()
    induction = found[:, 1].argsort(descending=True).tolist()
    twenty = [EVERY[i] for i in back[:20]]
    without = {}
    few = random_texts(21, 6)
    for head in twenty:
        rest = Intervention(shift={other: 2 for other in twenty if other != head})
        without[head] = named(few, 3, intervention=rest)[0]
    order = sorted(twenty, key=lambda head: without[head])
    return {
        "one": twenty[:1],
        "four": order[:4],
        "eight": order[:8],
        "twenty": twenty,
        "induction": [EVERY[i] for i in induction[:16]],
        "all": EVERY,
        "all others": [head for head in EVERY if head not in twenty],
    }


def draw(number: int) -> list[Head]:
    """Twenty of the other heads, at random."""
    others = chosen()["all others"]
    rng = np.random.default_rng(100 + number)
    return [others[i] for i in rng.permutation(len(others))[:20]]


def named(
    tokens: Tensor, after: int, copy: int = 1, **more: object
) -> tuple[float, float]:
    """The share of positions in a copy where the word `after` the match is predicted.

    The second number is the standard error over texts.
    """
    logits = smollm.forward(
        smollm.load(), tokens, last=tokens.shape[1] - copy * WORDS, **more
    )
    return of_logits(logits[:, :WORDS], tokens, after)


def of_logits(logits: Tensor, tokens: Tensor, after: int) -> tuple[float, float]:
    """The same of the logits of one copy."""
    until = WORDS - max(after, 1)
    hit = logits[:, :until].argmax(-1) == tokens[:, after : after + until]
    each = hit.float().mean(1)
    return float(each.mean()), float(each.std() / len(each) ** 0.5)


def smollm_heads() -> Iterator[list[str]]:
    """Weights of all heads, and what their shared curves make of them."""
    tokens, others = torch.cat([random_texts(0, 8), random_texts(1, 8)]), tested()
    back = weights_at(tokens, (1,), 2)[:, 0]
    again = weights_at(others, (1,), 2)[:, 0]
    prose = weights_at(natural_texts(16, 128), (1,), 2)[:, 0]
    induction = weights_at(others, (WORDS - 1,), WORDS)[:, 0]
    products = shared(tokens)
    mean = shared_weights(products, 2 * WORDS).diagonal(-1, 1, 2)[:, 7:].mean(-1)
    late = weights_at(others, (1,), 8)[:, 0]
    share = explained(others, products)
    yield ["layer", "head", "chosen_on", "one_back", "natural", "induction", "late",
           "shared", "explained"]  # fmt: skip
    columns = (back, again, prose, induction, late, mean, torch.tensor(share))
    for i, (layer, head) in enumerate(EVERY):
        yield [str(layer), str(head), *(f"{float(x[i]):.4f}" for x in columns)]


def smollm_curves() -> Iterator[list[str]]:
    """The products of mean queries and keys, hand by hand."""
    products = shared(torch.cat([random_texts(0, 8), random_texts(1, 8)]))
    hands = range(SHAPE.size // 2)
    yield ["layer", "head", *(f"{part}{j}" for part in ("re", "im") for j in hands)]
    for (layer, head), row in zip(EVERY, products, strict=True):
        numbers = [*row.real.tolist(), *row.imag.tolist()]
        yield [str(layer), str(head), *(f"{x:.3f}" for x in numbers)]


def replaced(heads: Sequence[Head], pattern: Callable[[Head], Tensor]) -> object:
    """A change of forward: these heads get their weights from a pattern."""
    patterns = {head: pattern(head).float() for head in heads}

    def change(layer: int, attention: Tensor) -> Tensor:
        attention = attention.clone()
        for (where, head), own in patterns.items():
            if where == layer:
                attention[:, head] = own
        return attention

    return change


def own_weight(head: Head, back: int) -> Tensor:
    """The weight of one turned head exactly 1 + back positions back, text by text."""
    looks: list[Tensor] = []

    def listen(layer: int, _q: Tensor, _k: Tensor, attention: Tensor) -> None:
        if layer == head[0]:
            looks.append(attention[:, head[1]])

    changed = Intervention(shift={head: back}, listen=listen)
    smollm.forward(smollm.load(), tested(), intervention=changed, last=1)
    return looks[0].diagonal(-1 - back, 1, 2)[:, 7:].mean(1)


def smollm_dial() -> Iterator[list[str]]:
    """Shares of positions where the word so far after the match is predicted."""
    yield ["heads", "back", "hands", "after", "share", "error"]
    sets, tokens = chosen(), tested()

    def row(
        name: str, back: float, hands: str, after: int, **more: object
    ) -> list[str]:
        share, error = named(tokens, after, **more)
        return [name, f"{back:g}", hands, str(after), f"{share:.4f}", f"{error:.4f}"]

    def turned(name: str, heads: Sequence[Head], back: float, hands: str = "all",
               afters: Sequence[int] = ()) -> Iterator[list[str]]:  # fmt: skip
        first, _, last = ("0-31" if hands == "all" else hands).partition("-")
        which = slice(int(first), int(last or first) + 1)
        changed = Intervention(shift=dict.fromkeys(heads, back), pairs=which)
        logits = smollm.forward(smollm.load(), tokens, last=WORDS, intervention=changed)
        for after in afters or sorted({0, 1, 2, round(1 + back)}):
            share, error = of_logits(logits, tokens, max(after, 0))
            yield [name, f"{back:g}", hands, str(after), f"{share:.4f}", f"{error:.4f}"]

    yield from turned("none", [], 0)
    for name in ("one", "four", "eight", "twenty", "all"):
        for back in (-1, 1, 2, 3, 4):
            yield from turned(name, sets[name], back)
    for number in range(10):
        yield from turned(f"draw {number}", draw(number), 1)
    for name in ("all others", "induction"):
        for back in (1, 4):
            yield from turned(name, sets[name], back)
    for hands in ("0", "0-1", "0-3", "4-31"):
        for back in (1, 2):
            yield from turned("twenty", sets["twenty"], back, hands)
    for quarter in range(-4, 9):
        afters = (0, 1, 2, 3)
        yield from turned("dial", sets["twenty"], quarter / 4, "all", afters)
    products = shared(torch.cat([random_texts(0, 8), random_texts(1, 8)]))
    for name in ("one", "four", "twenty"):
        for back in (0, 1, 3):

            def own(head: Head, back: int = back) -> Tensor:
                i = head[0] * SHAPE.heads + head[1]
                return shared_weights(products[i], 2 * WORDS, back)

            changed = Intervention(change=replaced(sets[name], own))
            yield row(f"{name}, shared", back, "all", 1 + back, intervention=changed)
    silenced = {name: sets[name] for name in ("one", "four", "twenty", "induction")}
    for name, heads in (silenced | {"draw 0": draw(0)}).items():
        zeros = replaced(heads, lambda _: torch.zeros(2 * WORDS, 2 * WORDS))
        silent = Intervention(change=zeros)
        yield row(f"{name}, silenced", 0, "all", 1, intervention=silent)
    four = random_texts(7, 12, copies=4)
    for back in (0, 1, 2):
        turn = Intervention(shift=dict.fromkeys(sets["twenty"], back))
        logits = smollm.forward(smollm.load(), four, last=3 * WORDS, intervention=turn)
        for copy in range(3):
            share, error = of_logits(
                logits[:, copy * WORDS : (copy + 1) * WORDS], four, 1 + back
            )
            yield [f"twenty, copy {copy + 2} of 4", str(back), "all", str(1 + back),
                   f"{share:.4f}", f"{error:.4f}"]  # fmt: skip
    for name, back in (("none", 0), ("twenty", -1), ("all", -1)):
        turn = Intervention(shift=dict.fromkeys(sets.get(name, []), back))
        logits = smollm.forward(smollm.load(), tokens[:, :WORDS], intervention=turn)
        share, error = of_logits(logits, tokens, 0)
        yield [f"{name}, first copy", str(back), "all", "0", f"{share:.4f}",
               f"{error:.4f}"]  # fmt: skip
    for back in (0, 1, 2, 4, 8, 16, 32):
        each = own_weight(sets["one"][0], back)
        yield ["one, weight", str(back), "all", str(1 + back), f"{each.mean():.4f}",
               f"{each.std() / len(each) ** 0.5:.4f}"]  # fmt: skip
    known = " ".join(TEXT.read_text(encoding="utf-8").split()).split(". ")
    sentences = [s for s in known if s.replace(" ", "").isalpha()]
    sentences = [s for s in sentences if 14 <= len(s.split()) <= 22]
    rng = np.random.default_rng(5)
    sample = [sentences[i] for i in rng.permutation(len(sentences))[:16]]
    for back in (0, 1, 2, 3):
        shares: dict[int, list[float]] = {}
        for sentence in sample:
            ids = smollm.encode(smollm.load(), f" {sentence}.")
            n, text = len(ids), torch.tensor([ids * 3])
            turn = Intervention(shift=dict.fromkeys(sets["twenty"], back))
            logits = smollm.forward(smollm.load(), text, intervention=turn, last=n)
            told = logits[0].argmax(-1)
            for after in (1, 2, 3, 4):
                hit = told[: n - after] == torch.tensor(ids[after:])
                shares.setdefault(after, []).append(float(hit.float().mean()))
        for after, each_of in shares.items():
            yield ["sentences", str(back), "all", str(after), f"{np.mean(each_of):.4f}",
                   f"{np.std(each_of, ddof=1) / 4:.4f}"]  # fmt: skip


def smollm_sentences() -> Iterator[list[str]]:
    """What the model writes, token by token, each with its probability."""
    yield ["text", "heads", "back", "step", "token", "probability"]
    sets, model = chosen(), smollm.load()
    asked = [("king", KING * 3 + " The", "none", 0.0, 16)]
    for name in ("one", "four", "twenty"):
        for quarter in (1, 2, 3, 4, 5, 6, 7, 8):
            asked.append(("king", KING * 3 + " The", name, quarter / 4, 16))
    for number in range(3):
        asked.append(("king", KING * 3 + " The", f"draw {number}", 1.0, 16))
    asked.append(("king", KING * 3 + " The", "all others", 1.0, 16))
    asked.append(("count", COUNT * 3 + " one", "none", 0.0, 9))
    asked.append(("count", COUNT * 3 + " one", "twenty", 1.0, 9))
    asked.append(("count", COUNT * 4 + " one", "twenty", 2.0, 9))
    for text, prompt, name, back, steps in asked:
        heads = draw(int(name[-1])) if name.startswith("draw") else sets.get(name, [])
        told = smollm.goes_on(model, prompt, steps, dict.fromkeys(heads, back))
        for step, (token, chance) in enumerate(told):
            yield [text, name, f"{back:g}", str(step), token, f"{chance:.3f}"]


def bfloat16(positions: Tensor, frequencies: Tensor) -> tuple[Tensor, Tensor]:
    """Positions, frequencies and their products in bfloat16."""
    angles = positions.bfloat16()[..., None] * frequencies.bfloat16()
    return angles.float().cos(), angles.float().sin()


def float32(positions: Tensor, frequencies: Tensor) -> tuple[Tensor, Tensor]:
    """The same in float32."""
    angles = positions.float()[..., None] * frequencies.float()
    return angles.cos(), angles.sin()


def smollm_angles() -> Iterator[list[str]]:
    """All positions moved, angles in fewer digits; and heads without rotation."""
    yield ["angles", "first", "still", "copied", "loss", "changed"]
    model, sets = smollm.load(), chosen()
    texts, prose = tested()[::4], natural_texts(6, 2 * WORDS, 700)
    exact = smollm.forward(model, texts), smollm.forward(model, prose)

    def row(name: str, first: int, left: str, **more: object) -> list[str]:
        logits = smollm.forward(model, texts, first_position=first, **more)
        told = smollm.forward(model, prose, first_position=first, **more)
        copied, _ = of_logits(logits[:, WORDS:], texts, 1)
        loss = cross_entropy(told[:, :-1].flatten(0, 1), prose[:, 1:].flatten())
        changed = max(
            float((a - b).abs().max())
            for a, b in zip((logits, told), exact, strict=True)
        )
        return [
            name,
            str(first),
            left,
            f"{copied:.4f}",
            f"{loss:.4f}",
            f"{changed:.2g}",
        ]

    for name, angles in (
        ("float64", smollm.exact), ("float32", float32), ("bfloat16", bfloat16)
    ):  # fmt: skip
        for first in (0, 1000, 100_000):
            yield row(name, first, "none", angles=angles)
    for name in ("all", "twenty", "four", "one", "induction"):
        left = Intervention(unrotated=sets[name])
        yield row("float64", 0, name, intervention=left)
    left = Intervention(unrotated=draw(0))
    yield row("float64", 0, "draw 0", intervention=left)


SAMPLE = (
    "the old king gave seven golden apples to his daughter before first snow of winter"
    " fell on silent town and bread river stone yellow music doctor window garden"
    " letter summer"
)
"""Words of the extract."""


def minilm_extract() -> dict[str, NDArray[Any]]:
    """The learned table, head (0, 2) and some words, matrices in 255 levels a row.

    Of all-MiniLM-L6-v2 (Apache-2.0, sentence-transformers), changed: rounded, cut out,
    and the mean of all words taken.
    """
    model = minilm.load()
    weights, own = model.weights, slice(64, 96)
    words = weights["embeddings.word_embeddings.weight"]
    words = words + weights["embeddings.token_type_embeddings.weight"][0]
    attention = "encoder.layer.0.attention.self"
    found: dict[str, NDArray[Any]] = {}
    for name, matrix in {
        "table": model.table,
        "query": weights[f"{attention}.query.weight"][own],
        "key": weights[f"{attention}.key.weight"][own],
        "words": words[minilm.ids_of(SAMPLE)[1:-1]],
    }.items():
        numbers = matrix.numpy()
        scale = (np.abs(numbers).max(1) / 127).astype(np.float32)
        found[name] = np.round(numbers / scale[:, None]).astype(np.int8)
        found[f"{name}_scale"] = scale
    for name in ("query", "key"):
        found[f"{name}_bias"] = weights[f"{attention}.{name}.bias"][own].numpy()
    for part in ("weight", "bias"):
        found[f"norm_{part}"] = weights[f"embeddings.LayerNorm.{part}"].numpy()
    found["mean_word"] = words.double().mean(0).float().numpy()
    return found


MADE: dict[str, Callable[[], Iterator[list[str]]]] = {
    "smollm_heads": smollm_heads,
    "smollm_curves": smollm_curves,
    "smollm_dial": smollm_dial,
    "smollm_sentences": smollm_sentences,
    "smollm_angles": smollm_angles,
}


def make(maker: ModuleType, name: str) -> None:
    """Write one file of MADE of a module, below the lines that say what made it."""
    begin = time.process_time()
    rows = list(maker.MADE[name]())
    kept.save_rows(
        rows,
        HERE / f"{name}.csv",
        command=f"python book/beyond/data/{Path(maker.__file__).name} {name}",
        settings=maker.SETTINGS,
        seconds=time.process_time() - begin,
        tolerance=maker.TOLERANCES[name],
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name in sys.argv[1:] or (EXTRACT, *MADE):
        if name == EXTRACT:
            np.savez(HERE / f"{name}.npz", **minilm_extract())
        else:
            make(sys.modules[__name__], name)
