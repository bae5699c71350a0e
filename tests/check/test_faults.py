"""Faults: which check finds them, at which level, and with which numbers."""

import functools
import math

import pytest
import torch
from torch import nn

from pe_lib.check import names_of_checks
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
    in_halves,
    make_class,
    neighbours,
    placed,
    report_of,
    sharing,
    spoilt,
    table,
)


def combining(combine):
    """The class that returns combine(x, encodings)."""
    return make_class(
        Added, forward=lambda s, x: combine(x, s.at(x.shape[1]).to(x.dtype))
    )


def of_angles(sine, cosine=None):
    """The class of the sines and cosines of these angles, of position and j / d."""

    def rows(_, width):
        t, j = torch.arange(600)[:, None], torch.arange(width // 2).double() / width
        both = sine(t, j).sin(), (cosine or sine)(t, j).cos()
        return torch.stack(both, 2).flatten(1).float()

    return make_class(Added, rows=rows)


def picking(index):
    """The class that gives positions t the rows index(t) of the table."""
    return make_class(Added, at=lambda s, n: s.pe[index(torch.arange(n))])


def put(where, value):
    """What writes this value into a part of the table."""

    def change(rows):
        rows[where] = value(rows) if callable(value) else value
        return rows

    return change


def power(factor, of=0):
    return lambda t, j: t * 1e-4 ** (factor * j + of / 64)


def by_the_batch(self, x):
    return x + self.pe[: x.shape[0], None].to(x.dtype)


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


def add_length(module):
    module.max_len, module.reserved = 600, 2


def past_the_reserved(self, length):
    if length > self.max_len:
        raise ValueError
    return self.pe[torch.arange(length, device=self.pe.device) + self.reserved]


def add_turns(module):
    angles = module.angles(torch.arange(5000))
    module.register_buffer("turns", torch.polar(torch.ones_like(angles), angles))


def in_complex(self, x, angles):
    z = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)))
    return torch.view_as_real(z * self.turns[: len(angles)]).flatten(-2).to(x.dtype)


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


def overwritten(_, x, angles):
    one, two = x.chunk(2, -1)
    one = one * angles.cos() - two * angles.sin()
    return torch.cat([one, one * angles.sin() + two * angles.cos()], -1)


def scaled(_, x, angles):
    """Of the cosines alone."""
    angles = torch.cat([angles, angles], -1)
    return 1.5 * x * angles.cos() + in_halves(x) * angles.sin()


def first_half(self, x, angles):
    one, two = x.chunk(2, -1)
    return torch.cat([Rotary.turn(self, one, angles.chunk(2, -1)[0]), two], -1)


def turning(which):
    """The class in which other pairs than which(j) stay."""
    return placed(lambda angles: angles * which(torch.arange(angles.shape[-1])))


def rotating(forward):
    """The class that gives forward(itself, its rotation, queries, keys)."""

    def forward_(self, q, k):
        return forward(self, lambda *both: Rotary.forward(self, *both), q, k)

    return make_class(Rotary, forward=forward_)


def rest_of_queries(_, _turn, q, k):
    turned = Rotary(32)(q[..., :32], k[..., :32])
    return tuple(torch.cat([x, q[..., 32:]], -1) for x in turned)


