r"""One transformer of many members, to which positions come with each text.

Each weight has a leading axis of members, and each product is a batched product
along it. The members share the arithmetic and nothing else: the sum of their losses
has, for each weight, the gradient of its own member's loss, and Adam treats every
number by itself. What tells a model where its tokens are is an argument:

    x_t = token + code_t
    score = (R_t q_t) . (R_s k_s) / sqrt(head_dim) + b_{t,s}
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from pe_lib.experiments.attention import (
    ANY_MODEL,
    AS_IT_IS,
    ON_CODES,
    Angles,
    Intervention,
    attention_weights,
)


class Positions(NamedTuple):
    """The encoding of the positions of some texts, of all members or of each.

    Attributes
    ----------
    codes : Tensor [members, texts, length, width], optional
        Added to the tokens.
    angles : two Tensors [members, texts, heads, length, head_dim / 2], optional
        Cosines and sines of the angles by which pairs of query and key are rotated.
    bias : Tensor [members, texts, heads, length, length], optional
        Added to the scores; minus infinity where a token must not look.

    An axis can have one entry for all, and leading axes can be missing.
    """

    codes: Tensor | None = None
    angles: Angles | None = None
    bias: Tensor | None = None


NOWHERE = Positions()


class Transformer(nn.Module):
    """Members side by side, each with random weights of its own or of its seed.

    Parameters
    ----------
    generators : sequence of torch.Generator
        One for each seed, in this order: `tokens` [tokens, width], then for each layer
        `maps` "query0", "key0", "value0" [width, heads * head_dim], "out0",
        and if hidden "up0" and "down0"; at last "answer" [width, answers].
    copies : int
        So many members start from the weights of each seed; member i * seeds + j is
        copy i of seed j.
    norm : "layer", "rms" or ""
        Before each layer and the answer, without weights of its own: the matrix and
        the bias behind it can do what these would.
    biases : bool
        Whether maps have biases, which start at 0.
    """

    def __init__(
        self,
        generators: Sequence[torch.Generator],
        *,
        tokens: int,
        answers: int,
        width: int,
        heads: int,
        head_dim: int,
        layers: int = 1,
        hidden: int = 0,
        norm: str = "",
        biases: bool = False,
        token_std: float = 1.0,
        copies: int = 1,
    ) -> None:
        super().__init__()
        self.generators, self.copies = generators, copies
        self.seeds, self.members = len(generators), copies * len(generators)
        self.width, self.heads, self.layers = width, heads, layers
        self.hidden, self.norm, inner = hidden, norm, heads * head_dim
        shapes = dict.fromkeys(("query", "key", "value"), (width, inner))
        shapes["out"] = (inner, width)
        if hidden:
            shapes |= {"up": (width, hidden), "down": (hidden, width)}
        self.tokens = self.normal(tokens, width, token_std)
        self.maps, self.biases = nn.ParameterDict(), nn.ParameterDict()
        for layer in range(layers):
            for name, (rows, columns) in shapes.items():
                self.maps[f"{name}{layer}"] = self.normal(rows, columns, rows**-0.5)
        self.maps["answer"] = self.normal(width, answers, width**-0.5)
        for name, W in self.maps.items() if biases else ():
            self.biases[name] = nn.Parameter(torch.zeros(self.members, 1, W.shape[-1]))

    def normal(self, rows: int, columns: int, std: float) -> nn.Parameter:
        """Random numbers [members, rows, columns], the same for copies of a seed."""
        drawn = [torch.randn(rows, columns, generator=g) * std for g in self.generators]
        return nn.Parameter(torch.stack(drawn).repeat(self.copies, 1, 1))

    def forward(
        self,
        tokens: Tensor,
        positions: Positions = NOWHERE,
        intervention: Intervention = AS_IT_IS,
    ) -> Tensor:
        """Logits [members, texts, length, answers] of tokens [seeds, texts, length].

        Where tokens have one more axis, the vectors along it are added. All copies of
        a seed read the same tokens. Raises ValueError for an intervention in rotary
        heads; or on encodings, where there are none, or norms, or more heads in a
        layer.
        """
        plain = positions.codes is not None and self.heads == 1 and not self.norm
        intervention.must_be_of(*ANY_MODEL, *(ON_CODES if plain else ()))
        one_hot = functional.one_hot(tokens, self.tokens.shape[1]).float()
        one_hot = one_hot.sum(-2) if tokens.ndim == 4 else one_hot
        one_hot = one_hot.repeat(self.copies, 1, 1, 1)
        x = torch.bmm(one_hot.flatten(1, 2), self.tokens)
        x = x.view(*one_hot.shape[:3], self.width)
        own = torch.zeros(()) if positions.codes is None else positions.codes
        x = x + own
        for layer in range(self.layers):
            y = self._normed(x)
            weights = self._weights(layer, y, own, positions, intervention)
            x = x + self._mixed(layer, weights, y)
            if self.hidden:
                y = torch.relu(self._affine(f"up{layer}", self._normed(x)))
                x = x + self._affine(f"down{layer}", y)
        return self._affine("answer", self._normed(x))

    def _weights(
        self,
        layer: int,
        y: Tensor,
        own: Tensor,
        positions: Positions,
        intervention: Intervention,
    ) -> Tensor:
        """The weights [members, texts, heads, n, n] of a layer, of normed tokens."""
        bias, angles = positions.bias, positions.angles
        if layer == 0 and intervention.between_codes is not None:
            M = torch.from_numpy(intervention.between_codes - score_matrix(self))
            new = (own @ M.float() @ own.mT).unsqueeze(2)
            bias = new if bias is None else bias + new
        query, key = (
            self._heads(self._affine(f"{name}{layer}", y)) for name in ("query", "key")
        )
        return attention_weights(
            layer,
            query,
            key,
            angles=None if angles is None else (angles, angles),
            bias=bias,
            intervention=intervention,
        )

    def _mixed(self, layer: int, weights: Tensor, y: Tensor) -> Tensor:
        """What attention adds to the tokens, of normed ones."""
        value = self._heads(self._affine(f"value{layer}", y))
        mixed = (weights @ value).transpose(2, 3).flatten(3)
        return self._affine(f"out{layer}", mixed)

    def _heads(self, x: Tensor) -> Tensor:
        """From [members, texts, n, inner] to [members, texts, heads, n, head_dim]."""
        return x.reshape(*x.shape[:3], self.heads, -1).transpose(2, 3)

    def _affine(self, name: str, x: Tensor) -> Tensor:
        """x W + b [members, texts, length, columns], with W and b of each member."""
        flat, W = x.flatten(1, 2), self.maps[name]
        if name in self.biases:
            y = torch.baddbmm(self.biases[name], flat, W)
        else:
            y = torch.bmm(flat, W)
        return y.view(*x.shape[:3], -1)

    def _normed(self, x: Tensor) -> Tensor:
        if self.norm == "layer":
            return functional.layer_norm(x, (self.width,))
        if self.norm == "rms":
            return functional.rms_norm(x, (self.width,), eps=1e-6)
        return x

    def matrices(self, member: int = 0) -> dict[str, Tensor]:
        """The weights of one member by name, each a matrix."""
        weights = self.state_dict().items()
        return {name: weight[member].clone() for name, weight in weights}

    def load_matrices(self, matrices: Mapping[str, Tensor]) -> None:
        """Take the weights of a single member, as :meth:`matrices` gives them."""
        self.load_state_dict({name: weight[None] for name, weight in matrices.items()})


def score_matrix(model: Transformer, layer: int = 0) -> NDArray[np.float64]:
    """W = Wq Wk^T / sqrt(width) of a layer of one head: encodings score P_t . W P_s."""
    maps = (model.maps[f"{name}{layer}"][0] for name in ("query", "key"))
    q, k = (x.detach().double() for x in maps)
    return np.asarray(q @ k.T / math.sqrt(q.shape[1]))
