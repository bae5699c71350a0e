"""Modules that return the encodings: for positions, a length, or x."""

import math

import pytest
import torch
from torch import nn

from tests.check.helpers import assert_found, assert_sound, each_of, report_of
from tests.check.modules import Added, Looked, make_class, table


class Times(nn.Module):
    """As a diffusion model's: half-split, the cosine first, from float positions."""

    unit = 1.0

    def __init__(self, width):
        super().__init__()
        self.pairs = width // 2

    def forward(self, timesteps):
        j = torch.arange(self.pairs, device=timesteps.device)
        angle = self.unit * timesteps[:, None].float() * 10_000 ** (-j / self.pairs)
        return torch.cat([angle.cos(), angle.sin()], -1)


FORMS = {
    "positions": make_class(Added, forward=lambda s, positions: s.pe[positions]),
    "a length": make_class(Added, forward=lambda s, seq_len: s.pe[:seq_len]),
    "x": make_class(Added, forward=lambda s, x: s.pe[None, : x.shape[1]]),
    "x, length first": make_class(Added, forward=lambda s, x: s.pe[: len(x), None]),
    "x, of one length": make_class(Added, forward=lambda s, x: s.pe),  # noqa: ARG005
    "trained": Looked,
    "times": Times,
}


@pytest.mark.parametrize("form", FORMS)
def test_sound_ones_in_each_form(form):
    report = report_of(FORMS[form], "table")
    assert_sound(report)
    assert form not in ("positions", "a length") or form.split()[-1] in report.called


def of_ids(self, ids, past=0):
    return self.rows(past + torch.arange(ids.shape[1]) + 0 * ids)


def test_token_ids_by_their_axes():
    by_ids = make_class(Looked, forward=of_ids)
    report = report_of(by_ids, "table", axes="batch length", positions="past")
    assert_sound(report)


def in_attribute(self, rows):
    self.pe = rows
    self.register_buffer("more", rows[0])


def whole(convert):
    """The class that makes whole numbers of its positions."""
    return make_class(Times, forward=lambda s, t: Times.forward(s, convert(t)))


def rows_of(index):
    """The class that returns these rows for a length."""
    return make_class(Added, forward=lambda s, seq_len: s.pe[index(seq_len)])


def counted_on(self, seq_len, offset=0):
    return self.pe[offset : offset + seq_len]


def to_the_length(self, seq_len, offset=0):
    return self.pe[offset:seq_len]


def of_the_first(self, positions):
    return self.pe[positions[:1]].expand(len(positions), -1, -1)


BY_BATCH = {
    "batch": lambda s, x: s.pe[: x.shape[0]],
    "batch, spread": lambda s, x: s.pe[: len(x), None].expand_as(x),
    "batch of one axis": lambda s, x: s.pe[: len(x), None],
}


@pytest.mark.parametrize("form", BY_BATCH)
def test_rows_by_the_batch(form):
    make, axes = make_class(Added, forward=BY_BATCH[form]), "batch length dim"
    report = report_of(make, "table", axes=axes)
    assert_found(report, "axes", "along the batch")


def test_a_sound_one_counts_on_from_an_offset():
    assert_sound(report_of(make_class(Added, forward=counted_on), "table"))


FAULTS = [
    ("shape", "600 rows", make_class(Added, forward=lambda s, seq_len: s.pe)),  # noqa: ARG005
    ("offset", "it raises", make_class(Added, forward=to_the_length)),
    ("positions", "0.75 is cut", whole(torch.Tensor.long)),
    ("positions", "0.75 is cut", whole(torch.round)),
    ("positions", "of the first", make_class(Added, forward=of_the_first)),
    ("shape", "12 rows", rows_of(lambda n: slice(n + 1))),
    ("shape", "10 rows", rows_of(lambda n: slice(n - 1))),
    (
        "shape",
        "[64, 11]",
        make_class(Added, forward=lambda s, seq_len: s.pe[:seq_len].T),
    ),
    ("shape", "x is in it", Added),
    ("formula", "degrees", make_class(Times, unit=math.pi / 180)),
    (
        "positions",
        "is not followed",
        make_class(Added, forward=lambda s, positions: s.pe[: len(positions)]),
    ),
    ("device", "another device", make_class(FORMS["positions"], keep=in_attribute)),
]


@each_of(FAULTS)
def test_a_fault_is_found_and_its_cause_named(where, words, make):
    assert_found(report_of(make, "table"), where, words)


def test_a_table_is_compared_at_each_position():
    rows = table(600, 64)
    rows[300] = rows[301]
    make = make_class(FORMS["x"], rows=lambda *_: rows)
    assert_found(report_of(make, "table"), "spoilt", "Positions 300 ")
