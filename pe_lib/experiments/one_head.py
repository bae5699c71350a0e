r"""One attention head that learns to predict the previous word, and what is inside it.

The smallest model that can look back: words and positions go in, one head compares
them, and what it finds is the answer. :func:`measure` swaps the comparison of a
trained model for a part of it and counts right answers.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from torch.optim.lr_scheduler import OneCycleLR

from pe_lib._arguments import as_choice
from pe_lib.encoding import sinusoidal
from pe_lib.experiments.attention import rotary_angles
from pe_lib.experiments.loop import fit
from pe_lib.experiments.rotations import rotation_part
from pe_lib.experiments.training import Score, score_rows
from pe_lib.nn import rotate
from pe_lib.rotation import shift_matrix

WORDS, WIDTH, STEPS = 16, 32, 600
TOKEN_STD = 0.7
"""Standard deviation of the words' vectors at the start, and about an encoding's."""
BATCH, RATE, TEST_TEXTS = 32, 0.01, 64
SCALE = 10
"""By how much the shift matrix is multiplied when it is put into the head."""
ENCODINGS = ("added", "rotary")
HEADS = ("added", "codes", "rotations", "residual", "shift", "rotary")


class OneHead(nn.Module):
    r"""Score of key s for query t: (x_t Wq) . (x_s Wk) / sqrt(32).

    A word comes in as E[word] + P[position], the sinusoid of width 32, or positions
    rotate query and key and nothing is added. The answer is U times the words'
    vectors, mixed by the softmax of the scores: no encoding passes through, and nothing
    is masked.

    Parameters
    ----------
    generator : torch.Generator
        Draws the parameters E [16, 32], Wq and Wk [32, 32], U [16, 32].
    encoding : "added" or "rotary"
    """

    def __init__(self, generator: torch.Generator, encoding: str = "added") -> None:
        super().__init__()

        def normal(rows: int, std: float) -> nn.Parameter:
            return nn.Parameter(std * torch.randn(rows, WIDTH, generator=generator))

        self.encoding = as_choice("encoding", encoding, ENCODINGS)
        self.E = normal(WORDS, TOKEN_STD)
        self.Wq, self.Wk = normal(WIDTH, WIDTH**-0.5), normal(WIDTH, WIDTH**-0.5)
        self.U = normal(WORDS, WIDTH**-0.5)

    def scores(self, x: Tensor) -> Tensor:
        """Scores [..., n, n] of the words' vectors x [..., n, 32]."""
        if self.encoding == "added":
            x = x + codes(x.shape[-2])
        return self.compared(x @ self.Wq, x @ self.Wk)

    def compared(self, query: Tensor, key: Tensor) -> Tensor:
        """Scores [..., n, n] of queries and keys [..., n, 32], not yet rotated."""
        if self.encoding == "rotary":
            angles = rotary_angles(query.shape[-2], WIDTH)
            query, key = (rotate(y, *angles, "interleaved") for y in (query, key))
        scores: Tensor = query @ key.mT / WIDTH**0.5
        return scores

    def forward(self, words: Tensor, scores: Tensor | None = None) -> Tensor:
        """Guesses [..., n, 16] for words [..., n]; `scores` replace the head's own."""
        x = self.E[words]
        if scores is None:
            scores = self.scores(x)
        guess: Tensor = scores.softmax(-1) @ x @ self.U.T
        return guess


def codes(n: int) -> Tensor:
    """The sinusoid of the first n positions, [n, 32], as float32."""
    return torch.from_numpy(sinusoidal(np.arange(n), WIDTH, dtype=np.float32))


def trained(
    encoding: str, seed: int, *, steps: int = STEPS, longest: int = 24
) -> OneHead:
    """A model of one seed, trained on random texts of 5 to `longest` words.

    Adam at a rate of at most 0.01 (one cycle), 32 texts of one length a step.
    Raises ValueError for an unknown encoding.
    """
    generator = torch.Generator().manual_seed(seed)
    model = OneHead(generator, encoding)

    def loss_at(_: int) -> Tensor:
        n = int(torch.randint(5, longest + 1, (), generator=generator))
        words = torch.randint(WORDS, (BATCH, n), generator=generator)
        guess = model(words)[:, 1:]  # word 0 has none before it
        return functional.cross_entropy(guess.mT, words[:, :-1])

    cycle = partial(OneCycleLR, max_lr=RATE, total_steps=steps)
    fit(model.parameters(), loss_at, steps, RATE, schedule=cycle)
    return model


