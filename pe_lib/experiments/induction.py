r"""Two layers of attention that learn to repeat a passage, opened and changed.

"A B ... A": what comes next? The first layer's head brings to each word the previous
one; the second layer's head looks for a word that was brought what stands here, and
predicts it. Nobody says so to the model: it is asked for the next word alone.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from pe_lib._arguments import as_choice, as_integer
from pe_lib.encoding import sinusoidal
from pe_lib.experiments.attention import AS_IT_IS, Intervention, causal_bias
from pe_lib.experiments.loop import fit
from pe_lib.experiments.model import Positions, Transformer, score_matrix
from pe_lib.experiments.rotations import (
    rotation_part,
    scaled_rotations,
    sizes_and_angles,
)
from pe_lib.experiments.training import Score, score_rows
from pe_lib.rotation import shift_matrix

WORDS, LENGTH, BATCH, TEST_TEXTS = 128, 32, 32, 64
WIDTH, STEPS, RATE = 32, 1000, 0.02
TOKEN_STD = 0.71
"""Standard deviation of the words' vectors at the start, and an encoding's."""
LAST_START = 500
"""A text of training begins at a random position from 0 to this one."""
SHORTEST, LONGEST = 4, 12
"""Lengths of the passage that comes again."""
STOPS = (0, 200, 300, 400, 500, 700)
"""Before these steps the model in training is put aside."""
SCALE = 30
"""By how much the shift matrix is multiplied when it is put into a head."""
HEADS = (
    "as trained",
    "rotations",
    "residual",
    "zero",
    "three hands",
    "one hand",
    "phases of T(1)",
    "random phases",
    *(f"30 T({k})" for k in range(-1, 5)),
)
SEEN = 24
"""Width of the kept maps of attention."""

Array = NDArray[np.float64]


class Texts(NamedTuple):
    """Words [count, n], and for those asked the place of the match; -1 elsewhere."""

    words: Tensor
    match: Tensor


def passages(n: int, count: int, generator: torch.Generator) -> Texts:
    """Texts of n random words, none twice; but a passage of 4 to 12 comes again.

    Asked are the words of its second time, but the last: what comes next?
    Raises ValueError if n is not within 24 and 128.
    """
    if not 2 * LONGEST <= as_integer("n", n) <= WORDS:
        raise ValueError(f"n must lie within {2 * LONGEST} and {WORDS}, got {n}")
    words = torch.rand(count, WORDS, generator=generator).argsort(1)[:, :n]
    size = torch.randint(SHORTEST, LONGEST + 1, (count, 1), generator=generator)
    cuts = torch.rand(count, 2, generator=generator) * (n - 2 * size + 1)
    cuts = cuts.long().sort(1).values
    first, again = cuts[:, :1], cuts[:, 1:] + size
    t = torch.arange(n)
    repeated = (t >= again) & (t < again + size)
    earlier = t - again + first
    words = words.gather(1, torch.where(repeated, earlier, t))
    asked = (t >= again) & (t < again + size - 1)
    return Texts(words, torch.where(asked, earlier, -1))


class TwoLayers(Transformer):
    """Word plus encoding, two layers of masked attention on a straight line, an answer.

    One head a layer; no biases, no norms, nothing between the layers.
    """

    table: Tensor

    def __init__(self, generator: torch.Generator) -> None:
        super().__init__(
            [generator],
            tokens=WORDS,
            answers=WORDS,
            width=WIDTH,
            heads=1,
            head_dim=WIDTH,
            layers=2,
            token_std=TOKEN_STD,
        )
        P = sinusoidal(np.arange(LAST_START + WORDS), WIDTH, dtype=np.float32)
        self.register_buffer("table", torch.from_numpy(P), persistent=False)

    def logits(
        self,
        words: Tensor,
        start: Tensor | int = 0,
        intervention: Intervention = AS_IT_IS,
    ) -> Tensor:
        """Guesses [count, n, 128] for words [count, n] from positions `start`.

        `start` is one for all texts, or [count, 1].
        """
        n = words.shape[1]
        codes = self.table[start + torch.arange(n)].view(1, -1, n, self.width)
        positions = Positions(codes, bias=causal_bias(n))
        found: Tensor = self(words[None], positions, intervention)
        return found[0]


def train(seed: int, steps: int = STEPS) -> list[dict[str, Tensor]]:
    """The matrices of the model of one seed before each step of STOPS, and last.

    It predicts the next word where that can be known; 32 texts of 32 words a step.
    """
    generator = torch.Generator().manual_seed(seed)
    model = TwoLayers(generator)
    course: list[dict[str, Tensor]] = []

    def loss_at(step: int) -> Tensor:
        if step in STOPS:
            course.append(model.matrices())
        texts = passages(LENGTH, BATCH, generator)
        start = torch.randint(LAST_START + 1, (BATCH, 1), generator=generator)
        asked = texts.match >= 0
        guess, wanted = model.logits(texts.words, start), texts.words.roll(-1, 1)
        return functional.cross_entropy(guess[asked], wanted[asked])

    fit(model.parameters(), loss_at, steps, RATE)
    return [*course, model.matrices()]


_trained = cache(train)
"""The same, once for each seed and number of steps."""


def made_of(matrices: Mapping[str, Tensor]) -> TwoLayers:
    """The model of these matrices."""
    model = TwoLayers(torch.Generator())
    model.load_matrices(matrices)
    return model


def interventions(model: TwoLayers) -> dict[str, Intervention]:
    """What is changed, by the names of HEADS.

    "rotations" and "residual" are parts of the first head's matrix, "three hands" and
    "one hand" the fastest pairs of its rotations. "phases of T(1)" and "random phases"
    keep sizes.
    """
    W = score_matrix(model)
    rotations = rotation_part(W)
    sizes, angles = sizes_and_angles(W)
    fast = np.arange(len(sizes))
    random = np.random.default_rng(0).uniform(-math.pi, math.pi, len(sizes))
    T = partial(shift_matrix, d_model=len(W))
    heads = {
        "rotations": rotations,
        "residual": W - rotations,
        "zero": 0 * W,
        "three hands": scaled_rotations(sizes * (fast < 3), angles),
        "one hand": scaled_rotations(sizes * (fast < 1), angles),
        "phases of T(1)": scaled_rotations(sizes, sizes_and_angles(T(1))[1]),
        "random phases": scaled_rotations(sizes, random),
        **{f"30 T({k})": SCALE * T(k) for k in range(-1, 5)},
    }
    return {
        "as trained": AS_IT_IS,
        **{name: Intervention(between_codes=head) for name, head in heads.items()},
    }


def test_texts(n: int, seed: int) -> Texts:
    """The 64 texts of n words on which the model of one seed is tested."""
    return passages(n, TEST_TEXTS, torch.Generator().manual_seed(10_000 + seed))


@torch.no_grad()
def share_predicted(
    model: TwoLayers,
    texts: Texts,
    intervention: Intervention = AS_IT_IS,
    *,
    after: int = 1,
) -> float:
    """How often it predicts the word so many after the match; texts begin at 0."""
    asked = texts.match >= 0
    there = (texts.match + after).clamp(0, texts.words.shape[1] - 1)
    wanted = texts.words.gather(1, there)[asked]
    predicted = model.logits(texts.words, 0, intervention)[asked].argmax(-1)
    return float((predicted == wanted).double().mean())


@torch.no_grad()
def first_weights(model: TwoLayers, words: Tensor) -> Tensor:
    """Weights [count, n, n] of the first layer."""
    heard: list[Tensor] = []
    listening = Intervention(listen=lambda *told: heard.append(told[-1]))
    model.logits(words, 0, listening)
    return heard[0][0, :, 0]


def looks_back(model: TwoLayers, texts: Texts) -> NDArray[np.int64]:
    """How far back the first layer looks most, [count, n - 1], from word 1 on."""
    weights = first_weights(model, texts.words)
    t = torch.arange(texts.words.shape[1])
    return np.asarray((t - weights.argmax(-1))[:, 1:])


def measure(
    schemes: Sequence[str],
    *,
    seeds: int,
    test_lengths: Sequence[int],
    after: int = 1,
    steps: int = STEPS,
) -> list[Score]:
    """Change models of each seed, as `schemes` name it, and test at each length.

    An answer is right if it names the word so many `after` the match. Raises
    ValueError for a name that is not of HEADS, before anything is trained.
    """
    for scheme in schemes:
        as_choice("schemes", scheme, HEADS)
    models = [made_of(_trained(seed, steps)[-1]) for seed in range(seeds)]

    def shares(scheme: str, n: int) -> list[float]:
        return [
            share_predicted(
                model, test_texts(n, seed), interventions(model)[scheme], after=after
            )
            for seed, model in enumerate(models)
        ]

    return score_rows("names", schemes, range(seeds), test_lengths, shares)


def products(model: TwoLayers) -> dict[str, Array]:
    """All that a model of one head a layer computes with: E, U^T, and of each layer
    W = Wq Wk^T / sqrt(width) and V = Wv Wo, as the explorer `Dial` takes them."""
    maps = {name: x[0].detach().double().numpy() for name, x in model.maps.items()}
    words = model.tokens[0].detach().double().numpy()
    found = {"E": words, "U": maps["answer"].T}
    for i in (0, 1):
        found[f"W{i}"] = score_matrix(model, i)
        found[f"V{i}"] = maps[f"value{i}"] @ maps[f"out{i}"]
    return found


def tables(seeds: int, *, steps: int = STEPS) -> dict[str, Tensor]:
    """What the chapter draws, a row for each seed.

    "head <seed>" is W. "right": the share predicted before each step of STOPS and in
    the end. "misses": how far back those look who do not look one back, at 64 and 128
    words. "map <step>": where the words of one text look, seed 0.
    """
    result: dict[str, Array] = {}
    rows: list[dict[str, Iterable[float]]] = []
    for seed in range(seeds):
        models = [made_of(state) for state in _trained(seed, steps)]
        result[f"head {seed}"] = score_matrix(models[-1])
        texts = test_texts(32, seed)
        right = [share_predicted(each, texts) for each in models]
        rows.append({"right": right, "misses": _misses(models[-1], seed)})
        if seed == 0:
            stops = [step for step in STOPS if step < steps]
            for step, each in zip([*stops, steps], models, strict=True):
                seen = first_weights(each, texts.words[:1])[0, :SEEN, :SEEN]
                result[f"map {step}"] = seen.double().numpy()
    for name in rows[0]:
        result[name] = np.array([row[name] for row in rows], dtype=float)
    return {name: torch.from_numpy(x) for name, x in result.items()}


def _misses(model: TwoLayers, seed: int) -> NDArray[np.int64]:
    """How often it looks 0, 1, ..., 127 back, where not 1."""
    back = np.concatenate(
        [looks_back(model, test_texts(n, seed)).ravel() for n in (64, 128)]
    )
    return np.bincount(back[back != 1], minlength=128)
