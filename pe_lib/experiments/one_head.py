r"""One attention head that learns to name the word before, and what is inside it.

The smallest model that can look back: words and positions go in, one head compares
them, and what it finds is the answer. :func:`measure` swaps the comparison of a
trained model for a part of it and counts right answers.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from pe_lib._arguments import as_choice, as_integer
from pe_lib.encoding import sinusoidal
from pe_lib.experiments.training import Score
from pe_lib.nn import rotate
from pe_lib.rotation import shift_matrix

WORDS, WIDTH = 16, 32
LOUDNESS = 0.7
"""Standard deviation of the words' vectors at the start: as loud as a code."""
BATCH, RATE, TEST_TEXTS = 32, 0.01, 64
SHARPNESS = 10
"""By how much the shift matrix is multiplied in its surgery."""
HEADS = ("added", "codes", "turning", "debris", "shift", "rotary")


class OneHead(nn.Module):
    r"""Score of key s for query t: (x_t Wq) . (x_s Wk) / sqrt(32).

    A word comes in as E[word] + P[position], the sinusoid of width 32. The answer is
    U times the words' vectors, mixed by the softmax of the scores: no code passes
    through, and nothing is masked.

    Parameters
    ----------
    generator : torch.Generator
        Draws the parameters E [16, 32], Wq and Wk [32, 32], U [16, 32].
    width : int
        Another one in the place of 32.
    """

    def __init__(self, generator: torch.Generator, width: int = WIDTH) -> None:
        super().__init__()

        def normal(rows: int, size: float) -> nn.Parameter:
            return nn.Parameter(size * torch.randn(rows, width, generator=generator))

        self.width = width
        self.E = normal(WORDS, LOUDNESS)
        self.Wq, self.Wk = normal(width, width**-0.5), normal(width, width**-0.5)
        self.U = normal(WORDS, width**-0.5)

    def scores(self, x: Tensor) -> Tensor:
        """Scores [..., n, n] of the words' vectors x [..., n, 32]."""
        x = x + _codes(x.shape[-2], self.width)
        scores: Tensor = (x @ self.Wq) @ (x @ self.Wk).mT / self.width**0.5
        return scores

    def forward(self, words: Tensor, scores: Tensor | None = None) -> Tensor:
        """Guesses [..., n, 16] for words [..., n]; `scores` replace the head's own."""
        x = self.E[words]
        if scores is None:
            scores = self.scores(x)
        guess: Tensor = scores.softmax(-1) @ x @ self.U.T
        return guess


class RotaryHead(OneHead):
    """The same model, but positions turn query and key, and nothing is added."""

    def scores(self, x: Tensor) -> Tensor:
        """Scores [..., n, n] of the words' vectors x [..., n, 32]."""
        cos, sin = angles(x.shape[-2], self.width)
        query, key = (
            rotate(x @ W, cos, sin, "interleaved") for W in (self.Wq, self.Wk)
        )
        scores: Tensor = query @ key.mT / self.width**0.5
        return scores


def _codes(n: int, width: int) -> Tensor:
    """The sinusoid of the first n positions, [n, width], as float32."""
    return torch.from_numpy(sinusoidal(np.arange(n), width, dtype=np.float32))


def angles(n: int, width: int) -> tuple[Tensor, Tensor]:
    """Cosines and sines of rotary at the first n positions, [n, width / 2] each."""
    codes = sinusoidal(np.arange(n), width, layout="half_split", dtype=np.float32)
    sin, cos = torch.from_numpy(codes).chunk(2, -1)
    return cos, sin


def train_head(
    model: OneHead,
    generator: torch.Generator,
    *,
    steps: int = 600,
    longest: int = 24,
    rate: float = RATE,
) -> None:
    """Train on random texts of 5 to `longest` words to name the word before.

    Adam at a rate of at most `rate` (one cycle), 32 texts of one length a step.
    Raises ValueError for fewer than 1 step or for `longest` below 5.
    """
    steps = as_integer("steps", steps, at_least=1)
    longest = as_integer("longest", longest, at_least=5)
    adam = torch.optim.Adam(model.parameters(), rate)
    cycle = torch.optim.lr_scheduler.OneCycleLR(adam, rate, total_steps=steps)
    for _ in range(steps):
        n = int(torch.randint(5, longest + 1, (), generator=generator))
        words = torch.randint(WORDS, (BATCH, n), generator=generator)
        guess = model(words)[:, 1:]  # word 0 has none before it
        loss = functional.cross_entropy(guess.mT, words[:, :-1])
        adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        adam.step()
        cycle.step()