def side_by_side(
    encoding: str, seeds: Iterable[int], *, steps: int = STEPS, longest: int = 24
) -> list[OneHead]:
    """What :func:`trained` gives for each seed, but for rounding; two in half the time.

    Their texts differ in length: the shorter are filled up with words that nobody
    attends to or is asked for. What the weights make of a word is computed once a step,
    not for each place where it stands.
    """
    random = [torch.Generator().manual_seed(seed) for seed in seeds]
    models = [OneHead(generator, encoding) for generator in random]
    whole = OneHead(torch.Generator(), encoding)
    for name, weight in whole.named_parameters():
        weight.data = torch.stack([model.get_parameter(name).data for model in models])

    def loss_at(_: int) -> Tensor:
        lengths, words = [], torch.zeros(len(random), BATCH, longest, dtype=torch.int64)
        for generator, texts in zip(random, words, strict=True):
            lengths.append(int(torch.randint(5, longest + 1, (), generator=generator)))
            drawn = torch.randint(WORDS, (BATCH, lengths[-1]), generator=generator)
            texts[:, : lengths[-1]] = drawn
        words, n = words[..., : max(lengths)], torch.tensor(lengths)[:, None]
        there = torch.arange(words.shape[-1]) < n
        which = functional.one_hot(words, WORDS).float().flatten(1, 2)

        def at_places(W: Tensor) -> Tensor:
            return torch.bmm(which, whole.E @ W).view(*words.shape, W.shape[-1])

        query, key = at_places(whole.Wq), at_places(whole.Wk)
        if encoding == "added":
            P = codes(words.shape[-1])
            query = query + (P @ whole.Wq)[:, None]
            key = key + (P @ whole.Wk)[:, None]
        hidden = torch.where(there, 0.0, -torch.inf)[:, None, None]
        scores = whole.compared(query, key) + hidden
        guess = scores.softmax(-1) @ at_places(whole.U.mT)
        losses = functional.cross_entropy(
            guess[..., 1:, :].flatten(0, 2), words[..., :-1].flatten(), reduction="none"
        )
        means = losses.view(len(random), BATCH, -1).mean(1) / (n - 1)
        return (means * there[:, 1:]).sum(1)

    cycle = partial(OneCycleLR, max_lr=RATE, total_steps=steps)
    fit(whole.parameters(), loss_at, steps, RATE, schedule=cycle)
    for name, weight in whole.named_parameters():
        for model, own in zip(models, weight.data, strict=True):
            model.get_parameter(name).data = own.clone()
    return models


def head_matrix(model: OneHead) -> NDArray[np.float64]:
    """W = Wq Wk^T / sqrt(32): between encodings the score is P_t . W P_s."""
    product = (model.Wq @ model.Wk.T).detach() / WIDTH**0.5
    return np.asarray(product, dtype=np.float64)


@torch.no_grad()
def share_right(
    model: OneHead,
    n: int,
    generator: torch.Generator,
    W: NDArray[np.float64] | None = None,
) -> float:
    """Right answers on 64 random texts of n words, the first word left out.

    With W the scores are P_t . W P_s, encodings alone, in the place of the model's own.
    """
    words = torch.randint(WORDS, (TEST_TEXTS, n), generator=generator)
    scores = None
    if W is not None:
        P = codes(n)
        scores = P @ torch.from_numpy(W).float() @ P.T
    guess = model(words, scores)[:, 1:].argmax(-1)
    return float((guess == words[:, :-1]).double().mean())


def measure(
    schemes: Sequence[str],
    *,
    seeds: int,
    test_lengths: Sequence[int],
    steps: int = STEPS,
    longest: int = 24,
) -> list[Score]:
    """Train models of each seed, and test heads of them at each length.

    "added" and "rotary" are the models as trained. "codes", "rotations", "residual" and
    "shift" are the added model with the scores of encodings alone, through its W, the
    rotation part of W, the rest of W, and 10 T(1). Other arguments are those of
    `trained`.

    Raises ValueError for an unknown name in `schemes`.
    """
    for scheme in schemes:
        as_choice("schemes", scheme, HEADS)
    numbers = range(seeds)
    train = partial(side_by_side, steps=steps, longest=longest)
    used = [name for name in ENCODINGS if name == "added" or name in schemes]
    every = zip(*(train(name, numbers) for name in used), strict=True)
    models = [dict(zip(used, of_seed, strict=True)) for of_seed in every]
    return score_rows(
        "one_back",
        schemes,
        numbers,
        test_lengths,
        lambda scheme, n: [share_of(of_seed, scheme, n) for of_seed in models],
    )


def share_of(models: Mapping[str, OneHead], scheme: str, n: int) -> float:
    """A share of :func:`measure` for trained models, "added" and "rotary"."""
    W = head_matrix(models["added"])
    rotations = rotation_part(W)
    heads = {
        "codes": W,
        "rotations": rotations,
        "residual": W - rotations,
        "shift": SCALE * shift_matrix(1, len(W)),
    }
    model, generator = models.get(scheme, models["added"]), torch.Generator()
    return share_right(model, n, generator.manual_seed(n), heads.get(scheme))
