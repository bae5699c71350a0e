"""Attention as the paper writes it, and heads that are truly the best."""

import math

import numpy as np
import pytest
from scipy.optimize import OptimizeResult, minimize

from pe_lib import shift_matrix, sinusoidal_table
from pe_lib.attention import attention, fit_head, head_weights, hit_rate, look_back
from pe_lib.naive import binary, counting, dials, normalized

CODES = {
    "counting": lambda n: counting(np.arange(n)),
    "normalised": lambda n: normalized(np.arange(n), n),
    "binary": lambda n: binary(np.arange(n), 8, centered=True),
    "dials": lambda n: dials(np.arange(n), 8),
    "sinusoid": lambda n: sinusoidal_table(n, 32),
}
rng = np.random.default_rng(0)
QUERIES = rng.standard_normal((2, 5, 3))
KEYS = rng.standard_normal((2, 5, 3))
VALUES = rng.standard_normal((2, 5, 4))


def attention_by_loop(queries, keys, values, causal):
    """Equation 1 of Vaswani et al. (2017), one number at a time."""
    outputs = np.zeros((len(queries), values.shape[1]))
    weights = np.zeros((len(queries), len(keys)))
    for t, query in enumerate(queries):
        seen = range(t + 1) if causal else range(len(keys))
        scores = {s: math.exp(query @ keys[s] / math.sqrt(len(query))) for s in seen}
        for s in seen:
            weights[t, s] = scores[s] / sum(scores.values())
            outputs[t] += weights[t, s] * values[s]
    return outputs, weights


@pytest.mark.parametrize("causal", [False, True])
def test_attention_is_the_equation(causal):
    outputs, weights = attention(QUERIES, KEYS, VALUES, causal=causal)
    for batch in range(2):
        expected = attention_by_loop(QUERIES[batch], KEYS[batch], VALUES[batch], causal)
        np.testing.assert_allclose(outputs[batch], expected[0], rtol=1e-12)
        np.testing.assert_allclose(weights[batch], expected[1], rtol=1e-12)


def test_a_causal_head_sees_nothing_later():
    _, weights = attention(QUERIES, KEYS, VALUES, causal=True)
    assert not np.triu(weights, 1).any()
    assert np.tril(weights).all(axis=0).any()


def test_fewer_queries_than_keys():
    outputs, weights = attention(QUERIES[0, :2], KEYS[0], VALUES[0])
    assert (outputs.shape, weights.shape) == ((2, 4), (2, 5))
    every, _ = attention(QUERIES[0], KEYS[0], VALUES[0])
    np.testing.assert_allclose(outputs, every[:2], rtol=1e-12)


def test_huge_scores_do_not_overflow():
    outputs, _ = attention([[1e6]], [[1e6], [-1e6]], [[1.0], [2.0]])
    assert outputs.tolist() == [[1.0]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0], KEYS, VALUES), r"queries must have shape \[..., n, d\], .*\(1,\)"),
        ((QUERIES, KEYS[:, :0], VALUES), r"keys must have .*at least 1, got \(2, 0, 3"),
        ((QUERIES[..., :0], KEYS, VALUES), r"queries must have .* 1, got \(2, 5, 0\)"),
        (
            (QUERIES, KEYS, np.ones((3, 5, 4))),
            r"axes that broadcast, got \(2, 5, 3\), \(2, 5, 3\) and \(3, 5, 4\)",
        ),
        ((QUERIES * np.nan, KEYS, VALUES), "queries must be finite, got NaN"),
        ((QUERIES * 1e200, KEYS * 1e200, VALUES), "queries and keys must have finite"),
        ((QUERIES, KEYS[..., :2], VALUES), "queries and keys must have equally many"),
        ((QUERIES, KEYS, VALUES[:, :4]), "keys and values must have equally many rows"),
    ],
)
def test_shapes_that_do_not_fit(arguments, message):
    with pytest.raises(ValueError, match=message):
        attention(*arguments)


def test_a_causal_mask_needs_a_square():
    message = "causal attention must have as many keys as queries, got 5 keys and 2"
    with pytest.raises(ValueError, match=message):
        attention(QUERIES[0, :2], KEYS[0], VALUES[0], causal=True)


@pytest.mark.parametrize("name", CODES)
def test_head_weights_are_the_softmax_of_the_scores(name):
    table = CODES[name](9) / 4
    width = table.shape[1] + 1
    matrix = np.random.default_rng(1).standard_normal((width, width))
    weights = head_weights(table, matrix)
    for t in range(9):
        query = np.array([*table[t], 1])
        scores = [math.exp(query @ matrix @ np.array([*row, 1])) for row in table]
        np.testing.assert_allclose(weights[t], scores / np.sum(scores), rtol=1e-10)


