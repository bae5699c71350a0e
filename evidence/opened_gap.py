"""A published model whose earlier tokens are moved away.

    make models                                 fetches the model, once
    python -m evidence.opened_gap               everything, minutes
    python -m evidence.opened_gap smollm_means  some of it

SmolLM2-135M-Instruct, a copy in 4 bits, was trained with a context of 8,192 tokens. It
reads 1,536 tokens of a text, and the next 768 as if so many positions lay between the
two parts, the *gap*. For keys of the first part, pairs can be *held* at the angle of an
offset, or each head's scores get a *bias*, from its mean score on another text. And it
reads the ends of longer texts alone, a *fresh start*. Each function named in TOLERANCES
writes one file.

The windows are drawn here, with a seed that nothing else uses; the texts are this
book's older pages, later ones, and the models' licences.
"""

import sys
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from evidence import BEYOND, opened, opened_long
from evidence.opened_long import CONTEXT, OLD, PAIRS, numbers
from pe_lib.experiments import smollm
from pe_lib.experiments.attention import causal_bias
from pe_lib.nn import rotate

COMMAND = "python -m evidence.opened_gap"
TOLERANCES = {
    "smollm_gap": "0.02 of a loss, 0.02 of a share",
    "smollm_means": "0.02 of a score",
    "smollm_gap_heads": "0.02 of a share",
    "smollm_fresh": "0.02 of a loss",
}
"""How far a rerun elsewhere may be off; the head of each file says it."""
TEXTS = opened_long.TEXTS | {"licences": BEYOND / "LICENSE-models.txt"}
FIRST, SECOND, SINKS, BLOCK = 1536, 768, 4, 128
"""Tokens of the two parts, of the first part left out, and of a block of losses."""
INSIDE, FAR = 5888, 9984
"""Gaps with which all keys are within the context, or all beyond it."""
SEED = 20261129
WINDOWS = {"older": 2, "later": 2, "licences": 1}
"""How many windows are drawn in each text; those in PLAN are read."""
SHAPE = smollm.Shape()
GROUP = SHAPE.heads // SHAPE.key_heads
ALL = f"0-{PAIRS - 1}"
SETTINGS = {
    "read": {"model": smollm.WHEEL.name, "first": FIRST, "second": SECOND}
    | {"inside": INSIDE, "far": FAR, "seed": SEED, "windows": WINDOWS},
}
Array = NDArray[np.float64]


class Condition(NamedTuple):
    """How far the parts are apart, which pairs are held where, and for which keys."""

    gap: int = FAR
    held: str = "none"
    at: int = CONTEXT
    keys: str = "all"


BASE = (
    Condition(),
    Condition(INSIDE),
    Condition(held=ALL),
    Condition(held="22 23"),
    Condition(held="22 23", at=12_288),
    Condition(keys="masked"),
    Condition(held="0-19"),
    Condition(held="24-31"),
    Condition(held=ALL, keys="first"),
)
CAME_ROUND = 20
"""How many pairs do within the context: those before it."""
TWOS = np.random.default_rng([SEED, len(WINDOWS)]).permutation(CAME_ROUND)[:8]
"""As many pairs as do the harm, four times, drawn once from those that came round."""
CONTROLS = (
    *(Condition(held=f"{min(two)} {max(two)}") for two in TWOS.reshape(4, 2)),
    *(Condition(keys=keys) for keys in ("biased", "biased but 4")),
)
FURTHER = (
    *(Condition(20_480, held) for held in ("none", ALL, "22 23", "23 24")),
    *(Condition(28_672, held) for held in ("none", ALL, "23", "23 24", "24 25")),
    *(Condition(40_960, held) for held in ("none", ALL, "23", "24 25", "23 25")),
)
GAPS: tuple[int, ...] = (0, 2048, 4096, 6912, 7936, 8960, 11_264, 13_312, 16_384)
GAPS += (20_480, 24_576, 28_672, 32_768, 40_960)
SWEEP = tuple(Condition(gap) for gap in GAPS)


@cache
def tokens(name: str) -> Tensor:
    """Of a whole text."""
    return torch.tensor(smollm.encode(smollm.load(), " " + opened.words(TEXTS[name])))


@cache
def starts(name: str) -> list[int]:
    """Where the windows begin: drawn once, and never looked at before."""
    rng = np.random.default_rng([SEED, list(WINDOWS).index(name)])
    last = len(tokens(name)) - FIRST - SECOND - 1
    low = min(500, last - 1)
    return sorted(rng.choice(np.arange(low, last), WINDOWS[name], False).tolist())


def rotated(x: Tensor, positions: Tensor) -> Tensor:
    """Queries or keys, each pair at a position of its own."""
    angles = positions.double() * torch.from_numpy(OLD)
    return rotate(x, angles.cos().float(), angles.sin().float(), "interleaved")


