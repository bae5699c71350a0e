"""The trained models of chapters with other seeds, rates and widths."""

import pytest

from pe_lib.experiments import one_head, stretched, varied


def test_as_reported_is_the_chapters_model() -> None:
    """With factors of 1 the rows are those of one_head.measure."""
    heads = ["added", "turning"]
    expected = one_head.measure(heads, seeds=1, test_lengths=(24, 96))
    found = varied.measure(heads, model="one_back", seeds=1, test_lengths=(24, 96))
    assert [(r.scheme, r.length, r.accuracy) for r in found] == [
        (r.scheme, r.length, r.accuracy) for r in expected
    ]


@pytest.mark.parametrize("factor", [{"width": 2}, {"rate": 2}])
def test_a_factor_reaches_the_model(factor) -> None:
    """A wider model, or a different rate, gives another head."""
    settings = {"model": "one_back", "seeds": 1, "test_lengths": (24,)}
    plain, other = (varied.measure(["turns"], **settings, **f) for f in ({}, factor))
    assert plain[0].accuracy != other[0].accuracy


def test_a_factor_reaches_the_readers(monkeypatch) -> None:
    """Which take longer to train: so what they are trained with is looked at."""
    given = []

    def trained(*positional, width):
        given.extend((positional[2], width))
        raise InterruptedError

    monkeypatch.setattr(stretched, "trained", trained)
    settings = {"model": "readers", "seeds": 1, "test_lengths": (64,)}
    with pytest.raises(InterruptedError):
        varied.measure(["lag/none"], **settings, rate=0.5, width=2)
    assert given == [0.5 * varied.READERS_RATE, 96]


def test_an_unknown_model_is_named() -> None:
    """The message says what it must be."""
    with pytest.raises(ValueError, match="model must be"):
        varied.measure(["turns"], model="two_back", seeds=1, test_lengths=(24,))