@pytest.mark.parametrize(
    ("table", "matrix", "message"),
    [
        (np.ones(4), np.eye(2), "table must have shape"),
        (np.ones((4, 2)), np.eye(2), r"matrix must have shape \[3, d_model\], got"),
        (np.ones((4, 2)), np.ones((3, 4)), r"must have shape \[3, 3\] for codes of 2"),
        (np.full((4, 1), np.nan), np.eye(2), "table must be finite"),
    ],
)
def test_heads_that_do_not_fit_their_codes(table, matrix, message):
    with pytest.raises(ValueError, match=message):
        head_weights(table, matrix)


def test_hit_rate_counts_only_what_has_a_target():
    weights = np.eye(5)[[0, 0, 1, 0, 2]]  # queries 2 and 4 look one and two back
    assert hit_rate(weights, look_back(1)(5)) == 2 / 4
    assert hit_rate(weights, look_back(2)(5)) == 1 / 3
    assert hit_rate(weights, [9, 9, 9, 9, 2]) == 1


@pytest.mark.parametrize(
    ("less", "rate"), [(-1e-12, 0), (0, 0), (0.9e-9, 0), (1.1e-9, 1), (1e-6, 1)]
)
def test_a_draw_is_a_miss(less, rate):
    assert hit_rate([[0.5, 0.5 * (1 - less)], [0, 1]], [0, 5]) == rate


@pytest.mark.parametrize(
    ("weights", "targets", "error", "message"),
    [
        (np.ones((3, 2)), [0, 0, 0], ValueError, r"weights must have shape \[length"),
        (np.eye(3), [0, 0], ValueError, r"targets must have shape \(3,\), got \(2,\)"),
        (np.eye(3), [0.0, 1, 2], TypeError, "targets must be integers, got dtype"),
        (np.eye(3), [-1, 3, 9], ValueError, "targets must lie within 0 and 2"),
        (-np.eye(3), [0, 1, 2], ValueError, "weights must be finite and 0 or more"),
        (np.eye(3) / [[1], [np.inf], [1]] * np.nan, [0, 1, 2], ValueError, "got nan"),
        (np.ones((0, 0)), [], ValueError, r"shape \[length, length\], got \(0, 0\)"),
        (np.eye(3), [[0], [0, 1]], TypeError, "targets must be an array"),
    ],
)
def test_hit_rate_refuses(weights, targets, error, message):
    with pytest.raises(error, match=message):
        hit_rate(weights, targets)


@pytest.mark.parametrize("name", CODES)
def test_two_starting_points_one_optimum(name):
    encode, target = CODES[name], look_back(3)
    one = fit_head(encode, target)
    start = np.random.default_rng(2).standard_normal(one.shape)
    other = fit_head(encode, target, start=start)
    np.testing.assert_allclose(
        head_weights(encode(32), one), head_weights(encode(32), other), atol=1e-5
    )
    np.testing.assert_allclose(one, other, atol=1e-3)


def objective(matrix, encode, target, lengths, penalty):
    """What fit_head minimises, from its docstring, one query at a time."""
    losses = []
    for length in lengths:
        weights = head_weights(encode(length), matrix)
        for query, key in enumerate(target(length)):
            if 0 <= key < length:
                losses.append(-math.log(weights[query, key]))
    return np.mean(losses) + penalty / 2 * np.sum(matrix**2)


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("penalty", [1e-4, 1e-2])
def test_no_small_step_from_the_optimum_is_better(name, penalty):
    problem = CODES[name], look_back(2), (8, 12), penalty
    best = fit_head(*problem[:2], lengths=(8, 12), penalty=penalty)
    least = objective(best, *problem)
    for step in np.random.default_rng(3).standard_normal((20, *best.shape)):
        step *= 1e-2 / np.linalg.norm(step)
        assert objective(best + step, *problem) > least


def test_a_head_found_by_trying_them_all():
    """Two numbers of W matter for counting's target 'last': try a grid."""
    encode, problem = CODES["counting"], (lambda n: np.full(n, n - 1), (6,), 0.01)
    best = fit_head(encode, problem[0], lengths=(6,), penalty=0.01)
    least = objective(best, encode, *problem)
    for a in np.linspace(-1, 1, 21):
        for b in np.linspace(-1, 3, 41):
            tried = np.array([[a, 0], [b, 0]])
            assert objective(tried, encode, *problem) > least


EXPECTED = {  # rates at 32 and 128; scalar codes cannot do better than one query
    "counting": (1 / 29, 1 / 125),
    "normalised": (1 / 29, 1 / 125),
    "binary": (6 / 29, 0),
    "dials": (20 / 29, 10 / 125),
    "sinusoid": (1, 119 / 125),
}


