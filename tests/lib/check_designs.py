"""Sound modules of unusual design, in shapes that a seeded generator draws.

Each has something that a checker may take for a fault and that is none; its first line
says which check it guards. `DESIGNS` maps a name to a function from a random generator
to (build, width).
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional

DESIGNS = {}


def design(make):
    """Add a design to the list, by the name of its function."""
    DESIGNS[make.__name__.replace("_", " ")] = make
    return make


def even(rng, low=8, high=49):
    return 2 * int(rng.integers(low // 2, high // 2))


def rows_of(length):
    return torch.arange(length, dtype=torch.float64)[:, None]


def waves(length, width, base=1e4):
    """The paper's table, in float64."""
    speeds = base ** (-2 * torch.arange((width + 1) // 2, dtype=torch.float64) / width)
    angle = rows_of(length) * speeds
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)[:, :width]


class Adds(nn.Module):
    """x plus code(n), which subclasses give."""

    def __init__(self, width):
        super().__init__()
        self.width = width

    def forward(self, x):
        return x + self.code(x.shape[-2], x.device).to(x)


# codes computed in each call


@design
def one_step_at_a_time(rng):
    """offset: one position for all rows is no wrong offset."""

    class Steps(Adds):
        def forward(self, x, step=None):
            table = waves(max(x.shape[-2], (step or 0) + 1), self.width)
            return x + (table if step is None else table[step]).to(x)

    return Steps, even(rng)


@design
def a_stride_called_step(rng):
    """offset: an argument that begins at 1 is none."""

    class Strided(Adds):
        def forward(self, x, step=1):
            return x + waves(step * x.shape[-2], self.width)[::step].to(x)

    return Strided, even(rng)


@design
def shifted_at_random_in_training(rng):
    """training: other positions there are meant."""
    most = int(rng.integers(5, 50))

    class Shifted(Adds):
        def forward(self, x):
            start = int(torch.randint(most, ())) if self.training else 0
            return x + waves(x.shape[-2] + start, self.width)[start:].to(x)

    return Shifted, even(rng)


# tables


@design
def stretched_to_the_text(rng):
    """prefix: a step that depends on the length is told."""
    cells = int(rng.integers(10, 40))
    corners = bool(rng.integers(2))

    class Stretched(Adds):
        def __init__(self, width):
            super().__init__(width)
            self.table = nn.Parameter(torch.randn(1, width, cells))

        def code(self, count, device):  # noqa: ARG002
            table = functional.interpolate(
                self.table.float(), count, mode="linear", align_corners=corners
            )
            return table[0].T

    return Stretched, even(rng)


@design
def gate_that_starts_shut(rng):
    """axes: all positions alike, until something is trained."""

    class Gated(Adds):
        def __init__(self, width):
            super().__init__(width)
            self.gate = nn.Parameter(torch.zeros(width))

        def code(self, count, device):
            return self.gate.tanh() * waves(count, self.width).to(device)

    return Gated, even(rng)


@design
def a_scripted_module(rng):
    """call: no signature, no deep copy, no line of source."""

    class Plain(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.register_buffer("pe", waves(600, width).float())

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + self.pe[: x.shape[1]].to(x.dtype)

    return lambda width: torch.jit.script(Plain(width)), even(rng)


# rotary


def angles_of(length, width, base=1e4):
    speeds = base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    return rows_of(length) * speeds


def halves(x, angle):
    a, b = x.chunk(2, -1)
    cos, sin = angle.cos().to(x), angle.sin().to(x)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


@design
def grows_as_the_other_shrinks(rng):
    """norm: of one alone it may change, as in xPos."""
    rate = rng.uniform(0.98, 0.995)

    class Grows(Adds):
        def forward(self, q, k):
            angle = angles_of(q.shape[-2], self.width)
            size = (rate ** rows_of(q.shape[-2])).to(q)
            return halves(q, angle) * size, halves(k, angle) / size

    return Grows, even(rng)


@design
def picture_of_rows_and_columns(rng):
    """length: rotary, for one number of patches alone."""
    side = int(rng.choice([4, 6, 8]))

    class Picture(Adds):
        def forward(self, q, k):
            if q.shape[-2] != side * side:
                raise ValueError(f"needs {side * side} patches, got {q.shape[-2]}")
            at, half = torch.arange(side * side), self.width // 2
            angle = angles_of(side, half)
            row, column = angle[at // side], angle[at % side]
            return tuple(
                torch.cat([halves(a, row), halves(b, column)], -1)
                for a, b in (x.split(half, -1) for x in (q, k))
            )

    return Picture, 4 * int(rng.integers(2, 8))


@design
def hands_as_complex_numbers(rng):
    """call: complex cosines and sines, from a length."""

    class Hands(Adds):
        def forward(self, length):
            if isinstance(length, torch.Tensor):
                raise TypeError("takes a length")
            angle = angles_of(length, self.width)
            return torch.polar(torch.ones_like(angle), angle)

    return Hands, even(rng)


@design
def sines_before_cosines(rng):
    """frequencies: two tables, in either order."""

    class Sines(Adds):
        def forward(self, x, position_ids):
            angle = angles_of(x.shape[-2], self.width).to(x.device)[position_ids]
            return angle.sin().to(x), angle.cos().to(x)

    return Sines, even(rng)


# biases


def distances(length, device="cpu"):
    rows = rows_of(length).to(device)
    return rows - rows.T


@design
def share_of_the_distance(rng):
    """offset: a trained bias of shares of the text, as FIRE."""

    class Fire(nn.Module):
        def __init__(self, heads):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, heads))

        def forward(self, length):
            device = self.net[0].weight.device
            far = distances(length, device).clamp(min=0).log1p()
            most = rows_of(length).to(device).clamp(min=20).log1p()
            return self.net((far / most).float()[..., None]).permute(2, 0, 1)

    return Fire, int(rng.integers(2, 13))


@design
def windows_with_a_mask(rng):
    """mask, reach: what is hidden far away is no fault."""
    window = int(rng.integers(5, 40))

    class Windows(nn.Module):
        def __init__(self, heads):
            super().__init__()
            self.heads = heads

        def forward(self, length):
            far = distances(length)
            bias = torch.where((far < 0) | (far > window), -torch.inf, -0.5 * far)
            return bias.expand(self.heads, -1, -1).float()

    return Windows, int(rng.integers(2, 13))


def draw(name, seed):
    """A design in shapes of this seed: (build, width)."""
    return DESIGNS[name](np.random.default_rng([seed, *map(ord, name)]))
