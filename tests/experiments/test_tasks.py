"""The toy tasks: their answers by plain Python, and what can be had without order."""

import itertools
from collections import Counter

import pytest
import torch

from pe_lib.experiments.tasks import (
    NO_ANSWER,
    NUM_TOKENS,
    TASKS,
    after_a_start,
    best_without_order,
)


def sample(name, length, count=50, seed=0):
    generator = torch.Generator().manual_seed(seed)
    tokens, answers = TASKS[name].draw(length, count, generator)
    return tokens.tolist(), answers.tolist()


def in_plain_python(name, row):
    """The answers to one sequence, from the words of the question."""
    n = len(row)
    if name == "copy":
        return [row[t - 3] if t >= 3 else NO_ANSWER for t in range(n)]
    if name == "previous":
        return [row[t - 1] if t >= 1 else NO_ANSWER for t in range(n)]
    if name == "reverse":
        return [NO_ANSWER if 2 * t == n - 1 else row[n - 1 - t] for t in range(n)]
    if name == "place":
        return row[5]
    if name == "order":
        assert row.count(0) == row.count(1) == 1
        return int(row.index(0) < row.index(1))
    assert name == "half" and row.count(0) == 1 and 2 * row.index(0) != n - 1
    return int(row.index(0) < n / 2)


@pytest.mark.parametrize("length", [6, 7, 16, 33])
@pytest.mark.parametrize("name", TASKS)
def test_the_answers_are_right(name, length):
    tokens, answers = sample(name, length)
    assert len(tokens) == len(answers) == 50
    for row, answer in zip(tokens, answers, strict=True):
        assert len(row) == length and set(row) <= set(range(NUM_TOKENS))
        assert answer == in_plain_python(name, row)


@pytest.mark.parametrize("name", TASKS)
def test_a_start_token_comes_before_a_shorter_sequence(name):
    """So that models with and without it read as many tokens."""
    task = after_a_start(TASKS[name])
    tokens, answers = task.draw(16, 20, torch.Generator().manual_seed(0))
    assert tokens.shape == (20, 16) and (tokens[:, 0] == task.tokens - 1).all()
    for row, answer in zip(tokens[:, 1:].tolist(), answers.tolist(), strict=True):
        wanted = in_plain_python(name, row)
        assert answer == (wanted if task.pooled else [NO_ANSWER, *wanted])


@pytest.mark.parametrize("name", TASKS)
def test_every_answer_occurs_about_equally_often(name):
    _, answers = sample(name, 16, 2000)
    flat = answers if TASKS[name].pooled else itertools.chain(*answers)
    counts = Counter(answer for answer in flat if answer != NO_ANSWER)
    assert set(counts) == set(range(TASKS[name].answers))
    assert max(counts.values()) < 1.5 * min(counts.values())


@pytest.mark.parametrize("name", ["order", "half"])
def test_the_special_tokens_stand_everywhere(name):
    tokens, _ = sample(name, 8, 2000)
    places = Counter(row.index(0) for row in tokens)
    assert set(places) == set(range(8))
    assert max(places.values()) < 1.5 * min(places.values())


@pytest.mark.parametrize("name", TASKS)
def test_drawing_uses_the_given_generator_and_no_other(name):
    before = torch.random.get_rng_state()
    assert sample(name, 16) == sample(name, 16) != sample(name, 16, seed=1)
    assert torch.equal(torch.random.get_rng_state(), before)


def best_by_counting(name, length):
    """The same ceiling: guess the most frequent of the candidates, and count hits."""
    tokens, answers = sample(name, length, 1000, seed=7)

    def guess(seen):  # ties go to the smallest token: the order must not help
        return max(sorted(set(seen)), key=seen.count)

    hits = guesses = 0
    for row, answer in zip(tokens, answers, strict=True):
        if TASKS[name].pooled:
            hits += guess(row) == answer
            guesses += 1
            continue
        for t, wanted in enumerate(answer):
            if wanted != NO_ANSWER:
                seen = row[:t] if TASKS[name].causal else row[:t] + row[t + 1 :]
                hits += guess(seen) == wanted
                guesses += 1
    return hits / guesses


@pytest.mark.parametrize("length", [6, 15])
@pytest.mark.parametrize("name", ["copy", "reverse", "place", "previous"])
def test_the_best_without_order(name, length):
    # "copy" asks three tokens less; hits of 1,000 sequences scatter by 1.5 % or less.
    assert abs(best_without_order(name, length) - best_by_counting(name, length)) < 0.03
