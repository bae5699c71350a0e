"""What a transformers configuration says of rotary positions."""

import math
from collections.abc import Mapping
from typing import Any

from pe_lib.beyond.rotary import BASE
from pe_lib.beyond.scaling import attention_factor, by_parts, interpolate
from pe_lib.frequencies import angular_frequencies

# Read in the models of transformers 5.23.0: what each calls to swap the two of a pair.
MODELS = {
    "half_split": "gemma gemma2 gpt_neox granite llama mistral mixtral olmo olmo2 phi "
    "phi3 qwen2 qwen2_moe qwen3 qwen3_moe smollm3 stablelm starcoder2",
    "interleaved": "codegen cohere cohere2 ernie4_5 glm glm4 gptj helium llama4_text",
}
RULES = ("default", "linear", "llama3", "yarn")


def rotary_arguments(config: Any, layout: str | None) -> dict[str, Any]:
    """The arguments of RotaryEmbedding that turn as the model of `config` does."""
    # `rope_parameters` of transformers 5, or `rope_scaling` of its older versions
    rope = _first(config, "rope_parameters", "rope_scaling") or {}
    if any(isinstance(value, Mapping) for value in rope.values()):
        raise ValueError(
            "config must have one set of rope_parameters, got one for each kind of "
            f"layer, {sorted(rope)}: make a RotaryEmbedding of each"
        )
    if "mrope_section" in rope:
        raise ValueError(
            "rope_parameters must have no mrope_section, got "
            f"{rope['mrope_section']}: its positions have three axes, make "
            "GridRotaryEmbedding(head_dim, sections=...)"
        )
    heads = _first(config, "num_attention_heads", "n_head")
    width = _first(config, "hidden_size", "n_embd")
    head_dim = _first(config, "head_dim") or (width and heads and width // heads)
    if not head_dim:
        raise ValueError(
            "config must have head_dim, or hidden_size and num_attention_heads, got "
            f"{type(config).__name__}"
        )
    share = _first(rope, "partial_rotary_factor") or _first(
        config, "partial_rotary_factor", "rotary_pct"
    )
    turning = _first(config, "rotary_dim") or int(head_dim * (share or 1))
    base = _first(rope, "rope_theta") or _first(config, "rope_theta", "rotary_emb_base")
    kind = _first(config, "model_type")
    known = [way for way, models in MODELS.items() if kind in models.split()]
    if not layout and not known:
        raise ValueError(
            f"layout must be given for model_type {kind!r}, 'half_split' or "
            "'interleaved': a wrong one gives wrong scores, and nothing else shows it"
        )
    given = {
        "head_dim": head_dim,
        "rotary_dim": turning,
        "layout": layout or known[0],
    }
    longest = _first(config, "max_position_embeddings", "n_positions")
    return given | _stretched(rope, turning, float(base or BASE), longest)


def _stretched(
    rope: Mapping[str, Any], turning: int, base: float, longest: Any
) -> dict[str, Any]:
    """Base or frequencies and attention factor, by the rule of `rope`."""
    rule = _first(rope, "rope_type", "type")
    if rule is None and "factor" in rope:
        raise ValueError(f"rope_type must be given with a factor, got {dict(rope)}")
    if rule in (None, "default"):
        return {"base": base}
    if rule not in RULES:
        raise ValueError(
            f"rope_type must be one of {RULES}, got {rule!r}: where angles depend on "
            "the length of the text, as for 'dynamic' and 'longrope', compute them by "
            "pe_lib.beyond.scaling and make RotaryEmbedding(..., frequencies=...)"
        )
    frequencies = angular_frequencies(turning, base=base)
    trained = rope.get("original_max_position_embeddings") or longest
    factor = rope.get("factor") or (longest and trained and longest / trained)
    if not factor or (not trained and rule != "linear"):
        raise ValueError(
            f"rope_parameters of {rule!r} must have factor and "
            f"original_max_position_embeddings, got {dict(rope)}"
        )
    if rule == "linear":
        return {"frequencies": interpolate(frequencies, factor)}
    if rule == "llama3":
        slow, fast = rope.get("low_freq_factor", 1.0), rope.get("high_freq_factor", 4.0)
        parts = by_parts(frequencies, factor, trained, slow=slow, fast=fast)
        return {"frequencies": parts}
    if not rope.get("truncate", True):
        raise ValueError(
            "rope_parameters must have truncate = true for 'yarn', got false: make "
            "RotaryEmbedding(..., frequencies=...)"
        )
    slow, fast = rope.get("beta_slow") or 1, rope.get("beta_fast") or 32
    parts = by_parts(frequencies, factor, trained, slow=slow, fast=fast, ramp="index")
    more, one, every = (
        rope.get(name) for name in ("attention_factor", "mscale", "mscale_all_dim")
    )
    if more is None and one and every:
        grown = 0.1 * math.log(factor)
        more = (one * grown + 1) / (every * grown + 1)
    more = attention_factor(factor) if more is None else float(more)
    return {"frequencies": parts, "attention_factor": more}


def _first(config: Any, *names: str) -> Any:
    """The first of the values that is there, of an object or of a loaded JSON."""
    if not isinstance(config, Mapping):
        config = {name: getattr(config, name, None) for name in names}
    return next((config[n] for n in names if config.get(n) is not None), None)
