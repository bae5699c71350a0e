"""A module under test: how it is built, how it is called, what it adds to its input."""

import copy
import inspect
import random
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from textwrap import shorten
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pe_lib.check.recognition import Match, recognize
from pe_lib.conventions import Convention

Build = Callable[[int], nn.Module]

AXES = {
    "batch": "[batch, length, d_model]",
    "sequence": "[length, batch, d_model]",
    "channels": "[batch, d_model, length]",
    "unbatched": "[length, d_model]",
}
POSITIONS = ("positions", "position_ids", "pos", "position")
OFFSETS = ("offset", "start", "start_index", "start_pos", "past_key_values_length")
ROWS = 64  # of a table; enough to tell conventions apart
PROBE = 5  # a length unlike the batch of 2
LONG = (1_000, 10_000, 100_000, 1_000_000)
NARROW = 8  # the width at which long inputs are tried
HARMFUL = 1 / 256  # half of bfloat16's last digit at 1: no dtype in use hides more
LARGEST = 2**24  # numbers in an input, 64 MiB
PATIENCE = 10.0  # seconds that a call may be expected to take


class CannotCallError(Exception):
    """No shape of input was accepted; the last error is the cause."""


@dataclass(frozen=True)
class Reach:
    """How long an input may be.

    Attributes
    ----------
    length : int
        The longest input that was accepted.
    refusal : str
        The error that a longer one raised; empty if none was refused.
    ends : dict
        From each length that was tried to its last codes, at most ROWS of them.
    repeats : tuple of two ints, or None
        The first row that is equal to an earlier one, and that one.
    """

    length: int
    refusal: str
    ends: dict[int, Tensor]
    repeats: tuple[int, int] | None


