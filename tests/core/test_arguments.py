"""Bad input: every argument of every public function, and the error it gets.

Each error names the argument, says what it must be and what came. The functions are
found; the good call, of which one argument at a time is spoilt, is the first example
of the function's own docstring.
"""

import doctest
import importlib
import inspect
import pkgutil
import re
import sys

import numpy as np
import pytest
from numpy.typing import ArrayLike, DTypeLike

import pe_lib
from pe_lib import (
    angular_frequencies,
    beyond,
    fit_shift,
    geometry,
    shift_matrix,
    sinusoidal,
    sinusoidal_table,
)
from tests.core.optional import BFLOAT16

NAN, INF = float("nan"), float("inf")
LIMIT = 2**31
TABLE = np.random.default_rng(0).standard_normal((20, 4))
FLOATS = "float64, float32, float16, bfloat16"


def public_functions():
    """Those that take numbers; drawings take axes, and guarantees methods."""
    for package in (pe_lib, beyond):
        for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            short = found.name.rpartition(".")[2]
            if short[0] == "_" or short in {"plotting", "guarantees"} or found.ispkg:
                continue
            try:
                module = importlib.import_module(found.name)
            except ModuleNotFoundError as missing:  # scipy
                mark = pytest.mark.skip(reason=str(missing))
                yield pytest.param(None, id=short, marks=mark)
                continue
            for name, value in vars(module).items():
                ours = getattr(value, "__module__", "") == found.name
                if ours and inspect.isfunction(value) and not name.startswith("_"):
                    yield pytest.param(value, id=f"{short}.{name}")


def good_call(function):
    """The arguments of the first call in its examples, with its defaults."""
    calls = []

    def hook(frame, event, _):
        if event == "call" and frame.f_code is function.__code__:
            calls.append(dict(frame.f_locals))

    names = dict(vars(sys.modules[function.__module__]))
    parse = doctest.DocTestParser().get_doctest
    examples = parse(inspect.getdoc(function) or "", names, "examples", None, None)
    before = sys.getprofile()
    sys.setprofile(hook)
    try:
        run = doctest.DocTestRunner(verbose=False).run
        run(examples, out=lambda _: None, clear_globs=False)
    finally:
        sys.setprofile(before)
    assert calls, f"the docstring of {function.__name__} needs an example that calls it"
    return calls[0]


# What no argument accepts; what none of a kind does; what some accept.
NEVER = [
    *(object(), "no such word", "1", 1j, NAN, INF, -INF, 10**400, -(2**64)),
    *([[0], [0, 1]], np.ones(3, complex), {"a": TABLE}, {1: np.sin}, [np.sin]),
    *(np.ones, lambda n: np.ones(n), lambda n: np.full((n, 2), NAN)),
]
NEVER_A = {
    int: [1.0, 2.0, True, [1, 2]],
    float: [True, [10, 100]],
    bool: [0, 1, "True"],
    str: ["Paper", ["paper"], "vaswani2017"],
    ArrayLike: [True, np.ma.masked_equal([1.0, 2.0], 2)],
    DTypeLike: [int, np.complex64, np.longdouble, "float8", None],
}
SOMETIMES = [
    *(0, -1, 0.5, 1, 3, LIMIT + 0.5, -LIMIT - 1, [], [0, NAN], [1, 1.5], [1, 4]),
    *(np.ones((2, 2, 2, 2, 2)), np.ones((0, 4)), np.ones((20, 3)), np.ones((5, 4))),
    *(np.full((20, 4), NAN), np.ones((9, 2), np.int64), TABLE),
    *(lambda n: np.ones((n + 1, 2)), lambda n: np.arange(n) / 2),
]


def larger(value):
    """Numbers with one row more, and with one column more, where there are any."""
    array = np.asarray(value)
    if array.dtype.kind in "iuf" and array.ndim:
        yield np.concatenate([array, array[:1]])
        yield np.concatenate([array, array[..., :1]], axis=-1)


