r"""One transformer of many members, one for each position scheme and seed.

Each weight has a leading axis of members, and each product is a batched product
along it. The members share the arithmetic and nothing else: the sum of their losses
has, for each weight, the gradient of its own member's loss, and Adam treats every
number by itself.

Schemes of one seed are a fair comparison: they start from the same weights. They
differ in their position terms alone, each with a value that does nothing:

    x_t = token + code_t                          code 0
    score = (R_t q_t) . (R_s k_s) / sqrt(head_dim)   no turn
            + b_{t,s}                             bias 0
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from pe_lib import sinusoidal
from pe_lib._arguments import as_reals
from pe_lib.beyond.bias import alibi_slopes, t5_buckets
from pe_lib.experiments.schemes import WIDTH, Context, Scheme
from pe_lib.experiments.tasks import Task
from pe_lib.nn import rotate

HEADS = 2
WIDER = 2
"""How many times as wide as a token the layer between the others is."""
BUCKETS = 32


class PositionTerms(NamedTuple):
    """What every member adds or rotates by, at one length.

    Attributes
    ----------
    codes : Tensor [members, length, width]
        Added to the tokens; 0 where the codes are learned.
    is_learned : Tensor [members, 1, 1]
        1 where the rows of the member's own table are added, else 0.
    cos, sin : Tensor [members, 1, length, 1, head_dim / 2]
        Of the angles by which pairs of query and key are rotated.
    bias : Tensor [members, HEADS, length, length]
        Added to the scores; minus infinity where a token must not look.
    t5_scale : Tensor [members, 1, 1]
        By what the member's own numbers for each bucket are multiplied before they
        are added; 0 where they are not.
    bucket_one_hot : Tensor [BUCKETS, length * length]
        In which bucket each pair of query and key falls.
    """

    codes: Tensor
    is_learned: Tensor
    cos: Tensor
    sin: Tensor
    bias: Tensor
    t5_scale: Tensor
    bucket_one_hot: Tensor


def position_terms(
    schemes: Sequence[Scheme],
    contexts: Sequence[Context],
    length: int,
    *,
    causal: bool,
) -> PositionTerms:
    """The terms of ``len(schemes) * len(contexts)`` members, schemes outermost.

    Raises TypeError or ValueError if a scheme's codes are no finite real numbers
    of shape [length, width], or its slopes not one for each head.
    """

    def members(of_schemes: Sequence[float]) -> Tensor:
        """A number or flag for each scheme, for each member, [members, 1, 1]."""
        flags = torch.tensor(of_schemes).float().repeat_interleave(len(contexts))
        return flags[:, None, None]

    width = contexts[0].width
    no_code = torch.zeros(length, width)
    codes = [
        no_code if scheme.learned else encoded(scheme, length, context)
        for scheme in schemes
        for context in contexts
    ]
    codes_of_head = sinusoidal(np.arange(length), width // HEADS, layout="half_split")
    sin, cos = torch.from_numpy(codes_of_head)[:, None].chunk(2, -1)
    is_rotary = members([scheme.rotary for scheme in schemes])[..., None, None] > 0
    bias = torch.stack([_bias(scheme, length) for scheme in schemes])
    bias = bias.repeat_interleave(len(contexts), 0)
    if causal:
        bias = bias + torch.full((length, length), -torch.inf).triu(1)
    t = np.arange(length)
    buckets = torch.tensor(
        t5_buckets(t - t[:, np.newaxis], num_buckets=BUCKETS, causal=causal)
    )
    return PositionTerms(
        codes=torch.stack(codes),
        is_learned=members([scheme.learned for scheme in schemes]),
        cos=torch.where(is_rotary, cos, 1.0).float(),
        sin=torch.where(is_rotary, sin, 0.0).float(),
        bias=bias.float(),
        t5_scale=members([s.t5_scale * (s.bias == "t5") for s in schemes]),
        bucket_one_hot=functional.one_hot(buckets.flatten(), BUCKETS).T.float(),
    )


def encoded(scheme: Scheme, length: int, context: Context) -> Tensor:
    """The codes of a scheme, [length, width] in float32; 0 if it has none."""
    shape = (length, context.width)
    if scheme.encode is None:
        return torch.zeros(shape)
    code = as_reals("encoding", scheme.encode(length, context))
    if code.shape != shape or not np.isfinite(code).all():
        raise ValueError(
            f"encoding must be finite and of shape {shape}, got {code.shape}"
        )
    return torch.tensor(code, dtype=torch.float32)


class Ensemble(nn.Module):
    """All members: ``len(schemes) * seeds`` small transformers in one.

    The member of scheme i and seed j is number ``i * seeds + j``. LayerNorms have no
    weights of their own: the matrix and the bias behind each can do what theirs
    would.
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
        lengths: Iterable[int],
        first_seed: int = 0,
        reach: int = 0,
        width: int = WIDTH,
    ) -> None:
        super().__init__()
        self.task, self.seeds, self.layers, self.width = task, seeds, layers, width
        self.numbers = range(first_seed, first_seed + seeds)
        self.schemes = list(schemes)
        self.members = len(self.schemes) * seeds
        lengths = sorted(lengths)
        longest = max(reach, lengths[-1])
        random = [torch.Generator().manual_seed(seed) for seed in self.numbers]

        def normal(rows: int, columns: int, std: float) -> nn.Parameter:
            """One random matrix a seed, the same one for every scheme."""
            drawn = [torch.randn(rows, columns, generator=g) * std for g in random]
            return nn.Parameter(torch.stack(drawn).repeat(len(self.schemes), 1, 1))

        def zeros(rows: int, columns: int) -> nn.Parameter:
            return nn.Parameter(torch.zeros(self.members, rows, columns))

        shapes = {
            "query": (width, width),
            "key": (width, width),
            "value": (width, width),
            "out": (width, width),
            "up": (width, WIDER * width),
            "down": (WIDER * width, width),
        }
        self.tokens = normal(task.tokens, width, token_std)
        self.weight, self.bias = nn.ParameterDict(), nn.ParameterDict()
        for layer in range(layers):
            for name, (rows, columns) in shapes.items():
                self.weight[f"{name} {layer}"] = normal(rows, columns, rows**-0.5)
                self.bias[f"{name} {layer}"] = zeros(1, columns)
        self.answer = normal(width, task.answers, width**-0.5)
        self.answer_bias = zeros(1, task.answers)
        self.bucket_bias = normal(HEADS, BUCKETS, width**-0.5)
        scales = torch.tensor([scheme.t5_scale for scheme in self.schemes])
        self.bucket_bias.data /= scales.repeat_interleave(seeds)[:, None, None]
        self.contexts = [
            Context(
                trained_length,
                longest,
                _unit(torch.randn(width, generator=g, dtype=torch.float64)),
                torch.randn(longest, width, generator=g, dtype=torch.float64).numpy(),
            )
            for g in random
        ]
        no_code = torch.zeros(longest, width)
        starts = [
            encoded(scheme, longest, context) if scheme.learned else no_code
            for scheme in self.schemes
            for context in self.contexts
        ]
        self.table = nn.Parameter(torch.stack(starts))
        self._terms = {
            length: position_terms(
                self.schemes, self.contexts, length, causal=task.causal
            )
            for length in lengths
        }
        codes = [
            no_code if scheme.learned else encoded(scheme, longest, context)
            for scheme in self.schemes
            for context in self.contexts
        ]
        self._codes = torch.stack(codes)

    def forward(self, tokens: Tensor, start: int = 0) -> Tensor:
        """Logits [members, positions or sequences, answers].

        tokens: [seeds, sequences, length], the same for all schemes of a seed.
        start: the position of the first token. From 1 on the codes are rows of the
        table of the longest length.
        """
        _, count, length = tokens.shape
        terms = self._terms[length]
        width, head_dim = self.width, self.width // HEADS
        apart = (self.members, count, length, width)
        joined = (self.members, count * length, width)
        heads = (self.members, count, length, HEADS, head_dim)

        one_hot = functional.one_hot(tokens.flatten(1), self.task.tokens).float()
        one_hot = one_hot.repeat(len(self.schemes), 1, 1)
        rows = slice(start, start + length)
        codes = self._codes[:, rows] if start else terms.codes
        codes = codes + terms.is_learned * self.table[:, rows]
        x = ((one_hot @ self.tokens).view(apart) + codes[:, None]).view(joined)
        learned = (self.bucket_bias @ terms.bucket_one_hot) * terms.t5_scale
        bias = (terms.bias + learned.view_as(terms.bias))[:, None]
        for layer in range(self.layers):
            y = functional.layer_norm(x, (width,))
            query, key, value = (
                self._affine(name, layer, y).view(heads)
                for name in ("query", "key", "value")
            )
            query, key = (
                rotate(z, terms.cos, terms.sin, "interleaved") for z in (query, key)
            )
            query, key, value = (z.transpose(2, 3) for z in (query, key, value))
            scores = query @ key.transpose(-1, -2) / math.sqrt(head_dim) + bias
            seen = (torch.softmax(scores, -1) @ value).transpose(2, 3).reshape(joined)
            x = x + self._affine("out", layer, seen)
            y = functional.layer_norm(x, (width,))
            y = torch.relu(self._affine("up", layer, y))
            x = x + self._affine("down", layer, y)
        x = functional.layer_norm(x, (width,))
        if self.task.pooled:
            x = x.view(apart).mean(2)
        return torch.baddbmm(self.answer_bias, x, self.answer)

    def _affine(self, name: str, layer: int, x: Tensor) -> Tensor:
        """x W + b, with W and b of its own for each member."""
        key = f"{name} {layer}"
        return torch.baddbmm(self.bias[key], x, self.weight[key])


def _bias(scheme: Scheme, length: int) -> Tensor:
    """What a scheme adds to the scores before training, [HEADS, length, length]."""
    slopes = alibi_slopes(HEADS) if scheme.slopes is None else scheme.slopes
    if len(slopes) != HEADS:
        raise ValueError(f"slopes must be one for each of {HEADS} heads, got {slopes}")
    t = np.arange(length)
    distance = np.abs(t[:, np.newaxis] - t)
    used = np.asarray(slopes) * (scheme.bias == "alibi")
    return torch.tensor(-used[:, np.newaxis, np.newaxis] * distance)


def _unit(vector: Tensor) -> NDArray[np.float64]:
    unit: NDArray[np.float64] = (vector / vector.norm()).numpy()
    return unit
