"""Every array argument of the core takes a tensor, or is named by the error."""

import inspect
import re

import numpy as np
import pytest
import torch
from numpy.typing import ArrayLike

from pe_lib import scorecard, sinusoidal
from tests.core.test_arguments import good_call, public_functions


def arrays_of(function):
    """The names of its array arguments, and the good call that they belong to."""
    good = good_call(function)
    for name, parameter in inspect.signature(function).parameters.items():
        given = (
            good[name] is not None and parameter.kind is not parameter.VAR_POSITIONAL
        )
        if given and parameter.annotation in (ArrayLike, ArrayLike | None):
            yield name, good


def as_tensors(value):
    """Of the same numbers: as torch has them, to be trained, and in bfloat16."""
    plain = torch.from_numpy(np.array(value))
    yield plain
    if plain.is_floating_point():
        yield plain.clone().requires_grad_()
        yield torch.nn.Parameter(plain)
        yield plain.bfloat16()


def same(found, right):
    parts = (
        zip(found, right, strict=True) if isinstance(right, tuple) else [(found, right)]
    )
    for one, other in parts:
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))


@pytest.mark.parametrize("function", list(public_functions()))
def test_a_tensor_is_taken_or_named(function):
    for name, good in arrays_of(function):
        for tensor in as_tensors(good[name]):
            low = tensor.dtype == torch.bfloat16
            usual = (tensor.float() if low else tensor).detach().numpy()
            try:
                found = function(**good | {name: tensor})
            except (TypeError, ValueError) as error:
                assert re.search(rf"\b{name}\b.* must .*got", str(error)), error
                assert low, (name, "an ordinary tensor was refused")
            else:
                same(found, function(**good | {name: usual}))


@pytest.mark.parametrize(
    "bad",
    [
        torch.ones(2, 2, device="meta"),
        torch.ones(2, 2).to_sparse(),
        [torch.ones(2, requires_grad=True), torch.ones(3)],
        torch.ones(2, dtype=torch.complex64),
    ],
)
def test_a_tensor_that_has_no_numbers_is_named(bad):
    with pytest.raises(TypeError, match=r"positions must be .* got"):
        sinusoidal(bad, 4)


def test_the_scorecard_says_why_a_row_is_unknown():
    def broken(length):
        raise RuntimeError(f"no table of {length}")

    card = scorecard(
        {"broken": broken, "sine": lambda n: sinusoidal(range(n), 4)}, length=8
    )
    assert "?  RuntimeError: no table of 8" in str(card)
    assert "RuntimeError: no table of 8" in card._repr_html_()
    assert list(card.notes) == ["broken"]


def test_an_encoding_of_torch_is_measured():
    def learned(length):
        return torch.nn.Embedding(32, 4).weight[:length]

    assert scorecard({"learned": learned}, length=8)["learned"]["unique"].holds
