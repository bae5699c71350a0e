"""The checker on rotary modules, biases, and what it does not check."""

import functools
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from pe_lib.beyond.bias import alibi_bias, alibi_slopes, t5_buckets
from pe_lib.beyond.scaling import by_parts, interpolate, llama3, ntk
from pe_lib.check import check_encoding

DIM = 16


def angles(positions, dim=DIM, base=10_000.0):
    """Radians [length, dim / 2], in float64."""
    positions = torch.as_tensor(positions, dtype=torch.float64)
    pairs = torch.arange(0, dim, 2, dtype=torch.float64, device=positions.device)
    return positions[..., None] * base ** (-pairs / dim)


def in_halves(x):
    first, second = x.chunk(2, -1)
    return torch.cat([-second, first], -1)


def in_neighbours(x):
    return torch.stack([-x[..., 1::2], x[..., 0::2]], -1).flatten(-2)


class Rotary(nn.Module):
    """Sound, for queries and keys [batch, heads, length, dim]; faults by subclasses."""

    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def angles(self, length, dtype):  # noqa: ARG002
        return angles(range(length), self.dim)

    def tables(self, x, length):
        angle = self.angles(length, x.dtype)
        return torch.cat([angle, angle], -1)

    def turned(self, x, length):
        angle = self.tables(x, length)
        shape = [1] * x.ndim
        shape[-1], shape[self.axis(x)] = angle.shape[-1], length
        angle = angle.reshape(shape)
        return x * angle.cos().to(x) + self.half(x) * angle.sin().to(x)

    def half(self, x):
        return in_halves(x)

    def axis(self, x):
        return x.ndim - 2

    def forward(self, q, k):
        length = q.shape[self.axis(q)]
        return self.turned(q, length), self.turned(k, length)


class Interleaved(Rotary):
    def tables(self, x, length):
        return self.angles(length, x.dtype).repeat_interleave(2, -1)

    def half(self, x):
        return in_neighbours(x)


class OneTensor(Rotary):
    def forward(self, x):
        return self.turned(x, x.shape[self.axis(x)])


class HeadsLast(Rotary):
    """[batch, length, heads, dim]."""

    def axis(self, x):
        return x.ndim - 3


class HeadsLastOnly(Rotary):
    """The same, with axes that are counted from the front: three spread wrongly."""

    def forward(self, x):
        angle = angles(range(x.shape[1]), self.dim)[:, None]
        cos, sin = (f(angle).to(x) for f in (torch.cos, torch.sin))
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


class CosSin(Rotary):
    """As transformers: x and position ids in, cosines and sines out."""

    def forward(self, x, position_ids):
        angle = angles(position_ids, self.dim)
        angle = torch.cat([angle, angle], -1)
        return angle.cos().to(x), angle.sin().to(x)


class CosSinHalf(Rotary):
    """From a length alone, one column a pair."""

    def forward(self, length):
        if isinstance(length, torch.Tensor):
            raise TypeError("length must be an integer")
        angle = angles(range(length), self.dim)
        return angle.cos().float(), angle.sin().float()


class Partial(Rotary):
    def turned(self, x, length):
        width = self.dim // 2
        part = Rotary(width)
        return torch.cat([part.turned(x[..., :width], length), x[..., width:]], -1)


class Stretched(Rotary):
    """Other frequencies."""

    def __init__(self, dim, rule):
        super().__init__(dim)
        old = 10_000.0 ** (-np.arange(0, dim, 2) / dim)
        self.speeds = rule(old)

    def angles(self, length, dtype):  # noqa: ARG002
        return torch.arange(length)[:, None] * torch.tensor(self.speeds)


class Dynamic(Rotary):
    """Slower for a longer text, and nothing remembered."""

    def angles(self, length, dtype):  # noqa: ARG002
        base = 10_000.0 * max(1, length / 64) ** (self.dim / (self.dim - 2))
        return angles(range(length), self.dim, base)


class LengthFirst(OneTensor):
    """[length, batch, heads, dim]."""

    def axis(self, x):  # noqa: ARG002
        return 0


