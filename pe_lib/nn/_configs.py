"""What a transformers configuration says of rotary positions: all, or an error."""

import math
from collections.abc import Mapping
from typing import Any

from pe_lib.beyond.rotary import rotary_frequencies
from pe_lib.beyond.scaling import (
    attention_factor,
    by_parts,
    dynamic_factor,
    interpolate,
    longrope,
    ntk,
)
from pe_lib.nn._layouts import LAYOUT_OF

NAMES = {  # what is read, by the name of newer configurations and of older ones
    "head_dim": ("qk_rope_head_dim", "head_dim"),
    "heads": ("num_attention_heads", "n_head"),
    "width": ("hidden_size", "n_embd"),
    "rotary_dim": ("rotary_dim",),
    "share": ("partial_rotary_factor", "rotary_pct"),
    "base": ("rope_theta", "global_rope_theta", "rotary_emb_base"),
    "local_base": ("rope_local_base_freq", "local_rope_theta"),
    "longest": ("max_position_embeddings", "n_positions"),
    "trained": ("original_max_position_embeddings",),
    "rope": ("rope_parameters", "rope_scaling"),
    "neighbours": ("rope_interleave",),
    "model_type": ("model_type",),
}
WHICH_LAYERS = {"no_rope_layers", "no_rope_layer_interval"}  # turn, not how
EVERY_RULE = (
    "rope_type type rope_theta partial_rotary_factor original_max_position_embeddings"
)
RULES = {  # and what each reads besides
    "default": "",
    "linear": "factor",
    "proportional": "factor",
    "dynamic": "factor",
    "llama3": "factor low_freq_factor high_freq_factor",
    "yarn": "factor beta_fast beta_slow truncate "
    "attention_factor mscale mscale_all_dim",
    "longrope": "factor short_factor long_factor attention_factor",
}
NEEDED = {  # of these, without which its angles are anybody's guess
    "linear": "factor",
    "proportional": "",
    "dynamic": "factor original_max_position_embeddings",
    "llama3": "factor low_freq_factor high_freq_factor "
    "original_max_position_embeddings",
    "yarn": "factor original_max_position_embeddings",
    "longrope": "factor original_max_position_embeddings",
}
OF_PROGRAMS = {"codegen": 10_000.0, "gptj": 10_000.0}  # bases that no file has


