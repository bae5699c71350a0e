"""Which number a token has: in packs, and next to padding.

A *token* is named here by its place in the whole text, 0 to n - 1. Its *position* is
the number that an encoding is given for it. The two agree in one text without padding,
and in few other places.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pe_lib._arguments import as_array, as_integers


def packed(lengths: ArrayLike) -> NDArray[np.int64]:
    """Positions of documents that follow one another, each counted from 0.

    Parameters
    ----------
    lengths : array_like [documents]
        Their lengths, integers of at least 1, at least one of them.

    Returns
    -------
    array [sum of lengths], int64

    Raises
    ------
    TypeError, ValueError
        If `lengths` are no integers, are not a list of them, or one is below 1.

    Examples
    --------
    >>> packed([3, 2, 4])
    array([0, 1, 2, 0, 1, 0, 1, 2, 3])
    """
    return np.concatenate([np.arange(n, dtype=np.int64) for n in _as_lengths(lengths)])


def document_of(lengths: ArrayLike) -> NDArray[np.int64]:
    """The number of the document of each token; `lengths` as in :func:`packed`.

    Where two tokens have different ones, a mask must separate them.

    Examples
    --------
    >>> document = document_of([3, 2])
    >>> document
    array([0, 0, 0, 1, 1])
    >>> np.equal.outer(document, document).astype(int)[2:4]
    array([[1, 1, 1, 0, 0],
           [0, 0, 0, 1, 1]])
    """
    each = _as_lengths(lengths)
    return np.repeat(np.arange(len(each), dtype=np.int64), each.astype(np.intp))


def from_mask(mask: ArrayLike) -> NDArray[np.int64]:
    """Positions of padded texts: words are counted, whatever is next to them.

    Parameters
    ----------
    mask : array_like [..., length]
        True or 1 where there is a word, False or 0 where there is padding.

    Returns
    -------
    array [..., length], int64
        The number of words before each word. Padding has 0 if it is before
        the first word, else the number of the last word before it.

    Raises
    ------
    TypeError, ValueError
        If the mask has a wrong type, has no axis, or other entries.

    Examples
    --------
    >>> from_mask([[0, 0, 1, 1, 1], [1, 1, 1, 1, 0]])
    array([[0, 0, 0, 1, 2],
           [0, 1, 2, 3, 3]])
    """
    array = as_array("mask", mask)
    if array.dtype != bool:
        array = as_integers("mask", array)
    if not array.ndim:
        raise ValueError("mask must have shape [..., length], got a single number")
    if not np.isin(array, (0, 1)).all():
        raise ValueError(f"mask must be 0 or 1 everywhere, got {np.unique(array)}")
    counted: NDArray[np.int64] = array.cumsum(axis=-1, dtype=np.int64)
    return np.maximum(counted - 1, 0)


def _as_lengths(lengths: ArrayLike) -> NDArray[np.int64]:
    each = as_integers("lengths", lengths, at_least=1)
    if each.ndim != 1 or not each.size:
        raise ValueError(
            f"lengths must be a list of at least one, got shape {list(each.shape)}"
        )
    return each.astype(np.int64)
