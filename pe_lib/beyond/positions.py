"""Which number a token has: in packs, next to padding, in caches, on several machines.

A *token* is named here by its place in the whole text, 0 to n - 1. Its *position* is
the number that an encoding is given for it. The two agree in one text on one machine,
and in few other places.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pe_lib._arguments import (
    as_array,
    as_choice,
    as_flag,
    as_integer,
    as_integers,
    brief,
)

ORDERS = ("contiguous", "zigzag")

Shard = tuple[ArrayLike, ArrayLike]
"""The tokens of one rank, and the positions that it gave them."""


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


def windowed(length: int, window: int, *, sinks: int = 0) -> NDArray[np.int64]:
    """The tokens that a cache of `window` places keeps, after `length` tokens.

    The first `sinks` and the last ``window - sinks``, as Xiao et al. (2024) keep
    them. They number the *places of the cache*, not the tokens: position i belongs
    to the i-th entry. Once the cache is full, each new token changes what the keys
    behind the sinks are turned by.

    Parameters
    ----------
    length, window : int
        At least 1.
    sinks : int
        From 0 to ``window - 1``.

    Returns
    -------
    array [min(length, window)], int64

    Raises
    ------
    TypeError, ValueError
        If a number is no integer or out of range.

    Examples
    --------
    >>> windowed(10, 5, sinks=2)
    array([0, 1, 7, 8, 9])
    """
    length = as_integer("length", length, at_least=1)
    window = as_integer("window", window, at_least=1)
    sinks = as_integer("sinks", sinks, at_least=0)
    if sinks >= window:
        raise ValueError(f"sinks must be below window = {window}, got {sinks}")
    if length <= window:
        return np.arange(length, dtype=np.int64)
    recent = np.arange(length - window + sinks, length, dtype=np.int64)
    return np.concatenate([np.arange(sinks, dtype=np.int64), recent])


def sharded(
    length: int, ranks: int, rank: int, *, order: str = "contiguous"
) -> NDArray[np.int64]:
    """The tokens of one rank, if a text is cut for several.

    Cut into one stretch a rank, the ranks of the first stretches have little to do
    under a causal mask. Zigzag cuts into two a rank: rank r has stretch r from the
    front and stretch r from the back, and all ranks have as many pairs of tokens.

    These are the tokens. Of one text they are also the positions; of documents
    in a pack the positions are ``packed(lengths)[sharded(...)]``.

    Parameters
    ----------
    length : int
        Of the whole text, a multiple of `ranks`, for zigzag of ``2 * ranks``.
    ranks : int
        How many there are, at least 1.
    rank : int
        Which of them, from 0 to ``ranks - 1``.
    order : {"contiguous", "zigzag"}
        How it is cut.

    Returns
    -------
    array [length / ranks], int64

    Raises
    ------
    TypeError, ValueError
        If an argument has a wrong type or is out of range, or the text cannot be
        cut evenly.

    Examples
    --------
    >>> sharded(8, 2, 1)
    array([4, 5, 6, 7])
    >>> sharded(8, 2, 0, order="zigzag"), sharded(8, 2, 1, order="zigzag")
    (array([0, 1, 6, 7]), array([2, 3, 4, 5]))
    """
    length = as_integer("length", length, at_least=1)
    ranks = as_integer("ranks", ranks, at_least=1)
    rank = as_integer("rank", rank, at_least=0)
    if rank >= ranks:
        raise ValueError(f"rank must be below ranks = {ranks}, got {rank}")
    if as_choice("order", order, ORDERS) == "contiguous":
        return _stretch(length, ranks, rank, "ranks")
    front = _stretch(length, 2 * ranks, rank, "2 * ranks")
    back = _stretch(length, 2 * ranks, 2 * ranks - 1 - rank, "2 * ranks")
    return np.concatenate([front, back])


def offset_errors(tokens: ArrayLike, positions: ArrayLike) -> NDArray[np.int64]:
    """By how much the offset of each pair of tokens is wrong.

    Parameters
    ----------
    tokens, positions : array_like [n]
        Integers: the tokens in any order, each once, and their positions.

    Returns
    -------
    array [n, n], int64
        In the order of the tokens; row t is the query, column s the key. The offset
        of their positions, minus that of the tokens: 0 where a relative encoding
        sees what it should.

    Raises
    ------
    TypeError, ValueError
        If these are no integers, no lists of one length, or a token comes twice.

    Examples
    --------
    Two ranks, each of which counts its four tokens from 0:

    >>> offset_errors(np.arange(8), [0, 1, 2, 3, 0, 1, 2, 3])[4]
    array([-4, -4, -4, -4,  0,  0,  0,  0])
    """
    names, given = _as_shard(tokens, positions)
    if len(np.unique(names)) != len(names):
        raise ValueError("tokens must come once each, got one twice")
    order = np.argsort(names)
    shift = (given - names)[order]
    errors: NDArray[np.int64] = np.subtract.outer(shift, shift)
    return errors


def check_shards(
    shards: Sequence[Shard], *, lengths: ArrayLike | None = None, relative: bool = False
) -> None:
    """Raise an AssertionError that names the first token with a wrong position.

    A test to keep. Send ``arange(n)`` through your own program in the place of the
    words, and collect what each rank has: its words, which say which tokens they
    are, and the positions that it gave them.

    Parameters
    ----------
    shards : sequence of pairs
        For each rank its tokens and their positions, lists of integers.
    lengths : array_like [documents]
        Of documents in a pack, each of which is to be counted from 0; one text if
        left out.
    relative : bool
        Whether positions may differ by one constant in all of a document: enough
        for rotary, ALiBi and T5, and not for a code that is added.

    Raises
    ------
    AssertionError
        If a token is missing or comes twice, or a position is wrong. It says which
        known slip it resembles.
    TypeError, ValueError
        If `shards` are no lists of pairs of integers.

    Examples
    --------
    >>> check_shards([([0, 1, 6, 7], [0, 1, 6, 7]), ([2, 3, 4, 5], [2, 3, 4, 5])])
    >>> check_shards([([0, 1], [0, 1]), ([2, 3], [0, 1])])
    Traceback (most recent call last):
    AssertionError: rank 1: token 2 must have position 2, got 0. Every rank counts
    from 0: add the place of its first token.
    """
    relative = as_flag("relative", relative)
    try:
        both = [(tokens, positions) for tokens, positions in shards]
    except (TypeError, ValueError):
        raise TypeError(f"shards must be pairs, got {brief(shards)}") from None
    if not both:
        raise ValueError("shards must have at least one pair, got none")
    pairs = [_as_shard(*shard) for shard in both]
    tokens, given = (np.concatenate(part) for part in zip(*pairs, strict=True))
    n = len(tokens)
    document = document_of([n] if lengths is None else lengths)
    if len(document) != n:
        raise ValueError(f"lengths must add up to {n} tokens, got {len(document)}")
    if not np.array_equal(np.sort(tokens), np.arange(n)):
        inside = tokens[(tokens >= 0) & (tokens < n)].astype(np.intp)
        found = np.bincount(inside, minlength=n)
        odd = int(np.flatnonzero(found != 1)[0])
        raise AssertionError(f"token {odd} must come once, got it {found[odd]} times")
    right = packed([n] if lengths is None else lengths)
    expected = right[tokens]
    if relative:
        order = np.argsort(tokens)
        first = np.searchsorted(document, np.arange(document[-1] + 1))
        expected = expected + given[order][first][document[tokens]]
    wrong = np.flatnonzero(given != expected)
    if wrong.size:
        at = int(wrong[0])
        ends = np.cumsum([len(part) for part, _ in pairs])
        raise AssertionError(
            f"rank {np.searchsorted(ends, at, side='right')}: token {tokens[at]} must "
            f"have position {expected[at]}, got {given[at]}.{_slip(pairs, right)}"
        )


def _slip(pairs: Sequence[Shard], right: NDArray[np.int64]) -> str:
    """What it looks like, by the positions of all ranks."""
    given = [np.asarray(positions) for _, positions in pairs]
    size, ranks, n = len(given[0]), len(pairs), len(right)
    if any(len(part) != size for part in given):
        return ""
    if len(pairs) > 1 and all(np.array_equal(p, np.arange(size)) for p in given):
        return " Every rank counts from 0: add the place of its first token."
    if all(np.array_equal(p, t) for t, p in pairs):
        return " The documents are numbered through: count each from 0."
    for order in ORDERS if n % (2 * ranks) == 0 else ():
        parts = [sharded(n, ranks, r, order=order) for r in range(ranks)]
        both = list(zip(given, parts, strict=True))
        if all(np.array_equal(p, right[part]) for p, part in both):
            return f" These are the positions of {order} shards: the tokens are not."
    return ""


def _stretch(length: int, parts: int, part: int, name: str) -> NDArray[np.int64]:
    if length % parts:
        more = length + parts - length % parts
        raise ValueError(
            f"length must be a multiple of {name} = {parts}, got {length}; "
            f"pad it to {more}"
        )
    size = length // parts
    return np.arange(part * size, (part + 1) * size, dtype=np.int64)


def _as_lengths(lengths: ArrayLike) -> NDArray[np.int64]:
    each = as_integers("lengths", lengths, at_least=1)
    if each.ndim != 1 or not each.size:
        raise ValueError(
            f"lengths must be a list of at least one, got shape {list(each.shape)}"
        )
    return each.astype(np.int64)


def _as_shard(
    tokens: ArrayLike, positions: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    both = as_integers("tokens", tokens), as_integers("positions", positions)
    if both[0].ndim != 1 or both[0].shape != both[1].shape:
        raise ValueError(
            "tokens and positions must be lists of one length, got shapes "
            f"{list(both[0].shape)} and {list(both[1].shape)}"
        )
    return both[0].astype(np.int64), both[1].astype(np.int64)
