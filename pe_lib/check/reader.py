"""A module under test, asked by calls: built, run, and read as one array."""

import contextlib
import copy
import inspect
from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from pe_lib.check.call import (
    FEW,
    Array,
    Call,
    ForeignError,
    RefusedError,
    ShapeError,
    foreign,
    noise,
    seed_all,
)
from pe_lib.check.report import Recognised

CLOSE = 1e-4  # of the largest number: float32 rounds less
NEAR = 1e-3  # the same, of sums and scores
READ = 1024  # positions that are compared with formulas
PLAIN = 256  # positions: where these end plain use ends


def tensors_in(value: Any) -> Iterator[Tensor]:
    """Those in lists, tuples and dictionaries of any depth."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from tensors_in(part)


def versions_of(value: Any) -> list[int]:
    """How often each of its tensors was written into."""
    return [t._version for t in tensors_in(value) if not t.is_inference()]


@dataclass(frozen=True)
class Maker:
    """From a width to a module, and what its other arguments are by default."""

    make: Any
    d_model: int
    said: tuple[tuple[str, Any], ...] = ()  # what nobody changes is meant

    @classmethod
    def of(cls, make: Any, d_model: int) -> "Maker":
        """Read off the signature of a class, a function or a functools.partial."""
        if isinstance(make, nn.Module):
            return cls(make, d_model)
        given = inspect.signature(make).parameters
        return cls(make, d_model, tuple((n, p.default) for n, p in given.items()))

    def __call__(self, width: int) -> Any:
        if not isinstance(self.make, nn.Module):
            return self.make(width)
        if width != self.d_model:
            raise ValueError(f"d_model must be {self.d_model}: there is one module")
        return copy.deepcopy(self.make)

    @property
    def is_class(self) -> bool:
        """Whether its arguments are known: those of a function's class are not."""
        return isinstance(getattr(self.make, "func", self.make), type)


