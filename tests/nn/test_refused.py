"""Bad input is refused at once: what it must be, and what came."""

import numpy as np
import pytest
import torch

from pe_lib.beyond import rotary
from pe_lib.nn import (
    AlibiBias,
    GridRotaryEmbedding,
    LearnedPositionalEmbedding,
    RotaryEmbedding,
    SinusoidalPositionalEncoding,
    rotate,
)

X = torch.zeros(2, 3, 8)
AT = torch.arange(3)
EACH = AT.expand(2, 3)
SINUSOIDAL = SinusoidalPositionalEncoding(8)
LENGTH_FIRST = SinusoidalPositionalEncoding(8, batch_first=False)
LEARNED = LearnedPositionalEmbedding(8, max_length=9)
ROTARY = RotaryEmbedding(8)
GRID = GridRotaryEmbedding(8, sections=(2, 2))
ALIBI = AlibiBias(4)

EACH_OF = [SINUSOIDAL, LEARNED, ROTARY]
COS_SIN = torch.ones(2, 3, 4)
SHAPES = r"positions must have shape \[3\] or \[2, 3\].* got "
LOW = torch.float16, torch.bfloat16, torch.float8_e4m3fn


def call(module, x=X, **given):
    """As each module is called: with lengths, with queries and keys, or with x."""
    if module is ALIBI:
        return module(**{"length": 3} | given)
    if isinstance(module, RotaryEmbedding | GridRotaryEmbedding):
        return module(**{"queries": x, "keys": x} | given)
    return module(x, **given)


IN_CALLS = [
    ([*EACH_OF, ALIBI], {"offset": 1.0}, TypeError, "offset must be an integer, got 1"),
    (EACH_OF, {"offset": AT}, TypeError, r"offset .* a tensor \[3\]: positions= takes"),
    (EACH_OF, {"positions": [0, 1, 2]}, TypeError, "must be a tensor, got list"),
    (EACH_OF, {"positions": AT > 1}, TypeError, "be real numbers, got torch.bool"),
    *(
        (EACH_OF, {"positions": AT.to(dtype)}, TypeError, f"64, got {dtype}")
        for dtype in LOW
    ),
    (EACH_OF, {"positions": torch.arange(4)}, ValueError, SHAPES + r"\[4\]"),
    (EACH_OF, {"positions": AT.expand(2, 3).mT}, ValueError, SHAPES + r"\[3, 2\]"),
    (EACH_OF, {"positions": EACH[..., None]}, ValueError, SHAPES + r"\[2, 3, 1"),
    (EACH_OF, {"x": X[..., :5]}, ValueError, r"length, \w+\] .* = 8, got \[2, 3, 5\]"),
    (
        EACH_OF,
        {"x": X[0, 0]},
        ValueError,
        r"must have shape \[..., length, \w+\] .*\[8\]",
    ),
    (EACH_OF, {"x": X.long()}, TypeError, "floating-point numbers, got torch.int64"),
    (EACH_OF, {"x": X.numpy()}, TypeError, "must be a tensor, got ndarray"),
    *(
        ([LENGTH_FIRST], {"x": torch.zeros(shape)}, ValueError, r"\[length, batch, d")
        for shape in [(8,), (2, 3, 4, 8), (2, 3, 5)]
    ),
    ([LENGTH_FIRST], {"positions": EACH}, ValueError, r"\[2\] or \[3, 2"),
    ([LEARNED], {"x": torch.zeros(10, 8)}, ValueError, r"_length = 9, got 0 \+ 10"),
    ([LEARNED], {"offset": 7}, ValueError, r"offset \+ length must be .* got 7 \+ 3"),
    ([LEARNED], {"offset": -1}, ValueError, "offset must be at least 0, got -1"),
    ([LEARNED], {"positions": AT + 7}, ValueError, r"\+ offset must .* 8, got 7 to 9"),
    ([LEARNED], {"positions": AT - 1}, ValueError, "within 0 and .* got -1 to 1"),
    ([LEARNED], {"positions": AT / 1}, TypeError, "integers, got torch.float32"),
    ([ROTARY], {"keys": [1.0]}, TypeError, "keys must be a tensor, got list"),
    ([ROTARY], {"keys": X[..., :4]}, ValueError, r"head_dim = 8, got \[2, 3, 4\]"),
    ([ROTARY], {"queries": X[:, :1]}, ValueError, r"queries, 1, got 3; .* seq_dim=-3"),
    ([ROTARY], {"positions": AT.expand(3, 3)}, ValueError, r"got \[3, 3\]"),
    ([ROTARY], {"x": X[0], "positions": AT.expand(3, 3)}, ValueError, r"ape \[3\], "),
    ([ROTARY], {"cos_sin": COS_SIN[..., :3]}, ValueError, "4 columns, .* got 3"),
    ([ROTARY], {"cos_sin": COS_SIN[:, :2]}, ValueError, r"\[3\] or \[2, 3\], .*\[2"),
    ([ROTARY], {"cos_sin": COS_SIN, "offset": 1}, ValueError, "got .* offset 1"),
    ([ROTARY], {"cos_sin": COS_SIN.half()}, TypeError, "and float32 at least"),
    *(
        ([ROTARY], {name: X.double(), "cos_sin": COS_SIN}, TypeError, f"64 {name}")
        for name in ("queries", "keys")
    ),
    ([GRID], {"positions": torch.zeros(3, 3)}, ValueError, r"have shape \[..., 2\]"),
    ([GRID], {"positions": [[0, 0]] * 3}, TypeError, "positions must be a tensor"),
    ([GRID], {"positions": AT[:, None] > AT[:2]}, TypeError, "be real numbers"),
    ([ALIBI], {"length": 0}, ValueError, "length must be at least 1, got 0"),
    ([ALIBI], {"length": 5.0}, TypeError, "length must be an integer, got 5.0"),
    ([ALIBI], {"key_length": 0}, ValueError, "key_length must be at least 1, got 0"),
]


