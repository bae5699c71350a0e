"""Modules that take vectors: the order of their axes, positions, and lengths."""

import contextlib
import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from pe_lib.check.call import CannotCallError, ForeignError, Make, Subject, adapter

POSITIONS = (
    "positions", "position_ids", "pos", "position", "cache_position", "input_pos",
    "token_positions", "timesteps", "timestep", "t", "ids",
)  # fmt: skip
OFFSETS = (
    "offset", "start", "start_index", "start_pos", "past_key_values_length", "step",
    "past_length", "seqlen_offset", "begin", "first",
)  # fmt: skip
AXES = "batch", "rows", "columns", "length", "heads", "dim"
SYNONYMS = {
    "d_model": "dim", "channels": "dim", "head_dim": "dim", "seq": "length",
    "sequence": "length", "height": "rows", "width": "columns",
}  # fmt: skip
FEW = 11  # positions: unlike any batch
ROWS, COLUMNS = 7, 5  # of a grid
LENGTHS = 64, 256, 1024, 8192  # tried, to see which inputs it takes
MOST = 2**22  # numbers in an input


@dataclass(frozen=True)
class Layout:
    """The order of the axes of x."""

    axes: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> "Layout":
        """The axes of a text such as "batch length dim" or "[batch, heads, ...]"."""
        words = text.replace(",", " ").strip("[]() ").split()
        names = tuple(SYNONYMS.get(word, word) for word in words)
        grid = ("rows" in names, "columns" in names)
        sound = {*names} <= {*AXES} and len({*names}) == len(names)
        if not sound or grid not in ((False, False), (True, True)):
            raise ValueError(
                f"axes must be names from {', '.join(AXES)}, each once, got {text!r}"
            )
        return cls(names)

    @property
    def is_grid(self) -> bool:
        """Whether positions are rows and columns."""
        return "rows" in self.axes

    def lay(self, x: Tensor, heads: int, columns: int) -> Tensor:
        """Vectors [batch, length, dim] as the module takes them."""
        named = ["batch", "rows", "columns"] if self.is_grid else ["batch", "length"]
        x = x.reshape(len(x), -1, columns, x.shape[-1]) if self.is_grid else x
        if "heads" in self.axes:
            x = x.unsqueeze(-2).expand(*x.shape[:-1], heads, x.shape[-1])
            named.append("heads")
        named.append("dim")
        if "batch" not in self.axes:
            x, named = x[0], named[1:]
        return x.permute([named.index(name) for name in self.axes]).clone()

    def back(self, y: Tensor) -> Tensor:
        """What came back as [batch, length, dim]; of several heads the last."""
        there = [name for name in AXES if name in self.axes]
        y = y.permute([self.axes.index(name) for name in there])
        y = y[..., -1, :] if "heads" in there else y
        y = y if "batch" in there else y[None]
        return y.flatten(1, 2) if self.is_grid else y

    def __str__(self) -> str:
        return f"[{', '.join(self.axes)}]"


@dataclass(frozen=True)
class Way:
    """One way to call forward."""

    layout: Layout
    form: str = "x"  # or "positions", "batch of positions", "length": instead of x
    placing: int = 1  # axes of the argument for positions
    length: int = FEW
    columns: int = 0  # of a grid


