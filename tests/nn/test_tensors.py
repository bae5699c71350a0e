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
    """The names of its array arguments."""
    return [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.annotation in (ArrayLike, ArrayLike | None)
        and parameter.kind is not parameter.VAR_POSITIONAL
    ]


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


def takes_arrays(parameter):
    """Whether a public function has an array argument that may not be left out."""
    (function,) = parameter.values
    return ArrayLike in getattr(function, "__annotations__", {}).values()


@pytest.mark.parametrize("function", [*filter(takes_arrays, public_functions())])
def test_a_tensor_is_taken_or_named(function):
    good = good_call(function)
    given = [name for name in arrays_of(function) if good[name] is not None]
    assert given, "the docstring's first example passes no array"
    for name in given:
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


def test_an_encoding_of_torch_is_measured():
    def learned(length):
        return torch.nn.Embedding(32, 4).weight[:length]

    assert scorecard({"learned": learned}, length=8)["learned"]["unique"].holds
