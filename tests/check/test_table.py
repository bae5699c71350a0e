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


FAULTS = [
    ("formula", "degrees", make_class(Times, unit=math.pi / 180)),
    (
        "positions",
        "is not followed",
        make_class(Added, forward=lambda s, positions: s.pe[: len(positions)]),
    ),
    ("device", "another device", make_class(FORMS["positions"], keep=in_attribute)),
]


@each_of(FAULTS)
def test_a_fault_is_found_and_its_cause_named(check, words, make):
    assert_found(report_of(make, "table"), check, words)


def test_a_table_is_compared_at_each_position():
    rows = table(600, 64)
    rows[300] = rows[301]
    make = make_class(FORMS["x"], rows=lambda *_: rows)
    assert_found(report_of(make, "table"), "spoilt", "Positions 300 ")
