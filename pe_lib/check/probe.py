"""A module under test: how it is built, how it is called, what it adds to its input."""

import contextlib
import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pe_lib.check.longest import LONG, ROWS, LongestInput, find_longest
from pe_lib.check.recognition import Match, recognize
from pe_lib.check.speeds import numbers_of
from pe_lib.check.tensors import as_numpy, close, differ, plain_tensors
from pe_lib.check.undisturbed import seed_all
from pe_lib.check.wrapped import Build, Fitted
from pe_lib.conventions import Convention

AXES = {
    "batch": "[batch, length, d_model]",
    "sequence": "[length, batch, d_model]",
    "channels": "[batch, d_model, length]",
    "unbatched": "[length, d_model]",
}
POSITIONS = (
    "positions",
    "position_ids",
    "pos",
    "position",
    "cache_position",
    "input_pos",
    "token_positions",
)
OFFSETS = (
    "offset",
    "start",
    "start_index",
    "start_pos",
    "past_key_values_length",
    "step",
)
FEW = 5  # positions: a length unlike the batch of 2
NARROW = 8  # the width at which long inputs are tried


class CannotCallError(Exception):
    """No shape of input was accepted; the last error is the cause."""


class WrongOutputError(ValueError):
    """A module returned something that is no encoding of its input."""


