"""Sound modules of unusual design, in shapes that a seeded generator draws.

Each has something that a checker may take for a fault and that is none. `DESIGNS` maps
a name to a function from a random generator to (build, width).
"""

import functools

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
    """x plus code(n), which subclasses or a function give."""

    def __init__(self, width, code=None):
        super().__init__()
        self.width, self.given = width, code

    def code(self, length, device):
        return self.given(length, self.width).to(device)

    def forward(self, x):
        return x + self.code(x.shape[-2], x.device).to(x)


def adds(code):
    return functools.partial(Adds, code=code)


# codes computed in each call


@design
def signs_of_bits(rng):
    bits = int(rng.integers(20, 40))

    def code(length, width):
        count = max(width, bits)
        row = torch.arange(length)[:, None] >> torch.arange(min(count, 60))
        return functional.pad((row & 1).double() * 2 - 1, (0, max(count - 60, 0)))[
            :, :width
        ]

    return adds(code), bits


@design
def subtracts_the_code(rng):
    class Subtracts(Adds):
        def forward(self, x):
            return x - waves(x.shape[-2], self.width).to(x)

    return Subtracts, even(rng)


@design
def multiplies_by_the_code(rng):
    class Multiplies(Adds):
        def forward(self, x):
            return x * waves(x.shape[-2], self.width).to(x)

    return Multiplies, even(rng)


@design
def normalises_after_the_sum(rng):
    class Normalises(Adds):
        def __init__(self, width):
            super().__init__(width)
            self.norm = nn.LayerNorm(width)

        def forward(self, x):
            return self.norm(x + waves(x.shape[-2], self.width).to(x))

    return Normalises, even(rng)


@design
def projects_both(rng):
    class Projects(Adds):
        def __init__(self, width):
            super().__init__(width)
            self.mix = nn.Linear(2 * width, width)

        def forward(self, x):
            code = waves(x.shape[-2], self.width).to(x).expand_as(x)
            return self.mix(torch.cat([x, code], -1))

    return Projects, even(rng)


@design
def returns_x_and_code(rng):
    class Pair(Adds):
        def forward(self, x):
            code = waves(x.shape[-2], self.width).to(x)
            return x * self.width**0.5, code[None].expand_as(x)

    return Pair, even(rng)


@design
def one_step_at_a_time(rng):
    """As in OpenNMT: `step` is the one position of all rows."""

    class Steps(Adds):
        def forward(self, x, step=None):
            table = waves(max(x.shape[-2], (step or 0) + 1), self.width)
            return x + (table if step is None else table[step]).to(x)

    return Steps, even(rng)


@design
def a_stride_called_step(rng):
    class Strided(Adds):
        def forward(self, x, step=1):
            return x + waves(step * x.shape[-2], self.width)[::step].to(x)

    return Strided, even(rng)


@design
def positions_with_a_batch(rng):
    class Batched(Adds):
        def forward(self, x, position_ids=None):
            if position_ids is None:
                position_ids = torch.arange(x.shape[1])[None]
            batch, length = position_ids.shape
            rows = position_ids.reshape(-1, 1).double()
            speeds = 1e4 ** (-torch.arange(0, self.width, 2).double() / self.width)
            angle = rows * speeds
            code = torch.stack([angle.sin(), angle.cos()], -1)
            return x + code.reshape(batch, length, -1)[..., : self.width].to(x)

    return Batched, even(rng)


@design
def shifted_at_random_in_training(rng):
    most = int(rng.integers(5, 50))

    class Shifted(Adds):
        def forward(self, x):
            start = int(torch.randint(most, ())) if self.training else 0
            return x + waves(x.shape[-2] + start, self.width)[start:].to(x)

    return Shifted, even(rng)


# tables


@design
def table_in_eight_bits(rng):
    length = int(rng.integers(100, 700))

    class Quantised(Adds):
        def __init__(self, width):
            super().__init__(width)
            table = (waves(length, width) * 127).round().to(torch.int8)
            self.register_buffer("table", table)

        def code(self, count, device):  # noqa: ARG002
            if count > length:
                raise ValueError(f"at most {length} positions")
            return self.table[:count] / 127

    return Quantised, even(rng, 16)


@design
def table_made_at_first_use(rng):
    class Lazy(Adds):
        def __init__(self, width):
            super().__init__(width)
            self.table = None

        def code(self, count, device):
            if self.table is None or len(self.table) < count:
                self.table = waves(2 * count, self.width)
            return self.table[:count].to(device)

    return Lazy, even(rng)


