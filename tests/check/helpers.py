"""What the tests of the checker ask of a report."""

import functools

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


def assert_found(report, name, words=""):
    """The check finds it, in these words."""
    texts = [f.what for f in (*report.errors, *report.warnings) if f.check == name]
    assert any(words in text for text in texts), str(report)


def make_class(base, /, **methods):
    """A subclass with these methods instead."""
    return type("_".join(methods) or base.__name__, (base,), methods)
