"""What a way to give attention positions guarantees, as tests with their evidence.

:mod:`pe_lib.properties` asks a table of codes. A rotation or a bias has no table; it
has *scores*. Here a :class:`Way` is what can be asked for scores: of given words, and
of equal words by a head that was set by hand to look so many back. A test that is
passed shows what can be reached by choosing weights, not what training finds.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pe_lib.attention import softmax
from pe_lib.beyond.bias import alibi_slopes, t5_buckets
from pe_lib.beyond.rotary import apply_rotary
from pe_lib.properties import Verdict
from pe_lib.rotation import apply_shift
from pe_lib.scorecard import Scorecard
from pe_lib.sinusoidal import sinusoidal

Array = NDArray[np.float64]
Positions = NDArray[np.float64]

WIDTH, SHARP = 32, 4.0
LENGTHS = (16, 200, 800)
FARTHEST = 40  # how far back is asked for
CLIP, ROWS = 16, 512


@dataclass(frozen=True)
class Way:
    """One way to give positions to attention.

    Attributes
    ----------
    scores : callable
        ``scores(queries, keys, positions)``: of words, [n, d] each, in one head with
        weights of its own; [n, n], row t is the query.
    looking : callable
        ``looking(back, positions)``: the same for equal words, in a head that looks
        so many back, if the way can.
    values : callable or None
        ``values(positions)``: what is added to the value of key s for query t,
        [n, n, d] or [1, n, d]. None if positions change scores alone.
    """

    scores: Callable[[Array, Array, Positions], Array]
    looking: Callable[[int, Positions], Array]
    values: Callable[[Positions], Array] | None = None


def _offsets(positions: Positions) -> Array:
    return np.asarray(-np.subtract.outer(positions, positions))


def _whole(positions: Positions) -> NDArray[np.int64]:
    if (positions != np.round(positions)).any():
        raise ValueError("positions must be whole numbers")
    return positions.astype(np.int64)


def _random(*shape: int) -> Array:
    return np.random.default_rng(7).standard_normal(shape)


def _plain(queries: Array, keys: Array) -> Array:
    return np.asarray(queries @ keys.T / queries.shape[1] ** 0.5)


def _rotary(queries: Array, keys: Array, positions: Positions) -> Array:
    return _plain(apply_rotary(queries, positions), apply_rotary(keys, positions))


def _rotary_looking(back: int, positions: Positions) -> Array:
    keys = np.tile([1.0, 0.0], (len(positions), WIDTH // 2))
    queries = apply_rotary(keys, np.full(len(positions), -back))
    return np.asarray(SHARP * WIDTH**0.5 * _rotary(queries, keys, positions))


def _alibi(queries: Array, keys: Array, positions: Positions) -> Array:
    return _plain(queries, keys) + _alibi_looking(1, positions)


def _alibi_looking(_: int, positions: Positions) -> Array:
    return np.asarray(-alibi_slopes(8)[0] * np.abs(_offsets(positions)))


def _t5(queries: Array, keys: Array, positions: Positions) -> Array:
    return _plain(queries, keys) + _random(32)[t5_buckets(_offsets(positions))]


def _t5_looking(back: int, positions: Positions) -> Array:
    chosen = np.where(np.arange(32) == t5_buckets(-back), SHARP, 0.0)
    return np.asarray(chosen[t5_buckets(_offsets(positions))])


def _shaw(queries: Array, keys: Array, positions: Positions) -> Array:
    vectors = _random(2 * CLIP + 1, queries.shape[1])
    clipped = np.clip(_whole(_offsets(positions)), -CLIP, CLIP) + CLIP
    by_offset = queries @ vectors.T / queries.shape[1] ** 0.5
    terms: Array = np.take_along_axis(by_offset, clipped, axis=1)
    return _plain(queries, keys) + terms


def _shaw_looking(back: int, positions: Positions) -> Array:
    clipped = np.clip(_whole(_offsets(positions)), -CLIP, CLIP)
    return np.where(clipped == -min(back, CLIP), SHARP, 0.0)


def _shaw_values(positions: Positions) -> Array:
    clipped = np.clip(_whole(_offsets(positions)), -CLIP, CLIP) + CLIP
    return np.asarray(_random(2 * CLIP + 1, WIDTH)[clipped])


def _none(queries: Array, keys: Array, _: Positions) -> Array:
    return _plain(queries, keys)


def _none_looking(_: int, positions: Positions) -> Array:
    return np.zeros((len(positions), len(positions)))


def _added(code: Callable[[Positions], Array]) -> Callable[..., Array]:
    """Scores of words to which codes were added, by a matrix of weights."""

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


def _added_looking(code: Callable[[Positions], Array]) -> Callable[..., Array]:
    def looking(back: int, positions: Positions) -> Array:
        codes = code(positions)
        return np.asarray(SHARP * codes @ apply_shift(codes, back).T)

    return looking


WAYS: dict[str, Way] = {
    "none": Way(_none, _none_looking),
    "sinusoid": Way(_added(_code), _added_looking(_code), lambda p: _code(p)[None]),
    "learned": Way(_added(_row), _added_looking(_row), lambda p: _row(p)[None]),
    "Shaw": Way(_shaw, _shaw_looking, _shaw_values),
    "T5": Way(_t5, _t5_looking),
    "ALiBi": Way(_alibi, _alibi_looking),
    "rotary": Way(_rotary, _rotary_looking),
}
"""The ways of the book, each with the settings of its authors, and heads of 32."""


def any_length(way: Way) -> Verdict:
    """It has numbers for positions that no training saw: 800 words, and at 10,000."""
    positions: Positions = np.arange(LENGTHS[-1], dtype=np.float64)
    for start in (0, 10_000):
        way.scores(*_words(LENGTHS[-1]), positions + start)
    return _verdict(True, 0.0, "800 words, from 0 and from 10000")


def offset_alone(way: Way) -> Verdict:
    """The same words get the same scores wherever they stand together."""
    t = np.arange(64.0)
    before = way.scores(*_words(64), t)
    gaps = np.abs(way.scores(*_words(64), t + 100) - before)
    worst = float(gaps.max() / before.std())
    if worst < 1e-9:
        return _verdict(True, worst, "no score changes 100 words later")
    query, key = np.unravel_index(gaps.argmax(), gaps.shape)
    return _verdict(False, worst, f"{query} asks {key}: {worst:.1f} more at 100 later")


def one_back(way: Way) -> Verdict:
    """A head can look at the word before, among equal words, at any length."""
    return _looks(way, (1,))


def any_lag(way: Way) -> Verdict:
    """A head can look k back, for each k from 1 to 40, at any length."""
    return _looks(way, range(1, FARTHEST + 1))


def before_and_after(way: Way) -> Verdict:
    """Without a mask it can tell the word before from the word after."""
    scores = way.looking(1, np.arange(9.0))[4]
    gap = float(abs(scores[3] - scores[5]))
    holds = gap > 1e-9
    told = "apart by" if holds else "one number:"
    return _verdict(holds, gap, f"one back and one ahead are {told} {gap:.2g}")


def equal_words(way: Way) -> Verdict:
    """In a text of one word, again and again, the outputs of two places differ."""
    t = np.arange(40.0)
    word = np.tile(_random(WIDTH), (40, 1))
    values = np.broadcast_to(word, (40, 40, WIDTH))
    if way.values is not None:
        values = values + way.values(t)
    weights = softmax(way.scores(word, word, t))
    outputs = np.einsum("ts,tsd->td", weights, values)
    spread = float(np.ptp(outputs, axis=0).max())
    holds = spread > 1e-9
    return _verdict(
        holds, spread, f"outputs differ by {spread:.2g}" if holds else "all are equal"
    )


def between(way: Way) -> Verdict:
    """Position 3.7 exists, is neither 3 nor 4, and just after 3 all is as at 3."""
    queries, keys = _words(2)
    three, middle, four, after = (
        way.scores(queries, keys, np.array([0.0, at]))[0, 1]
        for at in (3, 3.7, 4, 3 + 1e-6)
    )
    apart = min(abs(middle - three), abs(middle - four))
    holds = bool(apart > 1e-9 and abs(after - three) < 1e-3)
    return _verdict(
        holds, float(middle), "3.7 is another than 3" if holds else "3.7 is as 3"
    )


def keeps_weight(way: Way) -> Verdict:
    """What a head gives to its tallest word does not shrink as the text grows.

    All are made equally loud first: at 200 words the scores of a query lie within 6
    of each other, so that a sharper head is no better.
    """
    rows = [way.looking(1, np.arange(float(n)))[-1] for n in LENGTHS[1:]]
    spread = float(np.ptp(rows[0]))
    loudness = 6 / spread if spread else 1.0
    tops = [float(softmax(loudness * row).max()) for row in rows]
    told = f"{tops[0]:.3f} of 200 words, {tops[1]:.3f} of 800"
    return _verdict(tops[1] > 0.99 * tops[0], tops[1] / tops[0], told)


GUARANTEES: dict[str, Callable[[Way], Verdict]] = {
    test.__name__.replace("_", " "): test
    for test in (
        any_length,
        offset_alone,
        one_back,
        any_lag,
        before_and_after,
        equal_words,
        between,
        keeps_weight,
    )
}


def guarantees(ways: Mapping[str, Way] | None = None) -> Scorecard:
    """Every test for every way: ``card["rotary"]["one back"]`` is a verdict.

    Parameters
    ----------
    ways : mapping
        From a name to a :class:`Way`; ``WAYS`` if left out.

    Returns
    -------
    Scorecard
        With the tests named in ``GUARANTEES``. Where a way raises, or its scores are
        NaN, it does not hold, and the evidence says why.

    Raises
    ------
    TypeError
        If `ways` does not map strings to ways.

    Examples
    --------
    >>> card = guarantees({"ALiBi": WAYS["ALiBi"]})
    >>> card["ALiBi"]["one back"].evidence
    '1 back of 16 words: looks at 0 back'
    """
    chosen = WAYS if ways is None else ways
    if not isinstance(chosen, Mapping):
        raise TypeError(f"ways must map names to ways, got {ways!r}")
    for name, way in chosen.items():
        if not (isinstance(name, str) and isinstance(way, Way)):
            raise TypeError(f"ways must map names to ways, got {name!r}: {way!r}")
    return Scorecard(
        {
            name: {title: _judge(test, way) for title, test in GUARANTEES.items()}
            for name, way in chosen.items()
        }
    )


def _numbers(ask: Callable[..., Array]) -> Callable[..., Array]:
    """The same question, whose answer is refused if it is no number."""

    def asked(*question: Any) -> Array:
        scores = ask(*question)
        if np.isnan(scores).any():
            raise ValueError("scores must be numbers, got NaN")
        return scores

    return asked


def _judge(test: Callable[[Way], Verdict], way: Way) -> Verdict:
    try:
        return test(Way(_numbers(way.scores), _numbers(way.looking), way.values))
    except ValueError as error:
        return _verdict(False, float("nan"), str(error))


def _words(n: int) -> tuple[Array, Array]:
    both = np.random.default_rng(0).standard_normal((2, n, WIDTH))
    return both[0], both[1]


def _looks(way: Way, lags: ArrayLike) -> Verdict:
    """Whether the tallest of the last query is the right one, and no draw."""
    for n in LENGTHS:
        for back in np.asarray(lags):
            if back >= n:
                continue
            row = way.looking(int(back), np.arange(float(n)))[-1]
            tallest = n - 1 - np.flatnonzero(row > row.max() - 1e-9)
            if list(tallest) != [back]:
                where = f"looks at {tallest[-1]} back"
                if len(tallest) > 1:
                    where = f"a draw of {len(tallest)}"
                told = f"{back} back of {n} words: {where}"
                return _verdict(False, float(back), told)
    farthest = int(np.max(lags))
    return _verdict(True, float(farthest), f"up to {farthest} back, of 16 to 800 words")


def _verdict(holds: bool, measured: float, evidence: str) -> Verdict:
    return Verdict(holds, measured, evidence, WIDTH, LENGTHS[-1])
