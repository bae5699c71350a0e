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
