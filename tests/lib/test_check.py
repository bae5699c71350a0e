"""The checker: each finding with a module that has the fault and one that has not."""

import functools
import math
import random
import re
import time
import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from pe_lib import conventions, sinusoidal
from pe_lib.beyond.rotary import rotary_frequencies
from pe_lib.beyond.scaling import by_parts, interpolate, llama3, longrope, ntk
from pe_lib.check import check_encoding
from pe_lib.check.conformance import CHECKS
from pe_lib.check.find import find_kind
from pe_lib.check.probe import AXES, Probe
from pe_lib.check.recognition import Convention, recognize, table
from pe_lib.check.report import Finding, Report
from pe_lib.check.undisturbed import undisturbed
from pe_lib.nn import (
    AlibiBias,
    LearnedPositionalEmbedding,
    RotaryEmbedding,
    SinusoidalPositionalEncoding,
    T5Bias,
)


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Inputs of a million positions are for two tests only."""
    monkeypatch.setattr("pe_lib.check.longest.LARGEST", 2**20)


def codes(positions, d_model):
    """Sound codes as float32 tensor."""
    return torch.from_numpy(sinusoidal(positions, d_model, dtype=np.float32))


class Sound(nn.Module):
    """Right in every respect, and as short as that can be: computed in each call."""

    def __init__(self, d_model):
        super().__init__()
        self.d_model = d_model

    def code(self, positions):
        return codes(np.asarray(positions), self.d_model)

    def forward(self, x, *, positions=None, offset=0):
        if positions is None:
            positions = torch.arange(x.shape[-2]) + offset
        return x + self.code(positions).to(x)


class Table(nn.Module):
    """A table of some length, added; faults are put in by subclasses."""

    length, persistent = 1200, True

    def __init__(self, d_model):
        super().__init__()
        self.d_model = d_model
        rows = self.table(d_model).to(torch.get_default_dtype())
        # not from_numpy alone: a table that is built on meta must be there
        rows = torch.empty_like(rows, device=torch.empty(0).device).copy_(rows)
        self.keep(rows)

    def table(self, d_model):
        return codes(np.arange(self.length), d_model)

    def keep(self, rows):
        self.register_buffer("pe", rows, persistent=self.persistent)

    def forward(self, x):
        return x + self.pe[: x.shape[-2]].to(x.dtype)


def refusing_odd(build):
    """The same, for even widths only."""

    def refuse(d_model):
        if d_model % 2:
            raise ValueError(f"d_model must be even, got {d_model}")
        return build(d_model)

    return refuse


class Learned(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.rows = nn.Embedding(512, d_model)

    def forward(self, x):
        return x + self.rows(torch.arange(x.shape[-2], device=x.device))


class LearnedFromZero(nn.Module):
    """As vision transformers start."""

    def __init__(self, d_model):
        super().__init__()
        self.rows = nn.Parameter(torch.zeros(1, 300, d_model))

    def forward(self, x):
        return x + self.rows[:, : x.shape[1]]


class CodeAlone(Sound):
    def forward(self, x):
        return self.code(np.arange(x.shape[-2])).to(x)


class SequenceFirst(Sound):
    def forward(self, x):
        return x + self.code(np.arange(len(x)))[:, np.newaxis].to(x)


class ChannelsFirst(Sound):
    def forward(self, x):
        if x.shape[-2] != self.d_model:
            raise ValueError("x must be [batch, d_model, length]")
        return x + self.code(np.arange(x.shape[-1])).T.to(x)


class Unbatched(Sound):
    def forward(self, x):
        if x.ndim != 2:
            raise ValueError("x must be [length, d_model]")
        return super().forward(x)


class Scaled(Sound):
    """As T5 and the annotated transformer: the embeddings times the root of d."""

    def forward(self, x):
        return x * math.sqrt(self.d_model) + self.code(np.arange(x.shape[-2])).to(x)


class Counting(nn.Module):
    """No sinusoid at all, and no fault in that."""

    def __init__(self, d_model):  # noqa: ARG002
        super().__init__()

    def forward(self, x):
        return x + torch.arange(x.shape[-2]).to(x)[:, None]


class OneAxisMore(Table):
    """Another shape than x had, and no error."""

    def forward(self, x):
        return x.unsqueeze(1) + self.pe[: x.shape[-2]].to(x.dtype)


class WholeNumbers(Table):
    """A table of integers: few codes for many positions."""

    def table(self, d_model):
        return super().table(d_model).round()


class SpeedsOfItsOwn(Table):
    """Each pair turns e**2 times slower than the one before, at every width."""

    def table(self, d_model):
        k = torch.arange((d_model + 1) // 2).double()
        angle = torch.arange(self.length)[:, None] * torch.exp(-2 * k)
        return torch.stack([angle.sin(), angle.cos()], 2).flatten(1)[:, :d_model]


# The faults


class AcrossTheBatch(Sound):
    def forward(self, x):
        if x.ndim < 3:
            return super().forward(x)
        rows = np.arange(x.shape[0] * x.shape[1])
        return x + self.code(rows).reshape(x.shape).to(x)


class OwnExponent(Table):
    """Each column its own exponent: the cosine does not match its sine."""

    def table(self, d_model):
        k = torch.arange(d_model, dtype=torch.float64)
        angle = torch.arange(self.length)[:, None] * 10_000.0 ** (-k / d_model)
        return torch.where(k % 2 == 0, angle.sin(), angle.cos()).float()


class DividesByZero(Table):
    def table(self, d_model):
        half = d_model // 2
        k = torch.arange((d_model + 1) // 2)
        angle = torch.arange(self.length)[:, None] * 1e-4 ** (k / (half - 1))
        return torch.cat([angle.sin(), angle.cos()], 1)[:, :d_model]


class DoesNotFit(Table):
    def table(self, d_model):
        rows = torch.empty(self.length, d_model)
        k = torch.arange(0, d_model, 2)
        angle = torch.arange(self.length)[:, None] * 1e-4 ** (k / d_model)
        rows[:, 0::2], rows[:, 1::2] = angle.sin(), angle.cos()
        return rows


class OneLength(Table):
    length = 100

    def forward(self, x):
        return x + self.pe.to(x.dtype)


class Clamps(Table):
    def forward(self, x):
        rows = torch.arange(x.shape[-2]).clamp(max=self.length - 1)
        return x + self.pe[rows].to(x.dtype)


class Overflows(Sound):
    """Angles in a type that ends at 65504."""

    def forward(self, x):
        rows = torch.arange(x.shape[-2]).double()
        rows[rows > 65504] = math.inf
        k = torch.arange(self.d_model) // 2 * 2
        angle = rows[:, None] * 1e-4 ** (k / self.d_model)
        even = torch.arange(self.d_model) % 2 == 0
        return x + torch.where(even, angle.sin(), angle.cos()).to(x)


class Widens(Table):
    def forward(self, x):
        return x + self.pe[: x.shape[-2]].float()


class Float32Angles(Sound):
    def code(self, positions):
        k = torch.arange(self.d_model) // 2 * 2
        rows = torch.as_tensor(positions, dtype=torch.float32)
        angle = rows[..., None] * torch.exp(k * (-math.log(1e4) / self.d_model))
        even = torch.arange(self.d_model) % 2 == 0
        return torch.where(even, angle.sin(), angle.cos())


class GivenCountedInHalf(Float32Angles):
    def forward(self, x, *, positions=None):
        given = None if positions is None else positions.to(x)
        return super().forward(x, positions=given)


class CountsInHalf(Sound):
    def forward(self, x):
        k = torch.arange(self.d_model) // 2 * 2
        rows = torch.arange(x.shape[-2]).to(x.dtype)
        angle = rows[:, None] * torch.exp(k * (-math.log(1e4) / self.d_model)).to(x)
        even = torch.arange(self.d_model) % 2 == 0
        return x + torch.where(even, angle.sin(), angle.cos())


class SlowCountsInHalf(Sound):
    """Positions that are equal, though the codes are nearly right."""

    def forward(self, x):
        rows = torch.arange(x.shape[-2]).to(x.dtype).double()
        speeds = 1e-3 * torch.linspace(0.5, 1, self.d_model, dtype=torch.float64)
        return x + (rows[:, None] * speeds).cos().to(x)


class FrequenciesInHalf(Table):
    """Right as long as its frequencies have never been rounded."""

    def keep(self, rows):  # noqa: ARG002
        k = torch.arange(self.d_model) // 2 * 2
        self.register_buffer("speeds", 1e-4 ** (k / self.d_model))

    def forward(self, x):
        angle = torch.arange(x.shape[-2])[:, None] * self.speeds.float()
        even = torch.arange(self.d_model) % 2 == 0
        return x + torch.where(even, angle.sin(), angle.cos()).to(x)


class FromOne(Sound):
    """All positions count from 1, those that are given too: a convention."""

    def forward(self, x, *, positions=None):
        if positions is None:
            positions = torch.arange(1, x.shape[-2] + 1)
        return super().forward(x, positions=positions)


class IgnoresPositions(Sound):
    def forward(self, x, *, positions=None, offset=0):  # noqa: ARG002
        return super().forward(x, offset=offset)


class Truncates(Sound):
    def forward(self, x, *, positions=None, offset=0):
        positions = None if positions is None else positions.long()
        return super().forward(x, positions=positions, offset=offset)


class Wraps(Table):
    """Python's negative index: position -3 is the third row from the end."""

    def forward(self, x, *, positions=None):
        rows = torch.arange(x.shape[-2]) if positions is None else positions
        return x + self.pe[rows].to(x.dtype)


