"""Each way to spoil a class, times each kind: what fires is what is registered."""

import functools

import pytest
import torch

from pe_lib.check import names_of_checks
from tests.check.modules import (
    Added,
    BufferedRotary,
    built,
    fired,
    make_class,
    report_of,
)
from tests.check.test_faults import FAULTS

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
    "error batch, warning x, warning formula": each(lambda _, y: y * (1 + len(y) / 9)),
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