@dataclass(frozen=True)
class Probe:
    """A module under test, and how its input is laid out."""

    build: Build
    d_model: int
    axes: str  # a key of AXES
    fixed: int | None = None  # the only length that it takes
    # Output for x minus output for zeros is this times x; None: no multiple of x.
    gain: float | None = 0.0
    filled: bool = False  # parameters that were all alike are drawn at random
    alike: bool = False  # all positions get the same encoding
    by_batch: bool = False  # the sequences of a batch differ
    # What x [2, length, d_model] gave, if no encoding has that shape, and a different
    # order of the axes was taken instead.
    odd_shape: tuple[int, ...] = ()
    level: float = 0.0  # every number of x; not 0 where zeros are taken for padding
    without_x: bool = False  # it takes positions, or their number, and no x
    # Names of arguments of forward, where they are not the usual ones.
    takes_positions: str | None = None
    takes_offset: str | None = None
    takes_axes: str | None = None  # the order of the axes of x, where it was said

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

    def filled_at_random(self) -> nn.Module:
        """The module with random parameters, so that no two rows are alike."""
        module = self.make()
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.copy_(noise(*parameter.shape))
        return module

    def build_anew(self, seed: int = 0) -> nn.Module:
        """A module from the caller's own hands, ready to be used."""
        seed_all(seed)
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

    def blank(self, length: int, batch: int = 2, **kind: Any) -> Tensor:
        """An input without content: one number everywhere."""
        shape = {
            "batch": (batch, length, self.d_model),
            "sequence": (length, batch, self.d_model),
            "channels": (batch, self.d_model, length),
            "unbatched": (length, self.d_model),
        }[self.axes]
        return torch.full(shape, self.level, **{"dtype": torch.float32, **kind})

    def rows(self, output: Any, length: int) -> Tensor:
        """The encodings [length, d_model] in an output for a blank input."""
        if not isinstance(output, Tensor):
            raise WrongOutputError(f"returned {type(output).__name__}, not a tensor")
        rows = output.detach()
        spread = self.axes == "unbatched" and len(rows) > 1 and not self.odd_shape
        if rows.ndim == 3 and not spread:
            rows = rows[:, 0] if self.axes == "sequence" else rows[0]
        if self.axes == "channels":
            rows = rows.T
        if rows.shape != (length, self.d_model):
            raise WrongOutputError(
                f"returned shape {list(output.shape)} for x of shape "
                f"{list(self.blank(length, device='meta').shape)}"
            )
        return rows - self.gain * self.level if self.level and self.gain else rows

    def call(self, module: nn.Module, *inputs: Any, **arguments: Any) -> Any:
        """The output of a module, without gradients."""
        with torch.no_grad():
            return module(*inputs, **arguments)

    def codes(
        self, module: nn.Module, length: int | None = None, /, **arguments: Any
    ) -> Tensor:
        """The encodings of the first positions, from a float32 input."""
        length = self.length if length is None else length
        x = self.blank(length, batch=2 if length <= LONG[0] else 1)
        return self.rows(self.call(module, x, **arguments), length)

    def on(self, module: nn.Module, device: str) -> Any:
        """Its output for an input on a device."""
        return self.call(module, self.blank(self.length, device=device))

    def lengthen(self, module: nn.Module) -> None:
        """Let it see a long input, if it takes one."""
        if self.fixed is None:
            self.codes(module, min(2 * LONG[0], self.longest.length))

    def other_calls(self) -> dict[str, Callable[[nn.Module], Any]]:
        """Calls that should change nothing."""
        half, more = self.blank(self.length, dtype=torch.bfloat16), {}
        if self.fixed is None:
            more = {
                "a longer x": self.lengthen,
                "a shorter x": lambda m: self.codes(m, 1),
            }
        if self.offset:
            later: dict[str, Any] = {self.offset: 7}
            more[f"another {self.offset}"] = lambda m: self.codes(m, **later)
        return {
            "x in bfloat16": lambda m: self.call(m, half),
            "a different batch": lambda m: self.call(m, self.blank(self.length, 3)),
            **more,
        }

    def inputs(self) -> list[Tensor]:
        """What forward is given."""
        return [noise(*self.blank(self.length).shape, seed=2)]

    def placed(
        self, module: nn.Module, positions: Tensor, kind: torch.dtype = torch.float32
    ) -> Tensor:
        """The encodings of given positions, handed over as [length] or with a batch."""
        length = len(positions)
        x = self.blank(length, dtype=kind)
        both = positions.expand(1 if self.axes == "unbatched" else 2, -1)
        for at in (positions, both):  # maybe it wants one row a sequence
            try:
                output = self.call(module, x, **{str(self.positions): at})
                return self.rows(output, length)
            except Exception as error:
                refusal = error
        raise refusal

    def at_width(self, d_model: int) -> "Probe":
        """The same, at a different width."""
        return replace(self, d_model=d_model)

    @property
    def few(self) -> int:
        """A length unlike the batch and unlike the width."""
        return self.fixed or (FEW + 2 if self.d_model == FEW else FEW)

    @cached_property
    def length(self) -> int:
        """How many rows the checks read."""
        return self.fixed or min(ROWS, self.longest.length)

    @cached_property
    def match(self) -> Match | None:
        """The convention; None for a table too small or not finite."""
        probe = self if self.d_model % 2 == 0 else self.at_width(self.d_model + 1)
        codes = as_numpy(probe.codes(probe.make(), self.length))
        if len(codes) < 8 or not np.isfinite(codes).all() or not codes.any():
            return None
        return recognize(codes, numbers_of(probe.make()))

    @property
    def convention(self) -> Convention | None:
        """The published convention, if there is one."""
        return self.match.convention if self.match else None

    @cached_property
    def narrow(self) -> "Probe":
        """The same at a small width, for long inputs, where it exists."""
        small = self.at_width(NARROW)
        try:
            length = small.few
            codes = small.codes(small.make(), length)
        except Exception:  # whatever it is, the width that was asked for works
            return self
        return small if torch.isfinite(codes).all() else self

    @cached_property
    def longest(self) -> LongestInput:
        """The longest input that it takes, found at a small width."""
        probe = self.narrow
        module = probe.make()
        if self.fixed is not None:
            end = probe.codes(module, self.fixed)[-ROWS:]
            return LongestInput(self.fixed, "", {self.fixed: end}, None)
        return find_longest(
            lambda length: probe.codes(module, length), probe.d_model, probe.few
        )

    @cached_property
    def positions(self) -> str | None:
        """The name of the argument that takes positions."""
        return self._offered(self.takes_positions, POSITIONS)

    @cached_property
    def offset(self) -> str | None:
        """The name of the argument that takes the first position."""
        return self._offered(self.takes_offset, OFFSETS)

    def _offered(self, given: str | None, usual: tuple[str, ...]) -> str | None:
        if given is not None:
            return given
        module: Any = self.make()
        while isinstance(module, Fitted):
            module = module.inner
        offered = parameters_of(module)
        known = [*usual]
        if usual is OFFSETS:
            known += [name for name in offered if _is_like_an_offset(offered[name])]
        return next(
            (name for name in known if name in offered and _from_zero(offered[name])),
            None,
        )


@dataclass(frozen=True)
class Asked:
    """A module that is asked for something else than codes, by a call of its own."""

    probe: Probe
    call: Any

    @property
    def d_model(self) -> int:
        """The width of a head, or the number of heads."""
        return self.probe.d_model

    def make(self) -> nn.Module:
        """An unused module, the same each time."""
        return self.probe.make()

    def build_anew(self, seed: int = 0) -> nn.Module:
        """A module from the caller's own hands."""
        return self.probe.build_anew(seed)