class IgnoresOffset(Sound):
    def forward(self, x, *, positions=None, offset=0):  # noqa: ARG002
        return super().forward(x, positions=positions)


class FirstRowForAll(Sound):
    """positions [batch, length], of which one row is used."""

    def forward(self, x, *, positions=None, offset=0):
        if positions is not None and positions.ndim > 1:
            positions = positions[0]
        return super().forward(x, positions=positions, offset=offset)


class ForgetsForOneWord(Sound):
    """A short cut for decoding, which begins at the first row."""

    def forward(self, x, *, positions=None, offset=0):
        if x.shape[-2] == 1 and positions is None:
            offset = 0
        return super().forward(x, positions=positions, offset=offset)


class FromOneInTraining(Table):
    def forward(self, x):
        first = int(self.training)
        return x + self.pe[first : first + x.shape[-2]].to(x)


class PlainAttribute(Table):
    def keep(self, rows):
        self.pe = rows


class NotInTheCheckpoint(Table):
    persistent = False


class Grows(Table):
    length = 100

    def forward(self, x):
        if x.shape[-2] > len(self.pe):
            self.pe = codes(np.arange(x.shape[-2]), self.d_model)
        return super().forward(x)


class Noise(Sound):
    def forward(self, x):
        return functional.dropout(super().forward(x))


