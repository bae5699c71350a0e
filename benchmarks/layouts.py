"""Which layout each model of transformers has; writes pe_lib/nn/_layouts.py.

    PYTHONPATH=.venv/peers .venv/bin/python benchmarks/layouts.py

Each model's own function turns queries by angles and keys by none; the layout is the
one in which `pe_lib.nn.rotate` gives the same scores. A model is kept if, besides,
RotaryEmbedding.from_config has the frequencies of its own rotary module.
"""

import importlib
import inspect
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from peers import peer
from torch import Tensor

from pe_lib.layouts import LAYOUTS
from pe_lib.nn import RotaryEmbedding, rotate

KEPT = Path(__file__).parents[1] / "pe_lib/nn/_layouts.py"
PAIRS, LENGTH = 4, 3
NAMES = (
    "apply_rotary_pos_emb_interleave",
    "apply_rotary_pos_emb",
    "apply_rotary_emb",
)


def ways(turn: Any, q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> Iterator[Any]:
    """Queries and keys [1, 1, LENGTH, 2 * PAIRS], turned in each way a model calls."""
    halves = [torch.cat((part, part), -1)[None] for part in (cos, sin)]
    neighbours = [part.repeat_interleave(2, -1)[None] for part in (cos, sin)]
    yield lambda: turn(q, k, *halves)
    yield lambda: turn(q, k, *neighbours)
    yield lambda: turn(q, k, cos[None], sin[None])
    first = q.transpose(1, 2), k.transpose(1, 2)
    yield lambda: [turn(x, sin[None], cos[None]).transpose(1, 2) for x in first]
    hands = torch.complex(cos, sin)[None]
    yield lambda: [x.transpose(1, 2) for x in turn(*first, hands)]
    yield lambda: turn(q, k, hands)


def layout_of(turn: Any) -> str | None:
    """By the scores that it gives."""
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, 1, 1, LENGTH, 2 * PAIRS, generator=generator)
    angles = torch.rand(LENGTH, PAIRS, generator=generator)
    angles[0] = 0  # keys are turned by the angles of their own positions
    cos, sin = angles.cos(), angles.sin()
    for way in ways(turn, q, k, cos, sin):
        try:
            turned, keys = way()
        except (IndexError, RuntimeError, TypeError, ValueError, AttributeError):
            continue
        for layout in LAYOUTS:
            right = rotate(q, cos, sin, layout) @ rotate(k, cos, sin, layout).mT
            if turned.shape == q.shape and torch.allclose(
                turned @ keys.mT, right, atol=1e-5
            ):
                return layout
    return None


def known_layout(kind: str) -> str | None:
    """Of a model type, if its scores and its frequencies are ours."""
    config = peer("transformers.CONFIG_MAPPING")[kind]()
    if config.get_text_config() is not config:
        return None  # from_config reads the text's own configuration, of its own type
    package = type(config).__module__.replace("configuration_", "modeling_")
    modeling = importlib.import_module(package)
    turn = next((f for n in NAMES if (f := getattr(modeling, n, None))), None)
    layout = turn and layout_of(turn)
    if not layout:
        return None
    layers = [
        name
        for name, value in (getattr(config, "rope_parameters", None) or {}).items()
        if isinstance(value, dict)
    ]
    rotaries: list[Any] = [
        c
        for name, c in inspect.getmembers(modeling, inspect.isclass)
        if name.endswith("RotaryEmbedding") and "Vision" not in name
        and c.__module__ == package
    ]  # fmt: skip
    if len(rotaries) > 1:
        return None
    for layer in layers or [None]:
        ours = RotaryEmbedding.from_config(
            config, layout=layout, layer_type=layer, length=1
        )
        if not rotaries:  # GPT-J's and CodeGen's tables are functions
            return layout if kind in ("codegen", "gptj") else None
        module = rotaries[0](config)
        found = getattr(module, f"{layer}_inv_freq" if layer else "inv_freq")
        mine = torch.tensor(ours.frequencies)
        if found.shape != mine.shape or not torch.allclose(found, mine, rtol=1e-5):
            return None
    return layout


def probe() -> dict[str, str]:
    """The layout of each model type whose scores and frequencies are ours."""
    found = {}
    for kind in sorted(peer("transformers.CONFIG_MAPPING")):
        try:
            with warnings.catch_warnings(), torch.no_grad():
                warnings.simplefilter("ignore")
                layout = known_layout(kind)
        except Exception:  # whatever other people's programs raise
            continue
        if layout:
            found[kind] = layout
    return found


def as_module(found: dict[str, str], version: str) -> str:
    """The text of the file that is kept."""
    text = f'"""Layouts of the models of transformers {version}, by '
    text += 'benchmarks/layouts.py."""\n\nMODELS = {\n'
    for layout in LAYOUTS:
        kinds = " ".join(kind for kind, its in found.items() if its == layout)
        lines = textwrap.wrap(kinds, 64, break_on_hyphens=False)
        lines = [f'    "{line} "\n' for line in lines]
        text += f'    "{layout}": ' + "".join(lines).strip() + ",\n"
    return (
        text
        + """}
LAYOUT_OF = {kind: layout for layout, kinds in MODELS.items() for kind in kinds.split()}
"""
    )


if __name__ == "__main__":
    KEPT.write_text(as_module(probe(), peer("transformers.__version__")))
