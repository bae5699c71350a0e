"""Modules that add an encoding to x, or return the encodings: how they are read."""

from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pe_lib.check.call import ForeignError, Make, noise
from pe_lib.check.recognise import (
    Array,
    Fit,
    best_fit,
    described,
    layout_of_waves,
)
from pe_lib.check.report import Recognised
from pe_lib.check.vectors import Vectors

ORDERS = "batch length dim", "length batch dim", "batch dim length", "length dim"
FORMS = "positions", "batch of positions", "length"
X_NAMES = "x", "input", "inputs", "tensor", "emb", "embeddings", "hidden_states"
READ = 4096  # positions that are compared with formulas
FEWEST = 6  # positions that tell one formula from another
OWN = 5  # tokens that a module may put before x


class Rows(Vectors):
    """A module that has one encoding for each position."""

    def __init__(
        self, make: Make, d_model: int, kind: str, axes: str | None, named: str | None
    ) -> None:
        super().__init__(make, d_model, kind, axes, named)
        self.refuse_more_than(1)
        forms: tuple[str, ...] = ("x",)
        if kind == "table":
            first = next(iter(self.inputs or self.parameters), "")
            forms = ("x", *FORMS) if axes or first in X_NAMES else (*FORMS, "x")
        self.find(forms, ORDERS)
        if not self.tells_positions and self.has_trained:
            self.fill(self.first)  # as it begins they may all be 0
            self.find(forms, ORDERS)
        self.scale, self.is_sum = self._gain() if kind == "added" else (0.0, True)
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
        layout, asked = self.way.layout, x.shape
        if self.way.form == "x" and output.ndim == len(layout.axes):
            rows = layout.back(output)
            own = rows.shape[1] - asked[1]
            batch = asked[0] if "batch" in layout.axes else 1
            more = OWN if layout.axes[-1] == "dim" else 0
            if (*rows.shape[::2],) == (batch, asked[2]) and 0 <= own <= more:
                return [rows[:, own:]]
        if self.kind == "table" and output.shape[-1:] == asked[2:]:
            if output.numel() == asked[1] * asked[2]:
                return [output.reshape(1, *asked[1:]).expand(asked)]
            for rows in (output, output.transpose(0, 1)):
                if rows.shape == asked:
                    return [rows]
        what = f"for {asked[1]} positions of width {asked[2]} it returned shape"
        raise ForeignError(ValueError(f"{what} {list(output.shape)}"))

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
        told = described(self.fit) if self.fit else None
        if self.is_trained:
            right = told and told.formula == "sinusoid"
            return Recognised(
                "trained", f"trained encodings{f', begins as {told}' if right else ''}"
            )
        read = self.is_told and not told and not self.way.columns
        layout = layout_of_waves(self.table) if read else ""
        if layout:
            words = "sines and cosines in pairs, with frequencies of their own"
            return Recognised("waves", words, layout=layout)
        return told