class GrowsAsTheOtherShrinks(Rotary):
    """norm: of one alone it may change, as in xPos."""

    def forward(self, q, k):
        size = (0.99 ** torch.arange(q.shape[-2]).double()[:, None]).to(q)
        q, k = super().forward(q, k)
        return q * size, k / size


class PictureOfRowsAndColumns(Rotary):
    """length: for one number of patches alone."""

    def turned(self, x, length):
        if length != 36:
            raise ValueError(f"needs 36 patches, got {length}")
        at, half = torch.arange(36), self.dim // 4 * 2
        turned = []
        for part, places in ((x[..., :half], at // 6), (x[..., half:], at % 6)):
            angle = angles(places, part.shape[-1]).repeat(1, 2)
            cos, sin = angle.cos().to(x), angle.sin().to(x)
            turned.append(part * cos + in_halves(part) * sin)
        return torch.cat(turned, -1)


class ComplexHands(CosSinHalf):
    """call: complex cosines and sines, from a length."""

    def forward(self, length):
        return torch.complex(*super().forward(length))


class SinesFirst(CosSin):
    """frequencies, cache: in either order, and no longer than x."""

    def forward(self, x, position_ids):
        tables = super().forward(x, torch.arange(x.shape[-2], device=x.device))
        return tuple(table[position_ids] for table in reversed(tables))


# faults


class MixedLayouts(Rotary):
    """Cosines for neighbours, rotation for halves."""

    def tables(self, x, length):
        return self.angles(length, x.dtype).repeat_interleave(2, -1)


class Swapped(Rotary):
    def turned(self, x, length):
        angle = self.tables(x, length)
        return x * angle.sin().to(x) + self.half(x) * angle.cos().to(x)


class Grows(Rotary):
    def turned(self, x, length):
        row = torch.arange(length)[:, None] * 0.01 + 1
        return super().turned(x, length) * row.to(x)


class CountsFromTheQuery(Rotary):
    """Its positions are squares: no shift of the text leaves a score alone."""

    def angles(self, length, dtype):  # noqa: ARG002
        return angles([t * t / 8 for t in range(length)], self.dim)


class CountsInHalf(Rotary):
    def angles(self, length, dtype):
        return angles(torch.arange(length).to(dtype), self.dim)


class SpeedsInABuffer(Rotary):
    def __init__(self, dim):
        super().__init__(dim)
        self.register_buffer("speeds", angles([1], dim)[0].float())

    def angles(self, length, dtype):  # noqa: ARG002
        return torch.arange(length)[:, None] * self.speeds.float()


class PositionsInHalf(Rotary):
    """Counts as far as float16 does, 2048, and then in steps."""

    def angles(self, length, dtype):  # noqa: ARG002
        return angles(torch.arange(length).half(), self.dim)


class Remembers(Rotary):
    """Dynamic scaling that never scales back."""

    longest = 64

    def angles(self, length, dtype):  # noqa: ARG002
        self.longest = max(length, self.longest)
        base = 10_000.0 * (self.longest / 64) ** (self.dim / (self.dim - 2))
        return angles(range(length), self.dim, base)


class NothingTurns(CosSin):
    """The frequencies were lost on the way."""

    def forward(self, x, position_ids):
        cos, sin = super().forward(x, position_ids)
        return torch.ones_like(cos), torch.zeros_like(sin)


class Cached(Rotary):
    """Sound, with positions and an offset; the faults of a cache by subclasses."""

    def __init__(self, dim):
        super().__init__(dim)
        self.register_buffer("speeds", angles([1], dim)[0], persistent=False)

    def _apply(self, fn, recurse=True):
        super()._apply(fn, recurse)
        if not self.speeds.is_meta:
            self.speeds = angles([1], self.dim)[0]
        return self

    def forward(self, q, k, positions=None, offset=0):
        if positions is None:
            positions = torch.arange(q.shape[-2], device=q.device) + offset
        return self.at(q, positions), self.at(k, self.keys(positions))

    def keys(self, positions):
        return positions

    def at(self, x, positions):
        angle = positions[..., None].double() * self.speeds.to(x.device)
        angle = torch.cat([angle, angle], -1)
        angle = angle[:, None] if angle.ndim == 3 else angle
        return self.by(x, *self.dropped(angle.cos(), angle.sin()))

    def dropped(self, cos, sin):
        return cos, sin

    def by(self, x, cos, sin):
        return (x * cos + in_halves(x) * sin).to(x.dtype)


class KeysForgetTheOffset(Cached):
    def keys(self, positions):
        return positions - positions.min()


class FirstRowForAll(Cached):
    def at(self, x, positions):
        return super().at(x, positions[0] if positions.ndim > 1 else positions)


class WritesInPlace(Cached):
    def by(self, x, cos, sin):
        turned = super().by(x, cos, sin)
        x.copy_(turned)
        return turned


class TurnsWithoutGradient(Cached):
    @torch.no_grad()
    def by(self, x, cos, sin):
        return super().by(x, cos, sin)


class Widens(Cached):
    def by(self, x, cos, sin):
        return x * cos.float() + in_halves(x) * sin.float()


class DropsAngles(Cached):
    def dropped(self, cos, sin):
        return functional.dropout(cos, 0.1, self.training), sin


class PlainTables(Cached):
    def __init__(self, dim):
        super().__init__(dim)
        self.held = angles(range(200), dim)

    def at(self, x, positions):
        self.held.to(x.device) if x.device.type != "meta" else self.held + x.sum()
        return super().at(x, positions)


class LostOnMeta(Cached):
    def _apply(self, fn, recurse=True):
        return nn.Module._apply(self, fn, recurse)


class SavesWhatGrows(Cached):
    def __init__(self, dim):
        super().__init__(dim)
        self.register_buffer("table", torch.zeros(100, dim))

    def at(self, x, positions):
        if x.shape[-2] > len(self.table):
            self.table = torch.zeros(x.shape[-2], self.dim)
        return super().at(x, positions)


class AnglesUnderAutocast(Cached):
    """A product of matrices, which autocast computes in 16 bits."""

    def at(self, x, positions):
        if positions.ndim > 1:
            return super().at(x, positions)
        angle = positions[:, None].float() @ self.speeds[None].float()
        angle = torch.cat([angle, angle], -1)
        return self.by(x, angle.cos(), angle.sin())


class RandomTurns(Cached):
    def dropped(self, cos, sin):
        return functional.dropout(cos, 0.1), sin


class Ids(Rotary):
    """The popular form: ids [batch, length], and an axis for the heads."""

    def forward(self, q, k, position_ids=None):
        ids = torch.arange(q.shape[-2])[None] if position_ids is None else position_ids
        return self.by(q, ids), self.by(k, ids)

    def by(self, x, ids):
        angle = angles(ids.to(x.device), self.dim)
        angle = torch.cat([angle, angle], -1)[:, None]
        return x * angle.cos().to(x) + in_halves(x) * angle.sin().to(x)


class KeysIgnoreIds(Ids):
    def forward(self, q, k, position_ids=None):
        return super().forward(q, k, position_ids)[0], super().forward(q, k)[1]


class GivenIdsInHalf(Cached):
    def at(self, x, positions):
        return super().at(x, positions.to(x.dtype))


class FromIdsAlone(CosSin):
    """Its base is not round, and it takes floats for ids."""

    def forward(self, position_ids):
        angle = angles(position_ids, self.dim, 80_123.4).repeat_interleave(2, -1)
        return angle.cos().float(), angle.sin().float()


class ByName(Rotary):
    def forward(self, *, query, key):
        return Turned(*super().forward(query, key))


@dataclass
class Turned:
    query: torch.Tensor
    key: torch.Tensor


class Packed(HeadsLast):
    def forward(self, qkv):
        q, k, v = qkv.unbind(2)
        return torch.stack([*super().forward(q, k), v], 2)


class ForgetsThePast(Rotary):
    def forward(self, q, k, past_length=0):  # noqa: ARG002
        return super().forward(q, k)


class PassesTheWrongPart(Rotary):
    def turned(self, x, length):
        part = x[..., : self.dim // 2]
        return torch.cat([Rotary(self.dim // 2).turned(part, length), part], -1)


class ColumnTwice(Rotary):
    """A picture eight wide, of which the row is lost."""

    def angles(self, length, dtype):  # noqa: ARG002
        return angles(torch.arange(length) % 8, self.dim)


class KeysBackwards(Rotary):
    def forward(self, q, k):
        q, k = super().forward(q, k.roll(self.dim // 2, -1))
        return q, k.roll(self.dim // 2, -1)


class Counts(Rotary):
    seen = 0

    def angles(self, length, dtype):  # noqa: ARG002
        self.seen += length
        return angles(torch.arange(length) + self.seen, self.dim)


class StretchedInTraining(Rotary):
    def angles(self, length, dtype):  # noqa: ARG002
        return angles(range(length), self.dim) / (4 if self.training else 1)


class Image(nn.Module):
    """Half of the numbers for the row, half for the column: [b, d, h, w]."""

    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def code(self, rows, columns):
        waves = angles(range(max(rows, columns)), self.dim).sin().T
        down = waves[:, :rows, None].expand(-1, -1, columns)
        return torch.cat([down, waves[:, None, :columns].expand_as(down)])

    def forward(self, x):
        return x + self.code(*x.shape[-2:]).to(x)


class ImageOfRows(Image):
    def code(self, rows, columns):
        return super().code(rows, columns)[: self.dim // 2].repeat(2, 1, 1)


class ImageOfSizes(Image):
    """The code alone [rows x columns, d], from the size."""

    def forward(self, rows, columns):
        return self.code(rows, columns).flatten(1).T.float()


class ImageFlattened(Image):
    def code(self, rows, columns):
        return super().code(columns, rows).reshape(-1, rows, columns)


class LearnedFlattened(ImageFlattened):
    def __init__(self, dim):
        super().__init__(dim)
        self.sizes = nn.Parameter(torch.ones(dim, 1, 1))

    def code(self, rows, columns):
        return self.sizes * super().code(rows, columns)


class Tokens(nn.Module):
    """As BERT: words and places in one, from ids."""

    def __init__(self, dim):
        super().__init__()
        self.words, self.places = nn.Embedding(99, dim), nn.Embedding(512, dim)

    def forward(self, input_ids=None, position_ids=None):
        ids = torch.arange(input_ids.shape[1], device=input_ids.device)[None]
        return self.words(input_ids) + self.places(
            ids if position_ids is None else position_ids
        )


class TokensCounted(Tokens):
    """As OPT: places from a mask, which holds the past as well."""

    def forward(self, attention_mask, past_length=0):
        return self.places(attention_mask.cumsum(1)[:, past_length:] - 1)


class TokensShape(Tokens):
    """As RoFormer: places from the shape of the ids."""

    def forward(self, input_ids_shape):
        length, device = input_ids_shape[1], self.places.weight.device
        return self.places(torch.arange(length, device=device))


class TokensPadded(nn.Module):
    """As fairseq: computed from ids, of which 1 is padding and gets zeros."""

    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, input):  # noqa: A002
        kept = input.ne(1).long()
        angle = angles(kept.cumsum(1), self.dim)
        code = torch.cat([angle.sin(), angle.cos()], -1).float()
        return code * kept[..., None]


class FromOne(Rotary):
    def angles(self, length, dtype):  # noqa: ARG002
        return angles(range(1, length + 1), self.dim)


def rotary(forward):
    return type(forward.__name__, (HeadsLast,), {"forward": forward})


def words_and_ids(self, q, k, position_ids):  # as flash-attn packs texts
    angle = angles(position_ids.to(q.device), self.dim).repeat(1, 2)[:, None]
    cos, sin = angle.cos().to(q), angle.sin().to(q)
    return tuple(x * cos + in_halves(x) * sin for x in (q, k))


ROTARY_FAULTS = [
    (
        "relative",
        rotary(
            lambda s, qkv: s.turned(qkv.flatten(2, 3), qkv.shape[1]).unflatten(
                2, (3, -1)
            )
        ),
        "The values are turned as well",
    ),
    ("frequencies", lambda d: Stretched(d, lambda old: 0 * old + 1), "at one speed, 1"),
    ("positions", KeysIgnoreIds, "the keys are not turned as usual"),
    ("cache", ForgetsThePast, "with past_length = 1, the queries are not turned"),
    ("pairing", Swapped, "cosine and sine are swapped"),
    ("half", GivenIdsInHalf, "positions past 256 that it is given"),
    ("grid", LearnedFlattened, "Cells of 7 rows and 5 columns"),
    ("norm", PassesTheWrongPart, "a part of x is lost"),
    ("apart", ColumnTwice, "At position 8 vectors are turned as at 0"),
    ("relative", KeysBackwards, "The keys turn the other way."),
    ("apart", ImageOfRows, "Of 35 positions 0 and 1 are the nearest: 0 of"),
    ("cache", KeysForgetTheOffset, "the keys are not turned as in the whole text"),
    ("positions", FirstRowForAll, "the queries of the second sequence"),
    ("input", WritesInPlace, "It writes into the tensors"),
    ("gradient", TurnsWithoutGradient, "The gradient does not reach the queries"),
    ("dtype", Widens, "queries of bfloat16 become float32"),
    ("training", DropsAngles, "In training mode vectors are turned otherwise"),
    ("device", PlainTables, "plain attributes: held"),
    ("meta", LostOnMeta, "whatever the memory held"),
    ("state_dict", SavesWhatGrows, "does not load into a new one"),
    ("half", AnglesUnderAutocast, "Under autocast to bfloat16 position"),
    ("determinism", RandomTurns, "two calls give different encodings"),
    ("norm", MixedLayouts, "The norm of a vector changes"),
    ("norm", Grows, "The norm of a vector changes"),
    ("relative", CountsFromTheQuery, "Two words the same way apart"),
    ("half", CountsInHalf, "With x in bfloat16 position 257"),
    ("half", SpeedsInABuffer, "After .bfloat16() position"),
    ("accuracy", PositionsInHalf, "10,000: 9."),
    ("pairing", NothingTurns, "Nothing turns"),
    ("history", Remembers, "After a text of 20,000 the usual input"),
]
ROTARY_SOUND = {
    "halves": Rotary,
    "ids of words": rotary(words_and_ids),
    "from one": FromOne,
    "neighbours": Interleaved,
    "one tensor": OneTensor,
    "heads last": HeadsLast,
    "heads last, four axes": HeadsLastOnly,
    "cosines and sines": CosSin,
    "cosines and sines of pairs": CosSinHalf,
    "partial": Partial,
    "dynamic": Dynamic,
    "length first": LengthFirst,
    "grows as the other shrinks": GrowsAsTheOtherShrinks,
    "picture of rows and columns": PictureOfRowsAndColumns,
    "complex hands": ComplexHands,
    "sines first": SinesFirst,
    "with a cache": Cached,
    "ids with a batch": Ids,
    "ids alone": FromIdsAlone,
    "by name": ByName,
    "packed": Packed,
    "images": Image,
    "tokens": Tokens,
    "size of an image": ImageOfSizes,
    "tokens counted": TokensCounted,
    "tokens padded": TokensPadded,
    "shape of tokens": TokensShape,
    "interpolated": lambda dim: Stretched(dim, lambda old: interpolate(old, 8)),
}


class Alibi(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.heads = heads

    def forward(self, length):
        return torch.from_numpy(alibi_bias(length, self.heads)).float()


class AlibiOnScores(Alibi):
    def forward(self, scores):
        return scores + super().forward(scores.shape[-1]).to(scores)


class AlibiRows(Alibi):
    """As BLOOM: one row for all queries, right under a causal mask."""

    def forward(self, length):
        bias = super().forward(length)
        return bias[:, -1:].expand(-1, length, -1)


class T5(nn.Module):
    causal = False

    def __init__(self, heads):
        super().__init__()
        self.table = nn.Embedding(32, heads)

    def offsets(self, queries, keys):
        return np.arange(keys) - np.arange(queries)[:, None]

    def forward(self, queries, keys):
        buckets = t5_buckets(self.offsets(queries, keys), causal=self.causal)
        buckets = torch.from_numpy(buckets).to(self.table.weight.device)
        return self.table(buckets).permute(2, 0, 1)[None]


class T5Causal(T5):
    causal = True


class ShareOfTheDistance(nn.Module):
    """offset: a trained bias of shares of the text, as FIRE."""

    def __init__(self, heads):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, heads))

    def forward(self, length):
        at = torch.arange(length, device=self.net[0].weight.device)[:, None]
        share = (at - at.T).clamp(min=0).log1p() / at.clamp(min=20).log1p()
        return self.net(share[..., None]).permute(2, 0, 1)


class WindowsWithAMask(Alibi):
    """mask, reach: what is hidden far away is no fault."""

    def forward(self, length):
        at = torch.arange(length)
        back = at[:, None] - at
        hidden = (back < 0) | (back > 20)
        return super().forward(length).masked_fill(hidden, -torch.inf)


class Constant(Alibi):
    def forward(self, queries, keys):
        return super().forward(queries)[:, :, :1].expand(-1, -1, keys)


class PowersOfTwo(Alibi):
    def __init__(self, heads):
        super().__init__(1 << (heads - 1).bit_length())


class FarWins(Alibi):
    def forward(self, length):
        return -super().forward(length)


class FromTheBeginning(Alibi):
    """The product of the positions: no offset at all."""

    def forward(self, length):
        at = torch.arange(length)
        return torch.ones(self.heads, 1, 1) * -(at[:, None] * at) / length


class QueryMinusKey(T5Causal):
    def offsets(self, queries, keys):
        return -super().offsets(queries, keys)


class HidesTheWordItself(Alibi):
    back = 0

    def forward(self, length):
        bias = super().forward(length)
        at = torch.arange(length)
        return bias.masked_fill(at[:, None] <= at + self.back, -torch.inf)


class HidesThePast(HidesTheWordItself):
    """A mask that was transposed: it keeps what comes later."""

    back = 1

    def forward(self, length):
        bias = Alibi.forward(self, length)
        at = torch.arange(length)
        return bias.masked_fill(at[:, None] > at, -torch.inf)


class ShiftedRow(T5):
    """With a cache one too early."""

    def offsets(self, queries, keys):
        first = keys - queries - int(queries < keys)
        return np.arange(keys) - np.arange(first, first + queries)[:, None]


class PlainSlopes(Alibi):
    def __init__(self, heads):
        super().__init__(heads)
        self.slopes = torch.from_numpy(alibi_slopes(heads)).float()
        self.register_buffer("zero", torch.zeros(()))

    def forward(self, length):
        at = torch.arange(length, device=self.zero.device)
        far = -(at[:, None] - at).abs()
        return far * self.slopes[:, None, None] + self.zero


class AlibiInHalf(PlainSlopes):
    def forward(self, length):
        at = torch.arange(length).to(self.zero)
        return -(at[:, None] - at).abs() * self.slopes.to(at)[:, None, None]


class Frozen(T5):
    def forward(self, queries, keys):
        return super().forward(queries, keys).detach()


class RandomBias(Alibi):
    def forward(self, length):
        return functional.dropout(super().forward(length), 0.1)


class InEightBits(Alibi):
    """Distances that an integer cannot hold."""

    def forward(self, queries, keys):
        far = (torch.arange(keys) - torch.arange(queries)[:, None]).to(torch.int8)
        return -far.abs() * torch.from_numpy(alibi_slopes(self.heads))[:, None, None]


class MaskedScores(Alibi):
    def forward(self, scores):
        bias = super().forward(scores.shape[-1])[:, -scores.shape[-2] :]
        at = torch.arange(bias.shape[-1])
        hidden = at > at[-scores.shape[-2] :, None]
        return (scores + bias.to(scores)).masked_fill(hidden.to(scores.device), -1e9)


class AlibiKeys(PlainSlopes):
    def forward(self, length):
        at = torch.arange(length, device=self.zero.device) + self.zero
        return (self.slopes.to(at)[:, None, None] * at).expand(-1, length, -1)


BIAS_FAULTS = [
    ("reach", InEightBits, "At distance 129 the bias is that of distance 127"),
    ("mask", HidesTheWordItself, "the mask hides the word itself"),
    ("mask", HidesThePast, "the mask hides the word before"),
    ("cache", ShiftedRow, "gets the row of query 10"),
    ("device", PlainSlopes, "plain attributes: slopes"),
    ("gradient", Frozen, "No gradient reaches table.weight"),
    ("determinism", RandomBias, "two calls give different"),
    ("offset", Constant, "Each query gets one number for all keys"),
    ("half", AlibiInHalf, "After .bfloat16() the values at offset"),
    ("half", AlibiKeys, "neighbouring keys get one number"),
    ("widths", PowersOfTwo, "Built for 6 heads it returns 8"),
    ("slopes", FarWins, " heads the bias grows with the distance"),
    ("offset", FromTheBeginning, "The same offset gets values"),
    ("buckets", QueryMinusKey, "keys and queries swapped"),
    ("slopes", QueryMinusKey, "All keys before the query get one number"),
]
BIAS_SOUND = {
    "alibi": Alibi, "on scores": AlibiOnScores, "rows": AlibiRows, "t5": T5,
    "t5 causal": T5Causal, "masked": MaskedScores, "share": ShareOfTheDistance,
    "windows": WindowsWithAMask,
}  # fmt: skip


@functools.cache
def report_of(build, width=DIM):
    return check_encoding(build, d_model=width)


@pytest.mark.parametrize(
    ("check", "build", "words"),
    [
        pytest.param(*f, id=f"{f[0]}-{f[1].__name__}")
        for f in ROTARY_FAULTS + BIAS_FAULTS
    ],
)
def test_a_fault_is_found(check, build, words):
    rng = np.random.default_rng([*map(ord, build.__name__)])
    width = 2 * int(rng.integers(4, 17))
    report = report_of(build, width)
    found = [f.what for f in report.wrong if f.check == check]
    assert any(words in what for what in found), str(report)


@pytest.mark.parametrize(
    ("check", "build"),
    [
        ("determinism", Counts),
        ("training", StretchedInTraining),
        ("relative", CountsFromTheQuery),
        ("accuracy", PositionsInHalf),
    ],
)
def test_no_fix_is_printed_where_the_cause_is_not_proved(check, build):
    (found,) = [f for f in report_of(build).wrong if f.check == check]
    assert found.fix == "" and "Fix" not in found.as_text()


def drawn_width(name):
    return 2 * int(np.random.default_rng([*map(ord, name)]).integers(6, 17))


@pytest.mark.parametrize("name", [*ROTARY_SOUND, *BIAS_SOUND])
def test_sound_ones_of_any_width_are_left_in_peace(name):
    report = report_of({**ROTARY_SOUND, **BIAS_SOUND}[name], drawn_width(name))
    assert report.ok and report.ran, str(report)
    assert "Not told" not in str(report)


def facts(build, check):
    return " ".join(f.what for f in report_of(build).findings if f.check == check)


@pytest.mark.parametrize(
    ("build", "check", "words"),
    [
        (Rotary, "pairing", "half-split"),
        (Interleaved, "pairing", "interleaved"),
        (Partial, "pairing", "8 of 16 numbers stand still"),
        (Partial, "frequencies", "Base 10000, exponent 2j/8."),
        (ROTARY_SOUND["interpolated"], "frequencies", "interpolated 8 times"),
        (lambda d: Stretched(d, lambda old: ntk(old, 4)), "frequencies", "Base "),
        (Dynamic, "length", "A text of 1,000 is turned by other angles"),
        (Alibi, "slopes", "as in Press et al. (2022)"),
        (AlibiRows, "offset", "All queries get the same row"),
        (AlibiRows, "slopes", "as in Press et al. (2022)"),
        (HeadsLastOnly, "axes", "it counts along axis 1"),
        (T5, "buckets", "T5's 32 buckets up to distance 128, for both directions."),
        (
            type("Near", (T5,), {"offsets": lambda *a: -abs(T5.offsets(*a))}),
            "buckets",
            "... Before and after alike.",
        ),
        (T5Causal, "buckets", "up to distance 128, for a causal mask."),
    ],
)
def test_facts(build, check, words):
    assert words in facts(build, check)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (lambda old: by_parts(old, 8, 2048, ramp="index"), "YaRN's program, 8 times"),
        (lambda old: by_parts(old, 8, 2048), "YaRN's paper, 8 times 2,048"),
        (lambda old: llama3(old, 8, 8192), "Llama 3.1's rule, 8 times 8,192"),
    ],
)
def test_rules_by_parts_are_recognised(rule, words):
    report = check_encoding(lambda d: Stretched(d, rule), d_model=64)
    assert report.ok
    (found,) = [f.what for f in report.findings if f.check == "frequencies"]
    assert words in found


class ManyHeads(Rotary):
    """Not to be asked for one head."""

    def forward(self, q, k):
        return super().forward(q[:, [0, 1, 2]], k) if q.ndim == 4 else q[9]


class Appends(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.d_model = d_model

    def forward(self, x):
        return torch.cat(
            [x, torch.arange(x.shape[1]).expand(len(x), -1)[..., None]], -1
        )


class Convolves(nn.Module):
    """Conditional positions: a convolution over the words."""

    def __init__(self, d_model):
        super().__init__()
        self.conv = nn.Conv1d(
            d_model, d_model, 3, padding=1, groups=d_model, bias=False
        )

    def forward(self, x):
        return x + self.conv(x.transpose(1, 2)).transpose(1, 2)


@pytest.mark.parametrize(
    ("build", "kind"),
    [
        (Appends, "appends the encoding to x"),
        (Convolves, "from the words around it"),
        (ManyHeads, "turns queries and keys"),
    ],
)
def test_what_is_out_of_scope_is_no_fault(build, kind):
    report = report_of(build)
    assert report.ok and not report.ran and kind in report.kind
    (finding,) = report.findings
    assert (finding.check, finding.severity) == ("scope", "fact")


class Timesteps(nn.Module):
    """As in diffusion models: numbers in, codes out."""

    def __init__(self, d_model):
        super().__init__()
        self.d_model = d_model

    def forward(self, timesteps):
        if timesteps.ndim != 1:
            raise ValueError(f"timesteps must have one axis, got {timesteps.ndim}")
        angle = angles(timesteps, self.d_model)
        return torch.cat([angle.sin(), angle.cos()], -1).float()


def test_codes_of_positions_are_checked_through_their_positions():
    report = report_of(Timesteps)
    assert report.as_dict()["kind"] == "takes positions, no x"
    assert report.convention.layout == "half_split"


def test_a_check_can_be_ignored_and_an_argument_named():
    assert not report_of(MixedLayouts).ok
    assert check_encoding(MixedLayouts, d_model=DIM, ignore=["norm", "relative"]).ok
    with pytest.raises(ValueError, match=r"ignore must hold names .*, got 'norms'"):
        check_encoding(Grows, ignore=["norms"])
    with pytest.raises(TypeError, match=r"ignore must be a collection .*, got 'norm'"):
        check_encoding(Grows, ignore="norm")


def test_one_line_gives_one_test_a_check():
    from pe_lib.check.pytest import encoding_tests

    test = encoding_tests(MixedLayouts, d_model=DIM)
    (mark,) = test.pytestmark
    assert mark.args[0] == "check" and "relative" in mark.args[1]
    with pytest.raises(pytest.fail.Exception, match="WRONG: relative") as failed:
        test("relative")
    assert not failed.value.pytrace  # the report is all that a reader needs
    test("frequencies")
    out = encoding_tests(Appends, d_model=DIM)
    with pytest.raises(pytest.skip.Exception, match="out of the checker's scope"):
        out(out.pytestmark[0].args[1][0])
