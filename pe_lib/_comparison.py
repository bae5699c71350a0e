"""A table of encodings under test, and when two of its numbers count as equal."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pe_lib._arguments import Encode, as_callable, as_integer, as_table

SHARE_OF_SPREAD = 1e-12
SHARE_OF_NORM = 2.0**-49  # 8 units in the last place
LARGEST_ENTRY = 1e300  # and the smallest is its inverse: distances are then floats


@dataclass(frozen=True)
class Codes:
    """A table of encodings, and by how much its numbers may differ and still be equal.

    In a unit near the largest entry, so that no square overflows or vanishes.
    """

    table: NDArray[np.float64]
    unit: float
    spread: float
    rounding: float

    def distances(self) -> NDArray[np.float64]:
        """The distance of any two encodings, exact also where they nearly agree."""
        return np.array(
            [np.linalg.norm(self.table - row, axis=1) for row in self.table]
        )

    def show(self, value: float) -> str:
        """Four digits, and nothing where only rounding is left."""
        return f"{value * self.unit:.4g}" if abs(value) > self.rounding else "0"


def codes_of(encode: Encode, length: int) -> Codes:
    """The table of `encode` at a length; its rows must have digits to differ in."""
    entries = entries_of(encode, length)
    unit = 2.0 ** np.frexp(np.abs(entries).max())[1]  # a power of two: no rounding
    table = entries / unit
    spread = float(np.linalg.norm(table - table[0], axis=1).max())
    norm = float(np.linalg.norm(table, axis=1).max())
    if 0 < spread < SHARE_OF_SPREAD * norm:
        raise ValueError(
            f"encode({length}) must have encodings that differ by a trillionth of "
            f"their norm or more, got {spread / norm:.1e} of it: subtract one from all"
        )
    rounding = SHARE_OF_SPREAD * spread + SHARE_OF_NORM * norm
    return Codes(table, float(unit), spread, rounding)


def entries_of(encode: Encode, length: int) -> NDArray[np.float64]:
    """The table of `encode` at a length, as it is, if its distances are floats."""
    length = as_integer("length", length, at_least=4)
    as_callable("encode", encode)
    table = as_table(f"encode({length})", encode(length), length)
    largest = float(np.abs(table).max())
    if largest and not 1 / LARGEST_ENTRY <= largest <= LARGEST_ENTRY:
        raise ValueError(
            f"encode({length}) must have a largest entry between "
            f"{1 / LARGEST_ENTRY:g} and {LARGEST_ENTRY:g}, got {largest:g}"
        )
    return table


def farthest_entry(start: NDArray[np.float64], table: NDArray[np.float64]) -> float:
    """How far the entries get from `start`; a column that is new began at 0."""
    width = table.shape[1]
    start = np.pad(start, (0, max(width - len(start), 0)))[:width]
    return float(np.abs(table - start).max())


def first_true(found: NDArray[np.bool_]) -> tuple[int, ...]:
    """The index of the first True."""
    return tuple(int(index) for index in np.argwhere(found)[0])
