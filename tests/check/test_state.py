"""What goes wrong once a module is moved, cast, saved or built on meta is a warning."""

import pytest
import torch
from torch import nn

from tests.check.helpers import assert_found, each_of, report_of
from tests.check.modules import Added, BufferedRotary, Embedded, kept, make_class, table


class Grows(Added):
    def rows(self, width):
        return table(20, width)

    def at(self, length):
        if length > len(self.pe):
            self.pe = table(length, self.width).to(self.pe)
        return self.pe[:length]


class CountsInX(Added):
    def forward(self, x):
        j = torch.arange(0, self.width, 2, device=x.device)
        at = torch.arange(x.shape[1], device=x.device).to(x)
        angle = at[:, None] * (1e-4 ** (j / self.width)).to(x)
        return x + torch.stack([angle.sin(), angle.cos()], 2).flatten(1)


def not_saved(self, rows):
    self.register_buffer("pe", rows, persistent=False)


def drawn(self, rows):
    self.register_buffer("pe", torch.randn(rows.shape), persistent=False)


def in_attribute(self, rows):
    self.pe = rows


def on_the_processor(self, x):
    return x + self.rows(torch.arange(x.shape[1]))


def in_float32(self, x):
    return x + table(x.shape[1], self.width).to(x.device)


def cast_for_good(self, x):
    self.pe = self.pe.to(x.dtype)
    return Added.forward(self, x)


LATER = [
    ("device", "stays behind (pe)", kept(in_attribute)),
    ("device", "in embedding", make_class(Embedded, forward=on_the_processor)),
    ("meta", "pe is in no checkpoint", kept(not_saved)),
    ("state_dict", "does not load", Grows),
    ("state_dict", "other encodings", kept(drawn)),
    ("dtype", "comes back as float32", make_class(Added, forward=in_float32)),
    ("half", "is off by", CountsInX),
    ("state", "bfloat16", make_class(Added, forward=cast_for_good)),
]


@each_of(LATER)
def test_it_is_a_warning_and_no_error(where, words, make):
    report = report_of(make)
    assert_found(report, where, words)
    assert report.ok and report.warnings


def test_what_is_computed_again_survives_meta():
    class Again(Added):
        def _apply(self, function, recurse=True):
            super()._apply(function, recurse)
            self.pe = table(600, self.width).to(self.pe)
            return self

    assert "meta" not in {f.check for f in report_of(Again).warnings}


def test_rotary_frequencies_in_a_buffer_are_warnings():
    def in_its_dtype(self, positions):
        return positions[..., None].to(self.inv_freq) * self.inv_freq

    faulty = make_class(BufferedRotary, angles=in_its_dtype)
    assert {f.check for f in report_of(faulty, "rotary").warnings} == {"half", "meta"}


def test_a_frozen_parameter_keeps_its_values():
    frozen = kept(lambda s, rows: setattr(s, "pe", nn.Parameter(rows, False)))
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
