"""Modules that add an encoding: sound ones in many shapes, and each kind of fault."""

import functools
import math

import pytest
import torch
from torch import nn
from torch.nn import functional

from pe_lib.nn import LearnedPositionalEmbedding, SinusoidalPositionalEncoding
from tests.check.helpers import assert_found, assert_sound, each_of, found, report_of
from tests.check.modules import (
    Added,
    Embedded,
    combining,
    ignoring,
    kept,
    make_class,
    of_table,
    picking,
    table,
    waves,
)


class Learned(nn.Module):
    """Rows that are trained, and begin at zero."""

    def __init__(self, width, rows=300):
        super().__init__()
        self.rows = nn.Parameter(torch.zeros(rows, width))

    def forward(self, x):
        return x + self.rows[: x.shape[1]]


class OneLength(Learned):
    def forward(self, x):
        return x + self.rows


class AfterAToken(Learned):
    def forward(self, x):
        token = torch.zeros_like(x[:, :1])
        return torch.cat([token, x], 1) + self.rows


class WithOffset(Added):
    def forward(self, x, offset=0):
        return x + self.pe[offset : offset + x.shape[1]].to(x.dtype)


class WithPositions(Added):
    def forward(self, x, position_ids=None):
        if position_ids is None:
            position_ids = torch.arange(x.shape[1], device=x.device)
        return x + self.pe[position_ids].to(x.dtype)


class Grid(Added):
    """x [batch, rows, columns, dim]."""

    def forward(self, x):
        half, (rows, columns) = self.pe[:, ::2].to(x.dtype), x.shape[1:3]
        down = half[:rows, None].expand(-1, columns, -1)
        return x + torch.cat([down, half[None, :columns].expand_as(down)], -1)


class Computed(Added):
    """In float32, in each call."""

    def at(self, length):
        return table(length, self.width).to(self.pe.device)


SOUND = {
    "added": Added,
    "scaled": combining(lambda x, rows: 8 * x + rows),
    "sequence first": make_class(
        Added, forward=lambda s, x: x + s.pe[: len(x), None].to(x)
    ),
    "channels first": make_class(
        Added, forward=lambda s, x: x + s.pe[: x.shape[2]].T.to(x)
    ),
    "base 500": of_table(lambda n, d: table(n, d, 500.0)),
    "random": of_table(lambda n, d: torch.randn(n, d)),
    "learned": Learned,
    "embedded": Embedded,
    "offset": WithOffset,
    "positions": WithPositions,
    "dropped": make_class(
        Added,
        forward=lambda s, x: functional.dropout(Added.forward(s, x), 0.1, s.training),
    ),
    "computed": Computed,
    "ours": SinusoidalPositionalEncoding,
    "ours, learned": lambda d: LearnedPositionalEmbedding(d, max_length=300),
}


@pytest.mark.parametrize("name", SOUND)
def test_sound_ones_have_no_error_and_few_lines(name):
    assert_sound(report_of(SOUND[name]))


@pytest.mark.parametrize("make", [OneLength, AfterAToken])
def test_one_length_is_found_in_the_tensors(make):
    report = report_of(make)
    assert_sound(report)
    assert "only" in report.called


def test_a_grid_is_told_by_its_axes():
    report = report_of(Grid, axes="batch rows columns dim")
    assert_sound(report)
    assert any("Not checked" in f.what for f in report.notes)


def test_what_it_took_is_said():
    assert "[length, batch, dim]" in report_of(SOUND["sequence first"]).called
    assert "offset" in report_of(WithOffset).called


def test_what_is_trained_is_told_as_trained():
    begins = kept(lambda s, rows: setattr(s, "pe", nn.Parameter(rows)))
    told = report_of(begins).recognised
    assert told.formula == "trained" and "Vaswani" in told.words
    assert_sound(report_of(begins))
    assert_found(report_of(begins), "formula", "but it is trained")
    assert report_of(Learned).recognised.formula == "trained"


class Counts(Added):
    """On from call to call, from a table with a fault as well."""

    at_ = 0

    def rows(self, width):
        return table(20_000, width, 1e8)

    def at(self, length):
        self.at_ += length
        return self.pe[self.at_ - length : self.at_]


class KeyWithoutOffset(Added):
    def __init__(self, width):
        super().__init__(width)
        self.kept = {}

    def forward(self, x, start_pos=0):
        n = x.shape[1]
        rows = self.kept.setdefault(n, self.pe[start_pos : start_pos + n])
        return x + rows.to(x)