@dataclass(frozen=True)
class Subject:
    """A module under test, and how its input is laid out.

    Attributes
    ----------
    build : callable
        From a width to a module.
    d_model : int
    axes : str
        A key of AXES.
    fixed : int or None
        The only length that it takes.
    gain : float or None
        Output for x minus output for zeros is this times x; None: neither that nor
        any other multiple.
    filled : bool
        Its parameters were all alike and have been drawn at random for the checks.
    alike : bool
        All positions get the same code; `by_batch`: sequences of a batch differ.
    """

    build: Build
    d_model: int
    axes: str
    fixed: int | None = None
    gain: float | None = 0.0
    filled: bool = False
    alike: bool = False
    by_batch: bool = False

    @cached_property
    def first(self) -> nn.Module:
        """A module that stays unused."""
        return self.build_anew()

    def make(self) -> nn.Module:
        """An unused module, the same each time: a copy, since building may be slow."""
        try:
            return copy.deepcopy(self.first)
        except Exception:  # not everything can be copied
            return self.build_anew()

    def build_anew(self, seed: int = 0) -> nn.Module:
        """A module from the caller's own hands, ready to be used."""
        torch.manual_seed(seed)
        module = self.build(self.d_model)
        if not isinstance(module, nn.Module):
            raise TypeError(
                f"build must return a torch.nn.Module, got {type(module).__name__}"
            )
        if self.filled:
            with torch.no_grad():
                for parameter in module.parameters():
                    if not parameter.is_meta:
                        parameter.normal_()
        return module.eval()

    def zeros(self, length: int, batch: int = 2, **kind: Any) -> Tensor:
        """An input without content."""
        shape = {
            "batch": (batch, length, self.d_model),
            "sequence": (length, batch, self.d_model),
            "channels": (batch, self.d_model, length),
            "unbatched": (length, self.d_model),
        }[self.axes]
        return torch.zeros(shape, **{"dtype": torch.float32, **kind})

    def rows(self, output: Any, length: int) -> Tensor:
        """The codes [length, d_model] in an output for zeros."""
        if not isinstance(output, Tensor):
            raise TypeError(f"returned {type(output).__name__}, not a tensor")
        rows = output.detach()
        if rows.ndim == 3:
            rows = rows[:, 0] if self.axes == "sequence" else rows[0]
        if self.axes == "channels":
            rows = rows.T
        if rows.shape != (length, self.d_model):
            raise ValueError(
                f"returned shape {list(output.shape)} for x of shape "
                f"{list(self.zeros(length, device='meta').shape)}"
            )
        return rows

    def call(self, module: nn.Module, x: Tensor, **arguments: Any) -> Any:
        """The output of a module, without gradients."""
        with torch.no_grad():
            return module(x, **arguments)

    def codes(
        self, module: nn.Module, length: int | None = None, /, **arguments: Any
    ) -> Tensor:
        """The codes of the first positions, from a float32 input."""
        length = self.length if length is None else length
        x = self.zeros(length, batch=2 if length <= LONG[0] else 1)
        return self.rows(self.call(module, x, **arguments), length)

    def at_width(self, d_model: int) -> "Subject":
        """The same, at another width."""
        return replace(self, d_model=d_model)

    @cached_property
    def length(self) -> int:
        """How many rows the checks look at."""
        return self.fixed or min(ROWS, self.reach.length)

    @cached_property
    def match(self) -> Match | None:
        """The convention; None for a table too small or not finite."""
        subject = self if self.d_model % 2 == 0 else self.at_width(self.d_model + 1)
        codes = as_numpy(subject.codes(subject.make(), self.length))
        if len(codes) < 8 or not np.isfinite(codes).all() or not codes.any():
            return None
        return recognize(codes)

    @property
    def convention(self) -> Convention | None:
        """The published convention, if there is one."""
        return self.match.convention if self.match else None

    @cached_property
    def narrow(self) -> "Subject":
        """The same at a small width, for long inputs, where it exists."""
        small = self.at_width(NARROW)
        try:
            length = self.fixed or PROBE
            codes = small.codes(small.make(), length)
        except Exception:  # whatever it is, the width that was asked for works
            return self
        return small if torch.isfinite(codes).all() else self

    @cached_property
    def reach(self) -> Reach:
        """How long an input may be: tried, and then halved until it is known."""
        subject = self.narrow
        ends: dict[int, Tensor] = {}
        repeats = None
        refusal = ""
        longest = self.fixed or PROBE
        module = subject.make()
        if self.fixed is not None:
            ends[longest] = subject.codes(module, longest)[-ROWS:]
            return Reach(longest, "", ends, None)
        for length in LONG:
            if length * subject.d_model > LARGEST:
                break
            begin = perf_counter()
            try:
                codes = subject.codes(module, length)
            except Exception as error:
                refusal = first_line(error)
                break
            seconds = perf_counter() - begin
            longest, ends[length] = length, codes[-ROWS:].clone()
            if repeats is None and length <= 100_000:
                repeats = first_repeat(codes)
            if 10 * seconds > PATIENCE:
                break
        if refusal:
            low, high = longest, length
            while high - low > 1:
                middle = (low + high) // 2
                try:
                    codes = subject.codes(module, middle)
                    low = middle
                except Exception as error:
                    refusal, high = first_line(error), middle
            longest = low
            codes = subject.codes(module, longest)
            ends[longest] = codes[-ROWS:].clone()
            repeats = repeats or first_repeat(codes)
        return Reach(longest, refusal, ends, repeats)

    @cached_property
    def positions(self) -> str | None:
        """The name of the argument that takes positions."""
        return self._offered(POSITIONS)

    @cached_property
    def offset(self) -> str | None:
        """The name of the argument that takes the first position."""
        return self._offered(OFFSETS)

    def _offered(self, names: tuple[str, ...]) -> str | None:
        offered = inspect.signature(self.make().forward).parameters
        return next((name for name in names if name in offered), None)


def probe(build: Build, d_model: int) -> Subject:
    """Find out how a module wants its input."""
    subject = Subject(build, d_model, "batch")
    module = subject.make()
    cause: Exception | None = None
    for length in (PROBE, *_lengths_in(module, d_model)):
        for axes in ("batch", "channels", "unbatched"):
            tried = replace(
                subject, axes=axes, fixed=None if length == PROBE else length
            )
            try:
                output = tried.call(module, tried.zeros(length))
                return _oriented(tried, output, length)
            except Exception as error:
                cause = cause or error
    raise CannotCallError from cause


def _lengths_in(module: nn.Module, d_model: int) -> list[int]:
    """Lengths that the tensors of a module suggest, for one that takes no other."""
    held = [*module.parameters(), *module.buffers(), *plain_tensors(module).values()]
    sizes = {size for tensor in held for size in tensor.shape}
    return sorted(n for n in sizes if n not in (1, d_model) and n <= LONG[2])[:4]


