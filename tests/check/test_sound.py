"""Sound modules of many styles have a verdict and no error; ours at real sizes."""

import functools

import pytest
import torch
from torch import nn
from torch.nn import functional

from pe_lib.check.call import FEW, isolated
from pe_lib.check.kinds import READERS
from pe_lib.check.maker import Maker
from pe_lib.check.relations import RELATIONS, hold
from pe_lib.check.report import FAILED, PASSED
from pe_lib.nn import (
    LearnedPositionalEmbedding,
    RotaryEmbedding,
    SinusoidalPositionalEncoding,
)
from tests.check.helpers import assert_sound, fired, report_of
from tests.check.modules import (
    PARAMETER,
    Added,
    BufferedRotary,
    Embedded,
    Rotary,
    Stretched,
    asked,
    from_offset,
    make_class,
    neighbours,
    placed,
    table,
)
from tests.check.test_faults import Based


class Normed(Embedded):
    def forward(self, x):
        return functional.layer_norm(super().forward(x), x.shape[-1:])


class Gated(Embedded):
    """Its rows are times a trained number that begins at zero."""

    def __init__(self, width):
        super().__init__(width)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return x + self.gate * (super().forward(x) - x)


def at_times(self, x, times=None):
    times = torch.arange(x.shape[1], device=x.device) if times is None else times
    j = torch.arange(self.width, device=x.device)
    angles = times[..., None] * 1e-4 ** (j // 2 * 2 / self.width)
    return x + (angles + j % 2 * torch.pi / 2).sin().to(x.dtype)


class Rotating(Rotary):
    """With a base that may be said."""

    def __init__(self, width, base=77.0):
        super().__init__(width)
        self.base = base


class Partial(Rotary):
    """Of its columns the first quarter is rotated, as an argument says."""

    def __init__(self, width, share=0.25, sections=()):  # noqa: ARG002
        super().__init__(int(width * share))

    def turn(self, x, angles):
        one, rest = x.tensor_split([self.width], -1)
        return torch.cat([super().turn(one, angles), rest], -1)


class Filled(Rotary):
    """Its cosines are filled in where a longer input comes, and slices come back."""

    def __init__(self, width):
        super().__init__(width)
        empty = torch.zeros(4096, width // 2)
        self.register_buffer("angle", empty, persistent=False)
        self.seen = 0

    def forward(self, q, k):
        if (n := q.shape[-2]) > self.seen:
            positions = torch.arange(self.seen, n, device=q.device)
            self.angle[self.seen : n] = self.angles(positions)
            self.seen = n
        return self.turn(q, self.angle[:n]), self.turn(k, self.angle[:n])


def one_at_a_time(self, x):
    return Rotary.forward(self, x, x)[0]


def no_further(self, length):
    if length > 500:
        raise IndexError("too far out")
    return table(length, self.width).to(self.pe)


def on_the_processor(self, x):
    return (x.cpu() + cached(500, self.width)[: x.shape[1]]).to(x)


cached = functools.cache(table)


SOUND = [
    ("added", Added),
    ("added", make_class(PARAMETER, rows=lambda _, width: torch.zeros(300, width))),
    ("added", Embedded),
    ("added", Normed),
    ("added", asked(lambda ids: ids)),
    ("added", from_offset(lambda offset: offset)),
    ("added", PARAMETER),
    ("rotary", Rotary),
    ("rotary", BufferedRotary),
    ("rotary", Partial),
    ("rotary", functools.partial(Partial, sections=[16, 24])),
    ("rotary", make_class(Rotary, turn=neighbours)),
    ("rotary", make_class(Rotary, base=500_000.0)),
    ("rotary", placed(lambda t: t / 8)),
    ("rotary", Based),
    ("added", Gated),
    ("rotary", Filled),
]
OURS = [
    ("added", SinusoidalPositionalEncoding),
    ("added", functools.partial(LearnedPositionalEmbedding, max_length=300)),
    ("rotary", RotaryEmbedding),
    ("rotary", functools.partial(RotaryEmbedding, layout="half_split")),
]
QUIET = [
    *OURS,
    ("rotary", Stretched),
    ("rotary", lambda width: Partial(width, share=0.5)),
    ("added", make_class(Added, at=no_further)),
    ("added", make_class(Added, forward=at_times)),
    ("added", make_class(Added, forward=on_the_processor)),
    ("rotary", make_class(Rotary, forward=one_at_a_time)),
]


@pytest.mark.parametrize(("kind", "make"), SOUND)
def test_sound_ones_have_a_verdict_and_no_error(kind, make):
    assert_sound(report_of(make, kind))


@pytest.mark.parametrize(("kind", "make"), QUIET)
def test_these_have_no_warning_either(kind, make):
    report = report_of(make, kind)
    assert_sound(report)
    assert not report.warnings and report.recognised, str(report)


def test_what_is_said_is_meant():
    assert fired(report_of(functools.partial(Rotating, base=77.0), "rotary")) == set()
    assert fired(report_of(Rotating, "rotary")) == set()  # its own default is, too
    assert "Vaswani et al. (2017)" in report_of(Added).recognised.words


def test_what_nobody_names_is_left_as_it_is_and_said():
    def forward(self, x, scale=1.0, far=False):
        return scale * x + self.pe[: x.shape[1]].to(x.dtype) * (1 + far)

    report = report_of(make_class(Added, forward=forward))
    assert "; left as by default: scale, far" in report.called
    assert report_of(Added).called == "x is [batch, length, dim]; at most 600 positions"


SIZES = {  # one axis at a time, of models that people train
    "width": ({}, 4096, {}),
    "batch": ({}, 64, {"batch": 64}),
    "heads": ({}, 64, {"heads": 128}),
    "length": ({"longest": 131_072}, 16, {}),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("kind", "make"), OURS)
def test_ours_hold_the_same_relations_at_real_sizes(kind, make, size):
    given, width, asked = SIZES[size]
    if size == "length" and "Learned" in str(make):
        given = {"longest": 1024}  # as many rows as are trained
    reader = type("Real", (READERS[kind],), given)
    with isolated():
        r = reader(Maker.of(make, width), width, "offset", "positions")
        usual = r.call
        r.call = lambda length=FEW, **more: usual(length, **asked | more)
        names = ("prefix", "batch", "positions", "offset", "state")
        rows = [row for row in RELATIONS if row.name in names]
        found = [hold(row, r) for row in rows]
    assert not [f for f in found if f.state == FAILED], found
    assert [f for f in found if f.state == PASSED]
