"""Rotary modules: sound ones in many shapes, grids of any size, each kind of fault."""

import math

import pytest
import torch
from torch import nn

from pe_lib.beyond.scaling import by_parts
from pe_lib.nn import GridRotaryEmbedding, RotaryEmbedding
from tests.check.helpers import assert_found, assert_sound, each_of, report_of
from tests.check.modules import (
    BufferedRotary,
    Rotary,
    in_neighbours,
    make_class,
    placed,
    turned,
    turning,
)


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


def of_rows_of_ids(self, x, position_ids):
    rows, length = len(position_ids), position_ids.shape[-1]
    at = torch.arange(length, device=x.device).expand(rows, -1)
    return Tables.forward(self, x, at)


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


class Faded(Rotary):
    """As xPos: what fades in the queries grows in the keys, around the middle."""

    def forward(self, q, k):
        at = torch.arange(q.shape[-2], device=q.device)[:, None] - q.shape[-2] // 2
        fading = torch.linspace(0.9, 1, self.width // 2).repeat(2) ** (at / 512)
        q, k = super().forward(q, k)
        return q * fading, k / fading


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
    "faded": Faded,
    "buffered": BufferedRotary,
    "base 500,000": make_class(Rotary, base=500_000.0),
    "by parts": make_class(Rotary, frequencies=scaled),
    "interpolated": placed(lambda t: t / 8),
    "backwards": placed(lambda t: -t),
    "from one": placed(lambda t: t + 1),
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


def unsigned(x, cos, sin):
    return x * cos + x.roll(x.shape[-1] // 2, -1) * sin


def rounded(x, cos, sin):
    return turned(x, cos.bfloat16().float(), sin.bfloat16().float())


def divided(self, device):
    return 1 / Rotary.frequencies(self, device)


def one_frequency(self, device):
    return 0 * Rotary.frequencies(self, device) + 0.1


def values_too(self, q, k, v):
    return *Rotary.forward(self, q, k), Rotary.forward(self, v, v)[0]


def detached_keys(self, q, k):
    q, k = Rotary.forward(self, q, k)
    return q, k.detach()


def lost(self, q, k):
    half = Rotary(self.width // 2)
    return half(*(x.chunk(2, -1)[0] for x in (q, k)))


def sines_first(self, x, position_ids):
    return Tables.forward(self, x, position_ids)[::-1]


def in_views(x, cos, sin):
    x, half = x.clone(), x.shape[-1] // 2
    one, two = x.chunk(2, -1)
    one[:] = one * cos[..., :half] - two * sin[..., :half]
    two[:] = one * sin[..., :half] + two * cos[..., :half]
    return x


def shifted(queries, keys):
    """The class whose queries and keys are so many positions on."""

    def forward(self, q, k):
        at = torch.arange(k.shape[-2])
        return tuple(
            self.turn(x, self.angles(at + n)) for x, n in ((q, queries), (k, keys))
        )

    return make_class(Rotary, forward=forward)


def from_the_end(self, q, k):
    angles = self.angles(torch.arange(q.shape[-2]))
    return self.turn(q, angles), self.turn(k, angles.flip(0))


FAULTS = [
    ("shape", "32 come back", make_class(Rotary, forward=lost)),
    ("formula", "sines first", make_class(Tables, forward=sines_first)),
    ("pairs", "overwritten", turning(in_views)),
    ("pairs", "norm", turning(lambda x, cos, sin: turned(x, cos, sin / 2))),
    ("relative", "keys are ahead, by positions: 1", shifted(0, 1)),
    ("relative", "from the end", make_class(Rotary, forward=from_the_end)),
    (
        "relative",
        "one and the same",
        make_class(Rotary, forward=lambda s, q, _: 2 * Rotary.forward(s, q, q)[:1]),
    ),
    (
        "relative",
        "swapped",
        make_class(Rotary, forward=lambda s, q, k: Rotary.forward(s, k, q)),
    ),
    ("formula", "base 1000 instead", make_class(Rotary, base=1000.0)),
    ("formula", "positions from 1", placed(lambda t: t + 1)),
    ("formula", "minus the angle", placed(lambda t: -t)),
    ("axes", "keys are not rotated", make_class(Rotary, keys=0.0)),
    ("axes", "all positions are rotated alike", placed(lambda t: 0 * t)),
    ("pairs", "angles", turning(lambda x, cos, sin: x * cos + in_neighbours(x) * sin)),
    ("pairs", "minus sign", turning(unsigned)),
    ("formula", "swapped", turning(lambda x, cos, sin: turned(x, sin, cos))),
    ("pairs", "two", turning(lambda x, *a: turned(x, *a) + 0.1 * x.roll(1, -1))),
    ("relative", "the other way", make_class(Rotary, keys=-1.0)),
    ("relative", "different angles", make_class(Rotary, keys=2.0)),
    ("relative", "16 bits", turning(rounded)),
    ("distinct", "The column makes no", axial(14, 14, used=(1, 0))),
    ("formula", "divided", make_class(Rotary, frequencies=divided)),
    ("formula", "degrees", placed(lambda t: t * math.pi / 180)),
    ("formula", "counted twice", make_class(Rotary, base=1e8)),
    ("formula", "one frequency", make_class(Rotary, frequencies=one_frequency)),
    ("formula", "evenly", placed(lambda t: t**2 // 30)),
    ("values", "rotated as well", make_class(Values, forward=values_too)),
    ("distinct", "all that follow", placed(lambda t: t.clamp(max=2000))),
    ("gradient", "keys", make_class(Rotary, forward=detached_keys)),
]


@each_of(FAULTS)
def test_a_fault_is_found_and_its_cause_named(where, words, make):
    assert_found(report_of(make, "rotary"), where, words)


def test_heads_counted_for_positions():
    axes = "batch heads length dim"
    report = report_of(make_class(Rotary, forward=along(1, 1)), "rotary", axes=axes)
    assert_found(report, "axes", "rotated alike")


def test_cosines_for_each_pair_of_positions_are_refused_while_they_are_few():
    report = report_of(make_class(Tables, forward=of_rows_of_ids), "rotary")
    assert_found(report, "positions", "is not followed")
    assert report.called


def test_a_tensor_t_whose_axes_are_said_is_no_position():
    make = make_class(Rotary, forward=lambda s, t: along(0, 2)(s, t))
    assert_sound(report_of(make, "rotary", axes="length batch heads dim"))


def test_our_grid_is_sound():
    class OnGrid(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.inner = GridRotaryEmbedding(width, sections=(width // 4, width // 4))

        def forward(self, q, k):
            at = torch.arange(q.shape[-2], device=q.device)
            return self.inner(q, k, positions=torch.stack([at // 14, at % 14], -1))

    assert_sound(report_of(OnGrid, "rotary"))
