"""The batched trainer: members that do not meet, plugs that do what they say."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from pe_lib import plotting, sinusoidal_table
from pe_lib.beyond.bias import alibi_bias, t5_buckets
from pe_lib.beyond.rotary import apply_rotary
from pe_lib.experiments import training
from pe_lib.experiments.tasks import TASKS
from pe_lib.experiments.training import (
    SCHEMES,
    Ensemble,
    Scheme,
    Score,
    by_scheme,
    load,
    save,
    train,
)

LENGTH = 9


def ensemble(*names, task="copy", seeds=2, layers=1, lengths=(LENGTH,), trained=LENGTH):
    return Ensemble(
        TASKS[task],
        [SCHEMES[name] for name in names],
        seeds=seeds,
        layers=layers,
        token_std=0.7,
        trained_length=trained,
        lengths=lengths,
    )


def sequences(seeds=2, count=3, length=LENGTH):
    generator = torch.Generator().manual_seed(5)
    return torch.randint(16, (seeds, count, length), generator=generator)


def by_hand(model, member, tokens):
    """One member's logits for one sequence, in NumPy, loop by loop."""
    scheme = model.schemes[member // model.seeds]
    given = model.given[member % model.seeds]
    n = len(tokens)

    def of(parameter):
        return parameter[member].detach().double().numpy()

    def affine(name, layer, x):
        key = f"{name} {layer}"
        return x @ of(model.weight[key]) + of(model.bias[key])

    def normed(x):
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)

    x = of(model.tokens)[tokens]
    if scheme.learned:
        x = x + of(model.table)[:n]
    elif scheme.code:
        x = x + scheme.code(n, given)
    for layer in range(model.layers):
        y = normed(x)
        q, k, v = (affine(name, layer, y) for name in ("query", "key", "value"))
        seen = np.zeros_like(v)
        for h in range(2):
            own = slice(16 * h, 16 * h + 16)
            left, right = q[:, own], k[:, own]
            if scheme.rotary:
                left, right = (
                    apply_rotary(left, np.arange(n)),
                    apply_rotary(right, np.arange(n)),
                )
            scores = left @ right.T / 4
            for t, s in itertools.product(range(n), repeat=2):
                if scheme.bias == "alibi":
                    scores[t, s] += alibi_bias(n, 2)[h, t, s]
                if scheme.bias == "t5":
                    bucket = t5_buckets(s - t, causal=model.task.causal)
                    scores[t, s] += of(model.bucket_bias)[h, bucket]
                if model.task.causal and s > t:
                    scores[t, s] = -np.inf
            weights = np.exp(scores - scores.max(1, keepdims=True))
            seen[:, own] = weights / weights.sum(1, keepdims=True) @ v[:, own]
        x = x + affine("out", layer, seen)
        y = affine("up", layer, normed(x))
        x = x + affine("down", layer, np.maximum(y, 0))
    x = normed(x)
    if model.task.pooled:
        x = x.mean(0, keepdims=True)
    return x @ of(model.answer) + of(model.answer_bias)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("task", ["copy", "previous", "order"])
def test_every_member_is_the_transformer_that_its_scheme_says(task, layers):
    model = ensemble(*SCHEMES, task=task, layers=layers)
    with torch.no_grad():
        for parameter in model.parameters():  # biases too, which start at 0
            noise = torch.Generator().manual_seed(3)
            parameter += 0.3 * torch.randn(parameter.shape, generator=noise)
        tokens = sequences()
        logits = model(tokens).double().numpy()
    logits = logits.reshape(model.members, 3, -1, logits.shape[-1])
    for member, sequence in itertools.product(range(model.members), range(3)):
        expected = by_hand(model, member, tokens[member % 2, sequence].numpy())
        np.testing.assert_allclose(logits[member, sequence], expected, atol=2e-4)


# The members


def test_members_of_one_seed_start_alike_and_of_two_seeds_do_not():
    model = ensemble("none", "rotary", "sinusoid")
    for name, parameter in model.named_parameters():
        if name.startswith("weight") or name in ("tokens", "answer", "bucket_bias"):
            seed_0, seed_1 = parameter[0::2], parameter[1::2]
            assert (seed_0 == seed_0[:1]).all() and (seed_1 == seed_1[:1]).all()
            assert not torch.equal(seed_0[0], seed_1[0])


