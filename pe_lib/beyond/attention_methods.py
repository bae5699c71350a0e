"""The methods that give attention positions, each as functions that return scores."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from pe_lib.beyond.bias import (
    alibi_slopes,
    cope_counts,
    fire_distances,
    kerple_bias,
    t5_buckets,
)
from pe_lib.beyond.rotary import apply_rotary
from pe_lib.beyond.xpos import apply_xpos
from pe_lib.encoding import sinusoidal
from pe_lib.rotation import shift_matrix

Array = NDArray[np.float64]
Positions = NDArray[np.float64]

WIDTH, SHARP = 32, 4.0
CLIP, ROWS, COUNTS = 16, 512, 64  # Shaw's clip, learned rows, CoPE's vectors
TRAINED, LONGEST = 512.0, 800  # FIRE's threshold; its head is set up to here
R1, R2 = 4.0, 1 / 400  # KERPLE's


@dataclass(frozen=True)
class AttentionMethod:
    """One method that gives positions to attention.

    Attributes
    ----------
    scores : callable
        ``scores(queries, keys, positions)``: of tokens, [n, d] each, in one head with
        weights of its own; [n, n], row t is the query.
    attending : callable
        ``attending(back, positions)``: the same for equal tokens, in a head that
        attends most to the key so many back, if the method can.
    values : callable or None
        ``values(positions)``: what is added to the value of key s for query t,
        [n, n, d] or [1, n, d]. None if positions change scores alone.
    setting : str
        The constant on which some of its verdicts depend, for the row's end.
    """

    scores: Callable[[Array, Array, Positions], Array]
    attending: Callable[[int, Positions], Array]
    values: Callable[[Positions], Array] | None = None
    setting: str = ""


def _offsets(positions: Positions) -> Array:
    return np.asarray(-np.subtract.outer(positions, positions))


def _whole(positions: Positions) -> NDArray[np.int64]:
    if (positions != np.round(positions)).any():
        raise ValueError("positions must be whole numbers")
    return positions.astype(np.int64)


def _random(*shape: int) -> Array:
    return np.random.default_rng(7).standard_normal(shape)


def _plain(queries: Array, keys: Array, _: Positions | None = None) -> Array:
    return np.asarray(queries @ keys.T / queries.shape[1] ** 0.5)


def _biased(bias: Callable[[int, Positions], Array]) -> Callable[..., Array]:
    return lambda queries, keys, at: _plain(queries, keys) + bias(1, at)


def _rotary(queries: Array, keys: Array, positions: Positions) -> Array:
    return _plain(apply_rotary(queries, positions), apply_rotary(keys, positions))


def _rotated_back(scores: Callable[..., Array]) -> Callable[..., Array]:
    """All keys are alike, and the query is the key, rotated by `back` positions."""

    def attending(back: int, positions: Positions) -> Array:
        keys = np.tile([1.0, 0.0], (len(positions), WIDTH // 2))
        queries = apply_rotary(keys, np.full(len(positions), -back))
        return np.asarray(SHARP * WIDTH**0.5 * scores(queries, keys, positions))

    return attending


def _alibi_attending(_: int, positions: Positions) -> Array:
    return np.asarray(-alibi_slopes(8)[0] * np.abs(_offsets(positions)))


def _t5(queries: Array, keys: Array, positions: Positions) -> Array:
    return _plain(queries, keys) + _random(32)[t5_buckets(_offsets(positions))]


def _t5_attending(back: int, positions: Positions) -> Array:
    chosen = np.where(np.arange(32) == t5_buckets(-back), SHARP, 0.0)
    return np.asarray(chosen[t5_buckets(_offsets(positions))])


def _shaw(queries: Array, keys: Array, positions: Positions) -> Array:
    vectors = _random(2 * CLIP + 1, queries.shape[1])
    clipped = np.clip(_whole(_offsets(positions)), -CLIP, CLIP) + CLIP
    by_offset = queries @ vectors.T / queries.shape[1] ** 0.5
    terms: Array = np.take_along_axis(by_offset, clipped, axis=1)
    return _plain(queries, keys) + terms


def _shaw_attending(back: int, positions: Positions) -> Array:
    clipped = np.clip(_whole(_offsets(positions)), -CLIP, CLIP)
    return np.where(clipped == -min(back, CLIP), SHARP, 0.0)


def _shaw_values(positions: Positions) -> Array:
    clipped = np.clip(_whole(_offsets(positions)), -CLIP, CLIP) + CLIP
    return np.asarray(_random(2 * CLIP + 1, WIDTH)[clipped])


def _xl(queries: Array, keys: Array, positions: Positions) -> Array:
    width = queries.shape[1]
    offsets, place = np.unique(-_offsets(positions), return_inverse=True)
    codes = (sinusoidal(offsets, width) @ _random(width, width))[
        place.reshape(2 * (len(positions),))
    ]
    u, v = _random(2, width)
    by_offset = np.einsum("td,tsd->ts", queries, codes)
    terms = queries @ keys.T + by_offset + keys @ u + codes @ v
    return np.asarray(terms / width**0.5)


def _xl_attending(back: int, positions: Positions) -> Array:
    """The fourth term, v = R_back; R_{t-s} . R_back is P_t . P_{s+back}."""
    codes, later = (sinusoidal(t, WIDTH) for t in (positions, positions + back))
    return np.asarray(SHARP * codes @ later.T)


def _kerple_attending(_: int, positions: Positions) -> Array:
    return kerple_bias(_offsets(positions), r1=R1, r2=R2)


def _fire(queries: Array, keys: Array, positions: Positions) -> Array:
    shares = fire_distances(positions, threshold=TRAINED)[..., np.newaxis]
    inner, shift, outer = _random(3, 32)
    learned: Array = np.maximum(shares * inner + shift, 0) @ outer
    return _plain(queries, keys) + learned


def _fire_attending(back: int, positions: Positions) -> Array:
    """A comb: highest at the number of this key for every whole position up to 800.

    It falls with the distance from the nearest tooth, so a ReLU network can have it.
    """
    teeth = np.unique(_fire_ruler()[back:, :].diagonal())
    knots = np.sort([-1.0, *teeth, *(teeth[1:] + teeth[:-1]) / 2, 2.0])
    heights = [-np.abs(teeth - knot).min() for knot in knots]
    shares = fire_distances(positions, threshold=TRAINED)
    return np.asarray(SHARP * np.interp(shares, knots, heights))


@cache
def _fire_ruler() -> Array:
    return fire_distances(np.arange(LONGEST), threshold=TRAINED)


def _cope_bias(queries: Array, counts: Array, vectors: Array) -> Array:
    """The query times the vector of each count, linear between whole counts."""
    products, last = queries @ vectors.T, len(vectors) - 1
    counts = np.minimum(counts, last)
    below = np.floor(counts).astype(np.int64)
    lower = np.take_along_axis(products, below, axis=1)
    upper = np.take_along_axis(products, np.minimum(below + 1, last), axis=1)
    return np.asarray(lower + (counts - below) * (upper - lower))


def _cope(queries: Array, keys: Array, _: Positions) -> Array:
    scores = _plain(queries, keys)
    vectors = _random(COUNTS, queries.shape[1]) / queries.shape[1] ** 0.5
    return scores + _cope_bias(queries, cope_counts(1 / (1 + np.exp(-scores))), vectors)


def _cope_attending(back: int, positions: Positions) -> Array:
    """All gates are open, so that the token itself is number one."""
    n = len(positions)
    chosen = np.where(np.arange(COUNTS) == min(back + 1, COUNTS - 1), SHARP, 0.0)
    return _cope_bias(np.ones((n, 1)), _open_gates(n), chosen[:, np.newaxis])


@lru_cache(maxsize=4)
def _open_gates(n: int) -> Array:
    counts = cope_counts(np.ones((n, n)))
    counts.flags.writeable = False  # every caller gets the same
    return counts


def _xpos(queries: Array, keys: Array, positions: Positions) -> Array:
    near = positions - positions.mean()
    return _plain(
        apply_xpos(queries, near, keys=False), apply_xpos(keys, near, keys=True)
    )


def _none_attending(_: int, positions: Positions) -> Array:
    return np.zeros((len(positions), len(positions)))


def _added(code: Callable[[Positions], Array]) -> Callable[..., Array]:
    """Scores of tokens to which encodings were added, by a matrix of weights."""

    def scores(queries: Array, keys: Array, positions: Positions) -> Array:
        codes, width = code(positions), queries.shape[1]
        weights = _random(width, width) / width**0.5
        return _plain((queries + codes) @ weights, keys + codes)

    return scores


def _code(positions: Positions) -> Array:
    return sinusoidal(positions, WIDTH)


def _row(positions: Positions) -> Array:
    """Of a learned table; what it learned may be anything, so it is the sinusoid."""
    whole = _whole(positions)
    beyond = whole[(whole < 0) | (whole >= ROWS)]
    if beyond.size:
        raise ValueError(f"there is no row for position {beyond.flat[0]}")
    return sinusoidal(whole, WIDTH)


def _added_attending(code: Callable[[Positions], Array]) -> Callable[..., Array]:
    def attending(back: int, positions: Positions) -> Array:
        codes = code(positions)
        return np.asarray(SHARP * codes @ shift_matrix(back, WIDTH) @ codes.T)

    return attending


ATTENTION_METHODS: dict[str, AttentionMethod] = {
    "none": AttentionMethod(_plain, _none_attending),
    "sinusoid": AttentionMethod(
        _added(_code), _added_attending(_code), lambda p: _code(p)[None]
    ),
    "learned": AttentionMethod(
        _added(_row), _added_attending(_row), lambda p: _row(p)[None], "512 rows"
    ),
    "Shaw": AttentionMethod(_shaw, _shaw_attending, _shaw_values, "clip 16"),
    "XL": AttentionMethod(_xl, _xl_attending),
    "T5": AttentionMethod(_t5, _t5_attending, setting="32 buckets"),
    "ALiBi": AttentionMethod(_biased(_alibi_attending), _alibi_attending),
    "KERPLE": AttentionMethod(
        _biased(_kerple_attending), _kerple_attending, setting="r2 = 1/400"
    ),
    "FIRE": AttentionMethod(_fire, _fire_attending, setting="L = 512"),
    "CoPE": AttentionMethod(_cope, _cope_attending, setting="64 counts"),
    "rotary": AttentionMethod(_rotary, _rotated_back(_rotary)),
    "xPos": AttentionMethod(_xpos, _rotated_back(_xpos)),
}
"""The methods of the book, in heads of 32; what is learned is set by hand or drawn."""
