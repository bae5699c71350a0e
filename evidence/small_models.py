"""Small rotary models on longer texts: which pair does harm, and was it predicted?

    python -m evidence.small_models      minutes

Models of each kind are trained up to a length. Then, on texts some times as long,
each pair alone is *held* (:func:`holding`), and the *gain* is
by how much the loss falls. What is *predicted* comes from mean queries and keys within
the trained length: how holding the pair changes the attention, if every score were
the mean score of its offset.
"""

import math
import sys
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from evidence import opened
from pe_lib.experiments import stretched
from pe_lib.experiments.attention import Intervention, cos_sin
from pe_lib.experiments.model import Transformer
from pe_lib.frequencies import angular_frequencies
from pe_lib.nn import rotate

COMMAND = "python -m evidence.small_models"
TOLERANCES = {"small_models_held": "0.5 of a gain, 0.2 of a correlation over pairs"}
KINDS = (
    *((64, 10_000), (32, 10_000), (128, 10_000), (64, 500), (64, 100_000)),
    *((96, 1_000), (48, 3_000)),
)
"""The longest text of training, and the base."""
SEEDS, WORDS = range(70, 75), 1_024
"""Words of a step of training, whatever their length."""
TIMES, TEXTS, ASKS = (3, 6), 8, 16
"""How much longer texts are; how many for each seed; their last words that ask."""
SETTINGS = {
    f"{longest} words, base {base}": {
        "seeds": list(SEEDS),
        **{"steps": stretched.STEPS, "rate": stretched.RATE, "words": WORDS},
        **{"times": TIMES, "texts": TEXTS, "asks": ASKS},
    }
    for longest, base in KINDS
}
Array = NDArray[np.float64]
PAIRS = stretched.HEAD_DIM // 2


def holding(frequencies: ArrayLike, held: Sequence[int], longest: int) -> Intervention:
    """Keys further away than `longest` get the angles of that offset for some pairs."""
    omega = torch.as_tensor(frequencies, dtype=torch.float64)
    heard: list[Tensor] = []

    def listen(_: int, query: Tensor, key: Tensor, __: Tensor) -> None:
        heard[:] = query, key

    def scores(*positions: Tensor) -> Tensor:
        left, right = (
            rotate(x, *cos_sin(at * omega), "interleaved")
            for x, at in zip(heard, positions, strict=True)
        )
        return left @ right.mT / math.sqrt(left.shape[-1])

    def change(_: int, weights: Tensor) -> Tensor:
        positions = torch.arange(weights.shape[-1])
        own = positions[:, None].repeat(1, len(omega))
        of_query, of_key = own.clone(), own.clone()
        of_query[:, list(held)], of_key[:, list(held)] = longest, 0
        offsets = positions[:, None] - positions
        far = offsets > longest
        found = torch.where(far, scores(of_query, of_key), scores(own, own))
        return found.masked_fill_(offsets < 0, -torch.inf).softmax(-1)

    return Intervention(listen=listen, change=change)


def losses(
    model: Transformer, frequencies: Array, n: int, change: Intervention
) -> Array:
    """Of both tasks and each seed [2, seeds]: the last words ask for them in turn."""
    generators = [torch.Generator().manual_seed(2_000_000 + seed) for seed in SEEDS]
    found = []
    for _ in range(TEXTS):
        tokens, _ = stretched.texts(n, 1, generators, needle_at=0)
        tokens[:, :, -ASKS:, 1] = stretched.SYMBOLS + torch.arange(ASKS) % 2
        symbols = tokens[:, 0, :, 0]
        answers = symbols[:, -ASKS - stretched.LAG : -stretched.LAG].clone()
        answers[:, 1::2] = symbols[:, :1]
        guess = model(tokens, stretched.rotary(frequencies, n), change)[:, 0, -ASKS:]
        each = cross_entropy(guess.mT, answers, reduction="none")
        found.append(torch.stack([each[:, 0::2].mean(1), each[:, 1::2].mean(1)]))
    return torch.stack(found).mean(0).double().numpy()