@pytest.mark.parametrize("name", CODES)
def test_who_can_look_three_back(name):
    encode, target = CODES[name], look_back(3)
    best = fit_head(encode, target)
    for length, rate in zip((32, 128), EXPECTED[name], strict=True):
        found = hit_rate(head_weights(encode(length), best), target(length))
        assert found == pytest.approx(rate)


@pytest.mark.parametrize("name", ["counting", "normalised"])
def test_a_scalar_code_looks_at_an_end(name):
    """1000 random heads: the largest weight of every query is first or last."""
    table = CODES[name](40)
    for matrix in np.random.default_rng(4).standard_normal((1000, 2, 2)):
        assert set(head_weights(table, matrix).argmax(axis=1)) <= {0, 39}


def test_the_closed_form_head_looks_back_at_every_length():
    matrix = np.zeros((33, 33))
    matrix[:32, :32] = 10 * shift_matrix(3, 32)
    for length in (8, 32, 500):
        weights = head_weights(sinusoidal_table(length, 32), matrix)
        assert hit_rate(weights, look_back(3)(length)) == 1


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"encode": np.ones((16, 2))}, TypeError, "encode must be callable, got"),
        ({"target": 3}, TypeError, "target must be callable, got 3"),
        ({"lengths": ()}, ValueError, r"lengths must not be empty, got \(\)"),
        ({"lengths": (16, 1)}, ValueError, "all lengths must be at least 2, got 1"),
        ({"lengths": (16.0,)}, TypeError, "all lengths must be integers, got dtype fl"),
        ({"lengths": 16}, TypeError, "lengths must be a sequence of integers, got 16"),
        ({"penalty": 0}, ValueError, "penalty must be finite and above 0, got 0"),
        ({"penalty": np.nan}, ValueError, "penalty must be finite and above 0, got"),
        ({"start": np.eye(5)}, ValueError, r"start must have shape \[2, d_model\]"),
        ({"start": np.ones((2, 5))}, ValueError, r"start must have shape \[2, 2\]"),
        ({"target": lambda n: np.arange(n + 1)}, ValueError, r"target\(16\) must have"),
        ({"target": look_back(99)}, ValueError, r"target\(16\) must lie within 0"),
        ({"encode": np.eye}, ValueError, r"one width at every length, got widths \[16"),
        (
            {"encode": lambda n: np.zeros(n)},
            ValueError,
            r"encode\(16\) must have shape \[16, d_model\], got \(16,\)",
        ),
    ],
)
def test_fit_head_refuses(changed, error, message):
    arguments = {"encode": CODES["counting"], "target": look_back(3)} | changed
    with pytest.raises(error, match=message):
        fit_head(**arguments)


def test_a_search_that_finds_nothing_says_so():
    for factor in (1e80, 1e160, 1e300):
        with pytest.raises(RuntimeError, match=r"stopped early.* Scale the codes"):
            fit_head(lambda n, f=factor: f * counting(np.arange(n)), look_back(3))


@pytest.mark.parametrize(("slope", "fine"), [(0.9e-6, True), (1.1e-6, False)])
def test_the_gradient_decides_whether_the_search_is_over(monkeypatch, slope, fine):
    found = OptimizeResult(x=np.zeros(4), jac=np.full(4, -slope), message="enough")
    monkeypatch.setattr("pe_lib.attention.minimize", lambda *_, **__: found)
    if fine:
        assert not fit_head(CODES["counting"], look_back(1)).any()
    else:
        with pytest.raises(RuntimeError, match=r"gradient is 1.1e-06.*\(enough\)"):
            fit_head(CODES["counting"], look_back(1))


@pytest.mark.parametrize("kind", [list, np.array, lambda lengths: range(*lengths)])
def test_lengths_may_come_in_any_sequence(kind):
    found = fit_head(CODES["counting"], look_back(1), lengths=kind((8, 9)))
    lengths = tuple(int(length) for length in kind((8, 9)))
    expected = fit_head(CODES["counting"], look_back(1), lengths=lengths)
    np.testing.assert_array_equal(found, expected)


def test_scores_beyond_a_float_are_refused():
    with pytest.raises(ValueError, match="table and matrix must have finite scores"):
        head_weights(np.full((3, 1), 1e200), np.eye(2))


def test_the_search_begins_where_it_is_told(monkeypatch):
    begun = []

    def spy(loss, start, **options):
        begun.append(start)
        return minimize(loss, start, **options)

    monkeypatch.setattr("pe_lib.attention.minimize", spy)
    start = np.array([[1.0, 2.0], [3.0, 4.0]])
    fit_head(CODES["normalised"], look_back(1), start=start)
    fit_head(CODES["normalised"], look_back(1))
    assert [one.tolist() for one in begun] == [[1, 2, 3, 4], [0, 0, 0, 0]]
