"""The module adds pe_lib.sinusoidal, whatever was done to module and input before."""

import copy
import io
import pickle
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

from pe_lib import sinusoidal
from pe_lib.nn import SinusoidalPositionalEncoding
from pe_lib.nn._arguments import with_float64

LIMIT = 2**31
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
EXPORTED = "ignore:.*torch.jit:DeprecationWarning"  # torch's own, while it imports

on_each_device = pytest.mark.parametrize("device", DEVICES)


@pytest.fixture(autouse=True)
def _fresh_compiler():
    torch._dynamo.reset()


def codes(positions, d_model, dtype=torch.float32, **choices):
    """What must have been added: the float32 value, rounded once."""
    wanted = np.float64 if dtype == torch.float64 else np.float32
    table = sinusoidal(np.asarray(positions), d_model, dtype=wanted, **choices)
    return torch.from_numpy(table).to(dtype)


def added(module, length, dtype=torch.float32, device="cpu", **arguments):
    """What the module adds to an unbatched input, on the CPU."""
    x = torch.zeros(length, module.d_model, dtype=dtype, device=device)
    return module(x, **arguments).cpu()


def assert_sound(module, device="cpu"):
    """Rows kept ready, rows beyond them, and given positions, in three dtypes."""
    d_model, end = module.d_model, module.max_length
    given = torch.tensor([3.25, -1.0, 100_000.0], dtype=torch.float64)
    for dtype in DTYPES[1:]:
        find = partial(added, module, dtype=dtype, device=device)
        for first, length in ((0, min(end, 4)), (end - 1, 3)):
            out = find(length, offset=first)
            right = codes(range(first, first + length), d_model, dtype)
            assert out.dtype == dtype
            assert torch.equal(out, right)
        assert torch.equal(find(3, positions=given), codes(given, d_model, dtype))


# Values and shapes


@on_each_device
@pytest.mark.parametrize("layout", ["interleaved", "half_split"])
@pytest.mark.parametrize("spacing", ["paper", "endpoint"])
@pytest.mark.parametrize("d_model", [1, 2, 3, 7, 8, 64])
@pytest.mark.parametrize("max_length", [0, 5, 40])
def test_values_are_those_of_the_function(device, max_length, d_model, spacing, layout):
    choices = {"base": 500.0, "spacing": spacing, "layout": layout}
    module = SinusoidalPositionalEncoding(d_model, max_length=max_length, **choices)
    module = module.to(device)
    out = added(module, 30, device=device)
    assert torch.equal(out, codes(range(30), d_model, **choices))
    far = torch.tensor([LIMIT, -LIMIT, 10**7, -(10**7) + 0.5, 2**24 + 1, 1e-3])
    far = torch.cat([far.double(), torch.tensor([LIMIT - 1, 2**30 + 1]).double()])
    out = added(module, 8, device=device, positions=far)
    assert torch.equal(out, codes(far, d_model, **choices))


def test_entries_near_zero_are_as_exact():
    """Numerators of pi's continued fraction: whole half turns, but for a billionth.

    And positions near zero themselves: rounded to a whole one, not down.
    """
    near = [355, 710, 245_850_922, 411_557_987, 1_068_966_896]
    tiny = [1e-3, 1e-9, 1e-12, 1e-20]
    positions = torch.tensor([*near, *tiny], dtype=torch.float64)
    positions = torch.cat([positions, -positions])
    module = SinusoidalPositionalEncoding(4)
    out = added(module, len(positions), positions=positions)
    assert out[4, 0].abs() < 2e-9
    assert torch.equal(out, codes(positions, 4))


@on_each_device
@pytest.mark.parametrize(
    "shape", [(5, 6), (3, 5, 6), (2, 3, 5, 6), (0, 5, 6), (3, 0, 6)]
)
def test_codes_are_added_along_the_last_axis_but_one(device, shape):
    module = SinusoidalPositionalEncoding(6).to(device)
    x = torch.randn(shape, device=device)
    before = x.clone()
    out = module(x)
    assert out.shape == x.shape
    assert torch.equal(out, x + codes(range(shape[-2]), 6).to(device))
    assert torch.equal(x, before)


# Positions and offset


@pytest.mark.parametrize(
    "dtype",
    [
        torch.int64,
        torch.int32,
        torch.uint8,
        torch.float64,
        torch.float32,
        torch.float16,
    ],
)
def test_positions_of_every_dtype(dtype):
    module = SinusoidalPositionalEncoding(6)
    positions = torch.tensor([250, 7, 7, 0], dtype=dtype)
    assert torch.equal(added(module, 4, positions=positions), codes([250, 7, 7, 0], 6))
    out = added(module, 4, positions=positions, offset=10)
    assert torch.equal(out, codes([260, 17, 17, 10], 6))


