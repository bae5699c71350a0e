"""A published model on two texts that are longer than its own context.

    make models                           fetches the model, once
    python -m evidence.opened_long cuda   minutes; hours with cpu

SmolLM2-135M-Instruct was trained with a context of 8,192 tokens. It reads 12,288: as
trained, with rules for its frequencies, and with some of its 32 pairs *held*, which
means that for keys further away than a longest offset the angles of these pairs are
those of that offset. The texts are older pages of this book, and later ones.
"""

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations, product

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from evidence import BEYOND, opened
from pe_lib.beyond import scaling
from pe_lib.experiments import kept, smollm
from pe_lib.nn import rotate

TEXTS = {
    "older": opened.TEXT,
    "later": BEYOND / "chapters.txt",
}
NAME = "smollm_long"
TOLERANCE = "0.02 of a loss"
"""How far a rerun elsewhere may be off; the head of the file says it."""
CONTEXT, LENGTH, BLOCK, FACTOR, PIECE = 8192, 12_288, 1024, 2, 512
OLD = smollm.Shape().frequencies.numpy()
PAIRS = len(OLD)
RULES = {
    "as trained": (OLD, 1.0),
    "interpolation": (scaling.interpolate(OLD, FACTOR), 1.0),
    "NTK-aware": (scaling.ntk(OLD, FACTOR), 1.0),
    "YaRN": (
        scaling.by_parts(OLD, FACTOR, CONTEXT, ramp="index"),
        scaling.attention_factor(FACTOR),
    ),
    "Llama 3.1": (scaling.llama3(OLD, FACTOR, CONTEXT), 1.0),
}
"""For each rule the frequencies, and the factor of sines and cosines."""


MOST = ("0-31", "22 23", "20-31", "0-19", "22", "23", "0-21 24-31", "24-31")
ALONE = tuple(str(j) for j in range(PAIRS))
FROM = tuple(f"{j}-31" for j in range(1, PAIRS - 1))
TWOS = (
    *(f"{j} {j + 1}" for j in range(PAIRS - 1)),
    *(f"{a} {b}" for a, b in combinations(range(18, 27), 2)),
)
HELD = tuple(dict.fromkeys([*MOST, *ALONE, *FROM, *TWOS]))
"""Which pairs are held: numbers and ranges, the fastest pair is 0."""
SETTINGS = {
    text: {"context": CONTEXT, "length": LENGTH, "block": BLOCK, "factor": FACTOR}
    | {"held": len(HELD), "model": smollm.WHEEL.name}
    for text in TEXTS
}


def numbers(held: str) -> list[int]:
    """The pairs that a text like "0-3 22" says, or "none".

    >>> numbers("0-3 22")
    [0, 1, 2, 3, 22]
    """
    parts = [] if held == "none" else held.split()
    ends = [[int(end) for end in part.split("-")] for part in parts]
    return [j for each in ends for j in range(each[0], each[-1] + 1)]


@cache
def tokens(name: str) -> Tensor:
    """Of a text, one more than are read, because each is predicted."""
    found = smollm.encode(smollm.load(), " " + opened.words(TEXTS[name]))
    return torch.tensor(found[500 : 500 + LENGTH + 1])


@cache
def loaded(device: str) -> smollm.Model:
    """The model, where it is to run."""
    model = smollm.load()
    return model._replace(weights={n: x.to(device) for n, x in model.weights.items()})


