"""What cannot be built or called: one sentence, and what would help."""

import pytest
import torch
from torch import nn

from pe_lib.check import check
from tests.check.helpers import assert_found, report_of
from tests.check.modules import Added, ignoring, make_class


def refusal(make, **options):
    report = check(make, **{"d_model": 16, **options})
    assert not report.ran and not report.ok
    (found,) = report.findings
    assert found.check == "call" and not found.what.count("\n")
    return f"{found.what} {found.fix}"


class NeedsRows(Added):
    def __init__(self, width, max_length):
        super().__init__(width)
        self.max_length = max_length


class NeedsMask(Added):
    def forward(self, x, mask):
        return super().forward(x) * mask


def broken(self, x):  # noqa: ARG001
    raise KeyError(f"no {x.ndim}")


def test_an_argument_of_the_class_is_named_with_the_option():
    assert "--arg max_length=VALUE" in refusal(NeedsRows)
    assert check(lambda d: NeedsRows(d, max_length=9), d_model=16).ok


def test_an_argument_of_forward_is_named_with_an_adapter():
    text = refusal(NeedsMask)
    assert "forward needs mask besides x" in text
    assert "class Adapter(NeedsMask): def forward(self, x)" in text


def test_an_error_comes_with_file_and_line():
    text = refusal(make_class(Added, forward=broken))
    assert "KeyError" in text and "test_call.py:" in text and "--axes" in text


def test_no_such_argument_of_forward():
    assert "got 'begin'" in refusal(Added, positions="begin")


@pytest.mark.parametrize(
    "output", [None, 3.0, (), torch.zeros(2), torch.zeros(3, 11, 16).long() * 1j]
)
def test_an_answer_that_is_no_encoding(output):
    assert "it returned" in refusal(make_class(Added, forward=lambda *_: output))


def leave(*_):
    raise SystemExit(0)


@pytest.mark.parametrize("method", ["__init__", "forward", "rows", "train"])
@pytest.mark.parametrize("kind", ["added", "table", "rotary", "bias"])
def test_whoever_leaves_has_not_run(method, kind):
    assert "sys.exit" in refusal(make_class(Added, **{method: leave}), kind=kind)


def test_leaving_later_is_no_success_either():
    later = make_class(Added, at=lambda s, n: leave() if n > 100 else s.pe[:n])
    assert "sys.exit" in refusal(later)


def test_an_error_in_one_check_is_its_finding():
    def train(self, mode=True):
        if mode:
            raise RuntimeError("not to be trained")
        return nn.Module.train(self, mode)

    assert_found(
        report_of(make_class(Added, train=train)), "training", "not to be trained"
    )


def test_an_argument_may_be_named():
    def forward(self, x, whence=0):
        return x + self.pe[whence : whence + x.shape[1]].to(x.dtype)

    named = make_class(Added, forward=forward)
    assert "whence" in report_of(named, positions="whence").called
    assert report_of(named, positions="whence").ok
    assert_found(report_of(ignoring(named), positions="whence"), "offset", "whence = 1")


def test_a_module_that_is_there_is_checked_at_its_width():
    there = Added(16)
    assert check(there, d_model=16).ok
    assert torch.equal(there.pe, Added(16).pe) and there.training


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"d_model": 0}, ValueError, "d_model must be at least 1, got 0"),
        ({"d_model": 2.0}, TypeError, "d_model must be an integer"),
        ({"kind": "learned"}, ValueError, "kind must be"),
        ({"axes": "batch words dim"}, ValueError, "axes must be"),
        ({"axes": "batch rows dim"}, ValueError, "axes must be"),
        ({"axes": "batch dim"}, ValueError, "with length or rows and columns"),
        ({"axes": "batch length rows columns dim"}, ValueError, "axes must be"),
        ({"axes": "batch length"}, ValueError, "name dim for kind 'added'"),
        ({"ignore": "meta"}, TypeError, "ignore must be"),
        ({"ignore": ["metal"]}, ValueError, "got 'metal'"),
    ],
)
def test_bad_arguments(options, error, words):
    with pytest.raises(error, match=words):
        check(Added, **{"d_model": 16, **options})


def test_make_is_called():
    with pytest.raises(TypeError, match="make must be callable, got 3"):
        check(3, d_model=16)
