"""A module under test, of whatever kind: how it is built, called and read."""

import copy
import inspect
from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from pe_lib._arguments import short_repr
from pe_lib.check.call import (
    CannotCallError,
    ForeignError,
    WrongShapeError,
    close,
    foreign,
    noise,
    seed_all,
)
from pe_lib.check.recognise import Array
from pe_lib.check.report import Recognised
from pe_lib.check.ways import Way

Make = Callable[[int], nn.Module]

HIDDEN = -1e4  # and below: a mask, not a bias
NEAR = 1e-3  # more than float32 rounds in a sum or a score
TALLEST = 4096  # rows of a table that may be for one length alone


class Subject:
    """A module under test: made anew for each question, run, and never changed.

    Of whatever kind, its answer to the usual input of a length is read as rows, one
    for each position (of a bias, for each distance), which most checks compare.
    """

    names: tuple[str, ...] = ("encodings",)  # equal parts of each row
    differing = "{} differ"
    longest: int  # input that is tried
    positions_argument = offset_argument = ""  # the names of forward's arguments
    way: Way
    doubtful = False  # it also takes the batch first, and counts along it
    takes_x = False  # and what comes back is linear in it
    gains: Tensor | None = torch.ones(1)  # of x, or of scores
    by_number = False  # each number is rounded on its own

    def __init__(
        self, make: Make, d_model: int, kind: str, axes: str | None, named: str | None
    ) -> None:
        self.make, self.d_model, self.kind = make, d_model, kind
        self.axes, self.named = axes, named  # by the caller
        self.said = [*getattr(make, "keywords", {}).values()]
        self.filled = False  # trained numbers are drawn at random
        self.wrote = False  # into what it was given
        self.seed = 1  # of the random numbers in each call
        self.first = self.build()
        self.name = type(self.first).__name__
        try:
            self.parameters = dict(inspect.signature(self.first.forward).parameters)
        except (ValueError, TypeError):  # a compiled or scripted one
            self.parameters = {}
        some = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
        given = self.parameters.items()
        self.required = [
            n for n, p in given if p.default is p.empty and p.kind not in some
        ]

    def answer(
        self, module: nn.Module, length: int | None = None, **given: Any
    ) -> Tensor:
        """What comes back for the usual input, [batch, length, ...]."""
        raise NotImplementedError

    @cached_property
    def recognised(self) -> Recognised | None:
        """The formula that it follows, right or wrong."""
        raise NotImplementedError

    # How it is called

    def find(self, ways: Iterable[Way]) -> None:
        """Take the first way that it takes, and under which positions differ."""
        fallback: Way | None = None
        refusal: ForeignError | None = None
        wrong: WrongShapeError | None = None
        tried: dict[str, None] = {}
        for way in ways:
            accident = wrong or (fallback and way.length == self.d_model)
            if way.fixed and accident:
                continue  # whatever fits then may fit by accident
            self.way = way
            tried[way.form] = None
            try:
                if self.tells_positions:
                    by_length = way.layout.axes[:1] == ("length",)
                    self.doubtful = bool(by_length and fallback and not self.axes)
                    return
                fallback = fallback or way
            except WrongShapeError as error:
                wrong = wrong or error
            except ForeignError as error:
                refusal = refusal or error
        if wrong and not fallback:
            raise wrong
        if not fallback:
            hint = "" if self.axes else "Say --axes or --kind, or "
            raise CannotCallError(
                f"forward was given {', '.join(tried)} in the usual orders of axes of "
                f"width {self.d_model} and raised {refusal}. {hint}"
                f"{self.adapter(', '.join(self.required))}"
            )
        self.way = fallback

    @property
    def tells_positions(self) -> bool:
        """Whether two positions are told apart."""
        rows = self.rows(self.fresh(), batch=3)
        return not bool((abs(rows - rows[:1]) <= 1e-6).all())  # NaN is not near

    @property
    def called(self) -> str:
        """How it was called, in words."""
        only = "only" if self.way.fixed else "at most"
        limited = self.way.fixed or self.limit < self.longest
        return f"{self.way}" + f"; {only} {self.limit:,} positions" * limited

    @property
    def length(self) -> int:
        """A short one that it takes."""
        return self.way.length

    def adapter(self, inputs: str) -> str:
        """The lines that would make the module callable."""
        return (
            f"check an adapter: class Adapter({self.name}): def forward(self, "
            f"{inputs}): return super().forward(...)"
        )

    # Built and run

    def build(self, seed: int = 0) -> nn.Module:
        """A module from the caller's own hands, in evaluation mode."""
        seed_all(seed)
        with foreign():
            module = self.make(self.d_model)
            if not isinstance(module, nn.Module):
                raise TypeError(
                    f"make must return a torch.nn.Module, got {short_repr(module)}"
                )
            module.eval()
        if self.filled:
            self.fill(module)
        return module

    def fresh(self) -> nn.Module:
        """An unused module, the same each time: a copy, as building may be slow."""
        try:
            with foreign():
                return copy.deepcopy(self.first)
        except ForeignError:  # not everything can be copied
            return self.build()

    def fill(self, module: nn.Module) -> None:
        """Draw at random what is trained, which may begin alike; the frozen stays."""
        self.filled = True
        with torch.no_grad():
            for seed, parameter in enumerate(module.parameters()):
                if parameter.requires_grad and not parameter.is_meta:
                    parameter.copy_(noise(*parameter.shape, seed=seed))

    def run(self, module: nn.Module, inputs: list[Any], named: dict[str, Any]) -> Any:
        """Forward's answer; its random numbers are the same each time."""
        seed_all(self.seed)
        tensors = [x for x in inputs if isinstance(x, Tensor)]
        versions = [x._version for x in tensors]
        with foreign():
            output = module(*inputs, **named)
        self.wrote |= versions != [x._version for x in tensors]
        return output

    # What it answers

    def rows(self, module: nn.Module, length: int | None = None, **given: Any) -> Array:
        """The rows of the first sequence, in float64, [length, ...]."""
        with torch.no_grad():
            found = self.answer(module, length, **{"batch": 1, **given})[0]
        with foreign():  # it may be on another device
            return np.asarray(found.double().numpy())

    @cached_property
    def usual(self) -> Array:
        """The rows of a short input."""
        return self.rows(self.fresh())

    @cached_property
    def limit(self) -> int:
        """The length of the longest input that it takes, of those that are tried."""
        if self.way.fixed:
            return self.length
        if self.refusal(self.longest) is None:
            return self.longest
        lengths = range(self.length, self.longest)
        refused = bisect_left(
            lengths, True, lo=1, key=lambda length: self.refusal(length) is not None
        )
        return lengths[refused - 1]

    def refusal(self, length: int) -> ForeignError | None:
        """What it raises for an input of a length."""
        try:
            self.rows(self.fresh(), length)
        except ForeignError as error:
            return error
        return None

    @cached_property
    def table(self) -> Array:
        """The rows that are compared with formulas."""
        return self.usual

    def differ(self, left: Array, right: Array) -> str:
        """In words that rows differ, and of what the first part is; empty if not."""
        count = len(self.names)
        both = (np.array_split(rows, count, axis=-1) for rows in (left, right))
        for name, one, two in zip(self.names, *both, strict=True):
            if not close(one, two):
                return self.differing.format(f"the {name}")
        return ""

    @property
    def is_told(self) -> bool:
        """Whether rows are finite, and not all the same."""
        return bool(np.isfinite(self.table).all() and np.ptp(self.table, axis=0).any())

    @property
    def has_trained(self) -> bool:
        """Whether training changes any parameter."""
        return any(p.requires_grad for p in self.first.parameters())

    @cached_property
    def is_trained(self) -> bool:
        """Whether training changes the rows."""
        module = self.fresh()
        with torch.no_grad():
            for parameter in module.parameters():
                if parameter.requires_grad:
                    parameter.add_(noise(*parameter.shape))
        return self.has_trained and not close(self.rows(module), self.usual)

    @property
    def is_sum(self) -> bool:
        """Whether x, or the scores, come back times one number, plus something."""
        if self.gains is None or not len(self.gains):
            return self.gains is not None
        least, most = float(self.gains.min()), float(self.gains.max())
        return most - least < NEAR * max(abs(most), 1.0) and abs(most) > NEAR

    # What it holds

    @property
    def held(self) -> dict[str, Tensor]:
        """Its parameters and buffers, by name."""
        module = self.first
        return dict(module.named_parameters()) | dict(module.named_buffers())

    def plain_tensors(self) -> dict[str, list[Tensor]]:
        """Tensors that are neither, by the name of the attribute that holds them."""
        moved, found = {id(tensor) for tensor in self.held.values()}, {}
        for prefix, part in self.first.named_modules():
            for name, value in vars(part).items():
                tensors = [x for x in tree_leaves(value) if isinstance(x, Tensor)]
                if plain := [x for x in tensors if id(x) not in moved]:
                    found[f"{prefix}.{name}".lstrip(".")] = plain
        return found

    def lengths(self) -> list[int]:
        """Lengths that its tensors suggest, where it takes one length alone."""
        tensors = sum(self.plain_tensors().values(), [*self.held.values()])
        sizes = {size for tensor in tensors for size in tensor.shape}
        sizes |= {size - 1 for size in sizes}  # after a token of its own
        fitting = {n for n in sizes if 1 < n <= TALLEST}
        return sorted(fitting, key=lambda n: (n == self.d_model, n))


def gains(answer: Callable[[Tensor], Tensor], x: Tensor) -> Tensor | None:
    """By what answer(x) multiplies x, number by number; None if it does more to it."""
    with torch.no_grad():
        none, one, some = (answer(given) for given in (0 * x, torch.ones_like(x), x))
    seen = none > HIDDEN
    factors = (one - none)[seen]
    x = x[: len(some)].expand_as(some)[seen]
    rest = (some - none)[seen] - x * factors
    size = float(factors.abs().max()) if len(factors) else 1.0
    return factors if bool((rest.abs() < NEAR * max(size, 1.0)).all()) else None
