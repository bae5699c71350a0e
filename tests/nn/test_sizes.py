"""At the sizes of real models a part of a call is the call of a part.

Of added rows and of rotary along one axis at a time, tests/check/test_sound.py.
"""

import pytest
import torch

from pe_lib.nn import RotaryEmbedding, rotary

LONGEST, WIDTH = 131_072, 128
on_each_layout = pytest.mark.parametrize("layout", ["interleaved", "half_split"])


@pytest.mark.weekly
@on_each_layout
def test_rotary_turns_a_part_of_what_is_long_in_every_axis(layout):
    """But for the last bit: processors multiply eight numbers otherwise than one."""
    module = RotaryEmbedding(WIDTH, max_length=LONGEST, layout=layout)
    x = torch.randn(2, 8, LONGEST, WIDTH, dtype=torch.bfloat16)
    whole = module.rotate(x)
    for axis, size in enumerate(x.shape[:3]):
        for first, many in ((0, 1), (size // 2, 1), (size - 1, 1), (size // 3, 3)):
            part = x.narrow(axis, first, min(many, size - first))
            found = module.rotate(part, offset=first if axis == 2 else 0)
            right = whole.narrow(axis, first, part.shape[axis])
            torch.testing.assert_close(found, right, atol=0, rtol=2**-8)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@on_each_layout
def test_whole_positions_come_from_the_table(layout, dtype, monkeypatch):
    """To the same bits as computed; and whatever is computed, once for both."""
    ready, formula = (
        RotaryEmbedding(WIDTH, max_length=n, layout=layout) for n in (64, 0)
    )
    if dtype == torch.float64:
        ready.double()
    q, k = (torch.randn(2, n, 9, WIDTH).to(dtype) for n in (4, 1))
    calls, codes_at = [], rotary.codes_at
    monkeypatch.setattr(rotary, "codes_at", lambda *a: calls.append(a) or codes_at(*a))
    for at, offset, computed in (
        (torch.randint(64, (2, 9)), 0, 0),
        (torch.tensor([63, 0, 5, 5, 1, 2, 3, 4, 63]), 0, 0),
        (torch.arange(9)[None], 55, 0),
        (torch.arange(9)[None], 56, 1),
        (torch.arange(9), -1, 1),
        (torch.arange(9) / 2, 0, 1),
        (torch.randint(64, (2, 9)).to(torch.uint8), 0, 0),
    ):
        calls.clear()
        found = ready(q, k, positions=at, offset=offset)
        assert len(calls) == computed
        for one, x in zip(found, (q, k), strict=True):
            assert torch.equal(one, formula.rotate(x, positions=at, offset=offset))
