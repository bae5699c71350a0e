"""The model of one head, its rotations, and other heads in its place."""

import numpy as np
import pytest
import torch

from pe_lib import sinusoidal_table
from pe_lib.beyond.rotary import apply_rotary
from pe_lib.experiments import one_head
from pe_lib.experiments.one_head import OneHead
from tests.experiments.helpers import generator


def test_scores_between_codes_are_those_of_the_head_matrix() -> None:
    """With words of size 0 the model's score is P_t . W P_s."""
    model = OneHead(generator())
    P = sinusoidal_table(9, 32)
    expected = P @ one_head.head_matrix(model) @ P.T
    found = model.scores(torch.zeros(9, 32)).detach().numpy()
    assert np.abs(found - expected).max() < 1e-4
    assert np.abs(expected).max() > 0.5


def test_rotary_scores_are_those_of_the_library() -> None:
    """Against apply_rotary."""
    model = OneHead(generator(), "rotary")
    x = torch.randn(7, 32, generator=generator(1))
    query, key = (x @ W for W in (model.Wq, model.Wk))
    t = np.arange(7)
    expected = apply_rotary(query.detach(), t) @ apply_rotary(key.detach(), t).T
    found = model.scores(x).detach().numpy()
    assert np.abs(found - expected / np.sqrt(32)).max() < 1e-5


def test_a_trained_head_looks_back_and_the_shift_does_in_its_place() -> None:
    """The shape of the result, with one seed."""
    few = {"seeds": 1, "test_lengths": (24, 96), "steps": 300}
    rows = one_head.measure(one_head.HEADS, **few)
    share = {(row.scheme, row.length): row.accuracy for row in rows}
    assert [row.scheme for row in rows[::2]] == list(one_head.HEADS)
    for scheme in ("added", "rotations", "shift", "rotary"):
        assert share[scheme, 24] > 0.99
    assert share["added", 96] < 0.6 < 0.9 < share["rotary", 96]
    assert share["shift", 96] > 0.99 and share["residual", 96] < 0.2


@pytest.mark.parametrize("encoding", one_head.ENCODINGS)
def test_side_by_side_each_is_what_it_is_alone(encoding: str) -> None:
    """Also where its texts are the shortest, and where they are the longest."""
    seeds, few = (2, 5, 0), {"steps": 20, "longest": 9}
    for seed, model in zip(
        seeds, one_head.side_by_side(encoding, seeds, **few), strict=True
    ):
        alone = one_head.trained(encoding, seed, **few)
        for one, other in zip(model.parameters(), alone.parameters(), strict=True):
            torch.testing.assert_close(one, other, rtol=0, atol=1e-5)