def parameters_of(module: nn.Module) -> dict[str, inspect.Parameter]:
    """What forward takes, by name; nothing where that cannot be told."""
    try:
        return dict(inspect.signature(module.forward).parameters)
    except (ValueError, TypeError):  # a compiled or scripted one
        return {}


def _from_zero(parameter: inspect.Parameter) -> bool:
    """Whether an argument begins at 0 where it is left out; a stride begins at 1."""
    default = parameter.default
    return default is parameter.empty or default is None or default == 0


def _is_like_an_offset(parameter: inspect.Parameter) -> bool:
    """Whether an argument is an integer, and what its name says has gone before."""
    words = "past", "offset", "start", "begin", "prev", "seen"
    return type(parameter.default) is int and any(w in parameter.name for w in words)


def noise(*shape: int, seed: int = 1) -> Tensor:
    """Random numbers, the same each time."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def oriented(probe: Probe) -> Probe:
    """Find out how a module that takes x wants its axes."""
    module, d_model = probe.make(), probe.d_model
    cause: Exception | None = None
    odd: tuple[int, ...] = ()
    for length in (probe.few, *lengths_in(module, d_model)):
        for axes in ("batch", "channels", "unbatched"):
            fixed = probe.fixed if length == probe.few else length
            tried = replace(probe, axes=axes, fixed=fixed, odd_shape=odd)
            try:
                output = tried.call(module, tried.blank(length))
                return _by_output(tried, output, length)
            except WrongOutputError as error:
                cause = cause or error
                if axes == "batch" and isinstance(output, Tensor):
                    odd = odd or tuple(output.shape)
            except Exception as error:
                cause = cause or error
    raise CannotCallError from cause


def lengths_in(module: nn.Module, d_model: int) -> list[int]:
    """Lengths that the tensors of a module suggest, for one that takes no other."""
    held = [*module.parameters(), *module.buffers(), *plain_tensors(module).values()]
    sizes = {size for tensor in held for size in tensor.shape}
    return sorted(n for n in sizes if n not in (1, d_model) and n <= LONG[2])[:4]


def _by_output(probe: Probe, output: Any, length: int) -> Probe:
    """Batch or sequence first? Whichever axis the encodings differ along."""
    d_model = probe.d_model
    if not isinstance(output, Tensor):
        raise TypeError(f"returned {type(output).__name__}, not a tensor")
    if probe.axes == "batch":
        if output.shape in {(2, d_model), (2, 1, d_model)}:
            return finished(replace(probe, axes="sequence"))
        if output.shape == (2, length, d_model):
            down, across = differ(output, 1), differ(output, 0)
            if across and not down:
                return finished(replace(probe, axes="sequence"))
            finite = bool(torch.isfinite(output).all())
            probe = replace(probe, by_batch=across and down and finite)
    probe.rows(output, length)
    return finished(probe)


def finished(probe: Probe) -> Probe:
    """Look whether positions are told apart, and how much of x comes back."""
    length = probe.few
    codes = probe.codes(probe.make(), length)
    if not differ(codes, 0):
        filled = replace(probe, filled=True)
        module = filled.make()
        trained = any(True for _ in module.parameters())
        if trained and differ(filled.codes(module, length), 0):
            probe = filled
        else:
            probe = replace(probe, alike=True)
    return replace(probe, gain=_gain(probe, length))


def _gain(probe: Probe, length: int) -> float | None:
    """How much of x is in the output, if it is a multiple of x plus an encoding."""
    module = probe.make()
    blank = probe.blank(length)
    x = noise(*blank.shape)
    change = probe.call(module, x.clone()) - probe.call(module, blank)
    x = x - probe.level
    if change.shape != x.shape:
        return None if change.any() else 0.0
    gain = float((change * x).sum() / (x * x).sum())
    rest = float((change - gain * x).abs().max())
    return round(gain, 4) if rest < 1e-3 * (1 + abs(gain)) else None


def multiplies(probe: Probe) -> bool:
    """Whether it returns x times the encoding."""
    x, module = noise(*probe.blank(probe.few).shape), probe.make()
    return close(probe.call(module, x), x * probe.call(module, torch.ones_like(x)))


def first_position(probe: Probe) -> int:
    """What the argument for positions calls the first one."""
    convention, rows = probe.convention, torch.arange(probe.length)
    usual = probe.codes(probe.make())
    # that of a convention; of a learned table also its number of a row
    for start in (convention.start,) if convention else (0, 1, 2):
        with contextlib.suppress(Exception):  # it takes no positions, or other ones
            if close(probe.placed(probe.make(), rows + start), usual):
                return start
    return 0