class KeyWithoutDtype(Sound):
    """A cache that forgets on what its contents depend."""

    def key(self, x, offset):
        return x.shape[-2], offset

    def __init__(self, d_model):
        super().__init__(d_model)
        self.cache = {}

    def forward(self, x, *, offset=0):
        key = self.key(x, offset)
        if key not in self.cache:
            rows = self.code(torch.arange(x.shape[-2]) + offset)
            self.cache[key] = rows.to(x.dtype)
        return x + self.cache[key].to(x)


class KeyWithoutOffset(KeyWithoutDtype):
    def key(self, x, offset):  # noqa: ARG002
        return x.shape[-2], x.dtype


class FullKey(KeyWithoutDtype):
    def key(self, x, offset):
        return x.shape[-2], x.dtype, offset


class WritesInX(Sound):
    def forward(self, x):
        return x.add_(self.code(np.arange(x.shape[-2])).to(x))


class Detaches(Sound):
    def forward(self, x):
        return super().forward(x.detach())


class HalfTheGradient(Sound):
    def forward(self, x):
        return super().forward(x / 2 + x.detach() / 2)


class Times(Table):
    def forward(self, x):
        return x * self.pe[: x.shape[-2]].to(x.dtype)


class LengthFromTheBatch(Table):
    def forward(self, x):
        return x + self.pe[None, : len(x)].to(x.dtype)


class AfterAToken(Learned):
    """As a ViT: a token of its own comes before x, which has one length."""

    def __init__(self, d_model):
        super().__init__(d_model)
        self.token = nn.Parameter(torch.zeros(1, 1, d_model))
        self.rows = nn.Parameter(torch.randn(17, d_model))

    def forward(self, x):
        token = self.token.expand(len(x), -1, -1)
        return torch.cat([token, x], 1) + self.rows.to(x.dtype)


class BatchAsLength(Sound):
    """Looks for the length at the wrong axis where the batch is the longer one."""

    def forward(self, x):
        if x.shape[0] <= x.shape[1]:
            return super().forward(x)
        return x + self.code(np.arange(x.shape[0]))[: x.shape[0], None].to(x)


class OneWordIsBare(Sound):
    def forward(self, x):
        return super().forward(x) if x.shape[-2] > 1 else x