class OfVectors(Subject):
    """A module that takes x, or positions, and has something for each position."""

    kind = ""

    def __init__(self, make: Make, d_model: int, positions: str | None) -> None:
        super().__init__(make, d_model)
        self.named = positions
        self.positions_argument, self.offset_argument = "", ""
        if positions and self.parameters and positions not in self.parameters:
            raise CannotCallError(
                f"positions must name an argument of forward "
                f"({', '.join(self.parameters)}), got {positions!r}."
            )
        for name in [positions] if positions else [*POSITIONS, *OFFSETS]:
            parameter = self.parameters.get(name)
            if parameter is None or parameter.default == 1:  # a stride
                continue
            if type(parameter.default) is int or name in OFFSETS:
                self.offset_argument = self.offset_argument or name
            else:
                self.positions_argument = self.positions_argument or name
        where = self.positions_argument, self.offset_argument
        self.inputs = [name for name in self.required if name not in where]
        self.needs_positions = self.positions_argument in self.required
        self.way = Way(Layout(()))

    # How it is called

    def find(self, ways: Sequence[Way], said: bool) -> None:
        """Take the first way that it takes, and under which positions differ."""
        refusal, fallback = None, None
        few = FEW + (self.d_model == FEW)
        lengths = [few, *(n for n in self.lengths() if n != few)]
        for length in lengths:
            if fallback and length == self.d_model:
                continue  # whatever fits then may fit by accident
            for way in ways:
                for placing in (1, 2) if self.needs_positions else (1,):
                    n, columns = length, 0
                    if way.layout.is_grid:
                        n = ROWS * COLUMNS if length == few else length
                        columns = COLUMNS if length == few else round(n**0.5)
                        if n % columns:
                            continue
                    self.way = Way(way.layout, way.form, placing, n, columns)
                    self.fixed = length != few or columns > 0
                    try:
                        if self.tells_positions:
                            self._place()
                            return
                    except ForeignError as error:
                        refusal = refusal or error
                        continue
                    fallback = fallback or (self.way, self.fixed)
        if fallback is None:
            hint = "" if said else "Say --axes or --kind, or "
            lines = adapter(self.name, ", ".join(self.inputs))
            raise CannotCallError(
                f"forward was given {self.tried} of width {self.d_model} and raised "
                f"{refusal}. {hint}{lines}"
            )
        self.way, self.fixed = fallback

    def _place(self) -> None:
        """Whether the argument for positions is [length] or [batch, length]."""
        if not self.positions_argument or self.needs_positions:
            return
        usual, taken = self.answer(self.fresh()), []
        for placing in (1, 2):
            self.way = replace(self.way, placing=placing)
            with contextlib.suppress(ForeignError):
                found = self.answer(self.fresh(), at=torch.arange(self.length))
                taken.append((not torch.allclose(found, usual, atol=1e-4), placing))
        self.way = replace(self.way, placing=min(taken, default=(True, 1))[1])

    def refuse_more_than(self, count: int) -> None:
        """Say what would help where forward needs more arguments."""
        if len(self.inputs) > count:
            more = " and ".join(self.inputs[count:])
            raise CannotCallError(
                f"forward needs {more} besides {', '.join(self.inputs[:count])}: say "
                f"--positions NAME if it is positions, or {adapter(self.name, 'x')}"
            )

    @property
    def tried(self) -> str:
        """What forward was given, in words."""
        return "x in the usual orders of axes"

    @property
    def called(self) -> str:
        """How it was called, in words."""
        way = self.way
        said = [f"x is {way.layout}" if way.form == "x" else f"it takes {way.form}"]
        said += [f"one length, {way.length}"] if self.fixed else []
        for name, words in (
            (self.positions_argument, "positions"),
            (self.offset_argument, "the first position"),
        ):
            said += [f"{words}: {name}"] if name else []
        return "; ".join(said)

    @property
    def length(self) -> int:
        """A short one that it takes."""
        return self.way.length

    def parts(
        self, module: nn.Module, x: Tensor, *, at: Tensor | None = None, heads: int = 2,
        **named: Any,
    ) -> list[Tensor]:  # fmt: skip
        """What comes back for x [batch, length, dim], in the same order of axes."""
        way, n = self.way, x.shape[1]
        where = torch.arange(n, device=x.device) if at is None else at
        inputs = self.laid_out(way.layout.lay(x, heads, way.columns), x)
        if way.form == "length":
            inputs = [n]
        elif way.form != "x":
            inputs = [where[None] if "batch" in way.form else where]
        elif self.positions_argument and (at is not None or self.needs_positions):
            rows = where.expand(len(x), -1) if way.placing == 2 else where
            named = {self.positions_argument: rows, **named}
        kinds = {self.parameters[name].kind for name in self.inputs}
        if kinds == {inspect.Parameter.KEYWORD_ONLY}:
            named |= dict(zip(self.inputs, inputs, strict=False))
            inputs = []
        return self.read(self.run(module, inputs, named), x, heads)

    def laid_out(self, laid: Tensor, _: Tensor) -> list[Any]:
        """What forward is given for x."""
        return [laid]

    def read(self, output: Any, x: Tensor, heads: int) -> list[Tensor]:
        """An answer in tensors [batch, length, dim]; a ForeignError if it is none."""
        raise NotImplementedError

    def sample(self, length: int, batch: int) -> Tensor:
        """The usual input."""
        raise NotImplementedError

    def answer(
        self, module: nn.Module, length: int | None = None, *, batch: int = 3,
        x: Tensor | None = None, dtype: torch.dtype = torch.float32,
        device: str = "cpu", **named: Any,
    ) -> Tensor:  # fmt: skip
        """What comes back, side by side, as [batch, length, dim]."""
        x = self.sample(length or self.length, batch) if x is None else x
        return torch.cat(self.parts(module, x.to(device, dtype), **named), -1)

    @property
    def tells_positions(self) -> bool:
        """Whether two positions are told apart."""
        with torch.no_grad():
            rows = self.answer(self.fresh())[0].float()
        return not bool(((rows - rows[:1]).abs() <= 1e-6).all())  # NaN is not near

    @cached_property
    def limit(self) -> tuple[int, str]:
        """The longest input that it takes, and what a longer one raises."""
        known, refusal, module = self.length, "", self.fresh()
        if self.fixed:
            return known, "it takes one length"

        def refuses(length: int) -> str:
            try:
                with torch.no_grad():
                    self.answer(module, length, batch=1)
            except ForeignError as error:
                return str(error)
            return ""

        for length in LENGTHS:
            if length * self.d_model > MOST:
                break
            refusal = refuses(length)
            if not refusal:
                known = length
                continue
            while length - known > 1:
                middle = (known + length) // 2
                found = refuses(middle)
                known, length = (known, middle) if found else (middle, length)
                refusal = found or refusal
            break
        return known, refusal
