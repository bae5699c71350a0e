"""A transformer for each encoding and each seed, side by side.

Encodings of one seed are a fair comparison: they start from the same weights. They
differ in their position terms alone, each with a value that does nothing: an encoding
of 0, no rotation, a bias of 0.
"""

from collections.abc import Iterable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from pe_lib._arguments import as_reals
from pe_lib.beyond.bias import alibi_slopes, t5_buckets
from pe_lib.experiments.attention import Angles, causal_bias, rotary_angles
from pe_lib.experiments.model import Positions, Transformer
from pe_lib.experiments.schemes import WIDTH, Context, Scheme
from pe_lib.experiments.tasks import Task

Array = NDArray[np.float64]
HEADS = 2
WIDER = 2
"""How many times as wide as a token the layer between the others is."""
BUCKETS = 32


class Ensemble(Transformer):
    """All members: ``len(schemes) * seeds`` small transformers in one.

    The member of scheme i and seed j is number ``i * seeds + j``.

    Parameters
    ----------
    task : Task
        Its tokens, answers, mask, and whether there is one answer a sequence.
    schemes : iterable of Scheme
    seeds, first_seed : int
        How many seeds, and the first.
    trained_length, longest : int
        The longest length in training, and the last position of all plus one.

    Raises TypeError or ValueError if a scheme's encodings are no finite real numbers of
    shape [length, width].
    """

    def __init__(
        self,
        task: Task,
        schemes: Iterable[Scheme],
        *,
        seeds: int,
        layers: int,
        token_std: float,
        trained_length: int,
        longest: int,
        first_seed: int = 0,
    ) -> None:
        self.task, self.schemes = task, list(schemes)
        self.numbers = range(first_seed, first_seed + seeds)
        super().__init__(
            [torch.Generator().manual_seed(seed) for seed in self.numbers],
            tokens=task.tokens,
            answers=task.answers,
            width=WIDTH,
            heads=HEADS,
            head_dim=WIDTH // HEADS,
            layers=layers,
            hidden=WIDER * WIDTH,
            norm="layer",
            biases=True,
            token_std=token_std,
            copies=len(self.schemes),
        )
        self.longest = longest
        scale = self._each([scheme.t5_scale for scheme in self.schemes])
        self.bucket_bias = self.normal(HEADS, BUCKETS, WIDTH**-0.5)
        self.bucket_bias.data /= scale
        self.contexts = [
            Context(trained_length, longest, *self._noise(generator))
            for generator in self.generators
        ]
        self.table = nn.Parameter(self._codes(longest, learned=True))
        self._fixed: dict[int, Tensor] = {}
        self._learned = self._each([scheme.learned for scheme in self.schemes])
        self._t5 = scale * self._each([s.bias == "t5" for s in self.schemes])
        self._angles, self._bias = self._rotary_angles(), self._fixed_bias()
        t = np.arange(longest)
        buckets = torch.tensor(
            t5_buckets(t - t[:, None], num_buckets=BUCKETS, causal=task.causal)
        )
        self._one_hot = functional.one_hot(buckets, BUCKETS).movedim(-1, 0).float()

    def logits(self, tokens: Tensor, start: int | None = None) -> Tensor:
        """Logits [members, positions or sequences, answers].

        tokens: [seeds, sequences, length], the same for all schemes of a seed.
        start: the position of the first, in the longest text; None for 0 in its own.
        """
        found: Tensor = self(tokens, self.positions(tokens.shape[2], start))
        return found.mean(2) if self.task.pooled else found.flatten(1, 2)

    def positions(self, length: int, start: int | None = None) -> Positions:
        """What every member adds or rotates by at these positions."""
        text = length if start is None else self.longest
        if text not in self._fixed:
            self._fixed[text] = self._codes(text, learned=False)
        rows = slice(start or 0, (start or 0) + length)
        codes = self._fixed[text][:, rows] + self._learned * self.table[:, rows]
        buckets = self._one_hot[:, rows][:, :, rows].flatten(1)
        bias = self._bias[:, :, rows][..., rows]
        learned = (self.bucket_bias @ buckets) * self._t5
        angles = None
        if any(scheme.rotary for scheme in self.schemes):
            cos, sin = (x[..., rows, :] for x in self._angles)
            angles = cos, sin
        return Positions(
            codes[:, None], angles, (bias + learned.view_as(bias))[:, None]
        )

    def _each(self, of_schemes: list[float] | list[bool]) -> Tensor:
        """A number of each scheme, for each member: [members, 1, 1]."""
        numbers = torch.tensor(of_schemes).float().repeat_interleave(self.seeds)
        return numbers[:, None, None]

    def _noise(self, generator: torch.Generator) -> tuple[Array, Array]:
        """A random direction [width], and noise [longest, width]."""
        shapes = (self.width,), (self.longest, self.width)
        vector, noise = (
            torch.randn(s, generator=generator, dtype=torch.float64) for s in shapes
        )
        return (vector / vector.norm()).numpy(), noise.numpy()

    def _codes(self, length: int, *, learned: bool) -> Tensor:
        """Encodings [members, length, width] of schemes that learn them, or do not."""
        return torch.stack(
            [
                encoded(scheme, length, context)
                if scheme.learned == learned
                else torch.zeros(length, self.width)
                for scheme in self.schemes
                for context in self.contexts
            ]
        )

    def _rotary_angles(self) -> Angles:
        """Cosines and sines [members, 1, 1, longest, pairs]; not rotary: 1 and 0."""
        cos, sin = rotary_angles(self.longest, self.width // HEADS)
        rotary = self._each([s.rotary for s in self.schemes])[..., None, None] > 0
        return torch.where(rotary, cos, 1.0), torch.where(rotary, sin, 0.0)

    def _fixed_bias(self) -> Tensor:
        """What schemes and mask add to scores, [members, HEADS, longest, longest]."""
        bias = torch.stack(
            [scheme_bias(scheme, self.longest) for scheme in self.schemes]
        )
        bias = bias.repeat_interleave(self.seeds, 0).float()
        return bias + causal_bias(self.longest) if self.task.causal else bias


def encoded(scheme: Scheme, length: int, context: Context) -> Tensor:
    """The encodings of a scheme, [length, width] in float32; 0 if it has none."""
    shape = (length, context.width)
    if scheme.encode is None:
        return torch.zeros(shape)
    code = as_reals("encoding", scheme.encode(length, context))
    if code.shape != shape or not np.isfinite(code).all():
        raise ValueError(
            f"encoding must be finite and of shape {shape}, got {code.shape}"
        )
    return torch.tensor(code, dtype=torch.float32)


def scheme_bias(scheme: Scheme, length: int) -> Tensor:
    """What a scheme adds to the scores before training, [HEADS, length, length]."""
    slopes = alibi_slopes(HEADS) if scheme.slopes is None else scheme.slopes
    t = np.arange(length)
    used = np.asarray(slopes) * (scheme.bias == "alibi")
    return torch.tensor(-used[:, None, None] * np.abs(t[:, None] - t))
