"""Modules that add an encoding: sound ones in many shapes, and each kind of fault."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional

from pe_lib.nn import LearnedPositionalEmbedding, SinusoidalPositionalEncoding
from tests.check.helpers import assert_found, assert_sound, found, make_class, report_of
from tests.check.modules import Added, of_table, table


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


class Embedded(nn.Module):
    def __init__(self, width, **options):
        super().__init__()
        self.rows = nn.Embedding(300, width, **options)

    def forward(self, x):
        return x + self.rows(torch.arange(x.shape[1], device=x.device))


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


class Dropped(Added):
    def forward(self, x):
        return functional.dropout(super().forward(x), 0.1, self.training)


class Computed(Added):
    """In float32, in each call."""

    def at(self, length):
        return table(length, self.width).to(self.pe.device)


SOUND = {
    "added": Added,
    "scaled": make_class(Added, forward=lambda s, x: 8 * x + s.at(x.shape[1]).to(x)),
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
    "dropped": Dropped,
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
    assert "one length" in report.called


def test_a_grid_is_told_by_its_axes():
    report = report_of(Grid, axes="batch rows columns dim")
    assert_sound(report)
    assert any("Not checked" in f.what for f in report.notes)


def test_what_it_took_is_said():
    assert "[length, batch, dim]" in report_of(SOUND["sequence first"]).called
    assert "offset" in report_of(WithOffset).called


def test_what_is_trained_is_told_as_trained():
    begins = make_class(
        Added, keep=lambda s, rows: setattr(s, "pe", nn.Parameter(rows))
    )
    told = report_of(begins).recognised
    assert told.formula == "trained" and "Vaswani" in told.words
    assert report_of(Learned).recognised.formula == "trained"


def empty(width):
    return nn.Parameter(torch.zeros(300, width), requires_grad=False)


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


class Data(Embedded):
    def forward(self, x):
        return x + self.rows.weight.data[: x.shape[1]]


class KeepsItsGraph(Learned):
    kept = None

    def forward(self, x):
        if self.kept is None:
            self.kept = torch.tanh(self.rows + 0.1)
        return x + self.kept[: x.shape[1]]


def fraction(n, d):
    return table(n, d)[torch.arange(n) // 5]


def with_row(n, d):
    rows = table(n, d)
    rows[5] = rows[9]
    return rows


def with_column(n, d):
    rows = table(n, d)
    rows[:, 5] = rows[:, 4]
    return rows


def spread_over(self, length):
    at = torch.linspace(0, 99, length, device=self.pe.device).long()
    return self.pe[at]


def write(self, x):
    x += self.at(x.shape[1])
    return x


FAULTS = [
    ("axes", "Every position", make_class(Added, at=lambda s, n: s.pe[n])),
    ("axes", "all 0", make_class(Added, rows=lambda _, d: torch.zeros(300, d))),
    (
        "axes",
        "all 0",
        make_class(
            Added, rows=lambda _, d: empty(d), keep=lambda s, r: setattr(s, "pe", r)
        ),
    ),
    (
        "x",
        "alone is returned",
        make_class(Added, forward=lambda s, x: s.at(x.shape[1]).expand_as(x)),
    ),
    ("x", "multiplied", make_class(Added, forward=lambda s, x: x * s.at(x.shape[1]))),
    (
        "x",
        "no sum",
        make_class(Added, forward=lambda s, x: torch.tanh(x + s.at(x.shape[1]))),
    ),
    (
        "finite",
        "first at position 0",
        of_table(lambda n, d: table(n, d) / torch.arange(n)[:, None].clamp(max=1)),
    ),
    ("formula", "2j counted twice", of_table(lambda n, d: table(n, d, 1e8))),
    ("formula", "base 10", of_table(lambda n, d: table(n, d, math.e**4))),
    (
        "formula",
        "swapped",
        of_table(lambda n, d: table(n, d).unflatten(1, (-1, 2)).flip(2).flatten(1)),
    ),
    ("formula", "no formula", of_table(lambda n, d: torch.randn(n, d))),
    ("spoilt", "Positions 5 ", of_table(with_row)),
    ("spoilt", "Columns 5 ", of_table(with_column)),
    ("spoilt", "16 bits", of_table(lambda n, d: table(n, d).bfloat16())),
    (
        "columns",
        "are 0",
        of_table(lambda n, d: torch.randn(n, d) * (torch.arange(d) < 32)),
    ),
    (
        "columns",
        "are the same",
        of_table(lambda n, d: torch.randn(n, d // 2).repeat(1, 2)),
    ),
    ("distinct", "Position 1 ", of_table(fraction)),
    (
        "distinct",
        "all that follow",
        make_class(
            Added,
            at=lambda s, n: s.pe[torch.arange(n, device=s.pe.device).clamp(max=400)],
        ),
    ),
    (
        "distinct",
        "Position 99 ",
        make_class(
            Added, at=lambda s, n: s.pe[torch.arange(n, device=s.pe.device) % 99]
        ),
    ),
    ("prefix", "from the end", make_class(Added, at=lambda s, n: s.pe[:n].flip(0))),
    ("prefix", "depend on the length", make_class(Added, at=spread_over)),
    (
        "batch",
        "In a batch of 2",
        make_class(Added, forward=lambda s, x: x + s.pe[len(x) : len(x) + x.shape[1]]),
    ),
    (
        "random",
        "in evaluation mode",
        make_class(
            Added, forward=lambda s, x: functional.dropout(x + s.at(x.shape[1]), 0.1)
        ),
    ),
    ("state", "counts on", Counts),
    (
        "state",
        "longer input",
        make_class(
            Added,
            at=lambda s, n: (
                setattr(s, "m", max(n, getattr(s, "m", 0))),
                s.pe[s.m - n : s.m],
            )[1],
        ),
    ),
    ("offset", "a cache", KeyWithoutOffset),
    (
        "offset",
        "from position 1",
        make_class(WithOffset, forward=lambda s, x, offset=0: Added.forward(s, x)),  # noqa: ARG005
    ),
    (
        "positions",
        "does not give",
        make_class(
            WithPositions,
            forward=lambda s, x, position_ids=None: Added.forward(s, x),  # noqa: ARG005
        ),
    ),
    ("positions", "those of the first", ForTheFirstSequence),
    ("writes", "writes into", make_class(Added, forward=write)),
    (
        "gradient",
        "reach x",
        make_class(Added, forward=lambda s, x: x.detach() + s.at(x.shape[1])),
    ),
    ("gradient", "No gradient", Data),
    ("gradient", "second backward", KeepsItsGraph),
    ("gradient", "padding_idx", lambda d: Embedded(d, padding_idx=0)),
    (
        "training",
        "are others",
        make_class(
            Added, forward=lambda s, x: x if s.training else x + s.at(x.shape[1])
        ),
    ),
    (
        "training",
        "Dropout sets",
        make_class(
            Added,
            forward=lambda s, x: functional.dropout(
                x + s.at(x.shape[1]), 0.9, s.training
            ),
        ),
    ),
    (
        "far",
        "off, by",
        make_class(
            Added,
            at=lambda s, n: (
                table(n, s.width) * (1 - 0.1 * (torch.arange(n)[:, None] > 600))
            ),
        ),
    ),
    (
        "widths",
        "by accident",
        make_class(
            Added, rows=lambda _, d: table(600, d).reshape(600, -1, 2).flatten(1)
        ),
    ),
    ("widths", "NaN", make_class(Added, rows=lambda _, d: table(600, d) / (d != 2))),
]


@pytest.mark.parametrize(
    ("check", "words", "make"),
    [pytest.param(*f, id=f"{f[0]}-{f[1].strip()}".replace(" ", "-")) for f in FAULTS],
)
def test_a_fault_is_found_and_its_cause_named(check, words, make):
    assert_found(report_of(make), check, words)


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