def test_the_loss_of_one_member_leaves_the_others_alone():
    model = ensemble("none", "learned", "T5 bias")
    logits = model(sequences())
    logits[2].square().sum().backward()  # the first seed of "learned"
    for name, parameter in model.named_parameters():
        moved = parameter.grad.flatten(1).abs().amax(1) > 0
        assert not moved[[0, 1, 3, 4, 5]].any(), name
        assert moved[2] or name.startswith(("bucket", "bias.key")), name


def test_a_member_alone_trains_as_in_company():
    """But for rounding: a product of more members may add in another order."""
    alone = ensemble("sinusoid", seeds=1)
    company = ensemble("none", "sinusoid", "ALiBi", seeds=3)
    for model in (alone, company):
        training._fit(model, 5, (LENGTH, LENGTH), None)
    for name, parameter in alone.named_parameters():
        other = dict(company.named_parameters())[name]
        # Adam's first steps follow the sign of a gradient: near 0 it may be noise.
        close = (parameter[0] - other[3]).abs() < 1e-3
        assert close.float().mean() > 0.98, name
        if name.startswith("weight"):
            assert (parameter[0] - other[4]).abs().max() > 0.1  # another seed


def test_only_learned_tables_and_t5s_bias_are_trained():
    model = ensemble("sinusoid", "learned", "T5 bias", seeds=1)
    tables, biases = model.table.detach().clone(), model.bucket_bias.detach().clone()
    training._fit(model, 3, (LENGTH, LENGTH), None)
    moved = [(model.table[i] != tables[i]).any().item() for i in range(3)]
    assert moved == [False, True, False]
    moved = [(model.bucket_bias[i] != biases[i]).any().item() for i in range(3)]
    assert moved == [False, False, True]


def test_every_seed_sees_sequences_of_its_own_and_every_step_new_ones():
    model = ensemble("none", seeds=3)
    seen = []
    model.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    training._fit(model, 2, (LENGTH, LENGTH), None)
    drawn = [rows for step in seen for rows in step]
    assert len(drawn) == 6
    assert not any(torch.equal(a, b) for a, b in itertools.combinations(drawn, 2))


def test_tokens_without_an_answer_do_not_count():
    """At length 4 one token in four has an answer; untrained, few are right."""
    rows = train("copy", ["none"], steps=1, train_lengths=(4, 4), test_lengths=(4,))
    assert max(row.accuracy for row in rows) < 0.2


# The codes


def code(name, length=24, trained=24, longest=64):
    model = ensemble(name, seeds=1, lengths=(length, longest), trained=trained)
    scheme = SCHEMES[name]
    return np.asarray(scheme.code(length, model.given[0])), model.given[0]


@pytest.mark.parametrize("name", ["counting", "normalised", "binary", "random"])
def test_codes_are_as_loud_as_a_sinusoid_in_training(name):
    loud = np.sqrt(np.mean(np.sum(code(name)[0] ** 2, axis=1)))
    exact = 4 if name != "random" else pytest.approx(4, rel=0.1)
    assert loud == (pytest.approx(4) if name != "random" else exact)
    np.testing.assert_allclose((code("sinusoid")[0] ** 2).sum(1), 16)


def test_the_codes_themselves():
    table, given = code("counting")
    steps = np.diff(table, axis=0)
    np.testing.assert_allclose(steps, np.tile(steps[:1], (23, 1)))
    np.testing.assert_allclose(table[0], 0, atol=1e-12)
    assert np.linalg.norm(given.direction) == pytest.approx(1)
    np.testing.assert_array_equal(code("counting, raw")[0][7], np.full(32, 7.0))
    np.testing.assert_array_equal(code("sinusoid")[0], sinusoidal_table(24, 32))
    # The last position of every length has one code, and counting has not.
    ends = [code("normalised", length)[0][-1] for length in (8, 24, 64)]
    np.testing.assert_allclose(ends, np.tile(ends[0], (3, 1)))
    ends = [code("counting", length)[0][-1] for length in (8, 24)]
    np.testing.assert_allclose(ends[1] * 7, ends[0] * 23)
    # The digits of 5 are 101, and six are enough for 64 positions.
    digits = np.sign(code("binary")[0])
    assert digits[5].tolist() == [1, -1, 1, -1, -1, -1] + 26 * [0]


