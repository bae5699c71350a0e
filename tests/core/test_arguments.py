"""Bad input: every argument of every public function, and the error it gets.

Each error names the argument, says what it must be and what came.
"""

import inspect
import re

import numpy as np
import pytest

import pe_lib
from pe_lib import (
    angular_frequencies,
    apply_shift,
    attention,
    conventions,
    conversions,
    fit_shift,
    geometry,
    layouts,
    naive,
    properties,
    shift_matrix,
    sinusoidal,
    sinusoidal_table,
)
from pe_lib.beyond import bias, rotary
from tests.core.optional import BFLOAT16

try:
    from pe_lib import fit

    NEED_SCIPY: set[str] = set()
except ModuleNotFoundError:
    fit, NEED_SCIPY = None, {"fit_head", "decay_law"}

NAN, INF = float("nan"), float("inf")
LIMIT = 2**31
TABLE = np.random.default_rng(0).standard_normal((20, 4))

GOOD = {
    "angular_frequencies": {"d_model": 4},
    "wavelengths": {"d_model": 4},
    "layout_columns": {"d_model": 4, "layout": "interleaved"},
    "sinusoidal": {"positions": [0, 1], "d_model": 4},
    "sinusoidal_table": {"length": 3, "d_model": 4},
    "shift_matrix": {"offset": 1, "d_model": 4},
    "apply_shift": {"encodings": TABLE, "offset": 1},
    "fit_shift": {"table": TABLE, "offset": 1},
    "scorecard": {"encodings": {"counting": naive.counting}, "length": 8},
    "counting": {"positions": [0, 1]},
    "normalized": {"positions": [0, 1], "length": 3},
    "binary": {"positions": [0, 1], "bits": 2},
    "gray": {"positions": [0, 1], "bits": 2},
    "dials": {"positions": [0, 1], "count": 2},
    "attention": {"queries": TABLE, "keys": TABLE, "values": TABLE},
    "look_back": {"lag": 3},
    "softmax": {"scores": [[1.0, 2.0]]},
    "head_weights": {"table": TABLE, "matrix": np.eye(5)},
    "hit_rate": {"weights": np.eye(3), "targets": [0, 1, 2]},
    "fit_head": {"encode": lambda n: np.ones((n, 8)), "target": attention.look_back(3)},
    "similarity": {"offsets": [0, 1], "d_model": 4},
    "distance": {"offsets": [0, 1], "d_model": 4},
    "distance_map": {"table": TABLE},
    "apply_rotary": {"vectors": TABLE, "positions": np.arange(20)},
    "rotary_frequencies": {"head_dim": 8},
    "convert_rotary_weight": {
        "weight": TABLE,
        "num_heads": 5,
        "source": "interleaved",
        "target": "half_split",
    },
    "alibi_slopes": {"num_heads": 6},
    "alibi_bias": {"length": 3, "num_heads": 6},
    "t5_buckets": {"offsets": [0, 1]},
    "nearest_other": {"d_model": 4, "within": 10},
    "first_rise": {"d_model": 4},
    "decay_law": {"offsets": [0, 1]},
    "convention_table": {"convention": "paper", "length": 3, "d_model": 4},
    "find_conversion": {
        "source": "paper",
        "target": "kernes",
        "length": 3,
        "d_model": 4,
    },
    "convert": {"table": TABLE, "source": "paper", "target": "kernes"},
    **{
        name.replace(" ", "_"): {"encode": lambda n: np.ones((n, 2)), "length": 8}
        for name in properties.CRITERIA
    },
}
FUNCTIONS = {
    name: getattr(module, name)
    for module in (
        pe_lib,
        naive,
        attention,
        fit,
        properties,
        geometry,
        conventions,
        conversions,
        bias,
        rotary,
        layouts,
    )
    for name in GOOD.keys() - NEED_SCIPY
    if inspect.isfunction(getattr(module, name, None))
}

