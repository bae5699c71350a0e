"""Rotary modules: how they are read, as one matrix for each position."""

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pe_lib.check.call import CLOSE, ForeignError, WrongShapeError, close, noise
from pe_lib.check.recognise import (
    OTHER_WEIGHTS,
    Array,
    Fit,
    about,
    best_fit,
    described,
    exactly_repeated,
    frequencies_of,
    spread,
)
from pe_lib.check.report import ERROR, NOTE, WARNING, Recognised
from pe_lib.check.rows import FEWEST
from pe_lib.check.subject import NEAR, Make
from pe_lib.check.vectors import Vectors

NAMES = "queries", "keys", "values"
BASES = 1e4, 5e5, 1e6  # of published models: Llama 2, Llama 3, Code Llama
READ = 64  # positions of which matrices are taken
GRIDS = 256, 196, 144, 64  # positions in which a grid is looked for
BEFORE = 0, 1, 2, 4, 5  # tokens that may come before those of a grid
SEEN = 1e-7  # a number that is not 0
ROUNDED = 0.02  # more than cosines and sines of 16 bits change a norm

PAIRS = "x1 cos - x2 sin, and x1 sin + x2 cos."
OVERWRITTEN = (
    "The second half of a pair is computed from the first as it is after its rotation: "
    "that was overwritten."
)
TWO_ANGLES = (
    "The two columns of a pair take different angles: the angles are laid out for "
    "halves and the columns paired as neighbours, or the other way round."
)
REPEAT = "repeat_interleave for neighbours, torch.cat for halves."
QUARTER = "Position 0 is turned by a quarter: sine and cosine are swapped."
UNCHECKED = "Not checked: its frequencies."
SINES_FIRST = (
    "It returns the sines first, then the cosines: who takes them for cos, sin has "
    "them swapped."
)


