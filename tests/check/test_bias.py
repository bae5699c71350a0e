"""Biases for the scores: ALiBi and T5, sound, and each kind of fault."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from pe_lib.nn import AlibiBias, T5Bias
from tests.check.helpers import assert_found, assert_sound, make_class, report_of
from tests.check.modules import T5, Alibi


def of_length(self, length):
    return Alibi.forward(self, length, length)


def hiding(keep):
    """forward that hides all keys but those that `keep` returns, by offset."""

    def forward(self, length):
        offsets = self.offsets(length, length)
        bias = Alibi.forward(self, length, length)
        return bias.masked_fill(~keep(offsets), -torch.inf)

    return forward


def from_zero(self, queries, keys):
    device = next(iter([*self.parameters(), *self.buffers()])).device
    return (
        torch.arange(keys, device=device)
        - torch.arange(queries, device=device)[:, None]
    )


class PerOffset(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1023, heads))

    def index(self, at):
        return at - at[:, None] + 511

    def forward(self, length):
        at = torch.arange(length, device=self.weight.device)
        return self.weight[self.index(at)].permute(2, 0, 1)


SOUND = {
    "lengths": Alibi,
    "a length": make_class(Alibi, forward=of_length),
    "causal": make_class(Alibi, forward=hiding(lambda offset: offset <= 0)),
    "scores": make_class(
        Alibi,
        forward=lambda s, scores: (
            scores + Alibi.forward(s, *scores.shape[-2:]).to(scores)
        ),
    ),
    "one row": make_class(
        Alibi,
        forward=lambda s, n: (
            s.slopes[:, None, None].float() * torch.arange(n, device=s.slopes.device)
        ),
    ),
    "T5": T5,
    "per offset": PerOffset,
    "ours": AlibiBias,
    "our T5": T5Bias,
}


@pytest.mark.parametrize("name", SOUND)
def test_sound_ones_have_no_error_and_few_lines(name):
    assert_sound(report_of(SOUND[name], "bias"))


def test_slopes_and_buckets_are_told():
    assert report_of(Alibi, "bias").recognised.formula == "alibi"
    assert "any number of heads" in str(report_of(Alibi, "bias", 6).recognised)
    assert "Press" in str(report_of(AlibiBias, "bias", 6).recognised)
    assert report_of(T5, "bias").recognised.formula == "t5"


def slopes(make):
    return make_class(Alibi, make_slopes=lambda _, heads: make(torch.arange(heads)))


FAULTS = [
    (
        "slopes",
        "grows",
        make_class(Alibi, forward=lambda s, q, k: -Alibi.forward(s, q, k)),
    ),
    ("slopes", "one slope", slopes(lambda h: 0.5 + 0 * h)),
    ("slopes", "its own", slopes(lambda h: 2.0 ** -(h + 3))),
    (
        "slopes",
        "raised",
        make_class(
            Alibi,
            forward=lambda s, q, k: (
                s.slopes[:, None, None].float() * s.offsets(q, k)
                + 0 * Alibi.forward(s, q, k)
                - 1e-9 * s.offsets(q, k).abs()
            ),
        ),
    ),
    (
        "offset",
        "one number for all keys",
        make_class(
            Alibi,
            forward=lambda s, n: (
                s.slopes[:, None, None] * torch.arange(n)[:, None]
            ).expand(-1, -1, n),
        ),
    ),
    (
        "offset",
        "Values of one offset",
        make_class(
            Alibi,
            forward=lambda s, q, k: (
                Alibi.forward(s, q, k) * torch.linspace(1, 2, q)[:, None]
            ),
        ),
    ),
    (
        "mask",
        "the position itself",
        make_class(Alibi, forward=hiding(lambda offset: offset < 0)),
    ),
    (
        "mask",
        "the position before",
        make_class(Alibi, forward=hiding(lambda offset: offset >= 0)),
    ),
    ("decoding", "the row of query 0", make_class(Alibi, offsets=from_zero)),
    ("decoding", "the row of query 0", make_class(T5, offsets=from_zero)),
    (
        "buckets",
        "swapped",
        make_class(T5, offsets=lambda s, q, k: -T5.offsets(s, q, k)),
    ),
    (
        "buckets",
        "no buckets of T5",
        make_class(T5, offsets=lambda s, q, k: T5.offsets(s, q, k) * 3),
    ),
    (
        "reach",
        "At distance 200",
        make_class(PerOffset, index=lambda s, at: (at - at[:, None]) % 200),  # noqa: ARG005
    ),
    ("heads", "returns 8", slopes(lambda _: 2.0 ** -torch.arange(1, 9))),
    (
        "half",
        "of one offset",
        make_class(
            Alibi,
            offsets=lambda s, q, k: (
                torch.arange(k).to(s.slopes) - torch.arange(q).to(s.slopes)[:, None]
            ),
        ),
    ),
    (
        "gradient",
        "No gradient",
        make_class(T5, forward=lambda s, q, k: T5.forward(s, q, k).detach()),
    ),
    (
        "random",
        "in evaluation mode",
        make_class(
            Alibi,
            forward=lambda s, q, k: functional.dropout(Alibi.forward(s, q, k), 0.1),
        ),
    ),
]


@pytest.mark.parametrize(
    ("check", "words", "make"),
    [pytest.param(*f, id=f"{i}-{f[0]}") for i, f in enumerate(FAULTS)],
)
def test_a_fault_is_found_and_its_cause_named(check, words, make):
    width = 6 if check == "heads" else 8
    assert_found(report_of(make, "bias", width), check, words)