class Reader:
    """Reads one text in pieces, and keeps the keys and values of what it has read."""

    def __init__(
        self,
        text: Tensor,
        frequencies: NDArray[np.float64] = OLD,
        factor: float = 1.0,
        device: str = "cpu",
    ) -> None:
        self.text, self.model = text.to(device), loaded(device)
        self.frequencies, self.factor = torch.from_numpy(np.array(frequencies)), factor
        shape, self.count = self.model.shape, len(text) - 1
        sizes = shape.layers, shape.key_heads, self.count, shape.size
        self.keys, self.values = (torch.zeros(sizes, device=device) for _ in "kv")

    @torch.no_grad()
    def losses(
        self, first: int = 0, held: Sequence[int] = (), longest: int = CONTEXT
    ) -> Tensor:
        """The loss of each next token from `first` on; those before were read already.

        For keys further away than `longest` the angles of held pairs are those there.
        """
        own = torch.arange(self.count, dtype=torch.float64)[:, None].repeat(1, PAIRS)
        of_query, of_key = own.clone(), own.clone()
        of_query[:, list(held)], of_key[:, list(held)] = longest, 0
        turns = [self._rotations(positions) for positions in (own, of_query, of_key)]
        pieces = range(first, self.count, PIECE)
        return torch.cat([self._piece(a, turns, longest) for a in pieces]).cpu()

    def _rotations(self, positions: Tensor) -> Tensor:
        """Cosines and sines [2, positions, pairs]."""
        angles = positions * self.frequencies
        turned = torch.stack([angles.cos(), angles.sin()]) * self.factor
        return turned.float().to(self.text.device)

    def _piece(self, first: int, turns: Sequence[Tensor], longest: int) -> Tensor:
        """The losses of some tokens, through all layers."""
        end = min(first + PIECE, self.count)

        def attend(layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            self.keys[layer, :, first:end], self.values[layer, :, first:end] = k, v
            k, v = (kept[layer, :, None, :end] for kept in (self.keys, self.values))
            q = q.unflatten(0, (len(k), -1))
            return (_scores(q, k, turns, longest).softmax(-1) @ v).flatten(0, 1)

        logits = smollm.through_layers(self.model, self.text[first:end], attend)
        return cross_entropy(logits, self.text[first + 1 : end + 1], reduction="none")


def _scores(q: Tensor, k: Tensor, turns: Sequence[Tensor], longest: int) -> Tensor:
    """Of the last tokens' queries with all keys; far keys have their own angles."""
    first, end = k.shape[-2] - q.shape[-2], k.shape[-2]

    def products(of_query: Tensor, of_key: Tensor, keys: int) -> Tensor:
        (cos, sin), (of_k, and_k) = of_query[:, first:end], of_key[:, :keys]
        rotated = rotate(q, cos, sin, "interleaved")
        return rotated @ rotate(k[..., :keys, :], of_k, and_k, "interleaved").mT

    near, *far = turns
    scores = products(near, near, end)
    positions = torch.arange(end, device=q.device)
    offsets = positions[first:, None] - positions
    if (gone := end - 1 - longest) > 0:
        is_far = offsets[:, :gone] > longest
        held = products(far[0], far[1], gone)
        scores[..., :gone] = torch.where(is_far, held, scores[..., :gone])
    return (scores / q.shape[-1] ** 0.5).masked_fill(offsets < 0, -torch.inf)


COLUMNS = (
    *("text", "rule", "held", "longest", "first", "loss"),
    *("above", "error", "above_held", "error_held"),
)
Reading = tuple[str, str, str, int, Tensor]
"""A text, a rule, the pairs held, the longest offset of these, each token's loss."""


def readings(device: str) -> Iterator[Reading]:
    """Both texts as trained, with pairs held and with rules; the most telling first."""
    readers = {name: Reader(tokens(name), device=device) for name in TEXTS}
    trained = {name: reader.losses() for name, reader in readers.items()}
    for name, each in trained.items():
        yield name, "as trained", "none", 0, each

    def holding(sets: Sequence[str]) -> Iterator[Reading]:
        for pairs, (name, reader) in product(sets, readers.items()):
            later = reader.losses(CONTEXT, numbers(pairs))
            each = torch.cat([trained[name][:CONTEXT], later])
            yield name, "as trained", pairs, CONTEXT, each

    yield from holding(HELD[: len(MOST)])
    for rule in list(RULES)[1:]:
        for name in TEXTS:
            reader = Reader(tokens(name), *RULES[rule], device)
            yield name, rule, "none", 0, reader.losses()
    yield from holding(HELD[len(MOST) :])


def rows(found: Iterable[Reading]) -> Iterator[list[str]]:
    """Losses by block, above the model as trained and above it with all pairs held."""
    yield list(COLUMNS)
    trained: dict[str, Tensor] = {}
    all_held: dict[str, Tensor] = {}
    for text, rule, held, longest, each in found:
        if (rule, held) == ("as trained", "none"):
            trained[text] = each
        if held == "0-31":
            all_held[text] = each
        for first in range(longest, len(each), BLOCK):
            row = [text, rule, held, str(longest), str(first)]
            block = slice(first, first + BLOCK)
            row.append(f"{each[block].mean():.4f}")
            for other in (trained, all_held):
                if text not in other or (other is all_held and first < CONTEXT):
                    row += ["", ""]
                else:
                    above = each[block] - other[text][block]
                    error = above.std() / len(above) ** 0.5
                    row += [f"{above.mean():.4f}", f"{error:.4f}"]
            yield row


if __name__ == "__main__":
    torch.set_float32_matmul_precision("highest")
    (device,) = sys.argv[1:]
    begin = time.perf_counter()
    kept.save_rows(
        rows(readings(device)),
        BEYOND / f"{NAME}.csv",
        command=f"python -m evidence.opened_long {device}",
        settings=SETTINGS,
        seconds=time.perf_counter() - begin,
        tolerance=TOLERANCE,
    )
