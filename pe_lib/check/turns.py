"""Rotary modules: how they are read, as one matrix for each position."""

from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pe_lib.check.call import ForeignError, Make, noise, numbers_of
from pe_lib.check.recognise import (
    FEWEST,
    Array,
    Fit,
    Recognised,
    best_fit,
    described,
    frequencies_of,
)
from pe_lib.check.vectors import Layout, OfVectors, Way

ORDERS = (
    "batch heads length dim", "batch length heads dim", "length batch heads dim",
    "batch length dim", "length batch dim", "heads length dim", "length dim",
)  # fmt: skip
READ = 64  # positions of which matrices are taken
GRIDS = 256, 196, 144, 64  # positions in which a grid is looked for
BEFORE = (0, 1, 2, 4, 5)  # tokens that may come before those of a grid
SEEN = 1e-7  # a number that is not 0
CLOSE = 1e-3  # more than float32 scores are off


class Turns(OfVectors):
    """A module that rotates queries and keys, or gives the cosines and sines."""

    kind = "rotary"
    misshapen = False  # set by the check of pairs

    def __init__(
        self, make: Make, d_model: int, _: str, axes: str | None, named: str | None
    ) -> None:
        super().__init__(make, d_model, named)
        self.said = axes
        self.tables = (
            ""  # how returned cosines lie: "half_split", "interleaved", "pairs"
        )
        self.refuse_more_than(3)
        form = "x"
        if not self.inputs and self.positions_argument in self.parameters:
            form = "positions"  # by name, and no x
        elif len(self.inputs) == 1 and "len" in self.inputs[0]:
            form = "length"
        self.packed = len(self.inputs) == 1 and "qkv" in self.inputs[0]
        orders = [Layout.of(axes)] if axes else [Layout.of(text) for text in ORDERS]
        if form == "positions":
            self.needs_positions = True
        self.without_x = form == "positions"
        ways = [Way(order, form if form == "length" else "x") for order in orders]
        self.find(ways, bool(axes))

    @property
    def tensors(self) -> int:
        """How many x forward takes."""
        return 0 if self.without_x else 3 if self.packed else max(len(self.inputs), 1)

    @property
    def names(self) -> list[str]:
        """What is rotated."""
        several = self.tensors > 1 and not self.tables
        return ["queries", "keys"] if several else ["vectors"]

    @property
    def called(self) -> str:
        """How it was called, in words."""
        if not self.tables:
            return super().called
        how = {"pairs": "one a pair"}.get(self.tables, self.tables.replace("_", "-"))
        return f"{super().called}; it returns cosines and sines, {how}"

    def sample(self, length: int, batch: int) -> Tensor:
        """The same vector everywhere."""
        return noise(1, 1, self.d_model).expand(batch, length, -1)

    def laid_out(self, laid: Tensor, x: Tensor) -> list[Any]:
        """Queries, keys and values: the same, each on its own."""
        if self.packed:  # [batch, length, 3, heads, dim]
            return [x[:, :, None, None].expand(-1, -1, 3, 2, -1).clone()]
        return [laid.clone() for _ in range(self.tensors)]

    def read(self, output: Any, x: Tensor, heads: int) -> list[Tensor]:
        """Rotated vectors [batch, length, dim]."""
        if isinstance(output, dict):
            output = tuple(output.values())
        elif not isinstance(output, Tensor | tuple | list):
            output = tuple(vars(output).values()) if hasattr(output, "__dict__") else ()
        given = [output] if isinstance(output, Tensor) else [*output]
        if not given or not all(isinstance(part, Tensor) for part in given):
            raise ForeignError(TypeError("it returned no tensors"))
        if self.packed:
            return [part[:, :, -1] for part in given[0].unbind(2)]
        shape = self.way.layout.lay(x, heads, self.way.columns).shape
        plain = all(part.shape == shape and not part.is_complex() for part in given)
        if plain and len(given) >= self.tensors > 0:
            return [self.way.layout.back(part) for part in given]
        return [self._turned_by(given, x)]

    def _turned_by(self, given: list[Tensor], x: Tensor) -> Tensor:
        """Vectors rotated by the cosines and sines that were returned."""
        n, dim = x.shape[1:]
        if len(given) == 1:
            whole = given[0]
            given = [whole.real, whole.imag] if whole.is_complex() else [*whole]
        shapes = " and ".join(str(list(part.shape)) for part in given[:3])
        rows = [part.reshape(-1, part.shape[-1] if part.ndim else 1) for part in given]
        sound = len(rows) == 2 and rows[0].shape == rows[1].shape
        if not sound or len(rows[0]) % n or not 2 <= 2 * rows[0].shape[1] <= 2 * dim:
            what = f"for {n} positions of width {dim} it returned {shapes}: neither "
            raise ForeignError(
                ValueError(f"{what}rotated vectors nor cosines and sines")
            )
        cos, sin = (row[:n] for row in rows)
        if not cos.is_meta:
            if float(cos[0].abs().max()) < 0.1:
                cos, sin = sin, cos  # sines first
            self.tables = self.tables or _lie(cos, dim)
        if cos.device != x.device:  # of a length alone: it cannot know which
            x = torch.zeros_like(x, device=cos.device)
        if self.tables == "pairs":
            cos, sin = torch.cat([cos, cos], -1), torch.cat([sin, sin], -1)
        turning, rest = x[..., : cos.shape[-1]], x[..., cos.shape[-1] :]
        if self.tables == "interleaved":
            other = torch.stack([-turning[..., 1::2], turning[..., 0::2]], -1)
        else:
            other = torch.cat([-turning.chunk(2, -1)[1], turning.chunk(2, -1)[0]], -1)
        return torch.cat([turning * cos + other.reshape(turning.shape) * sin, rest], -1)

    # What it does

    @cached_property
    def matrices(self) -> list[Array]:
        """[length, dim, dim] by which queries and keys are multiplied."""
        n, d = self.length if self.fixed else min(self.limit[0], READ), self.d_model
        basis = torch.eye(d)[:, None].expand(-1, n, -1)
        with torch.no_grad():
            if "batch" in self.way.layout.axes:
                found = self.parts(self.fresh(), basis, heads=1)
            else:
                each = [self.parts(self.fresh(), b[None], heads=1) for b in basis]
                found = [torch.cat(rows) for rows in zip(*each, strict=True)]
        found = found[: len(self.names)]
        return [np.asarray(m.double().numpy().transpose(1, 2, 0)) for m in found]

    @cached_property
    def is_told(self) -> bool:
        """Whether all numbers are finite."""
        return all(bool(np.isfinite(m).all()) for m in self.matrices)

    @cached_property
    def pairs(self) -> list[tuple[int, int]] | None:
        """Columns that are rotated together; None if more than two are mixed."""
        reach = np.abs(self.matrices[0]).max(axis=0) > SEEN
        np.fill_diagonal(reach, False)
        reach |= reach.T
        if (reach.sum(axis=1) > 1).any():
            return None
        return [(int(a), int(b)) for a, b in np.argwhere(reach) if a < b]

    @property
    def layout(self) -> str:
        """How columns are paired: "interleaved", "half_split", or "" if neither."""
        pairs = self.pairs or []
        if self.tables:
            return self.tables.replace("pairs", "")
        if all(a % 2 == 0 and b == a + 1 for a, b in pairs):
            return "interleaved"
        return "half_split" if {b - a for a, b in pairs} == {len(pairs)} else ""

    @cached_property
    def hands(self) -> NDArray[np.complex128]:
        """cos + i sin of the angle of each pair [length, pairs], of size 1."""
        m = self.matrices[0]
        hands = np.stack([m[:, a, a] + 1j * m[:, b, a] for a, b in self.pairs or []], 1)
        return np.asarray(hands / np.maximum(np.abs(hands).mean(axis=0), 1e-9))

    @cached_property
    def frequencies(self) -> Array:
        """Of each pair, in radians per position."""
        return np.asarray(frequencies_of(self.hands * self.hands[:1].conj()))

    def scores(self, length: int, seed: int = 0) -> Array:
        """[query, key] of one query vector and one key vector, everywhere."""
        both = []
        for i, name in enumerate(("queries", "keys")):
            x = noise(1, 1, self.d_model, seed=10 + seed + i).expand(2, length, -1)
            with torch.no_grad():
                found = self.parts(self.fresh(), x)
            at = i if name in self.names else 0
            both.append(found[at][0].double().numpy())
        return np.asarray(both[0] @ both[1].T / self.d_model**0.5)

    @cached_property
    def grid(self) -> int:
        """The columns of a grid on which scores depend on offsets; 0 if there is none.

        Tokens before those of the grid are passed over.
        """
        if self.way.columns:
            return self.way.columns
        sizes = (
            [self.length] if self.fixed else [n for n in GRIDS if n <= self.limit[0]]
        )
        for size in sizes[:1]:
            scores = [self.scores(size, seed) for seed in (0, 2)]
            if all(spread(s) < CLOSE for s in scores):
                return 0
            for before in BEFORE:
                inner = [s[before:, before:] for s in scores]
                for width in range(2, len(inner[0]) // 2 + 1):
                    steps = inner[0][0, 0] - inner[0][0, [1, width]]
                    used = np.abs(steps).min() > CLOSE  # rows and columns
                    if used and all(spread(s, width) < CLOSE for s in inner):
                        return width
        return 0

    @cached_property
    def fit(self) -> Fit | None:
        """The formula that the angles follow."""
        if not self.pairs or not self.is_told or self.misshapen or self.grid:
            return None
        if len(self.hands) < FEWEST:
            return None
        codes = np.stack([self.hands.imag, self.hands.real], 2)
        fit = best_fit(codes.reshape(len(codes), -1), numbers_of(self.first))
        return fit if fit and fit.share == 1 else None

    @cached_property
    def recognised(self) -> Recognised | None:
        """The frequencies and the pairs, in words."""
        if not self.is_told or not self.pairs or self.misshapen:
            return None
        width, d, layout = 2 * len(self.pairs), self.d_model, self.layout
        facts = [layout.replace("_", "-")] if layout else []
        facts += [f"{width} of {d} columns"] if width < d else []
        if self.grid:
            words = ", ".join([f"rotary on a grid of {self.grid} columns", *facts])
            return Recognised("rotary_on_grid", words, layout=layout)
        if self.fit is None:
            words = ", ".join(["rotary with frequencies of its own", *facts])
            return Recognised("rotary_of_its_own", words, layout=layout)
        told = described(self.fit)
        base, over = told.base or 0.0, ""
        if width < d and abs(base ** (d / width) / 10_000 - 1) < CLOSE:
            base, over = 10_000.0, f", exponent 2j/{d}"
        start = [f"from position {told.start}"] if told.start else []
        words = ", ".join([f"rotary, base {base:.6g}{over}", *facts, *start])
        if told.formula != "sinusoid":
            words = f"rotary with {told.words.removeprefix('the sinusoid with ')}"
        formula = "rotary" if told.formula == "sinusoid" else told.formula
        return Recognised(
            formula, words, base, told.spacing, layout, "", told.start, 1.0, told.gap
        )


def _lie(cos: Tensor, dim: int) -> str:
    """How cosines lie: twice in halves, twice beside each other, or once a pair."""
    width = cos.shape[-1]
    if width % 2 == 0:
        first, second = cos.chunk(2, -1)
        if torch.allclose(first, second, rtol=0, atol=1e-5):
            return "half_split"
        if torch.allclose(cos[:, 0::2], cos[:, 1::2], rtol=0, atol=1e-5):
            return "interleaved"
    return "pairs" if 2 * width <= dim else "half_split"


def spread(scores: Array, width: int = 0) -> float:
    """By how much scores of one offset differ, on a line or on a grid so wide."""
    n = len(scores)
    if not width:
        half = n // 2
        far = np.abs(scores[half:, half:] - scores[: n - half, : n - half]).max()
        return float(max(np.abs(scores[1:, 1:] - scores[:-1, :-1]).max(), far))
    inside = np.arange(n - 1) % width < width - 1
    right = np.abs(scores[1:, 1:] - scores[:-1, :-1])[np.ix_(inside, inside)]
    down = np.abs(scores[width:, width:] - scores[:-width, :-width])
    return float(max(right.max(initial=0.0), down.max(initial=0.0)))
