"""What the tests of the checker ask of a report."""

import functools

import pytest
import torch

from pe_lib.check import check

WIDTHS = {"bias": 8}


@functools.cache
def report_of(make, kind="added", width=None, **options):
    torch.set_num_threads(1)
    width = width or WIDTHS.get(kind, 64)
    return check(make, d_model=width, kind=kind, **options)


def found(report):
    """The names of the checks that found an error or a warning."""
    return {f.check for f in (*report.errors, *report.warnings)}


def assert_sound(report):
    """No error, and at most six lines."""
    assert report.ran and report.ok, str(report)
    assert len(str(report).splitlines()) <= 6, str(report)


def assert_found(report, where, words=""):
    """At this level ("error axes", or "axes" for both) the check names this cause."""
    level, _, name = where.rpartition(" ")
    found = report.errors + report.warnings
    found = [f.what for f in found if f.check == name and f.level.startswith(level)]
    assert any(words in what for what in found), str(report)


def each_of(faults):
    """Parametrise a test over (level and check, words of the cause, class)."""
    cases = [pytest.param(*f, id="-".join(" ".join(f[:2]).split())) for f in faults]
    return pytest.mark.parametrize(("where", "words", "make"), cases)
