"""Sound modules of many styles have a verdict and no error; ours at real sizes."""

import functools

import pytest
import torch
from torch import nn

from pe_lib.check import check
from pe_lib.check.call import FEW, isolated
from pe_lib.check.kinds import READERS
from pe_lib.check.reader import Maker
from pe_lib.check.relations import RELATIONS, hold
from pe_lib.check.report import FAILED, PASSED
from pe_lib.nn import (
    LearnedPositionalEmbedding,
    RotaryEmbedding,
    SinusoidalPositionalEncoding,
)
from tests.check.modules import (
    PARAMETER,
    Added,
    Based,
    BufferedRotary,
    Embedded,
    Rotary,
    add_scale,
    asked,
    built,
    fired,
    from_offset,
    make_class,
    neighbours,
    placed,
    report_of,
    sharing,
    spoilt,
    table,
)


def gated(self, x):
    """Its rows are times a trained number that begins at one."""
    return x + self.scale * (Embedded.forward(self, x) - x)


def add_dropout(module):
    """And what cannot be copied."""
    module.drop, module.numbers = nn.Dropout(0.1), (n for n in ())


def add_layer(module):
    module.layer = nn.Linear(module.width, module.width)


def corrected(self, x):
    """The usual rows, and a trained correction that begins at zero."""
    usual = TABLES(300, self.width).to(self.pe)
    return x + (usual + self.pe)[: x.shape[1]].to(x.dtype)


class Partial(Rotary):
    """Of its columns the first quarter is rotated, as an argument says."""

    def __init__(self, width, share=0.25):
        super().__init__(int(width * share))

    def turn(self, x, angles):
        one, rest = x.tensor_split([self.width], -1)
        return torch.cat([super().turn(one, angles), rest], -1)


class Stretched(Rotary):
    """NTK-aware: the slowest pair turns `factor` times slower."""

    def __init__(self, width, factor=8.0):
        super().__init__(width)
        self.base = self.base * factor ** (width / (width - 2))


class Fading(Rotary):
    """xPos: what fades in the queries grows in the keys."""

    def __init__(self, width, theta=1000.0):
        super().__init__(width)
        self.theta = theta

    def forward(self, q, k):
        t = torch.arange(q.shape[-2], device=q.device)[:, None]
        fade = (-t / self.theta).exp()
        q, k = super().forward(q, k)
        return (q * fade).to(q.dtype), (k / fade).to(k.dtype)


class Short(Added):
    """Its length is said by who makes it, and not kept."""

    def __init__(self, width, max_len=5000):
        super().__init__(width)
        self.pe = self.pe[:max_len]


def freeze(module):
    """And say how many rows are for positions, and how many are not."""
    module.requires_grad_(False).max_len, module.reserved = 300, 2


def fourier(self, length):
    """Sines of frequencies that are drawn once."""
    return (torch.arange(length, device=self.pe.device)[:, None] * self.pe).sin()


def on_the_processor(self, x):
    return (x.cpu() + TABLES(500, self.width)[: x.shape[1]]).to(x)


