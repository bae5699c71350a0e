"""Sines and cosines of any positions, as tensors, as in `pe_lib._exact_angles`."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pe_lib._exact_angles import RADIANS
from pe_lib.nn._arguments import with_float64

QUARTER, HALF = 2**62, -(2**63)  # of a turn, in units of int64; -HALF is too large

Columns = tuple[Tensor, ...]
"""How far each column turns per position, whole units and rest; where it starts."""


def make_columns(
    width: int,
    sines: slice,
    cosines: slice,
    fixed_point: tuple[NDArray[np.uint64], NDArray[np.float64]],
) -> Columns:
    """Every column is a sine; a cosine is one that starts a quarter turn ahead."""
    whole, rest = fixed_point
    steps, starts = np.zeros((2, width), np.int64)
    rests = np.zeros(width)
    for columns, start in ((sines, 0), (cosines, QUARTER)):
        pairs = len(steps[columns])
        steps[columns], rests[columns] = whole[:pairs], rest[:pairs]
        starts[columns] = start
    # from_numpy: real numbers on the CPU, also where torch's default is meta.
    return tuple(map(torch.from_numpy, (steps, rests, starts)))


def codes_at(
    positions: Tensor, offset: int, columns: Columns, dtype: torch.dtype
) -> Tensor:
    """The columns of positions + offset: [...] -> [..., width] of `dtype`.

    Angles are whole numbers of 2**-64 turns: complete turns overflow, and are gone.
    From what is left, half a turn more or less changes the sign, so that only small
    angles meet a sine.
    """
    device = with_float64(positions.device)
    steps, rests, starts = (part.to(device) for part in columns)
    exact = positions.to(device).double().unsqueeze(-1) + offset
    whole = exact.round()
    fraction = exact - whole
    angle = whole.long() * steps + starts
    behind = (angle < -QUARTER) | (angle >= QUARTER)
    angle = torch.where(behind, angle ^ HALF, angle)
    sine = torch.sin(RADIANS * (angle + whole * rests + fraction * (steps + rests)))
    codes = torch.where(behind, -sine, sine)
    codes = codes if dtype == torch.float64 else codes.float().to(dtype)
    return codes.to(positions.device)