in_inference = torch.inference_mode()(torch.ones)
LATE = make_class(Added, forward=lambda s, x, position_ids=None: x + s.pe[
    torch.arange(1, x.shape[1] + 1) if position_ids is None else position_ids
].to(x))  # fmt: skip
SQUEEZED = combining(lambda x, rows: (x + rows).squeeze(0))
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
    "error axes: It counts along the heads": rotating(lambda _, turn, *both: [
        y.transpose(1, 2) for y in turn(*(x.transpose(1, 2) for x in both))]),
    "error batch: two others, not alone: 100 % of the": MIXES,
    "error batch: it returned [11, 64], not [1, 11, 64]": SQUEEZED,
    "error batch: With 13 sequences": make_class(Added, forward=lambda s, x: (
        by_the_batch if len(x) > x.shape[1] else Added.forward)(s, x)),
    "note training: differ, by up to": make_class(
        Added, forward=lambda s, x: Added.forward(s, x * torch.rand(x.shape)
        ** s.training)),
    # positions
    "error prefix: 301, beside one of 600: from row 256 on the rows": make_class(
        Added, at=lambda s, n: s.pe[:n] * (torch.arange(n) < max(128, n // 128 * 128))[
            :, None]),
    "error prefix: rows are those of positions 598": picking(lambda t: len(t) - t),
    "error distinct: Position 100 gets the row of position 99": picking(
        lambda t: t.clamp(max=99)),
    "warning distinct: Position 500 gets the row of position 0": picking(
        lambda t: t % 500),
    "error positions: 10, ..., 1, 0: the rows": asked(lambda ids: ids.sort().values),
    "error positions: 1, 2, ..., 10: the rows are those of positions 0, 1, 2, 3": LATE,
    "error positions: positions 0, 1, 2, 3, ... in sequence 1": asked(
        lambda ids: ids[:1] if ids.ndim > 1 else ids),
    "error offset: A single token, unlike more, from offset 1": make_class(
        Added, forward=lambda s, x, offset=0: x + s.pe[offset * (x.shape[1] > 1):][
            :x.shape[1]].to(x)),
    "error axes: one row, also of 7 positions: [0. 1. 0.]": make_class(
        Added, at=lambda s, _: s.pe[:1]),
    "error offset: rows are those of positions 4": from_offset(lambda o: min(o, 4)),
    "error limit: Of 601 positions: ValueError: it returned [1, 600": make_class(
        Added, forward=lambda s, x: Added.forward(s, x[:, :600])),
    "error limit: Of 5,001 positions: ValueError: it returned": make_class(
        Added, rows=lambda _, width: table(5000, width),
        forward=lambda s, x: Added.forward(s, x[:, :5000])),
    "error limit: Of 1 from offset 600: ValueError: it returned": make_class(
        Added, forward=lambda s, x, offset=0: x + s.pe[offset:][:x.shape[1]].to(x)),
    "warning limit: from offset 599: it gets the row of position 599": make_class(
        Added, forward=lambda s, x, offset=0: x + s.pe[offset:][:x.shape[1]].to(x)
        if offset < 600 else 1 / 0),
    "warning limit: max_len is 600, and of 591 positions": built(
        Added, add_length, rows=lambda _, width: table(590, width)),
    "warning limit: max_len is 600, and of 599 positions it raises Ind": built(
        Added, add_length, at=past_the_reserved),
    "warning limit: max_len is 600, and of 599 positions it raises IndexE": built(
        Added, lambda s: vars(s).update(max_len=600, shift=2),
        at=lambda s, n: s.pe[torch.arange(n, device=s.pe.device) + s.shift]),
    "error generators: forward seeds torch: whatever": make_class(
        Added, at=lambda s, n: s.pe[:n] + 0 * (torch.manual_seed(0) is None)),
    # formula
    "error formula: 29 % of the numbers differ, by up to 1, first at": spoilt(
        lambda y: y.clamp(min=0)),
    "error formula: column 1: 0.666, not 0.54": spoilt(
        lambda y: torch.stack([y[:, ::2], y[:, ::2].cos()], 2).flatten(1)),
    "error formula: in positions 5 alone,": spoilt(put(5, lambda y: y[9])),
    "error formula: 5 alone, by up to 1, first at position 0, column 5: 0, not 1.":
    spoilt(put((..., 5), 0)),
    "warning formula: in positions 0 alone": spoilt(put(0, 0)),
    "warning formula: in positions 300 alone": spoilt(put(300, 0)),
    "error formula: other places: position 0 has in column 32 that": make_class(
        Added, rows=lambda _, d: table(2048, d).unflatten(1, (-1, 2)).permute(
            2, 0, 1).reshape(2048, d)),
    "error formula: Columns 3 are the same at every": spoilt(
        lambda y: put((..., 3), 1)(y**3)),
    "error formula: Columns 0 and 32 are": spoilt(
        lambda y: y[:, : y.shape[1] // 2].repeat(1, 2) ** 3),
    "warning formula: sines with the other sign": spoilt(
        put((..., slice(None, None, 2)), lambda y: -y[:, ::2])),
    "warning formula: cosines with the other sign": spoilt(
        put((..., slice(1, None, 2)), lambda y: -y[:, 1::2])),
    "error formula: All columns are sines": of_angles(
        power(2), lambda t, j: power(2)(t, j) - math.pi / 2),
    "error formula: of pair 1 turn by 0.75 and 0.562 radians": of_angles(
        power(2), power(2, 2)),
    "error formula: turns by 7.5e+03": of_angles(lambda t, j: t * 1e4 ** (2 * j)),
    "error formula: All pairs turn by 0.1": of_angles(lambda t, j: 0.1 * t + 0 * j),
    "warning formula: 2017): all angles times 0.0174533.": of_angles(
        lambda t, j: power(2)(t, j) * math.pi / 180),
    "warning formula: differ, by up to 0.00024": spoilt(lambda y: y.half()),
    "warning formula: 2017): base 500.": of_angles(lambda t, j: t * 500 ** (-2 * j)),
    "warning formula: positions from 1": of_angles(lambda t, j: power(2)(t + 1, j)),
    "warning formula: training changes them": PARAMETER,
    "warning formula: It follows no formula": spoilt(lambda y: y**3),
    "note formula: It is drawn at random": spoilt(torch.rand_like),
    # moved, cast, saved, trained
    "warning half: numbers differ": make_class(Added, at=in_its_dtype),
    "warning dtype: x of float32 comes back as float64": make_class(
        Added, forward=lambda s, x: x + s.pe[:x.shape[1]].double()),
    "warning dtype: x of float64 comes back as float32": combining(
        lambda x, rows: (x + rows).float()),
    "warning dtype: x of bfloat16, of 4,096 positions, comes back as f": make_class(
        Added, forward=lambda s, x: x + (
            s.pe if x.shape[1] < 601 else table(x.shape[1]))[:x.shape[1]]),
    "warning state_dict: size mismatch": make_class(
        Added, rows=lambda _, width: table(20, width), at=grown),
    "warning state_dict: loaded: the rows are as in the call before": make_class(
        PARAMETER, at=remembered),
    "error gradient: A second backward pass": make_class(
        PARAMETER, at=lambda s, n: s.__dict__.setdefault("kept", 1 * s.pe)[:n]),
    "error state_dict: trains it, and no new module": make_class(
        Added, at=lambda s, n: s._parameters.setdefault(
            "late", nn.Parameter(s.pe))[:n]),
    "error state_dict: that was there before trains it.": make_class(
        PARAMETER, at=lambda s, n: setattr(s, "pe", nn.Parameter(s.pe)) or s.pe[:n]),
    "warning gradient: Nothing trains rows.weight, and its numbers are drawn": built(
        Embedded, lambda s: s.requires_grad_(False)),
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
    "error widths: another module, of base 1.5e+06: ": sharing(lambda s: s.width),
    "error widths: another module, of width 2 it raises": sharing(lambda s: s.base),
    "warning widths: With base 1.5e+06 it answers as without": make_class(
        Based, frequencies=lambda s, on: Rotary(s.width).frequencies(on)),
    "warning widths: Width 3 fails by accident": of_angles(power(2)),
    "note widths: Width 3 fails by accident": spoilt(
        lambda y: y.unflatten(1, (-1, 2)).flatten(1)),
    "warning widths: at width 32: Not the formula of Su et al. (2021): b": make_class(
        Rotary, frequencies=lambda s, on: Rotary(64).angles(torch.ones(1, device=on))[
            0, :s.width // 2]),
    "error writes: into what it returned": Reused,
    "error writes: into what it is given: position_ids": asked(
        lambda ids: ids.add_(1)),
    # rotary
    "error axes: The keys are not rotated": make_class(Rotary, keys=0.0),
    "error x: The keys depend on": rotating(lambda _, turn, q, k: turn(q, k + q)),
    "error x: The queries depend on": rotating(lambda _, turn, q, k: turn(k, q)),
    "warning strides: view": rotating(lambda _, turn, *both: turn(
        *(x.view(*x.shape[:2], -1).view(x.shape) for x in both))),
    "error formula: Column 0 is mixed with 63 others": rotating(
        lambda _, turn, q, k: [y @ torch.full((64, 64), 0.1) for y in turn(q, k)]),
    "error formula: become 0.54 x0 -0.841 x32 and 0.455 x0 -0.168 x32": make_class(
        Rotary, turn=overwritten),
    "error formula: norms; what scales queries": make_class(Rotary, turn=scaled),
    "error formula: by up to 0.5, first at 1. A rotation keeps norms.": make_class(
        Rotary, forward=lambda s, x: scaled(s, x, s.angles(torch.arange(x.shape[-2])))),
    "warning formula: a quarter turn at position 0": placed(
        lambda angles: math.pi / 2 - angles),
    "warning formula: column 1 is of queries 2": make_class(
        Rotary, turn=lambda *x: neighbours(*x).unflatten(-1, (-1, 2)).mT.flatten(-2)),
    "error formula: 32 of the queries is not rotated, and comes back 0": make_class(
        Rotary, turn=lambda *given: first_half(*given) * (torch.arange(64) < 32)),
    "warning formula: Only 32 of 64 columns": make_class(Rotary, turn=first_half),
    "warning formula: the first 16 of the 32 frequencies of base 10,000": make_class(
        Rotary, turn=first_half),
    "warning formula: Only 8 of 64 columns turn": turning(lambda j: j < 4),
    "warning formula: columns turn, not 1, 3, 5, 7 and 28 more": turning(
        lambda j: j % 2 == 0),
    "error formula: mixed with those of other": rotating(
        lambda _, turn, q, k: turn(q, k.transpose(1, 2).reshape(k.shape))),
    "error formula: 32 of the keys is not rotated, and": rotating(rest_of_queries),
    "error formula: pair 0 turns by 1 and -1 radians": make_class(Rotary, keys=-1.0),
    "error formula: Only in the keys columns 0 and 1": rotating(
        lambda s, turn, q, k: (
            turn(q, k)[0], neighbours(s, k, s.angles(torch.arange(k.shape[-2]))))),
    "error formula: unevenly with the position, by up to 0.96, first at 101": placed(
        lambda angles: angles.clamp(max=100)),
    "warning formula: all angles times 1.0005": placed(lambda a: a * 1.0005),
    "warning formula: exponent j/(d/2-1)": make_class(
        Rotary, frequencies=lambda *_: 1e-4 ** torch.linspace(0, 1, 32)),
    "warning formula: Pairs 0 and 1 turn alike, by 1 radians": make_class(
        Rotary, frequencies=lambda s, device: Rotary.frequencies(s, device)[
            torch.arange(s.width // 2) // 2]),
    "error formula: 500000 by 0.125 pair 15 turns 8 times as fast, by": make_class(
        Based, bands=lambda s, plain, slow: Based.bands(s, plain, ~slow)),
    "warning formula: Vectors become 1.459 times as long": make_class(
        Based, turn=lambda *given: Rotary.turn(*given) * 1.20794**2),
    "warning half: which loses the imaginary part of turns: ": built(
        Rotary, add_turns, turn=in_complex),
    "warning half: it raises": make_class(
        Rotary, turn=lambda s, x, a: Rotary.turn(s, torch.complex(x, x).real, a)),
    "warning dtype: x of float64 comes back as float32. rotated.to": make_class(
        BufferedRotary,
        turn=lambda s, x, a: Rotary.turn(s, x.to(s.inv_freq.dtype), a).float()),
    "error gradient: Training raises": make_class(
        Rotary, turn=lambda s, x, a: Rotary.turn(s, x * in_inference(1), a)),
}  # fmt: skip


SOUND = {"added": Added, "rotary": BufferedRotary}


def over(forward):
    """What makes of a class the one with forward(self, its own forward, *inputs)."""

    def spoil(base):
        @functools.wraps(base.forward)
        def spoilt(self, *inputs):
            return forward(self, functools.partial(base.forward, self), *inputs)

        return make_class(base, forward=spoilt)

    return spoil


def each(change):
    """The same, changing each tensor that comes back."""

    def forward(self, base, *inputs):
        out = base(*inputs)
        if isinstance(out, tuple):
            return tuple(change(self, y) for y in out)
        return change(self, out)

    return over(forward)


def counted(self, y):
    self.__dict__["n"] = self.__dict__.get("n", 0) + 1
    return y * (1 + 0.1 * (self.n > 1))


def written(_, base, *inputs):
    out = base(*inputs)
    for x in inputs:
        x.add_(1)
    return out


def kept_aside(self, keep=setattr):
    """Its buffers as `keep` keeps them."""
    for name, buffer in [*self.named_buffers()]:
        delattr(self, name)
        keep(self, name, buffer)


def not_saved(self):
    kept_aside(self, functools.partial(type(self).register_buffer, persistent=False))


def drawn(base):
    """All of it is times a number that is drawn once."""
    draw = built(base, lambda s: s.__dict__.update(by=1 + 0.1 * torch.rand(())))
    return each(lambda self, y: y * self.by)(draw)


def hollow(_, y):
    at_three = torch.arange(y.shape[-2], device=y.device) == 3
    return y.masked_fill(at_three[:, None], torch.nan)


FAULTS_OF_ALL = {  # where, and what fires beside it: x grows with what is added to it
    "error random": each(lambda _, y: y * (1 + torch.rand(y.shape))),
    "error state": each(counted),
    "error writes": over(written),
    "error gradient": each(lambda _, y: y.detach()),
    "error training": each(lambda self, y: y * (1 + 0.1 * self.training)),
    "error prefix, warning x": each(lambda _, y: y * (1 + y.shape[-2] / 99)),
    "error batch, warning x": each(lambda _, y: y * (1 + len(y) / 9)),
    "warning device": lambda base: built(base, kept_aside),
    "note meta": lambda base: built(base, not_saved),
    "warning state_dict, warning x, warning formula": drawn,
    "error finite": each(hollow),
}


@pytest.mark.parametrize("told", FAULTS_OF_ALL)
def test_what_fires_is_what_is_registered(told):
    where, *beside = told.split(", ")
    seen = set()
    for sound in SOUND.values():
        report = report_of(FAULTS_OF_ALL[told](sound))
        assert where in {f"{f.level} {f.check}" for f in report.findings}, str(report)
        more = fired(report) - fired(report_of(sound)) - {where}
        assert more <= {*beside}, str(report)
        seen |= more
    assert seen == {*beside}


def test_every_check_has_a_fault():
    told = {word.split()[1].rstrip(":,") for word in (*FAULTS, *FAULTS_OF_ALL)}
    assert {*names_of_checks()} == told


@pytest.mark.parametrize("told", FAULTS)
def test_a_fault_is_found_and_its_cause_named(told):
    report = report_of(FAULTS[told])
    where, words = told.split(": ", 1)
    found = [f for f in report.findings if f"{f.level} {f.check}" == where]
    assert any(words in f"{f.what} {f.fix}" for f in found), str(report)
    assert where.startswith("error") or report.ok, str(report)


def test_after_no_sum_the_rest_does_not_run():
    layer = combining(lambda x, rows: (x + rows).softmax(-1) * x)
    for report in (report_of(layer), report_of(MIXES, ignore=("batch",))):
        assert not report.ran and "no sum of x" in str(report)


def test_what_follows_from_a_cause_is_not_told():
    late = FAULTS["error state_dict: trains it, and no new module"]
    heads = FAULTS["error axes: It counts along the heads"]
    causes = {SQUEEZED: "batch", late: "state_dict", heads: "axes", LATE: "positions"}
    causes[FAULTS["warning formula: column 1 is of queries 2"]] = "formula"
    for make, cause in causes.items():
        report = report_of(make)
        assert [f.check for f in (*report.errors, *report.warnings)] == [cause]
        assert make in (late, LATE) or "at most" not in report.called
    in_place = report_of(combining(lambda x, rows: x.add_(rows)))
    assert in_place.findings[0].check == in_place.errors[0].check == "writes"


def test_an_undecided_formula_is_no_verdict():
    unlike = spoilt(lambda y: y + torch.inf)
    report = report_of(unlike, ignore=("axes", "finite", "distinct"))
    assert not report.ok and report.undecided == ("formula",)
    assert "no verdict (formula not checked)" in report.verdict


def test_the_same_module_has_the_same_report_and_nothing_is_changed():
    before, dtype = torch.get_rng_state(), torch.get_default_dtype()
    make = FAULTS["warning formula: It follows no formula"]
    report = str(report_of(make))
    report_of.cache_clear()
    assert str(report_of(make)) == report
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.get_default_dtype() == dtype
    assert not torch.are_deterministic_algorithms_enabled()
