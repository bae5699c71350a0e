"""The lines of the first screens run, one after another, and do what is said."""

import re
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[2]


def blocks_of(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_the_lines_of_pytorch():
    *lines, _ = blocks_of("pe_lib/README.md")
    page = blocks_of("book/reference/api.md")
    assert "import torch" in lines[0] and page[: len(lines)] == lines
    told, names = [block for block in page if "Error:" not in block], {}
    for block in [*told, blocks_of("pe_lib/README.md")[-1]]:
        exec(block, names)
    rotary, q, k = (names[name] for name in ("rotary", "q", "k"))
    plain_q, plain_k = rotary(q, k)
    every_k = torch.cat([k, names["next_k"]], -2)
    x = torch.randn(2, 8, 300, 64), torch.randn(2, 2, 300, 64)
    cos, sin = names["Angles"](names["config"])(q, names["positions"])
    half = torch.cat([-q[..., 32:], q[..., :32]], -1)  # as transformers rotates
    for one, other in (
        (names["turned_q"], plain_q),
        (q * cos[:, None] + half * sin[:, None], plain_q),
        (names["keys"], rotary.rotate(every_k)),
        (names["fewer"], rotary.rotate(every_k[..., 4:, :])),
        (names["padded_k"][1], plain_k[1]),
        (names["padded_k"][0, :, 3:], rotary.rotate(k[:, :, 3:])[0]),
        *zip(names["program"].module()(*x), rotary(*x), strict=True),
    ):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=0)


PLAIN = {"intermediate_size": 64}
YARN = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 8.0}
YARN["original_max_position_embeddings"] = 64


@pytest.mark.weekly
@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("llama", PLAIN),
        ("llama", {"rope_parameters": YARN, **PLAIN}),
        ("qwen2", {"num_key_value_heads": 2, **PLAIN}),
        ("gpt_neox", PLAIN),
    ],
)
def test_logits_stay_where_its_class_takes_the_place_of_a_rotary(
    transformers, name, more
):
    names = {}
    for block in blocks_of("pe_lib/README.md")[:3]:
        exec(block, names)
    config = transformers.CONFIG_MAPPING[name](
        vocab_size=50, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=256, pad_token_id=0, **more,
    )  # fmt: skip
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    ids = torch.arange(150)[None] % 50
    with torch.no_grad():
        before = model(ids).logits
        next(model.children()).rotary_emb = names["Angles"](config)
        torch.testing.assert_close(model(ids).logits, before, atol=2e-4, rtol=1e-4)
    assert before.std() > 1e-2
