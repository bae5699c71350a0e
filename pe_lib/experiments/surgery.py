r"""The two layers of :mod:`pe_lib.experiments.induction`, opened and operated on.

A head's matrix W as hands: the turning part of pair j is a turn by phi_j, made c_j
times as long. T(k) has all sizes 1 and phases k omega_j.
"""

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pe_lib._arguments import as_choice, as_integer
from pe_lib.encoding import sinusoidal
from pe_lib.experiments import induction
from pe_lib.experiments.induction import (
    AS_IT_IS,
    STOPS,
    Settings,
    Surgery,
    Texts,
    TwoLayers,
    head_matrix,
    made_of,
    passages,
)
from pe_lib.experiments.one_head import turning_part
from pe_lib.experiments.training import Score
from pe_lib.rotation import shift_matrix

TEST_TEXTS = 64
SIZE = 30
"""By how much the shift matrix is multiplied when it is put into a head."""
DIALS = (-1, 0, 1, 2, 3, 4)
HEADS = (
    "as trained",
    "turning",
    "rest",
    "zero",
    "three hands",
    "one hand",
    "phases of T(1)",
    "random phases",
    "1 T(1)",
    *(f"30 T({k})" for k in DIALS),
    "repaired",
)
SEEN = 24
"""Width of the kept maps of attention."""