class FromTheMiddle(Sound):
    def forward(self, x):
        return x + self.code(np.arange(x.shape[-2]) - x.shape[-2] // 2).to(x)


class FromTheEnd(Sound):
    def forward(self, x):
        return x + self.code(np.arange(x.shape[-2])[::-1].copy()).to(x)


class Normalised(Sound):
    """A share of the text: another promise, and no fault."""

    def forward(self, x):
        share = np.arange(x.shape[-2]) / max(x.shape[-2] - 1, 1)
        return x + torch.tensor(share)[:, None].to(x)


class OneSpeed(Table):
    def table(self, d_model):
        angle = torch.arange(self.length).double()[:, None]
        waves = torch.stack([angle.sin(), angle.cos()], 2).flatten(1)
        return waves.repeat(1, (d_model + 1) // 2)[:, :d_model]


class InDegrees(Table):
    def table(self, d_model):
        angle = np.arange(self.length)[:, None] * 1e4 ** (
            -2 * np.arange((d_model + 1) // 2) / d_model
        )
        waves = np.stack([np.sin(np.radians(angle)), np.cos(np.radians(angle))], 2)
        return torch.tensor(waves.reshape(self.length, -1)[:, :d_model]).float()


class DropsTheCode(Sound):
    def __init__(self, d_model):
        super().__init__(d_model)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        return x + self.dropout(self.code(np.arange(x.shape[-2])).to(x))


class DropsTheSum(DropsTheCode):
    def forward(self, x):
        return self.dropout(x + self.code(np.arange(x.shape[-2])).to(x))


class DropsInPlace(Table):
    def forward(self, x):
        rows = self.pe[: x.shape[-2]]
        return x + functional.dropout(rows, 0.1, self.training, inplace=True).to(
            x.dtype
        )


class OnlyAtEvaluation(Sound):
    def forward(self, x):
        return x if self.training else super().forward(x)


class KeepsItsGraph(Learned):
    kept = None

    def forward(self, x):
        if self.kept is None or len(self.kept) != x.shape[-2]:
            self.kept = self.rows(torch.arange(x.shape[-2])) * 1.0
        return x + self.kept


class PaddingAtZero(Learned):
    def __init__(self, d_model):
        super().__init__(d_model)
        self.rows = nn.Embedding(512, d_model, padding_idx=0)


class InAList(Table):
    def keep(self, rows):
        self.rows = [rows]

    def forward(self, x):
        return x + self.rows[0][: x.shape[-2]].to(x.dtype)


class WithProjection(Sound):
    """Works on float32 alone, as every linear layer."""

    def __init__(self, d_model):
        super().__init__(d_model)
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.linear = nn.Linear(d_model, d_model)

    def forward(self, x):
        return self.linear(x) + self.code(np.arange(x.shape[-2])).to(x)


class MasksPadding(Sound):
    """What is zero is padding, and gets no position."""

    def forward(self, x):
        words = (x != 0).any(-1, keepdim=True)
        return x + words * self.code(np.arange(x.shape[-2])).to(x)


class ScaledSum(Sound):
    def forward(self, x):
        return 0.5 * super().forward(x)


class TrainedSinusoid(Table):
    def keep(self, rows):
        self.pe = nn.Parameter(rows)


class OffByTwo(Learned):
    """As BART: the first two rows are for something else."""

    def forward(self, x):
        return x + self.rows(torch.arange(x.shape[-2], device=x.device) + 2)


class PlacesOnTheProcessor(Learned):
    def forward(self, x):
        return x + self.rows(torch.arange(x.shape[-2]))


class TrainedScale(Table):
    """A number to train, no table; and a table that is a frozen parameter."""

    def keep(self, rows):
        self.scale = nn.Parameter(torch.ones(()))
        self.pe = nn.Parameter(rows, requires_grad=False)

    def forward(self, x):
        return x + self.scale.to(x.dtype) * self.pe[: x.shape[-2]].to(x.dtype)


# Sound, with something that a checker may take for a fault: its name comes first


class OneStepAtATime(Sound):
    """offset: one position for all rows is no wrong offset."""

    def forward(self, x, step=None):
        return x + self.code(np.arange(x.shape[-2]) if step is None else step).to(x)


class AStrideCalledStep(Sound):
    """offset: an argument that begins at 1 is none."""

    def forward(self, x, step=1):
        return x + self.code(step * np.arange(x.shape[-2])).to(x)


class ShiftedAtRandomInTraining(Sound):
    """training: other positions there are meant."""

    def forward(self, x):
        start = int(torch.randint(20, ())) if self.training else 0
        return x + self.code(start + np.arange(x.shape[-2])).to(x)


class StretchedToTheText(LearnedFromZero):
    """prefix: a step that depends on the length is told."""

    def __init__(self, d_model):
        super().__init__(d_model)
        self.rows = nn.Parameter(torch.randn(1, d_model, 30))

    def forward(self, x):
        rows = functional.interpolate(self.rows.float(), x.shape[-2], mode="linear")
        return x + rows[0].T.to(x)


class GateThatStartsShut(Sound):
    """axes: all positions alike, until something is trained."""

    def __init__(self, d_model):
        super().__init__(d_model)
        self.gate = nn.Parameter(torch.zeros(d_model))

    def code(self, positions):
        return self.gate.tanh() * super().code(positions).to(self.gate.device)


class ToBeScripted(nn.Module):
    """call: no signature, no deep copy, no line of source."""

    def __init__(self, d_model):
        super().__init__()
        self.register_buffer("pe", codes(np.arange(600), d_model))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.pe[: x.shape[1]].to(x.dtype)


SOUND = {
    "computed": Sound,
    "one step at a time": OneStepAtATime,
    "a stride called step": AStrideCalledStep,
    "shifted at random in training": ShiftedAtRandomInTraining,
    "stretched to the text": StretchedToTheText,
    "a gate that starts shut": refusing_odd(GateThatStartsShut),
    "scripted": lambda d_model: torch.jit.script(ToBeScripted(d_model)),
    "table": Table,
    "code alone": CodeAlone,
    "sequence first": SequenceFirst,
    "channels first": ChannelsFirst,
    "unbatched": Unbatched,
    "scaled": Scaled,
    "learned": Learned,
    "learned from zero": LearnedFromZero,
    "speeds of its own": SpeedsOfItsOwn,
    "normalised": Normalised,
    "from the end": FromTheEnd,
    "dropout after the sum": DropsTheSum,
    "a projection": WithProjection,
    "padding masked": MasksPadding,
    "a scaled sum": ScaledSum,
    "trained sinusoid": TrainedSinusoid,
    "trained scale": TrainedScale,
    "rows from two on": OffByTwo,
    "after a token": AfterAToken,
    "even widths only": refusing_odd(Table),
}


# check: the module with the fault, words of the finding, a module without
FAULTS = [
    ("axes", nn.Identity, "same encoding", LearnedFromZero),
    ("axes", AcrossTheBatch, "sequences of a batch", Sound),
    ("axes", Times, "x times the encoding. At position 0 it makes", Sound),
    ("axes", LengthFromTheBatch, "comes back as [1, 5, ", Unbatched),
    ("convention", OwnExponent, "not pairs", Learned),
    ("widths", DividesByZero, "NaN or infinity at d_model = 2", Sound),
    ("widths", DoesNotFit, "d_model = 7 fails", refusing_odd(DoesNotFit)),
    ("length", OneLength, "100 positions and no others", Table),
    ("length", Clamps, "1,200 has the same encoding as position 1,199", Table),
    ("length", Overflows, "NaN or infinity at length 100,000", Sound),
    ("dtype", Widens, "bfloat16 gives float32", Table),
    ("accuracy", Float32Angles, "From 1,000,000 on that shows even in bfloat16", Sound),
    ("half", CountsInHalf, "bfloat16: ", Sound),
    ("half", CountsInHalf, "float16: 2048 different encodings", Float32Angles),
    ("half", GivenCountedInHalf, "positions past 256 that it is given are", Sound),
    ("half", SlowCountsInHalf, "largest error 0.005", Sound),
    ("half", FrequenciesInHalf, "After .bfloat16().float()", Table),
    ("positions", IgnoresPositions, "does not give the usual encodings", FromOne),
    ("positions", Truncates, "positions = 2.5 gets the encoding of position 2", Sound),
    ("positions", Wraps, "positions = -3 gets the encoding of position 1197", Sound),
    ("positions", FirstRowForAll, "each sequence gets those of the first", Sound),
    ("offset", IgnoresOffset, "offset = 1 does not give", Sound),
    ("offset", ForgetsForOneWord, "right for two words, and not for one", Sound),
    ("device", PlainAttribute, "plain attributes: pe", Table),
    ("meta", NotInTheCheckpoint, "whatever the memory held", Table),
    ("state_dict", Grows, "does not load into a new one", Table),
    ("axes", OneAxisMore, "comes back as [2, 1, 5, ", Sound),
    ("apart", WholeNumbers, "are the nearest: 0 of", Counting),
    ("determinism", Noise, "two calls give different encodings", Sound),
    ("history", KeyWithoutDtype, "x in bfloat16", FullKey),
    ("history", KeyWithoutOffset, "another offset", FullKey),
    ("input", WritesInX, "writes into the tensors", Sound),
    ("gradient", Detaches, "does not reach x", Sound),
    ("gradient", HalfTheGradient, "does not reach x", Scaled),
    ("batches", BatchAsLength, "A batch of 11 gets other", Sound),
    ("prefix", FromTheMiddle, "The first 2 of 64 positions", FromTheEnd),
    ("prefix", OneWordIsBare, "A word alone gets another encoding", Sound),
    ("apart", OneSpeed, "172 and 882 are the nearest", Normalised),
    ("convention", InDegrees, "taken for degrees", SpeedsOfItsOwn),
    ("rows", PaddingAtZero, "Position 0 is row 0 of rows.weight, which gets", OffByTwo),
    ("training", DropsTheCode, "hits the encoding alone (about 1", DropsTheSum),
    ("training", DropsInPlace, "change the encodings for ever", DropsTheSum),
    ("training", OnlyAtEvaluation, "nothing is added to x", Sound),
    ("training", FromOneInTraining, "others, and the same in each call", DropsTheSum),
    ("training", KeepsItsGraph, "The second step fails", Learned),
    ("device", InAList, "plain attributes: rows[0]", Table),
    ("device", PlacesOnTheProcessor, "places elsewhere", Learned),
]


@functools.cache
def report_of(build):
    """The report, made once a module."""
    return check_encoding(build, d_model=16)


def make_probe(build, d_model):
    """How a module is asked for its encodings."""
    return find_kind(Probe(build, d_model, "batch")).probe


def found_by(check, build, d_model=16):
    """What is wrong according to one check alone, its text for people left in."""
    with undisturbed():
        findings = CHECKS[check](make_probe(build, d_model))
        return [f for f in findings if f.severity == "wrong"]


def drawn(build, rng):
    """The same, with a table of some other length where it has one."""
    if not (isinstance(build, type) and issubclass(build, Table)):
        return build
    if build.length != Table.length:
        return build  # its length is the fault
    return type(build.__name__, (build,), {"length": int(rng.integers(1000, 3000))})


@pytest.mark.parametrize(
    ("check", "faulty", "words", "sound"),
    [pytest.param(*f, id=f"{f[0]}-{f[1].__name__}") for f in FAULTS],
)
def test_a_check_alone_finds_the_fault_and_nothing_where_there_is_none(
    check, faulty, words, sound
):
    rng = np.random.default_rng(FAULTS.index((check, faulty, words, sound)))
    width = 2 * int(rng.integers(6, 25))
    found = found_by(check, faulty, width)
    assert any(words in finding.what for finding in found), found
    assert found_by(check, drawn(sound, rng), width) == []


def test_a_module_that_is_slow_to_build_is_built_rarely():
    built = []

    def build(d_model):
        built.append(d_model)
        return Table(d_model)

    check_encoding(build, d_model=16)
    assert built.count(16) <= 8


def test_where_two_calls_differ_nothing_else_is_reported():
    assert {found.check for found in report_of(Noise).findings} == {"determinism"}


def test_every_check_has_its_fault():
    assert {check for check, *_ in FAULTS} == set(CHECKS)


@pytest.mark.parametrize("name", SOUND)
def test_sound_modules_are_left_in_peace(name):
    report = report_of(SOUND[name])
    assert report.ok, str(report)
    assert report.ran and report.wrong == ()
    text = " ".join(finding.what for finding in report.findings)
    assert not re.search(r"Not told: [A-Z]\w+:", text)  # the checker's own errors


# What a module is: facts


def facts(build, check):
    report = report_of(build)
    return " ".join(f.what for f in report.findings if f.check == check)


@pytest.mark.parametrize(
    ("build", "axes"),
    [
        (Sound, "batch"),
        (SequenceFirst, "sequence"),
        (ChannelsFirst, "channels"),
        (Unbatched, "unbatched"),
        (OneLength, "batch"),
    ],
)
def test_the_order_of_the_axes_is_a_fact(build, axes):
    with undisturbed():
        assert make_probe(build, 16).axes == axes
    assert AXES[axes] in facts(build, "axes")


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (Sound, "x + encoding"),
        (CodeAlone, "encoding alone"),
        (Scaled, "returns 4 x + encoding"),
        (lambda d: nn.Sequential(Sound(d), nn.LayerNorm(d)), "more than a multiple"),
    ],
)
def test_what_comes_back_is_a_fact(build, words):
    assert words in facts(build, "axes")


@pytest.mark.parametrize("key", ["paper", "tensor2tensor", "fairseq", "denk", "kernes"])
def test_published_conventions_are_recognized(key):
    """The tables come from pe_lib.conventions, which has them from each text."""
    known = conventions.CONVENTIONS[key]

    class Published(Table):
        length = 100

        def table(self, d_model):
            return torch.from_numpy(
                conventions.convention_table(key, 100, d_model)
            ).float()

    report = check_encoding(Published, d_model=32)
    assert report.ok, str(report)
    found = report.convention
    for field in ("spacing", "first_pair", "base", "layout", "first", "start"):
        assert getattr(found, field) == getattr(known, field), field


BASES = (2.5, 1234.0, 9999.5, 41829.37, 10_000 * 8 ** (64 / 62), 1e6)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("layout", ["interleaved", "half_split"])
@pytest.mark.parametrize("spacing", ["paper", "endpoint"])
def test_other_bases_are_recognized(base, layout, spacing):
    given = Convention("", None, base=base, layout=layout, spacing=spacing)
    codes = table(given, 32, range(64)).astype(np.float32)
    found = recognize(3 * codes.astype(np.float64))
    assert found.convention is not None
    speeds = [[float(w) for _, w in c.columns(32)] for c in (found.convention, given)]
    np.testing.assert_allclose(*speeds, rtol=1e-6)
    assert found.convention.layout == layout
    if base == round(base, 2):  # any list is one of either spacing, for some base
        assert found.convention.spacing == spacing
    assert found.scale == pytest.approx(3)


OLD = rotary_frequencies(32)
RULES = {
    "linear": interpolate(OLD, 8),
    "ntk": ntk(OLD, 8),
    "yarn": by_parts(OLD, 8, 2048),
    "yarn's program": by_parts(OLD, 8, 2048, ramp="index"),
    "llama3": llama3(OLD, 8, 8192),
    "longrope": longrope(OLD, np.linspace(1, 7.3, 16)),
    "golden": 1.618 ** -np.arange(16.0),
}
OURS = {
    **{f"{kind.__name__} {base:.9g}": functools.partial(kind, base=base)
       for kind in (SinusoidalPositionalEncoding, RotaryEmbedding)
       for base in (2.5, 9999.5, 1e6)},
    **{f"Rotary, {layout}, {name}": functools.partial(
        RotaryEmbedding, layout=layout, frequencies=speeds)
       for layout in ("interleaved", "half_split") for name, speeds in RULES.items()},
    "LearnedPositionalEmbedding": functools.partial(
        LearnedPositionalEmbedding, max_length=300),
    "AlibiBias": AlibiBias,
    "T5Bias": T5Bias,
}  # fmt: skip


@pytest.mark.parametrize("name", OURS)
def test_our_modules_have_no_fault(name):
    """With any base and any rule that stretches frequencies."""
    report = check_encoding(OURS[name], d_model=32)
    assert report.ok and report.ran, str(report)


def test_unpublished_frequencies_are_no_fault():
    class Unpublished(Table):
        def table(self, d_model):
            angle = torch.arange(self.length)[:, None] / torch.arange(
                2, 2 + d_model // 2
            )
            return torch.cat([angle.sin(), angle.cos()], 1)

    assert found_by("convention", Unpublished) == []
    assert "frequencies of its own" in facts(refusing_odd(Unpublished), "convention")


@pytest.mark.parametrize("build", [Learned, LearnedFromZero, Counting])
def test_what_is_no_sinusoid_is_called_so(build):
    report = report_of(build)
    assert report.convention is None
    assert "no sinusoids" in facts(build, "convention")
    assert not {f.check for f in report.wrong} & {"convention", "accuracy", "axes"}


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (Sound, "took 100,000 positions; more were not tried"),
        (Table, "refuses more than 1,200 positions"),
        (Learned, "refuses more than 512 positions"),
    ],
)
def test_the_longest_input_is_a_fact(build, words):
    assert words in facts(build, "length")


