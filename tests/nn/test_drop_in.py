"""The modules in the place of other people's: configurations, calls, weights."""

import importlib
import math

import numpy as np
import pytest
import torch

from pe_lib.beyond.grid import rotate_grid
from pe_lib.beyond.scaling import attention_factor, by_parts, llama3
from pe_lib.nn import GridRotaryEmbedding, RotaryEmbedding
from pe_lib.nn._layouts import LAYOUT_OF

CONFIG = {
    "model_type": "llama",
    "hidden_size": 128,
    "num_attention_heads": 2,
    "rope_theta": 1e4,
}
SCALED = {"factor": 8.0, "original_max_position_embeddings": 8192}
TURNS = {"rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LAYOUTS = ("interleaved", "half_split")
LONG = {
    "rope_type": "longrope",
    "original_max_position_embeddings": 4096,
    "short_factor": [1.0] * 32,
    "long_factor": [4.0] * 32,
}


def from_config(layer_type=None, length=None, **more):
    config = {**CONFIG, **more}
    return RotaryEmbedding.from_config(config, layer_type=layer_type, length=length)


# from_config


def at_base(base):
    return base ** (-np.arange(0, 64, 2) / 64)


PLAIN = at_base(1e4)
SLOWED = {"rope_type": "linear", "factor": 8.0}
OF_LAYERS = [  # as Gemma 3's files of before and after transformers 5 say
    {"rope_theta": 1e6, "rope_local_base_freq": 1e4, "rope_scaling": SLOWED},
    {
        "rope_parameters": {
            "full_attention": {"rope_theta": 1e6, **SLOWED},
            "sliding_attention": {"rope_theta": 1e4, "rope_type": "default"},
        }
    },
]
MODERN = {"rope_theta": None, "global_rope_theta": 160_000, "local_rope_theta": 1e4}
WIDE = {"hidden_size": 7168, "num_attention_heads": 128, "qk_rope_head_dim": 64}
DEEPSEEK = {"model_type": "deepseek_v3", **WIDE}
OLD_NAMES = {"rope_theta": None, "rotary_emb_base": 5e5, "rotary_pct": 0.25}
INNER = {"text_config": {**CONFIG, "rope_theta": 5e5}}
FAR = {"max_position_embeddings": 131_072, "rope_parameters": LONG}
DYNAMIC = {"rope_type": "dynamic", "factor": 2.0}
SHORT = {"max_position_embeddings": 100, "rope_parameters": DYNAMIC}
ALONG = np.log(8192 / (2 * np.pi * np.array([32, 1]))) / np.log(1e4) * 32
KEPT = np.clip((ALONG[1] - np.arange(32)) / (ALONG[1] - ALONG[0]), 0, 1)
SAID = [
    ({"rope_theta": 5e5}, {"head_dim": 64, "layout": "half_split", "_given": False}),
    ({"model_type": "mllama", "rope_theta": 7.0, **INNER}, {"base": 5e5}),
    *(
        ({key: {"rope_theta": 1e4, **SCALED, **rule}}, wanted)
        for key in ("rope_parameters", "rope_scaling")
        for rule, wanted in (
            (TURNS, {"frequencies": llama3(PLAIN, 8, 8192)}),
            ({"type": "yarn"}, {"frequencies": by_parts(PLAIN, 8, 8192, ramp="index")}),
            ({"type": "yarn"}, {"attention_factor": attention_factor(8)}),
            ({"type": "linear"}, {"frequencies": PLAIN / 8}),
        )
    ),
    *(
        (
            {
                "rope_scaling": {
                    "rope_type": "yarn",
                    **SCALED,
                    "factor": math.exp(3),
                    **given,
                }
            },
            {"attention_factor": wanted},
        )
        for given, wanted in (
            ({"mscale": 1.0, "mscale_all_dim": 0.5}, 1.3 / 1.15),  # DeepSeek's two
            ({"mscale": 1.0}, 1.3),
            ({"mscale": 1.0, "mscale_all_dim": 0.5, "attention_factor": 2}, 2),
        )
    ),
    *(
        ({"layer_type": f"{layers}_attention", **config}, {"frequencies": wanted})
        for config in OF_LAYERS
        for layers, wanted in (("full", at_base(1e6) / 8), ("sliding", PLAIN))
    ),
    ({"layer_type": "full_attention", **MODERN}, {"base": 160_000}),
    ({"layer_type": "sliding_attention", **MODERN}, {"base": 1e4}),
    ({"length": 4096, **FAR}, {"frequencies": PLAIN}),
    ({"length": 4097, **FAR}, {"frequencies": PLAIN / 4}),
    ({"length": 4097, **FAR}, {"attention_factor": math.sqrt(1 + 5 / 12)}),  # 1.190
    (
        {"length": 1, "rope_parameters": {**LONG, "attention_factor": 2.0}},
        {"attention_factor": 2},
    ),
    ({"length": 100, **SHORT}, {"frequencies": PLAIN}),
    ({"length": 200, **SHORT}, {"frequencies": PLAIN * 3.0 ** -(np.arange(32) / 31)}),
    (
        {
            "rope_parameters": {
                "rope_type": "proportional",
                "partial_rotary_factor": 0.25,
                "factor": 2.0,
            }
        },
        {"frequencies": np.where(np.arange(32) < 8, PLAIN / 2, 0)},
    ),
    (
        {"rope_scaling": {"rope_type": "yarn", **SCALED, "truncate": False}},
        {"frequencies": PLAIN * (KEPT + (1 - KEPT) / 8)},
    ),
    (DEEPSEEK, {"head_dim": 64, "layout": "interleaved"}),
    ({"rope_interleave": False, **DEEPSEEK}, {"layout": "half_split"}),
    ({"model_type": "gpt_neox", **OLD_NAMES}, {"base": 5e5, "rotary_dim": 16}),
    # whose files have no base
    *(
        ({"model_type": k, "rope_theta": None}, {"base": 1e4})
        for k in ("codegen", "gptj")
    ),
    ({"rope_scaling": {"type": "linear", "factor": 2.0}}, {"frequencies": PLAIN / 2}),
]


@pytest.mark.parametrize(("more", "wanted"), SAID)
def test_what_a_configuration_says(more, wanted):
    made = from_config(**more)
    for name, value in wanted.items():
        told = value if name == "layout" else pytest.approx(value, rel=1e-12)
        assert getattr(made, name) == told, name


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"model_type": "new"}, "layout must be given for model_type 'new'"),
        ({"hidden_size": None}, "config must have head_dim.* got None, or None and"),
        ({"rope_theta": None}, "config must have rope_theta"),
        ({"rope_scaling": {"type": "new"}}, "rope_type must be one of .* got 'new'"),
        ({"rope_scaling": {"type": "dynamic", **SCALED}}, "length .* for 'dynamic'"),
        ({"rope_scaling": LONG}, "length must be given for 'longrope'"),
        ({"head_dim": 63}, "head_dim must be even, got 63"),
        ({"partial_rotary_factor": 0.0}, "partial_rotary_factor must be above 0, got"),
        ({"rope_ratio": 500}, "config must have no rope_ratio, .* got 500"),
        (
            {"rope_parameters": {"scaling_beta": 0.1}},
            r"must have no \['scaling_beta'\]",
        ),
        ({"rope_local_base_freq": 1e4}, "layer_type must be one of .* got None"),
        ({"layer_type": "full_attention"}, "layer_type must be left out"),
        *(
            (
                {
                    "length": 9,
                    "max_position_embeddings": 9,
                    "rope_scaling": {"type": rule},
                },
                "must have factor",
            )
            for rule in ("linear", "dynamic", "llama3", "yarn", "longrope")
        ),
        ({"rope_scaling": {"type": "llama3", **SCALED}}, "must have low_freq_factor"),
        ({"rope_scaling": {"factor": 4}}, "rope_type must be given with a factor"),
        ({"length": 9, "rope_scaling": {"type": "longrope", **SCALED}}, "short_factor"),
        ({"model_type": 0, "rope_scaling": {"mrope_section": [8]}}, "GridRotary"),
        ({"rope_parameters": {"full": {}}}, r"layer_type must be one of \['full'\]"),
    ],
)
def test_what_a_configuration_cannot_say(more, message):
    with pytest.raises(ValueError, match=message):
        from_config(**more)


