"""Biases for the scores: ALiBi and T5, sound, and each kind of fault."""

import pytest
import torch
from torch import nn

from pe_lib.nn import AlibiBias, T5Bias
from tests.check.helpers import assert_found, assert_sound, each_of, found, report_of
from tests.check.modules import T5, Alibi, hiding, ignoring, make_class, sloped


def from_zero(_, queries, keys):
    return torch.arange(keys) - torch.arange(queries)[:, None]


def causal_from_zero(_, queries, keys):
    return from_zero(_, queries, keys).clamp(max=0)


class PerOffset(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1023, heads))

    def index(self, at):
        return at - at[:, None] + 511

    def forward(self, length):
        at = torch.arange(length, device=self.weight.device)
        return self.weight[self.index(at)].permute(2, 0, 1)


def of_length(self, length):
    return Alibi.forward(self, length, length)


def of_scores(self, scores):
    return scores + Alibi.forward(self, *scores.shape[-2:]).to(scores)


def one_row(self, length):
    at = torch.arange(length, device=self.slopes.device)
    return self.slopes[:, None, None].float() * at


def window(stride):
    """The class for 4 rows and 6 columns of tokens, its table in rows so long."""

    class Window(nn.Module):
        def __init__(self, heads):
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(7 * 11, heads))
            row, column = torch.arange(24) // 6, torch.arange(24) % 6
            down, right = (at - at[:, None] for at in (row, column))
            self.register_buffer("index", (down + 3) * stride + right + 5)

        def forward(self):
            return self.weight[self.index].permute(2, 0, 1)

    return Window