@on_each_device
def test_positions_for_each_sentence(device):
    module = SinusoidalPositionalEncoding(6).to(device)
    positions = torch.tensor([[0, 1, 2], [-7, 100_000, 2]])
    x = torch.randn(2, 3, 6, device=device)
    out = module(x, positions=positions)
    assert torch.equal(out, x + codes(positions, 6).to(device))
    assert torch.equal(module(x, positions=torch.arange(3)[None]), module(x))
    x = torch.randn(4, 2, 3, 6, device=device)
    out = module(x, positions=positions.expand(4, 2, 3))
    assert torch.equal(out, x + codes(positions, 6).to(device))


@pytest.mark.parametrize("offset", [-100, -1, 3, 4, 5, 10**9, LIMIT - 4])
def test_max_length_is_no_limit(offset):
    module = SinusoidalPositionalEncoding(6, max_length=8)
    out = added(module, 5, offset=offset)
    assert torch.equal(out, codes(range(offset, offset + 5), 6))


def test_forward_changes_nothing():
    module = SinusoidalPositionalEncoding(6, max_length=4, dropout=0.5)
    table, version = module.table, module.table._version
    before = {**vars(module), "_buffers": dict(module._buffers)}
    for given in ({}, {"offset": 100}, {"positions": torch.ones(3)}):
        for dtype in DTYPES:
            added(module, 3, dtype, **given)
    added(module, 50)
    assert vars(module) == before
    assert module.table is table and table._version == version


# Dtypes


@on_each_device
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("of_module", DTYPES)
def test_the_dtype_of_x_alone_decides(of_module, dtype, device):
    module = SinusoidalPositionalEncoding(8, max_length=500).to(device, of_module)
    assert module.table.dtype == of_module
    for given, positions in (
        ({}, range(400)),
        ({"offset": 300}, range(300, 700)),
        ({"positions": torch.arange(400) - 0.75}, np.arange(400) - 0.75),
    ):
        out = added(module, 400, dtype, device, **given)
        right = codes(positions, 8, dtype)
        assert out.dtype == dtype
        if dtype == torch.float64:
            assert (out - right).abs().max() <= 1e-15
        else:
            assert torch.equal(out, right)


@on_each_device
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_autocast_keeps_the_dtype_of_x(dtype, device):
    module = SinusoidalPositionalEncoding(8, max_length=20).to(device)
    with torch.autocast(device, dtype=torch.bfloat16):
        for given in ({}, {"offset": 100}, {"positions": torch.arange(7)}):
            out = added(module, 7, dtype, device, **given)
            first = given.get("offset", 0)
            assert out.dtype == dtype
            assert torch.equal(out, codes(range(first, first + 7), 8, dtype))


# What may happen to a module


def through_pickle(module):
    """Written and read again."""
    return pickle.loads(pickle.dumps(module))


def through_torch_save(module):
    """The same by PyTorch's own functions."""
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


LIVES = {
    "bfloat16 and back": lambda m: m.bfloat16().float(),
    "float64 and back": lambda m: m.double().float(),
    "memory": lambda m: m.to_empty(device="cpu"),
    "meta, bfloat16, memory": lambda m: m.to("meta").bfloat16().to_empty(device="cpu"),
    "a copy": copy.deepcopy,
    "pickle": through_pickle,
    "torch.save": through_torch_save,
    "shared": lambda m: m.share_memory(),
    "pickle of one on meta": lambda m: through_pickle(m.to("meta")).to_empty(
        device="cpu"
    ),
    "left on meta": lambda m: m.to("meta"),
    "back from meta": lambda m: m.to("meta").to("cpu"),
}


@on_each_device
@pytest.mark.parametrize("life", LIVES)
def test_values_survive(life, device):
    module = SinusoidalPositionalEncoding(6, max_length=9)
    if life == "torch.save" or device == "cpu":
        assert_sound(LIVES[life](module))
    if device == "cuda":
        assert_sound(LIVES[life](module).to(device), device)


@pytest.mark.parametrize(
    "life", sorted(set(LIVES) - {"left on meta", "meta, bfloat16, memory"})
)
def test_the_rows_are_ready_again(life):
    """And of the module's dtype: `assert_sound` would not notice slow ones."""
    module = LIVES[life](SinusoidalPositionalEncoding(6, max_length=9))
    assert torch.equal(module.table, codes(range(9), 6))
    module._columns = None  # from here on only the table can answer
    assert torch.equal(added(module, 9), codes(range(9), 6))


@pytest.mark.parametrize("default", ["device", "dtype"])
def test_other_defaults_of_torch(default):
    if default == "device":
        with torch.device("meta"):
            module = SinusoidalPositionalEncoding(6, max_length=9)
        assert module.table.is_meta
        assert_sound(module)
        module = module.to_empty(device="cpu")
    else:
        torch.set_default_dtype(torch.bfloat16)
        try:
            module = SinusoidalPositionalEncoding(6, max_length=9)
        finally:
            torch.set_default_dtype(torch.float32)
        assert module.table.dtype == torch.bfloat16
    assert_sound(module)


