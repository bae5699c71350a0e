"""What the tests of the checker ask of a report."""

import functools
import inspect

import torch

from pe_lib.check import check


@functools.cache
def report_of(make, kind="added", width=64, **options):
    """Arguments of forward for positions are named."""
    torch.set_num_threads(1)
    forward = getattr(make, "forward", None)
    given = inspect.signature(forward).parameters if forward else ()
    named = {"offset": "offset", "position_ids": "positions", "times": "positions"}
    options |= {named[name]: name for name in given if name in named}
    return check(make, d_model=width, kind=kind, **options)


def fired(report):
    """(level, check) of each error and warning."""
    return {(f.level, f.check) for f in (*report.errors, *report.warnings)}


def assert_sound(report):
    """A verdict without an error, and few lines."""
    assert report.ok, str(report)
    assert len(str(report).splitlines()) <= 7, str(report)


def assert_found(report, where, words=""):
    """At this level ("error axes") the check names this cause."""
    level, _, name = where.rpartition(" ")
    found = [f.what for f in report.findings if (f.level, f.check) == (level, name)]
    assert any(words in what for what in found), str(report)
