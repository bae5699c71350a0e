r"""xPos: rotary whose pairs also fade with the offset, the fast ones most.

Sun et al. (2023). Queries are multiplied by what keys are divided by, so that in the
score a factor of the offset alone is left.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pe_lib._arguments import (
    as_flag,
    as_float_array,
    as_integer,
    as_positions,
    as_positive,
    as_rotary_dim,
    round_once,
)
from pe_lib.beyond.rotary import BASE, apply_rotary
from pe_lib.layouts import layout_columns

GAMMA = 0.4
SCALE_BASE = 512.0


def xpos_fading(head_dim: int) -> NDArray[np.float64]:
    r"""By how much each pair fades over `scale_base` positions.

    .. math:: \zeta_j = \frac{2j/d + \gamma}{1 + \gamma}, \qquad \gamma = 0.4

    Parameters
    ----------
    head_dim : int
        An even number.

    Returns
    -------
    array [head_dim / 2], float64
        From 2/7 for the fastest pair towards 1 for the slowest.

    Raises
    ------
    TypeError, ValueError
        If `head_dim` is not an integer, is odd or below 2.

    Examples
    --------
    >>> xpos_fading(8).round(3)
    array([0.286, 0.464, 0.643, 0.821])
    """
    head_dim = as_integer("head_dim", head_dim, at_least=2)
    pairs = np.arange(as_rotary_dim(None, head_dim) // 2)
    return np.asarray((2 * pairs / head_dim + GAMMA) / (1 + GAMMA))


def apply_xpos(
    vectors: ArrayLike,
    positions: ArrayLike,
    *,
    keys: bool,
    scale_base: float = SCALE_BASE,
    base: float = BASE,
    layout: str = "interleaved",
) -> NDArray[Any]:
    r"""Turn queries or keys as rotary does, and scale their pairs.

    Pair j of a query at t is multiplied by :math:`\zeta_j^{t/B}` and that of a key
    at s by :math:`\zeta_j^{-s/B}`, with B = `scale_base`: their product fades with
    t - s. So it grows for keys *after* the query; the method is for a causal mask.

    Parameters
    ----------
    vectors : array_like [..., head_dim] of a float dtype
    positions : array_like
        As in :func:`pe_lib.beyond.rotary.apply_rotary`. Only offsets matter, so
        subtract the middle of a long text from all of them: factors stay small.
    keys : bool
        Whether `vectors` are keys; queries otherwise.
    scale_base : float
        After so many positions the fading of :func:`xpos_fading` is reached.
    base, layout
        As in :func:`pe_lib.beyond.rotary.apply_rotary`.

    Returns
    -------
    array [..., head_dim] of the dtype of `vectors`

    Raises
    ------
    TypeError, ValueError
        As :func:`pe_lib.beyond.rotary.apply_rotary`; and if a factor is beyond what
        the dtype of `vectors` holds.

    Examples
    --------
    The fastest pair alone, 512 apart: 2/7 of what rotary has.

    >>> one = [1.0, 0.0]
    >>> query = apply_xpos(one, 512, keys=False)
    >>> round(float(query @ apply_xpos(one, 0, keys=True) / np.cos(512)), 4)
    0.2857
    """
    given = as_float_array("vectors", vectors)
    turned = apply_rotary(given.astype(np.float64), positions, base=base, layout=layout)
    scale_base = as_positive("scale_base", scale_base)
    powers = as_positions(positions)[..., np.newaxis] / scale_base
    powers = np.log(xpos_fading(given.shape[-1])) * (
        -powers if as_flag("keys", keys) else powers
    )
    largest = powers.max(initial=0.0)
    if largest > np.log(_largest(given.dtype)):
        raise ValueError(
            f"positions must be so near 0 that {given.dtype} holds the factors of "
            f"their pairs, got a factor of e**{largest:.0f}: subtract the middle of "
            "the text from all of them"
        )
    for columns in layout_columns(given.shape[-1], layout):
        turned[..., columns] *= np.exp(powers)
    return round_once(turned, given.dtype)


def _largest(dtype: np.dtype[Any]) -> float:
    known = {"float16": 65504.0, "bfloat16": 3.3895e38}
    return known.get(dtype.name) or float(np.finfo(dtype).max)
