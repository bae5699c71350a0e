"""The ensemble: members that do not meet, position terms that do what they say."""

import itertools

import numpy as np
import pytest
import torch

from pe_lib.beyond.bias import t5_buckets
from pe_lib.beyond.rotary import apply_rotary
from pe_lib.experiments.schemes import SCHEMES
from tests.experiments.helpers import LENGTH, ensemble, sequences


def by_hand(model, member, tokens):
    """One member's logits for one sequence, in NumPy, loop by loop."""
    scheme = model.schemes[member // model.seeds]
    context = model.contexts[member % model.seeds]
    n = len(tokens)

    def of(parameter):
        return parameter[member].detach().double().numpy()

    def affine(name, layer, x):
        key = f"{name}{layer}"
        return x @ of(model.maps[key]) + of(model.biases[key])

    def normed(x):
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)

    x = of(model.tokens)[tokens]
    half = x.shape[-1] // 2
    if scheme.learned:
        x = x + of(model.table)[:n]
    elif scheme.encode:
        x = x + scheme.encode(n, context)
    for layer in range(model.layers):
        y = normed(x)
        q, k, v = (affine(name, layer, y) for name in ("query", "key", "value"))
        seen = np.zeros_like(v)
        for h in range(2):
            head = slice(half * h, half * h + half)
            left, right = q[:, head], k[:, head]
            if scheme.rotary:
                left, right = (
                    apply_rotary(left, np.arange(n)),
                    apply_rotary(right, np.arange(n)),
                )
            scores = left @ right.T / np.sqrt(half)
            for t, s in itertools.product(range(n), repeat=2):
                if scheme.bias == "alibi":
                    slopes = scheme.slopes or (1 / 16, 1 / 256)
                    scores[t, s] -= slopes[h] * abs(t - s)
                if scheme.bias == "t5":
                    bucket = t5_buckets(s - t, causal=model.task.causal)
                    learned = of(model.bucket_bias)[h, bucket]
                    scores[t, s] += scheme.t5_scale * learned
                if model.task.causal and s > t:
                    scores[t, s] = -np.inf
            weights = np.exp(scores - scores.max(1, keepdims=True))
            seen[:, head] = weights / weights.sum(1, keepdims=True) @ v[:, head]
        x = x + affine("out", layer, seen)
        y = affine("up", layer, normed(x))
        x = x + affine("down", layer, np.maximum(y, 0))
    x = normed(x)
    if model.task.pooled:
        x = x.mean(0, keepdims=True)
    return x @ of(model.maps["answer"]) + of(model.biases["answer"])


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("task", ["copy", "previous", "order"])
def test_every_member_is_the_transformer_that_its_scheme_says(task, layers):
    model = ensemble(*SCHEMES, task=task, layers=layers)
    with torch.no_grad():
        for parameter in model.parameters():  # biases too, which start at 0
            noise = torch.Generator().manual_seed(3)
            parameter += 0.3 * torch.randn(parameter.shape, generator=noise)
        tokens = sequences()
        logits = model.logits(tokens).double().numpy()
    logits = logits.reshape(model.members, 3, -1, logits.shape[-1])
    for member in range(model.members):
        sequence = member % 3
        expected = by_hand(model, member, tokens[member % 2, sequence].numpy())
        np.testing.assert_allclose(logits[member, sequence], expected, atol=2e-4)


def test_members_of_one_seed_start_alike_and_of_two_seeds_do_not():
    model = ensemble("none", "rotary", "sinusoid")
    for name, parameter in model.named_parameters():
        if name.startswith("maps") or name in ("tokens", "bucket_bias"):
            seed_0, seed_1 = parameter[0::2], parameter[1::2]
            assert (seed_0 == seed_0[:1]).all() and (seed_1 == seed_1[:1]).all()
            assert not torch.equal(seed_0[0], seed_1[0])


NAMES = ["none", "binary", "sinusoid", "learned", "rotary", "t5", "alibi"]


@pytest.mark.parametrize("task", ["copy", "previous"])
def test_tokens_are_where_they_are_said_to_be(task):
    """At 0, 1, 2 ... as usual; later, only what is added to tokens is different."""
    model, tokens = ensemble(*NAMES, task=task, longest=LENGTH + 5), sequences()
    with torch.no_grad():
        usual, given, later = (model.logits(tokens, start) for start in (None, 0, 5))
    torch.testing.assert_close(given, usual)
    off = (later - usual).abs().amax((1, 2))[::2] > 0.01
    assert off.tolist() == [name in NAMES[1:4] for name in NAMES]
