"""Rotary modules: how they are read, as one matrix for each position."""

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import pad

from pe_lib.check.call import CLOSE, ForeignError, Make, close, noise
from pe_lib.check.recognise import (
    OTHER_WEIGHTS,
    Array,
    Fit,
    about,
    best_fit,
    described,
    exactly_repeated,
    frequencies_of,
)
from pe_lib.check.report import ERROR, NOTE, WARNING, Recognised
from pe_lib.check.rows import FEWEST
from pe_lib.check.vectors import Vectors

ORDERS = (
    "batch heads length dim",
    "batch length heads dim",
    "length batch heads dim",
    "batch length dim",
    "length batch dim",
    "heads length dim",
    "length dim",
)
NAMES = "queries", "keys", "values"
BASES = 1e4, 5e5, 1e6  # of published models: Llama 2, Llama 3, Code Llama
READ = 64  # positions of which matrices are taken
GRIDS = 256, 196, 144, 64  # positions in which a grid is looked for
BEFORE = 0, 1, 2, 4, 5  # tokens that may come before those of a grid
SEEN = 1e-7  # a number that is not 0
NEAR = 1e-3  # more than float32 scores are off
ROUNDED = 0.02  # more than cosines and sines of 16 bits change a norm

MIXED = (
    "More than two columns are mixed: these are no rotations of pairs.",
    "Pair column 2j with 2j + 1, or j with j + d/2, in angles as in columns.",
)
TWO_ANGLES = (
    "The two columns of a pair take different angles: the angles are laid out for "
    "halves and the columns paired as neighbours, or the other way round.",
    "Repeat angles as columns are paired: repeat_interleave for neighbours, cat for "
    "halves.",
)
NO_MINUS = (
    "The minus sign of one sine is missing: these are no rotations.",
    "x1 cos - x2 sin, and x1 sin + x2 cos.",
)
NO_PAIRS = (
    "Columns are multiplied by numbers, not rotated in pairs.",
    "x1 cos - x2 sin, and x1 sin + x2 cos.",
)
UNEQUAL = (
    "The norm of a vector changes from position to position.",
    "cos**2 + sin**2 must be 1 for each pair.",
)
OVERWRITTEN = (
    "The second half of a pair is computed from the first as it is after its rotation: "
    "that was overwritten.",
    "Compute both from x as it came, before either is written.",
)
QUARTER = "Position 0 is turned by a quarter: sine and cosine are swapped."


