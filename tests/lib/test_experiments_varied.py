"""The trained models of chapters with other seeds, rates and widths."""

import pytest

from pe_lib.experiments import one_head, stretched, varied


def test_as_reported_is_the_chapters_own_model() -> None:
    """With factors of 1 the rows are those of one_head.measure."""
    heads = ["added", "turning"]
    own = one_head.measure(heads, seeds=1, test_lengths=(24, 96))
    found = varied.measure(heads, model="one_back", seeds=1, test_lengths=(24, 96))
    assert [(r.scheme, r.length, r.accuracy) for r in found] == [
        (r.scheme, r.length, r.accuracy) for r in own
    ]


def test_a_factor_reaches_the_model_and_is_taken_back() -> None:
    """Another rate gives another head; the constants are as before."""
    before = one_head.RATE, one_head.WIDTH, stretched.WIDTH
    settings = {"model": "one_back", "seeds": 1, "test_lengths": (24,)}
    plain, wide = (varied.measure(["turns"], **settings, width=w) for w in (1, 2))
    assert plain[0].accuracy != wide[0].accuracy
    now = one_head.RATE, one_head.WIDTH, stretched.WIDTH
    assert now == before
    with pytest.raises(ZeroDivisionError), varied.constants(one_head, RATE=1):
        _ = one_head.RATE / 0
    now = one_head.RATE, one_head.WIDTH, stretched.WIDTH
    assert now == before


def test_an_unknown_model_is_named() -> None:
    """The message says what it must be."""
    with pytest.raises(ValueError, match="model must be"):
        varied.measure(["turns"], model="two_back", seeds=1, test_lengths=(24,))