def _oriented(subject: Subject, output: Any, length: int) -> Subject:
    """Batch or sequence first? Whichever axis the codes differ along."""
    d_model = subject.d_model
    if not isinstance(output, Tensor):
        raise TypeError(f"returned {type(output).__name__}, not a tensor")
    if subject.axes == "batch":
        if output.shape in {(2, d_model), (2, 1, d_model)}:
            return _finished(replace(subject, axes="sequence"))
        if output.shape == (2, length, d_model):
            down, across = _differ(output, 1), _differ(output, 0)
            if across and not down:
                return _finished(replace(subject, axes="sequence"))
            finite = bool(torch.isfinite(output).all())
            subject = replace(subject, by_batch=across and down and finite)
    subject.rows(output, length)
    return _finished(subject)


def _finished(subject: Subject) -> Subject:
    length = subject.fixed or PROBE
    codes = subject.codes(subject.make(), length)
    if not _differ(codes, 0):
        filled = replace(subject, filled=True)
        module = filled.make()
        trained = any(True for _ in module.parameters())
        if trained and _differ(filled.codes(module, length), 0):
            subject = filled
        else:
            subject = replace(subject, alike=True)
    return replace(subject, gain=_gain(subject, length))


def _gain(subject: Subject, length: int) -> float | None:
    """How much of x is in the output, if it is a multiple of x plus a code."""
    module = subject.make()
    zeros = subject.zeros(length)
    x = torch.randn(zeros.shape, generator=torch.Generator().manual_seed(1))
    change = subject.call(module, x.clone()) - subject.call(module, zeros)
    if change.shape != x.shape:
        return None if change.any() else 0.0
    gain = float((change * x).sum() / (x * x).sum())
    rest = float((change - gain * x).abs().max())
    return round(gain, 4) if rest < 1e-3 * (1 + abs(gain)) else None


def _differ(codes: Tensor, axis: int) -> bool:
    """Whether the codes change along an axis."""
    first = codes.narrow(axis, 0, 1)
    return not bool(((codes - first).abs() <= 1e-6).all())  # NaN differs


def first_repeat(codes: Tensor) -> tuple[int, int] | None:
    """The first row that is equal to an earlier one, and that one."""
    rows = as_numpy(codes)
    weights = np.random.default_rng(0).standard_normal(rows.shape[1])
    key = np.sum(rows * weights, axis=1)  # equal where rows are
    order = np.argsort(key, kind="stable")
    same = np.all(rows[order[1:]] == rows[order[:-1]], axis=1)
    if not same.any():
        return None
    later = np.where(same, order[1:], len(rows)).argmin()
    return int(order[later + 1]), int(order[later])


def plain_tensors(module: nn.Module) -> dict[str, Tensor]:
    """Tensors that are neither parameter nor buffer, by name."""
    return {
        f"{prefix}.{name}".lstrip("."): value
        for prefix, part in module.named_modules()
        for name, value in vars(part).items()
        if isinstance(value, Tensor)
    }


def as_numpy(codes: Tensor) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Codes of any dtype as float64."""
    numbers: np.ndarray[Any, np.dtype[np.float64]] = codes.cpu().double().numpy()
    return numbers


def close(left: Tensor, right: Tensor) -> bool:
    """Equal but for the last digits of float32."""
    size = max(1e-3, float(right.nan_to_num().abs().max()))
    return left.shape == right.shape and torch.allclose(
        left.float(), right.float(), rtol=0, atol=1e-4 * size, equal_nan=True
    )


def first_position(subject: Subject) -> int:
    """What the argument for positions calls the first one."""
    start = subject.convention.start if subject.convention else 0
    if start and subject.positions:
        module = subject.make()
        usual = subject.codes(module, subject.length)
        rows = torch.arange(subject.length) + start
        moved = subject.codes(module, subject.length, **{subject.positions: rows})
        return start if close(moved, usual) else 0
    return 0


def name_of(kind: torch.dtype) -> str:
    """The name of a dtype."""
    return str(kind).removeprefix("torch.")


def first_line(error: BaseException) -> str:
    """An exception in one line of bearable length."""
    line = (str(error).strip() or "no message").splitlines()[0]
    return shorten(f"{type(error).__name__}: {line}", 110, placeholder=" ...")


@contextmanager
def undisturbed() -> Iterator[None]:
    """Run somebody's code without warnings and leave all random states alone."""
    states = random.getstate(), np.random.get_state()  # noqa: NPY002
    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() else []
    try:
        with (
            warnings.catch_warnings(),
            torch.random.fork_rng(devices=list(devices)),
            torch.inference_mode(mode=False),
            torch.enable_grad(),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002
