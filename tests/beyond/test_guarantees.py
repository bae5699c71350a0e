"""What each method guarantees; and methods that are broken on purpose."""

from dataclasses import replace

import numpy as np
import pytest

from pe_lib import sinusoidal
from pe_lib.beyond.attention_methods import ATTENTION_METHODS, _random
from pe_lib.beyond.guarantees import GUARANTEES, _judge

EVIDENCE = {  # which the page that compares them does not print
    ("sinusoid", "any lag"): "up to 40 back, of 16 to 800 tokens",
    ("T5", "between"): "offsets must be whole numbers, got 3.7",
    ("ALiBi", "before and after"): "one back and one ahead are one number: 0",
    ("CoPE", "between"): "3.7 is as 3",
    ("xPos", "keeps weight"): "0.137 of 200 tokens, 0.102 of 800",
}


@pytest.mark.parametrize("place", EVIDENCE, ids=str)
def test_the_evidence(place):
    name, title = place
    verdict = _judge(GUARANTEES[title], ATTENTION_METHODS[name])
    assert verdict.evidence == EVIDENCE[place]
    assert (verdict.d, verdict.n) == (32, 800)


def changed(**parts):
    """Each verdict, when it is asked for, on a rotary method that differs so."""
    method = replace(ATTENTION_METHODS["rotary"], **parts)
    return lambda title: _judge(GUARANTEES[title], method)


def test_methods_that_are_broken_lose_what_they_guaranteed():
    """Positions of every rank from 0; one side one too high; rounded; clipped."""
    rotary = ATTENTION_METHODS["rotary"]
    local = changed(
        scores=lambda q, k, p: rotary.scores(q, k, p % 48),
        attending=lambda back, p: rotary.attending(back, p % 48),
    )
    assert not local("offset alone").holds and not local("any lag").holds
    assert local("any length").holds  # which raises nothing
    late = changed(attending=lambda back, p: rotary.attending(back + 1, p))
    assert late("one back").evidence == "1 back of 16 tokens: looks at 2 back"
    whole = changed(scores=lambda q, k, p: rotary.scores(q, k, p.round()))
    assert not whole("between").holds
    jumps = changed(
        scores=lambda q, k, p: rotary.scores(q, k, p) + 1000 * (p[1] != p[1].round()),
    )
    assert not jumps("between").holds
    silent = changed(scores=lambda q, k, p: rotary.scores(q, k, p) * np.nan)
    assert silent("any length").evidence == "scores must be numbers, got NaN"
    far = changed(scores=lambda q, k, p: rotary.scores(q, k, p % 10_000))
    assert far("offset alone").holds  # 10000 later all is as it was
    far = changed(scores=lambda q, k, p: rotary.scores(q, k, p % 10_010))
    assert far("offset alone").evidence.endswith(", 10000 later")
    crowd = changed(scores=lambda q, k, p: rotary.scores(q, k, p) + k[1:9].sum())
    assert crowd("offset alone").evidence.endswith("by those between")
    added = changed(values=lambda p: p[None, :, None] * np.ones(32))
    assert added("equal words").holds


def test_every_query_counts():
    """A head that is right for the last query alone does not look one back."""
    rotary = ATTENTION_METHODS["rotary"]

    def attending(back, positions):
        scores = rotary.attending(back, positions)
        scores[-3] = rotary.attending(back + 1, positions)[-3]
        return scores

    row = changed(attending=attending)
    assert row("one back").evidence == "1 back of 14 tokens: looks at 2 back"


def test_a_head_of_transformer_xl():
    """The short form in ATTENTION_METHODS is the fourth term, at real positions too."""
    t = np.array([0.0, 1.5, 7.0, 9.25, 30.0])
    fourth = sinusoidal(np.subtract.outer(t, t), 32) @ (4 * sinusoidal(3, 32))
    found = ATTENTION_METHODS["XL"].attending(3, t)
    np.testing.assert_allclose(found, fourth, atol=1e-12)


def test_the_four_terms_of_transformer_xl():
    """Query and key, query and offset, key alone, offset alone: pair by pair."""
    queries, keys = np.random.default_rng(3).standard_normal((2, 5, 32))
    t, (u, v) = np.arange(5.0), _random(2, 32)
    codes = sinusoidal(np.subtract.outer(t, t), 32) @ _random(32, 32)
    found = ATTENTION_METHODS["XL"].scores(queries, keys, t)
    for i, j in np.ndindex(5, 5):
        query, key, code = queries[i], keys[j], codes[i, j]
        score = query @ key + query @ code + u @ key + v @ code
        np.testing.assert_allclose(found[i, j], score / 32**0.5)


def test_a_term_is_added_to_the_score_of_query_and_key():
    """Shaw's vector of the offset, CoPE's of the count of open gates."""
    queries, keys = np.random.default_rng(3).standard_normal((2, 30, 32))
    shaw, cope = (
        ATTENTION_METHODS[name].scores(queries, keys, np.arange(30.0))
        for name in ("Shaw", "CoPE")
    )
    plain = queries @ keys.T / 32**0.5
    gates, vectors = 1 / (1 + np.exp(-plain)), _random(33, 32)
    of_counts = _random(64, 32)
    for t, s in [(29, 0), (29, 28), (3, 3), (2, 9), (0, 29)]:
        vector = vectors[np.clip(s - t, -16, 16) + 16]
        assert shaw[t, s] == pytest.approx(plain[t, s] + queries[t] @ vector / 32**0.5)
        count = gates[t, min(t, s) : max(t, s) + 1].sum()
        low, share = int(count), count % 1
        vector = (1 - share) * of_counts[low] + share * of_counts[low + 1]
        assert cope[t, s] == pytest.approx(plain[t, s] + queries[t] @ vector / 32**0.5)
