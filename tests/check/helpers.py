"""What the tests of the checker ask of a report."""

import functools
import inspect

import torch

from pe_lib.check import check
from tests.check.modules import Rotary

ARGUMENTS = {"offset": "offset", "position_ids": "positions"}


@functools.cache
def report_of(make, **options):
    """The kind is that of its class, and arguments of forward are named."""
    torch.set_num_threads(1)
    forward = getattr(make, "forward", None)
    given = inspect.signature(forward).parameters if forward else ()
    options |= {ARGUMENTS[name]: name for name in given if name in ARGUMENTS}
    made = getattr(make, "func", make)
    rotary = isinstance(made, type) and issubclass(made, Rotary)
    kind = options.pop("kind", "rotary" if rotary else "added")
    return check(make, d_model=64, kind=kind, **options)


def fired(report):
    """Each error and warning: where, and in which words."""
    return {f"{f.level} {f.check}" for f in (*report.errors, *report.warnings)}
