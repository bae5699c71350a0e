"""The longest input that a module takes, and what it adds to one so long."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from torch import Tensor

from pe_lib.check.report import first_line
from pe_lib.check.tensors import as_numpy

ROWS = 64  # of a table; enough to tell conventions apart
LONG = (1_000, 10_000, 100_000, 1_000_000)
LARGEST = 2**24  # numbers in an input, 64 MiB
PATIENCE = 10.0  # seconds that a call may be expected to take


@dataclass(frozen=True)
class LongestInput:
    """How long an input may be."""

    length: int  # the longest input that was accepted
    refusal: str  # the error that a longer one raised; empty if none was refused
    ends: dict[int, Tensor]  # from each length tried to its last ROWS encodings
    repeats: tuple[int, int] | None  # the first row equal to an earlier one; that one


def find_longest(
    codes: Callable[[int], Tensor], d_model: int, shortest: int
) -> LongestInput:
    """Try longer and longer inputs; where one is refused, halve until it is known.

    `codes` returns the encodings [length, d_model] for a length, or raises.
    """
    ends: dict[int, Tensor] = {}
    repeats = None
    refusal, refused = "", 0
    longest, before = shortest, 0.0
    for length in LONG:
        if length * d_model > LARGEST:
            break
        begin = perf_counter()
        try:
            rows = codes(length)
        except Exception as error:
            refusal, refused = first_line(error), length
            break
        seconds = perf_counter() - begin
        longest, ends[length] = length, rows[-ROWS:].clone()
        if repeats is None and length <= 100_000:
            repeats = first_repeat(rows)
        growth = max(10.0, seconds / before) if before else 10.0
        if growth * seconds > PATIENCE:  # 100 times, say, where all pairs are looked at
            break
        before = max(seconds, 1e-3)
    if refusal:
        while refused - longest > 1:
            middle = (longest + refused) // 2
            try:
                codes(middle)
                longest = middle
            except Exception as error:
                refusal, refused = first_line(error), middle
        rows = codes(longest)
        ends[longest] = rows[-ROWS:].clone()
        repeats = repeats or first_repeat(rows)
    return LongestInput(longest, refusal, ends, repeats)


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
