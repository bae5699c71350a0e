"""Where the sine and the cosine of each pair are in the encoding."""

from typing import Any

import numpy as np

from pe_lib._arguments import as_array, as_choice, as_integer, as_rotary_dim

LAYOUTS = ("interleaved", "half_split")


def layout_columns(d_model: int, layout: str) -> tuple[slice, slice]:
    """The columns of the sines and the columns of the cosines.

    "interleaved" is sin w0, cos w0, sin w1, cos w1, ... as printed by Vaswani
    et al. (2017), section 3.5. "half_split" is all K = ceil(d_model / 2) sines,
    then the floor(d_model / 2) cosines; for even widths as in the authors'
    tensor2tensor. In an odd width the last sine is alone.

    Returns two slices of range(d_model); the j-th column of each belongs to
    frequency j. Raises TypeError if `d_model` is not an integer, ValueError if it
    is below 1 or the layout is unknown.

    >>> columns = ["a", "b", "c", "d"]
    >>> sines, cosines = layout_columns(4, "interleaved")
    >>> columns[sines], columns[cosines]
    (['a', 'c'], ['b', 'd'])
    >>> sines, cosines = layout_columns(4, "half_split")
    >>> columns[sines], columns[cosines]
    (['a', 'b'], ['c', 'd'])
    """
    d_model = as_integer("d_model", d_model, at_least=1)
    if as_choice("layout", layout, LAYOUTS) == "interleaved":
        return slice(0, None, 2), slice(1, None, 2)
    half = (d_model + 1) // 2
    return slice(0, half), slice(half, None)


def convert_rotary_weight(
    weight: Any,
    num_heads: int,
    *,
    source: str,
    target: str,
    rotary_dim: int | None = None,
) -> Any:
    r"""Rearrange a projection's rows for the other pairing of rotary positions.

    Queries and keys that were trained with one layout are wrong for the other. The
    cure is a permutation inside each head: the numbers that were a pair under
    `source` become a pair under `target`, and all scores stay as they were. Convert
    the weights, and biases, of the queries and of the keys; not those of the values.

    Parameters
    ----------
    weight : array or tensor [num_heads * head_dim, ...]
        A weight as ``torch.nn.Linear`` has it, one row per output, or a bias: of any
        dtype. Where queries share keys (grouped heads), the key's weight has fewer.
    num_heads : int
        How many heads the rows of `weight` are; for a key's weight the number of
        key heads.
    source, target : "interleaved" or "half_split"
        As in :func:`pe_lib.beyond.rotary.apply_rotary`.
    rotary_dim : int, optional
        How many numbers of each head turn, if not all of them.

    Returns
    -------
    array or tensor of the shape and dtype of `weight`, a copy

    Raises
    ------
    TypeError
        If `num_heads` or `rotary_dim` is no integer.
    ValueError
        If the rows are not `num_heads` heads of one width, if the width that turns
        is odd or wider than a head, or a layout is unknown.

    Examples
    --------
    One head of six numbers, then two heads of four, of which the first two turn:

    >>> rows = np.array(["a", "A", "b", "B", "c", "C"])
    >>> pairs = {"source": "interleaved", "target": "half_split"}
    >>> convert_rotary_weight(rows, 1, **pairs)
    array(['a', 'b', 'c', 'A', 'B', 'C'], dtype='<U1')
    >>> convert_rotary_weight(np.arange(12), 2, rotary_dim=4, **pairs)
    array([ 0,  2,  1,  3,  4,  5,  6,  8,  7,  9, 10, 11])
    """
    num_heads = as_integer("num_heads", num_heads, at_least=1)
    source = as_choice("source", source, LAYOUTS)
    target = as_choice("target", target, LAYOUTS)
    if not hasattr(weight, "shape"):
        weight = as_array("weight", weight)
    rows = weight.shape[0] if len(weight.shape) else 0
    head_dim, beyond = divmod(rows, num_heads)
    if not rows or beyond or (rotary_dim is None and head_dim % 2):
        raise ValueError(
            "weight must have shape [num_heads * head_dim, ...] with num_heads = "
            f"{num_heads} and an even head_dim, got {tuple(weight.shape)}"
        )
    width = as_rotary_dim(rotary_dim, head_dim)
    head = np.arange(head_dim)
    for there, here in zip(
        layout_columns(width, target), layout_columns(width, source), strict=True
    ):
        head[:width][there] = np.arange(width)[here]
    order = np.arange(rows).reshape(num_heads, head_dim)[:, head].reshape(-1)
    return weight[order]
