"""Modules that return the encodings: for positions, a length, or x."""

import math

import pytest
import torch
from torch import nn

from tests.check.helpers import assert_found, assert_sound, make_class, report_of
from tests.check.modules import Added, table


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


class Looked(nn.Module):
    def __init__(self, width, **options):
        super().__init__()
        self.rows = nn.Embedding(300, width, **options)

    def forward(self, positions):
        return self.rows(positions)


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


@pytest.mark.parametrize(
    ("check", "words", "make"),
    [
        ("formula", "degrees", make_class(Times, unit=math.pi / 180)),
        (
            "axes",
            "all 0",
            make_class(FORMS["x"], rows=lambda _, d: torch.zeros(300, d)),
        ),
        (
            "positions",
            "does not give",
            make_class(Added, forward=lambda s, positions: s.pe[: len(positions)]),
        ),
        (
            "distinct",
            "Position 90 ",
            make_class(
                Added,
                forward=lambda s, seq_len: s.pe[
                    torch.arange(seq_len, device=s.pe.device) % 90
                ],
            ),
        ),
        ("gradient", "padding_idx", lambda d: Looked(d, padding_idx=0)),
        (
            "device",
            "another device",
            make_class(
                FORMS["positions"],
                keep=lambda s, rows: (
                    setattr(s, "pe", rows),
                    s.register_buffer("more", rows[0]),
                )[0],
            ),
        ),
        (
            "half",
            "16 bits",
            make_class(
                Added,
                keep=lambda s, rows: s.register_buffer(  # noqa: ARG005
                    "w", 1e4 ** (-torch.arange(0, s.width, 2) / s.width)
                ),
                forward=lambda s, positions: torch.cat(
                    [
                        (positions[:, None].to(s.w) * s.w).sin(),
                        (positions[:, None].to(s.w) * s.w).cos(),
                    ],
                    -1,
                ),
            ),
        ),
    ],
)
def test_a_fault_is_found_and_its_cause_named(check, words, make):
    assert_found(report_of(make, "table"), check, words)


def test_a_table_is_compared_at_each_position():
    rows = table(600, 64)
    rows[300] = rows[301]
    make = make_class(FORMS["x"], rows=lambda *_: rows)
    assert_found(report_of(make, "table"), "spoilt", "Positions 300 ")
