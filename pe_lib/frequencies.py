"""How fast each pair of columns turns: angular frequencies and wavelengths."""

import numpy as np
from numpy.typing import NDArray

from pe_lib._arguments import as_base, as_choice, as_integer

SPACINGS = ("paper", "endpoint")


def angular_frequencies(
    d_model: int, *, base: float = 10_000.0, spacing: str = "paper"
) -> NDArray[np.float64]:
    r"""The K = ceil(d_model / 2) angular frequencies, fastest first.

    .. math::

       \begin{aligned}
       \omega_j &= b^{-2j/d} \quad\text{(paper)} \\
       \omega_j &= b^{-j/\max(K-1,\,1)} \quad\text{(endpoint)}
       \end{aligned}

    with b the base, d = `d_model` and j = 0, ..., K - 1. "paper" is the
    formula printed by Vaswani et al. (2017), section 3.5. "endpoint" ends at
    1/b from d_model = 3 on; for even widths it is what the authors' own
    program, tensor2tensor, computes (which gives an odd width a column of
    zeros instead of a lone sine). Both begin at 1.

    Parameters
    ----------
    d_model : int
        Width of the encoding, at least 1, odd widths included.
    base : float
        A number above 1, at most 1e300. 1/base is where the frequencies end
        (endpoint), or where the next one would be (paper, even width).
    spacing : "paper" or "endpoint"
        Which of the two formulas.

    Returns
    -------
    array [K], float64
        Radians per position.

    Raises
    ------
    TypeError
        If `d_model` is not an integer or `base` not a single real number.
    ValueError
        If `d_model` is below 1, `base` is not above 1 and finite, or
        `spacing` is neither of the two.

    Examples
    --------
    With d_model = 4 the second pair is 100 times slower than the first,
    since 10000 ** (-2/4) = 1/100:

    >>> angular_frequencies(4)
    array([1.  , 0.01])
    >>> angular_frequencies(4, spacing="endpoint")
    array([1.e+00, 1.e-04])
    """
    d_model = as_integer("d_model", d_model, at_least=1)
    base = as_base(base)
    spacing = as_choice("spacing", spacing, SPACINGS)
    pairs = (d_model + 1) // 2
    k = np.arange(pairs)
    steps = d_model / 2 if spacing == "paper" else max(pairs - 1, 1)
    return np.power(base, -k / steps, dtype=np.float64)


def wavelengths(
    d_model: int, *, base: float = 10_000.0, spacing: str = "paper"
) -> NDArray[np.float64]:
    r"""How many positions each pair takes for one full turn, shortest first.

    .. math:: \lambda_j = 2\pi / \omega_j

    Takes the arguments of :func:`angular_frequencies`, raises what it raises,
    and returns an array [K] of float64, in positions.

    Examples
    --------
    The first pair needs 2 pi = 6.28 positions, the second 100 times as many:

    >>> wavelengths(4).round(2)
    array([  6.28, 628.32])
    """
    return 2 * np.pi / angular_frequencies(d_model, base=base, spacing=spacing)