class Turns(Vectors):
    """A module that rotates queries and keys, or gives the cosines and sines."""

    orders = (
        "batch heads length dim",
        "batch length heads dim",
        "length batch heads dim",
        "batch length dim",
        "length batch dim",
        "heads length dim",
        "length dim",
    )
    takes = 3
    differing = "{} are rotated differently"
    tables = ""  # how returned cosines lie: "half_split", "interleaved", "pairs"

    def __init__(
        self, make: Make, d_model: int, kind: str, axes: str | None, named: str | None
    ) -> None:
        super().__init__(make, d_model, kind, axes, named)
        self.packed = len(self.inputs) == 1 and "qkv" in self.inputs[0]
        self.tensors = 3 if self.packed else len(self.inputs)
        if not self.inputs and self.positions_argument:
            self.needs_positions = True  # and no x: cosines are read without
        elif not self.inputs:
            self.tensors = 1
        length = len(self.inputs) == 1 and "len" in self.inputs[0]
        self.find(self.ways("length" if length else "x"))
        self.place()
        self.takes_x = self.tensors > 0 and not self.tables

    def sample(self, length: int, batch: int) -> Tensor:
        """The same vector everywhere."""
        return noise(1, 1, self.d_model).expand(batch, length, -1)

    def laid_out(self, x: Tensor, heads: int) -> list[Any]:
        """Queries; keys, twice as long; values, four times."""
        (laid,) = super().laid_out(x, heads)
        if self.packed:  # [batch, length, 3, heads, dim]
            laid = x[:, :, None].expand(-1, -1, heads, -1)
        parts = [laid * 2**i for i in range(self.tensors)]
        return [torch.stack(parts, 2)] if self.packed else parts

    def read(self, output: Any, x: Tensor, heads: int) -> list[Tensor]:
        """Rotated vectors [batch, length, dim]."""
        output = tuple(output.values()) if isinstance(output, dict) else output
        given = [*output] if isinstance(output, tuple | list) else [output]
        if not given or not all(isinstance(part, Tensor) for part in given):
            raise ForeignError(TypeError("it returned no tensors"))
        if self.packed and given[0].ndim == 5 and given[0].shape[2] == len(NAMES):
            self.names = NAMES
            return [given[0][:, :, i, 0] / 2**i for i in range(len(NAMES))]
        layout, turned = self.way.layout, given[: self.tensors]
        shape = layout.lay(x, heads, self.way.columns).shape
        shapes = {part.shape for part in turned if not part.is_complex()}
        tables = len(given) == 2 > len(turned)  # cosines and sines, for one x
        if shapes != {shape} or tables:
            cut = {s[:-1] for s in shapes} == {shape[:-1]} and not tables
            left = min((s[-1] for s in shapes if s), default=0)
            if cut and left < shape[-1] and len(shape) + len(turned) > 3:
                flaw = f"Of {shape[-1]} columns {left} come back: the others are lost."
                fix = "torch.cat what is rotated and what is not."
                raise WrongShapeError(self.way, flaw, fix)
            return [self._turned_by(given, x, heads)]
        self.names = NAMES[: len(turned)] if len(turned) > 1 else ("vectors",)
        return [layout.back(part) / 2**i for i, part in enumerate(turned)]

    def _turned_by(self, given: list[Tensor], x: Tensor, heads: int) -> Tensor:
        """Vectors rotated by the cosines and sines that were returned."""
        batch, n, dim = x.shape
        self.names = type(self).names
        shapes = " and ".join(str([*part.shape]) for part in given[:3])
        if len(given) == 1:
            whole = given[0]
            given = [whole.real, whole.imag] if whole.is_complex() else [*whole]
        rows = [part.reshape(-1, part.shape[-1] if part.ndim else 1) for part in given]
        fits = {n * i for i in range(1, batch * heads + 1)}
        sound = len({row.shape for row in rows}) == 1 and len(rows) == 2
        if not (sound and len(rows[0]) in fits and 1 <= rows[0].shape[1] <= dim):
            what = f"for {n} positions of width {dim} it returned {shapes}: neither "
            raise ForeignError(
                ValueError(f"{what}rotated vectors nor cosines and sines")
            )
        each = len(rows[0]) == batch * n  # sequence has its own
        cos, sin = (row.reshape(batch, n, -1) if each else row[:n] for row in rows)
        self.tables = self.tables or _lie(cos, dim)
        if self.tables == "interleaved":
            cos, sin = cos[..., ::2], sin[..., ::2]
        elif self.tables == "half_split":
            cos, sin = cos.chunk(2, -1)[0], sin.chunk(2, -1)[0]
        if cos.device != x.device:  # of a length alone: it cannot know which
            x = torch.zeros_like(x, device=cos.device)
        pairs = cos.shape[-1]
        one, two = x[..., :pairs], x[..., pairs : 2 * pairs]
        return torch.cat(
            [one * cos - two * sin, one * sin + two * cos, x[..., 2 * pairs :]], -1
        )

    @property
    def called(self) -> str:
        """How it was called, in words."""
        how = "one a pair" if self.tables == "pairs" else self.tables.replace("_", "-")
        more = f"; it returns cosines and sines, {how}" if how else ""
        return f"{super().called}{more}"

    def differ(self, left: Array, right: Array) -> str:
        """The same, but for factors of queries that those of keys undo, as in xPos."""
        how, d = super().differ(left, right), self.d_model
        if how and len(self.names) > 1 and left.shape == right.shape:
            products = (x[:, :d] * x[:, d : 2 * d] for x in (left, right))
            how = "" if close(*products) and (left * right > -CLOSE).all() else how
        return how

    # What it does

    @cached_property
    def matrices(self) -> list[Array]:
        """[length, dim, dim] by which queries, keys and values are multiplied."""
        n, d = self.length if self.way.fixed else min(self.limit, READ), self.d_model
        basis = torch.eye(d)[:, None].expand(-1, n, -1)
        at_once = [basis] if "batch" in self.way.layout.axes else [*basis[:, None]]
        with torch.no_grad():
            found = [self.answer(self.fresh(), x=some, heads=1) for some in at_once]
        rows = torch.cat(found).double().numpy().transpose(1, 2, 0)
        return [*rows.reshape(n, len(self.names), d, d).swapaxes(0, 1)]

    @cached_property
    def is_told(self) -> bool:
        """Whether all numbers are finite, and something is rotated."""
        finite = all(bool(np.isfinite(m).all()) for m in self.matrices)
        return finite and bool(np.ptp(self.matrices[0], axis=0).any())

    @cached_property
    def pairs(self) -> list[tuple[int, int]] | None:
        """Columns that are rotated together; None if more than two are mixed."""
        reach = np.abs(self.matrices[0]).max(axis=0) > SEEN
        np.fill_diagonal(reach, False)
        reach |= reach.T
        if (reach.sum(axis=1) > 1).any():
            return None
        return [(int(a), int(b)) for a, b in np.argwhere(reach) if a < b]

    @cached_property
    def misshapen(self) -> tuple[str, str] | None:
        """Why these are no rotations of pairs, and what mends it; None if they are."""
        if self.pairs is None:
            return "More than two columns are mixed: no rotations of pairs.", PAIRS
        if not self.pairs:
            return "Columns are multiplied by numbers, not rotated in pairs.", PAIRS
        m, (a, b) = self.matrices[0], np.array(self.pairs).T
        c, d, one, two = m[:, a, a], m[:, b, b], m[:, a, b], m[:, b, a]
        for cos, sin, sine in ((c, one, two), (d, two, one)):
            late = np.abs(sine + cos * sin) + np.abs(c + d - 2 * cos + sin**2)
            if late.max() < NEAR < np.abs(sine + sin).max():
                return OVERWRITTEN, "Compute both from x as it came."
        if (np.abs(c - d) + np.abs(np.abs(one) - np.abs(two))).max() > NEAR:
            return TWO_ANGLES, REPEAT
        if np.abs(one - two).max() < NEAR:
            return "The minus sign of one sine is missing: no rotations.", PAIRS
        norms = c**2 + two**2
        if len(self.names) > 1:  # what fades in the queries may grow in the keys
            k = self.matrices[1]
            norms = norms * (k[:, a, a] ** 2 + k[:, b, a] ** 2)
        if np.ptp(norms, axis=0).max() > ROUNDED:
            changes = "The norm of a vector changes from position to position."
            return changes, "cos**2 + sin**2 must be 1 for each pair."
        return None

    @property
    def layout(self) -> str:
        """How columns are paired: "interleaved", "half_split", or "" if neither."""
        if self.tables:
            return self.tables.replace("pairs", "")
        pairs = self.pairs or []
        if all(a % 2 == 0 and b == a + 1 for a, b in pairs):
            return "interleaved"
        return "half_split" if {b - a for a, b in pairs} == {len(pairs)} else ""

    def hands_of(self, part: int) -> NDArray[np.complex128]:
        """cos + i sin of each pair [length, pairs] of the queries (0) or keys (1)."""
        a, b = np.array(self.pairs, dtype=int).reshape(-1, 2).T
        m = self.matrices[part]
        hands = m[:, a, a] + 1j * m[:, b, a]
        return np.asarray(hands / np.maximum(np.abs(hands), 1e-9))

    def scores(self, length: int, seed: int) -> Array:
        """[query, key] of one query vector and one key vector, everywhere."""
        d, parts = self.d_model, []
        for one in (seed, seed + 1):
            x = noise(1, 1, d, seed=one).expand(2, length, -1)
            parts.append(self.rows(self.fresh(), x=x))
        keys = parts[1][:, d : 2 * d] if len(self.names) > 1 else parts[1]
        return np.asarray(parts[0][:, :d] @ keys.T / d**0.5)

    @cached_property
    def grid(self) -> int:
        """The columns of a grid on which scores depend on offsets; 0 if there is none.

        Tokens before those of the grid are passed over.
        """
        if self.way.columns:
            return self.way.columns
        fitting = [n for n in (8, *GRIDS) if n <= self.limit]
        size = self.limit if self.way.fixed else max(fitting)
        scores = [self.scores(size, seed) for seed in (10, 12)]
        if all(spread(s) < NEAR for s in scores):
            return 0
        rows = self.rows(self.fresh(), size)
        for before in BEFORE:
            if exactly_repeated(rows[before:]):
                continue
            inner = [s[before:, before:] for s in scores]
            for width in range(2, len(inner[0]) // 2 + 1):
                steps = inner[0][0, 0] - inner[0][0, [1, width]]
                used = np.abs(steps).min() > NEAR  # rows and columns
                if used and all(spread(s, width) < NEAR for s in inner):
                    return width
        return 0

    @cached_property
    def fit(self) -> Fit | None:
        """The formula that the angles follow."""
        if self.misshapen or self.grid or len(self.matrices[0]) < FEWEST:
            return None
        return self.fit_of(self.hands_of(0))

    def fit_of(self, hands: NDArray[np.complex128]) -> Fit | None:
        """The formula that the angles of hands follow."""
        codes = np.stack([hands.imag, hands.real], 2).reshape(len(hands), -1)
        fit = best_fit(codes)
        return fit if fit and fit.share == 1 else None

    @cached_property
    def recognised(self) -> Recognised | None:
        """The frequencies and the pairs, in words."""
        if not self.is_told or self.misshapen:
            return None
        hands, d = self.hands_of(0), self.d_model
        facts = {
            "": True,
            self.layout.replace("_", "-"): bool(self.layout),
            f"{2 * hands.shape[1]} of {d} columns": 2 * hands.shape[1] < d,
        }
        more = ", ".join(words for words, so in facts.items() if so)
        if self.grid:
            words = f"rotary on a grid of {self.grid} columns{more}"
            told = Recognised("rotary_on_grid", words, hint=UNCHECKED)
        elif self.fit:
            told = self._of_formula(self.fit, more)
        else:
            told = self._of_its_own(hands * hands[:1].conj(), more)
        return replace(told, layout=self.layout, first="", scale=1.0)

    def _of_formula(self, fit: Fit, more: str) -> Recognised:
        """A formula in words."""
        told = described(fit, self.said, "Su et al. (2021)", BASES)
        words = f"rotary with {told.words.removeprefix('the sinusoid with ')}{more}"
        if told.formula == "scaled":
            told = replace(told, level=NOTE, hint="")  # as in longer texts
        if told.formula == "sinusoid":
            start = f", from position {told.start}" if told.start else ""
            words = f"rotary, base {told.base:.6g}{more}{start}"
            told = replace(told, formula="rotary")
        if told.first == "cosine":
            swapped = (WARNING, SINES_FIRST) if self.tables else (ERROR, QUARTER)
            told = replace(told, level=swapped[0], hint=swapped[1])
        return replace(told, words=words)

    def _of_its_own(self, hands: NDArray[np.complex128], more: str) -> Recognised:
        """Frequencies that follow no formula."""
        frequencies = frequencies_of(hands)
        even = np.exp(1j * np.arange(len(hands))[:, None] * frequencies)
        words = f"rotary with frequencies of its own{more}"
        level, hint = about(frequencies) or (NOTE, "")
        back = self.fit_of(hands.conj())
        if back and back.formula.right:
            words = f"rotary, base {back.formula.base:.6g}, backwards{more}"
            level, hint = WARNING, f"Rotated by minus the angle: {OTHER_WEIGHTS}."
        elif np.abs(hands - even).max() > 0.05:
            level, hint = WARNING, "The angles do not grow evenly with the position."
        return Recognised("rotary_of_its_own", words, level=level, hint=hint)


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
