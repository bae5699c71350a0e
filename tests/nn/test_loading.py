"""The modules where others move, load, save or map them."""

import copy
import pickle
from functools import partial

import pytest
import torch
from torch import nn

from pe_lib.nn import (
    AlibiBias,
    LearnedPositionalEmbedding,
    RotaryEmbedding,
    SinusoidalPositionalEncoding,
)

MAKERS = {
    "sinusoidal": partial(SinusoidalPositionalEncoding, 8, max_length=16),
    "learned": partial(LearnedPositionalEmbedding, 8, max_length=18),
    "rotary": partial(RotaryEmbedding, 8, max_length=16),
    "halves": partial(RotaryEmbedding, 8, max_length=16, layout="half_split"),
    "alibi": partial(AlibiBias, 4, causal=True),
}
EVERY = ("sinusoidal", "rotary", "alibi")
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def on_each(*names):
    makers = [MAKERS[name] for name in names]
    return pytest.mark.parametrize("make", makers, ids=names)


def rotates(module):
    return isinstance(module, RotaryEmbedding)


def on(module, x, **given):
    return module.rotate(x, **given) if rotates(module) else module(x, **given)


def results(module, device="cpu"):
    """Within what is kept ready, beyond it, and at given positions; on the CPU."""
    if isinstance(module, AlibiBias):
        return [module(5).cpu(), module(1, 40).cpu()]
    at = torch.tensor([[3, 0, 1, 1], [7, 8, 9, 10]])
    learned = isinstance(module, LearnedPositionalEmbedding)
    between = at if learned else torch.tensor([3.25, -1.0, 1e5, 2.0]).double()
    found = []
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        x = torch.ones(2, 4, 8, dtype=dtype, device=device)
        for given in ({}, {"offset": 14}, {"positions": at}, {"positions": between}):
            found.append(on(module, x, **given).cpu())
    return found


def assert_alike(found, right):
    for one, other in zip(found, right, strict=True):
        assert torch.equal(one.to(other.dtype), other)


# What may happen to a module


def through_pickle(module):
    return pickle.loads(pickle.dumps(module))


def made_on_meta(make):
    with torch.device("meta"):
        module = make()
    assert all(part.is_meta for part in (*module.buffers(), *module.parameters()))
    return module.to_empty(device="cpu")


def made_in_bfloat16(make):
    torch.set_default_dtype(torch.bfloat16)
    try:
        return make()
    finally:
        torch.set_default_dtype(torch.float32)


LIVES = {
    "used": lambda make: results(module := make()) and module,
    "bfloat16": lambda make: make().bfloat16(),
    "bfloat16 and back": lambda make: make().bfloat16().float(),
    "float64": lambda make: make().double(),
    "float64 and back": lambda make: make().double().float(),
    "memory": lambda make: make().to_empty(device="cpu"),
    "meta, bfloat16, memory": lambda make: (
        make().to("meta").bfloat16().to_empty(device="cpu")
    ),
    "a copy": lambda make: copy.deepcopy(make()),
    "pickle": lambda make: through_pickle(make()),
    "shared": lambda make: make().share_memory(),
    "pickle of one on meta": lambda make: through_pickle(make().to("meta")).to_empty(
        device="cpu"
    ),
    "made on meta": made_on_meta,
    "made in bfloat16": made_in_bfloat16,
}


def assert_ready(module, make):
    """Its buffers are those of a new module of the dtype, and rows come from them."""
    for name, buffer in module.named_buffers():
        assert torch.equal(buffer, make(dtype=buffer.dtype).get_buffer(name))
    if hasattr(module, "table"):
        assert module._filled is module.table


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("life", LIVES)
@on_each(*MAKERS)
def test_nothing_that_came_before_changes_a_number(make, life, device):
    usual = make()
    module = LIVES[life](make)
    module.load_state_dict(usual.state_dict(), assign=True)
    if not isinstance(module, SinusoidalPositionalEncoding):
        assert all(part.dtype.itemsize >= 4 for part in module.buffers())
    elif "bfloat16" in life and "back" not in life:
        assert module.table.dtype == torch.bfloat16
    assert_ready(module, make)
    assert_alike(results(module.to(device), device), results(usual))


@on_each("sinusoidal", "rotary", "halves", "alibi")
def test_on_meta_it_computes_and_comes_back(make):
    usual, module = make(), make().to("meta")
    if isinstance(module, AlibiBias):
        assert module(3).is_meta
    else:
        assert module.table.is_meta
        assert on(usual, torch.ones(2, 4, 8, device="meta")).shape == (2, 4, 8)
        assert_alike(results(module), results(usual))
    module = module.to("cpu")
    assert_ready(module, make)
    assert_alike(results(module), results(usual))


