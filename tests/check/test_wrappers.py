"""Each way to spoil a class, times each kind: what fires is what is registered.

A row says how a sound class is spoilt, and what that is called. Whatever else fires
with it is an exemption, and stands beside it with a reason.
"""

import functools
from dataclasses import dataclass, field

import pytest
import torch

from pe_lib.check import names_of_checks
from pe_lib.check.kinds import READERS
from tests.check.helpers import fired, report_of
from tests.check.modules import Added, BufferedRotary, make_class
from tests.check.test_faults import FAULTS as NAMED


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


def kept_aside(keep):
    """Its buffers as `keep` keeps them."""

    def spoil(base):
        def made(self, width):
            base.__init__(self, width)
            for name, buffer in [*self.named_buffers()]:
                delattr(self, name)
                keep(self, name, buffer)

        return make_class(base, __init__=made)

    return spoil


def not_saved(self, name, buffer):
    self.register_buffer(name, buffer, persistent=False)


def drawn(base):
    def made(self, width):
        base.__init__(self, width)
        self.__dict__["by"] = 1 + 0.1 * torch.rand(())

    return each(lambda self, y: y * self.by)(make_class(base, __init__=made))


def hollow(_, y):
    y = y.clone()
    y[..., 3:4, :] = torch.nan
    return y


KINDS = tuple(READERS)


@dataclass(frozen=True)
class Fault:
    """A way to spoil, and what must be said of it."""

    level: str
    check: str
    spoil: object
    kinds: tuple = KINDS
    beside: dict = field(default_factory=dict)  # check: why it fires as well


SECOND = {"state": "after any call, one in bfloat16 too"}
LONGER = {
    "x": "x grows with what is added to it",
}
ALONE = {
    "x": "x grows with what is added to it",
    "formula": "all of it is times more than 1",
}
DRAWN = {
    "x": "drawn once, it scales x",
    "formula": "drawn once, it scales what is read",
}
FAULTS = {
    "noise": Fault("error", "random", each(lambda _, y: y * (1 + torch.rand(y.shape)))),
    "counter": Fault("error", "state", each(counted), KINDS, SECOND),
    "in place": Fault("error", "writes", over(written)),
    "detached": Fault("error", "gradient", each(lambda _, y: y.detach())),
    "in training": Fault(
        "error", "training", each(lambda self, y: y * (1 + 0.1 * self.training))
    ),
    "by the length": Fault(
        "error", "prefix", each(lambda _, y: y * (1 + y.shape[-2] / 99)), KINDS, LONGER
    ),
    "by the batch": Fault(
        "error", "batch", each(lambda _, y: y * (1 + len(y) / 9)), KINDS, ALONE
    ),
    "no buffer": Fault("warning", "device", kept_aside(setattr)),
    "not saved": Fault("note", "meta", kept_aside(not_saved)),
    "drawn": Fault("warning", "state_dict", drawn, KINDS, DRAWN),
    "NaN": Fault("error", "finite", each(hollow)),
    "all alike": Fault(
        "error",
        "axes",
        each(lambda _, y: y[..., :1, :].expand_as(y).clone()),
        ("rotary",),  # of added ones x is made alike as well
    ),
}
SOUND = {
    "added": Added,
    "rotary": BufferedRotary,
}
PAIRS = [(name, kind) for name, fault in FAULTS.items() for kind in fault.kinds]


@functools.cache
def spoilt(name, kind):
    return report_of(FAULTS[name].spoil(SOUND[kind]), kind)


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_what_fires_is_what_is_registered(name, kind):
    fault, report = FAULTS[name], spoilt(name, kind)
    found = {(f.level, f.check) for f in report.findings}
    assert (fault.level, fault.check) in found, str(report)
    beside = fired(report) - fired(report_of(SOUND[kind], kind))
    beside = {check for _, check in beside - {(fault.level, fault.check)}}
    assert beside <= {*fault.beside}, str(report)


def test_every_exemption_is_needed():
    for name, fault in FAULTS.items():
        reports = [spoilt(name, kind) for kind in fault.kinds]
        seen = {check for report in reports for _, check in fired(report)}
        assert {*fault.beside} <= seen, name


def test_every_check_has_a_fault_in_some_kind():
    """Of those that no wrapper breaks there is one in test_faults."""
    told = {fault.check for fault in FAULTS.values()}
    told |= {where.split()[1] for _, where, *_ in NAMED}
    assert {*names_of_checks()} <= told