class Window:
    """Its first part is read once, the second as often as one likes."""

    def __init__(self, name: str, start: int) -> None:
        self.text = tokens(name)[start : start + FIRST + SECOND + 1]
        first = opened_long.Reader(self.text[: FIRST + 1])
        first.losses()
        self.keys, self.values = first.keys, first.values

    @torch.no_grad()
    def read(
        self, condition: Condition, others: NDArray[np.complex128] | None = None
    ) -> tuple[Array, Array]:
        """Losses of the second part, and each head's attention [30, 9] on the first.

        Without its first four keys. Mean queries and keys are kept in `means`. From
        the means of `others`, if keys are biased, comes what is added to their scores.
        """
        gap, held, at, which = condition
        t = torch.arange(FIRST + SECOND)
        own = torch.where(t < FIRST, t, t + gap)[:, None].repeat(1, PAIRS)
        of_query, of_key = own.clone(), own.clone()
        of_query[:, numbers(held)], of_key[:, numbers(held)] = at, 0
        last = SINKS if which == "first" else FIRST
        spared = SINKS if which == "biased but 4" else 0
        apart = t[FIRST:, None] - t[spared:FIRST]
        biases = np.zeros((SHAPE.layers, SHAPE.heads, FIRST + SECOND))
        if others is not None:
            biases = bias(others, t.numpy() + gap)
        shares = torch.empty(SHAPE.layers, SHAPE.heads)
        self.means = np.empty((SHAPE.layers, SHAPE.heads, PAIRS), complex)
        self.sizes = np.empty((SHAPE.layers, SHAPE.heads, PAIRS))

        def attend(layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            self._note(layer, q, self.keys[layer, :, SINKS:])
            k, v = (
                torch.cat([first[layer], second], 1).repeat_interleave(GROUP, 0)
                for first, second in ((self.keys, k), (self.values, v))
            )
            scores = rotated(q, own[FIRST:]) @ rotated(k, own).mT
            k_held = rotated(k[:, :last], of_key[:last])
            scores[..., :last] = rotated(q, of_query[FIRST:]) @ k_held.mT
            scores /= SHAPE.size**0.5
            if which == "masked":
                scores[..., :FIRST] = -torch.inf
            scores[..., spared:FIRST] += torch.from_numpy(biases[layer])[:, apart]
            scores[..., FIRST:] += causal_bias(SECOND)
            weights = scores.softmax(-1)
            shares[layer] = weights[..., SINKS:FIRST].sum(-1).mean(-1)
            return weights @ v

        logits = smollm.through_layers(smollm.load(), self.text[FIRST:-1], attend)
        each = cross_entropy(logits, self.text[FIRST + 1 :], reduction="none")
        return each.double().numpy(), shares.double().numpy()

    def _note(self, layer: int, q: Tensor, k: Tensor) -> None:
        """What the pairs of a mean query and a mean key add, and their sizes."""

        def pairs(x: Tensor) -> Tensor:
            return torch.view_as_complex(x.unflatten(-1, (PAIRS, 2)).contiguous())

        k = k.repeat_interleave(GROUP, 0)
        mean = pairs(q).mean(1) * pairs(k).mean(1).conj()
        size = pairs(q).abs().square().mean(1) * pairs(k).abs().square().mean(1)
        self.means[layer] = mean.numpy() / SHAPE.size**0.5
        self.sizes[layer] = size.sqrt().numpy() / SHAPE.size**0.5


def curve(
    means: NDArray[np.complex128],
    offsets: NDArray[np.int64],
    held: str = "none",
    at: int = CONTEXT,
) -> Array:
    """Mean scores [..., offsets] of keys so far back: a sum of one cosine a pair."""
    angles = offsets[:, None] * OLD
    angles[:, numbers(held)] = at * OLD[numbers(held)]
    return (means[..., None, :] * np.exp(1j * angles)).real.sum(-1)


def bias(means: NDArray[np.complex128], offsets: NDArray[np.int64]) -> Array:
    """By how much the mean score at the context length is above that of an offset."""
    return curve(means, np.array([CONTEXT])) - curve(means, offsets)


def predicted(
    means: NDArray[np.complex128], inside: Array, condition: Condition
) -> Array:
    """Each head's attention on the first part, from what it is within the context.

    Its odds there, times the ratio of the means of exp(mean score).
    """
    offsets = np.arange(1, FIRST + SECOND, 32)
    many = np.minimum(np.minimum(offsets, FIRST + SECOND - offsets), SECOND)
    was = curve(means, offsets + INSIDE)
    now = curve(means, offsets + condition.gap, condition.held, condition.at)
    top = was.max(-1, keepdims=True)
    share = inside.clip(1e-6, 1 - 1e-6)
    ratio = (np.exp(now - top) @ many) / (np.exp(was - top) @ many)
    odds = share / (1 - share) * ratio
    return odds / (1 + odds)


PLAN: dict[tuple[str, int], tuple[Condition, ...]] = {
    ("older", 0): BASE + CONTROLS,
    ("later", 0): BASE[:6] + CONTROLS + FURTHER,
}
"""What is read in a window. For the gaps beyond the first it was predicted before."""


@cache
def means_of(name: str) -> NDArray[np.complex128]:
    """Of every head and pair, within the context, in the first window of a text."""
    window = Window(name, starts(name)[0])
    window.read(Condition(INSIDE))
    return window.means


def smollm_gap() -> Iterator[list[str]]:
    """Loss, its change against the same gap with nothing held, and attention."""
    yield ["text", "start", "gap", "held", "at", "keys", "loss", "change", "error",
           "attention", "predicted"]  # fmt: skip
    for (name, number), tried in PLAN.items():
        start = starts(name)[number]
        window = Window(name, start)
        read = {Condition(INSIDE): window.read(Condition(INSIDE))}
        means, inside = window.means, read[Condition(INSIDE)][1]
        others = means_of("later" if name == "older" else "older")
        as_trained: dict[int, Array] = {}
        for condition in tried:
            biased = others if condition.keys.startswith("biased") else None
            each, shares = read.get(condition) or window.read(condition, biased)
            if condition.held == "none" and condition.keys == "all":
                as_trained[condition.gap] = each
            base = as_trained.get(condition.gap, each)
            if condition.gap == INSIDE:
                base = as_trained[FAR]
            change = (each - base).reshape(-1, BLOCK).mean(1)
            error = change.std(ddof=1) / len(change) ** 0.5
            expected = predicted(means, inside, condition).mean()
            found = each.mean(), change.mean(), error, shares.mean(), expected
            row = [name, start, *condition, *(f"{x:.4f}" for x in found)]
            print(*row, flush=True)
            yield [str(x) for x in row]


@cache
def chosen() -> tuple[tuple[int, int], NDArray[np.complex128], Array]:
    """The head that moving a window of one text away changes most; means, sizes."""
    window = Window("older", starts("older")[0])
    inside = window.read(Condition(INSIDE))[1]
    means, sizes = window.means, window.sizes
    rise = window.read(Condition())[1] - inside
    layer, head = np.unravel_index(rise.argmax(), rise.shape)
    return (int(layer), int(head)), means, sizes


def smollm_means() -> Iterator[list[str]]:
    """Of each pair the mean score's parts: over all heads, and in the chosen head."""
    yield ["pair", "mean", "size", "phase", "agreement", "real", "imaginary"]
    (layer, head), means, sizes = chosen()
    print("chosen", layer, head, flush=True)
    for j in range(PAIRS):
        total, own = means[..., j].sum() / abs(means[..., j]).sum(), means[layer, head]
        found = (
            abs(means[..., j]).mean(),
            sizes[..., j].mean(),
            np.angle(total) / 2 / np.pi % 1,
            abs(total),
            own[j].real,
            own[j].imag,
        )
        yield [str(j), *(f"{x:.4f}" for x in found)]


def smollm_gap_heads() -> Iterator[list[str]]:
    """Attention by gap on another text, predicted from the means of the first.

    Of the chosen head at each gap, and of every head at one.
    """
    yield ["layer", "head", "gap", "inside", "predicted", "measured"]
    own, means, _ = chosen()
    window = Window("later", starts("later")[0])
    inside = window.read(Condition(INSIDE))[1]
    for condition in (Condition(INSIDE), Condition(), *SWEEP):
        shares = window.read(condition)[1]
        expected = predicted(means, inside, condition)
        print(condition.gap, shares[own], expected[own], flush=True)
        for layer, head in opened.EVERY:
            if condition.gap == FAR or (layer, head) == own:
                at = layer, head
                found = inside[at], expected[at], shares[at]
                row = [layer, head, condition.gap, *(f"{x:.4f}" for x in found)]
                yield [str(x) for x in row]


def smollm_fresh() -> Iterator[list[str]]:
    """The loss at the end of the long texts, if the tokens far before are not read."""
    yield ["text", "read", "loss"]
    for name in opened_long.TEXTS:
        text = opened_long.tokens(name)[-CONTEXT - 1 :]
        loss = opened_long.Reader(text).losses()[-opened_long.BLOCK :].mean()
        print(name, f"{loss:.4f}", flush=True)
        yield [name, str(CONTEXT), f"{loss:.4f}"]


if __name__ == "__main__":
    opened.make(sys.modules[__name__], sys.argv[1:])
