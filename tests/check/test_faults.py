"""Faults of one module: which check, at which level, and in which words."""

import math

import pytest
import torch
from torch import nn

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
    combining,
    from_offset,
    in_halves,
    in_neighbours,
    make_class,
    neighbours,
    of_angles,
    picking,
    placed,
    report_of,
    spoilt,
    table,
    turning,
)


def put(where, value):
    """What writes this value into a part of the table."""

    def change(rows):
        rows[where] = value(rows) if callable(value) else value
        return rows

    return change


def power(factor, of=0):
    return lambda t, j: t * 1e-4 ** (factor * j + of / 64)


def low(x):
    return x.bfloat16().double()


def by_the_batch(self, x):
    return x + self.pe[: x.shape[0], None].to(x.dtype)


def often(self, x):
    return (by_the_batch if len(x) > x.shape[1] else Added.forward)(self, x)


def hand_made(self, x):
    """Dropout on x alone."""
    return Added.forward(self, x * torch.rand(x.shape) ** self.training)


def in_its_dtype(self, length):
    t, j = torch.arange(length).to(self.pe)[:, None], torch.arange(self.width)
    return (t * 1e-4 ** (j // 2 * 2 / self.width) + j % 2 * math.pi / 2).sin()


def grown(self, length):
    if length > len(self.pe):
        self.pe = table(length, self.width).to(self.pe)
    return self.pe[:length]


def first_device(self, length):
    """Rows that were kept in the first call, on its device."""
    kept = self.__dict__.setdefault("kept", table(600, self.width).to(self.pe))
    return kept[:length].to(self.pe.dtype)


def remembered(self, length):
    """Without a gradient its rows are those of the first call of a length."""
    if torch.is_grad_enabled():
        return self.pe[:length]
    kept = self.__dict__.setdefault("kept", {})
    return kept.setdefault(length, self.pe[:length].clone())


def with_its_graph(self, length):
    return self.__dict__.setdefault("kept", 1 * self.pe)[:length]


def in_factors(self, rows):
    """A product of two, both of which begin at zero."""
    self.left = nn.Parameter(torch.zeros(len(rows), 4))
    self.right = nn.Parameter(torch.zeros(4, rows.shape[1]))


class Reused(Added):
    """Without a gradient its answers share one piece of memory."""

    def forward(self, x):
        y = super().forward(x)
        out = self.__dict__.setdefault("out", y)
        return y if torch.is_grad_enabled() or out.shape != y.shape else out.copy_(y)


def overwritten(x, cos, sin):
    one, two = x.chunk(2, -1)
    c, s = cos.chunk(2, -1)[0], sin.chunk(2, -1)[0]
    one = one * c - two * s
    return torch.cat([one, one * s + two * c], -1)


def elsewhere(x, cos, sin):
    one, two = x[..., ::2], x[..., 1::2]
    c, s = cos.chunk(2, -1)[0], sin.chunk(2, -1)[0]
    return torch.cat([one * c - two * s, one * s + two * c], -1)


def first_half(self, x, angles):
    one, two = x.chunk(2, -1)
    return torch.cat([Rotary.turn(self, one, angles.chunk(2, -1)[0]), two], -1)


def rotating(forward):
    """The class that gives forward(itself, its rotation, queries, keys)."""

    def forward_(self, q, k):
        return forward(self, lambda *both: Rotary.forward(self, *both), q, k)

    return make_class(Rotary, forward=forward_)


def along_heads(self, _, q, k):
    angles = self.angles(torch.arange(q.shape[1]))[:, None]
    return self.turn(q, angles), self.turn(k, angles)


def shifted_keys(self, _, q, k):
    t = torch.arange(q.shape[-2])
    return self.turn(q, self.angles(t)), self.turn(k, self.angles(t + 1))


def in_both_layouts(self, turn, q, k):
    return turn(q, k)[0], neighbours(self, k, self.angles(torch.arange(k.shape[-2])))


def rest_of_queries(_, _turn, q, k):
    turned = Rotary(32)(q[..., :32], k[..., :32])
    return tuple(torch.cat([x, q[..., 32:]], -1) for x in turned)


def scaled_alike(_, turn, q, k):
    """Keys as queries, and not by reciprocal factors."""
    return tuple(y * 1.1 ** torch.arange(q.shape[-2])[:, None] for y in turn(q, k))


def reshaped(_, turn, q, k):
    """Keys [batch, length, heads, dim] take the shape of queries."""
    return turn(q, k.transpose(1, 2).reshape(k.shape))


def side_by_side(_, turn, q, k):
    return turn(*(x.view(*x.shape[:2], -1).view(x.shape) for x in (q, k)))


KEPT = {}


def of_any_base(self, device):
    return KEPT.setdefault(self.width, Rotary.frequencies(self, device))


in_inference = torch.inference_mode()(torch.ones)
MIXES = combining(lambda x, rows: x / x.abs().amax().clamp(min=1) + rows)
FAULTS = {
    # x and the table
    "error axes: along the batch": make_class(Added, forward=by_the_batch),
    "error axes: With x [batch, length, dim] all positions": make_class(
        Added, at=lambda s, length: s.pe[length]),
    "error axes: Nothing is added": spoilt(lambda y: 0 * y),
    "error x: multiplied": combining(lambda x, rows: x * rows),
    "error x: comes back, without x": combining(lambda x, rows: rows + 0 * x),
    "note x: 8 times x": combining(lambda x, rows: 8 * x + rows),
    "warning x: 64 times x": combining(lambda x, rows: 64 * x + rows),
    "error batch: beside two others": MIXES,
    "error batch: With 13 sequences": make_class(Added, forward=often),
    "note training: by up to": make_class(Added, forward=hand_made),
    "error finite: NaN": make_class(
        PARAMETER, rows=lambda _, width: torch.empty(300, width)),
    # positions
    "error prefix: rows are those of positions": picking(lambda t: len(t) - t),
    "error distinct: Positions 99 to 4,095": picking(lambda t: t.clamp(max=99)),
    "error distinct: Positions 0 to 3 get": picking(lambda t: t // 4),
    "error distinct: Position 90 gets the row of position 0": picking(lambda t: t % 90),
    "error positions: 10, ..., 1, 0": asked(lambda ids: ids.sort(-1).values),
    "error positions: in sequence 1": asked(
        lambda ids: ids[:1] if ids.ndim > 1 else ids),
    "error offset: rows are those of positions 4": from_offset(lambda o: min(o, 4)),
    # formula
    "error formula: clipped at 0": spoilt(lambda y: y.clamp(min=0)),
    "error formula: cos(sin t), not cos t": spoilt(
        lambda y: torch.stack([y[:, ::2], y[:, ::2].cos()], 2).flatten(1)),
    "error formula: positions 5 alone": spoilt(put(5, lambda y: y[9])),
    "error formula: columns 5 alone: they are 0": spoilt(put((..., 5), 0)),
    "warning formula: Position 0 gets zeros": spoilt(put(0, 0)),
    "error formula: Columns 3 are the same at every": spoilt(
        lambda y: put((..., 3), 1)(y**3)),
    "error formula: Columns 0 and 32 are": spoilt(
        lambda y: y[:, : y.shape[1] // 2].repeat(1, 2) ** 3),
    "error formula: The sines have the wrong sign": spoilt(
        put((..., slice(None, None, 2)), lambda y: -y[:, ::2])),
    "error formula: rows mix positions": spoilt(lambda y: y.T.reshape(y.shape)),
    "error formula: All columns are sines": of_angles(
        power(2), lambda t, j: power(2)(t, j) - math.pi / 2),
    "error formula: 10000**(-(2j + 0)/d) and 10000**(-(2j + 2)/d)": of_angles(
        power(2), power(2, 2)),
    "error formula: turns by 7.5e+03": of_angles(lambda t, j: t * 1e4 ** (2 * j)),
    "error formula: degrees?": of_angles(lambda t, j: power(2)(t, j) * math.pi / 180),
    "error formula: one frequency": of_angles(lambda t, j: 0.1 * t + 0 * j),
    "error formula: frequencies are rounded to bfloat16": of_angles(
        lambda t, j: t * low(power(2)(1, j))),
    "warning formula: they are rounded to float16": spoilt(lambda y: y.half()),
    "warning formula: 2017): base 500; check": of_angles(
        lambda t, j: t * 500 ** (-2 * j)),
    "warning formula: positions from 1": of_angles(lambda t, j: power(2)(t + 1, j)),
    "warning formula: training changes them": PARAMETER,
    "warning formula: It follows no formula": spoilt(lambda y: y**3),
    "note formula: It is drawn at random": spoilt(torch.rand_like),
    # moved, cast, saved, trained
    "warning half: rows differ": make_class(Added, at=in_its_dtype),
    "warning dtype: x of float32 comes back as float64": make_class(
        Added, forward=lambda s, x: x + s.pe[:x.shape[1]].double()),
    "warning dtype: x of float64 comes back as float32": combining(
        lambda x, rows: (x + rows).float()),
    "warning state_dict: size mismatch": make_class(
        Added, rows=lambda _, width: table(20, width), at=grown),
    "warning state_dict: other weights loaded": make_class(PARAMETER, at=remembered),
    "error gradient: A second backward pass": make_class(PARAMETER, at=with_its_graph),
    "error gradient: As it begins, no gradient reaches pe": make_class(
        PARAMETER, at=lambda s, n: s.pe.data[:n]),
    "error gradient: no gradient reaches left, right": make_class(
        Added, keep=in_factors, at=lambda s, n: s.left[:n] @ s.right),
    "error gradient: No optimiser trains tables": make_class(
        Added, keep=lambda s, rows: setattr(s, "tables", [nn.Parameter(rows)]),
        at=lambda s, length: s.tables[0][:length]),
    "warning gradient: Nothing depends on": built(Added, add_scale),
    "warning gradient: No gradient reaches scale": built(Embedded, add_scale),
    "warning gradient: Rows 7 of the 300": make_class(Embedded, padding=7),
    "warning device: on more than one device": make_class(
        Embedded, forward=lambda s, x: x + s.rows(torch.arange(x.shape[1]))),
    "warning device: stays behind": make_class(Added, at=first_device),
    "warning widths: NaN or infinity at width 2": spoilt(
        lambda y: y * 31 / (y.shape[1] // 2 - 1)),
    "note widths: Width 3 fails by accident": of_angles(power(2)),
    "error writes: into what it returned": Reused,
    # rotary
    "error axes: With x [batch, heads, length, dim] all": rotating(along_heads),
    "error axes: The keys are not rotated": make_class(Rotary, keys=0.0),
    "error x: depend on the queries": rotating(lambda _, turn, q, k: turn(q, k + q)),
    "warning strides: view": rotating(side_by_side),
    "error distinct: 0 to 3 get": make_class(
        Rotary, angles=lambda s, t: Rotary.angles(s, t // 4)),
    "error formula: by more than two": rotating(
        lambda _, turn, q, k: [y @ torch.full((64, 64), 0.1) for y in turn(q, k)]),
    "error formula: after its rotation": turning(overwritten),
    "error formula: The minus sign": turning(
        lambda x, cos, sin: x * cos + x.roll(x.shape[-1] // 2, -1) * sin),
    "error formula: different angles: laid out": turning(
        lambda x, cos, sin: x * cos + in_neighbours(x) * sin),
    "error formula: multiplied by 1.5, and sines are not": turning(
        lambda x, cos, sin: 1.5 * x * cos + in_halves(x) * sin),
    "error formula: sines are rounded to bfloat16": turning(
        lambda x, cos, sin: x * low(cos) + in_halves(x) * low(sin)),
    "error formula: Sines stand where cosines should": placed(
        lambda angles: math.pi / 2 - angles),
    "warning formula: Columns change places": turning(elsewhere),
    "error formula: come back as zeros": make_class(
        Rotary, turn=lambda *given: first_half(*given) * (torch.arange(64) < 32)),
    "warning formula: Only 32 of 64 columns": make_class(Rotary, turn=first_half),
    "error formula: mixed with those of other": rotating(reshaped),
    "error formula: that are not rotated differ": rotating(rest_of_queries),
    "error formula: come back swapped": rotating(lambda _, turn, q, k: turn(k, q)),
    "error formula: the other way": make_class(Rotary, keys=-1.0),
    "error formula: by 1 radians": rotating(shifted_keys),
    "error formula: Pairs of queries are half-split": rotating(in_both_layouts),
    "error formula: not by reciprocal factors": rotating(scaled_alike),
    "error formula: grows unevenly with the position, first at 101": placed(
        lambda angles: angles.clamp(max=100)),
    "error formula: angles are rounded to bfloat16": placed(lambda a: low(a).float()),
    "error formula: all angles times 0.01745 (degrees?)": placed(
        lambda angles: angles * math.pi / 180),
    "warning formula: positions are 1.0005 apart": placed(lambda a: a * 1.0005),
    "error formula: a minus missing in the exponent": make_class(
        Rotary, frequencies=lambda s, device: 1 / Rotary.frequencies(s, device)),
    "warning formula: exponent j/(d/2-1)": make_class(
        Rotary, frequencies=lambda *_: 1e-4 ** torch.linspace(0, 1, 32)),
    "error formula: slow pairs alone": make_class(
        Based, bands=lambda s, plain, slow: Based.bands(s, plain, ~slow)),
    "error formula: multiplied by 8": make_class(
        Based, bands=lambda s, plain, _: plain * s.factor),
    "warning formula: Whatever base is": make_class(Based, frequencies=of_any_base),
    "warning formula: Vectors become 1.459 times as long": make_class(
        Based, turn=lambda *given: Rotary.turn(*given) * 1.20794**2),
    "warning half: it raises": make_class(
        Rotary, turn=lambda s, x, a: Rotary.turn(s, torch.complex(x, x).real, a)),
    "warning half: loses its imaginary part": make_class(
        Added, rows=lambda _, width: 1j * table(600, width),
        at=lambda s, n: (s.pe[:n] * -1j).real),
    "warning dtype: After .to(float64) x of": make_class(
        BufferedRotary,
        turn=lambda s, x, a: Rotary.turn(s, x.to(s.inv_freq.dtype), a).float()),
    "error gradient: Training raises": make_class(
        Rotary, turn=lambda s, x, a: Rotary.turn(s, x * in_inference(1), a)),
}  # fmt: skip


@pytest.mark.parametrize("told", FAULTS)
def test_a_fault_is_found_and_its_cause_named(told):
    report = report_of(FAULTS[told])
    where, words = told.split(": ", 1)
    found = [f.what for f in report.findings if f"{f.level} {f.check}" == where]
    assert any(words in what for what in found), str(report)
    assert where.startswith("error") or report.ok, str(report)


def test_after_no_sum_the_rest_does_not_run():
    layer = combining(lambda x, rows: (x + rows).softmax(-1) * x)
    for report in (report_of(layer), report_of(MIXES, ignore=("batch",))):
        assert not report.ran and "no sum of x" in str(report)


def test_an_undecided_formula_is_no_verdict():
    unlike = spoilt(lambda y: y + torch.inf)
    report = report_of(unlike, ignore=("axes", "finite", "distinct"))
    assert not report.ok and report.undecided == ("formula",)
    assert "no verdict (formula not checked)" in report.verdict


def test_the_same_module_has_the_same_report_and_nothing_is_changed():
    before, dtype = torch.get_rng_state(), torch.get_default_dtype()
    make = FAULTS["error formula: clipped at 0"]
    report = str(report_of(make))
    report_of.cache_clear()
    assert str(report_of(make)) == report
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.get_default_dtype() == dtype
    assert not torch.are_deterministic_algorithms_enabled()