class Reader:
    """Whatever comes back, as [batch, heads, position, numbers], in float64.

    A call with a field that nothing says to this module raises RefusedError.
    """

    kind: ClassVar[str]
    axes: ClassVar[tuple[str, ...]]  # of x
    most: ClassVar[int]  # how many of these forward may take
    parts: tuple[str, ...] = ("encodings",)  # equal parts of each row
    longest = 4096  # input that is tried
    gain = 1.0  # by which it multiplies x
    nature: Any = "sum"  # or what else becomes of x

    def __init__(
        self,
        maker: Maker,
        width: int,
        offset: str | None,
        positions: str | None,
        few: int = FEW,
    ) -> None:
        self.maker, self.width = maker, width
        self.few = few  # positions of the usual call
        self.offset, self.positions = offset, positions
        self.kept: dict[Call, Array] = {}
        self.refused: dict[Call, ForeignError] = {}
        self.wrote: set[str] = set()  # into which of its arguments
        self.rewrote = False  # into what it had returned
        self.returned: list[Tensor] = []
        self.versions: list[int] = []  # of these, as they were returned
        self.failed: set[str] = set()  # checks that found an error
        self.recognised: Recognised | None = None
        self.begun = self.build()
        self.first = self.filled(self.begun)
        self.count, self.left = self.arguments()
        call = self.call()
        if refused := self.refusal(call):
            x = "x" if self.count == 1 else "q and k"
            told = f"{x} [{', '.join(self.axes)}] = {[*self.x(call).shape]}"
            raise RefusedError(f"forward with {told}: {refused}.") from refused

    def arguments(self) -> tuple[int, list[str]]:
        """How many tensors forward takes, and what is left as it is by default."""
        given = inspect.signature(self.first.forward).parameters
        for name in (self.offset, self.positions):
            if name is not None and name not in given:
                there = ", ".join(given) or "nothing"
                raise RefusedError(f"forward takes {there}: no argument is {name!r}.")
        named = {self.offset, self.positions}
        required = {n: p for n, p in given.items() if p.default is p.empty}
        self.always = named & {*required}
        needed = [p for n, p in required.items() if n not in named]
        needed = [p for p in needed if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        if len(needed) > self.most:
            takes = " or ".join(["x", "q and k"][: self.most])
            there = ", ".join(p.name for p in needed)
            raise RefusedError(
                f"forward needs {there}; of kind {self.kind} it takes {takes}, "
                "and what offset and positions name."
            )
        self.names = [p.name for p in needed] or ["x"]  # of what it is given
        return len(self.names), [n for n in given if n not in named | {*required}]

    # Built

    @cached_property
    def said(self) -> list[tuple[str, Any]]:
        """What arguments of its maker, and of its classes, are by default."""
        theirs = {type(part) for part in nn.Module.modules(self.first)}
        theirs = {c for c in theirs if not c.__module__.startswith("torch.")}
        makers = (self.maker, *(Maker.of(c, self.width) for c in theirs))
        return [argument for maker in makers for argument in maker.said]

    @property
    def numbers(self) -> set[float]:
        """Those among them."""
        return {v for _, v in self.said if type(v) in (int, float)}

    def build(self, seed: int = 0, maker: Maker | None = None) -> nn.Module:
        """A module from the caller's own hands, in evaluation mode."""
        seed_all(seed)
        with foreign():
            module = (maker or self.maker)(self.width)
            if not isinstance(module, nn.Module):
                kind = type(module).__name__
                raise TypeError(f"make must return a torch.nn.Module, got {kind}")
            return module.eval()

    def copy(self, module: nn.Module) -> nn.Module:
        """An unused one."""
        with contextlib.suppress(Exception):  # not everything can be copied
            return copy.deepcopy(module)
        with foreign():
            new = self.build()
            new.load_state_dict(module.state_dict())
        return new

    def filled(self, begun: nn.Module) -> nn.Module:
        """With a little added to what is trained and begins all alike.

        Relations read it; formulas read what it begins as.
        """
        own = [(n, p) for n, p in begun.named_parameters() if p.requires_grad]
        own = [(n, p) for n, p in own if p.numel() > 1 or not p.any()]
        alike = [n for n, p in own if bool((p == p.flatten()[:1]).all())]
        module = self.copy(begun) if alike else begun
        with torch.no_grad():
            for seed, name in enumerate(alike, 1):
                p = module.get_parameter(name)
                p.add_(0.02 * noise(*p.shape, seed=seed))
        return module

    def module(self, call: Call) -> nn.Module:
        """The one that a call is put to: with its history, dtype and device."""
        module = self.copy(self.first)
        for earlier in call.history:
            with contextlib.suppress(ForeignError), torch.no_grad():
                self.tensor(module.train(earlier.mode == "train"), earlier)
        with foreign():
            module = self.loaded(module, call) if call.via != "as built" else module
            module = module.to(call.cast) if call.cast else module
            module = module.to(call.device) if call.device != "cpu" else module
            return module.train(call.mode == "train")

    def loaded(self, module: nn.Module, call: Call) -> nn.Module:
        """A new one, filled from the checkpoint of this; or this, from another."""
        saved = copy.deepcopy(module.state_dict())
        if call.via == "other weights":
            new, floats = module, (v for v in saved.values() if v.is_floating_point())
            for seed, value in enumerate(floats):
                value += 0.1 * noise(*value.shape, seed=seed).to(value)
        elif call.via == "meta":
            new = self.build().to_empty(device="cpu")  # meta itself loads a compiler
        else:
            new = self.build(seed=5)
        new.load_state_dict(saved)
        return new

    def loose(self) -> dict[str, Tensor]:
        """Those that are neither parameters nor buffers, by the attribute's name."""
        own = {id(t) for t in (*self.first.parameters(), *self.first.buffers())}
        parts = self.first.named_modules()
        every = ((n, *v) for n, part in parts for v in vars(part).items())
        return {
            f"{prefix}.{name}".lstrip("."): leaf
            for prefix, name, value in every
            for leaf in tensors_in(value)
            if id(leaf) not in own
        }

    # Asked

    def tensor(self, module: nn.Module, call: Call, *given: Tensor) -> Tensor:
        """What the module says to a call, [batch, heads, length, numbers]."""
        if call.positions is not None and not self.positions:
            raise RefusedError("positions names no argument of forward")
        if call.offset and not (self.offset or self.positions):
            raise RefusedError("neither offset nor positions names one of forward")
        inputs = [*given] or self.inputs(call)
        if call.strides:
            inputs = [y.transpose(0, -2).contiguous().transpose(0, -2) for y in inputs]
        n, named = call.length, dict[str | None, Any]()
        by_position = self.positions in self.always or (call.offset and not self.offset)
        if call.positions is not None or by_position:
            said = call.positions or range(call.offset, call.offset + n)
            where = torch.tensor(said, device=call.device)
            named[self.positions] = where.expand(call.batch, n).clone()
        if self.offset in self.always or (call.offset and not named):
            named[self.offset] = call.offset
        every: dict[Any, Any] = dict(zip(self.names, inputs, strict=True)) | named
        before = {name: versions_of([value]) for name, value in every.items()}
        output = self.run(module, call, inputs, named)
        self.wrote |= {n for n, v in every.items() if before[n] != versions_of([v])}
        self.rewrote |= self.versions != versions_of(self.returned)
        self.returned = [t for t in tensors_in(output) if not t._is_view()]
        self.versions = versions_of(self.returned)
        several = self.count > 1 and isinstance(output, tuple | list)
        output = [*output] if several else [output]
        shapes = [
            [*y.shape] if isinstance(y, Tensor) else type(y).__name__ for y in output
        ]
        wanted = [[*y.shape] for y in inputs]
        if shapes != wanted or any(y.is_complex() for y in output):
            raise ShapeError(shapes, wanted)
        each = [y / 2**i for i, y in enumerate(output)]
        both = torch.cat(each, -1)
        return both if "heads" in self.axes else both[:, None]

    def inputs(self, call: Call) -> list[Tensor]:
        """x, or queries and keys, of which the keys are twice the queries."""
        return [2**i * self.x(call) for i in range(self.count)]

    def run(self, module: nn.Module, call: Call, given: Any, named: Any) -> Any:
        """Forward's answer; dropout in training lets all through."""
        seed_all(call.seed)
        drop = functional.dropout

        def through(
            x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
        ) -> Tensor:
            evaluated = training and call.mode == "eval"
            return drop(x, p, training, inplace) if evaluated else x

        through_all = patch.object(functional, "dropout", through)
        with foreign(), through_all, torch.autocast("cpu", enabled=call.autocast):
            return module(*given, **named)

    def answer(self, call: Call) -> Array:
        """The same in float64, and asked once."""
        if refused := self.refusal(call):
            raise refused
        return self.kept[call]

    def refusal(self, call: Call) -> ForeignError | None:
        """What it raises, if it does."""
        if call not in self.kept and call not in self.refused:
            try:
                with foreign():
                    self.kept[call] = self.rows(self.module(call), call)
            except ForeignError as error:
                self.refused[call] = error
        return self.refused.get(call)

    def x(self, call: Call) -> Tensor:
        """The content, [batch, length, dim], with heads if these are an axis."""
        shape = call.heads, call.length, self.width
        first, seeds = 9 * call.content, range(1, call.batch + 1)
        x = self.plain((call.batch, *shape)).clone()
        if call.content:
            x = torch.stack([i * noise(*shape, seed=first + i) for i in seeds])
        x = x if "heads" in self.axes else x[:, 0]
        return x.to(call.device, call.dtype)

    def plain(self, shape: tuple[int, ...]) -> Tensor:
        """The usual content: the same at every position."""
        return torch.zeros(shape)

    @property
    def called(self) -> str:
        """The contract under which it was called, in words."""
        x = "x is" if self.count == 1 else "q and k are"
        told = [f"{x} [{', '.join(self.axes)}]"]
        told += [f"at most {self.limit:,} positions"] * (self.limit < self.longest)
        left = ", ".join(self.left)
        return "; ".join([*told, *[f"left as by default: {left}"] * bool(left)])

    # What relations compare

    def call(self, length: int = 0, **asked: Any) -> Call:
        """The usual call, or one of so many positions."""
        if "batch" in self.failed:  # what follows from that is not told
            asked = {"batch": 1, "heads": 1} | asked
        return Call(length or self.few, **asked)

    @cached_property
    def limit(self) -> int:
        """The length of the longest input that it takes, of those that are tried."""

        def is_refused(length: int) -> bool:
            return bool(self.refusal(self.alone(length)))

        if is_refused(FEW) or not is_refused(self.longest):  # or it has no end
            return self.longest
        return FEW + bisect(range(FEW + 1, self.longest), False, key=is_refused)

    def alone(self, length: int) -> Call:
        """One sequence of so many positions: a long one."""
        return self.call(length, batch=1)

    def upto(self, most: int) -> Call:
        """The call for so many positions, or for as many as it takes."""
        return self.alone(min(self.limit, most))

    def tells(self, answer: Array) -> bool:
        """Whether two positions differ."""
        rows = answer[0, 0]
        return not bool((abs(rows - rows[:1]) <= 1e-6).all())  # NaN is not near

    def differ(self, got: Array, want: Array, loose: float = CLOSE) -> bool:
        """By more than float32 rounds."""
        size = max(1e-3, np.abs(want[np.isfinite(want)]).max(initial=0))
        got, want = np.broadcast_arrays(got, want)
        apart = np.abs(np.nan_to_num(got, nan=0.0) - np.nan_to_num(want, nan=0.0))
        lost = bool((np.isnan(got) != np.isnan(want)).any())
        return lost or bool((apart / size).max(initial=0) > loose)

    @cached_property
    def trained(self) -> bool:
        """Whether training changes the answer."""
        if not any(p.requires_grad for p in self.begun.parameters()):
            return False
        module, call = self.build(), self.call()
        with torch.no_grad():
            for p in (p for p in module.parameters() if p.requires_grad):
                p.data = torch.empty_like(p).uniform_(-1, 1)
        return self.differ(self.rows(module, call), self.begins(call))

    def rows(self, module: nn.Module, call: Call, *given: Tensor) -> Array:
        """The answer of this module, in float64."""
        with torch.no_grad():
            found = self.tensor(module, call, *given)
        rows: Array = found.detach().double().numpy()
        return rows

    def begins(self, call: Call) -> Array:
        """The answer of the module as it begins, unfilled."""
        return self.rows(self.copy(self.begun), call)

    @cached_property
    def table(self) -> Array:
        """The rows that are compared with formulas."""
        rows: Array = self.begins(self.upto(READ))[0, 0]
        return rows