WITHIN = "within -2**31 and 2**31"
FLOATS = "float64, float32, float16, bfloat16"
NUMBERS = [
    (NAN, ValueError, "finite", "nan"),
    (-INF, ValueError, "finite", "-inf"),
    (-LIMIT - 1, ValueError, WITHIN, "-2147483649"),
    (LIMIT + 0.5, ValueError, WITHIN, "2147483648.5"),
    (True, TypeError, "real numbers", "bool"),
    ("1", TypeError, "real numbers", "<U1"),
]

COUNTS = [
    (0, ValueError, "at least 1", "0"),
    (2.0, TypeError, "an integer", "2.0"),
    (True, TypeError, "an integer", "True"),
]
FLAGS = [(1, TypeError, "True or False", "1")]
DIGITS = [
    *NUMBERS,
    (-1, ValueError, "whole numbers from 0 on", "-1"),
    ([1, 1.5], ValueError, "whole numbers from 0 on", "1.5"),
]
ARRAYS = [
    (np.ones(4), ValueError, "shape [..., n, d]", "(4,)"),
    (np.full((20, 4), 1j), TypeError, "real numbers", "complex128"),
    (np.ones((0, 4)), ValueError, "n and d at least 1", "(0, 4)"),
    (np.full((20, 4), NAN), ValueError, "finite", "NaN"),
]

TABLES = [
    (1.0, ValueError, "shape [length, d_model]", "()"),
    (np.ones((9, 2, 2)), ValueError, "shape [length, d_model]", "(9, 2, 2)"),
    (np.full((9, 4), NAN), ValueError, "finite", "NaN"),
    (np.ones((9, 4), bool), TypeError, "real numbers", "bool"),
]

TEXTS = [
    ("Paper", ValueError, "'paper' or 'tensor2tensor' or", "'Paper'"),
    ("vaswani2017", ValueError, "or 'notebook_text'", "'vaswani2017'"),
]

