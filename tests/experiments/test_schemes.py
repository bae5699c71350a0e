"""The schemes: what their codes are, and that they are equally loud."""

import numpy as np
import pytest

from pe_lib import sinusoidal_table
from pe_lib.experiments.schemes import SCHEMES, Scheme, labelled, scaled_sinusoid
from tests.experiments.helpers import LENGTH, ensemble


def code(name, length=24):
    model = ensemble(name, seeds=1, longest=64, trained=24)
    scheme = SCHEMES[name]
    table = scheme.encode(length, model.contexts[0]) if scheme.encode else 0
    return np.asarray(table), model.contexts[0]


@pytest.mark.parametrize("name", ["counting", "normalized", "binary", "random"])
def test_codes_are_as_loud_as_a_sinusoid_in_training(name):
    loud = np.sqrt(np.mean(np.sum(code(name)[0] ** 2, axis=1)))
    assert loud == pytest.approx(4, rel=0.1 if name == "random" else 1e-9)
    np.testing.assert_allclose((code("sinusoid")[0] ** 2).sum(1), 16)


def test_the_codes_themselves():
    table, context = code("counting")
    steps = np.diff(table, axis=0)
    np.testing.assert_allclose(steps, np.tile(steps[:1], (23, 1)))
    np.testing.assert_allclose(table[0], 0, atol=1e-12)
    assert np.linalg.norm(context.direction) == pytest.approx(1)
    np.testing.assert_array_equal(code("counting_raw")[0][7], np.full(32, 7.0))
    np.testing.assert_array_equal(code("sinusoid")[0], sinusoidal_table(24, 32))
    # The last position of every length has one code, and counting has not.
    ends = [code("normalized", length)[0][-1] for length in (8, 24, 64)]
    np.testing.assert_allclose(ends, np.tile(ends[0], (3, 1)))
    ends = [code("counting", length)[0][-1] for length in (8, 24)]
    np.testing.assert_allclose(ends[1] * 7, ends[0] * 23)
    # The digits of 5 are 101, and six are enough for 64 positions.
    digits = np.sign(code("binary")[0])
    assert digits[5].tolist() == [1, -1, 1, -1, -1, -1] + 26 * [0]


def test_learned_tables_start_where_they_say():
    names = ["random", "learned", "learned_quiet", "learned_from_sinusoid"]
    model = ensemble(*names, seeds=1)
    noise = model.contexts[0].noise
    np.testing.assert_array_equal(model.table[0].detach(), 0)
    np.testing.assert_allclose(model.table[1].detach(), 0.5**0.5 * noise, rtol=1e-6)
    np.testing.assert_allclose(model.table[2].detach(), 0.02 * noise, rtol=1e-6)
    np.testing.assert_allclose(
        model.table[3].detach(), sinusoidal_table(LENGTH, 32), atol=1e-7
    )


def test_a_sinusoid_of_another_size_and_base():
    table = scaled_sinusoid(3, base=5).encode(7, code("none")[1])
    np.testing.assert_array_equal(table, 3 * sinusoidal_table(7, 32, base=5))


def test_keys_are_identifiers_and_labels_are_for_readers():
    assert all(key.isidentifier() for key in SCHEMES)
    labels = list(labelled(SCHEMES))
    assert len(set(labels)) == len(SCHEMES)
    assert {"counting, raw", "T5 bias", "ALiBi 1/2, 1/4", "none"} <= set(labels)
    assert labelled({"rotary": 1, "mine": 2}) == {"rotary": 1, "mine": 2}
    with pytest.raises(AttributeError):
        Scheme().label = "frozen"