class ForTheFirstSequence(WithPositions):
    def forward(self, x, position_ids=None):
        if position_ids is not None and position_ids.ndim == 2:
            position_ids = position_ids[0]
        return super().forward(x, position_ids)


class KeepsItsGraph(Learned):
    kept = None

    def forward(self, x):
        if self.kept is None:
            self.kept = torch.tanh(self.rows + 0.1)
        return x + self.kept[: x.shape[1]]


class Longest(Added):
    longest = 0

    def at(self, length):
        self.longest = max(length, self.longest)
        return self.pe[self.longest - length : self.longest]


def freeze_zeros(self, rows):
    self.pe = nn.Parameter(0 * rows, requires_grad=False)
    self.trained = nn.Parameter(torch.zeros(1))  # is filled, unlike the frozen one


def swapped(n, d):
    return table(n, d).unflatten(1, (-1, 2)).flip(2).flatten(1)


def with_row(n, d):
    rows = table(n, d)
    rows[5] = rows[9]
    return rows


def with_column(n, d):
    rows = table(n, d)
    rows[:, 5] = rows[:, 4]
    return rows


def off_at_the_end(n, d):
    return table(n, d) * (1 - 0.1 * (torch.arange(n)[:, None] > 550))


def divided(n, d):
    return table(n, d) / torch.arange(n)[:, None].clamp(max=1)


def divided_in_float32(n, d):
    divisors = torch.exp(torch.arange(0, d, 2) * -(math.log(1e4) / d))
    angles = torch.arange(n)[:, None] / divisors
    return torch.stack([angles.sin(), angles.cos()], 2).flatten(1)