def test_a_million_positions_are_tried(monkeypatch):
    monkeypatch.setattr("pe_lib.check.longest.LARGEST", 2**24)
    found = check_encoding(Sound).findings
    assert "It took 1,000,000 positions." in [f.what for f in found]


def test_accuracy_is_measured_up_to_ten_million():
    sound = facts(Sound, "accuracy")
    for position in ("1,000", "10,000", "100,000", "1,000,000", "10,000,000"):
        assert f"{position}: 3.0e-08 (0.50 ulp)" in sound
    assert "1,200: " in facts(Table, "accuracy")
    assert "10,000" not in facts(Table, "accuracy")


def test_no_accuracy_where_the_speeds_do_not_depend_on_the_width():
    found = report_of(SpeedsOfItsOwn)
    assert found.convention.base == pytest.approx(math.exp(16), rel=1e-4)
    assert "Not told: at d_model = 8" in facts(SpeedsOfItsOwn, "accuracy")


@pytest.mark.parametrize(
    ("build", "check", "words"),
    [
        (FromTheEnd, "prefix", "counts from the end"),
        (Normalised, "prefix", "divides by the length"),
        (ScaledSum, "convention", "times 0.5, as x is: the sum is scaled"),
        (TrainedSinusoid, "convention", "as trained weights: it may change"),
        (OffByTwo, "rows", "row t + 2 of rows.weight; 2 of 512 rows are never taken"),
        (Learned, "rows", "Position t is row t of rows.weight."),
        (DropsTheSum, "training", "Dropout after the sum, of about 1"),
        (AfterAToken, "rows", "row t + 1 of rows; 1 of 17 rows are never taken"),
        (WithProjection, "dtype", "refuses bfloat16 x"),
    ],
)
def test_unusual_designs_are_named(build, check, words):
    assert words in facts(build, check)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA here")
