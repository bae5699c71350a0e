"""Somebody's code run so that it leaves no traces, nor output where a report goes."""

import contextlib
import random
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


@contextmanager
def undisturbed() -> Iterator[None]:
    """Run foreign code without warnings; put back random states and default dtype.

    What it prints goes to the standard error, so that a report in JSON stays one.
    """
    kind = torch.get_default_dtype()
    states = random.getstate(), np.random.get_state()  # noqa: NPY002
    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() else []
    try:
        with (
            warnings.catch_warnings(),
            np.errstate(all="ignore"),
            contextlib.redirect_stdout(sys.stderr),
            torch.random.fork_rng(devices=list(devices)),
            torch.inference_mode(mode=False),
            torch.enable_grad(),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        torch.set_default_dtype(kind)
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002


def seed_all(number: int) -> None:
    """What torch.manual_seed does, many times as fast where there is only a CPU.

    torch.manual_seed notes down a stack trace for every kind of device that is missing.
    """
    kinds = (torch.cuda, torch.backends.mps, torch.xpu, torch.mtia)
    if any(kind.is_available() for kind in kinds):
        torch.manual_seed(number)
    else:
        torch.default_generator.manual_seed(number)
