"""Faults of one module: which check, at which level, and in which words."""

import math

import pytest
import torch
from torch import nn

from tests.check.helpers import assert_found, report_of
from tests.check.modules import (
    PARAMETER,
    Added,
    BufferedRotary,
    Embedded,
    Rotary,
    Stretched,
    asked,
    combining,
    from_offset,
    in_halves,
    in_neighbours,
    kept,
    make_class,
    neighbours,
    of_table,
    picking,
    placed,
    table,
    turning,
)


def spoilt(change):
    """The class whose table is changed in place."""

    def rows(length, width):
        found = table(length, width)
        change(found)
        return found

    return of_table(rows)


def pairs(sine, cosine):
    """The class of these frequencies of pair j, of so many columns."""

    def rows(length, width):
        t, j = torch.arange(length)[:, None], torch.arange(width // 2).double()
        both = (t * sine(j, width)).sin(), (t * cosine(j, width)).cos()
        return torch.stack(both, 2).flatten(1)

    return of_table(rows)


def alike(frequency):
    return pairs(frequency, frequency)


def power(factor, of=0):
    return lambda j, d: 1e-4 ** ((factor * j + of) / d)


def by_the_batch(self, x):
    return x + self.pe[: x.shape[0], None].to(x.dtype)


def overwritten(x, cos, sin):
    one, two = x.chunk(2, -1)
    c, s = cos.chunk(2, -1)[0], sin.chunk(2, -1)[0]
    one = one * c - two * s
    return torch.cat([one, one * s + two * c], -1)


def shifted_keys(self, q, k):
    t = torch.arange(q.shape[-2])
    return self.turn(q, self.angles(t)), self.turn(k, self.angles(t + 1))


def in_its_dtype(self, length):
    t, j = torch.arange(length).to(self.pe)[:, None], torch.arange(self.width)
    return (t * 1e-4 ** (j // 2 * 2 / self.width) + j % 2 * math.pi / 2).sin()


def grown(self, length):
    if length > len(self.pe):
        self.pe = table(length, self.width).to(self.pe)
    return self.pe[:length]


def first_half(self, x, angles):
    angles = angles[..., : angles.shape[-1] // 2]
    one, two = x.chunk(2, -1)
    return torch.cat([Rotary.turn(self, one, angles), two], -1)


def along_heads(self, q, k):
    angles = self.angles(torch.arange(q.shape[1]))[:, None]
    return self.turn(q, angles), self.turn(k, angles)


def side_by_side(self, q, k):
    """The heads of each sequence are put side by side, and back."""
    both = (x.view(*x.shape[:2], -1).view(x.shape) for x in (q, k))
    return Rotary.forward(self, *both)


def rest_of_queries(_, q, k):
    turned = Rotary(32)(q[..., :32], k[..., :32])
    return tuple(torch.cat([x, q[..., 32:]], -1) for x in turned)


class FromOne(nn.Module):
    """Its 512 rows are read from row 1 on."""

    def __init__(self, width, max_len=512):
        super().__init__()
        self.rows = nn.Embedding(max_len, width)

    def forward(self, x):
        return x + self.rows(torch.arange(1, x.shape[1] + 1, device=x.device))


class Based(Rotary):
    """Frequencies of a base that is an argument, as each subclass changes them."""

    factor = 8.0

    def __init__(self, width, base=500_000.0, factor=8.0, original=8192):
        super().__init__(width)
        self.base, self.factor, self.original = base, factor, original

    def bands(self, plain, is_slow):
        return torch.where(is_slow, plain / self.factor, plain)

    def frequencies(self, device):
        plain = super().frequencies(device)
        return self.bands(plain, plain < 8 * math.pi / self.original)


KEPT = {}


def of_any_base(self, device):
    return KEPT.setdefault(self.width, Rotary.frequencies(self, device))


def elsewhere(x, cos, sin):
    one, two = x[..., ::2], x[..., 1::2]
    c, s = cos.chunk(2, -1)[0], sin.chunk(2, -1)[0]
    return torch.cat([one * c - two * s, one * s + two * c], -1)


def reshaped(self, q, k):
    """Keys [batch, length, heads, dim] take the shape of queries."""
    mixed = k.transpose(1, 2).reshape(k.shape)
    return Rotary.forward(self, q, mixed)


class Listed(nn.Module):
    """Trained rows in a list."""

    def __init__(self, width):
        super().__init__()
        self.tables = [nn.Parameter(torch.randn(300, width))]

    def forward(self, x):
        return x + self.tables[0][: x.shape[1]]


class LowRank(nn.Module):
    """A product of two factors, both of which begin at zero."""

    def __init__(self, width):
        super().__init__()
        self.rows = nn.Parameter(torch.zeros(300, 4))
        self.columns = nn.Parameter(torch.zeros(4, width))

    def forward(self, x):
        return x + self.rows[: x.shape[1]] @ self.columns


class Unread(Added):
    """What it trains is read once, when it is built."""

    def __init__(self, width):
        super().__init__(width)
        self.scale = nn.Parameter(torch.ones(1))


class Complex(Rotary):
    """Its hands are a complex buffer, of which a cast keeps the real part."""

    def __init__(self, width):
        super().__init__(width)
        angles = super().angles(torch.arange(2000))
        self.register_buffer("hands", torch.polar(torch.ones_like(angles), angles))

    def turn(self, x, _):
        (one, two), hands = x.chunk(2, -1), self.hands[: x.shape[-2]]
        cos, sin = hands.real.to(x.dtype), (hands * -1j).real.to(x.dtype)
        return torch.cat([one * cos - two * sin, one * sin + two * cos], -1)


def first_device(self, length):
    """Rows that were kept in the first call, on its device."""
    kept = self.__dict__.setdefault("kept", table(600, self.width).to(self.pe))
    return kept[:length].to(self.pe.dtype)


def low(x):
    return x.bfloat16().float()


def refused(self, x):
    if x.shape[1] >= 512:
        raise ValueError("too long")
    return Embedded.forward(self, x)


class Reused(Added):
    """Where nothing is trained its answers share one piece of memory."""

    def forward(self, x):
        y = super().forward(x)
        if (
            torch.is_grad_enabled()
            or self.__dict__.setdefault("out", y).shape != y.shape
        ):
            return y
        return self.out.to(y.dtype).copy_(y)


def at_whole_times(self, x, times=None):
    times = torch.arange(x.shape[1]) if times is None else times
    return x + self.pe[times.floor().long()].to(x.dtype)


def remembered(self, length):
    """Without a gradient its rows are those of the first call of a length."""
    if torch.is_grad_enabled():
        return self.pe[:length]
    kept = self.__dict__.setdefault("kept", {})
    return kept.setdefault(length, self.pe[:length].clone())


def to_the_end(length, width):
    pair = torch.arange((width + 1) // 2) / (width // 2 - 1)
    angle = torch.arange(length)[:, None] * 1e-4**pair
    return torch.cat([angle.sin(), angle.cos()], 1)[:, :width]


in_inference = torch.inference_mode()(torch.ones)
MIXES = combining(lambda x, rows: x / x.abs().amax().clamp(min=1) + rows)
GROWS = make_class(Added, rows=lambda _, width: table(20, width), at=grown)
FAULTS = [
    ("added", "error axes", "along the batch",
     make_class(Added, forward=by_the_batch)),
    ("added", "error axes", "Nothing is added",
     of_table(lambda n, d: torch.zeros(n, d))),
    ("added", "error finite", "NaN",
     of_table(lambda n, d: torch.full((n, d), math.nan))),
    ("added", "error finite", "NaN", make_class(
        PARAMETER, rows=lambda _, width: torch.empty(300, width))),
    ("added", "error x", "multiplied", combining(lambda x, rows: x * rows)),
    ("added", "error x", "comes back, without x",
     combining(lambda x, rows: rows + 0 * x)),
    ("added", "error batch", "beside two others", MIXES),
    ("added", "error batch", "With 13 sequences", make_class(
        Added, forward=lambda s, x: (
            by_the_batch if len(x) > x.shape[1] else Added.forward)(s, x))),
    ("added", "note x", "8 times x", make_class(
        Added, forward=lambda s, x: Added.forward(s, 8 * x))),
    ("rotary", "warning strides", "view", make_class(Rotary, forward=side_by_side)),
    ("added", "error prefix", "rows are those of positions",
     picking(lambda t: len(t) - t)),
    ("added", "error distinct", "Positions 99 to 4,095", picking(
        lambda t: t.clamp(max=99))),
    ("added", "error distinct", "Positions 0 to 3 get", picking(lambda t: t // 4)),
    ("added", "error distinct", "Position 90 gets the row", picking(lambda t: t % 90)),
    ("added", "error positions", "1, 0", asked(lambda ids: ids.sort(-1).values)),
    ("added", "error offset", "rows are those of positions 4",
     from_offset(lambda offset: min(offset, 4))),
    ("added", "warning limit", "gets the row of", from_offset(lambda o: min(o, 599))),
    ("added", "error formula", "clipped at 0", spoilt(lambda y: y.clamp_(min=0))),
    ("added", "error formula", "cos(sin t), not cos t",
     spoilt(lambda y: y[:, 1::2].copy_(y[:, ::2].cos()))),
    ("added", "error formula", "positions 5 alone", spoilt(lambda y: y[5].copy_(y[9]))),
    ("added", "error formula", "Columns 0 and 32", of_table(
        lambda n, d: table(n, d // 2).repeat(1, 2) ** 3)),
    ("added", "error formula", "the wrong sign", spoilt(lambda y: y[:, ::2].neg_())),
    ("added", "error formula", "two frequencies", pairs(power(2), power(2, 2))),
    ("added", "error formula", "turns by 7.5e+03",
     alike(lambda j, d: 1e4 ** (2 * j / d))),
    ("added", "error formula", "degrees?",
     alike(lambda j, d: math.pi / 180 * power(2)(j, d))),
    ("added", "error formula", "one frequency", alike(lambda j, _: 0.1 + 0 * j)),
    ("added", "error formula", "rows mix positions",
     of_table(lambda n, d: table(n, d).T.reshape(n, d))),
    ("added", "error formula", "frequencies are rounded to bfloat16",
     alike(lambda j, d: power(2)(j, d).bfloat16().double())),
    ("added", "warning formula", "they are rounded to float16",
     of_table(lambda n, d: table(n, d).half())),
    ("added", "warning formula", "base 500",
     of_table(lambda n, d: table(n, d, 500.0))),
    ("added", "warning half", "rows differ", make_class(Added, at=in_its_dtype)),
    ("added", "warning dtype", "x of float32 comes back as float64", make_class(
        Added, forward=lambda s, x: x + s.pe[:x.shape[1]].double())),
    ("added", "note training", "by up to", make_class(
        Added,
        forward=lambda s, x: Added.forward(s, x * torch.rand(x.shape) ** s.training))),
    ("added", "warning state_dict", "size mismatch", GROWS),
    ("added", "warning state_dict", "other weights loaded", make_class(
        PARAMETER, at=remembered)),
    ("added", "error gradient", "no gradient reaches pe", make_class(
        PARAMETER, at=lambda s, n: s.pe.data[:n])),
    ("added", "warning x", "64 times x", make_class(
        Added, forward=lambda s, x: Added.forward(s, 64 * x))),
    ("added", "warning limit", "2 short of what was said", make_class(
        FromOne, forward=lambda s, x: x + s.rows(
            torch.arange(2, x.shape[1] + 2, device=x.device)))),
    ("added", "warning limit", "1 short of what was said", make_class(
        FromOne, forward=refused)),
    ("added", "error gradient", "share memory", kept(
        lambda s, rows: setattr(s, "pe", nn.Parameter(rows[:1].expand(300, -1))))),
    ("added", "warning device", "on more than one device", make_class(
        Embedded, forward=lambda s, x: x + s.rows(torch.arange(x.shape[1])))),
    ("added", "warning formula", "training changes them", PARAMETER),
    ("rotary", "error gradient", "Training raises", make_class(
        Rotary, turn=lambda s, x, a: Rotary.turn(s, x * in_inference(1), a))),
    ("rotary", "error x", "depend on the queries", make_class(
        Rotary, forward=lambda s, q, k: Rotary.forward(s, q, k + q / 9))),
    ("rotary", "warning half", "it raises", make_class(
        Rotary, turn=lambda s, x, a: Rotary.turn(s, torch.complex(x, x).real, a))),
    ("rotary", "error formula", "mixed with those of other", make_class(
        Rotary, forward=reshaped)),
    ("rotary", "error formula", "slow pairs alone", make_class(
        Based, bands=lambda s, plain, slow: Based.bands(s, plain, ~slow))),
    ("rotary", "error formula", "multiplied by 8", make_class(
        Based, bands=lambda s, plain, _: plain * s.factor)),
    ("rotary", "warning formula", "Whatever base is", make_class(
        Based, frequencies=of_any_base)),
    ("rotary", "warning formula", "factor twice", make_class(
        Based, turn=lambda s, *given: Rotary.turn(s, *given) * 1.20794**2)),
    ("rotary", "warning formula", "Columns change places", turning(elsewhere)),
    ("rotary", "warning formula", "exponent j/(d/2-1)", make_class(
        Rotary, frequencies=lambda _, device: 1e-4 ** torch.linspace(
            0, 1, 32, device=device))),
    ("rotary", "error formula", "after its rotation", turning(overwritten)),
    ("rotary", "error formula", "different angles: laid out", turning(
        lambda x, cos, sin: x * cos + in_neighbours(x) * sin)),
    ("rotary", "error formula", "angles are rounded to bfloat16",
     make_class(Rotary, angles=lambda s, t: Rotary.angles(s, t).bfloat16().float())),
    ("rotary", "error formula", "by 1 radians", make_class(
        Rotary, forward=shifted_keys)),
    ("rotary", "warning formula", "Only 32 of 64 columns", make_class(
        Rotary, turn=first_half)),
    ("rotary", "error formula", "come back as zeros", make_class(
        Rotary, turn=lambda *given: first_half(*given) * (torch.arange(64) < 32))),
    ("rotary", "error axes", "all positions are alike", make_class(
        Rotary, forward=along_heads)),
    ("rotary", "error formula", "that are not rotated differ", make_class(
        Rotary, forward=rest_of_queries)),
    ("rotary", "error formula", "come back swapped", make_class(
        Rotary, forward=lambda s, q, k: Rotary.forward(s, k, q))),
    ("rotary", "error formula", "the other way", make_class(Rotary, keys=-1.0)),
    ("rotary", "error formula", "degrees?", placed(lambda t: t * math.pi / 180)),
    ("added", "warning limit", "1 short of what was said", FromOne),
    ("added", "warning dtype", "x of float64 comes back as float32", combining(
        lambda x, rows: (x + rows).float())),
    ("added", "warning gradient", "Nothing depends on", Unread),
    ("added", "warning device", "stays behind", make_class(Added, at=first_device)),
    ("rotary", "warning dtype", "comes back as float32", make_class(
        BufferedRotary,
        turn=lambda s, x, a: Rotary.turn(s, x.to(s.inv_freq.dtype), a))),
    ("rotary", "warning half", "loses its imaginary part", Complex),
    ("rotary", "error formula", "Pairs of queries are half-split", make_class(
        Rotary, forward=lambda s, q, k: (
            Rotary.forward(s, q, k)[0],
            neighbours(s, k, s.angles(torch.arange(k.shape[-2])))))),
    ("rotary", "error formula", "a minus is missing in the exponent", make_class(
        Rotary, frequencies=lambda s, device: 1 / Rotary.frequencies(s, device))),
    ("rotary", "error formula", "multiplied by 1.5, and sines are not", turning(
        lambda x, cos, sin: 1.5 * x * cos + in_halves(x) * sin)),
    ("rotary", "error formula", "sines are rounded to bfloat16", turning(
        lambda x, cos, sin: x * low(cos) + in_halves(x) * low(sin))),
    ("rotary", "error formula", "rows mix positions", make_class(
        Rotary, angles=lambda s, t: Rotary.angles(s, t).T.reshape(len(t), -1))),
    ("rotary", "warning formula", "counts 64 columns, and 32", make_class(
        Rotary, turn=first_half)),
    ("rotary", "error distinct", "Positions 0 to 3 get", placed(lambda t: t // 4)),
    ("rotary", "warning formula", "10000 * 8**1.0159", make_class(Stretched, gap=1)),
    ("added", "error gradient", "As it begins", LowRank),
    ("added", "error gradient", "No optimizer trains tables", Listed),
    ("added", "warning widths", "NaN or infinity at width 2", of_table(to_the_end)),
    ("added", "error axes", "all positions are alike", make_class(
        Added, forward=lambda s, x: x + s.pe[x.shape[1]].to(x))),
    ("added", "error writes", "into what it returned", Reused),
    ("added", "error positions", "Where times are 0.5, 1.5, ...", make_class(
        Added, forward=at_whole_times)),
    ("added", "note positions", "of whole ones", asked(lambda t: t.long())),
    ("rotary", "warning formula", "positions are 1.0005 apart", placed(
        lambda t: t * 1.0005)),
    ("rotary", "warning formula", "10000 * 8**-1", make_class(
        Stretched, gap=128)),
    ("added", "error writes", "into the tensor that it is given", make_class(
        Embedded, forward=lambda s, x: x.copy_(Embedded.forward(s, x)))),
]  # fmt: skip


def name_of(fault):
    return "-".join(" ".join(fault[:3]).split())


@pytest.mark.parametrize("fault", FAULTS, ids=name_of)
def test_a_fault_is_found_and_its_cause_named(fault):
    kind, where, words, make = fault
    report = report_of(make, kind)
    assert_found(report, where, words)
    assert where.startswith("error") or report.ok, str(report)


def test_after_no_sum_the_rest_does_not_run():
    layer = combining(lambda x, rows: (x + rows).softmax(-1) * x)
    for report in (report_of(layer), report_of(MIXES, ignore=("batch",))):
        assert report.status == 2 and "no sum of x" in str(report)


def test_an_undecided_formula_is_no_verdict():
    unlike = make_class(
        Added, rows=lambda _, width: torch.full((600, width), torch.inf)
    )
    report = report_of(unlike, ignore=("axes", "finite", "distinct"))
    assert (report.status, report.undecided) == (2, ("formula",))
    assert "no verdict (formula not checked)" in report.verdict


def test_the_same_module_has_the_same_report_and_nothing_is_changed():
    before, dtype = torch.get_rng_state(), torch.get_default_dtype()
    make = spoilt(lambda y: y.clamp_(min=0))
    report = str(report_of(make))
    report_of.cache_clear()
    assert str(report_of(make)) == report
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.get_default_dtype() == dtype
    assert not torch.are_deterministic_algorithms_enabled()
