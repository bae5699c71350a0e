r"""The same encoding as ten texts write it down, and the maps between them.

Sines and cosines of :math:`\omega_k t` in every one of them. What differs is which
frequencies, in which columns, from which position on, and which way the array runs.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pe_lib._arguments import as_choice, as_integer, as_reals

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Convention:
    """How one text writes the encoding down; by default, as the paper does.

    Attributes
    ----------
    name : str
        The text.
    source : str or None
        Its key in the book's bibliography; None for private notes.
    exponent : "2k/d", "k/(d/2-1)" or "k/d"
        The frequency of pair k is the base to the power of minus this.
    first_pair : int
        The k of the fastest pair.
    base : float or None
        None: the length of the table.
    layout : "interleaved" or "half_split"
    first : "sine" or "cosine"
        Which of the two stands first.
    start : int
        The position of the first word.
    array : "rows" or "columns"
        Whether the code of a position is a row or a column of the array.
    shift : "row", "column" or None
        Whether a shift is written p T or T p; None where none is written.
    odd : "lone", "zero" or None
        An odd width: the last column has no partner, or is zero; None where the
        formula or the program does not admit it.
    smallest : int
        The smallest width for which it is defined.
    """

    name: str
    source: str | None
    exponent: str = "2k/d"
    first_pair: int = 0
    base: float | None = 10_000.0
    layout: str = "interleaved"
    first: str = "sine"
    start: int = 0
    array: str = "rows"
    shift: str | None = None
    odd: str | None = None
    smallest: int = 1


@dataclass(frozen=True)
class Map:
    """What leads from one convention's table to another's.

    Attributes
    ----------
    columns : tuple of int, or None
        Column j of the target is column ``columns[j]`` of the source. None: there is
        no map.
    offset : int
        By how many positions every code is moved on, with T(offset), before that.
    transpose : bool
        Whether the array is turned on its side.
    reason : str
        Why there is no map; otherwise empty.
    gap : float
        The largest difference between codes of the same position once columns,
        position and array have been brought into line. 0 where there is a map.
    """

    columns: tuple[int, ...] | None
    offset: int
    transpose: bool
    reason: str
    gap: float


# Where each was read: Vaswani et al., section 3.5 (it does not print where pairs and
# positions start; its shortest wavelength, 2 pi, means pair 0); tensor2tensor 1.15.7,
# get_timing_signal_1d; fairseq, sinusoidal_positional_embedding.py (positions begin at
# padding_idx + 1, and its dictionary puts the padding at 1); Phuong and Hutter, section
# 5; d2l, section 11.6.3; UvA, tutorial 6; Denk, equations 1 and 2; Kernes, the listing
# of part I, in a reader's copy.
CONVENTIONS = {
    "paper": Convention("Vaswani et al. (2017)", "vaswani2017", odd="lone"),
    "tensor2tensor": Convention(
        "tensor2tensor",
        "vaswani2018tensor2tensor",
        exponent="k/(d/2-1)",
        layout="half_split",
        odd="zero",
    ),
    "fairseq": Convention(
        "fairseq",
        "ott2019fairseq",
        exponent="k/(d/2-1)",
        layout="half_split",
        start=2,
        odd="zero",
        smallest=4,
    ),
    "phuong_hutter": Convention(
        "Phuong and Hutter (2022)",
        "phuong2022formal",
        first_pair=1,
        base=None,
        start=1,
        array="columns",
    ),
    "d2l": Convention("Dive into Deep Learning", "zhang2023d2l", shift="column"),
    "uva": Convention("UvA tutorial 6", "lippe2022uva"),
    "denk": Convention(
        "Denk (2019)", "denk2019", first_pair=1, start=1, shift="column"
    ),
    "kernes": Convention(
        "Kernes (2021)",
        "kernes2021",
        first="cosine",
        shift="row",
        odd="lone",
    ),
    "flash_card": Convention(
        "a flash card",
        None,
        exponent="k/(d/2-1)",
        layout="half_split",
        array="columns",
        smallest=4,
    ),
    "notebook_text": Convention(
        "the text of a notebook", None, exponent="k/d", first_pair=1
    ),
}


def encode(convention: str, length: int, d_model: int) -> Array:
    """The table as one text writes it, computed from its own formula.

    Parameters
    ----------
    convention : str
        A key of ``CONVENTIONS``: "paper", "tensor2tensor", "fairseq",
        "phuong_hutter", "d2l", "uva", "denk", "kernes", "flash_card" or
        "notebook_text".
    length : int
        Number of positions, at least 1; for "phuong_hutter" at least 2, since it is
        also the base.
    d_model : int
        Width of a code. Most texts admit even widths only; "fairseq" and
        "flash_card" divide by zero below 4.

    Returns
    -------
    array, float64
        [length, d_model], or [d_model, length] where a position is a column.

    Raises
    ------
    TypeError
        If `length` or `d_model` is not an integer.
    ValueError
        If the convention is unknown or does not define this length or width.

    Examples
    --------
    The first two words in four dimensions. In the paper they stand at positions 0
    and 1, and the pairs turn by 1 and 1/100; Denk counts positions and pairs from 1,
    so that his turn by 1/100 and 1/10000.

    >>> encode("paper", 2, 4).round(2)
    array([[0.  , 1.  , 0.  , 1.  ],
           [0.84, 0.54, 0.01, 1.  ]])
    >>> encode("denk", 2, 4).round(2)
    array([[0.01, 1.  , 0.  , 1.  ],
           [0.02, 1.  , 0.  , 1.  ]])
    """
    convention = as_choice("convention", convention, tuple(CONVENTIONS))
    length, d_model = _size(convention, length, d_model)
    return _FORMULAS[convention](length, d_model)


def explain(source: str, target: str, length: int, d_model: int) -> Map:
    """What leads from one convention's table to another's, or why nothing does.

    Columns are reordered, positions moved on by T(offset), the array is turned on
    its side. That is all that a map can do: sines and cosines of different
    frequencies are linearly independent, so that a table with other frequencies
    has no map, unless on a few positions by chance.

    Parameters
    ----------
    source, target : str
        Keys of ``CONVENTIONS``.
    length, d_model : int
        The size of the table, as for :func:`encode`.

    Returns
    -------
    Map

    Raises
    ------
    TypeError, ValueError
        As :func:`encode`, for either convention.

    Examples
    --------
    >>> explain("paper", "kernes", 100, 4).columns
    (1, 0, 3, 2)
    >>> explain("tensor2tensor", "fairseq", 100, 4).offset
    2
    >>> explain("paper", "tensor2tensor", 100, 4).reason
    '1 of 2 frequencies in common'
    """
    keys = tuple(CONVENTIONS)
    source = as_choice("source", source, keys)
    target = as_choice("target", target, keys)
    for key in (source, target):
        size = _size(key, length, d_model)
    before, after = _columns(source, *size), _columns(target, *size)
    offset = CONVENTIONS[target].start - CONVENTIONS[source].start
    transpose = CONVENTIONS[target].array != CONVENTIONS[source].array
    found = [
        j for column in after for j, held in enumerate(before) if _same(held, column)
    ]
    if len(found) == len(after):
        return Map(tuple(found), offset, transpose, "", 0.0)
    old, new = ({w for _, w in columns if w} for columns in (before, after))
    common = sum(any(math.isclose(v, w, rel_tol=1e-9) for v in old) for w in new)
    if common == len(old) == len(new):
        reason = "the last column is a sine in one, a cosine in the other"
    else:
        reason = f"{common} of {len(new)} frequencies in common"
    left, right = (_aligned(columns, size[0]) for columns in (before, after))
    gap = float(np.abs(left - right).max())
    return Map(None, offset, transpose, reason, gap)


def convert(table: ArrayLike, source: str, target: str) -> Array:
    """Turn the table of one convention into that of another.

    Parameters
    ----------
    table : array_like
        What ``encode(source, length, d_model)`` returns, perhaps rounded.
    source, target : str
        Keys of ``CONVENTIONS``.

    Returns
    -------
    array, float64
        What ``encode(target, length, d_model)`` returns, up to rounding.

    Raises
    ------
    TypeError
        If `table` does not hold real numbers.
    ValueError
        If `table` is not two-dimensional and finite, a convention is unknown or does
        not define a table of this size, or there is no map (see :func:`explain`).

    Examples
    --------
    Kernes writes the cosine first:

    >>> convert([[0.0, 1.0], [0.8415, 0.5403]], "paper", "kernes")
    array([[1.    , 0.    ],
           [0.5403, 0.8415]])
    """
    rows = as_reals("table", table)
    if rows.ndim != 2 or not rows.size:
        raise ValueError(f"table must have two axes, neither empty, got {rows.shape}")
    if not np.isfinite(rows).all():
        raise ValueError("table must be finite, got NaN or infinity in it")
    source = as_choice("source", source, tuple(CONVENTIONS))
    if CONVENTIONS[source].array == "columns":
        rows = rows.T
    found = explain(source, target, *rows.shape)
    if found.columns is None:
        raise ValueError(
            f"target must have the frequencies of {source!r}, got {target!r}: "
            f"{found.reason}, entries differ by up to {found.gap:.3g}"
        )
    if found.offset:
        rows = _moved_on(rows, _columns(source, *rows.shape), found.offset)
    rows = rows[:, found.columns]
    return rows.T if CONVENTIONS[target].array == "columns" else rows


def _size(key: str, length: int, d_model: int) -> tuple[int, int]:
    """`length` and `d_model`, if the convention defines a table of that size."""
    convention = CONVENTIONS[key]
    # A base of 1 would make all frequencies equal.
    length = as_integer("length", length, at_least=1 if convention.base else 2)
    width = as_integer("d_model", d_model, at_least=1)
    if width % 2 and convention.odd is None:
        raise ValueError(f"d_model must be even for {key!r}, got {width}")
    if width < convention.smallest:
        raise ValueError(
            f"d_model must be at least {convention.smallest} for {key!r}, got {width}: "
            f"its exponent k/(d/2-1) would divide by zero"
        )
    return length, width


# Each formula as its text has it, in the text's own letters and order.


def _paper(n: int, d: int) -> Array:
    pos, dimension = np.indices((n, d))
    angle = pos / 10_000 ** (2 * (dimension // 2) / d)
    PE: Array = np.where(dimension % 2 == 0, np.sin(angle), np.cos(angle))
    return PE


def _tensor2tensor(length: int, channels: int) -> Array:
    num_timescales = channels // 2
    increment = math.log(1.0e4 / 1.0) / max(num_timescales - 1, 1)
    inv_timescales = np.exp(np.arange(num_timescales) * -increment)
    scaled_time = np.arange(length)[:, np.newaxis] * inv_timescales
    signal = np.concatenate([np.sin(scaled_time), np.cos(scaled_time)], axis=1)
    return np.pad(signal, [(0, 0), (0, channels % 2)])


def _fairseq(length: int, embedding_dim: int) -> Array:
    padding_idx, half_dim = 1, embedding_dim // 2
    num_embeddings = padding_idx + 1 + length
    emb = np.exp(np.arange(half_dim) * -(math.log(10_000) / (half_dim - 1)))
    emb = np.arange(num_embeddings)[:, np.newaxis] * emb[np.newaxis]
    zeros = np.zeros((num_embeddings, embedding_dim % 2))
    emb = np.concatenate([np.sin(emb), np.cos(emb), zeros], axis=1)
    return emb[padding_idx + 1 :]


def _phuong_hutter(l_max: int, d_e: int) -> Array:
    W = np.empty((d_e, l_max))
    t = np.arange(1, l_max + 1)
    for i in range(1, d_e // 2 + 1):
        W[2 * i - 1 - 1] = np.sin(t / l_max ** (2 * i / d_e))
        W[2 * i - 1] = np.cos(t / l_max ** (2 * i / d_e))
    return W


def _uva(n: int, d: int) -> Array:
    columns = [
        np.sin(np.arange(n) / 10_000 ** (i / d))
        if i % 2 == 0
        else np.cos(np.arange(n) / 10_000 ** ((i - 1) / d))
        for i in range(d)
    ]
    return np.stack(columns, axis=1)


def _denk(n: int, d: int) -> Array:
    f = [10_000 ** (2 * m / d) for m in range(1, d // 2 + 1)]
    e = [[g(t / fm) for fm in f for g in (math.sin, math.cos)] for t in range(1, n + 1)]
    return np.array(e)


def _kernes(n: int, d: int) -> Array:
    freqs = 1e-4 ** (2 * (np.arange(d) // 2) / d)
    v = np.arange(n).reshape(-1, 1) * freqs
    v[:, 0::2], v[:, 1::2] = np.cos(v[:, 0::2]), np.sin(v[:, 1::2])
    return v


def _flash_card(length: int, n_ch: int) -> Array:
    slope = np.exp(np.arange(n_ch // 2) * -math.log(10_000) / (n_ch // 2 - 1))
    t = slope[:, np.newaxis] * np.arange(length)
    return np.concatenate([np.sin(t), np.cos(t)], axis=0)


def _notebook_text(length: int, d: int) -> Array:
    t = np.arange(length)
    omega = [10_000 ** (-n / d) for n in range(1, d // 2 + 1)]
    return np.stack([g(w * t) for w in omega for g in (np.sin, np.cos)], axis=1)


_FORMULAS: dict[str, Callable[[int, int], Array]] = {
    "paper": _paper,
    "tensor2tensor": _tensor2tensor,
    "fairseq": _fairseq,
    "phuong_hutter": _phuong_hutter,
    "d2l": _paper,  # the same formula
    "uva": _uva,
    "denk": _denk,
    "kernes": _kernes,
    "flash_card": _flash_card,
    "notebook_text": _notebook_text,
}

# What the records say, column by column: a wave and its frequency.
_Column = tuple[str, float]
_PARTNER = {"sine": "cosine", "cosine": "sine", "zero": "zero"}


def _columns(key: str, length: int, width: int) -> list[_Column]:
    convention = CONVENTIONS[key]
    pairs = width // 2 if convention.odd == "zero" else (width + 1) // 2
    steps = {"2k/d": width / 2, "k/d": width, "k/(d/2-1)": max(width // 2 - 1, 1)}
    k = np.arange(pairs) + convention.first_pair
    speeds = (convention.base or length) ** (-k / steps[convention.exponent])
    waves = (convention.first, _PARTNER[convention.first])
    if convention.layout == "interleaved":
        columns = [(wave, float(w)) for w in speeds for wave in waves]
    else:
        columns = [(wave, float(w)) for wave in waves for w in speeds]
    return [*columns, ("zero", 0.0)][:width]


def _same(left: _Column, right: _Column) -> bool:
    return left[0] == right[0] and math.isclose(left[1], right[1], rel_tol=1e-9)


def _aligned(columns: list[_Column], length: int) -> Array:
    """Positions 0 to length - 1: fastest pair first, sine before cosine, zero last."""
    order = sorted(columns, key=lambda column: (-column[1], column[0] == "cosine"))
    angles = np.outer(np.arange(length), [w for _, w in order])
    cosines = np.array([wave == "cosine" for wave, _ in order])
    codes: Array = np.where(cosines, np.cos(angles), np.sin(angles))
    return codes  # the sine of frequency 0 is the column of zeros


def _moved_on(rows: Array, columns: list[_Column], offset: int) -> Array:
    """T(offset) on every code, wherever sine and cosine of a pair stand."""
    place = {column: j for j, column in enumerate(columns)}
    partner = [place[_PARTNER[wave], w] for wave, w in columns]
    sign = [-1 if wave == "cosine" else 1 for wave, _ in columns]
    angle = offset * np.array([w for _, w in columns])
    moved: Array = np.cos(angle) * rows + sign * np.sin(angle) * rows[:, partner]
    return moved