# argument, or function.argument: value, error, what it must be, what came
BAD = {
    "d_model": [*COUNTS, ("4", TypeError, "an integer", "'4'")],
    "length": [
        (-1, ValueError, "at least 0", "-1"),
        (3.0, TypeError, "an integer", "3.0"),
    ],
    "start": [
        (0.0, TypeError, "an integer", "0.0"),
        (LIMIT + 1, ValueError, WITHIN, "2147483649"),
        (-LIMIT - 1, ValueError, WITHIN, "-2147483649"),
    ],
    "positions": [
        *NUMBERS,
        ([0, NAN], ValueError, "finite", "nan"),
        ([[0, 1], [LIMIT + 1, 2]], ValueError, WITHIN, "2147483649"),
        ([[0], [0, 1]], TypeError, "rows of equal length", "[[0], [0, 1]]"),
        ([True, False], TypeError, "real numbers", "bool"),
    ],
    "offset": [
        *NUMBERS,
        ([1, 2], TypeError, "a single number", "shape (2,)"),
    ],
    "fit_shift.offset": [(1.0, TypeError, "an integer", "1.0")],
    "base": [
        (1, ValueError, "finite and above 1", "1"),
        (NAN, ValueError, "finite and above 1", "nan"),
        (INF, ValueError, "finite and above 1", "inf"),
        ("x", TypeError, "real numbers", "<U1"),
        ([10, 100], TypeError, "a single number", "shape (2,)"),
        (1.1e300, ValueError, "at most 1e+300", "1.1e+300"),
    ],
    "spacing": [
        ("Paper", ValueError, "'paper' or 'endpoint'", "'Paper'"),
        (["paper"], ValueError, "'paper' or 'endpoint'", "['paper']"),
    ],
    "layout": [("split", ValueError, "'interleaved' or 'half_split'", "'split'")],
    "dtype": [
        (int, TypeError, FLOATS, "<class 'int'>"),
        (np.complex64, TypeError, FLOATS, "complex64"),
        (np.longdouble, TypeError, FLOATS, "longdouble"),
        ("float8", TypeError, FLOATS, "'float8'"),
        (None, TypeError, FLOATS, "None"),
    ],
    "encodings": [
        (np.ones((3, 4), np.int64), TypeError, FLOATS, "int64"),
        (1.0, ValueError, "a last axis of d_model columns", "shape ()"),
    ],
    "table": [
        (np.ones((9, 2), np.int64), TypeError, FLOATS, "int64"),
        (np.ones(9), ValueError, "shape [length, d_model]", "(9,)"),
        (np.full((9, 2), -INF), ValueError, "finite", "infinity"),
    ],
    "offsets": NUMBERS,
    "within": [*COUNTS, (LIMIT + 1, ValueError, "at most 2**31", "2147483649")],
    "distance_map.table": TABLES,
    "bits": COUNTS,
    "count": COUNTS,
    "centered": FLAGS,
    "cosines": FLAGS,
    "causal": FLAGS,
    "normalized.length": COUNTS,
    "normalized.positions": [
        *NUMBERS,
        (-1, ValueError, "within 0 and length - 1 = 2", "-1"),
        ([0, 2.5], ValueError, "within 0 and length - 1 = 2", "2.5"),
    ],
    "binary.positions": DIGITS,
    "gray.positions": DIGITS,
    "queries": ARRAYS,
    "keys": ARRAYS,
    "values": ARRAYS,
    "scores": [
        ([["a"]], TypeError, "real numbers", "<U1"),
        ([[0, 1], [-INF, -INF]], ValueError, "finite largest", "minus infinity"),
        ([0, NAN], ValueError, "finite largest score in each row", "nan"),
        ([0, INF], ValueError, "finite largest score in each row", "inf"),
        (np.ones((2, 0)), ValueError, "shape [..., keys]", "(2, 0)"),
        (np.ma.masked_equal([1, 2], 2), TypeError, "no masked entries", "masked"),
    ],
    "lag": [(1.0, TypeError, "an integer", "1.0")],
    "head_weights.table": [
        *TABLES,
        (np.ones((0, 4)), ValueError, "at least one row", "shape (0, 4)"),
    ],
    "matrix": [
        (np.eye(4), ValueError, "shape [5, d_model]", "(4, 4)"),
        (np.ones((5, 4)), ValueError, "shape [5, 5]", "(5, 4)"),
        (np.full((5, 5), INF), ValueError, "finite", "infinity"),
    ],
    "weights": [
        (np.ones((3, 2)), ValueError, "shape [length, length]", "(3, 2)"),
        (np.ones(3), ValueError, "shape [length, length]", "(3,)"),
        (np.ones((3, 3), bool), TypeError, "real numbers", "bool"),
        (np.ones((0, 0)), ValueError, "shape [length, length]", "(0, 0)"),
        (-np.eye(3), ValueError, "finite and 0 or more", "-1.0"),
        (np.full((3, 3), NAN), ValueError, "finite and 0 or more", "nan"),
        (np.full((3, 3), INF), ValueError, "finite and 0 or more", "inf"),
    ],
    "targets": [
        ([0, 1], ValueError, "shape (3,)", "(2,)"),
        ([0.0, 1.0, 2.0], TypeError, "integers", "dtype float64"),
        ([3, 4, -1], ValueError, "within 0 and 2", "-1 to 4"),
    ],
    "encode": [
        (TABLE, TypeError, "callable", "array"),
        (lambda n: np.ones(n), ValueError, "d_model]", "("),
        (lambda n: np.ones((n + 1, 2)), ValueError, "d_model]", ", 2)"),
        (lambda n: np.full((n, 2), NAN), ValueError, "finite", "NaN"),
    ],
    "target": [
        (3, TypeError, "callable", "3"),
        (lambda n: np.arange(n + 1), ValueError, "shape (16,)", "(17,)"),
        (lambda n: np.arange(n) / 2, TypeError, "integers", "dtype float64"),
    ],
    "lengths": [
        ((), ValueError, "be empty", "()"),
        ((8, 1), ValueError, "at least 2", "1"),
        ((8.0,), TypeError, "integers", "dtype float64"),
        (8, TypeError, "a sequence of integers", "8"),
        (np.array([[8, 9]]), TypeError, "a sequence of integers", "array([[8, 9]])"),
    ],
    "penalty": [
        (0, ValueError, "finite and above 0", "0"),
        (INF, ValueError, "finite and above 0", "inf"),
        (NAN, ValueError, "finite and above 0", "nan"),
        ([1, 2], TypeError, "a single number", "shape (2,)"),
    ],
    "fit_head.start": [
        (np.eye(3), ValueError, "shape [9, d_model]", "(3, 3)"),
        (np.ones((9, 3)), ValueError, "shape [9, 9]", "(9, 3)"),
        (np.full((9, 9), NAN), ValueError, "finite", "NaN"),
    ],
    "vectors": [
        (np.ones((20, 4), np.int64), TypeError, FLOATS, "int64"),
        (1.0, ValueError, "shape [..., head_dim]", "()"),
        (np.ones((20, 3)), ValueError, "even", "(20, 3)"),
        (np.ones((20, 0)), ValueError, "even", "(20, 0)"),
    ],
    "apply_rotary.positions": [
        *NUMBERS,
        (np.arange(4), ValueError, "shape (20,) or its last axes", "(4,)"),
        (np.ones((1, 20)), ValueError, "shape (20,)", "(1, 20)"),
    ],
    "head_dim": COUNTS,
    "rotary_dim": [
        (0, ValueError, "at least 2", "0"),
        (3, ValueError, "even", "3"),
        (10, ValueError, "at most head_dim = ", "10"),
        (2.0, TypeError, "an integer", "2.0"),
    ],
    "exponent": [("d", ValueError, "'rotary_dim' or 'head_dim'", "'d'")],
    "frequencies": [
        ([0.5] * 3, ValueError, "shape [K] with K from 1 to head_dim / 2 = 2", "(3,)"),
        ([], ValueError, "shape [K] with K from 1", "(0,)"),
        ([1, INF], ValueError, "finite", "inf"),
        ([1, -1], ValueError, "within 0 and pi", "-1"),
        ([1, 4], ValueError, "within 0 and pi", "4"),
        ([1j], TypeError, "real numbers", "complex128"),
    ],
    "weight": [
        (1.0, ValueError, "shape [num_heads * head_dim, ...]", "()"),
        (np.ones((0, 4)), ValueError, "shape [num_heads * head_dim, ...]", "(0, 4)"),
        (np.ones((8, 4)), ValueError, "num_heads = 5", "(8, 4)"),
        (np.ones((15, 4)), ValueError, "an even head_dim", "(15, 4)"),
    ],
    **{
        f"convert_rotary_weight.{end}": [
            ("neox", ValueError, "'interleaved' or 'half_split'", "'neox'")
        ]
        for end in ("source", "target")
    },
    "num_heads": COUNTS,
    "rule": [("formula", ValueError, "'program' or 'paper'", "'formula'")],
    "alibi_bias.length": COUNTS,
    "t5_buckets.offsets": [*NUMBERS, ([1, 1.5], ValueError, "whole numbers", "1.5")],
    "num_buckets": [
        (0, ValueError, "at least 4", "0"),
        (6, ValueError, "a multiple of 4", "6"),
        (8.0, TypeError, "an integer", "8.0"),
    ],
    "max_distance": [
        (8, ValueError, "at least 9", "8"),
        (LIMIT + 1, ValueError, "at most 2**31", "2147483649"),
        (8.0, TypeError, "an integer", "8.0"),
    ],
    "convention": TEXTS,
    "source": TEXTS,
    "find_conversion.target": TEXTS,
    "convert.target": [
        *TEXTS,
        ("denk", ValueError, "the frequencies of 'paper'", "'denk'"),
    ],
    "convention_table.length": COUNTS,
    "find_conversion.length": COUNTS,
    "convert.table": [
        (np.ones(4), ValueError, "two axes", "(4,)"),
        (np.ones((2, 3, 4)), ValueError, "two axes", "(2, 3, 4)"),
        (np.ones((0, 4)), ValueError, "neither empty", "(0, 4)"),
        (np.full((9, 4), NAN), ValueError, "finite", "NaN"),
        (np.full((9, 4), 1j), TypeError, "real numbers", "complex128"),
    ],
    "scorecard.encodings": [
        ([naive.counting], TypeError, "names to functions", "[<function"),
        ({"a": TABLE}, TypeError, "callable", "array"),
        ({1: naive.counting}, TypeError, "strings", "1"),
    ],
    **{
        f"{name}.length": [
            (3, ValueError, "at least 4", "3"),
            (8.0, TypeError, "an integer", "8.0"),
        ]
        for name in ["scorecard", *(c.__name__ for c in properties.CRITERIA.values())]
    },
}