def means(model: Transformer, frequencies: Array, longest: int) -> dict[str, Array]:
    """Within the trained length: mean queries and keys, and sizes of their pairs.

    Means are complex [seeds, heads, pairs]: of the queries of each task, of the keys
    of all other words, and of the needles' keys.
    """
    generators = [torch.Generator().manual_seed(4_000_000 + seed) for seed in SEEDS]
    tokens, _ = stretched.texts(longest, 64, generators)
    heard: list[Tensor] = []
    listen = Intervention(listen=lambda _, query, key, __: heard.extend((query, key)))
    model(tokens, stretched.rotary(frequencies, longest), listen)
    query, key = (
        torch.view_as_complex(x.unflatten(-1, (PAIRS, 2)).contiguous()).numpy()
        for x in heard
    )  # [seeds, texts, heads, words, pairs]
    flags = (tokens[..., 1] - stretched.SYMBOLS).numpy()[:, :, None, :, None]

    def mean(x: NDArray[np.complex64], where: NDArray[np.bool_]) -> Array:
        return (x * where).sum((1, 3)) / where.sum((1, 3))

    needle = flags == stretched.IS_NEEDLE
    size = (abs(query) ** 2).mean((1, 3)) * (abs(key) ** 2).mean((1, 3))
    return {
        "lag": mean(query, flags == stretched.ASKS_LAG),
        "needle": mean(query, flags == stretched.ASKS_NEEDLE),
        "others": mean(key, ~needle),
        "needles": mean(key, needle),
        "size": size**0.5,
    }


def predicted(
    mean: dict[str, Array], frequencies: Array, n: int, held: list[int], longest: int
) -> Array:
    """Attention [2] at the end of n words, if all scores were mean scores.

    For the lag that on keys not further than `longest`, for the needle that on it.
    """
    offsets = np.arange(n)
    angles = np.where(offsets[:, None] > longest, longest, offsets[:, None])
    angles = np.where(np.isin(np.arange(PAIRS), held), angles, offsets[:, None])
    turned = np.exp(1j * angles * frequencies) / stretched.HEAD_DIM**0.5

    def weights(task: str, keys: str) -> Array:
        part = mean[task] * mean[keys].conj()
        return np.exp((part[..., None, :] * turned).real.sum(-1))

    lag, rest = weights("lag", "others"), weights("needle", "others")[..., :-1]
    needle = weights("needle", "needles")[..., -1]
    near = lag[..., : longest + 1].sum(-1) / lag.sum(-1)
    return np.array([near.mean(), (needle / (needle + rest.sum(-1))).mean()])


def small_models_held() -> Iterator[list[str]]:
    """A row for each kind, length, task and pair; of "all" the gain of holding all."""
    yield ["longest", "base", "times", "task", "pair", "turns", "size", "predicted",
           "loss", "gain", "error"]  # fmt: skip
    for longest, base in KINDS:
        frequencies = angular_frequencies(stretched.HEAD_DIM, base=base)
        model = stretched.models(SEEDS)
        stretched.train(
            model,
            SEEDS,
            frequencies,
            lengths=(longest // 4, longest),
            texts_a_step=WORDS // longest,
            steps=stretched.STEPS,
        )
        with torch.no_grad():
            yield from of_kind(model, longest, base, frequencies)


def of_kind(
    model: Transformer, longest: int, base: int, frequencies: Array
) -> Iterator[list[str]]:
    """The rows of trained models."""
    mean = means(model, frequencies, longest)
    sizes = mean["size"].mean((0, 1)) / stretched.HEAD_DIM**0.5
    for times in TIMES:
        n = times * longest
        usual = losses(model, frequencies, n, holding(frequencies, [], longest))
        before = predicted(mean, frequencies, n, [], longest)
        sets = {str(j): [j] for j in range(PAIRS)} | {"all": [*range(PAIRS)]}
        for pair, held in sets.items():
            change = holding(frequencies, held, longest)
            gain = usual - losses(model, frequencies, n, change)
            after = predicted(mean, frequencies, n, held, longest)
            turns = frequencies[held[0]] * longest / (2 * np.pi)
            for i, task in enumerate(stretched.TASKS):
                error = gain[i].std(ddof=1) / len(SEEDS) ** 0.5
                size, rises = sizes[held].sum(), after[i] - before[i]
                numbers = turns, size, rises, usual[i].mean(), gain[i].mean(), error
                row = [longest, base, times, task, pair]
                yield [*map(str, row), *(f"{x:.4f}" for x in numbers)]
        print(longest, base, times, flush=True)


if __name__ == "__main__":
    opened.make(sys.modules[__name__], sys.argv[1:])