def test_reset_parameters_computes_the_table():
    module = SinusoidalPositionalEncoding(6, max_length=9)
    table = module.table.zero_()
    module.reset_parameters()
    assert module.table is table  # it may be shared
    assert_sound(module)


# Gradients and dropout


def test_gradients_pass_unchanged():
    module = SinusoidalPositionalEncoding(6, max_length=3)
    for given in ({}, {"offset": 9}, {"positions": torch.arange(4)}):
        x = torch.randn(2, 4, 6, requires_grad=True)
        weights = torch.randn(2, 4, 6)
        (module(x, **given) * weights).sum().backward()
        assert torch.equal(x.grad, weights)
    assert not module.table.requires_grad


def test_positions_have_the_gradient_of_the_formula():
    module = SinusoidalPositionalEncoding(2)
    positions = torch.tensor([0.0, 1.0, 2.5, -4.0], dtype=torch.float64)
    positions.requires_grad_()
    x = torch.zeros(4, 2, dtype=torch.float64)
    module(x, positions=positions)[:, 0].sum().backward()
    assert torch.allclose(positions.grad, positions.detach().cos(), atol=1e-14)


def test_dropout_falls_on_the_sum():
    torch.manual_seed(0)
    module = SinusoidalPositionalEncoding(64, dropout=0.25)
    x = torch.ones(40, 64)
    out, whole = module(x), x + codes(range(40), 64)
    kept = out != 0
    assert 0.7 < kept.float().mean() < 0.8
    assert torch.allclose(out[kept], whole[kept] / 0.75)
    assert torch.equal(module.eval()(x), whole)
    everything = SinusoidalPositionalEncoding(64, dropout=1)
    assert torch.equal(everything(x), torch.zeros(40, 64))
    assert not any(
        isinstance(m, nn.Dropout) for m in SinusoidalPositionalEncoding(4).modules()
    )


# Compiled and exported


CALLS = [
    ((2, 5, 7), {}),
    ((2, 6, 7), {}),
    ((2, 6, 7), {"offset": 3}),
    ((2, 30, 7), {}),
    ((4, 7), {"offset": 1_000_000}),
    ((4, 7), {"positions": torch.tensor([0.0, 0.5, -3.0, LIMIT])}),
    ((2, 3, 7), {"positions": torch.arange(6).view(2, 3) * 10**8}),
]


def assert_compiled_is_the_same(backend, calls, orders, dtypes):
    for layout, batch_first in orders:
        torch._dynamo.reset()
        module = SinusoidalPositionalEncoding(
            7, max_length=20, layout=layout, batch_first=batch_first
        )
        compiled = torch.compile(module, fullgraph=True, backend=backend)
        for shape, given in calls:
            x = torch.randn(shape)
            if not batch_first and len(shape) == 3:
                x = x.transpose(0, 1)
            assert torch.equal(compiled(x, **given), module(x, **given))
    torch._dynamo.reset()
    for dtype in dtypes:
        x = torch.zeros(2, 30, 7, dtype=dtype)
        out = torch.compile(module, fullgraph=True, backend=backend)(x)
        assert out.dtype == dtype and torch.equal(out, module(x))


def test_compiled_in_one_graph():
    orders = (("interleaved", True), ("half_split", False))
    assert_compiled_is_the_same("aot_eager", CALLS, orders, DTYPES)


def has_compiler():
    """Whether inductor finds a C++ compiler."""
    from torch._inductor import cpp_builder, exc

    try:
        return bool(cpp_builder.get_cpp_compiler())
    except exc.InvalidCxxCompiler:
        return False


@pytest.mark.weekly
@pytest.mark.filterwarnings(EXPORTED)
def test_compiled_by_inductor():
    if not has_compiler():
        pytest.skip("inductor finds no C++ compiler here")
    # Each compiles C++ for seconds; that the graph is right has been seen above.
    calls = [CALLS[3], CALLS[6]]  # past the table, and far out
    orders = (("interleaved", True),)
    assert_compiled_is_the_same("inductor", calls, orders, [torch.bfloat16])


def test_decoding_does_not_compile_for_every_token():
    module = SinusoidalPositionalEncoding(6, max_length=8)
    seen = []

    def backend(graph, _):
        seen.append(graph)
        return graph.forward

    compiled = torch.compile(module, fullgraph=True, backend=backend)
    x = torch.randn(1, 1, 6)
    for t in range(30):
        assert torch.equal(compiled(x, offset=t), module(x, offset=t))
    assert len(seen) <= 4


