r"""Offsets inside the product of query and key: Shaw's vectors, Transformer-XL's terms.

An offset here is the key's position minus the query's, s - t.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pe_lib._arguments import as_integer, as_reals


def clipped_offsets(length: int, clip: int) -> NDArray[np.int64]:
    r"""Which of Shaw's vectors is between query t and key s.

    .. math:: \min(\max(s - t, -K), K)

    with K = `clip`; add K for the row of a table of 2K + 1 vectors. Shaw et al.
    (2018), section 3.2.

    Parameters
    ----------
    length : int
        At least 1.
    clip : int
        At least 0.

    Returns
    -------
    array [length, length], int64

    Raises
    ------
    TypeError
        If an argument is not an integer.
    ValueError
        If `length` is below 1 or `clip` below 0.

    Examples
    --------
    >>> clipped_offsets(4, 1)
    array([[ 0,  1,  1,  1],
           [-1,  0,  1,  1],
           [-1, -1,  0,  1],
           [-1, -1, -1,  0]])
    """
    length = as_integer("length", length, at_least=1)
    clip = as_integer("clip", clip, at_least=0)
    positions = np.arange(length)
    offsets = positions - positions[:, np.newaxis]
    clipped: NDArray[np.int64] = np.clip(offsets, -clip, clip)
    return clipped


def skew(by_offset: ArrayLike) -> NDArray[np.float64]:
    r"""Scores by offset, moved to where their keys are.

    .. math:: S_{t,s} = B_{t,\; s - t + n - 1}

    Column 0 of `by_offset` belongs to the offset -(n - 1), the last to n - 1. One
    copy, no index: a column of padding, and the rows are read one shorter. Unlike
    Transformer-XL's ``rel_shift``, which gets the offsets up to 0 alone, it is
    right on both sides of the diagonal.

    Parameters
    ----------
    by_offset : array_like [..., n, 2n - 1]

    Returns
    -------
    array [..., n, n], float64

    Raises
    ------
    TypeError
        If `by_offset` holds no real numbers.
    ValueError
        If it has not 2n - 1 columns for n rows, n at least 1.

    Examples
    --------
    >>> skew([[-1, 0, 1], [-1, 0, 1]])
    array([[ 0.,  1.],
           [-1.,  0.]])
    """
    scores = as_reals("by_offset", by_offset)
    if scores.ndim < 2 or not scores.shape[-1] == 2 * scores.shape[-2] - 1 > 0:
        raise ValueError(
            f"by_offset must have shape [..., n, 2n - 1], got {scores.shape}"
        )
    n = scores.shape[-2]
    padded = np.concatenate([scores, np.zeros((*scores.shape[:-1], 1))], axis=-1)
    flat = padded.reshape(*scores.shape[:-2], 2 * n * n)
    read = flat[..., n - 1 : n - 1 + n * (2 * n - 1)]
    return read.reshape(scores.shape)[..., :n]


def xl_terms(
    queries: ArrayLike,
    keys: ArrayLike,
    codes: ArrayLike,
    *,
    word_bias: ArrayLike,
    offset_bias: ArrayLike,
) -> list[NDArray[np.float64]]:
    r"""Transformer-XL's four terms, whose sum is the score.

    .. math:: q_t \cdot k_s + q_t \cdot r_{ts} + u \cdot k_s + v \cdot r_{ts}

    Dai et al. (2019), section 3.3. Only the last is a bias for the offset alone.

    Parameters
    ----------
    queries, keys : array_like [n, d]
    codes : array_like [n, n, d]
        A code of the offset between query t and key s, as the model projects it:
        the sinusoid of t - s times a matrix of its own.
    word_bias, offset_bias : array_like [d]
        The learned u and v.

    Returns
    -------
    list of four arrays [n, n], float64

    Raises
    ------
    TypeError
        If an argument holds no real numbers.
    ValueError
        If the shapes do not fit.

    Examples
    --------
    With v = (0, 1) the last term is the cosine of the offset:

    >>> from pe_lib import sinusoidal
    >>> one = np.ones((2, 2))
    >>> codes = sinusoidal([[0, -1], [1, 0]], 2)
    >>> xl_terms(one, one, codes, word_bias=[0, 0], offset_bias=[0, 1])[3].round(2)
    array([[1.  , 0.54],
           [0.54, 1.  ]])
    """
    q, k = as_reals("queries", queries), as_reals("keys", keys)
    between = as_reals("codes", codes)
    u = as_reals("word_bias", word_bias)
    v = as_reals("offset_bias", offset_bias)
    n, d = q.shape if q.ndim == 2 else (0, 0)
    shapes = (q.shape, k.shape, between.shape, u.shape, v.shape)
    if shapes != ((n, d), (n, d), (n, n, d), (d,), (d,)):
        raise ValueError(
            "queries, keys, codes, word_bias and offset_bias must have shapes [n, d], "
            f"[n, d], [n, n, d], [d] and [d], got {shapes}"
        )
    return [
        q @ k.T,
        np.einsum("td,tsd->ts", q, between),
        np.tile(k @ u, (n, 1)),
        between @ v,
    ]
