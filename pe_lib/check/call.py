"""Somebody's code, run: what it raises, and how it leaves everything as it was."""

import contextlib
import random
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from pe_lib.check.recognise import Array
from pe_lib.check.ways import Way

OURS = tuple(Path(str(file)).parent for file in (torch.__file__, np.__file__, __file__))
CLOSE = 1e-4  # of the largest number: more than float32 rounds


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


class WrongShapeError(ForeignError):
    """What came back can be read, but not as it should be: no other check can run."""

    def __init__(self, way: Way, flaw: str, fix: str) -> None:
        super().__init__(ValueError(flaw.rstrip(".")))
        self.called, self.flaw, self.fix = str(way), flaw, fix


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


def seed_all(number: int) -> None:
    """Seed every generator that a module may draw from."""
    torch.manual_seed(number)
    random.seed(number)
    np.random.seed(number)  # noqa: NPY002
