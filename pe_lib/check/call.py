"""One way to ask a module, and somebody's code, run: it leaves all as it was."""

import linecache
import random
import re
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Array = NDArray[Any]
OURS = tuple(Path(str(file)).parent for file in (torch.__file__, np.__file__, __file__))
STANDARD = Path(linecache.__file__).parent
FEW = 11  # positions of the usual call: unlike any batch, and odd


@dataclass(frozen=True)
class Call:
    """One way to ask a module; equal calls have one answer."""

    length: int = FEW  # positions
    batch: int = 3
    heads: int = 2
    positions: tuple[Any, ...] | None = None  # of all sequences, or of each
    offset: int = 0  # the position of the first
    content: int = 0  # the seed of x; 0: the same at every position
    strides: bool = False  # in memory the first axis and the last but one are swapped
    dtype: torch.dtype = torch.float32
    cast: torch.dtype | None = None  # of the module
    autocast: bool = False
    device: str = "cpu"
    via: str = "as built"  # or "a checkpoint", "meta", "other weights"
    mode: str = "eval"
    seed: int = 0
    history: tuple["Call", ...] = ()  # the calls before this one

    def but(self, **changes: Any) -> "Call":
        """The same call in all else."""
        return replace(self, **changes)


class ForeignError(Exception):
    """The module raised; the message says what, and in which file and line."""

    def __init__(self, error: BaseException) -> None:
        lines = [line.strip() for line in str(error).strip().splitlines()] or [""]
        text = " ".join(lines[: 2 if lines[0].endswith(":") else 1])
        text = text if len(text) < 160 else f"{text[:150]} ..."
        stack = traceback.extract_tb(error.__traceback__)
        frames = [(f.filename, f.lineno or 0) for f in stack]
        theirs = [(name, line) for name, line in frames if is_theirs(name)]
        name, line = theirs[-1] if theirs else ("", 0)
        place, file = f" (line {line})" * bool(line), Path(name)
        if file.is_file():  # that of a notebook's cell is gone, and its name a number
            place = f" ({file.name}:{line})"
        stated = re.search(r"\b(raise|assert)\b", linecache.getline(name, line))
        self.theirs = bool(theirs)
        self.meant = frames[-1:] == [(name, line)] and bool(stated)
        super().__init__(f"{type(error).__name__}: {text}{place}")


def is_theirs(name: str) -> bool:
    """Whether a file is neither ours nor a library's that runs modules."""
    ours = any(Path(name).is_relative_to(at) for at in OURS)
    return not (name[:1] == "<" or ours or Path(name).parent == STANDARD)


class ShapeError(ForeignError):
    """What it returned has other shapes than what it was given."""

    def __init__(self, came: list[Any], wanted: list[list[int]]) -> None:
        told = [" and ".join(map(str, s)) or "nothing" for s in (came, wanted)]
        super().__init__(ValueError("it returned {}, not {}".format(*told)))


class RefusedError(Exception):
    """It is not to be asked, or not this call; the message says why."""


class OwnError(Exception):
    """The checker itself raised; the message says what."""


@contextmanager
def foreign(*, ours: bool = False) -> Iterator[None]:
    """Around somebody's code: whatever it raises is a ForeignError.

    Around ours, what is raised in no file of theirs is an OwnError.
    """
    try:
        yield
    except (ForeignError, RefusedError):
        raise
    except (Exception, SystemExit) as error:
        told = ForeignError(error)
        if told.theirs or not ours:
            raise told from error
        words = f"the checker itself failed, please report it: {told}"
        raise OwnError(words) from error


@contextmanager
def isolated() -> Iterator[None]:
    """Put back random states and the default dtype; no warnings.

    Memory that nobody has filled is NaN, as PyTorch makes it in this mode.
    """
    dtype, mode = torch.get_default_dtype(), torch.get_deterministic_debug_mode()
    states = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        with (
            warnings.catch_warnings(),
            np.errstate(all="ignore"),
            torch.random.fork_rng(devices=[]),
            torch.inference_mode(mode=False),
        ):
            warnings.simplefilter("ignore")
            torch.set_deterministic_debug_mode("warn")
            yield
    finally:
        torch.set_deterministic_debug_mode(mode)
        torch.set_default_dtype(dtype)
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002


def noise(*shape: int, seed: int = 1) -> Tensor:
    """Random numbers, the same each time."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def seed_all(number: int) -> None:
    """Seed every generator that a module may draw from."""
    torch.default_generator.manual_seed(number)  # manual_seed would load a compiler
    random.seed(number)
    np.random.seed(number)  # noqa: NPY002


def random_states() -> dict[str, Any]:
    """Of each generator that all of a program shares, as what can be compared."""
    numpys: Any = np.random.get_state()  # noqa: NPY002
    states = torch.get_rng_state().tolist(), random.getstate(), numpys[1].tolist()
    return dict(zip(("torch", "random", "numpy"), states, strict=True))


def some(items: Any) -> str:
    """The first few, and how many more there are."""
    items = [f"{n:,}" if isinstance(n, int) else f"{n}" for n in items]
    more = f" and {len(items) - 4:,} more" if len(items) > 4 else ""
    return ", ".join(items[:4]) + more