def test_learned_tables_start_where_they_say():
    names = ["random", "learned", "learned, quiet", "learned from sinusoid"]
    model = ensemble(*names, seeds=1)
    noise = model.given[0].noise
    np.testing.assert_array_equal(model.table[0].detach(), 0)
    np.testing.assert_allclose(model.table[1].detach(), 0.5**0.5 * noise, rtol=1e-6)
    np.testing.assert_allclose(model.table[2].detach(), 0.02 * noise, rtol=1e-6)
    np.testing.assert_allclose(
        model.table[3].detach(), sinusoidal_table(LENGTH, 32), atol=1e-7
    )


# Training


def accuracies(rows):
    return [row.accuracy for row in rows]


def test_the_same_call_gives_the_same_bits_and_leaves_no_trace():
    torch.manual_seed(123)
    before = torch.random.get_rng_state()
    settings = {"steps": 20, "seeds": 2, "test_lengths": (16, 24)}
    first = train("copy", ["sinusoid", "learned", "T5 bias"], **settings)
    torch.manual_seed(456)
    again = train("copy", ["sinusoid", "learned", "T5 bias"], **settings)
    assert first == again
    torch.manual_seed(123)
    train("copy", ["none"], steps=1, seeds=1)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert len(set(accuracies(first))) > 6  # seeds, schemes and lengths differ
    longer = train(
        "copy", ["sinusoid", "learned", "T5 bias"], **settings | {"steps": 21}
    )
    assert accuracies(longer) != accuracies(first)


def test_it_learns_what_can_be_learned_and_nothing_else():
    rows = train("place", ["none", "learned"], steps=150, seeds=2)
    found = by_scheme(rows, 16)
    assert found["learned"].min() > 0.9
    assert found["none"].max() < 0.3


def test_few_examples_are_learned_by_heart():
    settings = {"steps": 100, "seeds": 2, "train_lengths": (16, 16)}
    few = train("place", ["learned"], examples=4, **settings)
    many = train("place", ["learned"], **settings)
    assert max(accuracies(few)) < 0.5 < 0.9 < min(accuracies(many))


def test_rows_come_in_order_and_a_scheme_of_ones_own_is_welcome():
    own = {"mine": Scheme(lambda n, _: np.zeros((n, 32))), "none": SCHEMES["none"]}
    rows = train("order", own, steps=3, seeds=2, test_lengths=(16, 8))
    assert [(r.scheme, r.seed, r.length) for r in rows] == [
        (scheme, seed, length)
        for scheme in ("mine", "none")
        for seed in (0, 1)
        for length in (16, 8)
    ]
    assert {r.task for r in rows} == {"order"}
    halves = by_scheme(rows, 8)
    np.testing.assert_array_equal(halves["mine"], halves["none"])  # 0 changes nothing


