r"""The encodings that fail: counting, normalised, binary, Gray, doubling waves.

Each lacks something that can be named and measured; see ``pe_lib.properties``.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pe_lib._arguments import as_flag, as_integer, as_positions


def counting(positions: ArrayLike) -> NDArray[np.float64]:
    """The position itself, as an encoding of one number: ``t``.

    Parameters
    ----------
    positions : array_like [...]
        Real numbers of any shape, of size at most 2**31.

    Returns
    -------
    array [..., 1], float64

    Raises
    ------
    TypeError
        If positions are not real numbers.
    ValueError
        If a position is NaN, infinite or beyond 2**31.

    Examples
    --------
    >>> counting([0, 1, 2])
    array([[0.],
           [1.],
           [2.]])
    """
    return as_positions(positions)[..., np.newaxis]


def normalized(positions: ArrayLike, length: int) -> NDArray[np.float64]:
    """The share of the way through a sequence: ``t / (length - 1)``.

    Parameters
    ----------
    positions : array_like [...]
        Real numbers from 0 to length - 1.
    length : int
        Number of positions in the sequence, at least 1. Length 1 gives 0.

    Returns
    -------
    array [..., 1], float64, from 0 to 1

    Raises
    ------
    TypeError
        If positions are not real numbers or `length` is not an integer.
    ValueError
        If `length` is below 1, or a position lies outside the sequence.

    Examples
    --------
    The same position 2, in a sequence of three and in one of five:

    >>> normalized(2, 3), normalized(2, 5)
    (array([1.]), array([0.5]))
    """
    length = as_integer("length", length, at_least=1)
    positions = as_positions(positions)
    outside = positions[(positions < 0) | (positions > length - 1)]
    if outside.size:
        raise ValueError(
            f"positions must lie within 0 and length - 1 = {length - 1}, "
            f"got {outside.flat[0]:g}"
        )
    return positions[..., np.newaxis] / max(length - 1, 1)


def binary(
    positions: ArrayLike, bits: int, *, centered: bool = False
) -> NDArray[np.float64]:
    """The binary digits of a position, the least significant first.

    Parameters
    ----------
    positions : array_like [...]
        Whole numbers from 0 to 2**bits - 1.
    bits : int
        Number of digits, at least 1.
    centered : bool
        Write the digits as -1 and 1 instead of 0 and 1.

    Returns
    -------
    array [..., bits], float64

    Raises
    ------
    TypeError
        If positions are not real numbers, `bits` is not an integer or `centered`
        is not a bool.
    ValueError
        If a position is negative, is not whole or needs more digits than `bits`;
        or `bits` is below 1.

    Examples
    --------
    Six is 110, read from the right:

    >>> binary(6, 4)
    array([0., 1., 1., 0.])
    >>> binary(6, 4, centered=True)
    array([-1.,  1.,  1., -1.])
    """
    whole, bits = _as_whole_positions(positions, bits)
    return _digits(whole, bits, centered)


def gray(
    positions: ArrayLike, bits: int, *, centered: bool = False
) -> NDArray[np.float64]:
    """The reflected binary code: neighbours differ in exactly one digit.

    Digit j is digit j of ``t XOR (t // 2)`` (F. Gray, US patent 2,632,058).
    Arguments, result and errors are those of :func:`binary`.

    Examples
    --------
    Three is 011 and four is 100 in binary: all digits change. In Gray code one
    does, from 010 to 110 (here the least significant digit comes first):

    >>> gray([3, 4], 3)
    array([[0., 1., 0.],
           [0., 1., 1.]])
    """
    whole, bits = _as_whole_positions(positions, bits)
    return _digits(whole ^ (whole >> 1), bits, centered)


def doubling_waves(
    positions: ArrayLike, count: int, *, cosines: bool = False
) -> NDArray[np.float64]:
    r"""Sines that turn half as fast from column to column.

    .. math::

       M_{t,j} = \sin\frac{2\pi t}{2^j}, \qquad j = 0, 1, \ldots, \text{count} - 1

    the continuous binary counter on the way to the sinusoidal encoding in
    Kernes (2021). All encodings lie on a closed curve: they repeat after
    ``2**(count - 1)`` positions, and without cosines some are equal before that.

    Parameters
    ----------
    positions : array_like [...]
        Real numbers of any shape, of size at most 2**31.
    count : int
        Number of waves, at least 1.
    cosines : bool
        Put the cosine of each angle after its sine.

    Returns
    -------
    array [..., count], or [..., 2 * count] with cosines; float64
        Exactly 0, 1 or -1 at quarters of a turn.

    Raises
    ------
    TypeError
        If positions are not real numbers, `count` is not an integer or `cosines`
        is not a bool.
    ValueError
        If a position is NaN, infinite or beyond 2**31, or `count` is below 1.

    Examples
    --------
    Waves 0 and 1 are 0 at every whole number. Wave 2 has a wavelength of four:

    >>> doubling_waves([0, 1, 2, 3], 3)
    array([[ 0.,  0.,  0.],
           [ 0.,  0.,  1.],
           [ 0.,  0.,  0.],
           [ 0.,  0., -1.]])
    """
    positions = as_positions(positions)
    count = as_integer("count", count, at_least=1)
    turns = np.ldexp(positions[..., np.newaxis], -np.arange(count))
    if not as_flag("cosines", cosines):
        return _sine_of_turns(turns)
    pairs = [_sine_of_turns(turns), _sine_of_turns(turns - np.round(turns) + 0.25)]
    return np.stack(pairs, axis=-1).reshape(*positions.shape, 2 * count)


def _as_whole_positions(
    positions: ArrayLike, bits: int
) -> tuple[NDArray[np.int64], int]:
    bits = as_integer("bits", bits, at_least=1)
    numbers = as_positions(positions)
    bad = numbers[(numbers < 0) | (numbers != np.round(numbers))]
    if bad.size:
        raise ValueError(
            f"positions must be whole numbers from 0 on, got {bad.flat[0]:g}"
        )
    needed = int(numbers.max(initial=0)).bit_length()
    if needed > bits:
        raise ValueError(
            f"bits must be at least {needed} to write position "
            f"{numbers.max():.0f}, got {bits}"
        )
    return numbers.astype(np.int64), bits


def _digits(whole: NDArray[np.int64], bits: int, centered: bool) -> NDArray[np.float64]:
    digits = ((whole[..., np.newaxis] >> np.arange(bits)) & 1).astype(np.float64)
    return 2 * digits - 1 if as_flag("centered", centered) else digits


def _sine_of_turns(turns: NDArray[Any]) -> NDArray[np.float64]:
    """The sine of an angle given in turns, exact at quarter turns."""
    turns = turns - np.round(turns)
    # sin(half a turn - a) = sin a brings every angle within a quarter turn.
    folded = np.copysign(0.5, turns) - turns
    nearest = np.where(np.abs(turns) > 0.25, folded, turns)
    sines: NDArray[np.float64] = np.sin(2 * np.pi * nearest)
    return sines
