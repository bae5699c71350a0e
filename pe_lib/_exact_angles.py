"""Sines and cosines of exact angles: from a position to sin + i cos, and into columns.

An angle in floating point loses digits as it grows, and complete turns do not
matter. So each angular frequency is in fixed point: turns per position, in units of
2**-64 turns. An unsigned 64-bit product drops what overflows, the complete turns.
"""

import decimal
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pe_lib._arguments import via_float32
from pe_lib._decimals import DIGITS, PI, decimal_frequencies
from pe_lib.frequencies import angular_frequencies
from pe_lib.layouts import layout_columns

RADIANS = 2 * np.pi / 2**64  # in one unit
LARGEST_WIDTH = 2**20
EIGHTH, SHIFT = np.uint64(2**61), np.uint64(62)
QUARTER_TURNS = np.array([1, -1j, -1, 1j])


@lru_cache(maxsize=64)
def fixed_point_frequencies(
    d_model: int, base: float, spacing: str
) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """Those of :func:`angular_frequencies`, in fixed point: whole units, and the rest.

    They are computed to sixty digits.
    """
    if d_model > LARGEST_WIDTH:  # seconds already, for each of its sixty digits
        raise ValueError(f"d_model must be at most 2**20, got {d_model}")
    return _fixed_point(decimal_frequencies(d_model, base, spacing))


def _fixed_point(
    frequencies: Sequence[decimal.Decimal],
) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    whole, rest = np.empty(len(frequencies), np.uint64), np.empty(len(frequencies))
    with decimal.localcontext(DIGITS):
        radian = 2**64 / (2 * decimal.Decimal(PI))
        for k, frequency in enumerate(frequencies):
            units = frequency * radian
            whole[k], rest[k] = int(units) % 2**64, float(units % 1)
    whole.flags.writeable = rest.flags.writeable = False  # every caller gets the same
    return whole, rest


@lru_cache(maxsize=64)
def as_fixed_point(
    frequencies: tuple[float, ...],
) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """The same for any frequencies, each taken as exactly the float64 that it is."""
    return _fixed_point([decimal.Decimal(frequency) for frequency in frequencies])


def sines_and_cosines(
    integers: NDArray[np.signedinteger[Any]],
    d_model: int,
    base: float,
    spacing: str,
    fractions: NDArray[np.float64] | None = None,
) -> NDArray[np.complex128]:
    """The hand of each pair at each position, sin + i cos: [...] -> [..., K].

    A position is an integer, plus a fraction of size at most 1/2 if there are any.
    The error is at most 4e-16. At an integer it is also small beside sine and
    cosine, however near to zero they are.
    """
    fixed_point = fixed_point_frequencies(d_model, base, spacing)
    if fractions is None:
        return sines_and_cosines_of(integers, fixed_point)
    frequencies = angular_frequencies(d_model, base=base, spacing=spacing)
    return sines_and_cosines_of(integers, fixed_point, frequencies, fractions)


def sines_and_cosines_of(
    integers: NDArray[np.signedinteger[Any]],
    fixed_point: tuple[NDArray[np.uint64], NDArray[np.float64]],
    frequencies: NDArray[np.float64] | float = 0.0,
    fractions: NDArray[np.float64] | None = None,
) -> NDArray[np.complex128]:
    """The same, for any frequencies: in fixed point, and for fractions as they are."""
    whole, rest = fixed_point
    # Elsewhere NumPy's own integers have 32 bits: WebAssembly, small processors.
    integers = integers.astype(np.int64, copy=False)[..., np.newaxis]
    phase = integers.view(np.uint64) * whole  # modulo 2**64, one turn
    quarter = (phase + EIGHTH) >> SHIFT  # the nearest one
    phase -= quarter << SHIFT
    beyond = phase.view(np.int64)
    angle = beyond.astype(np.float64)
    beyond -= angle.astype(np.int64)  # what 53 bits do not hold
    angle += integers * rest + beyond
    angle *= RADIANS
    if fractions is not None:
        angle += fractions[..., np.newaxis] * frequencies
    hands = np.empty(angle.shape, np.complex128)
    np.sin(angle, out=hands.real)
    np.cos(angle, out=hands.imag)
    hands *= QUARTER_TURNS.take(quarter.view(np.int64).astype(np.intp, copy=False))
    return hands


def write_sines_and_cosines(
    hands: NDArray[np.complex128], codes: NDArray[Any], layout: str
) -> None:
    """Write hands [..., K] as `codes` [..., d_model], rounded to their dtype."""
    d_model = codes.shape[-1]
    numbers = via_float32(hands.view(np.float64), codes.dtype)
    if layout == "interleaved":
        codes[...] = numbers[..., :d_model]
    else:
        sines, cosines = layout_columns(d_model, layout)
        codes[..., sines] = numbers[..., 0::2]
        codes[..., cosines] = numbers[..., 1::2][..., : d_model // 2]