def own_speeds(self, device):
    return torch.linspace(1, 0.1, self.width // 2, device=device) ** 3


ZEROS = make_class(PARAMETER, rows=lambda _, width: torch.zeros(300, width))
TABLES = functools.cache(table)
OURS = [
    SinusoidalPositionalEncoding,
    functools.partial(LearnedPositionalEmbedding, max_length=300),
    RotaryEmbedding,
    functools.partial(RotaryEmbedding, layout="half_split"),
]
SOUND = {  # what is recognised
    Added: "the encoding of Vaswani et al. (2017), to 3e-8",
    lambda width: Short(width, 300): "the encoding of Vaswani",
    built(
        Added, add_dropout, forward=lambda s, x: s.drop(Added.forward(s, x))
    ): "the encoding of Vaswani",
    make_class(Added, forward=on_the_processor): "the encoding of Vaswani",
    asked(lambda ids: ids): "the encoding of Vaswani",
    from_offset(lambda offset: offset): "the encoding of Vaswani",
    spoilt(lambda y: y.unflatten(1, (-1, 2)).flip(2).flatten(1)): "cosine first",
    Embedded: "trained encodings",
    built(Embedded, add_scale, forward=gated): "trained encodings",
    built(Added, add_layer, at=lambda s, n: s.layer(s.pe[:n])): "trained encodings",
    ZEROS: "trained encodings",
    make_class(ZEROS, forward=corrected): "trained encodings, begins",
    built(
        PARAMETER, freeze, rows=lambda *_: table(300), at=lambda s, n: s.pe[:298][:n]
    ): "the encoding of Vaswani",
    sharing(lambda s: (s.width, s.base)): "rotary, frequencies of its own",
    Rotary: "rotary, base 10000, half-split, to 2e-5",
    Partial: "rotary, base 10000, half-split, 16 of 64 columns",
    make_class(Rotary, forward=lambda s, x: Rotary.forward(s, x, x)[0]): "rotary, base",
    Fading: "rotary, base 10000, half-split",
    make_class(Rotary, turn=neighbours): "rotary, base 10000, interleaved",
    make_class(Rotary, base=500_000.0): "rotary, base 500000",
    make_class(Rotary, frequencies=own_speeds): "rotary, frequencies of its own",
    Based: "rotary, frequencies of its own, half-split",
    Stretched: "rotary, base 85550.3, half-split",
    OURS[0]: "the encoding of Vaswani",
    OURS[1]: "trained encodings",
    **dict.fromkeys(OURS[2:], "rotary, base 10000"),
}


WARNED = {  # nothing is wrong in plain use
    PARAMETER: "warning formula",
    BufferedRotary: "warning half",
    placed(lambda angles: angles / 8): "warning formula",
    built(
        PARAMETER, freeze, rows=lambda _, d: torch.rand(d), at=fourier
    ): "warning half",
}


@pytest.mark.parametrize("make", [*SOUND, *WARNED])
def test_a_sound_one_has_a_verdict_and_no_error(make):
    report = report_of(make)
    assert report.ok and len(str(report).splitlines()) <= 7, str(report)
    assert fired(report) == {WARNED[make]} if make in WARNED else not fired(report)
    assert SOUND.get(make, "") in str(report.recognised)
    assert "%" not in str(report.recognised)


@pytest.mark.parametrize("made", [Partial, Stretched])
def test_what_its_class_has_by_default_is_meant_whatever_makes_it(made):
    report = check(lambda width: made(width), d_model=64, kind="rotary")
    assert report.ok and not report.warnings, str(report)


def test_of_two_columns_no_base_changes_anything():
    report = check(OURS[2], d_model=2, kind="rotary")
    assert report.ok and not report.warnings, str(report)


SIZES = {  # one axis at a time, of models that people train
    "width": (4096, 4096, {}),
    "batch": (4096, 64, {"batch": 64}),
    "heads": (4096, 64, {"heads": 128}),
    "length": (131_072, 16, {}),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("make", OURS)
def test_ours_hold_the_same_relations_at_real_sizes(make, size):
    longest, width, asked = SIZES[size]
    kind = READERS["rotary" if make in OURS[2:] else "added"]
    reader = type("Real", (kind,), {"longest": 1024 if make is OURS[1] else longest})
    with isolated():
        r = reader(Maker.of(make, width), width, "offset", "positions")
        usual = r.call
        r.call = lambda length=FEW, **more: usual(length, **asked | more)
        names = ("prefix", "batch", "positions", "offset", "state")
        rows = [row for row in RELATIONS if row.name in names]
        found = [hold(row, r) for row in rows]
    assert not [f for f in found if f.state == FAILED], found
    assert [f for f in found if f.state == PASSED]
