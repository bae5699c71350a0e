"""What a transformers configuration says of rotary positions."""

import math
from collections.abc import Mapping
from typing import Any

from pe_lib.beyond.rotary import BASE
from pe_lib.beyond.scaling import attention_factor, by_parts, interpolate, llama3
from pe_lib.frequencies import angular_frequencies

# Read in the models of transformers 5.23.0: what each calls to swap the two of a pair.
HALF_SPLIT = {
    "gemma", "gemma2", "gpt_neox", "granite", "llama", "mistral", "mixtral", "olmo",
    "olmo2", "phi", "phi3", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "smollm3",
    "stablelm", "starcoder2",
}  # fmt: skip
INTERLEAVED = {
    "codegen", "cohere", "cohere2", "ernie4_5", "glm", "glm4", "gptj", "helium",
    "llama4_text",
}  # fmt: skip
RULES = ("default", "linear", "llama3", "yarn")


def rotary_arguments(config: Any, layout: str | None) -> dict[str, Any]:
    """The arguments of RotaryEmbedding that turn as the model of `config` does."""
    rope = _rope_parameters(config)
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
    share = rope.get("partial_rotary_factor") or _first(
        config, "partial_rotary_factor", "rotary_pct"
    )
    turning = _first(config, "rotary_dim") or int(head_dim * (share or 1))
    base = rope.get("rope_theta") or _first(config, "rope_theta", "rotary_emb_base")
    base = float(base or BASE)
    given = {
        "head_dim": head_dim,
        "rotary_dim": turning,
        "layout": layout or _layout(config),
    }
    rule = rope.get("rope_type") or rope.get("type")
    if rule is None and "factor" in rope:
        raise ValueError(f"rope_type must be given with a factor, got {dict(rope)}")
    rule = rule or "default"
    if rule == "default":
        return {**given, "base": base}
    if rule not in RULES:
        raise ValueError(
            f"rope_type must be one of {RULES}, got {rule!r}: where angles depend on "
            "the length of the text, as for 'dynamic' and 'longrope', compute them by "
            "pe_lib.beyond.scaling and make RotaryEmbedding(..., frequencies=...)"
        )
    frequencies = angular_frequencies(turning, base=base)
    longest = _first(config, "max_position_embeddings", "n_positions")
    trained = rope.get("original_max_position_embeddings") or longest
    factor = rope.get("factor") or (longest and trained and longest / trained)
    if rule == "linear" and factor:
        return {**given, "frequencies": interpolate(frequencies, factor)}
    if not factor or not trained:
        raise ValueError(
            f"rope_parameters of {rule!r} must have factor and "
            f"original_max_position_embeddings, got {dict(rope)}"
        )
    if rule == "llama3":
        low, high = rope.get("low_freq_factor", 1.0), rope.get("high_freq_factor", 4.0)
        if (low, high) == (1.0, 4.0):
            return {**given, "frequencies": llama3(frequencies, factor, trained)}
        parts = by_parts(frequencies, factor, trained, slow=low, fast=high)
        return {**given, "frequencies": parts}
    if not rope.get("truncate", True):
        raise ValueError(
            "rope_parameters must have truncate = true for 'yarn', got false: make "
            "RotaryEmbedding(..., frequencies=...)"
        )
    slow, fast = rope.get("beta_slow") or 1, rope.get("beta_fast") or 32
    parts = by_parts(frequencies, factor, trained, slow=slow, fast=fast, ramp="index")
    more = _yarn_factor(rope, factor)
    return {**given, "frequencies": parts, "attention_factor": more}


def _rope_parameters(config: Any) -> Mapping[str, Any]:
    """`rope_parameters` of transformers 5, or `rope_scaling` of its older versions."""
    rope = _first(config, "rope_parameters", "rope_scaling") or {}
    if any(isinstance(value, Mapping) for value in rope.values()):
        raise ValueError(
            "config must have one set of rope_parameters, got one for each kind of "
            f"layer, {sorted(rope)}: make a RotaryEmbedding of each"
        )
    return rope


def _layout(config: Any) -> str:
    kind = _first(config, "model_type")
    if kind in HALF_SPLIT | INTERLEAVED:
        return "half_split" if kind in HALF_SPLIT else "interleaved"
    raise ValueError(
        f"layout must be given for model_type {kind!r}, 'half_split' or 'interleaved': "
        "a wrong one gives wrong scores, and nothing else shows it"
    )


def _yarn_factor(rope: Mapping[str, Any], factor: float) -> float:
    if rope.get("attention_factor") is not None:
        return float(rope["attention_factor"])
    one, every = rope.get("mscale"), rope.get("mscale_all_dim")
    if one and every:
        grown = 0.1 * math.log(factor)
        return float((one * grown + 1) / (every * grown + 1))
    return attention_factor(factor)


def _first(config: Any, *names: str) -> Any:
    """The first of the values that is there, of an object or of a loaded JSON."""
    for name in names:
        found = (
            config.get(name)
            if isinstance(config, Mapping)
            else getattr(config, name, None)
        )
        if found is not None:
            return found
    return None