@on_each("sinusoidal", "learned", "rotary")
def test_made_or_moved_in_inference_mode_it_can_be_trained_and_reset(make):
    usual = make()
    computed = not list(usual.parameters())  # those of a model are PyTorch's affair
    with torch.inference_mode():
        made, moved = make(), make()
        if computed:
            moved.double().float()
    for module in (made, moved):
        x = torch.randn(2, 5, 8, requires_grad=True)
        (on(module, x) ** 2).sum().backward()
        module.reset_parameters()
        assert on(module, x).shape == x.shape
        if computed:
            assert torch.equal(on(module, x), on(usual, x))
    if computed:
        at = torch.rand(5, requires_grad=True)
        (on(made, x, positions=at).sin() ** 2).sum().backward()
        assert at.grad.abs().sum() > 0


@on_each("sinusoidal", "learned", "rotary", "halves")
def test_vmap_over_x_and_positions(make):
    module, close = make(), torch.testing.assert_close
    x, at = torch.randn(3, 4, 8), torch.randint(16, (3, 4))
    call = torch.vmap(lambda x, at: on(module, x, positions=at))
    close(call(x, at), on(module, x, positions=at))
    call = torch.vmap(lambda x: on(module, x, positions=at[0]))
    close(call(x)[1], on(module, x[1], positions=at[0]))
    x = torch.randn(3, 4, 5, 8)
    close(torch.vmap(partial(on, module), 1, 1)(x), on(module, x))


@on_each(*MAKERS)
def test_what_print_shows_makes_it_again(make):
    shown = repr(make())
    assert repr(eval(shown)) == shown
    assert all(f"{name}={value!r}" in shown for name, value in make.keywords.items())


# loaders that know nothing of a table


def by_dictionary(module, name, tensor):
    module._buffers[name] = tensor


@pytest.mark.parametrize(("on_meta", "put"), [(True, setattr), (False, by_dictionary)])
@on_each(*EVERY)
def test_a_loader_that_puts_garbage_in_the_place_of_buffers(make, on_meta, put):
    """As from_pretrained of transformers does: empty_like, past `_apply`."""
    usual = make()
    with torch.device("meta" if on_meta else "cpu"):
        module = make()
    for name, buffer in list(module.named_buffers()):
        put(module, name, torch.full_like(buffer, torch.nan, device="cpu"))
    module.load_state_dict(usual.state_dict(), assign=True)
    for loaded in (module, copy.deepcopy(module)):
        assert_alike(results(loaded), results(usual))
        if hasattr(loaded, "max_length"):
            x = torch.randn(2, 4, 8)
            call = loaded.rotate if rotates(loaded) else loaded
            whole = torch.compile(call, fullgraph=True, backend="eager")
            torch.testing.assert_close(whole(x), on(usual, x))
            loaded.reset_parameters()
            assert_ready(loaded, make)
            assert torch.equal(on(loaded, x), on(usual, x))


@on_each(*EVERY)
def test_memory_of_a_device_and_a_dtype(make):
    """`device` and `dtype` as in PyTorch's own modules, so that skip_init works."""
    for tensor in (*(m := make(device="meta")).buffers(), *m.parameters()):
        assert tensor.is_meta
    for tensor in (*(m := make(dtype=torch.float64)).buffers(), *m.parameters()):
        assert tensor.dtype == torch.float64
    made = nn.utils.skip_init(make.func, *make.args, **make.keywords)
    assert_alike(made.buffers(), make().buffers())


# in a model of transformers


@pytest.mark.weekly
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_from_pretrained_of_transformers(transformers, tmp_path, dtype):
    """It builds on meta, and puts empty tensors in the place of our tables."""

    class Tiny(transformers.PreTrainedModel):
        config_class = transformers.PretrainedConfig

        def __init__(self, config):
            super().__init__(config)
            self.linear = nn.Linear(8, 8)
            self.parts = nn.ModuleList(MAKERS[name]() for name in EVERY)
            self.post_init()

        def forward(self, x):
            adds, rotary, alibi = self.parts
            q = rotary.rotate(adds(self.linear(x)))
            return q @ q.mT + alibi(x.shape[1]).sum(0)

    saved = Tiny(transformers.PretrainedConfig()).to(dtype).eval()
    saved.save_pretrained(tmp_path)
    x = torch.randn(2, 9, 8).to(dtype)
    loaded = Tiny.from_pretrained(tmp_path, dtype=dtype)
    assert torch.equal(loaded(x), saved(x))