def all_cases():
    """Every public function, every one of its arguments, every bad value."""
    for name, function in sorted(FUNCTIONS.items()):
        for argument in inspect.signature(function).parameters:
            key = f"{name}.{argument}"
            for value, error, must, came in BAD.get(key) or BAD[argument]:
                yield pytest.param(
                    name, argument, value, error, must, came, id=f"{key}-{came}"
                )


@pytest.mark.parametrize(
    ("name", "argument", "value", "error", "must", "came"), list(all_cases())
)
def test_the_error_names_the_argument_the_rule_and_the_value(
    name, argument, value, error, must, came
):
    named = f"{argument}s?" if argument == "target" else argument  # what it returns
    message = rf"\b{named}\b.* must (be|have|lie|map|not) .*{re.escape(must)}.*"
    with pytest.raises(error, match=message + rf"got .*{re.escape(came)}"):
        FUNCTIONS[name](**GOOD[name] | {argument: value})


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_control_the_same_call_without_the_bad_value_is_accepted(name):
    FUNCTIONS[name](**GOOD[name])


def test_no_function_is_left_out():
    assert set(FUNCTIONS) | NEED_SCIPY == set(GOOD) >= set(pe_lib.__all__)
    if NEED_SCIPY:
        pytest.skip(f"scipy is not installed: {NEED_SCIPY} were not tried")


