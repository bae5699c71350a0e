"""The reader of an encoder: a tiny one, and the published one where it is."""

import json
import struct

import numpy as np
import pytest
import torch

from pe_lib.experiments import minilm
from pe_lib.experiments.weights import read_safetensors

ATTENTION = "encoder.layer.0.attention.self"


def test_a_tiny_head_agrees_with_torch() -> None:
    """Its norm and its heads' weights, from the same matrices."""
    rng, theirs = torch.Generator().manual_seed(0), torch.nn.MultiheadAttention(32, 4)
    norm = torch.nn.LayerNorm(32, 1e-12)
    for own in (*theirs.parameters(), *norm.parameters()):
        own.data = torch.randn(own.shape, generator=rng) / 3
    drawn = {
        f"embeddings.{name}_embeddings.weight": torch.randn(rows, 32, generator=rng)
        for name, rows in (("word", 20), ("position", 12), ("token_type", 2))
    }
    for part in ("weight", "bias"):
        drawn[f"embeddings.LayerNorm.{part}"] = getattr(norm, part).detach()
        parts = getattr(theirs, f"in_proj_{part}").detach().chunk(3)
        for name, own in zip(("query", "key", "value"), parts, strict=True):
            drawn[f"{ATTENTION}.{name}.{part}"] = own
    model = minilm.Encoder(drawn, heads=4)
    words, table, kinds = list(drawn.values())[:3]
    ids = [3, 1, 4, 1, 5, 9, 2, 6]
    x = model.norm(model.words(ids) + model.table[: len(ids)], "embeddings.LayerNorm")
    with torch.no_grad():
        y = norm(words[ids] + kinds[0] + table[: len(ids)])
        expected = theirs(y, y, y, average_attn_weights=False)[1]
    q, k = (model.split(x, 0, part) for part in ("query", "key"))
    assert ((q @ k.mT / 8**0.5).softmax(-1) - expected).abs().max() < 1e-5


def test_a_file_of_matrices_is_read() -> None:
    """Only float32 is."""
    numbers = np.arange(6, dtype=np.float32).reshape(2, 3)
    about = {
        "a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
        "b": {"dtype": "I64", "shape": [1], "data_offsets": [24, 32]},
    }
    head = json.dumps(about).encode()
    found = read_safetensors(
        struct.pack("<Q", len(head)) + head + numbers.tobytes() + bytes(8)
    )
    assert list(found) == ["a"] and found["a"].tolist() == numbers.tolist()


@pytest.mark.skipif(
    not minilm.WHEEL.exists(), reason="no MiniLM: `make models` fetches it"
)
def test_its_head_attends_to_the_previous_token() -> None:
    """Head (0, 2), on words whose order means nothing."""
    model = minilm.load()
    ids = minilm.ids_of(
        "snow king apple town gold before daughter seven winter old silent gave " * 4
    )
    x = model.norm(model.words(ids) + model.table[: len(ids)], "embeddings.LayerNorm")
    q, k = (model.split(x, 0, part)[2] for part in ("query", "key"))
    looks = (q @ k.mT / 32**0.5).softmax(-1)
    assert looks.diagonal(-1)[3:-1].mean() > 0.98