@pytest.mark.parametrize("config", ["meta-llama/Llama-3.1-8B", None])
def test_what_is_no_configuration(config):
    with pytest.raises(TypeError, match=r"config must be .* got (str|NoneType)"):
        RotaryEmbedding.from_config(config)


NEIGHBOURS = ["cohere", "deepseek_v3", "glm", "glm4", "gptj"]
USED = [
    *NEIGHBOURS, "gemma", "gemma2", "gemma3_text", "gpt_neox", "gpt_oss", "granite",
    "llama", "ministral", "mistral", "mixtral", "modernbert-decoder",
    "olmo2", "olmo3", "phi", "phi3", "qwen2", "qwen3", "qwen3_moe",
    "smollm3", "starcoder2",
]  # fmt: skip


def test_the_layouts_that_are_used_most_are_known():
    for kind in USED:
        layout = "interleaved" if kind in NEIGHBOURS else "half_split"
        assert from_config(model_type=kind).layout == layout


@pytest.mark.weekly
@pytest.mark.usefixtures("transformers")
def test_the_layouts_that_are_used_most_are_those_of_the_models(monkeypatch):
    """By the scores of its own function and the frequencies of its own module."""
    monkeypatch.syspath_prepend("benchmarks")
    layouts = importlib.import_module("layouts")
    kept = {kind: its for kind, its in LAYOUT_OF.items() if kind in USED}
    assert {kind: layouts.known_layout(kind) for kind in kept} == kept


# Grids


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "ways",
    [
        {"sections": (2, 2, 2)},
        {"sections": (2, 2, 2), "interleave": True, "base": 1e6},
        {"frequencies": np.random.default_rng(0).uniform(-3, 3, (2, 6))},
    ],
)
def test_the_grid_module_turns_as_the_function(layout, ways):
    """Times its factor."""
    axes = 2 if "frequencies" in ways else 3
    rotary = GridRotaryEmbedding(12, layout=layout, attention_factor=1.5, **ways)
    x = torch.randn(2, 4, 5, 12, dtype=torch.float64)
    at = torch.randint(-1000, 1000, (2, 5, axes))
    places = at[:, None].expand(2, 4, 5, axes).numpy()
    wanted = 1.5 * rotate_grid(x.numpy(), places, layout=layout, **ways)
    q, k = rotary(x, x, positions=at)
    np.testing.assert_allclose(q, wanted, atol=1e-14)
    assert torch.equal(q, k)
    low, _ = rotary(x.float(), x.float(), positions=at)
    np.testing.assert_allclose(low, wanted, atol=3e-6)
    ready = rotary.cos_sin(at, dtype=torch.float64)
    assert torch.equal(rotary.rotary(x, x, cos_sin=ready)[0], q)
    assert not rotary.state_dict()
    half = rotary.bfloat16()(x.float(), x.float(), positions=at)[0]
    assert torch.equal(half, low)