def turning_part(W: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Of each 2 x 2 block on the diagonal the part a, b, -b, a; zeros elsewhere.

    It is the nearest matrix, entry by entry squared, of those that turn and stretch
    each hand by itself.

    >>> turning_part(np.array([[2.0, 5.0], [1.0, 4.0]]))
    array([[ 3.,  2.],
           [-2.,  3.]])

    Raises ValueError if W is not square or has an odd width.
    """
    if W.ndim != 2 or W.shape[0] != W.shape[1] or len(W) % 2:
        raise ValueError(f"W must be square and of an even width, got {W.shape}")
    turning = np.zeros_like(W)
    for j in range(0, len(W), 2):
        (p, q), (r, s) = W[j : j + 2, j : j + 2]
        a, b = (p + s) / 2, (q - r) / 2
        turning[j : j + 2, j : j + 2] = [[a, b], [-b, a]]
    return turning


def head_matrix(model: OneHead) -> NDArray[np.float64]:
    """W = Wq Wk^T / sqrt(32): between codes the score is P_t . W P_s."""
    product = (model.Wq @ model.Wk.T).detach() / model.width**0.5
    return np.asarray(product, dtype=np.float64)


def share_right(
    model: OneHead,
    n: int,
    generator: torch.Generator,
    W: NDArray[np.float64] | None = None,
) -> float:
    """Right answers on 64 random texts of n words, the first word left out.

    With W the scores are P_t . W P_s, codes alone, in the place of the model's own.
    """
    words = torch.randint(WORDS, (TEST_TEXTS, n), generator=generator)
    scores = None
    if W is not None:
        P = _codes(n, model.width)
        scores = P @ torch.from_numpy(W).float() @ P.T
    with torch.no_grad():
        guess = model(words, scores)[:, 1:].argmax(-1)
    return float((guess == words[:, :-1]).double().mean())


def trained(
    kind: str,
    seed: int,
    *,
    steps: int = 600,
    longest: int = 24,
    rate: float = RATE,
    width: int = WIDTH,
) -> OneHead:
    """A model of one seed, "added" or "rotary", trained."""
    as_choice("kind", kind, ("added", "rotary"))
    generator = torch.Generator().manual_seed(seed)
    model = (RotaryHead if kind == "rotary" else OneHead)(generator, width)
    train_head(model, generator, steps=steps, longest=longest, rate=rate)
    return model


def measure(
    schemes: Sequence[str],
    *,
    seeds: int,
    test_lengths: Sequence[int],
    steps: int = 600,
    longest: int = 24,
) -> list[Score]:
    """Train models of each seed, and test heads of them at each length.

    "added" and "rotary" are the models as trained. "codes", "turning", "debris" and
    "shift" are the added model with the scores of codes alone, through its W, the
    turning part of W, the rest of W, and 10 T(1).

    Raises ValueError for an unknown name in `schemes`.
    """
    for scheme in schemes:
        as_choice("schemes", scheme, HEADS)
    rows: list[Score] = []
    for seed in range(as_integer("seeds", seeds, at_least=1)):
        models = {
            kind: trained(kind, seed, steps=steps, longest=longest)
            for kind in ("added", "rotary")
            if kind == "added" or kind in schemes
        }
        rows += scores_of(models, seed, schemes, test_lengths)
    order = {name: row for row, name in enumerate(schemes)}
    return sorted(rows, key=lambda row: order[row.scheme])


def scores_of(
    models: Mapping[str, OneHead],
    seed: int,
    schemes: Sequence[str],
    lengths: Sequence[int],
) -> Iterator[Score]:
    """The rows of :func:`measure` for trained models, "added" and "rotary"."""
    W = head_matrix(models["added"])
    turning = turning_part(W)
    heads = {
        "codes": W,
        "turning": turning,
        "debris": W - turning,
        "shift": SHARPNESS * shift_matrix(1, len(W)),
    }
    for scheme in schemes:
        model = models.get(scheme, models["added"])
        for n in lengths:
            generator = torch.Generator().manual_seed(n)
            share = share_right(model, n, generator, heads.get(scheme))
            yield Score("one_back", scheme, seed, n, share)
