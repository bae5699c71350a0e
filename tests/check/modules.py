"""Small sound modules of both kinds, what makes others of them, and their reports."""

import functools
import inspect

import torch
from torch import nn

from pe_lib.check import check
from pe_lib.nn import RotaryEmbedding


def make_class(base, /, **methods):
    """A subclass with these methods instead."""
    return type("_".join(methods) or base.__name__, (base,), methods)


def built(base, change, **methods):
    """The same, of which each module is changed when it is built."""

    def made(self, width):
        base.__init__(self, width)
        change(self)

    return make_class(base, __init__=made, **methods)


def add_scale(module):
    """A parameter more."""
    module.scale = nn.Parameter(torch.ones(1))


def table(length=600, width=64, base=10_000.0):
    """The encoding of Vaswani et al., float32."""
    t, pair = torch.arange(length).double()[:, None], torch.arange(width) // 2
    angle = t * base ** (-2 * pair.double() / width)
    sine = torch.arange(width) % 2 == 0
    return torch.where(sine, angle.sin(), angle.cos()).float()


class Added(nn.Module):
    """x [batch, length, dim] plus a table; what is not sound overrides a part."""

    def __init__(self, width):
        super().__init__()
        self.width = width
        self.keep(self.rows(width))

    def rows(self, width):
        return table(600, width)

    def keep(self, rows):
        self.register_buffer("pe", rows)

    def forward(self, x):
        return x + self.at(x.shape[1]).to(x.dtype)

    def at(self, length):
        return self.pe[:length]


def spoilt(change):
    """The class whose table is change(the sound one)."""
    return make_class(Added, rows=lambda _, width: change(table(600, width)).float())


def from_offset(change):
    """The class that counts on from change(offset)."""

    def forward(self, x, offset=0):
        return x + self.pe.narrow(0, change(offset), x.shape[1]).to(x.dtype)

    return make_class(Added, forward=forward)


def asked(change):
    """The class that adds the rows of change(position_ids)."""

    def forward(self, x, position_ids=None):
        ids = torch.arange(x.shape[1]) if position_ids is None else position_ids
        return x + self.pe[change(ids)].to(x.dtype)

    return make_class(Added, forward=forward)


PARAMETER = make_class(
    Added, keep=lambda self, rows: setattr(self, "pe", nn.Parameter(rows))
)


class Embedded(nn.Module):
    """Trained rows of positions, added to x."""

    padding = None

    def __init__(self, width):
        super().__init__()
        self.rows = nn.Embedding(300, width, padding_idx=self.padding)

    def forward(self, x):
        return x + self.rows(torch.arange(x.shape[1], device=x.device))


def in_halves(x):
    one, two = x.chunk(2, -1)
    return torch.cat([-two, one], -1)


def neighbours(_, x, angles):
    angles = angles.repeat_interleave(2, -1)
    other = torch.stack([-x[..., 1::2], x[..., 0::2]], -1).flatten(-2)
    return (x * angles.cos() + other * angles.sin()).to(x.dtype)


class Rotary(nn.Module):
    """Queries and keys [batch, heads, length, dim], half-split."""

    base = 10_000.0
    keys = 1.0  # by what the angles of keys are multiplied

    def __init__(self, width):
        super().__init__()
        self.width = width

    def frequencies(self, device):
        j = torch.arange(0, self.width, 2, device=device).float()
        return self.base ** (-j / self.width)

    def angles(self, positions):
        return positions[..., None].float() * self.frequencies(positions.device)

    def turn(self, x, angles):
        angles = torch.cat([angles, angles], -1)
        return (x * angles.cos() + in_halves(x) * angles.sin()).to(x.dtype)

    def forward(self, q, k):
        angles = self.angles(torch.arange(q.shape[-2], device=q.device))
        return self.turn(q, angles), self.turn(k, self.keys * angles)


def placed(change):
    """The class that rotates by change(its own angles)."""
    return make_class(Rotary, angles=lambda s, t: change(Rotary.angles(s, t)))


class BufferedRotary(Rotary):
    """As transformers keeps its frequencies."""

    def __init__(self, width):
        super().__init__(width)
        inv_freq = super().frequencies("cpu")
        self.register_buffer("inv_freq", inv_freq, persistent=False)

    def frequencies(self, _):
        return self.inv_freq.float()


class Based(Rotary):
    """Slow pairs are rotated `factor` times slower, as a subclass changes it."""

    def __init__(self, width, base=500_000.0, factor=8.0, original=8192):
        super().__init__(width)
        self.base, self.factor, self.original = base, factor, original

    def bands(self, plain, is_slow):
        return torch.where(is_slow, plain / self.factor, plain)

    def frequencies(self, device):
        plain = super().frequencies(device)
        return self.bands(plain, plain < 8 * torch.pi / self.original)


def sharing(key):
    """The class whose modules share their angles, under key(module)."""
    kept = {}

    def angles(self, positions):
        there = key(self), len(positions), positions.device
        return kept.setdefault(there, Rotary.angles(self, positions))

    return make_class(Based, angles=angles)


ARGUMENTS = {"offset": "offset", "position_ids": "positions"}


@functools.cache
def report_of(make, **options):
    """The kind is that of its class, and arguments of forward are named."""
    torch.set_num_threads(1)
    forward = getattr(make, "forward", None)
    given = inspect.signature(forward).parameters if forward else ()
    options |= {ARGUMENTS[name]: name for name in given if name in ARGUMENTS}
    made = getattr(make, "func", make)
    rotary = isinstance(made, type) and issubclass(made, Rotary | RotaryEmbedding)
    kind = "rotary" if rotary else "added"
    return check(make, d_model=64, kind=kind, **options)


def fired(report):
    """Level and check of each error and warning."""
    return {f"{f.level} {f.check}" for f in (*report.errors, *report.warnings)}
