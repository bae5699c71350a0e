"""Attention weights of every model here, and what is listened to or changed in them."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pe_lib.encoding import sinusoidal
from pe_lib.nn import rotate

Head = tuple[int, int]
"""A layer and the number of a query head in it, both from 0."""
Angles = tuple[Tensor, Tensor]
"""Cosines and sines of the angles by which pairs of numbers are rotated."""


@dataclass(frozen=True, kw_only=True)
class Intervention:
    """What is changed in a model while it reads, and who listens.

    Any model takes the first two, SmolLM2 the next three, and the last is for a
    :class:`~pe_lib.experiments.model.Transformer` without norms, with one head a layer.

    Parameters
    ----------
    listen : callable, optional
        Is given each layer, its queries and keys before any rotation, and its weights.
    change : callable, optional
        ``change(layer, weights)`` replaces the weights [..., heads, queries, keys].
    shift : mapping
        For a rotary head, how many positions earlier its queries count: T(k).
    pairs : slice
        Which pairs of its numbers `shift` rotates.
    unrotated : collection
        Heads whose queries and keys are not rotated at all.
    between_codes : array [width, width], optional
        M for W of the first head: between encodings it scores P_t . M P_s.
    """

    listen: Callable[[int, Tensor, Tensor, Tensor], None] | None = None
    change: Callable[[int, Tensor], Tensor] | None = None
    shift: Mapping[Head, float] = field(default_factory=dict)
    pairs: slice = field(default_factory=lambda: slice(None))
    unrotated: Collection[Head] = ()
    between_codes: NDArray[np.float64] | None = None

    def must_be_of(self, *names: str) -> None:
        """Raise ValueError if anything else is asked for than by these names."""
        for one in fields(self):
            value = getattr(self, one.name)
            is_given = isinstance(value, np.ndarray) or bool(value)
            if is_given and one.name not in (*names, "pairs"):
                raise ValueError(
                    f"intervention must be of {', '.join(names)} for this model, "
                    f"got {one.name}"
                )

    def angles(
        self,
        layer: int,
        heads: int,
        usual: Angles,
        positions: Tensor,
        frequencies: Tensor,
    ) -> tuple[Angles, Angles]:
        """Cosines and sines of queries and of keys, [heads, positions, pairs] each.

        `usual` are those of every head that is left as it is.
        """
        cos, sin = (x.repeat(heads, 1, 1) for x in usual)
        of_queries, of_keys = (cos, sin), (cos.clone(), sin.clone())
        for (where, head), offset in self.shift.items():
            if where == layer:
                moved = torch.zeros_like(frequencies)
                moved[self.pairs] = offset * frequencies[self.pairs]
                turned = cos_sin(positions[:, None] * frequencies - moved)
                of_queries[0][head], of_queries[1][head] = turned
        for head in (head for where, head in self.unrotated if where == layer):
            for cos, sin in (of_queries, of_keys):
                cos[head], sin[head] = 1, 0
        return of_queries, of_keys


AS_IT_IS = Intervention()
ANY_MODEL = ("listen", "change")
IN_ROTARY_HEADS = ("shift", "unrotated")
ON_CODES = ("between_codes",)


def attention_weights(
    layer: int,
    query: Tensor,
    key: Tensor,
    *,
    angles: tuple[Angles, Angles] | None = None,
    bias: Tensor | None = None,
    intervention: Intervention = AS_IT_IS,
) -> Tensor:
    """Weights [..., heads, queries, keys] of queries and keys [..., heads, n, size].

    The softmax of (R q) . (R k) / sqrt(size) + bias; `angles` of queries and of keys.
    """
    left, right = query, key
    if angles is not None:
        left = rotate(query, *angles[0], "interleaved")
        right = rotate(key, *angles[1], "interleaved")
    scores = left @ right.mT / math.sqrt(query.shape[-1])
    weights = (scores if bias is None else scores + bias).softmax(-1)
    if intervention.listen is not None:
        intervention.listen(layer, query, key, weights)
    if intervention.change is not None:
        weights = intervention.change(layer, weights)
    return weights


def cos_sin(angles: Tensor) -> Angles:
    """Cosines and sines of float64 angles, rounded once to float32."""
    return angles.cos().float(), angles.sin().float()


def causal_bias(length: int) -> Tensor:
    """What is added to scores [length, length]: minus infinity for later keys."""
    return torch.full((length, length), -torch.inf).triu(1)


def rotary_angles(length: int, head_dim: int) -> Angles:
    """Cosines and sines of rotary positions 0, 1, 2 ..., [length, head_dim / 2]."""
    codes = sinusoidal(
        np.arange(length), head_dim, layout="half_split", dtype=np.float32
    )
    sin, cos = torch.from_numpy(codes).chunk(2, -1)
    return cos, sin