def half_empty(n, d):
    return torch.randn(n, d) * (torch.arange(d) < d // 2)


def in_one(x, rows):
    return torch.cat([x, rows.expand_as(x)], -1)


def spread_over(t):
    return torch.linspace(0, 99, len(t), device=t.device).long()


def by_batch(self, x):
    return x + self.pe[len(x) : len(x) + x.shape[1]]


def in_data(self, x):
    return x + self.rows.weight.data[: x.shape[1]]


def not_in_training(self, x):
    return x if self.training else Added.forward(self, x)


def strong_dropout(self, x):
    return functional.dropout(Added.forward(self, x), 0.9, self.training)


def on_grid(used):
    """The class of which a grid counts rows (0) or columns (1) twice."""

    def forward(self, x):
        at = torch.meshgrid(*(torch.arange(n) for n in x.shape[1:3]), indexing="ij")
        half = self.pe[:, ::2].to(x)
        return x + torch.cat([half[at[used]], half[at[used]]], -1)

    return make_class(Added, forward=forward)


@pytest.mark.parametrize(("used", "unused"), [(0, "column"), (1, "row")])
def test_an_axis_of_a_grid_that_is_not_used_is_named(used, unused):
    report = report_of(on_grid(used), axes="batch rows columns dim")
    assert_found(report, "distinct", f"The {unused} makes no difference")


OTHERWISE = [
    ("base 1000 instead", lambda n, d: table(n, d, 1000.0)),
    ("positions from 1", lambda n, d: table(n + 1, d)[1:]),
    ("j/(d/2-1) instead", waves(lambda j, d: 1e4 ** (-j / (d // 2 - 1)))),
    ("pairs counted from 1", waves(lambda j, d: 1e4 ** (-2 * (j + 1) / d))),
    ("divided by 512", waves(lambda j, d: 1e4 ** (-2 * j / d) / 512)),
    ("multiplied by 1000", waves(lambda j, d: 1e4 ** (-2 * j / d) * 1000)),
    ("all times 2", lambda n, d: 2 * table(n, d)),
    ("base 2", lambda n, d: table(n, d, math.exp(math.log2(1e4)))),
    ("evenly spaced", waves(lambda j, d: 1 - 2 * j / d)),
    ("follow no formula", waves(lambda j, _: 1 / (1 + j**2))),
]


@pytest.mark.parametrize(("words", "rows"), OTHERWISE)
def test_another_formula_is_a_warning_and_no_error(words, rows):
    report = report_of(of_table(rows))
    assert_sound(report)
    assert_found(report, "formula", words)


class WithBase(Added):
    def __init__(self, width, base=1000.0, start=1):
        self.base, self.start = base, start
        super().__init__(width)

    def rows(self, width):
        return table(600, width, self.base)[self.start :]


def test_what_the_caller_said_is_no_warning():
    assert_found(
        report_of(WithBase), "formula", "base 1000 instead of 10000, positions"
    )
    said = functools.partial(WithBase, base=500, start=1)
    assert report_of(said).recognised.base == 500
    assert "formula" not in found(report_of(said))


FAULTS = [
    ("axes", "Every position", picking(lambda t: len(t) + 0 * t)),
    ("axes", "all 0", kept(freeze_zeros)),
    ("shape", "side by side", combining(in_one)),
    ("x", "encoding alone is returned", combining(lambda x, rows: rows.expand_as(x))),
    ("x", "multiplied", combining(lambda x, rows: x * rows)),
    ("x", "no sum", combining(lambda x, rows: torch.tanh(x + rows))),
    ("finite", "first at position 0", of_table(divided)),
    ("formula", "2j counted twice", of_table(lambda n, d: table(n, d, 1e8))),
    ("formula", "base 10", of_table(lambda n, d: table(n, d, math.e**4))),
    ("formula", "swapped", of_table(swapped)),
    ("formula", "divided where they should", of_table(divided_in_float32)),
    ("formula", "no formula", of_table(lambda n, d: torch.randn(n, d))),
    ("spoilt", "Positions 5 ", of_table(with_row)),
    ("spoilt", "Columns 5 ", of_table(with_column)),
    ("spoilt", "16 bits", of_table(lambda n, d: table(n, d).bfloat16())),
    ("spoilt", "16 bits", of_table(lambda n, d: table(n, d).half())),
    ("columns", "are 0", of_table(half_empty)),
    ("columns", "the same", of_table(lambda n, d: torch.randn(n, d // 2).repeat(1, 2))),
    ("distinct", "Position 1 ", picking(lambda t: t // 5)),
    ("distinct", "all that follow", picking(lambda t: t.clamp(max=400))),
    ("distinct", "Position 99 ", picking(lambda t: t % 99)),
    ("prefix", "from the end", picking(lambda t: t.flip(0))),
    ("prefix", "depend on the length", picking(spread_over)),
    ("order", "given the batch first", SOUND["sequence first"]),
    ("distinct", "Position 600 ", picking(lambda t: t - 1)),
    ("batch", "In a batch of 2", make_class(Added, forward=by_batch)),
    ("random", "evaluation", combining(lambda x, rows: functional.dropout(x + rows))),
    ("state", "counts on", Counts),
    ("state", "longer input", Longest),
    ("offset", "a cache", KeyWithoutOffset),
    ("offset", "with 1 positions", ignoring(WithOffset)),
    ("positions", "is not followed", ignoring(WithPositions)),
    ("positions", "those of the first", ForTheFirstSequence),
    ("writes", "writes into", combining(lambda x, rows: x.add_(rows))),
    ("gradient", "does not reach x", combining(lambda x, rows: x.detach() + rows)),
    ("gradient", "No gradient", make_class(Embedded, forward=in_data)),
    ("gradient", "second backward", KeepsItsGraph),
    ("gradient", "padding_idx", lambda d: Embedded(d, padding_idx=0)),
    ("training", "the encodings differ", make_class(Added, forward=not_in_training)),
    ("training", "Dropout sets", make_class(Added, forward=strong_dropout)),
    ("spoilt", "Positions 551", of_table(off_at_the_end)),
    (
        "widths",
        "by accident",
        of_table(lambda n, d: table(n, d).view(n, -1, 2).flatten(1)),
    ),
    ("widths", "NaN", of_table(lambda n, d: table(n, d) / (d != 2))),
]


@each_of(FAULTS)
def test_a_fault_is_found_and_its_cause_named(where, words, make):
    assert_found(report_of(make), where, words)


def test_a_wrong_formula_is_an_error_that_names_it():
    def rows(n, d):
        t, i = torch.arange(n).double()[:, None], torch.arange(d)
        angle = t / 10_000 ** (2 * i / d)
        return torch.where(i % 2 == 0, angle.sin(), angle.cos())

    report = report_of(of_table(rows))
    assert [f.check for f in report.errors] == ["formula"]
    assert report.recognised.formula == "exponent_2i_of_column"


def test_of_a_counter_the_other_checks_go_on():
    assert {"state", "formula"} <= found(report_of(Counts))


def test_of_what_is_random_nothing_else_is_said():
    random = make_class(Added, at=lambda s, n: torch.randn(n, s.width))
    assert [f.check for f in report_of(random).findings] == ["random"]


def test_an_axis_that_is_said_is_held_against_it():
    report = report_of(SOUND["sequence first"], axes="batch length dim")
    assert_found(report, "axes", "counts along the batch")


def test_a_neighbouring_column_is_no_doubled_one_where_it_is_only_slow():
    assert report_of(of_table(lambda n, d: table(n, d, 1e6)), width=512).ok
