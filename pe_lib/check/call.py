"""Somebody's module, built and called: the one place where foreign code runs."""

import contextlib
import copy
import inspect
import random
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pe_lib._arguments import short_repr

Make = Callable[[int], nn.Module]

THEIRS = (
    Path(str(torch.__file__)).parent,
    Path(__file__).parent,
    Path(np.__file__).parent,
)


SMALLEST_BASE = 90  # that is looked for among attributes


class ForeignError(Exception):
    """The module raised; the message says what, and in which file and line."""

    def __init__(self, error: BaseException) -> None:
        text = next(iter(str(error).strip().splitlines()), "")
        text = text if len(text) < 160 else f"{text[:150]} ..."
        frames = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if not any(Path(frame.filename).is_relative_to(at) for at in THEIRS)
        ]
        place = ""
        if frames:
            file, line = Path(frames[-1].filename), frames[-1].lineno
            # The file of a notebook's cell is gone, and its name a number.
            place = f" ({file.name}:{line})" if file.exists() else f" (line {line})"
        super().__init__(f"{type(error).__name__}: {text}{place}".replace(":  ", " "))


class ExitCalledError(Exception):
    """The module called sys.exit, or one of its kind."""


class CannotCallError(Exception):
    """No usual way to call it fits; the message says what would help."""


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
def isolated_rng() -> Iterator[None]:
    """Put back random states and the default dtype; no warnings, no standard output."""
    dtype = torch.get_default_dtype()
    states = random.getstate(), np.random.get_state()  # noqa: NPY002
    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() else []
    try:
        with (
            warnings.catch_warnings(),
            np.errstate(all="ignore"),
            contextlib.redirect_stdout(sys.stderr),
            torch.random.fork_rng(devices=list(devices)),
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


class Subject:
    """A module under test: made anew, run, and never changed."""

    def __init__(self, make: Make, d_model: int) -> None:
        self.make, self.d_model = make, d_model
        self.filled = False  # trained numbers are drawn at random
        self.seed = 1  # of the random numbers in each call
        self.watching: Callable[[], Any] = contextlib.nullcontext  # around each call
        self.first = self.build()
        self.name = type(self.first).__name__
        try:
            self.parameters = dict(inspect.signature(self.first.forward).parameters)
        except (ValueError, TypeError):  # a compiled or scripted one
            self.parameters = {}

    @property
    def required(self) -> list[str]:
        """The arguments that forward must be given."""
        some = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
        given = self.parameters.items()
        return [n for n, p in given if p.default is p.empty and p.kind not in some]

    def build(self, width: int | None = None, seed: int = 0) -> nn.Module:
        """A module from the caller's own hands, in evaluation mode."""
        _seed_all(seed)
        with foreign():
            module = self.make(self.d_model if width is None else width)
            if not isinstance(module, nn.Module):
                raise TypeError(
                    f"make must return a torch.nn.Module, got {short_repr(module)}"
                )
            module.eval()
        if self.filled:
            fill_trained(module)
        return module

    def fresh(self) -> nn.Module:
        """An unused module, the same each time: a copy, as building may be slow."""
        try:
            with foreign():
                return copy.deepcopy(self.first)
        except ForeignError:  # not everything can be copied
            return self.build()

    def in_training(self) -> nn.Module:
        """An unused module in training mode."""
        with foreign():
            return self.fresh().train()

    def fill(self) -> None:
        """Draw trained numbers at random: as they begin they may all be alike."""
        self.filled = True
        fill_trained(self.first)

    @property
    def trained(self) -> dict[str, nn.Parameter]:
        """The parameters that training changes."""
        return {n: p for n, p in self.first.named_parameters() if p.requires_grad}

    def lengths(self) -> list[int]:
        """Lengths that its tensors suggest, where it takes one length alone."""
        held = [
            *self.first.parameters(),
            *self.first.buffers(),
            *plain_tensors(self.first).values(),
        ]
        sizes = {size for tensor in held for size in tensor.shape}
        sizes |= {size - 1 for size in sizes}  # after a token of its own
        fitting = {n for n in sizes if 1 < n <= 4096}
        return sorted(fitting, key=lambda n: (n == self.d_model, n))

    def run(
        self, module: nn.Module, inputs: list[Any], named: dict[str, Any] | None = None
    ) -> Any:
        """Forward's answer; its random numbers are the same each time."""
        _seed_all(self.seed)
        with foreign(), self.watching():
            return module(*inputs, **(named or {}))


def fill_trained(module: nn.Module) -> None:
    """Draw the parameters that training changes at random; frozen ones stay."""
    with torch.no_grad():
        for seed, parameter in enumerate(module.parameters()):
            if parameter.requires_grad and not parameter.is_meta:
                parameter.copy_(noise(*parameter.shape, seed=seed))


def adapter(name: str, inputs: str) -> str:
    """The lines that would make a module callable."""
    return (
        f"check an adapter: class Adapter({name}): def forward(self, {inputs}): "
        "return super().forward(...)"
    )


def plain_tensors(module: nn.Module) -> dict[str, Tensor]:
    """Tensors that are neither parameter nor buffer, by name."""
    moved = {id(t) for t in (*module.parameters(), *module.buffers())}
    found: dict[str, Tensor] = {}

    def look(name: str, value: Any, depth: int) -> None:
        if isinstance(value, Tensor):
            if id(value) not in moved:
                found[name] = value
        elif depth and isinstance(value, list | tuple):
            for i, part in enumerate(value):
                look(f"{name}[{i}]", part, depth - 1)
        elif depth and isinstance(value, dict):
            for key, part in value.items():
                look(f"{name}[{key!r}]", part, depth - 1)

    for prefix, part in module.named_modules():
        for name, value in vars(part).items():
            if name not in ("_parameters", "_buffers", "_modules"):
                look(f"{prefix}.{name}".lstrip("."), value, 2)
    return found


def numbers_of(module: nn.Module) -> list[float]:
    """Large numbers that it keeps as attributes; its base may be one of them."""
    return sorted(
        {
            float(value)
            for part in module.modules()
            for value in vars(part).values()
            if type(value) in (int, float) and SMALLEST_BASE < value < 1e12
        }
    )


def _seed_all(number: int) -> None:
    """What torch.manual_seed does, quickly where there is only a CPU."""
    if torch.cuda.is_available():
        torch.manual_seed(number)
    else:
        torch.default_generator.manual_seed(number)
    random.seed(number)
    np.random.seed(number)  # noqa: NPY002