@design
def rows_times_columns(rng):
    """Axial, as the Reformer: row t // n of one table beside row t % n of another."""
    side = int(rng.integers(8, 24))

    class Axial(Adds):
        def __init__(self, width):
            super().__init__(width)
            self.rows = nn.Parameter(torch.randn(side, 1, width // 2))
            self.columns = nn.Parameter(torch.randn(1, side, width - width // 2))

        def code(self, count, device):  # noqa: ARG002
            if count > side * side:
                raise ValueError(f"at most {side * side} positions")
            grid = [p.expand(side, side, -1) for p in (self.rows, self.columns)]
            return torch.cat(grid, -1).flatten(0, 1)[:count]

    return Axial, even(rng)


@design
def stretched_to_the_text(rng):
    """As vision transformers for other resolutions: a table, resampled."""
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
def patches_of_one_picture(rng):
    patches = int(rng.integers(9, 80))

    class Patches(Adds):
        def __init__(self, width):
            super().__init__(width)
            self.table = nn.Parameter(0.02 * torch.randn(1, patches, width))

        def forward(self, x):
            return x + self.table.to(x)

    return Patches, even(rng)


@design
def gate_that_starts_shut(rng):
    class Gated(Adds):
        def __init__(self, width):
            super().__init__(width)
            self.gate = nn.Parameter(torch.zeros(width))

        def code(self, count, device):
            return self.gate.tanh() * waves(count, self.width).to(device)

    return Gated, even(rng)


@design
def a_recurrent_network_counts(rng):
    reach = int(rng.integers(60, 120))

    class Recurrent(Adds):
        def __init__(self, width):
            super().__init__(width)
            self.cell = nn.GRU(1, width, batch_first=True)
            self.ahead = nn.Linear(1, width)

        def code(self, count, device):
            if count > reach:
                raise ValueError(f"at most {reach} positions")
            rows = torch.arange(count, device=device).to(self.ahead.weight)[:, None]
            return self.cell(rows[None] / reach)[0][0] + self.ahead(rows)

    return Recurrent, even(rng, 8, 24)


@design
def positions_alone(rng):
    """As diffusion models: timesteps in, cosines first, one more in the divisor."""

    class Timesteps(Adds):
        def forward(self, timesteps):
            half = self.width // 2
            pairs = torch.arange(half, device=timesteps.device).double()
            speeds = 1e4 ** (-pairs / half)
            angle = timesteps.reshape(-1, 1).double() * speeds
            return torch.cat([angle.cos(), angle.sin()], -1).float()

    return Timesteps, even(rng)


@design
def a_sequence_of_modules(rng):
    return lambda width: nn.Sequential(
        Adds(width, waves), nn.Dropout(0.2), nn.Identity()
    ), even(rng)


@design
def a_scripted_module(rng):
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
def turns_before_the_heads_are_split(rng):
    class Turns(Adds):
        def forward(self, x):
            return halves(x, angles_of(x.shape[-2], self.width))

    return Turns, even(rng)


@design
def grows_as_the_other_shrinks(rng):
    """As xPos."""
    rate = rng.uniform(0.98, 0.995)

    class Grows(Adds):
        def forward(self, q, k):
            angle = angles_of(q.shape[-2], self.width)
            size = (rate ** rows_of(q.shape[-2])).to(q)
            return halves(q, angle) * size, halves(k, angle) / size

    return Grows, even(rng)


@design
def picture_of_rows_and_columns(rng):
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
def learned_frequencies(rng):
    class Learned(Adds):
        def __init__(self, width):
            super().__init__(width)
            self.speeds = nn.Parameter(torch.rand(width // 2))

        def forward(self, q, k):
            rows = rows_of(q.shape[-2]).to(q.device)
            angle = rows * self.speeds.float()
            return halves(q, angle), halves(k, angle)

        def _apply(self, fn, recurse=True):  # keeps them in float32
            def moved(tensor):
                return tensor if fn(tensor).dtype != tensor.dtype else fn(tensor)

            return super()._apply(moved, recurse)

    return Learned, even(rng)


@design
def hands_as_complex_numbers(rng):
    class Hands(Adds):
        def forward(self, length):
            if isinstance(length, torch.Tensor):
                raise TypeError("takes a length")
            angle = angles_of(length, self.width)
            return torch.polar(torch.ones_like(angle), angle)

    return Hands, even(rng)


@design
def sines_before_cosines(rng):
    class Sines(Adds):
        def forward(self, x, position_ids):
            angle = angles_of(x.shape[-2], self.width).to(x.device)[position_ids]
            return angle.sin().to(x), angle.cos().to(x)

    return Sines, even(rng)


@design
def short_rotary_table(rng):
    longest = int(rng.integers(16, 60))

    class Short(Adds):
        def forward(self, q, k):
            if q.shape[-2] > longest:
                raise ValueError(f"at most {longest} positions")
            angle = angles_of(longest, self.width)[: q.shape[-2]]
            return halves(q, angle), halves(k, angle)

    return Short, even(rng)


# biases


def distances(length, device="cpu"):
    rows = rows_of(length).to(device)
    return rows - rows.T


@design
def logarithm_of_the_distance(rng):
    """As KERPLE, with parameters."""

    class Kerple(nn.Module):
        def __init__(self, heads):
            super().__init__()
            self.size = nn.Parameter(torch.rand(heads, 1, 1) + 0.1)

        def forward(self, length):
            far = distances(length, self.size.device).abs()
            return -self.size * torch.log1p(far).float()

    return Kerple, int(rng.integers(2, 13))


@design
def share_of_the_distance(rng):
    """As FIRE: a network of log distance over log position."""

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
def products_of_places(rng):
    """As TUPE: queries and keys of the positions alone."""

    class Tupe(nn.Module):
        def __init__(self, heads):
            super().__init__()
            self.query = nn.Parameter(torch.randn(heads, 256, 8))
            self.key = nn.Parameter(torch.randn(heads, 256, 8))

        def forward(self, length):
            rows = (part[:, :length] for part in (self.query, self.key))
            return torch.einsum("hqd,hkd->hqk", *rows)

    return Tupe, int(rng.integers(2, 13))


@design
def slopes_that_are_learned(rng):
    class Slopes(nn.Module):
        def __init__(self, heads):
            super().__init__()
            self.slopes = nn.Parameter(torch.rand(heads) + 0.05)

        def forward(self, queries, keys):
            at = torch.arange(keys, device=self.slopes.device)
            far = at[keys - queries :, None] - at
            return -self.slopes[:, None, None] * far.abs()

    return Slopes, int(rng.integers(2, 13))


@design
def windows_with_a_mask(rng):
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