def below_what_is_said(function, argument):
    """One less than the docstring's "If `argument` is below 1"."""
    said = " ".join((function.__doc__ or "").split())
    for least in re.findall(rf"`{argument}` is ([a-z]+ )*below (\d+)", said):
        yield int(least[-1]) - 1


def test_a_masked_array_is_an_array_where_nothing_is_masked():
    given = np.ma.array([1.0, 2.0])
    assert (geometry.similarity(given, 4) == geometry.similarity([1.0, 2.0], 4)).all()


@pytest.mark.parametrize("function", list(public_functions()))
def test_the_error_names_the_argument_the_rule_and_the_value(function):
    signature = inspect.signature(function)
    good = good_call(function)
    for argument, parameter in signature.parameters.items():
        kind = parameter.annotation
        never = [x for a in NEVER_A if kind in (a, a | None) for x in NEVER_A[a]]
        never += [*NEVER, *below_what_is_said(function, argument)]
        sometimes = [*SOMETIMES, *larger(good[argument])]
        tries = [(bad, argument) for bad in never] + [
            (bad, r"\w+") for bad in sometimes
        ]
        for bad, named in tries:
            call = signature.bind_partial()
            several = parameter.kind is parameter.VAR_POSITIONAL
            call.arguments |= good | {argument: (bad,) if several else bad}
            try:
                function(*call.args, **call.kwargs)
            except (TypeError, ValueError) as error:
                message = rf"\b{named}\w*\b.* must .*\bgot |must be given|be left out"
                assert re.search(message, str(error)), (argument, bad, error)
            except ModuleNotFoundError as missing:  # scipy, in one function
                pytest.skip(str(missing))
            else:
                assert named != argument, (argument, bad, "was accepted")


@pytest.mark.parametrize("position", [LIMIT, -LIMIT, LIMIT - 0.5, 0, -0.0, 5e-324])
def test_positions_and_offsets_within_the_limit_are_accepted(position):
    assert np.isfinite(sinusoidal(position, 4)).all()
    assert np.isfinite(shift_matrix(position, 4)).all()


@pytest.mark.parametrize("base", [1.0000001, 2, np.float32(500), np.int64(7), 1e300])
def test_any_number_above_1_is_a_base(base):
    expected = angular_frequencies(8, base=float(base))
    np.testing.assert_array_equal(angular_frequencies(8, base=base), expected)


@pytest.mark.parametrize(
    "kind", [int, np.int8, np.int64, np.uint8, np.array, "a tensor"]
)
def test_any_integer_is_an_integer(kind):
    if kind == "a tensor":
        kind = pytest.importorskip("torch").tensor
    np.testing.assert_array_equal(sinusoidal(1, kind(6)), sinusoidal(1, 6))
    np.testing.assert_array_equal(
        sinusoidal_table(kind(3), 6, start=kind(2)), sinusoidal_table(3, 6, start=2)
    )
    np.testing.assert_array_equal(shift_matrix(2, kind(6)), shift_matrix(2, 6))
    np.testing.assert_array_equal(fit_shift(TABLE, kind(2))[0], fit_shift(TABLE, 2)[0])


@pytest.mark.parametrize(
    "dtype",
    ["float32", np.float32, np.dtype("float32"), "bfloat16", BFLOAT16],
)
def test_a_dtype_may_be_spelt_in_any_way_that_numpy_knows(dtype):
    if dtype == "bfloat16":  # NumPy knows it from then on
        pytest.importorskip("ml_dtypes")
    assert sinusoidal(1, 4, dtype=dtype).dtype == np.dtype(dtype)


@pytest.mark.parametrize("name", ["float32", "bfloat16"])
@pytest.mark.parametrize("function", [sinusoidal, sinusoidal_table])
def test_a_dtype_of_torch_is_none_of_numpys(function, name):
    dtype = getattr(pytest.importorskip("torch"), name)
    with pytest.raises(TypeError, match=f"dtype must be .*{FLOATS}; got torch.{name}"):
        function(3, 4, dtype=dtype)
