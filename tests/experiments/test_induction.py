"""Two layers that repeat a passage: the texts, the model, its training."""

import numpy as np
import pytest
import torch

from pe_lib import sinusoidal_table
from pe_lib.attention import softmax
from pe_lib.experiments import induction, surgery
from pe_lib.experiments.induction import Settings, Surgery, TwoLayers

KINDS = [
    Settings(),
    Settings(places="learned"),
    Settings(places="rotary"),
    Settings(places="rotary_biased"),
    Settings(places="alibi", slopes=(1.0, 0.25)),
    Settings(places="none"),
]


def generator(seed: int = 0) -> torch.Generator:
    """A generator of one seed."""
    return torch.Generator().manual_seed(seed)


def start(count: int, at: int = 0) -> torch.Tensor:
    """Texts that all begin at one position."""
    return torch.full((count, 1), at)


@pytest.mark.parametrize("n", [24, 32, 128])
def test_one_passage_comes_twice_and_no_other_word(n: int) -> None:
    """Asked are the words of the second time but the last, where the word is known."""
    texts = induction.passages(n, 200, generator())
    sizes = set()
    for words, match in zip(texts.words.tolist(), texts.match.tolist(), strict=True):
        matched = [t for t in range(n) if match[t] >= 0]
        twice = [t for t in range(n) if words.index(words[t]) < t]
        assert twice[:-1] == matched
        assert twice == list(range(twice[0], twice[-1] + 1))
        for t in matched:
            assert match[t] == words.index(words[t])
            assert words[match[t] + 1] == words[t + 1]
        assert words.index(words[twice[0]]) + len(twice) <= twice[0]
        sizes.add(len(twice))
    assert sizes == set(range(4, 13))


@pytest.mark.parametrize("n", [23, 129])
def test_passages_need_room(n: int) -> None:
    """The message says what came."""
    with pytest.raises(ValueError, match=f"n must lie within 24 and 128, got {n}"):
        induction.passages(n, 1, generator())


def test_the_model_is_two_softmaxes_in_a_row() -> None:
    """Against NumPy, with and without another matrix between the codes."""
    model = TwoLayers(Settings(), generator())
    words = torch.randperm(128, generator=generator(1))[:9]
    m, P = surgery.products(model), sinusoidal_table(12, 32)[3:]
    seen = np.tri(9, dtype=bool)
    head = np.random.default_rng(0).standard_normal((32, 32))
    for W in (None, head):
        x = m["E"][words] + P
        scores = x @ m["W0"] @ x.T
        if W is not None:
            scores += P @ (W - m["W0"]) @ P.T
        first = softmax(np.where(seen, scores, -np.inf))
        x = x + first @ x @ m["V0"]
        second = softmax(np.where(seen, x @ m["W1"] @ x.T, -np.inf))
        x = x + second @ x @ m["V1"]
        with torch.no_grad():
            found = model(words[None], start(1, 3), Surgery(head=W))
        assert np.abs(found.last[0].numpy() - x).max() < 1e-4
        for weights, expected in zip(found.weights, (first, second), strict=True):
            assert np.abs(weights[0, 0].numpy() - expected).max() < 1e-5


def test_deaf_and_blind() -> None:
    """Deaf: other words, same looks. Blind: with W = 0 below, codes move nothing."""
    model = TwoLayers(Settings(), generator())
    first, second = (
        torch.randperm(128, generator=generator(s))[None, :9] for s in (1, 2)
    )
    with torch.no_grad():
        for deaf in (False, True):
            looks = [
                model(words, start(1), Surgery(deaf=deaf)).weights[0]
                for words in (first, second)
            ]
            assert torch.equal(*looks) == deaf
        zero = np.zeros((32, 32))
        for blind in (False, True):
            model.maps["q0"].zero_()
            far = [
                model(first, start(1, at), Surgery(head=zero, blind=blind)).weights[1]
                for at in (0, 400)
            ]
            assert torch.allclose(*far, atol=1e-5) == blind


@pytest.mark.parametrize("settings", KINDS, ids=lambda s: s.places)
def test_nothing_is_seen_ahead(settings: Settings) -> None:
    """A later word changes nothing before it, whatever tells the positions."""
    model = TwoLayers(settings, generator())
    words = torch.randperm(128, generator=generator(1))[None, :9]
    changed = words.clone()
    changed[0, 6] = words[0, 0]
    with torch.no_grad():
        one, two = (model(w, start(1)).last[0] for w in (words, changed))
        moved = model(words, start(1, 7)).last[0]
    assert torch.equal(one[:6], two[:6]) and not torch.equal(one[6:], two[6:])
    absolute = settings.places in ("sinusoid", "learned")
    assert torch.allclose(one, moved, atol=1e-5) != absolute


def test_training_repeats_itself_and_leaves_torch_alone() -> None:
    """Twice the same, another seed differs; models are put aside at the stops."""
    before = torch.get_rng_state()
    settings = Settings(steps=3)
    first, second, other = (induction.train(seed, settings) for seed in (0, 0, 1))
    assert len(first) == 2 and not torch.equal(first[0]["E"], first[1]["E"])
    for name, value in first[-1].items():
        assert torch.equal(value, second[-1][name])
    assert not torch.equal(first[-1]["E"], other[-1]["E"])
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"places": "t5"}, "places must be .*'t5'"),
        ({"last_start": -1}, "last_start must be at least 0"),
        ({"steps": 0}, "steps must be at least 1"),
    ],
)
def test_bad_settings_are_refused(change: dict[str, object], message: str) -> None:
    """Each error names the argument."""
    with pytest.raises(ValueError, match=message):
        Settings(**change)
