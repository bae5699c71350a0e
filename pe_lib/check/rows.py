"""Modules that add an encoding to x, or return the encodings: how they are read."""

import contextlib
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pe_lib.check.call import ForeignError, Make, noise
from pe_lib.check.recognise import (
    COARSE,
    Array,
    Fit,
    about,
    best_fit,
    described,
    waves,
)
from pe_lib.check.report import NOTE, WARNING, Recognised
from pe_lib.check.vectors import Vectors

ORDERS = "batch length dim", "length batch dim", "batch dim length", "length dim"
FORMS = "positions", "batch of positions", "length"
X_NAMES = "x", "input", "inputs", "tensor", "emb", "embeddings", "hidden_states"
READ = 4096  # positions that are compared with formulas
FEWEST = 6  # positions that tell one formula from another
TRAINED = (
    "It begins as the formula, but it is trained: if that is not meant, a buffer, or "
    "requires_grad=False."
)
OWN = 5  # tokens that a module may put before x


class Rows(Vectors):
    """A module that has one encoding for each position."""

    uncut = False  # the whole table comes back for any length

    def __init__(
        self, make: Make, d_model: int, kind: str, axes: str | None, named: str | None
    ) -> None:
        super().__init__(make, d_model, kind, axes, named)
        self.refuse_more_than(1)
        forms: tuple[str, ...] = ("x",)
        if kind == "table":
            first = next(iter(self.inputs or self.parameters), "")
            forms = ("x", *FORMS) if first in X_NAMES else (*FORMS, "x")
            forms = ("x",) if axes else forms
        self.find(forms, ORDERS)
        if not self.tells_positions and self.has_trained:
            self.fill(self.first)  # as it begins they may all be 0
            self.find(forms, ORDERS)
        self.scale, self.is_sum = self._gain() if kind == "added" else (0.0, True)
        if kind == "table" and self.way.form == "x" and self._depends_on_x():
            self.tell("It returns more than encodings: x is in it.", 'kind="added".')
        self.takes_x = kind == "added" and self.is_sum

    def sample(self, length: int, batch: int) -> Tensor:
        """x without content."""
        return torch.zeros(batch, length, self.d_model)

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
            self.tell(f"{what}put side by side, not added.", "Return x + encoding.")
            rows = rows[..., :dim] + rows[..., dim:]
        own = rows.shape[1] - length
        more = OWN if layout.axes[-1] == "dim" else 0
        if (*rows.shape[::2],) == (batch, dim) and 0 <= own <= more:
            return rows[:, own:]
        return None

    def _of_table(self, output: Tensor, asked: torch.Size) -> Tensor | None:
        """Encodings, of one sequence or of each."""
        (batch, length, dim), layout = asked, self.way.layout
        if output.shape[-1:] == (dim,) and output.numel() == length * dim:
            return output.reshape(1, length, dim).expand(asked)
        if output.shape[-1:] == (dim,) and output.numel() == batch * dim:
            return output.reshape(batch, 1, dim).expand(asked)
        if output.shape == asked:
            return output
        if self.way.form == "x" and "dim" in layout.axes:
            shape = layout.lay(torch.empty(asked), 1, self.way.columns).shape
            with contextlib.suppress(RuntimeError):  # shapes that do not fit
                return layout.back(output.expand(shape)).expand(asked)
        flat = output[0] if output.ndim == 3 and len(output) == 1 else output
        if not (self.searching or self.flaw) or flat.ndim != 2:
            return None
        if flat.shape == (dim, length):
            self.tell(f"It returns [{dim}, {length}]: [dim, length].", "table.T")
            return flat.T.expand(asked)
        uncut = self.uncut or len(flat) > length + 1
        if flat.shape[1] == dim and uncut and self._is_asked_length:
            what = f"For {length} positions the whole table comes back, whatever the "
            self.tell(f"{what}length: {len(flat):,} rows.", "pe[:, :length]")
            self.uncut = True
            return flat[:length].expand(asked) if length <= len(flat) else None
        one_off = abs(len(flat) - length) == 1 and not self.way.fixed
        if flat.shape[1] == dim and one_off and len(flat) > 1:
            what = f"For {length} positions it returns {len(flat)} rows."
            self.tell(what, "table[:length] has as many rows as positions.")
            return flat[torch.arange(length).clamp(max=len(flat) - 1)].expand(asked)
        return None

    @property
    def _is_asked_length(self) -> bool:
        """Whether it is given a length, and calls it one."""
        first = next(iter(self.inputs or self.parameters), "")
        return self.way.form == "length" and ("len" in first or first == "n")

    # What it does

    def _gain(self) -> tuple[float, bool]:
        """By how much x is multiplied, and whether that is all that happens to it."""
        x = noise(3, self.length, self.d_model)
        with torch.no_grad():
            change = self.answer(self.fresh(), x=x) - self.answer(self.fresh())
        x = x[: len(change)]
        gain = float((change * x).sum() / (x * x).sum())
        rest = float((change - gain * x).abs().max())
        return gain, rest < 1e-3 * max(abs(gain), 1.0) and abs(gain) > 1e-3

    def _depends_on_x(self) -> bool:
        """Whether the content of x, but for tokens by their number, matters."""
        if "dim" not in self.way.layout.axes:
            return False
        x = noise(3, self.length, self.d_model)
        with torch.no_grad():
            change = self.answer(self.fresh(), x=x) - self.answer(self.fresh())
        return bool(change.abs().max() > COARSE)

    @cached_property
    def table(self) -> Array:
        """The encodings of the first positions."""
        return self.rows(self.fresh(), min(self.limit, READ))

    @cached_property
    def fit(self) -> Fit | None:
        """The formula that the encodings follow, of the trained as they begin."""
        codes, trained = self.table, self.filled
        if trained:
            self.filled = False
            codes = self.rows(self.build(), len(codes))
            self.filled = True
        followed = np.isfinite(codes).all() and np.ptp(codes, axis=0).any()
        if self.way.columns or len(codes) < FEWEST or not followed:
            return None
        return best_fit(codes, self.numbers())

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
