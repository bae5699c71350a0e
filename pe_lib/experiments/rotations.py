r"""The rotations in a head's matrix W.

Of each 2 x 2 block on the diagonal the part a, b, -b, a: a rotation by phi_j, made c_j
times as long. T(k) has all sizes 1 and angles k omega_j.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def rotation_part(W: Array) -> Array:
    r"""The nearest matrix that scales and rotates each pair by itself; zeros elsewhere.

    >>> rotation_part(np.array([[2.0, 5.0], [1.0, 4.0]]))
    array([[ 3.,  2.],
           [-2.,  3.]])

    Raises ValueError if W is not square or has an odd width.
    """
    return _matrix(_numbers(W))


def sizes_and_angles(W: Array) -> tuple[Array, Array]:
    r"""Size c_j and angle phi_j of each pair, in the rotation part of W.

    >>> from pe_lib.rotation import shift_matrix
    >>> sizes, angles = sizes_and_angles(7 * shift_matrix(1, 4))
    >>> sizes.round(6).tolist(), angles.round(2).tolist()
    ([7.0, 7.0], [1.0, 0.01])
    """
    numbers = _numbers(W)
    return np.abs(numbers), np.angle(numbers)


def scaled_rotations(sizes: Array, angles: Array) -> Array:
    """The matrix of these rotations, with zeros elsewhere."""
    return _matrix(sizes * np.exp(1j * angles))


def _numbers(W: Array) -> NDArray[np.complex128]:
    if W.ndim != 2 or W.shape[0] != W.shape[1] or len(W) % 2:
        raise ValueError(f"W must be square and of an even width, got {W.shape}")
    (p, q), (r, s) = ([W[i::2, j::2].diagonal() for j in (0, 1)] for i in (0, 1))
    found: NDArray[np.complex128] = (p + s) / 2 + 1j * (q - r) / 2
    return found


def _matrix(numbers: NDArray[np.complex128]) -> Array:
    W = np.zeros((2 * len(numbers),) * 2)
    even = np.arange(0, len(W), 2)
    W[even, even] = W[even + 1, even + 1] = numbers.real
    W[even, even + 1], W[even + 1, even] = numbers.imag, -numbers.imag
    return W
