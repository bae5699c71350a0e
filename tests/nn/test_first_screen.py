"""The lines of the first screens run, one after another, and do what is said."""

import re
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[2]
PAGES = ["pe_lib/README.md", "book/reference/api.md"]


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.parametrize("page", PAGES)
def test_the_lines_of_pytorch(page):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    told, names = [block for block in blocks if "Error:" not in block], {}
    assert "import torch" in told[0]
    for block in told:
        exec(block, names)
    rotary, q, k = (names[name] for name in ("rotary", "q", "k"))
    plain_q, plain_k = rotary(q, k)
    torch.testing.assert_close(names["turned_q"], plain_q, atol=1e-6, rtol=0)
    every_k = torch.cat([k, names["next_k"]], -2)
    torch.testing.assert_close(names["keys"], rotary.rotate(every_k), atol=1e-6, rtol=0)
    padded = names["padded_k"]
    torch.testing.assert_close(padded[1], plain_k[1], atol=1e-6, rtol=0)
    own = rotary.rotate(k[:, :, 3:])[0]
    torch.testing.assert_close(padded[0, :, 3:], own, atol=1e-6, rtol=0)
    x = torch.randn(2, 8, 300, 64), torch.randn(2, 2, 300, 64)
    for one, other in zip(names["program"].module()(*x), rotary(*x), strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=0)
