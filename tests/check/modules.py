"""Small modules from which the tests of the checker make sound and faulty ones."""

import math

import torch
from torch import nn


def table(length=600, width=64, base=10_000.0):
    """The encoding of Vaswani et al., float32."""
    t, pair = torch.arange(length).double()[:, None], torch.arange(width) // 2
    angle = t * base ** (-2 * pair.double() / width)
    sine = torch.arange(width) % 2 == 0
    return torch.where(sine, angle.sin(), angle.cos()).float()


class Added(nn.Module):
    """x [batch, length, dim] plus a table; what is not sound overrides a part."""

    def __init__(self, width):
        super().__init__()
        self.width = width
        self.keep(self.rows(width))

    def rows(self, width):
        return table(600, width)

    def keep(self, rows):
        self.register_buffer("pe", rows)

    def forward(self, x):
        return x + self.at(x.shape[1]).to(x.dtype)

    def at(self, length):
        return self.pe[:length]


def of_table(rows, name="OfTable"):
    """The class that adds the table that a function of length and width gives."""
    return type(name, (Added,), {"rows": lambda _, width: rows(600, width).float()})


def in_halves(x):
    one, two = x.chunk(2, -1)
    return torch.cat([-two, one], -1)


def in_neighbours(x):
    return torch.stack([-x[..., 1::2], x[..., 0::2]], -1).flatten(-2)


class Rotary(nn.Module):
    """Queries and keys [batch, heads, length, dim], half-split."""

    base = 10_000.0
    keys = 1.0  # by what the angles of keys are multiplied

    def __init__(self, width):
        super().__init__()
        self.width = width

    def frequencies(self, device):
        j = torch.arange(0, self.width, 2, device=device).float()
        return self.base ** (-j / self.width)

    def angles(self, positions):
        return positions[..., None].float() * self.frequencies(positions.device)

    def turn(self, x, angles):
        angles = torch.cat([angles, angles], -1)
        return (x * angles.cos() + in_halves(x) * angles.sin()).to(x.dtype)

    def forward(self, q, k):
        angles = self.angles(torch.arange(q.shape[-2], device=q.device))
        return self.turn(q, angles), self.turn(k, self.keys * angles)


class Alibi(nn.Module):
    """From numbers of queries and keys to [heads, queries, keys]."""

    def __init__(self, heads):
        super().__init__()
        self.register_buffer("slopes", self.make_slopes(heads))

    def make_slopes(self, heads):
        return 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)

    def offsets(self, queries, keys):
        at = torch.arange(keys, device=self.slopes.device)
        return at - at[keys - queries :, None]

    def forward(self, queries, keys):
        distance = self.offsets(queries, keys).abs()
        return -self.slopes[:, None, None].float() * distance


class T5(nn.Module):
    """A trained number for each of 32 buckets and head."""

    def __init__(self, heads):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(32, heads))

    def offsets(self, queries, keys):
        at = torch.arange(keys, device=self.weight.device)
        return at - at[keys - queries :, None]

    def forward(self, queries, keys):
        offset = self.offsets(queries, keys)
        near, after = offset.abs(), (offset > 0).long() * 16
        steps = (near / 8).clamp(min=1).log() / math.log(128 / 8) * 8
        bucket = torch.where(near < 8, near, 8 + steps.long().clamp(max=7))
        return self.weight[bucket + after].permute(2, 0, 1)