@pytest.mark.parametrize("d_model", [1, 3, 65])
def test_a_lone_sine_has_no_shift(d_model):
    message = f"d_model must be even, got {d_model}"
    with pytest.raises(ValueError, match=message):
        shift_matrix(1, d_model)
    with pytest.raises(ValueError, match=message):
        apply_shift(np.ones((2, d_model)), 1)


@pytest.mark.parametrize("d_model", [1, 3, 65])
def test_a_lone_sine_has_no_constant_length(d_model):
    message = f"d_model must be even, got {d_model}: .*depend on the position"
    for function in (geometry.similarity, geometry.distance):
        with pytest.raises(ValueError, match=message):
            function(1, d_model)
    for function in (geometry.nearest_other, geometry.first_rise):
        with pytest.raises(ValueError, match=message):
            function(d_model)


@pytest.mark.parametrize("position", [LIMIT, -LIMIT, LIMIT - 0.5, 0, -0.0, 5e-324])
def test_positions_and_offsets_within_the_limit_are_accepted(position):
    assert np.isfinite(sinusoidal(position, 4)).all()
    assert np.isfinite(shift_matrix(position, 4)).all()
    assert np.isfinite(apply_shift(TABLE, position)).all()


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


@pytest.mark.parametrize("position", [10**30, -(10**30), [0, 2**64]])
def test_a_huge_integer_is_too_large_not_unreal(position):
    with pytest.raises(ValueError, match=r"positions must lie within -2\*\*31"):
        sinusoidal(position, 4)


def test_an_integer_that_no_float_holds():
    for digits in (400, 5000):  # Python itself refuses to write out the second
        with pytest.raises(ValueError, match="positions must fit a float, got") as info:
            sinusoidal(10**digits, 4)
        assert len(str(info.value)) < 130
