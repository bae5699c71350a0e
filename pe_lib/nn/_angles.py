"""Sines and cosines of any positions, as tensors, as in `pe_lib._exact_angles`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, sin, where

from pe_lib._exact_angles import RADIANS
from pe_lib.nn._arguments import with_float64

QUARTER, HALF = 2**62, -(2**63)  # of a turn, in units of int64
FINE = 2.0**-52  # of such a unit
Units = tuple[NDArray[np.integer[Any]], NDArray[np.float64]]


def make_columns(width: int, sines: slice, cosines: slice, *axes: Units) -> Tensor:
    """How far each column turns per position; every column is a sine.

    A cosine is one that starts a quarter turn ahead. Returns the starts, and of each
    axis whole units and the rest, in units of `FINE`: [1 + 2 axes, width]. One tensor,
    because compiled code looks at each tensor again in every call.
    """
    rows = np.zeros((1 + 2 * len(axes), width), np.int64)
    rows[0, cosines] = QUARTER
    for axis, (whole, rest) in enumerate(axes):
        for columns in (sines, cosines):
            pairs = len(rows[0, columns])
            rows[1 + 2 * axis, columns] = whole[:pairs]
            rows[2 + 2 * axis, columns] = np.rint(rest[:pairs] / FINE)
    # from_numpy: real numbers on the CPU, also where torch's default is meta.
    with torch.inference_mode(mode=False):  # so that learned positions may use them
        return torch.from_numpy(rows)


def codes_at(
    positions: Sequence[Tensor],
    offset: int,
    columns: Tensor,
    dtype: torch.dtype,
) -> Tensor:
    """The columns of positions + offset, [...] of each axis: [..., width] of `dtype`.

    Angles are whole numbers of 2**-64 turns: complete turns overflow, and are gone.
    From what is left, half a turn more or less changes the sign, so that only small
    angles meet a sine.
    """
    device = with_float64(positions[0].device)
    angle, *rows = columns.to(device).unbind()
    small: Tensor | float = 0.0
    for at, step, fine in zip(positions, rows[::2], rows[1::2], strict=True):
        at, rest = at.to(device).unsqueeze(-1), fine.double() * FINE
        fraction = at.is_floating_point()
        at = (at.double() if fraction else at.long()) + offset
        whole = at.round() if fraction else at
        angle = angle + whole.long() * step
        small = small + whole * rest
        if fraction:
            small = small + (at - whole) * (step + rest)
    behind = (angle < -QUARTER) | (angle >= QUARTER)
    sine = sin(RADIANS * (where(behind, angle + HALF, angle) + small))
    codes = where(behind, -sine, sine)
    codes = codes if dtype == codes.dtype else codes.float().to(dtype)
    return codes.to(positions[0].device)
