"""What cannot be called, what is refused, and the report itself."""

import functools

import pytest
import torch

from pe_lib.check import check
from pe_lib.check.kinds import READERS
from pe_lib.check.maker import Maker
from tests.check.modules import Added, Rotary, make_class, table


@pytest.mark.parametrize("width", [40, 72])
def test_the_text_keeps_its_width(width):
    lines = check(Added, d_model=8).as_text(width, verbose=True).splitlines()
    assert max(map(len, lines)) <= width


class NeedsRows(Added):
    def __init__(self, width, rows):
        super().__init__(width)
        self.many = rows


def gives(forward):
    """The class whose forward is this function of itself and its arguments."""
    return make_class(Added, forward=forward)


def broken(self, x):  # noqa: ARG001
    raise KeyError(f"no {x.ndim}")


CALLED = "forward with x [batch, length, dim] = [3, 11, 16]: "


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (NeedsRows, "make=functools.partial(Class, rows=VALUE)"),
        (gives(broken), f"{CALLED}KeyError: 'no 3' (test_report.py:"),
        (gives(lambda *_: None), f"{CALLED}ValueError: it returned NoneType, not"),
        (gives(lambda *_: torch.zeros(2)), "it returned [2], not [3, 11, 16]."),
        (gives(lambda _, x: (x, x)), "it returned tuple, not [3, 11, 16]"),
        (
            gives(lambda _, x: table(x.shape[1])),
            "[11, 64], not [3, 11, 16]. If it is called in",
        ),
        (
            gives(lambda _, q, k: (q, k)),
            "forward needs q, k; of kind added it takes x, and",
        ),
        (gives(lambda _: 1), "forward needs nothing; of kind added it takes x"),
        (make_class(Added, parameters=lambda _: 1 / 0), "ZeroDivisionError"),
        (lambda _: 3, "must return a torch.nn.Module, got int"),
    ],
)
def test_what_cannot_be_called_says_what_would_help(make, words):
    report = check(make, d_model=16)
    assert (report.status, report.ran) == (2, False)
    assert words in report.as_text(999)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"d_model": 2.0}, TypeError, "d_model must be an integer"),
        ({"d_model": 0}, ValueError, "d_model must be at least 1, got 0"),
        ({"kind": "learned"}, ValueError, "kind must be"),
        ({"offset": 3}, TypeError, "offset must be the name of an argument, got 3"),
        ({"positions": True}, TypeError, "positions must be the name of an argument"),
        ({"ignore": "meta"}, TypeError, "ignore must be"),
        ({"ignore": 3}, TypeError, "ignore must be"),
        ({"offset": "t", "positions": "t"}, ValueError, "must differ, got 't' for bo"),
        ({"ignore": ["mask"]}, ValueError, "ignore must be"),
    ],
)
def test_bad_arguments(options, error, words):
    with pytest.raises(error, match=words):
        check(Added, **{"d_model": 16, **options})


def test_an_argument_is_named_and_must_be_there():
    def forward(self, x, whence=0):
        return x + self.pe[whence : whence + x.shape[1]].to(x.dtype)

    asked = check(gives(forward), d_model=16, offset="whence")
    assert asked.ok and "offset" not in {f.check for f in asked.unchecked}
    assert "offset" in {f.check for f in check(gives(forward), d_model=16).unchecked}
    told = str(check(gives(forward), d_model=16, positions="begin"))
    assert "forward takes x, whence: no argument is 'begin'" in told


def test_what_is_named_and_has_no_default_is_always_given():
    def at(self, x, positions):
        return x + self.pe[positions].to(x.dtype)

    def since(self, x, *, start):
        return x + self.pe[start : start + x.shape[1]].to(x.dtype)

    for forward, told in (
        (at, {"positions": "positions"}),
        (since, {"offset": "start"}),
    ):
        report = check(gives(forward), d_model=16, **told)
        assert report.ok and report.recognised.base == 10_000, str(report)


def test_a_wrapper_brings_another_order_to_the_contract():
    """[length, batch, heads, dim], as some models have it."""

    class Wrapped(Rotary):
        def forward(self, q, k):
            inner = functools.partial(torch.permute, dims=(2, 0, 1, 3))
            outer = functools.partial(torch.permute, dims=(1, 2, 0, 3))
            q, k = (outer(inner(x)) for x in (q, k))
            return super().forward(q, k)

    assert check(Wrapped, d_model=16, kind="rotary").ok


def test_what_raises_in_one_check_is_not_checked_there_alone():
    report = check(make_class(Added, modules=lambda _: 1 / 0), d_model=16)
    assert report.ok and "half: it raises ZeroDivision" in report.as_text(verbose=True)


def test_what_fails_in_the_checker_itself_is_said(monkeypatch):
    monkeypatch.setattr("pe_lib.check.properties.repeated", int)
    told = check(Added, d_model=16).as_text()
    assert "distinct: the checker itself failed" in told and "TypeError" in told


def test_a_module_that_is_there_is_checked_at_its_width():
    there = Added(16)
    assert check(there, d_model=16).ok
    assert torch.equal(there.pe, Added(16).pe) and there.training


def test_a_big_table_is_shared_by_all_copies():
    big = make_class(Added, rows=lambda _, width: torch.zeros(2**18, width))
    r = READERS["added"](Maker.of(big, 32), 32, None, None)
    assert r.is_big and r.copy(r.begun).pe is r.begun.pe
