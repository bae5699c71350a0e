"""A published model on one text that is longer than its own context, kept here.

    make models                                    fetches the model, once
    python book/beyond/data/opened_long.py         some twelve minutes

SmolLM2-135M-Instruct was trained with a context of 8,192 tokens. It reads 12,288 of
this book's older pages, as trained and with four rules for its frequencies.
"""

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, scaled_dot_product_attention, silu

from pe_lib.beyond import scaling
from pe_lib.experiments import kept, smollm
from pe_lib.nn import rotate

HERE = Path(__file__).parent
TEXT = HERE.parents[1] / "experiments/data/text.txt"
NAME = "smollm_long"
TOLERANCE = "0.02 of a loss"
"""How far a rerun elsewhere may be off; the head of the file says it."""
CONTEXT, LENGTH, BLOCK, FACTOR = 8192, 12_288, 1024, 2
OLD = smollm.Shape().frequencies.numpy()
RULES = {
    "as trained": (OLD, 1.0),
    "interpolation": (scaling.interpolate(OLD, FACTOR), 1.0),
    "NTK-aware": (scaling.ntk(OLD, FACTOR), 1.0),
    "YaRN": (
        scaling.by_parts(OLD, FACTOR, CONTEXT, ramp="index"),
        scaling.attention_factor(FACTOR),
    ),
    "Llama 3.1": (scaling.llama3(OLD, FACTOR, CONTEXT), 1.0),
}
"""For each rule the frequencies, and the factor of sines and cosines."""
SETTINGS = {
    rule: {"context": CONTEXT, "length": LENGTH, "block": BLOCK, "factor": FACTOR}
    | {"model": smollm.WHEEL.name}
    for rule in RULES
}


def text() -> Tensor:
    """The tokens, one more than are read, because each is predicted."""
    words = " ".join(TEXT.read_text(encoding="utf-8").split())
    tokens = smollm.encode(smollm.load(), " " + words)
    return torch.tensor(tokens[500 : 500 + LENGTH + 1])


@torch.no_grad()
def losses(tokens: Tensor, frequencies: Tensor, factor: float = 1.0) -> Tensor:
    """The loss of each next token; `smollm.forward` without its square of scores."""
    model, count = smollm.load(), len(tokens) - 1
    weights, shape = model.weights, model.shape
    angles = torch.arange(count).double()[:, None] * frequencies
    cos, sin = ((f(angles) * factor).float() for f in (torch.cos, torch.sin))
    x = weights["token_embd.weight"][tokens[:count]]
    for layer in range(shape.layers):
        own = {
            name: weights[f"blk.{layer}.{name}.weight"]
            for name in ("attn_norm", "attn_q", "attn_k", "attn_v", "attn_output",
                         "ffn_norm", "ffn_gate", "ffn_up", "ffn_down")
        }  # fmt: skip
        h = smollm.normed(x, own["attn_norm"])
        q, k, v = (h @ own[f"attn_{name}"].T for name in "qkv")
        q, k, v = (y.reshape(count, -1, shape.size).transpose(0, 1) for y in (q, k, v))
        q, k = (rotate(y, cos, sin, "interleaved") for y in (q, k))
        k, v = (y.repeat_interleave(shape.heads // shape.key_heads, 0) for y in (k, v))
        mixed = scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)
        x = x + mixed[0].transpose(0, 1).flatten(1) @ own["attn_output"].T
        for first in range(0, count, 2048):
            part = x[first : first + 2048]  # changed in place
            h = smollm.normed(part, own["ffn_norm"])
            gate = silu(h @ own["ffn_gate"].T) * (h @ own["ffn_up"].T)
            part += gate @ own["ffn_down"].T
    found = []
    for first in range(0, count, 512):
        h = smollm.normed(x[first : first + 512], weights["output_norm.weight"])
        logits = h @ weights["token_embd.weight"].T
        following = tokens[first + 1 : first + 1 + len(h)]
        found.append(cross_entropy(logits, following, reduction="none"))
    return torch.cat(found)


def smollm_long() -> Iterator[list[str]]:
    """Losses by block, and how far a rule is above the model as trained."""
    yield ["rule", "first", "last", "loss", "above", "error"]
    tokens, trained = text(), torch.zeros(0)
    for rule, (frequencies, factor) in RULES.items():
        each = losses(tokens, torch.from_numpy(np.array(frequencies)), factor)
        trained = each if rule == "as trained" else trained
        for first in range(0, LENGTH, BLOCK):
            own = each[first : first + BLOCK]
            above = own - trained[first : first + BLOCK]
            yield [
                rule,
                str(first),
                str(first + BLOCK - 1),
                f"{own.mean():.4f}",
                f"{above.mean():.4f}",
                f"{above.std() / BLOCK**0.5:.4f}",
            ]


if __name__ == "__main__":
    torch.set_num_threads(1)
    begin = time.process_time()
    rows = list(smollm_long())
    kept.save_rows(
        rows,
        HERE / f"{NAME}.csv",
        command=f"python book/beyond/data/{Path(__file__).name}",
        settings=SETTINGS,
        seconds=time.process_time() - begin,
        tolerance=TOLERANCE,
    )
