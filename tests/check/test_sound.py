"""Sound modules of many styles have a verdict and no error; ours at real sizes."""

import functools

import pytest
import torch
from torch import nn
from torch.nn import functional

from pe_lib.check.call import isolated
from pe_lib.check.kinds import READERS
from pe_lib.check.relations import RELATIONS, hold
from pe_lib.check.report import FAILED, PASSED
from pe_lib.check.signature import Maker
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
    Image,
    Map,
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


class LengthFirst(Added):
    def __init__(self, max_len=100, d_model=64):
        super().__init__(d_model)
        self.pe = self.pe[:max_len]


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


class Rows(nn.Module):
    """Trained rows and columns of patches, row by row."""

    def __init__(self, dim, height=3, width=5):
        super().__init__()
        self.down = nn.Parameter(torch.randn(height, 1, dim))
        self.across = nn.Parameter(torch.randn(1, width, dim))

    def forward(self, x):
        return x + (self.down + self.across).flatten(0, 1)


def at_times(self, x, times=None):
    times = torch.arange(x.shape[1], device=x.device) if times is None else times
    j = torch.arange(self.width, device=x.device)
    angles = times[..., None] * 1e-4 ** (j // 2 * 2 / self.width)
    return x + (angles + j % 2 * torch.pi / 2).sin().to(x.dtype)


class Tables(Rotary):
    """Cosines and sines of ids, as Llama in transformers."""

    def forward(self, x, position_ids):
        angles = self.angles(position_ids).repeat(1, 1, 2)
        return angles.cos().to(x.dtype), angles.sin().to(x.dtype)


class PartialTables(Tables):
    """Of the first half of the columns alone, each twice, as Phi in transformers."""

    def __init__(self, width, partial_rotary_factor=0.5):
        super().__init__(int(width * partial_rotary_factor))


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


def at_timesteps(self, x, timesteps):
    return x + functional.embedding(timesteps.long(), self.pe.to(x.dtype))


def for_all_heads(self, q, k):
    return Rotary.forward(self, q, k.expand(-1, q.shape[1], -1, -1))


def for_equal_heads(self, q, k):
    if q.shape != k.shape:
        raise ValueError("queries and keys must have one shape")
    return Rotary.forward(self, q, k)


def but_where_masked(self, x, attn_mask=None):
    rows = self.pe[: x.shape[1]].to(x).expand(x.shape)
    return x + rows if attn_mask is None else x + rows * ~attn_mask[..., None]


def without_heads(self, q, k):
    _, _, _ = q.shape
    return Rotary.forward(self, q, k)


def no_further(self, length):
    if length > 500:
        raise IndexError("too far out")
    return table(length, self.width).to(self.pe)


def on_the_processor(self, x):
    return (x.cpu() + cached(500, self.width)[: x.shape[1]]).to(x)


cached = functools.cache(table)


class Tokened(Embedded):
    """A token of its own comes first."""

    def __init__(self, width):
        super().__init__(width)
        self.token = nn.Parameter(torch.randn(1, 1, width))

    def forward(self, x):
        return super().forward(torch.cat([self.token.expand(len(x), -1, -1), x], 1))


SOUND = [
    ("added", Added),
    ("added", make_class(PARAMETER, rows=lambda _, width: torch.zeros(300, width))),
    ("added", Embedded),
    ("added", LengthFirst),
    ("added", Normed),
    ("added", asked(lambda ids: ids)),
    ("added", from_offset(lambda offset: offset)),
    ("added", PARAMETER),
    ("added", make_class(Added, forward=lambda s, x: x + s.pe[: len(x), None].to(x))),
    ("added", make_class(Added, forward=lambda s, x: x + s.pe[: x.shape[2]].T.to(x))),
    ("rotary", Rotary),
    ("rotary", BufferedRotary),
    ("rotary", Tables),
    ("rotary", PartialTables),
    ("rotary", Partial),
    ("rotary", functools.partial(Partial, sections=[16, 24])),
    ("rotary", make_class(Rotary, turn=neighbours)),
    ("rotary", make_class(Rotary, base=500_000.0)),
    ("rotary", placed(lambda t: t / 8)),
    ("rotary", Based),
    ("added", Gated),
    ("added", Rows),
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
    ("rotary", make_class(Rotary, forward=without_heads)),
    ("added", make_class(Added, at=no_further)),
    ("added", Tokened),
    ("added", make_class(Added, forward=at_times)),
    ("added", make_class(Added, forward=on_the_processor)),
    ("added", make_class(Added, forward=at_timesteps)),
    ("added", make_class(Added, forward=but_where_masked)),
    ("rotary", make_class(Rotary, forward=for_all_heads)),
    ("rotary", make_class(Rotary, forward=for_equal_heads)),
]


@pytest.mark.parametrize(("kind", "make"), SOUND)
def test_sound_ones_have_a_verdict_and_no_error(kind, make):
    assert_sound(report_of(make, kind))


@pytest.mark.parametrize(("kind", "make"), QUIET)
def test_these_have_no_warning_either(kind, make):
    report = report_of(make, kind)
    assert_sound(report)
    assert not report.warnings and report.recognised, str(report)


class Sized(Image):
    """With the largest size that an image may have."""

    def __init__(self, d_model, rows=32, columns=32):  # noqa: ARG002
        super().__init__(d_model)


class NormedMap(Map):
    def forward(self, x):
        both = super().forward(x).movedim(1, -1)
        return functional.layer_norm(both, both.shape[-1:]).movedim(-1, 1)


def test_images_are_told_by_their_axes_or_guessed():
    last, first = "batch rows columns dim", "batch dim rows columns"
    assert_sound(report := report_of(Image, axes=last))
    assert report.recognised.words == "a table by rows and columns, 5 columns"
    assert "only 35 positions" in report.called
    for make, axes in ((Sized, last), (NormedMap, first), (Image, None), (Map, None)):
        report = report_of(make, axes=axes)
        assert fired(report) == set() and report.ok, str(report)
    assert f"x is [{first.replace(' ', ', ')}], guessed" in report.called


def test_what_is_said_is_meant():
    assert fired(report_of(functools.partial(Rotating, base=77.0), "rotary")) == set()
    assert fired(report_of(Rotating, "rotary")) == set()  # its own default is, too
    assert "guessed" in report_of(Added).called
    assert "Vaswani et al. (2017)" in report_of(Added).recognised.words
    assert "guessed" not in report_of(Added, axes="batch length dim").called
    assert "d_model is 64" in report_of(LengthFirst).called


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
        r = reader(Maker.of(make, width), width, None, None)
        usual = r.call
        r.call = lambda length=None, **more: usual(
            length,
            **{k: v for k, v in (asked | more).items() if k in {*r.honours, *more}},
        )
        names = ("prefix", "batch", "positions", "offset", "decoding", "state")
        rows = [row for row in RELATIONS if row.name in names and kind in row.kinds]
        found = [hold(row, r) for row in rows]
    assert not [f for f in found if f.state == FAILED], found
    assert [f for f in found if f.state == PASSED]