def hands_of(
    W: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Size c_j and phase phi_j of each hand, in the turning part of W.

    >>> sizes, phases = hands_of(7 * shift_matrix(1, 4))
    >>> sizes.round(6).tolist(), phases.round(2).tolist()
    ([7.0, 7.0], [1.0, 0.01])
    """
    turning = turning_part(W)
    hands = turning[0::2, 0::2].diagonal() + 1j * turning[0::2, 1::2].diagonal()
    return np.abs(hands), np.angle(hands)


def of_hands(
    sizes: NDArray[np.float64], phases: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The matrix of these hands, with zeros elsewhere; hands_of reads them again."""
    W = np.zeros((2 * len(sizes),) * 2)
    even = np.arange(0, len(W), 2)
    W[even, even] = W[even + 1, even + 1] = sizes * np.cos(phases)
    W[even, even + 1] = sizes * np.sin(phases)
    W[even + 1, even] = -W[even, even + 1]
    return W


def surgeries(model: TwoLayers) -> dict[str, Surgery]:
    """The operations, by the names of HEADS.

    "turning" and "rest" are parts of the head's matrix, "three hands" and "one hand"
    the fastest of its turning part. "phases of T(1)" and "random phases" keep sizes.
    "repaired" is 10 T(1) that hears codes alone, and a second layer that hears none.
    """
    W = head_matrix(model)
    turning = turning_part(W)
    sizes, phases = hands_of(W)
    fast = np.arange(len(sizes))
    random = np.random.default_rng(0).uniform(-math.pi, math.pi, len(sizes))
    T = functools.partial(shift_matrix, d_model=len(W))
    heads = {
        "turning": turning,
        "rest": W - turning,
        "zero": 0 * W,
        "three hands": of_hands(sizes * (fast < 3), phases),
        "one hand": of_hands(sizes * (fast < 1), phases),
        "phases of T(1)": of_hands(sizes, hands_of(T(1))[1]),
        "random phases": of_hands(sizes, random),
        "1 T(1)": T(1),
        **{f"30 T({k})": SIZE * T(k) for k in DIALS},
    }
    return {
        "as trained": AS_IT_IS,
        **{name: Surgery(head=head) for name, head in heads.items()},
        "repaired": Surgery(head=10 * T(1), deaf=True, blind=True),
    }


def test_texts(n: int, seed: int) -> Texts:
    """The 64 texts of n words on which the model of one seed is tested."""
    return passages(n, TEST_TEXTS, torch.Generator().manual_seed(10_000 + seed))


@torch.no_grad()
def share_named(
    model: TwoLayers, texts: Texts, surgery: Surgery = AS_IT_IS, *, after: int = 1
) -> float:
    """How often it names the word so many after the match; texts begin at 0."""
    asked = texts.match >= 0
    there = (texts.match + after).clamp(0, texts.words.shape[1] - 1)
    wanted = texts.words.gather(1, there)[asked]
    last = model(texts.words, _begin(texts), surgery).last[asked]
    named = (last @ model.U).argmax(-1)
    return float((named == wanted).double().mean())


@torch.no_grad()
def looks_back(
    model: TwoLayers, texts: Texts, surgery: Surgery = AS_IT_IS
) -> NDArray[np.int64]:
    """How far back the first layer looks most, [count, n - 1], from word 1 on."""
    weights = model(texts.words, _begin(texts), surgery).weights[0].mean(1)
    t = torch.arange(texts.words.shape[1])
    return np.asarray((t - weights.argmax(-1))[:, 1:])


def _begin(texts: Texts) -> torch.Tensor:
    return torch.zeros(len(texts.words), 1, dtype=torch.long)


def measure(
    schemes: Sequence[str],
    *,
    seeds: int,
    test_lengths: Sequence[int],
    what: str = "names",
    after: int = 1,
    model: Mapping[str, Any] | None = None,
    folder: Path | None = None,
) -> list[Score]:
    """Operate on models of each seed, as `schemes` name it, and test at each length.

    What is counted: "names", right answers if the word so many `after` the match were
    right; or "looks", queries whose largest weight in the first layer is one back.
    `model` are Settings; trained models are kept in `folder` and taken from there.

    Raises ValueError for an unknown name.
    """
    as_choice("what", what, ("names", "looks"))
    settings = Settings(**(model or {}))
    rows: list[Score] = []
    for scheme in schemes:
        as_choice("schemes", scheme, HEADS)
        for seed in range(as_integer("seeds", seeds, at_least=1)):
            opened = made_of(course(seed, settings, folder)[-1], settings)
            plain = scheme == "as trained"
            surgery = AS_IT_IS if plain else surgeries(opened)[scheme]
            for n in test_lengths:
                texts = test_texts(n, seed)
                if what == "names":
                    share = share_named(opened, texts, surgery, after=after)
                else:
                    share = float((looks_back(opened, texts, surgery) == 1).mean())
                rows.append(Score(what, scheme, seed, n, share))
    return rows


def course(
    seed: int, settings: Settings, folder: Path | None = None
) -> list[dict[str, torch.Tensor]]:
    """`induction.train`, or what it gave before, from a file in `folder`.

    The file's name tells all settings; who changes the training empties the folder.
    """
    if folder is None:
        return _course(seed, settings)
    path = folder / f"{seed}-{file_name(settings)}.pt"
    if not path.exists():
        folder.mkdir(exist_ok=True)
        torch.save(_course(seed, settings), path)
    found: list[dict[str, torch.Tensor]] = torch.load(path)
    return found


@functools.cache
def _course(seed: int, settings: Settings) -> list[dict[str, torch.Tensor]]:
    return induction.train(seed, settings)


def file_name(settings: Settings) -> str:
    """Settings as a file's name."""
    return "-".join(str(value) for value in vars(settings).values())


def products(model: TwoLayers) -> dict[str, NDArray[np.float64]]:
    """All that a model of one head a layer computes with: E, U^T, and of each layer
    W = Wq Wk^T / sqrt(width) and V = Wv Wo, as the explorer `Dial` takes them."""
    maps = {name: x.detach().double().numpy() for name, x in model.maps.items()}
    found = {
        "E": model.E.detach().double().numpy(),
        "U": model.U.detach().double().numpy().T,
    }
    for i in (0, 1):
        scores = maps[f"q{i}"] @ maps[f"k{i}"].T / math.sqrt(model.settings.width)
        found |= {f"W{i}": scores, f"V{i}": maps[f"v{i}"] @ maps[f"o{i}"]}
    return found


def tables(
    seeds: int, *, model: Mapping[str, Any], folder: Path | None = None
) -> dict[str, torch.Tensor]:
    """What the chapter draws, a row for each seed.

    "head <seed>" is W. "right": the share named before each step of STOPS and in the
    end. "words": their share of energy in each hand, and "fresh" of the start.
    "spread": of the scores word-word, word-code, code-word, code-code. "heard": how
    often 30 T(1), and its three fastest hands, hear codes through fresh and through
    trained words. "misses": how far back those look who do not look one back, at 64
    and 128 words. "map <step>": where the words of one text look, seed 0.
    """
    settings = Settings(**model)
    found: dict[str, list[list[float]]] = {}
    result: dict[str, NDArray[np.float64]] = {}
    for seed in range(seeds):
        states = course(seed, settings, folder)
        models = [made_of(state, settings) for state in states]
        first, last = models[0], models[-1]
        result[f"head {seed}"] = head_matrix(last)
        texts = test_texts(32, seed)
        rows: dict[str, Iterable[float]] = {
            "right": [share_named(each, texts) for each in models],
            "fresh": _energy(first),
            "words": _energy(last),
            "spread": _spread(last, texts),
            "heard": [
                _heard(words, texts, hands)
                for words in (first, last)
                for hands in (16, 3)
            ],
            "misses": _misses(last, seed),
        }
        for name, row in rows.items():
            found.setdefault(name, []).append([float(value) for value in row])
        if seed == 0:
            steps = [step for step in STOPS if step < settings.steps]
            for step, each in zip([*steps, settings.steps], models, strict=True):
                with torch.no_grad():
                    seen = each(texts.words[:1], _begin(texts)[:1]).weights[0]
                result[f"map {step}"] = seen[0, 0, :SEEN, :SEEN].double().numpy()
    result |= {name: np.array(rows) for name, rows in found.items()}
    return {name: torch.from_numpy(np.asarray(x)) for name, x in result.items()}


def _energy(model: TwoLayers) -> NDArray[np.float64]:
    """Which share of the words' squares lies in each hand, [width / 2]."""
    squares = model.E.detach().double().numpy() ** 2
    of_hand = squares.reshape(len(squares), -1, 2).sum((0, 2))
    return np.asarray(of_hand / of_hand.sum())


def _spread(model: TwoLayers, texts: Texts) -> list[float]:
    """Standard deviation over the keys of the four kinds of score."""
    W = head_matrix(model)
    x = model.E.detach().double().numpy()[texts.words]
    P = np.broadcast_to(sinusoidal(np.arange(x.shape[1]), len(W)), x.shape)
    spread = []
    for left in (x, P):
        for right in (x, P):
            scores = left @ W @ right.swapaxes(1, 2)
            scores = scores - scores.mean(axis=2, keepdims=True)
            spread.append(float(scores.std()))
    return spread


def _heard(model: TwoLayers, texts: Texts, hands: int) -> float:
    """How often x . T(1) x, of so many hands, is largest one back; x is word + code."""
    d = model.settings.width
    sizes = (np.arange(d // 2) < hands).astype(np.float64)
    T = of_hands(sizes, hands_of(shift_matrix(1, d))[1])
    x = model.E.detach().double().numpy()[texts.words]
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