@pytest.mark.parametrize(("modules", "given", "error", "message"), IN_CALLS)
def test_what_no_call_is_given(modules, given, error, message):
    for module in modules:
        with pytest.raises(error, match=message):
            call(module, **given)


def test_what_other_methods_refuse():
    with pytest.raises(ValueError, match=r"\[..., length, heads, head_dim\] with head"):
        RotaryEmbedding(8, seq_dim=-3).rotate(X[0])
    with pytest.raises(TypeError, match="dtype must be"):
        ROTARY.cos_sin(AT, dtype=torch.bfloat16)
    for cos, x in ((X[..., :4], X.double()), (X[..., :4].bfloat16(), X)):
        with pytest.raises(TypeError, match="float64 for float64 x, and float32 at"):
            rotate(x, cos, cos, "half_split")
    for of, x in ((rotate, X), (rotary.rotate, X.numpy())):
        with pytest.raises(ValueError, match="x must have 8 numbers or more, got 4"):
            of(x[..., :4], x[..., :4], x[..., :4], "half_split")
        with pytest.raises(ValueError, match=r"layout must be .* in GPT-NeoX and in"):
            of(x, x[..., :4], x[..., :4], "halves")


KINDS = {
    SinusoidalPositionalEncoding: {"d_model": 4},
    LearnedPositionalEmbedding: {"d_model": 4, "max_length": 8},
    RotaryEmbedding: {"head_dim": 8},
    GridRotaryEmbedding: {"head_dim": 12},
    AlibiBias: {"num_heads": 8},
}
ADDED, (LEARNS, TURNS, GRIDS, BIASES) = [*KINDS][:2], [*KINDS][1:]


@pytest.mark.parametrize(
    ("kinds", "arguments", "error", "message"),
    [
        (ADDED, {"d_model": 0}, ValueError, "d_model must be at least 1, got 0"),
        (ADDED, {"max_length": -1}, ValueError, "max_length must be at least ., got -"),
        (ADDED, {"dropout": np.nan}, ValueError, "between 0 and 1, got nan"),
        (ADDED, {"dropout": 2}, ValueError, "dropout must be between 0 and 1, got 2"),
        (ADDED, {"batch_first": 1}, TypeError, "batch_first must be True or False, "),
        (ADDED[:1], {"base": 1}, ValueError, "base must be finite and above 1"),
        (ADDED[:1], {"spacing": "even"}, ValueError, "spacing must be .* got 'even'"),
        (ADDED[:1], {"layout": "both"}, ValueError, "layout must be .* got 'both'"),
        ([LEARNS], {"max_length": 0}, ValueError, "max_length must be at least 1, got"),
        ([TURNS], {"head_dim": 7}, ValueError, "head_dim must be even, got 7"),
        ([TURNS], {"max_length": -1}, ValueError, "max_length must be at least 0, got"),
        ([TURNS], {"base": 1.0}, ValueError, "base must be finite and above 1"),
        ([TURNS], {"layout": "neox"}, ValueError, "layout must be 'interleaved' or"),
        ([TURNS], {"seq_dim": 1}, ValueError, "be counted from the end, .* got 1"),
        ([TURNS], {"dtype": torch.int8}, TypeError, "dtype must be a floating-point"),
        ([TURNS], {"rotary_dim": 10}, ValueError, "at most head_dim = 8, got 10"),
        ([TURNS], {"frequencies": [1.0], "base": 5}, ValueError, "base must be left o"),
        ([TURNS], {"attention_factor": 0}, ValueError, "attention_factor must be"),
        ([GRIDS], {}, ValueError, "sections or frequencies"),
        ([GRIDS], {"frequencies": np.ones((2, 5))}, ValueError, "must have shape"),
        ([GRIDS], {"frequencies": np.full((2, 6), 4)}, ValueError, "-pi and pi"),
        ([BIASES], {"num_heads": 0}, ValueError, "num_heads must be at least 1"),
        ([BIASES], {"causal": 1}, TypeError, "causal must be True or False, got 1"),
        ([BIASES], {"rule": "mine"}, ValueError, "rule must be 'program' or 'paper'"),
    ],
)
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_what_no_module_is_made_with(kinds, arguments, error, message, device):
    for kind in kinds:
        with torch.device(device), pytest.raises(error, match=message):
            kind(**KINDS[kind] | arguments)