@pytest.mark.parametrize("build", [Sound, Table, Learned])
def test_on_a_gpu_too(build):
    assert "meta and cuda" in facts(build, "device")


# Bad modules never crash it


class Raises(nn.Module):
    def __init__(self, when):
        super().__init__()
        self.when = when
        if when == "build":
            raise KeyError("nothing here")

    def forward(self, x):
        if self.when == "forward":
            raise KeyError("nothing here")
        if self.when == "second" and not self.training and hasattr(self, "used"):
            raise KeyError("nothing here")
        self.used = True
        return {"tuple": (x,), "none": None, "shape": x[..., :1], "second": x}[
            self.when
        ]


@pytest.mark.parametrize("when", ["build", "forward", "tuple", "none", "shape"])
def test_what_cannot_run_is_a_finding(when):
    report = check_encoding(lambda _: Raises(when))
    assert not report.ok and not report.ran
    (finding,) = report.findings
    assert finding.check == "call"
    assert "5" in finding.fix


def test_an_exception_in_one_check_is_its_finding():
    report = check_encoding(lambda _: Raises("second"), d_model=16)
    assert not report.ok
    assert any("KeyError: 'nothing here'" in f.what for f in report.findings)


@pytest.mark.parametrize("build", [None, 3])
def test_build_is_called(build):
    with pytest.raises(TypeError, match=r"build must be callable.*got"):
        check_encoding(build)


