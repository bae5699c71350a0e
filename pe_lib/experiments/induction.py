r"""Two layers of attention that learn to repeat a passage, opened and changed.

"A B ... A": what comes next? The first layer's head brings to each word the previous
one; the second layer's head looks for a word that was brought what stands here, and
predicts it. Nobody says so to the model: it is asked for the next word alone.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from pe_lib._arguments import as_choice, as_integer
from pe_lib.encoding import sinusoidal
from pe_lib.experiments.attention import (
    AS_IT_IS,
    Intervention,
    causal_bias,
    rotary_angles,
)
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
SHORTEST, LONGEST = 4, 12
"""Lengths of the passage that comes again."""
STOPS = (0, 200, 300, 400, 500, 700)
"""Before these steps the model in training is put aside."""
ENCODINGS = ("sinusoid", "learned", "rotary", "rotary_biased", "alibi", "none")
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
    "1 T(1)",
    *(f"30 T({k})" for k in range(-1, 5)),
    "repaired",
)
FORM = ("turns", "fastest", "slow hands", "angle", "whole turns")
"""What is asked of a first head, beside its answers; see :func:`form_of`."""
SEEN = 24
"""Width of the kept maps of attention."""

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a model is made and trained.

    Parameters
    ----------
    encoding : str
        Of ENCODINGS; "rotary_biased" has biases in its queries and keys.
    last_start : int
        A text begins at a random position from 0 to this one.
    token_std : float
        Standard deviation of the words' vectors at the start; 0.71 is an encoding's.
    width, steps : int
    rate : float
        The highest.
    slopes : tuple of float
        Of ALiBi, one for each head; other models have one head.
    """

    encoding: str = "sinusoid"
    last_start: int = 500
    token_std: float = 0.71
    width: int = 32
    steps: int = 1000
    rate: float = 0.02
    slopes: tuple[float, ...] = (0.0,)

    def __post_init__(self) -> None:
        as_choice("encoding", self.encoding, ENCODINGS)


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

    No biases (but of rotary's queries and keys, if asked), no norms, nothing between
    the layers.
    """

    def __init__(self, settings: Settings, generator: torch.Generator) -> None:
        self.settings, d = settings, settings.width
        biased = settings.encoding == "rotary_biased"
        super().__init__(
            [generator],
            tokens=WORDS,
            answers=WORDS,
            width=d,
            heads=len(settings.slopes),
            head_dim=d // len(settings.slopes),
            layers=2,
            biases=("query", "key") if biased else (),
            bias_std=d**-0.5,
            token_std=settings.token_std,
        )
        longest = settings.last_start + WORDS
        if settings.encoding == "learned":
            self.table = self.normal(longest, d, 2**-0.5)
        elif settings.encoding == "sinusoid":
            P = sinusoidal(np.arange(longest), d, dtype=np.float32)
            self.register_buffer("table", torch.from_numpy(P)[None], persistent=False)

    def logits(
        self,
        words: Tensor,
        start: Tensor | int = 0,
        intervention: Intervention = AS_IT_IS,
    ) -> Tensor:
        """Guesses [count, n, 128] for words [count, n] from positions `start`.

        `start` is one for all texts, or [count, 1].
        """
        n, t = words.shape[1], torch.arange(words.shape[1])
        codes = angles = None
        if self.settings.encoding in ("sinusoid", "learned"):
            codes = self.table[:, start + t].view(1, -1, n, self.width)
        elif self.settings.encoding.startswith("rotary"):
            angles = rotary_angles(n, self.width)
        slopes = torch.tensor(self.settings.slopes)[:, None, None]
        bias = causal_bias(n) - slopes * (t[:, None] - t).clamp(min=0)
        found: Tensor = self(words[None], Positions(codes, angles, bias), intervention)
        return found[0]


def train(seed: int, settings: Settings) -> list[dict[str, Tensor]]:
    """The matrices of the model of one seed before each step of STOPS, and last.

    It predicts the next word where that can be known; 32 texts of 32 words a step.
    """
    generator = torch.Generator().manual_seed(seed)
    model = TwoLayers(settings, generator)
    course: list[dict[str, Tensor]] = []

    def loss_at(step: int) -> Tensor:
        if step in STOPS:
            course.append(model.matrices())
        texts = passages(LENGTH, BATCH, generator)
        last = settings.last_start + 1
        start = torch.randint(last, (BATCH, 1), generator=generator)
        asked = texts.match >= 0
        guess, wanted = model.logits(texts.words, start), texts.words.roll(-1, 1)
        return functional.cross_entropy(guess[asked], wanted[asked])

    fit(model.parameters(), loss_at, settings.steps, settings.rate)
    return [*course, model.matrices()]


_trained = cache(train)
"""The same, once for each seed and Settings."""


def made_of(matrices: Mapping[str, Tensor], settings: Settings) -> TwoLayers:
    """The model of these matrices."""
    model = TwoLayers(settings, torch.Generator())
    model.load_matrices(matrices)
    return model


def interventions(model: TwoLayers) -> dict[str, Intervention]:
    """What is changed, by the names of HEADS.

    "rotations" and "residual" are parts of the first head's matrix, "three hands" and
    "one hand" the fastest pairs of its rotations. "phases of T(1)" and "random phases"
    keep sizes. "repaired" is 10 T(1) that reads encodings alone, and a second layer
    that reads none.
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
        "1 T(1)": T(1),
        **{f"30 T({k})": SCALE * T(k) for k in range(-1, 5)},
    }
    return {
        "as trained": AS_IT_IS,
        **{name: Intervention(between_codes=head) for name, head in heads.items()},
        "repaired": Intervention(
            between_codes=10 * T(1), codes_only=True, without_codes=True
        ),
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
def first_weights(
    model: TwoLayers, words: Tensor, intervention: Intervention = AS_IT_IS
) -> Tensor:
    """Weights [count, n, n] of the first layer, the mean of its heads."""
    heard: list[Tensor] = []
    listening = replace(intervention, listen=lambda *told: heard.append(told[-1]))
    model.logits(words, 0, listening)
    return heard[0][0].mean(1)


def looks_back(
    model: TwoLayers, texts: Texts, intervention: Intervention = AS_IT_IS
) -> NDArray[np.int64]:
    """How far back the first layer looks most, [count, n - 1], from word 1 on."""
    weights = first_weights(model, texts.words, intervention)
    t = torch.arange(texts.words.shape[1])
    return np.asarray((t - weights.argmax(-1))[:, 1:])


def measure(
    schemes: Sequence[str],
    *,
    seeds: int,
    test_lengths: Sequence[int],
    what: str = "names",
    after: int = 1,
    model: Mapping[str, Any] | None = None,
    first_seed: int = 0,
) -> list[Score]:
    """Change models of each seed, as `schemes` name it, and test at each length.

    What is counted: "names", right answers if the word so many `after` the match were
    right; or "looks", queries whose largest weight in the first layer is one back.
    A scheme is of HEADS, or of FORM; "30 T(2) + 2" counts the second word after the
    match. `model` are Settings.

    Raises ValueError for an unknown name.
    """
    as_choice("what", what, ("names", "looks"))
    settings = Settings(**(model or {}))
    for scheme in schemes:
        as_choice("schemes", scheme.partition(" + ")[0], (*HEADS, *FORM))
    numbers = range(first_seed, first_seed + seeds)
    models = {seed: made_of(_trained(seed, settings)[-1], settings) for seed in numbers}
    form = cache(lambda seed: form_of(models[seed], seed))

    def share(scheme: str, seed: int, n: int) -> float:
        if scheme in FORM:
            return form(seed)[scheme]
        opened, texts = models[seed], test_texts(n, seed)
        head, _, words = scheme.partition(" + ")
        changed = interventions(opened)[head]
        if what == "names":
            return share_predicted(opened, texts, changed, after=int(words or after))
        return float((looks_back(opened, texts, changed) == 1).mean())

    return score_rows(
        what,
        schemes,
        numbers,
        test_lengths,
        lambda scheme, n: [share(scheme, seed, n) for seed in numbers],
    )


def products(model: TwoLayers) -> dict[str, Array]:
    """All that a model of one head a layer computes with: E, U^T, and of each layer
    W = Wq Wk^T / sqrt(width) and V = Wv Wo, as the explorer `Dial` takes them."""
    maps = {name: x[0].detach().double().numpy() for name, x in model.maps.items()}
    found = {"E": _words(model), "U": maps["answer"].T}
    for i in (0, 1):
        found[f"W{i}"] = score_matrix(model, i)
        found[f"V{i}"] = maps[f"value{i}"] @ maps[f"out{i}"]
    return found


def form_of(model: TwoLayers, seed: int) -> dict[str, float]:
    """What the first head of a trained model looks like, by the names of FORM.

    "turns": the share of its squares in the rotation part. "fastest": whether the
    fastest pair is the largest. "slow hands": how large the largest but for the three
    fastest is, beside the fastest (at most 1). "angle": whether the fastest rotates by
    0.8 to 1. "whole turns": the share of its misses, at 64 and 128 words, that lie
    within a tenth of a turn of whole turns of the fastest pair beyond one back.
    """
    W = score_matrix(model)
    sizes, angles = sizes_and_angles(W)
    misses = _misses(model, seed)
    turns = (np.arange(len(misses)) - 1) / (2 * np.pi)
    near = np.abs(turns - turns.round()) < 0.1
    return {
        "turns": float(2 * (sizes**2).sum() / (W**2).sum()),
        "fastest": float(sizes.argmax() == 0),
        "slow hands": float(min(1, sizes[3:].max() / sizes[0])),
        "angle": float(0.8 < angles[0] < 1),
        "whole turns": float(misses[near].sum() / max(1, misses.sum())),
    }


def tables(seeds: int, *, model: Mapping[str, Any]) -> dict[str, Tensor]:
    """What the chapter draws, a row for each seed.

    "head <seed>" is W. "right": the share predicted before each step of STOPS and in
    the end. "words": their share of energy in each pair, and "fresh" of the start.
    "spread": of the scores word-word, word-place, place-word, place-place. "heard": how
    often T(1), and its three fastest pairs, reads positions through fresh and through
    trained words. "misses": how far back those look who do not look one back, at 64
    and 128 words. "map <step>": where the words of one text look, seed 0.
    """
    settings, result = Settings(**model), {}
    rows: list[dict[str, Iterable[float]]] = []
    for seed in range(seeds):
        states = _trained(seed, settings)
        models = [made_of(state, settings) for state in states]
        first, last = models[0], models[-1]
        result[f"head {seed}"] = score_matrix(last)
        texts = test_texts(32, seed)
        heard = [_heard(x, texts, n) for x in (first, last) for n in (16, 3)]
        rows.append(
            {
                "right": [share_predicted(each, texts) for each in models],
                "fresh": _energy(first),
                "words": _energy(last),
                "spread": _spread(last, texts),
                "heard": heard,
                "misses": _misses(last, seed),
            }
        )
        if seed == 0:
            steps = [step for step in STOPS if step < settings.steps]
            for step, each in zip([*steps, settings.steps], models, strict=True):
                seen = first_weights(each, texts.words[:1])[0, :SEEN, :SEEN]
                result[f"map {step}"] = seen.double().numpy()
    for name in rows[0]:
        result[name] = np.array([row[name] for row in rows], dtype=float)
    return {name: torch.from_numpy(x) for name, x in result.items()}


def _words(model: TwoLayers) -> Array:
    found: Array = model.tokens[0].detach().double().numpy()
    return found


def _energy(model: TwoLayers) -> Array:
    """Which share of the words' squares lies in each pair, [width / 2]."""
    of_pair = (_words(model) ** 2).reshape(WORDS, -1, 2).sum((0, 2))
    return np.asarray(of_pair / of_pair.sum())


def _spread(model: TwoLayers, texts: Texts) -> list[float]:
    """Standard deviation over the keys of the four kinds of score."""
    W, x = score_matrix(model), _words(model)[texts.words]
    P = np.broadcast_to(sinusoidal(np.arange(x.shape[1]), len(W)), x.shape)
    spread = []
    for left in (x, P):
        for right in (x, P):
            scores = left @ W @ right.swapaxes(1, 2)
            scores = scores - scores.mean(axis=2, keepdims=True)
            spread.append(float(scores.std()))
    return spread


def _heard(model: TwoLayers, texts: Texts, pairs: int) -> float:
    """How often x . T(1) x of so many pairs is largest one back; x: word + encoding."""
    d = model.width
    sizes = (np.arange(d // 2) < pairs).astype(np.float64)
    T = scaled_rotations(sizes, sizes_and_angles(shift_matrix(1, d))[1])
    x = _words(model)[texts.words]
    x = x + sinusoidal(np.arange(x.shape[1]), d)
    scores = x @ T @ x.swapaxes(1, 2)
    scores[:, ~np.tri(x.shape[1], dtype=bool)] = -np.inf
    one_back = np.arange(x.shape[1] - 1)
    return float((scores.argmax(-1)[:, 1:] == one_back).mean())


def _misses(model: TwoLayers, seed: int) -> NDArray[np.int64]:
    """How often it looks 0, 1, ..., 127 back, where not 1."""
    back = np.concatenate(
        [looks_back(model, test_texts(n, seed)).ravel() for n in (64, 128)]
    )
    return np.bincount(back[back != 1], minlength=128)