SOUND = {
    "window": window(11),
    "lengths": Alibi,
    "a length": make_class(Alibi, forward=of_length),
    "causal": hiding(lambda offset: offset > 0),
    "a mask alone": sloped(lambda o: (0.0 * o).masked_fill(o > 0, -torch.inf)),
    "scores": make_class(Alibi, forward=of_scores),
    "one row": make_class(Alibi, forward=one_row),
    "T5": T5,
    "T5 of an encoder": make_class(T5, offsets=from_zero),
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


class FromOffset(Alibi):
    """It is told at which position the first query is."""

    def forward(self, queries, keys, offset=0):
        query = torch.arange(queries)[:, None] + offset
        return self.slopes[:, None, None] * self.heights(torch.arange(keys) - query)


def test_the_position_of_the_first_query_is_given():
    assert_sound(report_of(FromOffset, "bias", positions="offset"))
    deaf = report_of(ignoring(FromOffset), "bias", positions="offset")
    assert [e.check for e in deaf.errors] == ["decoding"]


def slopes(make):
    return make_class(Alibi, make_slopes=lambda _, heads: make(torch.arange(heads)))


def of_the_query(offsets):
    return torch.arange(len(offsets))[:, None].expand_as(offsets)


def by_query(offsets):
    return -offsets.abs() * torch.linspace(1, 2, len(offsets))[:, None]


def wrapped(_, at):
    return (at - at[:, None]) % 200


def in_its_dtype(self, queries, keys):
    at, query = (torch.arange(n).to(self.slopes) for n in (keys, queries))
    return at - query[:, None]


def detached(self, queries, keys):
    return T5.forward(self, queries, keys).detach()


def t5_offsets(factor):
    return make_class(T5, offsets=lambda s, q, k: factor * T5.offsets(s, q, k))


def times(factor):
    """The class that returns scores times factor(biases)."""

    def forward(self, scores):
        return scores * factor(Alibi.forward(self, *scores.shape[-2:]))

    return make_class(Alibi, forward=forward)


def of_scores_with(finish):
    """The class that returns finish(scores + biases)."""
    return make_class(Alibi, forward=lambda s, scores: finish(of_scores(s, scores)))


def without_scores(self, scores):
    return of_length(self, scores.shape[-1])


class Keeps(Alibi):
    kept = None

    def forward(self, queries, keys):
        if self.kept is None or self.kept.shape[-1] < keys:
            self.kept = super().forward(queries, keys)
        return self.kept[:, :queries, :keys]


def viewed(self, length):
    return PerOffset.forward(self, length).permute(1, 2, 0).view(-1, length, length)


def counted_in_16_bits(_, queries, keys):
    at, query = (torch.arange(n).bfloat16().float() for n in (keys, queries))
    return at - query[:, None]


def in_float16(self, length):
    biases = of_length(self, length).to(self.slopes.dtype)
    return biases.masked_fill(self.offsets(length, length) > 0, -1e9)


def by_length(self, length):
    return of_length(self, length) / length


def plus(number):
    """The class whose keys after the query get so much more."""
    return make_class(
        Alibi,
        forward=lambda s, q, k: Alibi.forward(s, q, k) + number * (s.offsets(q, k) > 0),
    )


def frozen(heads):
    module = PerOffset(heads)
    return module.requires_grad_(False)


class Short(PerOffset):
    def index(self, at):
        return at - at[:, None] + 20 + 1002 * (len(at) > 21)


class Unshifted(PerOffset):
    def __init__(self, heads):
        super().__init__(heads)
        self.weight = nn.Parameter(torch.zeros(41, heads))

    def index(self, at):
        return (at - at[:, None]).clamp(-40, 40)


def plus_zero_times_infinity(biases):
    return biases + torch.ones_like(biases).triu(1) * -torch.inf


def zero_times_infinity(self, length):
    return plus_zero_times_infinity(of_length(self, length))


def heads_last(self, length):
    return of_length(self, length).permute(1, 2, 0)


def of_number(self, positions):
    return of_length(self, len(positions))


FAULTS = [
    ("error axes", "never filled", frozen),
    ("error axes", "never filled", slopes(lambda h: 0.0 * h)),
    ("error x", "multiplied by the bias", times(lambda b: b)),
    ("warning x", "by 0.125", of_scores_with(lambda s: s / 8)),
    ("error x", "no sum", of_scores_with(lambda s: s.softmax(-1))),
    ("warning x", "bias alone", make_class(Alibi, forward=without_scores)),
    ("error scores", "No gradient", of_scores_with(lambda s: s.detach())),
    ("warning overflow", "-1e+09", make_class(Alibi, forward=in_float16)),
    ("error prefix", "length", make_class(Alibi, forward=by_length)),
    ("error mask", "0 and 1", plus(1)),
    ("error mask", "0 and 1", plus(-1)),
    ("error mask", "next key", hiding(lambda offset: offset > 1)),
    ("warning limit", "more than 21 keys", Short),
    ("error shape", "heads are the last", make_class(Alibi, forward=heads_last)),
    ("error positions", "the number alone", make_class(Alibi, forward=of_number)),
    ("error sign", "1 after", sloped(lambda o: -(o - 1).abs())),
    ("warning sign", "all alike", sloped(lambda o: o.clamp(max=0))),
    ("warning formula", "up to distance 64", sloped(lambda o: -o.abs().clamp(max=64))),
    ("error sign", "grows", sloped(lambda o: o.abs())),
    ("warning formula", "one slope", slopes(lambda h: 0.5 + 0 * h)),
    ("warning formula", "own slopes", slopes(lambda h: 2.0 ** -(h + 3))),
    ("warning formula", "no formula", sloped(lambda o: -(o.float() ** 2))),
    ("warning sign", "raised", sloped(lambda o: o)),
    ("error axes", "one number for all keys", sloped(of_the_query)),
    ("error axes", "Values of one offset", sloped(by_query)),
    ("error mask", "the position itself", hiding(lambda offset: offset >= 0)),
    ("error mask", "the position before", hiding(lambda offset: offset < 0)),
    ("error decoding", "the row of query 0", make_class(Alibi, offsets=from_zero)),
    ("error formula", "2**(-8 h / heads) is meant", slopes(lambda h: 2.0 ** (h + 1))),
    ("error distinct", "offset +1 is that at", Unshifted),
    ("error mask", "0 * -inf", make_class(Alibi, forward=zero_times_infinity)),
    ("error mask", "0 * -inf", of_scores_with(plus_zero_times_infinity)),
    ("error decoding", "the row of query 0", make_class(T5, offsets=causal_from_zero)),
    ("error formula", "swapped", t5_offsets(-1)),
    ("warning formula", "not T5's", t5_offsets(3)),
    ("error distinct", "In rows and columns", window(7)),
    ("error decoding", "the row of query 0", Keeps),
    ("error axes", "mixed up by a view", make_class(PerOffset, forward=viewed)),
    ("error axes", "16 bits", make_class(Alibi, offsets=counted_in_16_bits)),
    ("error distinct", "wraps round", make_class(PerOffset, index=wrapped)),
    ("error heads", "returns 8", slopes(lambda _: 2.0 ** -torch.arange(1, 9))),
    ("warning half", "rounded", make_class(Alibi, offsets=in_its_dtype)),
    ("error gradient", "No gradient", make_class(T5, forward=detached)),
]


def test_a_bias_alone_need_not_pass_a_gradient_on():
    report = report_of(make_class(Alibi, forward=without_scores), "bias")
    assert report.ok and "x" in found(report)


@each_of(FAULTS)
def test_a_fault_is_found_and_its_cause_named(where, words, make):
    width = 6 if where == "error heads" else 8
    assert_found(report_of(make, "bias", width), where, words)
