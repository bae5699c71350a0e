r"""Rotary on longer texts: the same model, its frequencies changed after training.

Every rule takes the frequencies of the pairs, fastest first, and gives new ones;
nothing remembers what was read before. A frequency of 0 (a pair that does not turn)
stays 0.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pe_lib._arguments import as_choice, as_integer, as_number, as_reals, short_repr

RAMPS = ("turns", "index", "unrounded")


def interpolate(frequencies: ArrayLike, factor: float) -> NDArray[np.float64]:
    r"""Position interpolation: every pair turns `factor` times slower.

    .. math:: \omega_j' = \omega_j / s

    The same as dividing the positions by s. Chen et al. (2023), arXiv 2306.15595,
    equation 4, who then train on for some steps.

    Parameters
    ----------
    frequencies : array_like [pairs]
        Of the trained model, at least 0, as from :func:`pe_lib.angular_frequencies`.
    factor : float
        How many times as long, s, at least 1.

    Returns
    -------
    array [pairs], float64

    Raises
    ------
    TypeError
        If an argument holds no real numbers.
    ValueError
        If a frequency is below 0 or not finite, there is none, or `factor` is
        below 1 or not finite.

    Examples
    --------
    >>> interpolate([1, 0.01], 4)
    array([0.25  , 0.0025])
    """
    return _as_frequencies("frequencies", frequencies) / _as_factor(factor)


def ntk(frequencies: ArrayLike, factor: float) -> NDArray[np.float64]:
    r"""NTK-aware scaling: the fastest pair stays, the slowest turns s times slower.

    .. math:: \omega_j' = \omega_j\, s^{-j/(K-1)}, \qquad j = 0, \ldots, K-1

    For the frequencies of :func:`pe_lib.angular_frequencies` in the paper's spacing,
    K = d/2 of them, it is the same as the base times s**(d/(d-2)), as bloc97 proposed
    it; Peng et al. (2023), arXiv 2309.00071, section 3.1. A higher base is therefore
    this rule, too.

    Parameters, result and errors are those of :func:`interpolate`; there must be at
    least two pairs.

    Examples
    --------
    With d = 4 and s = 4 the base becomes 10000 * 4**(4/2) = 160,000:

    >>> ntk([1, 0.01], 4)
    array([1.    , 0.0025])
    """
    old = _as_frequencies("frequencies", frequencies, at_least=2)
    along = np.arange(len(old)) / (len(old) - 1)
    return np.asarray(old * _as_factor(factor) ** -along, dtype=np.float64)


def dynamic_factor(length: int, trained_length: int, *, factor: float = 1.0) -> float:
    r"""The factor that dynamic scaling gives to :func:`ntk` for a text.

    .. math:: \max\left(1,\ f\,\frac{n}{L} - (f - 1)\right)

    With f = 1 it is max(1, n/L), as in Peng et al. (2023), section 3.3. Programs
    have an f of their own (`factor` of transformers' "dynamic"); at n = fL they
    slow the last pair f*f - f + 1 times and not f times.

    Turn the *whole* text by the frequencies of its length: keys that stay as an
    earlier, shorter text had them no longer fit the queries.

    Parameters
    ----------
    length : int
        Of the text now, n, at least 1.
    trained_length : int
        L, at least 1.
    factor : float
        f, at least 1.

    Returns
    -------
    float, at least 1

    Raises
    ------
    TypeError
        If a length is no integer or `factor` no real number.
    ValueError
        If one is below 1.

    Examples
    --------
    >>> dynamic_factor(100, 4096), dynamic_factor(8192, 4096)
    (1.0, 2.0)
    >>> dynamic_factor(8192, 4096, factor=2)
    3.0
    """
    n = as_integer("length", length, at_least=1)
    share = n / as_integer("trained_length", trained_length, at_least=1)
    f = _as_factor(factor)
    return max(1.0, f * share - (f - 1))


def by_parts(
    frequencies: ArrayLike,
    factor: float,
    trained_length: int,
    *,
    slow: float = 1.0,
    fast: float = 32.0,
    ramp: str = "turns",
) -> NDArray[np.float64]:
    r"""Interpolate the slow pairs, keep the fast ones, blend in between.

    .. math:: \omega_j' = \bigl(\gamma_j + (1 - \gamma_j)/s\bigr)\,\omega_j

    A pair that makes r turns within the trained length is kept (gamma = 1) from
    r = `fast` on and interpolated (gamma = 0) up to r = `slow`. Between the two
    "turns" is linear in r, as in Peng et al. (2023), section 3.2. "index" is what
    the authors' program and transformers compute: linear in the number of the pair,
    from that of `fast` turns rounded down to that of `slow` turns rounded up; in
    "unrounded" they are not rounded, as with ``truncate: false`` in gpt-oss.

    YaRN is this and :func:`attention_factor`. With ``fast=4`` and "turns", and without
    a factor, it is the rule of Llama 3.1.

    Returns an array [pairs] of float64. Raises what :func:`interpolate` raises, and
    the same if the other arguments are not as above.

    Parameters
    ----------
    frequencies : array_like [pairs]
        As in :func:`interpolate`; for "index" at least two, beginning at 1, each
        smaller than the one before by the same ratio.
    factor : float
        s, at least 1.
    trained_length : int
        L, at least 1.
    slow, fast : float
        Turns within the trained length, 0 < slow < fast.
    ramp : "turns", "index" or "unrounded"

    Examples
    --------
    Within 4 pi = 12.57 positions (here 13) the first pair makes two turns:

    >>> by_parts([1, 0.01], 4, 13, fast=2)
    array([1.    , 0.0025])

    Halfway between 1 and 3 turns half of the way from 1/4 to 1 is left:

    >>> by_parts([np.pi / 4], 4, 16, slow=1, fast=3) / (np.pi / 4)
    array([0.625])
    """
    old = _as_frequencies("frequencies", frequencies)
    s = _as_factor(factor)
    length = as_integer("trained_length", trained_length, at_least=1)
    low, high = as_number("slow", slow), as_number("fast", fast)
    if not 0 < low < high < math.inf:
        raise ValueError(
            "slow and fast must be 0 < slow < fast, "
            f"got {short_repr(slow)} and {short_repr(fast)}"
        )
    if as_choice("ramp", ramp, RAMPS) == "turns":
        kept = (old * length / (2 * np.pi) - low) / (high - low)
    else:
        first, last = _ramp_of_programs(old, length, low, high, ramp == "index")
        kept = (last - np.arange(len(old), dtype=np.float64)) / (last - first)
    kept = kept.clip(0, 1)
    return np.asarray((kept + (1 - kept) / s) * old, dtype=np.float64)


def llama3(
    frequencies: ArrayLike, factor: float, trained_length: int
) -> NDArray[np.float64]:
    """Llama 3.1's rule: :func:`by_parts` between 1 and 4 turns.

    The release has factor 8 and trained length 8192, on base 500,000. Parameters,
    result and errors are those of :func:`by_parts`.

    >>> llama3([1, 0.01, 0.0001], 8, 8192) / [1, 0.01, 0.0001]
    array([1.   , 1.   , 0.125])
    """
    return by_parts(frequencies, factor, trained_length, slow=1, fast=4)


def longrope(frequencies: ArrayLike, factors: ArrayLike) -> NDArray[np.float64]:
    r"""Every pair has a factor of its own: LongRoPE's form.

    .. math:: \omega_j' = \omega_j / \lambda_j

    Ding et al. (2024), arXiv 2402.13753, section 3, search the factors on the model;
    nothing computes them from the length. They can also leave the first positions
    of a text as they were, which this does not do.

    Returns an array [pairs] of float64. Raises what :func:`interpolate` raises, and
    the same if `factors` are not as above.

    Parameters
    ----------
    frequencies : array_like [pairs]
        As in :func:`interpolate`.
    factors : array_like [pairs]
        Above 0 and finite, one for each pair.

    Examples
    --------
    >>> longrope([1, 0.5, 0.01], [1, 2, 4])
    array([1.    , 0.25  , 0.0025])
    """
    old = _as_frequencies("frequencies", frequencies)
    divisors = as_reals("factors", factors)
    if divisors.shape != old.shape:
        raise ValueError(
            f"factors must have shape {old.shape} like frequencies, "
            f"got {divisors.shape}"
        )
    if not ((divisors > 0) & np.isfinite(divisors)).all():
        raise ValueError(
            f"factors must be finite and above 0, got {short_repr(factors)}"
        )
    return old / divisors


def attention_factor(factor: float) -> float:
    r"""By how much YaRN multiplies queries and keys, so scores by its square.

    .. math:: 1/\sqrt t = 0.1 \ln s + 1

    with the temperature t of Peng et al. (2023), section 3.4, for Llama models;
    programs multiply cosines and sines by it, and transformers calls it so. A partial
    rotary multiplies only the share that turns.

    >>> one, more = attention_factor(1), attention_factor(16)
    >>> one, round(more, 4), round(more**2, 2)
    (1.0, 1.2773, 1.63)

    Raises TypeError or ValueError if `factor` is not a number of at least 1.
    """
    return 0.1 * math.log(_as_factor(factor)) + 1


def unseen_angles(
    old: ArrayLike, new: ArrayLike, trained_length: int, length: int
) -> NDArray[np.float64]:
    r"""How far each pair goes beyond the angles of its training.

    .. math:: \frac{\omega_j'\,n}{\omega_j\,L}

    for a pair that made less than a full turn within the trained length L, and 0
    for one that made it, since it has seen all angles. Above 1 there are unseen
    ones. (Angles of single pairs; their combinations may be new all the same.)

    Returns an array [pairs] of float64. Raises what :func:`interpolate` raises, and
    ValueError if the shapes differ or a pair turns that did not turn in training.

    Parameters
    ----------
    old, new : array_like [pairs]
        Frequencies in training and now.
    trained_length, length : int
        L and n, at least 1.

    Examples
    --------
    Eight times as long, nothing changed: the slow pair goes eight times too far.

    >>> unseen_angles([1, 0.001], [1, 0.001], 100, 800)
    array([0., 8.])
    """
    before, now = _as_frequencies("old", old), _as_frequencies("new", new)
    if before.shape != now.shape:
        raise ValueError(
            f"new must have shape {before.shape} like old, got {now.shape}"
        )
    if ((before == 0) & (now > 0)).any():
        raise ValueError("new must be 0 where old is, got a pair that turns")
    trained = as_integer("trained_length", trained_length, at_least=1)
    n = as_integer("length", length, at_least=1)
    part = (before > 0) & (before * trained < 2 * np.pi)
    overshoot = np.zeros(before.shape)
    overshoot[part] = now[part] * n / (before[part] * trained)
    return overshoot


def _ramp_of_programs(
    old: NDArray[np.float64], length: int, slow: float, fast: float, rounded: bool
) -> tuple[float, float]:
    """The numbers of the pairs between which programs blend."""
    if len(old) < 2 or old[0] != 1 or not 0 < old[1] < 1:
        raise ValueError(f"frequencies must fall from 1 for ramp 'index', got {old}")
    ratio = old[1]
    if not np.allclose(old, ratio ** np.arange(len(old)), rtol=1e-6, atol=0):
        raise ValueError(
            f"frequencies must fall by one ratio for ramp 'index', got {old}"
        )

    def pair_of(turns: float) -> float:
        return math.log(2 * math.pi * turns / length) / math.log(ratio)

    first, last = pair_of(fast), pair_of(slow)
    if rounded:
        first, last = math.floor(first), math.ceil(last)
    # Twice as many as there are pairs, as in the programs: dimensions, not pairs.
    first, last = max(first, 0), min(last, 2 * len(old) - 1)
    return first, last if last != first else last + 0.001


def _as_frequencies(
    name: str, value: ArrayLike, *, at_least: int = 1
) -> NDArray[np.float64]:
    frequencies = as_reals(name, value)
    if frequencies.ndim != 1 or len(frequencies) < at_least:
        raise ValueError(
            f"{name} must have shape [pairs], at least {at_least} of them, "
            f"got {frequencies.shape}"
        )
    if not ((frequencies >= 0) & np.isfinite(frequencies)).all():
        raise ValueError(
            f"{name} must be finite and at least 0, got {short_repr(value)}"
        )
    return frequencies


def _as_factor(value: Any) -> float:
    factor = as_number("factor", value)
    if not 1 <= factor < math.inf:
        raise ValueError(
            f"factor must be finite and at least 1, got {short_repr(value)}"
        )
    return factor
