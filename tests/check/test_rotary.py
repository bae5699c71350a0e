"""Rotary modules: sound ones in many shapes, grids of any size, each kind of fault."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional

from pe_lib.beyond.scaling import by_parts
from pe_lib.nn import GridRotaryEmbedding, RotaryEmbedding
from tests.check.helpers import assert_found, assert_sound, make_class, report_of
from tests.check.modules import Rotary, in_halves, in_neighbours


def along(axis, unsqueezed=0):
    """forward for one x whose positions are an axis, with so many behind it."""

    def forward(self, x):
        angles = self.angles(torch.arange(x.shape[axis], device=x.device))
        return self.turn(x, angles[(slice(None), *[None] * unsqueezed)])

    return forward


def neighbours(self, x, angles):  # noqa: ARG001
    angles = angles.repeat_interleave(2, -1)
    return (x * angles.cos() + in_neighbours(x) * angles.sin()).to(x.dtype)


class Tables(Rotary):
    """Cosines and sines of ids, as Llama in transformers."""

    def forward(self, x, position_ids):
        angles = self.angles(position_ids).repeat(1, 1, 2)
        return angles.cos().to(x.dtype), angles.sin().to(x.dtype)


class OfLength(Rotary):
    def forward(self, seq_len):
        angles = self.angles(torch.arange(seq_len))
        return angles.cos(), angles.sin()


class Ids(Rotary):
    def forward(self, q, k, position_ids=None):
        if position_ids is None:
            position_ids = torch.arange(q.shape[-2], device=q.device)[None]
        angles = self.angles(position_ids)[:, None]
        return self.turn(q, angles), self.turn(k, angles)


class Offset(Rotary):
    def forward(self, q, k, offset=0):
        at = torch.arange(offset, offset + q.shape[-2], device=q.device)
        return self.turn(q, self.angles(at)), self.turn(k, self.angles(at))


class Values(Rotary):
    def forward(self, q, k, v):
        return *super().forward(q, k), v


class Packed(Rotary):
    def forward(self, qkv):
        q, k, v = (x.transpose(1, 2) for x in qkv.unbind(2))
        turned = (*super().forward(q, k), v)
        return torch.stack([x.transpose(1, 2) for x in turned], 2)


class ByName(Rotary):
    def forward(self, *, query, key):
        return super().forward(query, key)


class Partial(Rotary):
    def forward(self, q, k):
        half = Rotary(self.width // 2)
        parts = zip(half(*(x.chunk(2, -1)[0] for x in (q, k))), (q, k), strict=True)
        return tuple(torch.cat([a, x.chunk(2, -1)[1]], -1) for a, x in parts)


class Buffered(Rotary):
    """As transformers keeps its frequencies."""

    def __init__(self, width):
        super().__init__(width)
        inv_freq = super().frequencies("cpu")
        self.register_buffer("inv_freq", inv_freq, persistent=False)

    def frequencies(self, _):
        return self.inv_freq.float()


def axial(rows, columns, before=0, used=(1, 1)):
    """A grid of one size, half of the pairs for each axis."""

    class Axial(nn.Module):
        def __init__(self, width):
            super().__init__()
            w = 100.0 ** (-torch.arange(0, width, 4) / width)
            at = torch.arange(rows * columns)[:, None]
            angles = [used[0] * (at // columns) * w, used[1] * (at % columns) * w]
            angles = torch.cat([torch.zeros(before, width // 2), torch.cat(angles, 1)])
            self.register_buffer("angles", angles.repeat_interleave(2, 1))

        def forward(self, q, k):
            cos, sin = self.angles.float().cos(), self.angles.float().sin()
            both = (x * cos + in_neighbours(x) * sin for x in (q, k))
            return tuple(x.to(q.dtype) for x in both)

    return Axial


def scaled(self, device):
    old = Rotary.frequencies(self, "cpu").numpy()
    return torch.tensor(by_parts(old, 8, 2048)).float().to(device)


SOUND = {
    "half-split": Rotary,
    "interleaved": make_class(Rotary, turn=neighbours),
    "x alone": make_class(Rotary, forward=along(-2)),
    "length first": make_class(Rotary, forward=along(0, 2)),
    "heads last": make_class(Rotary, forward=along(1, 1)),
    "tables": Tables,
    "tables of a length": OfLength,
    "ids": Ids,
    "offset": Offset,
    "values": Values,
    "packed": Packed,
    "by name": ByName,
    "partial": Partial,
    "buffered": Buffered,
    "base 500,000": make_class(Rotary, base=500_000.0),
    "by parts": make_class(Rotary, frequencies=scaled),
    "interpolated": make_class(Rotary, angles=lambda s, at: Rotary.angles(s, at) / 8),
    "backwards": make_class(Rotary, angles=lambda s, at: Rotary.angles(s, -at)),
    "from one": make_class(Rotary, angles=lambda s, at: Rotary.angles(s, at + 1)),
    "ours": RotaryEmbedding,
    "ours, half-split": lambda d: RotaryEmbedding(d, layout="half_split"),
}


@pytest.mark.parametrize("name", SOUND)
def test_sound_ones_have_no_error_and_few_lines(name):
    assert_sound(report_of(SOUND[name], "rotary"))


@pytest.mark.parametrize(
    ("rows", "columns", "before"),
    [(7, 7, 0), (14, 14, 0), (24, 24, 0), (12, 20, 0), (14, 14, 1), (16, 16, 4)],
)
def test_a_grid_of_any_size_is_found(rows, columns, before):
    report = report_of(axial(rows, columns, before), "rotary")
    assert_sound(report)
    assert report.recognised.formula == "rotary_on_grid"
    assert f"{columns} columns" in report.recognised.words


def test_a_grid_may_be_told_by_its_axes():
    class Rows(Rotary):
        def forward(self, x):
            half = Rotary(self.width // 2)
            one, two = x.chunk(2, -1)
            turn = make_class(Rotary, forward=along(-2))(self.width // 2)
            down = half.turn(
                one, half.angles(torch.arange(x.shape[2], device=x.device))[:, None]
            )
            return torch.cat([down, turn(two)], -1)

    report = report_of(Rows, "rotary", axes="batch heads rows columns dim")
    assert_sound(report)
    assert report.recognised.formula == "rotary_on_grid"


def test_the_base_the_layout_and_the_part_are_told():
    told = report_of(SOUND["base 500,000"], "rotary").recognised
    assert (told.formula, told.layout) == ("rotary", "half_split")
    assert told.base == pytest.approx(500_000, rel=1e-3)
    assert report_of(SOUND["interleaved"], "rotary").recognised.layout == "interleaved"
    assert "32 of 64 columns" in str(report_of(Partial, "rotary").recognised)


def unsigned(self, x, angles):  # noqa: ARG001
    angles = torch.cat([angles, angles], -1)
    return x * angles.cos() + x.roll(x.shape[-1] // 2, -1) * angles.sin()


def mixed(self, x, angles):  # noqa: ARG001
    angles = torch.cat([angles, angles], -1)
    return x * angles.cos() + in_neighbours(x) * angles.sin()


def swapped(self, x, angles):  # noqa: ARG001
    angles = torch.cat([angles, angles], -1)
    return x * angles.sin() + in_halves(x) * angles.cos()


def rounded(self, x, angles):  # noqa: ARG001
    angles = torch.cat([angles, angles], -1)
    cos, sin = (f.bfloat16().float() for f in (angles.cos(), angles.sin()))
    return x * cos + in_halves(x) * sin


def without_gradient(self, q, k):
    with torch.no_grad():
        return Rotary.forward(self, q, k)


class Remembers(Rotary):
    longest = 512

    def angles(self, positions):
        self.longest = max(self.longest, positions.shape[-1])
        return super().angles(positions) * 512 / self.longest


class InItsDtype(Buffered):
    def angles(self, positions):
        return positions[..., None].to(self.inv_freq) * self.inv_freq


def angles_times(factor):
    return lambda s, at: Rotary.angles(s, at) * factor


FAULTS = [
    ("axes", "keys are not rotated", make_class(Rotary, keys=0.0)),
    ("axes", "Nothing is rotated", make_class(Rotary, angles=angles_times(0))),
    (
        "linear",
        "not rotated vector by vector",
        make_class(Rotary, turn=lambda s, x, a: Rotary.turn(s, x, a) + 1),
    ),
    ("pairs", "different angles", make_class(Rotary, turn=mixed)),
    ("pairs", "minus sign", make_class(Rotary, turn=unsigned)),
    ("pairs", "swapped", make_class(Rotary, turn=swapped)),
    (
        "pairs",
        "More than two",
        make_class(
            Rotary, turn=lambda s, x, a: Rotary.turn(s, x, a) + 0.1 * x.roll(1, -1)
        ),
    ),
    ("relative", "the other way", make_class(Rotary, keys=-1.0)),
    ("relative", "different angles", make_class(Rotary, keys=2.0)),
    ("relative", "16 bits", make_class(Rotary, turn=rounded)),
    ("distinct", "Position 1 ", axial(14, 14, used=(1, 0))),
    (
        "formula",
        "divided",
        make_class(Rotary, frequencies=lambda s, v: 1 / Rotary.frequencies(s, v)),
    ),
    ("formula", "degrees", make_class(Rotary, angles=angles_times(math.pi / 180))),
    ("formula", "squared", make_class(Rotary, base=1e8)),
    (
        "formula",
        "one frequency",
        make_class(Rotary, frequencies=lambda s, v: 0 * Rotary.frequencies(s, v) + 0.1),
    ),
    (
        "formula",
        "evenly",
        make_class(Rotary, angles=lambda s, at: Rotary.angles(s, at**2 // 30)),
    ),
    (
        "values",
        "rotated as well",
        make_class(
            Values,
            forward=lambda s, q, k, v: (
                *Rotary.forward(s, q, k),
                Rotary.forward(s, v, v)[0],
            ),
        ),
    ),
    (
        "batch",
        "In a batch",
        make_class(
            Rotary,
            forward=lambda s, q, k: tuple(
                s.turn(x, s.angles(torch.arange(x.shape[-2]) * len(x))) for x in (q, k)
            ),
        ),
    ),
    (
        "prefix",
        "first angles",
        make_class(Rotary, angles=lambda s, at: Rotary.angles(s, at.flip(-1))),
    ),
    (
        "prefix",
        "alike",
        make_class(
            Rotary,
            forward=along(-2),
            angles=lambda s, at: Rotary.angles(s, at.clamp(max=2000)),
        ),
    ),
    (
        "distinct",
        "Position 32",
        make_class(Rotary, angles=lambda s, at: Rotary.angles(s, at % 32)),
    ),
    (
        "positions",
        "not rotated to them",
        make_class(
            Ids,
            forward=lambda s, q, k, position_ids=None: Rotary.forward(s, q, k),  # noqa: ARG005
        ),
    ),
    (
        "positions",
        "those of the first",
        make_class(
            Ids,
            forward=lambda s, q, k, position_ids=None: Ids.forward(
                s, q, k, None if position_ids is None else position_ids[:1]
            ),
        ),
    ),
    (
        "offset",
        "keys are not",
        make_class(
            Offset,
            forward=lambda s, q, k, offset=0: (
                Offset.forward(s, q, k, offset)[0],
                Rotary.forward(s, q, k)[1],
            ),
        ),
    ),
    ("state", "longer input", Remembers),
    (
        "random",
        "in evaluation mode",
        make_class(
            Rotary, angles=lambda s, at: functional.dropout(Rotary.angles(s, at), 0.1)
        ),
    ),
    (
        "training",
        "otherwise",
        make_class(
            Rotary, angles=lambda s, at: Rotary.angles(s, at) / (1 + s.training)
        ),
    ),
    ("gradient", "queries", make_class(Rotary, forward=without_gradient)),
    (
        "gradient",
        "keys",
        make_class(
            Rotary,
            forward=lambda s, q, k: (
                Rotary.forward(s, q, k)[0],
                Rotary.forward(s, q, k)[1].detach(),
            ),
        ),
    ),
    (
        "writes",
        "writes into",
        make_class(
            Rotary,
            forward=lambda s, q, k: tuple(
                x.copy_(y) for x, y in zip((q, k), Rotary.forward(s, q, k), strict=True)
            ),
        ),
    ),
    ("half", "bfloat16", InItsDtype),
]


@pytest.mark.parametrize(
    ("check", "words", "make"),
    [pytest.param(*f, id=f"{f[0]}-{f[1].strip()}".replace(" ", "-")) for f in FAULTS],
)
def test_a_fault_is_found_and_its_cause_named(check, words, make):
    assert_found(report_of(make, "rotary"), check, words)


def test_heads_counted_for_positions():
    axes = "batch heads length dim"
    report = report_of(make_class(Rotary, forward=along(1, 1)), "rotary", axes=axes)
    assert_found(report, "axes", "rotated alike")


def test_our_grid_is_sound():
    class OnGrid(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.inner = GridRotaryEmbedding(width, sections=(width // 4, width // 4))

        def forward(self, q, k):
            at = torch.arange(q.shape[-2], device=q.device)
            return self.inner(q, k, positions=torch.stack([at // 14, at % 14], -1))

    assert_sound(report_of(OnGrid, "rotary"))