@pytest.mark.filterwarnings(EXPORTED)
def test_exported_with_any_length():
    module = SinusoidalPositionalEncoding(6, max_length=40)
    length = torch.export.Dim("length", max=40)  # a program has one way only
    program = torch.export.export(
        module,
        (torch.zeros(2, 5, 6),),
        dynamic_shapes={"x": {1: length}},
    )
    assert program.state_dict == {}
    for n in (1, 2, 17, 40):
        x = torch.randn(2, n, 6)
        assert torch.equal(program.module()(x), module(x))


@pytest.mark.filterwarnings(EXPORTED)
@pytest.mark.parametrize("max_length", [0, 4])
def test_exported_past_the_table(max_length):
    """What the example takes is written down: the formula here, without a limit."""
    module = SinusoidalPositionalEncoding(6, max_length=max_length)
    length = torch.export.Dim("length", min=5, max=9000)
    program = torch.export.export(
        module, (torch.zeros(2, 7, 6),), dynamic_shapes={"x": {1: length}}
    )
    x = torch.randn(2, 8000, 6)
    assert torch.equal(program.module()(x), module(x))


# Errors


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"d_model": 0}, ValueError, "d_model must be at least 1, got 0"),
        ({"d_model": 4.0}, TypeError, "d_model must be an integer, got 4.0"),
        ({"max_length": -1}, ValueError, "max_length must be at least 0, got -1"),
        ({"base": 1}, ValueError, "base must be finite and above 1"),
        ({"spacing": "even"}, ValueError, "spacing must be .* got 'even'"),
        ({"layout": "both"}, ValueError, "layout must be .* got 'both'"),
        ({"dropout": np.nan}, ValueError, "dropout must be between 0 and 1, got nan"),
        ({"dropout": "0"}, TypeError, "dropout must be real numbers, got dtype <U1"),
        ({"batch_first": 1}, TypeError, "batch_first must be True or False, got 1"),
    ],
)
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_bad_arguments(arguments, error, message, device):
    with torch.device(device), pytest.raises(error, match=message):
        SinusoidalPositionalEncoding(**{"d_model": 4} | arguments)


X = torch.zeros(2, 3, 6)


@pytest.mark.parametrize(
    ("x", "given", "error", "message"),
    [
        (torch.zeros(2, 3, 5), {}, ValueError, r"x must have .* = 6, got \[2, 3, 5\]"),
        (torch.zeros(6), {}, ValueError, r"x must have shape \[..., length, d_model\]"),
        (X.long(), {}, TypeError, "x must be floating-point numbers, got torch.int64"),
        (X.numpy(), {}, TypeError, "x must be a tensor, got ndarray"),
        (X, {"offset": 1.0}, TypeError, "offset must be an integer, got 1.0"),
        (
            X,
            {"positions": [0, 1, 2]},
            TypeError,
            "positions must be a tensor, got list",
        ),
        (
            X,
            {"positions": torch.ones(2, 3, dtype=torch.bool)},
            TypeError,
            "positions must be real numbers, got torch.bool",
        ),
        *(
            (
                X,
                {"positions": torch.zeros(shape)},
                ValueError,
                rf"positions must have shape \[3\] or \[2, 3\].* got \[{got}\]",
            )
            for shape, got in [
                ((4,), "4"),
                ((3, 2), "3, 2"),
                ((2, 3, 1), "2, 3, 1"),
            ]
        ),
    ],
)
def test_bad_input(x, given, error, message):
    module = SinusoidalPositionalEncoding(6)
    with pytest.raises(error, match=message):
        module(x, **given)


@pytest.mark.parametrize("shape", [(6,), (2, 3, 4, 6), (2, 3, 5)])
def test_bad_shapes_length_first(shape):
    module = SinusoidalPositionalEncoding(6, batch_first=False)
    with pytest.raises(
        ValueError, match=r"x must have shape \[length, batch, d_model\]"
    ):
        module(torch.zeros(shape))
    with pytest.raises(
        ValueError, match=r"positions must have shape \[2\] or \[3, 2\]"
    ):
        module(torch.zeros(2, 3, 6), positions=torch.zeros(2, 3))


def test_a_device_without_float64_leaves_the_work_to_the_cpu():
    """Apple's; its own part of `forward` is not run here."""
    assert with_float64(torch.device("mps")).type == "cpu"
    assert with_float64(torch.device("cuda", 1)) == torch.device("cuda", 1)


def test_nothing_is_learned_or_saved():
    module = SinusoidalPositionalEncoding(6, max_length=9, dropout=0.1)
    assert list(module.parameters()) == []
    assert module.state_dict() == {}
    other = SinusoidalPositionalEncoding(6, max_length=5)
    assert (
        str(other.load_state_dict(module.state_dict()))
        == "<All keys matched successfully>"
    )
    assert [name for name, _ in module.named_buffers()] == ["table"]
