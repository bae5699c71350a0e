"""What cannot be called, what is refused, and the report itself."""

import pytest
import torch

from pe_lib.check import check
from tests.check.modules import Added, make_class, table


def gives(forward):
    """The class whose forward is this function of itself and its arguments."""
    return make_class(Added, forward=forward)


TOLD = "x is [batch, length, dim]; at most 600 positions"
CALLED = "forward with x [batch, length, dim] = [3, 11, 16]: "
UNCALLED = {
    "make(16) raised TypeError": lambda width, rows: Added(width + rows),
    "make=functools.partial(Class, rows=VALUE)": lambda width, rows: Added(
        width + rows
    ),
    f"{CALLED}KeyError: 'no 3' (test_report.py:": gives(
        lambda _, x: {}[f"no {x.ndim}"]
    ),
    f"{CALLED}ValueError: it returned NoneType, not [3": gives(lambda *_: None),
    "it returned [2], not [3, 11, 16].": gives(lambda *_: torch.zeros(2)),
    "it returned tuple, not [3, 11, 16].": gives(lambda _, x: (x, x)),
    "it returned [3, 11, 16], not [3": gives(lambda _, x: x.to(torch.complex64)),
    "16]. If it is called in another": gives(lambda _, x: table(x.shape[1])),
    "forward needs q, k; of kind added it takes x, and": gives(lambda _, q, k: (q, k)),
    "takes 1 positional argument but 2 were": gives(lambda _: 1),
    "ZeroDivisionError": make_class(Added, eval=lambda _: 1 / 0),
    "must return a torch.nn.Module, got int": lambda _: 3,
}


@pytest.mark.parametrize("words", UNCALLED)
def test_what_cannot_be_called_says_what_would_help(words):
    report = check(UNCALLED[words], d_model=16)
    assert not report.ran and not report.ok and not report.errors
    assert words in report.as_text(999) and "no verdict" in report.verdict


@pytest.mark.parametrize(
    ("error", "words", "options"),
    [
        (TypeError, "d_model must be an integer", {"d_model": 2.0}),
        (ValueError, "d_model must be at least 1, got 0", {"d_model": 0}),
        (ValueError, "kind must be", {"kind": "learned"}),
        (TypeError, "offset must be the name of an argument", {"offset": 3}),
        (TypeError, "positions must be the name of an argument", {"positions": True}),
        (ValueError, "differ, got 't' for both", {"offset": "t", "positions": "t"}),
        (TypeError, "ignore must be a collection of names", {"ignore": "meta"}),
        (TypeError, "ignore must be a collection of names", {"ignore": 3}),
        (ValueError, "ignore must be", {"ignore": ["mask"]}),
    ],
)
def test_bad_arguments(error, words, options):
    with pytest.raises(error, match=words):
        check(Added, **{"d_model": 16, **options})


def begins(self, x, whence=0):
    return x + self.pe.narrow(0, whence, x.shape[1]).to(x.dtype)


def since(self, x, *, start):
    return begins(self, x, start)


def at(self, x, positions, scale=1.0):
    return x + scale * self.pe[positions].to(x.dtype)


def test_an_argument_is_named_and_must_be_there():
    for forward, told, left in (
        (begins, {"offset": "whence"}, ""),
        (since, {"offset": "start"}, ""),
        (at, {"positions": "positions"}, "; left as by default: scale"),
    ):
        report = check(gives(forward), d_model=16, **told)
        assert report.ok and report.recognised.base == 10_000, str(report)
        assert "offset" not in {f.check for f in report.unchecked}
        assert report.called == f"{TOLD}{left}"
    unasked = check(gives(begins), d_model=16)
    assert unasked.called == f"{TOLD}; left as by default: whence"
    assert "offset: neither offset nor positions" in unasked.as_text(99, verbose=True)
    told = str(check(gives(begins), d_model=16, positions="begin"))
    assert "forward takes x, whence: no argument is 'begin'" in told


def test_who_failed_in_a_check_is_said(monkeypatch):
    report = check(make_class(Added, modules=lambda _: 1 / 0), d_model=16)
    text = report.as_text(40, verbose=True)
    assert report.ok and "half: it raises ZeroDivision" in text.replace("\n ", "")
    assert max(map(len, text.splitlines())) <= 40
    monkeypatch.setattr("pe_lib.check.tables.identify", None)
    report = check(Added, d_model=16)
    assert "formula: the checker itself failed" in str(report) and not report.ok
    monkeypatch.setattr("pe_lib.check.reader.Reader.arguments", None)
    report = check(Added, d_model=16)
    assert not report.ran and "call: the checker itself failed" in str(report)


def test_a_module_that_is_there_is_checked_at_its_width():
    there = Added(16)
    assert check(there, d_model=16).ok
    assert torch.equal(there.pe, Added(16).pe) and there.training