class Turns(Vectors):
    """A module that rotates queries and keys, or gives the cosines and sines."""

    differing = "{} are rotated differently"
    sines_first = False  # in what is returned
    tables = ""  # how returned cosines lie: "half_split", "interleaved", "pairs"

    def __init__(
        self, make: Make, d_model: int, kind: str, axes: str | None, named: str | None
    ) -> None:
        super().__init__(make, d_model, kind, axes, named)
        self.refuse_more_than(3)
        self.packed = len(self.inputs) == 1 and "qkv" in self.inputs[0]
        self.tensors = 3 if self.packed else len(self.inputs)
        if not self.inputs and self.positions_argument:
            self.needs_positions = True  # and no x: cosines are read without
        elif not self.inputs:
            self.tensors = 1
        length = len(self.inputs) == 1 and "len" in self.inputs[0]
        self.find(("length",) if length else ("x",), ORDERS)
        self.takes_x = self.tensors > 0 and not self.tables

    def sample(self, length: int, batch: int) -> Tensor:
        """The same vector everywhere."""
        return noise(1, 1, self.d_model).expand(batch, length, -1)

    def laid_out(self, x: Tensor, heads: int) -> list[Any]:
        """Queries; keys, twice as long; values, four times."""
        if self.packed:  # [batch, length, 3, heads, dim]
            parts = [x[:, :, None].expand(-1, -1, heads, -1) * 2**i for i in range(3)]
            return [torch.stack(parts, 2)]
        (laid,) = super().laid_out(x, heads)
        return [laid * 2**i for i in range(self.tensors)]

    def read(self, output: Any, x: Tensor, heads: int) -> list[Tensor]:
        """Rotated vectors [batch, length, dim]."""
        output = tuple(output.values()) if isinstance(output, dict) else output
        if self.packed and isinstance(output, Tensor):
            output = [part[:, :, 0] for part in output.unbind(2)]
            shape = x.shape
        else:
            shape = self.way.layout.lay(x, heads, self.way.columns).shape
        given = [*output] if isinstance(output, tuple | list) else [output]
        if not given or not all(isinstance(part, Tensor) for part in given):
            raise ForeignError(TypeError("it returned no tensors"))
        turned = given[: self.tensors]
        plain = all(
            part.shape[:-1] == shape[:-1] and not part.is_complex() for part in turned
        )
        whole = min((part.shape[-1] for part in turned if part.ndim), default=0)
        cut = whole < shape[-1] and len(shape) + len(turned) > 3
        cut = cut and bool(self.searching or self.flaw)
        tables = len(given) == 2 > len(turned)  # cosines and sines, for one x
        if not plain or not turned or tables or not (cut or whole == shape[-1]):
            return [self._turned_by(given, x, heads)]
        if cut:
            what = f"Of {shape[-1]} columns {whole} come back: the others are lost."
            self.tell(what, "torch.cat what is rotated and what is not.")
            turned = [pad(part, (0, shape[-1] - part.shape[-1])) for part in turned]
        self.names = NAMES[: len(turned)] if len(turned) > 1 else ("vectors",)
        parts = turned if self.packed else [self.way.layout.back(y) for y in turned]
        return [part / 2**i for i, part in enumerate(parts)]

    def _turned_by(self, given: list[Tensor], x: Tensor, heads: int) -> Tensor:
        """Vectors rotated by the cosines and sines that were returned."""
        batch, n, dim = x.shape
        self.names = type(self).names
        if len(given) == 1:
            whole = given[0]
            given = [whole.real, whole.imag] if whole.is_complex() else [*whole]
        shapes = " and ".join(str([*part.shape]) for part in given[:3])
        rows = [part.reshape(-1, part.shape[-1] if part.ndim else 1) for part in given]
        sound = len(rows) == 2 and rows[0].shape == rows[1].shape
        sound = sound and len(rows[0]) in [n * i for i in range(1, batch * heads + 1)]
        if not sound or not 1 <= rows[0].shape[1] <= dim:
            what = f"for {n} positions of width {dim} it returned {shapes}: neither "
            raise ForeignError(
                ValueError(f"{what}rotated vectors nor cosines and sines")
            )
        each = len(rows[0]) == batch * n  # sequence has its own
        cos, sin = (row.reshape(batch, n, -1) if each else row[:n] for row in rows)
        if self.searching and float(cos.flatten(0, -2)[0].abs().max()) < 0.1:
            self.sines_first = True
        cos, sin = (sin, cos) if self.sines_first else (cos, sin)
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
        n, d = self.length if self.fixed else min(self.limit, READ), self.d_model
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
            return MIXED
        if not self.pairs:
            return NO_PAIRS
        m = self.matrices[0]
        a, b = np.array(self.pairs).T
        cosines, sines = (m[:, a, a], m[:, b, b]), (m[:, b, a], m[:, a, b])
        for c, s, one, two in ((*cosines, *sines), (*cosines[::-1], *sines[::-1])):
            # c, -s for the first, and c, s of that for the second
            late = np.abs(one + c * two) + np.abs(s - c + two * two)
            if late.max() < NEAR < np.abs(one + two).max():
                return OVERWRITTEN
        apart = np.abs(cosines[0] - cosines[1]).max()
        apart += np.abs(np.abs(sines[0]) - np.abs(sines[1])).max()
        if apart > NEAR:
            return TWO_ANGLES
        if np.abs(sines[0] - sines[1]).max() < NEAR:
            return NO_MINUS
        norms = cosines[0] ** 2 + sines[0] ** 2
        if len(self.names) > 1:  # what fades in the queries may grow in the keys
            k = self.matrices[1]
            norms = norms * (k[:, a, a] ** 2 + k[:, b, a] ** 2)
        return UNEQUAL if np.ptp(norms, axis=0).max() > ROUNDED else None

    @property
    def layout(self) -> str:
        """How columns are paired: "interleaved", "half_split", or "" if neither."""
        if self.tables:
            return self.tables.replace("pairs", "")
        pairs = self.pairs or []
        if all(a % 2 == 0 and b == a + 1 for a, b in pairs):
            return "interleaved"
        return "half_split" if {b - a for a, b in pairs} == {len(pairs)} else ""

    @cached_property
    def hands(self) -> NDArray[np.complex128]:
        """cos + i sin of the angle of each pair [length, pairs]."""
        return self.hands_of(0)

    def hands_of(self, part: int) -> NDArray[np.complex128]:
        """The same of the queries (0) or the keys (1)."""
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
        longest = self.limit
        size = longest if self.fixed else max(n for n in (8, *GRIDS) if n <= longest)
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
        if self.misshapen or self.grid or len(self.hands) < FEWEST:
            return None
        return self.fit_of(self.hands)

    def fit_of(self, hands: NDArray[np.complex128]) -> Fit | None:
        """The formula that the angles of hands follow."""
        codes = np.stack([hands.imag, hands.real], 2).reshape(len(hands), -1)
        fit = best_fit(codes, self.numbers())
        return fit if fit and fit.share == 1 else None

    def words_of(self, fit: Fit) -> Recognised:
        """A formula in words."""
        return described(fit, self.said, "Su et al. (2021)", BASES)

    @cached_property
    def recognised(self) -> Recognised | None:
        """The frequencies and the pairs, in words."""
        if not self.is_told or self.misshapen:
            return None
        width, d, layout = 2 * self.hands.shape[1], self.d_model, self.layout
        facts = ["", layout.replace("_", "-")] if layout else [""]
        facts += [f"{width} of {d} columns"] if width < d else []
        more = ", ".join(facts)
        if self.grid:
            words, hint = (
                f"rotary on a grid of {self.grid} columns{more}",
                "Not checked: its frequencies.",
            )
            return Recognised("rotary_on_grid", words, layout=layout, hint=hint)
        if self.fit is None:
            return self._of_its_own(more)
        told = self.words_of(self.fit)
        words = f"rotary with {told.words.removeprefix('the sinusoid with ')}{more}"
        if told.formula == "sinusoid":
            start = f", from position {told.start}" if told.start else ""
            words = f"rotary, base {told.base:.6g}{more}{start}"
            told = replace(told, formula="rotary")
        if told.formula == "scaled":
            told = replace(told, level=NOTE, hint="")  # as in longer texts
        if told.first == "cosine":
            told = replace(told, level=ERROR, hint=QUARTER)
        return replace(told, words=words, layout=layout, first="", scale=1.0)

    def _of_its_own(self, more: str) -> Recognised:
        """Frequencies that follow no formula."""
        hands = self.hands * self.hands[:1].conj()
        frequencies = frequencies_of(hands)
        even = np.exp(1j * np.arange(len(hands))[:, None] * frequencies)
        told = Recognised(
            "rotary_of_its_own", f"rotary with frequencies of its own{more}"
        )
        if known := about(frequencies):
            return replace(told, level=known[0], hint=known[1])
        back = self.fit_of(self.hands.conj())
        if back and back.candidate.right:
            words = f"rotary, base {back.candidate.base:.6g}, backwards{more}"
            hint = f"Rotated by minus the angle, not by the angle: {OTHER_WEIGHTS}."
            return replace(told, words=words, level=WARNING, hint=hint)
        if np.abs(hands - even).max() > 0.05:
            hint = "The angles do not grow evenly with the position."
            return replace(told, level=WARNING, hint=hint)
        return told


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
