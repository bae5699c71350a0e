"""What an attention method guarantees of positions, as tests with their evidence.

:mod:`pe_lib.properties` asks a table of encodings. A rotation or a bias has no table;
it has *scores*. An :class:`AttentionMethod` can be asked for scores: of given words,
and of equal words by a head that was set by hand to attend so many positions back. A
test that is passed shows what can be reached by choosing weights, not what training
finds.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pe_lib._arguments import short_repr
from pe_lib.attention import softmax
from pe_lib.beyond.attention_methods import (
    ATTENTION_METHODS,
    WIDTH,
    Array,
    AttentionMethod,
    Positions,
)
from pe_lib.properties import Verdict
from pe_lib.scorecards import Scorecard

LENGTHS = (16, 200, 800)
FARTHEST = 40  # how far back is asked for
MUST = "methods must map names to attention methods"


def any_length(method: AttentionMethod) -> Verdict:
    """It has numbers for positions that no training saw: 800, and at 10,000."""
    positions: Positions = np.arange(LENGTHS[-1], dtype=np.float64)
    for start in (0, 10_000):
        method.scores(*_random_tokens(LENGTHS[-1]), positions + start)
    return _verdict(True, 0.0, "800 positions, from 0 and from 10000")


def offset_alone(method: AttentionMethod) -> Verdict:
    """Two tokens keep their score when both move, whatever lies between them."""
    t = np.arange(64.0)
    queries, keys = _random_tokens(64)
    before = method.scores(queries, keys, t)
    for later in (100, 10_000):
        gaps = np.abs(method.scores(queries, keys, t + later) - before) / before.std()
        worst = float(gaps.max())
        if worst > 1e-9:
            query, key = np.unravel_index(gaps.argmax(), gaps.shape)
            evidence = f"query {query}, key {key}: {worst:.1f} off, {later} later"
            return _verdict(False, worst, evidence)
    other = np.random.default_rng(1).standard_normal((2, 64, WIDTH))
    other[:, [0, 63]] = queries[[0, 63]], keys[[0, 63]]
    gap = abs(method.scores(other[0], other[1], t) - before)[63, 0]
    worst = float(gap / before.std())
    if worst > 1e-9:
        evidence = f"query 63, key 0: {worst:.1f} by those between"
        return _verdict(False, worst, evidence)
    return _verdict(True, worst, "no score changes 10000 words later")


def one_back(method: AttentionMethod) -> Verdict:
    """A head can attend most to the previous position, among equal tokens."""
    return _attends_back(method, (1,))


def any_lag(method: AttentionMethod) -> Verdict:
    """A head can attend most to the position k back, for each k from 1 to 40."""
    return _attends_back(method, range(1, FARTHEST + 1))


def before_and_after(method: AttentionMethod) -> Verdict:
    """Without a mask it can tell the previous position from the next."""
    scores = method.attending(1, np.arange(9.0))[4]
    gap = float(abs(scores[3] - scores[5]))
    holds = gap > 1e-9
    how = "apart by" if holds else "one number:"
    return _verdict(holds, gap, f"one back and one ahead are {how} {gap:.2g}")


def equal_words(method: AttentionMethod) -> Verdict:
    """With one token, again and again, the outputs of two positions differ."""
    t = np.arange(40.0)
    word = np.tile(_random_tokens(1)[0], (40, 1))
    values = np.broadcast_to(word, (40, 40, WIDTH))
    if method.values is not None:
        values = values + method.values(t)
    weights = softmax(method.scores(word, word, t))
    outputs = np.einsum("ts,tsd->td", weights, values)
    spread = float(np.ptp(outputs, axis=0).max())
    holds = spread > 1e-9
    return _verdict(
        holds, spread, f"outputs differ by {spread:.2g}" if holds else "all are equal"
    )


def between(method: AttentionMethod) -> Verdict:
    """Position 3.7 exists, is neither 3 nor 4, and just after 3 all is as at 3."""
    queries, keys = _random_tokens(2)
    three, middle, four, after = (
        method.scores(queries, keys, np.array([0.0, at]))[0, 1]
        for at in (3, 3.7, 4, 3 + 1e-6)
    )
    apart = min(abs(middle - three), abs(middle - four))
    holds = bool(apart > 1e-9 and abs(after - three) < 1e-3)
    return _verdict(
        holds, float(middle), "3.7 is another than 3" if holds else "3.7 is as 3"
    )


def keeps_weight(method: AttentionMethod) -> Verdict:
    """The largest weight of a head does not shrink as the sequence grows.

    All are scaled first: at 200 tokens the scores of a query lie within 6 of each
    other, so that a sharper head is no better.
    """
    rows = [method.attending(1, np.arange(float(n)))[-1] for n in LENGTHS[1:]]
    spread = float(np.ptp(rows[0]))
    scale = 6 / spread if spread else 1.0
    tops = [float(softmax(scale * row).max()) for row in rows]
    evidence = f"{tops[0]:.3f} of 200 tokens, {tops[1]:.3f} of 800"
    return _verdict(tops[1] > 0.99 * tops[0], tops[1] / tops[0], evidence)


Guarantee = Callable[[AttentionMethod], Verdict]

GUARANTEES: dict[str, Guarantee] = {
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


def guarantees(methods: Mapping[str, AttentionMethod] | None = None) -> Scorecard:
    """Every test for every method: ``card["rotary"]["one back"]`` is a verdict.

    Parameters
    ----------
    methods : mapping
        From a name to an :class:`AttentionMethod`; ``ATTENTION_METHODS`` if left out.

    Returns
    -------
    Scorecard
        With the tests named in ``GUARANTEES``. Where a method raises, or its scores are
        NaN, it does not hold, and the evidence says why.

    Raises
    ------
    TypeError
        If `methods` does not map strings to attention methods.

    Examples
    --------
    >>> card = guarantees({"ALiBi": ATTENTION_METHODS["ALiBi"]})
    >>> card["ALiBi"]["one back"].evidence
    '1 back of 16 tokens: looks at 0 back'
    """
    chosen = ATTENTION_METHODS if methods is None else methods
    if not isinstance(chosen, Mapping):
        raise TypeError(f"{MUST}, got {short_repr(methods)}")
    for name, method in chosen.items():
        if not (isinstance(name, str) and isinstance(method, AttentionMethod)):
            raise TypeError(f"{MUST}, got {short_repr(name)}: {short_repr(method)}")
    return Scorecard(
        {
            name: {title: _judge(test, method) for title, test in GUARANTEES.items()}
            for name, method in chosen.items()
        },
        {name: method.setting for name, method in chosen.items() if method.setting},
    )


def _refusing_nan(ask: Callable[..., Array]) -> Callable[..., Array]:
    """The same question, whose answer is refused if it is no number."""

    def checked(*question: Any) -> Array:
        scores = ask(*question)
        if np.isnan(scores).any():
            raise ValueError("scores must be numbers, got NaN")
        return scores

    return checked


def _find(test: Guarantee, method: AttentionMethod) -> Verdict:
    try:
        scores = _refusing_nan(method.scores)
        attending = _refusing_nan(method.attending)
        return test(replace(method, scores=scores, attending=attending))
    except (ValueError, IndexError) as error:
        return _verdict(False, float("nan"), str(error))


_find_once = cache(_find)


def _judge(test: Guarantee, method: AttentionMethod) -> Verdict:
    """The verdict; on a method of the book it is found once."""
    of_the_book = any(method is each for each in ATTENTION_METHODS.values())
    return (_find_once if of_the_book else _find)(test, method)


def _random_tokens(n: int) -> tuple[Array, Array]:
    both = np.random.default_rng(0).standard_normal((2, n, WIDTH))
    return both[0], both[1]


def _attends_back(method: AttentionMethod, lags: ArrayLike) -> Verdict:
    """Whether each query that has such a key prefers it, under a causal mask."""
    for n in LENGTHS:
        ahead = np.triu(np.ones((n, n), dtype=bool), k=1)
        for back in np.asarray(lags):
            if back >= n:
                continue
            scores = method.attending(int(back), np.arange(float(n)))
            scores = np.where(ahead, -np.inf, scores)[back:]
            near = scores > scores.max(axis=1, keepdims=True) - 1e-9
            right = near.diagonal() & (near.sum(axis=1) == 1)
            if right.all():
                continue
            query = int(np.flatnonzero(~right)[-1])
            tallest = query + back - np.flatnonzero(near[query])
            where = f"looks at {tallest[-1]} back"
            if len(tallest) > 1:
                where = f"a draw of {len(tallest)}"
            place = f"{query + back + 1} tokens"
            return _verdict(False, float(back), f"{back} back of {place}: {where}")
    farthest = int(np.max(lags))
    return _verdict(
        True, float(farthest), f"up to {farthest} back, of 16 to 800 tokens"
    )


def _verdict(holds: bool, measured: float, evidence: str) -> Verdict:
    return Verdict(holds, measured, evidence, WIDTH, LENGTHS[-1])