GOOD = {"task": "copy", "schemes": ["none"], "steps": 1, "seeds": 1}
BAD = [
    ("task", "sort", ValueError, "'copy' or", "'sort'"),
    ("task", None, ValueError, "'copy' or", "None"),
    ("schemes", ["none", "rope"], ValueError, "'none' or", "'rope'"),
    ("schemes", "none", TypeError, "a sequence", "'none'"),
    ("schemes", 3, TypeError, "a sequence", "3"),
    ("schemes", [], ValueError, "not be empty", r"\[\]"),
    ("schemes", {}, ValueError, "not be empty", "none"),
    ("schemes", ["none", "none"], ValueError, "different", "'none', 'none'"),
    ("schemes", {"a": "none"}, TypeError, "map names to Scheme", "'none'"),
    ("schemes", {"a": Scheme(bias="T5")}, ValueError, "'alibi' or 't5'", "'T5'"),
    ("steps", 0, ValueError, "at least 1", "0"),
    ("steps", 2.0, TypeError, "an integer", "2.0"),
    ("seeds", 0, ValueError, "at least 1", "0"),
    ("layers", 0, ValueError, "at least 1", "0"),
    ("train_lengths", (3, 24), ValueError, "within 4 and 1024", "3"),
    ("train_lengths", (8, 2000), ValueError, "within 4 and 1024", "2000"),
    ("train_lengths", (24, 8), ValueError, "not fall", r"\(24, 8\)"),
    ("train_lengths", (8,), ValueError, "two lengths", r"\(8,\)"),
    ("train_lengths", 8, TypeError, "a sequence", "8"),
    ("test_lengths", (16, 3), ValueError, "within 4 and 1024", "3"),
    ("test_lengths", (), ValueError, "not be empty", r"\(\)"),
    ("test_lengths", 16, TypeError, "a sequence", "16"),
    ("token_std", 0, ValueError, "finite and above 0", "0"),
    ("token_std", float("nan"), ValueError, "finite and above 0", "nan"),
    ("token_std", "1", TypeError, "real numbers", "<U1"),
    ("token_std", [1, 2], TypeError, "a single number", r"shape \(2,\)"),
    ("examples", 0, ValueError, "at least 1", "0"),
]


@pytest.mark.parametrize(("name", "value", "error", "must", "came"), BAD)
def test_bad_input_is_refused_before_training(
    name, value, error, must, came, monkeypatch
):
    def never(*_):
        raise AssertionError("trained")

    monkeypatch.setattr(training, "_fit", never)
    named = "bias" if "alibi" in must else name
    with pytest.raises(error, match=f"{named} must .*{must}.*got .*{came}"):
        train(**GOOD | {name: value})


@pytest.mark.parametrize(
    ("code", "error", "message"),
    [
        (lambda n, _: np.zeros((n, 8)), ValueError, r"\(9, 32\), got \(9, 8\)"),
        (lambda n, _: np.full((n, 32), np.nan), ValueError, "finite"),
        (lambda n, _: np.zeros((n, 32), bool), TypeError, "got dtype bool"),
    ],
)
def test_codes_that_cannot_be_added_are_refused(code, error, message, monkeypatch):
    monkeypatch.setattr(training, "_fit", None)
    for learned in (False, True):
        with pytest.raises(error, match=f"code must .*{message}"):
            train(
                "copy",
                {"mine": Scheme(code, learned=learned)},
                steps=1,
                train_lengths=(9, 9),
                test_lengths=(9,),
            )


def test_examples_need_one_length():
    with pytest.raises(
        ValueError, match=r"train_lengths must be one length.*\(8, 24\)"
    ):
        train(**GOOD, examples=5)


# Results


def test_scores_survive_a_file(tmp_path):
    rows = [Score("copy", "counting, raw", 0, 16, 0.125), Score("copy", "a", 1, 8, 1.0)]
    save(rows, tmp_path / "a.csv", command="python make.py")
    assert load(tmp_path / "a.csv") == rows
    lines = (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()
    assert lines[:2] == ["# python make.py", "task,scheme,seed,length,accuracy"]
    assert lines[2] == 'copy,"counting, raw",0,16,0.1250'
    with pytest.raises(ValueError, match="scores must not be empty, got none"):
        save([], tmp_path / "b.csv", command="")
    assert not (tmp_path / "b.csv").exists()


def test_by_scheme_keeps_seeds_in_order_and_refuses_an_unknown_length():
    rows = [Score("copy", "a", seed, n, seed + n) for seed in (0, 1) for n in (8, 16)]
    assert by_scheme(rows, 16)["a"].tolist() == [16, 17]
    with pytest.raises(ValueError, match="scores must have rows of length 9, got none"):
        by_scheme(rows, 9)


def test_the_figure_shows_every_seed_and_the_line():
    fig, axes = plt.subplots()
    plotting.seed_dots(axes, {"a": [0.104, 0.5], "b": [1.0, 1.0]}, chance=0.2)
    first, second, line = axes.lines
    assert first.get_xdata().tolist() == [0.1, 0.5]
    assert second.get_xdata().tolist() == [1, 1]
    assert len(set(second.get_ydata())) == 2  # both are visible
    assert set(line.get_xdata()) == {0.2}
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first on top
    plt.close(fig)
