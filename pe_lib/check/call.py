"""Somebody's module, built and called: the one place where foreign code runs."""

import contextlib
import copy
import inspect
import random
import sys
import traceback
import warnings
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pe_lib._arguments import short_repr
from pe_lib.check.recognise import Array
from pe_lib.check.report import Recognised
from pe_lib.check.ways import Way

Make = Callable[[int], nn.Module]

Flaw = tuple[str, str] | None  # what it is, and what mends it

OURS = tuple(Path(str(file)).parent for file in (torch.__file__, np.__file__, __file__))
CLOSE = 1e-4  # of the largest number: more than float32 rounds
NEAR = 256  # positions: where these end plain use ends
SMALLEST_BASE = 90  # that is looked for among attributes


class CannotCallError(Exception):
    """No usual way to call it fits; the message says what would help."""


class ExitCalledError(Exception):
    """The module called sys.exit, or one of its kind."""


class ForeignError(Exception):
    """The module raised; the message says what, and in which file and line."""

    what = "The module"  # that raised: a call of a certain kind

    def __init__(self, error: BaseException) -> None:
        text = next(iter(str(error).strip().splitlines()), "").strip()
        text = text if len(text) < 160 else f"{text[:150]} ..."
        place = ""
        for frame in traceback.extract_tb(error.__traceback__):
            file, line = Path(frame.filename), frame.lineno
            if not any(file.is_relative_to(at) for at in OURS):
                # The file of a notebook's cell is gone, and its name a number.
                place = f" ({file.name}:{line})" if file.exists() else f" (line {line})"
        super().__init__(f"{type(error).__name__}: {text}{place}")


@contextmanager
def foreign() -> Iterator[None]:
    """Around somebody's code: whatever it raises becomes a ForeignError."""
    try:
        yield
    except SystemExit as error:
        raise ExitCalledError(f"it called sys.exit({error.code!r})") from error
    except Exception as error:
        raise ForeignError(error) from error


@contextmanager
def during(what: str) -> Iterator[None]:
    """Say in which call a ForeignError was raised."""
    try:
        yield
    except ForeignError as error:
        error.what = what
        raise


@contextmanager
def isolated() -> Iterator[None]:
    """Put back random states and the default dtype; no warnings, no standard output."""
    dtype = torch.get_default_dtype()
    states = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        with (
            warnings.catch_warnings(),
            np.errstate(all="ignore"),
            contextlib.redirect_stdout(sys.stderr),
            torch.random.fork_rng(),
            torch.inference_mode(mode=False),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        torch.set_default_dtype(dtype)
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002


def noise(*shape: int, seed: int = 1) -> Tensor:
    """Random numbers, the same each time."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def close(left: Array, right: Array) -> bool:
    """Equal but for the last digits of float32."""
    size = max(1e-3, np.abs(right[np.isfinite(right)]).max(initial=0))
    same = left.shape == right.shape
    return same and np.allclose(left, right, rtol=0, atol=CLOSE * size, equal_nan=True)


class Subject:
    """A module under test: made anew for each question, run, and never changed.

    Of whatever kind, its answer to the usual input of a length is read as rows, one
    for each position (of a bias, for each distance), which most checks compare.
    """

    names: tuple[str, ...] = ("encodings",)  # equal parts of each row
    differing = "{} differ"
    kind: str
    positions_argument = offset_argument = ""  # the names of forward's arguments
    way: Way
    takes_x = False  # and what comes back is linear in it
    flaw: Flaw = None  # of the shape of what came back
    doubtful = False  # it also takes the batch first, and counts along it
    by_number = False  # each number is rounded on its own

    def __init__(self, make: Make, d_model: int) -> None:
        self.make, self.d_model = make, d_model
        self.said = [*getattr(make, "keywords", {}).values()]  # by the caller
        self.filled = False  # trained numbers are drawn at random
        self.wrote = False  # into what it was given
        self.seed = 1  # of the random numbers in each call
        self.watching: Callable[[], Any] = contextlib.nullcontext  # around each call
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

    @property
    def length(self) -> int:
        """A short one that it takes."""
        return self.way.length

    @property
    def fixed(self) -> bool:
        """Whether it takes that one alone."""
        return self.way.fixed

    # Built and run

    def build(self, seed: int = 0) -> nn.Module:
        """A module from the caller's own hands, in evaluation mode."""
        _seed_all(seed)
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
        _seed_all(self.seed)
        tensors = [x for x in inputs if isinstance(x, Tensor)]
        versions = [x._version for x in tensors]
        with foreign(), self.watching():
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

    @property
    def longest(self) -> int:
        """The length of the longest input that is tried."""
        return self.length

    @cached_property
    def limit(self) -> int:
        """The length of the longest input that it takes, of those that are tried."""
        if self.fixed or self.refusal(self.longest) is None:
            return self.length if self.fixed else self.longest
        lengths = range(self.length, self.longest)
        refused = bisect_left(
            lengths, True, lo=1, key=lambda length: self.refusal(length) is not None
        )
        return lengths[refused - 1]

    def tell(self, what: str, fix: str) -> None:
        """Note a flaw of what came back, for the first length that is tried."""
        self.flaw = self.flaw or (what, fix)

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

    # What it holds

    def plain_tensors(self) -> dict[str, Tensor]:
        """Tensors that are neither parameter nor buffer, by name."""
        moved = {id(t) for t in (*self.first.parameters(), *self.first.buffers())}
        found: dict[str, Tensor] = {}

        def look(name: str, value: Any) -> None:
            if isinstance(value, Tensor) and id(value) not in moved:
                found[name] = value
            elif isinstance(value, dict):
                for key, part in value.items():
                    look(f"{name}[{key!r}]", part)
            elif isinstance(value, list | tuple):
                for i, part in enumerate(value):
                    look(f"{name}[{i}]", part)

        for prefix, part in self.first.named_modules():
            for name, value in vars(part).items():
                if name not in ("_parameters", "_buffers", "_modules"):
                    look(f"{prefix}.{name}".lstrip("."), value)
        return found

    def lengths(self) -> list[int]:
        """Lengths that its tensors suggest, where it takes one length alone."""
        held = *self.first.parameters(), *self.first.buffers()
        tensors = *held, *self.plain_tensors().values()
        sizes = {size for tensor in tensors for size in tensor.shape}
        sizes |= {size - 1 for size in sizes}  # after a token of its own
        fitting = {n for n in sizes if 1 < n <= 4096}
        return sorted(fitting, key=lambda n: (n == self.d_model, n))

    def numbers(self) -> list[float]:
        """Large numbers that it keeps as attributes; its base may be one of them."""
        values = [v for part in self.first.modules() for v in vars(part).values()]
        numbers = {float(v) for v in values if type(v) in (int, float)}
        return sorted(n for n in numbers if SMALLEST_BASE < n < 1e12)

    def adapter(self, inputs: str) -> str:
        """The lines that would make the module callable."""
        return (
            f"check an adapter: class Adapter({self.name}): def forward(self, "
            f"{inputs}): return super().forward(...)"
        )


def _seed_all(number: int) -> None:
    """Seed every generator that a module may draw from."""
    torch.manual_seed(number)
    random.seed(number)
    np.random.seed(number)  # noqa: NPY002
