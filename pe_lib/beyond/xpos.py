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
    as_positions,
    as_positive,
    round_once,
)
from pe_lib.beyond.rotary import BASE, apply_rotary
from pe_lib.layouts import layout_columns

GAMMA = 0.4
SCALE_BASE = 512.0


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

    .. math:: \zeta_j = \frac{2j/d + \gamma}{1 + \gamma}, \qquad \gamma = 0.4

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
        B: a score that is so many positions long has faded by :math:`\zeta_j`.
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
    vectors = as_float_array("vectors", vectors)
    turned = apply_rotary(
        vectors.astype(np.float64), positions, base=base, layout=layout
    )
    scale_base = as_positive("scale_base", scale_base)
    powers = as_positions(positions)[..., np.newaxis] / scale_base
    head_dim = vectors.shape[-1]
    fading = (np.arange(0, head_dim, 2) / head_dim + GAMMA) / (1 + GAMMA)
    powers = np.log(fading) * (-powers if as_flag("keys", keys) else powers)
    bfloat16 = vectors.dtype.name == "bfloat16"  # which np.finfo does not know
    most = 3.3895e38 if bfloat16 else float(np.finfo(vectors.dtype).max)
    largest = powers.max(initial=0.0)
    if largest > np.log(most):
        raise ValueError(
            f"positions must be so near 0 that {vectors.dtype} holds the factors of "
            f"their pairs, got a factor of e**{largest:.0f}: subtract the middle of "
            "the text from all of them"
        )
    for columns in layout_columns(head_dim, layout):
        turned[..., columns] *= np.exp(powers)
    return round_once(turned, vectors.dtype)
