"""Modules that add an encoding to x, or return the encodings: how they are read."""

from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pe_lib.check.call import ForeignError, Make, noise, numbers_of
from pe_lib.check.recognise import (
    FEWEST,
    Array,
    Fit,
    Recognised,
    best_fit,
    described,
    pairs_of_waves,
)
from pe_lib.check.vectors import Layout, OfVectors, Way

ORDERS = "batch length dim", "length batch dim", "batch dim length", "length dim"
FORMS = "positions", "batch of positions", "length"
X_NAMES = ("x", "input", "inputs", "tensor", "emb", "embeddings", "hidden_states")
READ = 512  # positions that are compared with formulas
OWN = 5  # tokens that a module may put before x


class Rows(OfVectors):
    """A module that has one encoding for each position."""

    scale, level, is_sum = 1.0, 0.0, True

    def __init__(
        self, make: Make, d_model: int, kind: str, axes: str | None, named: str | None
    ) -> None:
        super().__init__(make, d_model, named)
        self.kind = kind
        self.refuse_more_than(1)
        ways = self._ways(axes)
        self.find(ways, bool(axes))
        if not self.tells_positions and self.trained:
            self.fill()  # as it begins they may all be 0
            self.find(ways, bool(axes))
        if kind == "added":
            if not self.tells_positions:
                self.level = 1.0  # zeros may be taken for padding
                self.level = float(self.tells_positions)
            self.scale, self.is_sum = self._gain()

    def _ways(self, axes: str | None) -> list[Way]:
        orders = [Layout.of(axes)] if axes else [Layout.of(text) for text in ORDERS]
        ways = [Way(order) for order in orders]
        if self.kind != "table":
            return ways
        others = [Way(Layout.of(ORDERS[0]), form) for form in FORMS]
        if axes and "dim" not in orders[0].axes:
            return others[:2]
        if axes:
            return ways
        first = next(iter(self.inputs or self.parameters), "")
        return [*ways, *others] if first in X_NAMES else [*others, *ways]

    @property
    def tried(self) -> str:
        """What forward was given, in words."""
        more = "positions, a length and " if self.kind == "table" else ""
        return f"{more}x in the usual orders of axes"

    def sample(self, length: int, batch: int) -> Tensor:
        """x without content: one number everywhere."""
        return torch.full((batch, length, self.d_model), self.level)

    def read(self, output: Any, x: Tensor, heads: int) -> list[Tensor]:
        """An answer as [batch, length, dim]."""
        del heads
        if isinstance(output, tuple | list) and output:
            output = output[0]
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
            rows = output.squeeze()
            rows = rows.reshape(1, *rows.shape) if rows.ndim == 2 else rows
            if output.numel() == asked[1] * asked[2]:
                return [output.reshape(1, *asked[1:]).expand(asked)]
            if (*rows.shape,) == (asked[1], asked[0], asked[2]) != (*asked,):
                rows = rows.transpose(0, 1)
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
        x = (x - self.level)[: len(change)]
        gain = float((change * x).sum() / (x * x).sum())
        rest = float((change - gain * x).abs().max())
        return gain, rest < 1e-3 * max(abs(gain), 1.0) and abs(gain) > 1e-3

    def codes(
        self, module: nn.Module, length: int | None = None, **given: Any
    ) -> Array:
        """The encodings [length, dim], for x of one number everywhere."""
        with torch.no_grad():
            rows = self.answer(module, length, **{"batch": 1, **given})[0]
        return np.asarray(rows.double().numpy() - self.own)

    @property
    def own(self) -> float:
        """What x of one number leaves in each number that comes back."""
        return self.scale * self.level

    @cached_property
    def table(self) -> Array:
        """The encodings of the first positions."""
        return self.codes(self.fresh(), min(self.limit[0], READ))

    @cached_property
    def begins(self) -> Array:
        """The same before trained numbers were drawn at random."""
        if not self.filled:
            return self.table
        self.filled = False
        module = self.build()
        self.filled = True
        return self.codes(module, len(self.table))

    @cached_property
    def is_trained(self) -> bool:
        """Whether training changes the encodings."""
        module = self.fresh()
        with torch.no_grad():
            for parameter in module.parameters():
                if parameter.requires_grad:
                    parameter.add_(noise(*parameter.shape))
        change = np.abs(self.codes(module) - self.codes(self.fresh())).max()
        return bool(self.trained) and bool(change > 1e-4)

    @cached_property
    def is_told(self) -> bool:
        """Whether there are finite encodings, and not all the same."""
        return tells(self.table)

    @cached_property
    def fit(self) -> Fit | None:
        """The formula that the encodings follow."""
        codes = self.begins
        if self.way.columns or len(codes) < FEWEST or not tells(codes):
            return None
        return best_fit(codes, numbers_of(self.first))

    @cached_property
    def recognised(self) -> Recognised | None:
        """The same in words; what is trained is told as trained."""
        told = described(self.fit) if self.fit else None
        if self.is_trained:
            begins = (
                f", begins as {told}" if told and told.formula == "sinusoid" else ""
            )
            return Recognised("trained", f"trained encodings{begins}")
        if told or not self.is_told or self.way.columns:
            return told
        pairs = pairs_of_waves(self.table)
        words = "sines and cosines in pairs, with frequencies of their own"
        return Recognised("waves", words, layout=pairs[0]) if pairs else None


def tells(codes: Array) -> bool:
    """Whether encodings are finite, and not all the same."""
    return bool(np.isfinite(codes).all() and np.ptp(codes, axis=0).any())
