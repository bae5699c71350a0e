"""Modules that add an encoding to x, or return the encodings: how they are read."""

import contextlib
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pe_lib.check.call import ForeignError, WrongShapeError, close, noise
from pe_lib.check.recognise import (
    Array,
    Fit,
    about,
    best_fit,
    described,
    waves,
)
from pe_lib.check.report import NOTE, WARNING, Recognised
from pe_lib.check.subject import TALLEST, Make, gains
from pe_lib.check.vectors import Vectors

READ = 4096  # positions that are compared with formulas
FEWEST = 6  # positions that tell one formula from another
TRAINED = (
    "It begins as the formula, but it is trained: if that is not meant, a buffer, or "
    "requires_grad=False."
)
OWN = 5  # tokens that a module may put before x
X_NAMES = "x", "input", "inputs", "tensor", "emb", "embeddings", "hidden_states"


class Rows(Vectors):
    """A module that has one encoding for each position."""

    orders = "batch length dim", "length batch dim", "batch dim length", "length dim"

    def __init__(
        self, make: Make, d_model: int, kind: str, axes: str | None, named: str | None
    ) -> None:
        super().__init__(make, d_model, kind, axes, named)
        self.begun = self.fresh()
        forms = self._forms()
        self.find(self.ways(*forms))
        if not self.tells_positions and self.has_trained:
            self.fill(self.first)  # as it begins they may all be 0
            self.find(self.ways(*forms))
        self.place()
        x = noise(3, self.length, self.d_model)
        if kind == "added":
            self.gains = gains(lambda x: self.answer(self.fresh(), x=x), x)
            self.takes_x = self.is_sum
        elif self._is_of_x and not close(self.rows(self.fresh(), x=x), self.usual):
            flaw = "It returns more than encodings: x is in it."
            raise WrongShapeError(self.way, flaw, 'kind="added".')

    def _forms(self) -> tuple[str, ...]:
        """What forward may be given, the likeliest first."""
        first = next(iter(self.inputs or self.parameters), "")
        if self.kind == "added" or self.axes:
            return ("x",)
        if "len" in first or first == "n":
            return ("length",)
        others = "positions", "batch of positions", "length"
        return ("x", *others) if first in X_NAMES else (*others, "x")

    @property
    def _is_of_x(self) -> bool:
        """Whether it is given x, not positions, a length, or tokens by number."""
        return self.way.form == "x" and "dim" in self.way.layout.axes

    def read(self, output: Any, x: Tensor, heads: int) -> list[Tensor]:
        """An answer as [batch, length, dim]."""
        del heads
        output = output[0] if isinstance(output, tuple | list) and output else output
        if not isinstance(output, Tensor) or output.is_complex() or output.is_nested:
            what = str(getattr(output, "dtype", type(output).__name__))
            raise ForeignError(TypeError(f"it returned {what}, no real tensor"))
        read = self._of_table if self.kind == "table" else self._of_sum
        rows = read(output, x.shape)
        if rows is None:
            what = f"for {x.shape[1]} positions of width {x.shape[2]} it returned shape"
            raise ForeignError(ValueError(f"{what} {list(output.shape)}"))
        return [rows]

    def _of_sum(self, output: Tensor, asked: torch.Size) -> Tensor | None:
        """x plus encodings, where the module may have put tokens of its own first."""
        layout = self.way.layout
        if output.ndim != len(layout.axes):
            return None
        rows = layout.back(output)
        batch, length, dim = asked[0] if "batch" in layout.axes else 1, *asked[1:]
        if (*rows.shape,) == (batch, length, 2 * dim):
            what = f"It returns {2 * dim} columns for {dim}: x and the encoding are "
            flaw = f"{what}put side by side, not added."
            raise WrongShapeError(self.way, flaw, "Return x + encoding.")
        own = rows.shape[1] - length
        more = OWN if layout.axes[-1] == "dim" else 0
        fits = (*rows.shape[::2],) == (batch, dim) and 0 <= own <= more
        return rows[:, own:] if fits else None

    def _of_table(self, output: Tensor, asked: torch.Size) -> Tensor | None:
        """Encodings, of one sequence or of each."""
        (batch, length, dim), layout = asked, self.way.layout
        if output.shape[-1:] == (dim,) and output.numel() == length * dim:
            return output.reshape(1, length, dim).expand(asked)
        if output.shape[-1:] == (dim,) and output.numel() == batch * dim:
            return output.reshape(batch, 1, dim).expand(asked)
        if output.shape == asked:
            return output
        if self._is_of_x:
            shape = layout.lay(torch.empty(asked), 1, self.way.columns).shape
            with contextlib.suppress(RuntimeError):  # shapes that do not fit
                return layout.back(output.expand(shape)).expand(asked)
        flat = output[0] if output.ndim == 3 and len(output) == 1 else output
        if flat.shape == (dim, length):
            flaw = f"It returns [{dim}, {length}]: [dim, length]."
            raise WrongShapeError(self.way, flaw, "table.T")
        count = len(flat) if flat.ndim == 2 and flat.shape[1] == dim else length
        one_off = abs(count - length) == 1
        whole = self._forms() == ("length",) or count > TALLEST  # not of one length
        if not self.way.fixed and (one_off or (whole and count != length)):
            flaw = f"For {length} positions it returns {count:,} rows."
            raise WrongShapeError(self.way, flaw, "pe[:length], not the whole table.")
        return None

    # What it does

    @cached_property
    def table(self) -> Array:
        """The encodings of the first positions."""
        return self.rows(self.fresh(), min(self.limit, READ))

    @cached_property
    def fit(self) -> Fit | None:
        """The formula that the encodings follow, of the trained as they begin."""
        codes = self.rows(self.begun, len(self.table))
        followed = np.isfinite(codes).all() and np.ptp(codes, axis=0).any()
        if self.way.columns or len(codes) < FEWEST or not followed:
            return None
        return best_fit(codes)

    @cached_property
    def recognised(self) -> Recognised | None:
        """The same in words; what is trained is told as trained."""
        told = described(self.fit, self.said) if self.fit else None
        if self.is_trained:
            if not told or told.formula != "sinusoid":
                return Recognised("trained", "trained encodings")
            words = f"trained encodings, begins as {told}"
            each = any(
                p.requires_grad and p.numel() > p.shape[-1] == self.d_model
                for p in self.first.parameters()
                if p.ndim
            )
            level, hint = (WARNING, TRAINED) if each else (NOTE, "")
            return Recognised("trained", words, level=level, hint=hint)
        read = self.is_told and not told and not self.way.columns
        found = waves(self.table) if read else None
        if found is None:
            return told
        words = "sines and cosines in pairs, with frequencies of their own"
        level, hint = about(found[1]) or (WARNING, "The frequencies follow no formula.")
        return Recognised("waves", words, layout=found[0], level=level, hint=hint)