@pytest.mark.parametrize("build", [Sound, RotaryEmbedding, AlibiBias])
def test_a_module_that_is_there_already_is_checked_as_its_class(build):
    module = build(16)
    before = {name: part.clone() for name, part in module.named_buffers()}
    report = check_encoding(module, d_model=16)
    other = check_encoding(build, d_model=16, ignore=["widths"])
    assert (report.kind, report.wrong, report.convention) == (
        (other.kind, (), other.convention)
    )
    assert {f.check for f in report.findings} == {f.check for f in other.findings}
    assert all(torch.equal(p, before[name]) for name, p in module.named_buffers())


def test_what_is_wrong_with_a_module_that_is_there_already():
    module = nn.Identity()
    assert check_encoding(module).wrong == check_encoding(lambda _: module).wrong


def test_a_module_has_one_width():
    with pytest.raises(ValueError, match="the module's head_dim, 16, got 64"):
        check_encoding(RotaryEmbedding(16))


def test_the_axes_may_be_given():
    batch = AXES["batch"]
    for build, axes in (
        (Sound, batch),
        (RotaryEmbedding, "[batch, heads, length, dim]"),
    ):
        assert check_encoding(build, d_model=16, axes=axes).ok
    (found,) = check_encoding(SequenceFirst, d_model=16, axes=batch).wrong
    assert found.what == f"x is {AXES['sequence']} and not {batch}."
    with pytest.raises(ValueError, match=r"axes must be .* got 'bhld'"):
        check_encoding(Sound, axes="bhld")