def rotary_arguments(
    config: Any, layout: str | None, layer_type: str | None, length: int | None
) -> dict[str, Any]:
    """The arguments of RotaryEmbedding that turn as the model of `config` does."""
    read, rope = _read(config, layer_type)
    rule = _rule_of(rope)
    kind, heads, width = read["model_type"], read["heads"], read["width"]
    head_dim = read["head_dim"] or (width and heads and width // heads)
    base: Any = rope.get("rope_theta") or read["base"] or OF_PROGRAMS.get(kind)
    share = rope.get("partial_rotary_factor", read["share"])
    if not layout and read["neighbours"] is not None:
        layout = "interleaved" if read["neighbours"] else "half_split"
    layout = layout or LAYOUT_OF.get(kind)
    for given, message in (
        (layout, f"layout must be given for model_type {kind!r}, 'half_split' or "
         "'interleaved': a wrong one gives wrong scores, and nothing else shows it"),
        (head_dim, "config must have head_dim, or hidden_size and "
         f"num_attention_heads, got {read['head_dim']}, or {width} and {heads}"),
        (base, "config must have rope_theta, the base of its angles, got none: a "
         "model of before it was written down had 10000.0"),
        (share != 0, "partial_rotary_factor must be above 0, got 0: nothing turns"),
    ):  # fmt: skip
        if not given:
            raise ValueError(message)
    turning = read["rotary_dim"] or (None if share is None else int(head_dim * share))
    made = {"head_dim": head_dim, "layout": layout}
    if rule == "default":
        return made | {"base": float(base), "rotary_dim": turning}
    over = "head_dim" if rule == "proportional" else "rotary_dim"
    plain = rotary_frequencies(head_dim, base=base, rotary_dim=turning, exponent=over)
    if length is None and rule in ("dynamic", "longrope"):
        raise ValueError(
            f"length must be given for {rule!r}, whose angles depend on how long the "
            "text will be: from_config(config, length=...)"
        )
    longest = read["longest"]
    original = rope.get("original_max_position_embeddings") or read["trained"]
    trained = original or longest
    factor = rope.get("factor", 1.0 if rule == "proportional" else None)
    factor = factor or (longest and original and longest / original)
    if rule == "longrope" and "attention_factor" in rope:
        factor = factor or 1.0  # says no more than that one
    known = {**rope, "factor": factor, "original_max_position_embeddings": trained}
    if lacking := [name for name in NEEDED[rule].split() if not known.get(name)]:
        raise ValueError(
            f"rope_parameters of {rule!r} must have {' and '.join(lacking)}, "
            f"got {dict(rope)}"
        )
    if rule == "dynamic":
        grown = dynamic_factor(length or 1, longest or trained, factor=factor)
        return made | {"frequencies": ntk(plain, grown)}
    if rule == "longrope":
        far = length is not None and length > trained
        name = "long_factor" if far else "short_factor"
        factors: Any = rope.get(name)
        if factors is None:
            raise ValueError(f"rope_parameters must have {name}, got {dict(rope)}")
        more = rope.get("attention_factor")
        if more is None:
            more = math.sqrt(1 + max(0.0, math.log(factor)) / math.log(trained))
        made["attention_factor"] = float(more)
        return made | {"frequencies": longrope(plain, factors)}
    if rule == "llama3":
        slow, fast = rope["low_freq_factor"], rope["high_freq_factor"]
        parts = by_parts(plain, factor, trained, slow=slow, fast=fast)
        return made | {"frequencies": parts}
    if rule == "yarn":
        slow, fast = rope.get("beta_slow") or 1, rope.get("beta_fast") or 32
        ramp = "index" if rope.get("truncate", True) else "unrounded"
        parts = by_parts(plain, factor, trained, slow=slow, fast=fast, ramp=ramp)
        made["attention_factor"] = _grown(rope, factor)
        return made | {"frequencies": parts}
    return made | {"frequencies": interpolate(plain, factor)}


def _grown(rope: Mapping[str, Any], factor: float) -> float:
    """YaRN's factor on queries and keys."""
    more, one, every = (
        rope.get(name) for name in ("attention_factor", "mscale", "mscale_all_dim")
    )
    if more is not None:
        return float(more)
    if not (one and every):
        return attention_factor(factor)
    grown = 0.1 * math.log(factor)
    return float((one * grown + 1) / (every * grown + 1))


def _read(
    config: Any, layer_type: str | None
) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """Everything of a configuration that turns, and the rule of these layers."""
    if not isinstance(config, Mapping):
        if not hasattr(config, "__dict__"):
            raise TypeError(
                "config must be a configuration of transformers or the dict of a "
                f"config.json, got {type(config).__name__}"
            )
        config = config.to_dict() if hasattr(config, "to_dict") else vars(config)
    if config.get("text_config"):
        return _read(config["text_config"], layer_type)
    found = {name: value for name, value in config.items() if value is not None}
    known = WHICH_LAYERS.union(*NAMES.values())
    for name, value in found.items():
        if value and name not in known and ("rope" in name or "rotary" in name):
            raise ValueError(
                f"config must have no {name}, which is not understood, got {value!r}: "
                "make RotaryEmbedding(..., frequencies=...), or leave it out if angles "
                "do not depend on it"
            )
    read = {
        what: next((found[name] for name in names if name in found), None)
        for what, names in NAMES.items()
    }
    rope = {k: v for k, v in (read["rope"] or {}).items() if v is not None}
    layers = {name: dict(v) for name, v in rope.items() if isinstance(v, Mapping)}
    if not layers and read["local_base"]:
        layers = {
            "full_attention": {"rope_theta": read["base"], **rope},
            "sliding_attention": {"rope_theta": read["local_base"]},
        }
    if layers and layer_type not in layers:
        raise ValueError(
            f"layer_type must be one of {sorted(layers)}, which turn in ways of their "
            f"own, got {layer_type!r}"
        )
    if not layers and layer_type is not None:
        raise ValueError(
            "layer_type must be left out where all layers turn alike, got "
            f"{layer_type!r}"
        )
    return read, layers[layer_type] if layer_type is not None else rope


def _rule_of(rope: Mapping[str, Any]) -> str:
    """The name of the rule, of whose parameters none is unknown."""
    if "mrope_section" in rope:
        raise ValueError(
            "rope_parameters must have no mrope_section, got "
            f"{rope['mrope_section']}: its positions have three axes, make "
            "GridRotaryEmbedding(head_dim, sections=...)"
        )
    rule = rope.get("rope_type", rope.get("type"))
    if rule is None and "factor" in rope:
        raise ValueError(f"rope_type must be given with a factor, got {dict(rope)}")
    rule = rule or "default"
    if rule not in RULES:
        raise ValueError(
            f"rope_type must be one of {tuple(RULES)}, got {rule!r}: make "
            "RotaryEmbedding(..., frequencies=...)"
        )
    unread = set(rope) - {*EVERY_RULE.split(), *RULES[rule].split()}
    if unread:
        raise ValueError(
            f"rope_parameters of {rule!r} must have no {sorted(unread)}, which "
            "RotaryEmbedding does not do: leave them out, and do in the model what "
            "they say"
        )
    return str(rule)
