"""Modules that take vectors: the order of their axes, positions, and lengths."""

import contextlib
import inspect
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from pe_lib.check.call import CannotCallError, ForeignError
from pe_lib.check.subject import Make, Subject
from pe_lib.check.ways import FEW, Layout, Way

POSITION_NAMES = r"(cache_|token_|input_)?pos(ition(s|_ids)?)?|ids|t|timesteps?"
OFFSET_NAMES = r"(\w+_)?offset|(start|begin|first)(_\w+)?|step|past_\w*len(gth)?"
ROWS, COLUMNS = 7, 5  # of a grid
LONGEST, MOST = 8192, 2**22  # positions, and numbers, in an input


class Vectors(Subject):
    """A module that takes x, or positions, and has something for each position."""

    orders: Sequence[str]  # of axes, that are usual
    takes = 1  # tensors, at most

    def __init__(
        self, make: Make, d_model: int, kind: str, axes: str | None, named: str | None
    ) -> None:
        super().__init__(make, d_model, kind, axes, named)
        if named and self.parameters and named not in self.parameters:
            raise CannotCallError(
                f"positions must name an argument of forward "
                f"({', '.join(self.parameters)}), got {named!r}."
            )
        self.longest = min(LONGEST, MOST // d_model)
        first = next(iter(self.parameters), "")
        is_x = axes and (first == "t" != named or "dim" not in Layout.of(axes).axes)
        for name, parameter in [*self.parameters.items()][bool(is_x) :]:
            says = re.fullmatch(OFFSET_NAMES, name) is not None
            known = says or re.fullmatch(POSITION_NAMES, name)
            if name != named if named else not known or parameter.default == 1:
                continue  # a stride is 1
            if says or type(parameter.default) is int:
                self.offset_argument = self.offset_argument or name
            else:
                self.positions_argument = self.positions_argument or name
        where = self.positions_argument, self.offset_argument
        self.inputs = [name for name in self.required if name not in where]
        self.needs_positions = self.positions_argument in self.required
        if len(self.inputs) > self.takes:
            more = " and ".join(self.inputs[self.takes :])
            raise CannotCallError(
                f"forward needs {more} besides {', '.join(self.inputs[: self.takes])}: "
                f"say --positions NAME if it is positions, or {self.adapter('x')}"
            )

    # How it is called

    def ways(self, *forms: str) -> Iterator[Way]:
        """What forward may take, with each of the usual orders of axes."""
        few = FEW + (self.d_model == FEW)
        orders = [self.axes] if self.axes else self.orders
        for length in (few, *self.lengths()):
            for form in forms:
                for order in orders if form == "x" else orders[:1]:
                    way = Way(Layout.of(order), form, length, fixed=length != few)
                    if "rows" in way.layout.axes:
                        side = COLUMNS if length == few else round(length**0.5)
                        rows = ROWS if length == few else length // side
                        way = replace(way, length=rows * side, columns=side, fixed=True)
                    yield way
                    if self.needs_positions:
                        yield replace(way, batched=True)

    def place(self) -> None:
        """Whether an argument for positions that may be left out is [batch, length]."""
        if not self.positions_argument or self.needs_positions:
            return
        usual, way, at = self.usual, self.way, torch.arange(self.length)
        for batched in (False, True):
            self.way = replace(way, batched=batched)
            with contextlib.suppress(ForeignError):
                if not self.differ(self.rows(self.fresh(), at=at), usual):
                    return

    @property
    def called(self) -> str:
        """How it was called, in words."""
        named = {
            "positions": self.positions_argument,
            "the first position": self.offset_argument,
        }
        said = [f"{words}: {name}" for words, name in named.items() if name]
        return "; ".join([super().called, *said])

    # What it answers

    def answer(
        self,
        module: nn.Module,
        length: int | None = None,
        *,
        batch: int = 3,
        heads: int = 2,
        x: Tensor | None = None,
        at: Tensor | None = None,
        dtype: torch.dtype = torch.float32,
        device: str = "cpu",
        **named: Any,
    ) -> Tensor:
        """What comes back for x [batch, length, dim], in the same order of axes.

        Of several tensors all are put side by side, along the last axis.
        """
        way = self.way
        x = self.sample(length or self.length, batch) if x is None else x
        x = x.to(device, dtype)
        where = torch.arange(x.shape[1], device=device) if at is None else at
        inputs = self.laid_out(x, heads)
        if way.form == "length":
            inputs = [x.shape[1]]
        elif way.form != "x":
            inputs = [where[None] if "batch" in way.form and where.ndim == 1 else where]
        elif self.positions_argument and (at is not None or self.needs_positions):
            rows = where.expand(len(x), -1) if way.batched else where
            named = {self.positions_argument: rows, **named}
        kinds = {self.parameters[name].kind for name in self.inputs}
        if kinds == {inspect.Parameter.KEYWORD_ONLY}:
            named |= dict(zip(self.inputs, inputs, strict=False))
            inputs = []
        return torch.cat(self.read(self.run(module, inputs, named), x, heads), -1)

    def sample(self, length: int, batch: int) -> Tensor:
        """The usual input: x without content."""
        return torch.zeros(batch, length, self.d_model)

    def laid_out(self, x: Tensor, heads: int) -> list[Any]:
        """What forward is given for x."""
        return [self.way.layout.lay(x, heads, self.way.columns)]

    def read(self, output: Any, x: Tensor, heads: int) -> list[Tensor]:
        """An answer in tensors [batch, length, dim]; a ForeignError if it is none."""
        raise NotImplementedError