@pytest.mark.parametrize(("d_model", "error"), [(0, ValueError), (2.0, TypeError)])
def test_d_model_is_a_width(d_model, error):
    with pytest.raises(error, match=rf"d_model must be .*, got {d_model}"):
        check_encoding(Sound, d_model=d_model)


# It leaves no traces


def test_no_random_state_is_touched_and_nothing_warns():
    class Wild(Learned):
        def __init__(self, d_model):
            super().__init__(d_model)
            warnings.warn("loud", stacklevel=1)
            random.random(), np.random.random(), torch.rand(1)  # noqa: NPY002

    def states():
        torch_state = torch.random.get_rng_state().tolist()
        return torch_state, random.getstate(), str(np.random.get_state())  # noqa: NPY002

    before = states()
    assert check_encoding(Wild, d_model=16).ok
    assert states() == before
    torch.rand(1)
    assert states() != before


@pytest.mark.parametrize("build", [Sound, Table, Learned, Float32Angles])
def test_a_report_takes_less_than_five_seconds(build, monkeypatch):
    monkeypatch.setattr("pe_lib.check.longest.LARGEST", 2**24)
    torch.zeros(1, device="meta").add(1)  # torch imports more when this comes first
    begin = time.process_time()
    check_encoding(build)
    assert time.process_time() - begin < 5


# The report


REPORT = Report(
    "Module",
    64,
    "adds the encoding to x",
    Convention("a module", None),
    (
        Finding("axes", "fact", "x is [batch, length, d_model].", "So it is."),
        Finding("meta", "wrong", "It is lost.", "It is needed.", "Keep it."),
        Finding("length", "wrong", "It ends.", "Texts go on."),
    ),
)


def test_the_report_says_what_why_and_how_to_mend():
    assert str(REPORT) == (
        "Module, d_model = 64\n"
        "It adds the encoding to x.\n"
        "WRONG: length\n  It ends.\n  Why: Texts go on.\n"
        "Wrong once moved, cast, saved, of\nanother width or far out:\n"
        "WRONG: meta\n  It is lost.\n  Why: It is needed.\n  Fix: Keep it.\n"
        "fact: axes\n  x is [batch, length, d_model]. So it\n  is.\n"
        "2 wrong (1 later), 1 facts"
    )
    assert not REPORT.ok and REPORT.ran
    assert [f["later"] for f in REPORT.as_dict()["findings"]] == [False, True, False]


@pytest.mark.parametrize("width", [40, 72])
@pytest.mark.parametrize("build", [Sound, PlainAttribute, DoesNotFit, Float32Angles])
def test_the_text_keeps_its_width(build, width):
    text = report_of(build).as_text(width)
    assert max(map(len, text.splitlines())) <= width
