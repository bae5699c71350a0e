"""The longest input that a module takes, and what it adds to one so long."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from pe_lib.check.report import first_line
from pe_lib.check.tensors import as_numpy

ROWS = 64  # of a table; enough to tell conventions apart
LONG = (1_000, 10_000, 100_000, 1_000_000)
LARGEST = 2**24  # numbers in an input, 64 MiB
MOST = 2**28  # numbers that one call may be expected to write


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
    longest, before = shortest, 0
    for length in LONG:
        if length * d_model > LARGEST:
            break
        written = _Written()  # type: ignore[no-untyped-call]
        try:
            with written:
                rows = codes(length)
        except Exception as error:
            refusal, refused = first_line(error), length
            break
        longest, ends[length] = length, rows[-ROWS:].clone()
        if repeats is None and length <= 100_000:
            repeats = first_repeat(rows)
        growth = max(10, written.numbers // before) if before else 10
        if growth * written.numbers > MOST:  # 100 times where all pairs are looked at
            break
        before = max(written.numbers, 1)
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


class _Written(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the numbers in all that PyTorch writes: the same on each machine."""

    numbers = 0

    def __torch_dispatch__(
        self, function: Any, _types: Any, arguments: Any = (), named: Any = None
    ) -> Any:
        output = function(*arguments, **(named or {}))
        self.numbers += output.numel() if isinstance(output, Tensor) else 0
        return output


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
