"""What goes wrong once a module is moved, cast, saved or built on meta is a warning."""

import pytest
import torch
from torch import nn

from tests.check.helpers import assert_found, make_class, report_of
from tests.check.modules import Added, Rotary, table


class Grows(Added):
    def rows(self, width):
        return table(20, width)

    def at(self, length):
        if length > len(self.pe):
            self.pe = table(length, self.width).to(self.pe)
        return self.pe[:length]


class OnTheProcessor(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rows = nn.Embedding(300, width)

    def forward(self, x):
        return x + self.rows(torch.arange(x.shape[1]))


class CountsInX(Added):
    def forward(self, x):
        j = torch.arange(0, self.width, 2, device=x.device)
        at = torch.arange(x.shape[1], device=x.device).to(x)
        angle = at[:, None] * (1e-4 ** (j / self.width)).to(x)
        return x + torch.stack([angle.sin(), angle.cos()], 2).flatten(1)


def not_saved(self, rows):
    self.register_buffer("pe", rows, persistent=False)


def drawn(self, rows):
    self.pe = nn.Buffer(torch.randn(rows.shape), persistent=False)


LATER = [
    (
        "device",
        "stays behind (pe)",
        make_class(Added, keep=lambda s, rows: setattr(s, "pe", rows)),
    ),
    ("device", "in embedding", OnTheProcessor),
    ("meta", "pe is in no checkpoint", make_class(Added, keep=not_saved)),
    ("state_dict", "does not load", Grows),
    ("state_dict", "other encodings", make_class(Added, keep=drawn)),
    (
        "dtype",
        "bfloat16 comes back as float32",
        make_class(
            Added, forward=lambda s, x: x + table(x.shape[1], s.width).to(x.device)
        ),
    ),
    ("half", "is off by", CountsInX),
    (
        "state",
        "bfloat16",
        make_class(
            Added,
            forward=lambda s, x: (
                setattr(s, "pe", s.pe.to(x.dtype)),
                x + s.at(x.shape[1]),
            )[1],
        ),
    ),
]


@pytest.mark.parametrize(
    ("check", "words", "make"),
    [pytest.param(*f, id=f"{i}-{f[0]}") for i, f in enumerate(LATER)],
)
def test_it_is_a_warning_and_no_error(check, words, make):
    report = report_of(make)
    assert_found(report, check, words)
    assert report.ok and report.warnings


def test_what_is_computed_again_survives_meta():
    class Again(Added):
        def _apply(self, function, recurse=True):
            super()._apply(function, recurse)
            self.pe = table(600, self.width).to(self.pe)
            return self

    assert "meta" not in {f.check for f in report_of(Again).warnings}


def test_rotary_frequencies_in_a_buffer_are_warnings():
    class Buffered(Rotary):
        def __init__(self, width):
            super().__init__(width)
            inv_freq = super().frequencies("cpu")
            self.register_buffer("inv_freq", inv_freq, persistent=False)

        def angles(self, positions):
            return positions[..., None].to(self.inv_freq) * self.inv_freq

    assert {f.check for f in report_of(Buffered, "rotary").warnings} == {"half", "meta"}


def test_a_frozen_parameter_keeps_its_values():
    frozen = make_class(
        Added, keep=lambda s, rows: setattr(s, "pe", nn.Parameter(rows, False))
    )
    assert report_of(frozen).recognised.formula == "sinusoid"


def test_nothing_outside_is_changed():
    def make(width):
        torch.set_default_dtype(torch.float64)
        torch.manual_seed(0)
        return Added(width)

    before, dtype = torch.get_rng_state(), torch.get_default_dtype()
    assert report_of(make).ok
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.get_default_dtype() == dtype
    assert not torch.are_deterministic_algorithms_enabled()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA here")
def test_with_a_gpu_beside():
    assert report_of(Added).ok
