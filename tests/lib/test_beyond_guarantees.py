"""What each way guarantees; and ways that are broken on purpose."""

import numpy as np
import pytest

from pe_lib import sinusoidal
from pe_lib.beyond.guarantees import GUARANTEES, WAYS, Way, guarantees
from pe_lib.beyond.relative import xl_terms
from pe_lib.scorecard import Scorecard

EXPECTED = {
    # any length, offset alone, one back, any lag, before and after, equal words,
    # between, keeps weight
    "none": "++------",
    "sinusoid": "+-+++++-",
    "learned": "----++--",
    "Shaw": "+++-++--",
    "XL": "+++++-+-",
    "T5": "+++-+---",
    "ALiBi": "++----++",
    "KERPLE": "++----++",
    "FIRE": "+-+---+-",
    "CoPE": "+-++----",
    "rotary": "+++++-+-",
    "xPos": "+++++-+-",
}
EVIDENCE = {
    ("learned", "any length"): "there is no row for position 512",
    ("Shaw", "any lag"): "16 back of 200 words: a draw of 184",
    ("T5", "any lag"): "8 back of 16 words: a draw of 4",
    ("T5", "between"): "offsets must be whole numbers, got 3.7",
    ("ALiBi", "one back"): "1 back of 16 words: looks at 0 back",
    ("ALiBi", "before and after"): "one back and one ahead are one number: 0",
    ("none", "one back"): "1 back of 16 words: a draw of 16",
    ("KERPLE", "one back"): "1 back of 16 words: looks at 0 back",
    ("FIRE", "offset alone"): "63 asks 24: 0.2 off at 10000 later",
    ("FIRE", "any lag"): "2 back of 800 words: looks at 3 back",
    ("CoPE", "offset alone"): "63 asks 0: 0.6 off, others between",
    ("CoPE", "before and after"): "one back and one ahead are one number: 0",
    ("CoPE", "between"): "3.7 is as 3",
    ("XL", "equal words"): "all are equal",
    ("xPos", "keeps weight"): "0.137 of 200 words, 0.102 of 800",
    ("rotary", "any lag"): "up to 40 back, of 16 to 800 words",
    ("rotary", "equal words"): "all are equal",
}


@pytest.fixture(scope="module")
def card():
    """Made when it is asked for: every process that runs any test reads this file."""
    return guarantees()


@pytest.mark.parametrize("name", EXPECTED)
def test_the_card(card, name):
    row = card[name]
    assert "".join("+" if v.holds else "-" for v in row.values()) == EXPECTED[name]
    assert list(card) == list(WAYS) == list(EXPECTED)
    assert list(row) == list(GUARANTEES)


@pytest.mark.parametrize("place", EVIDENCE, ids=str)
def test_the_evidence(card, place):
    assert card[place[0]][place[1]].evidence == EVIDENCE[place]


def test_it_prints_its_own_titles(card):
    assert isinstance(card, Scorecard)
    assert str(card).startswith("1 any length\n2 offset alone\n")
    assert card._repr_html_().count('<th scope="col">') == 1 + len(GUARANTEES)
    assert str(Scorecard({})).startswith("1 unique")


def changed(name, **parts):
    way = WAYS[name]
    whole = {"scores": way.scores, "looking": way.looking, "values": way.values}
    return guarantees({"it": Way(**(whole | parts))})["it"]


def test_ways_that_are_broken_lose_what_they_promised():
    """Positions of every rank from 0; one side one too high; rounded; clipped."""
    rotary = WAYS["rotary"]
    local = changed(
        "rotary",
        scores=lambda q, k, p: rotary.scores(q, k, p % 48),
        looking=lambda back, p: rotary.looking(back, p % 48),
    )
    assert not local["offset alone"].holds and not local["any lag"].holds
    assert local["any length"].holds  # which raises nothing
    late = changed("rotary", looking=lambda back, p: rotary.looking(back + 1, p))
    assert late["one back"].evidence == "1 back of 16 words: looks at 2 back"
    whole = changed("rotary", scores=lambda q, k, p: rotary.scores(q, k, p.round()))
    assert not whole["between"].holds
    jumps = changed(
        "rotary",
        scores=lambda q, k, p: rotary.scores(q, k, p) + 1000 * (p[1] != p[1].round()),
    )
    assert not jumps["between"].holds
    silent = changed("rotary", scores=lambda q, k, p: rotary.scores(q, k, p) * np.nan)
    assert silent["any length"].evidence == "scores must be numbers, got NaN"
    far = changed("rotary", scores=lambda q, k, p: rotary.scores(q, k, p % 10_000))
    assert far["offset alone"].holds  # 10000 later all is as it was
    far = changed("rotary", scores=lambda q, k, p: rotary.scores(q, k, p % 10_010))
    assert far["offset alone"].evidence.endswith("at 10000 later")
    crowd = changed(
        "rotary", scores=lambda q, k, p: rotary.scores(q, k, p) + k[1:9].sum()
    )
    assert crowd["offset alone"].evidence.endswith("off, others between")
    added = changed("rotary", values=lambda p: p[None, :, None] * np.ones(32))
    assert added["equal words"].holds


def test_a_way_of_ones_own():
    """With r2 = 1 KERPLE's logarithm falls too slowly to keep the weight."""

    def looking(_, positions):
        return -np.log1p(np.abs(np.subtract.outer(positions, positions)))

    card = changed(
        "ALiBi",
        looking=looking,
        scores=lambda q, k, p: q @ k.T + looking(1, p),
    )
    assert card["offset alone"].holds and not card["keeps weight"].holds


def test_a_head_of_transformer_xl():
    """The short form in WAYS is the fourth term, at real positions too."""
    t = np.array([0.0, 1.5, 7.0, 9.25, 30.0])
    still = np.zeros((5, 32))
    codes = sinusoidal(np.subtract.outer(t, t), 32)
    terms = xl_terms(
        still, still, codes, word_bias=still[0], offset_bias=4 * sinusoidal(3, 32)
    )
    np.testing.assert_allclose(WAYS["XL"].looking(3, t), terms[3], atol=1e-12)


@pytest.mark.parametrize("wrong", [3, {"a": 3}, {3: WAYS["none"]}])
def test_bad_arguments(wrong):
    with pytest.raises(TypeError, match="ways must map names to ways, got"):
        guarantees(wrong)
