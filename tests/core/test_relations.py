"""What holds for every function that encodes: a place alone, and rounding once."""

import math
from functools import partial

import numpy as np
import pytest

from pe_lib import fit_shift, sinusoidal
from pe_lib.beyond.bias import t5_buckets
from pe_lib.beyond.grid import axial, rotate_grid
from pe_lib.beyond.rotary import apply_rotary
from pe_lib.naive import binary, counting, doubling_waves, gray, normalized
from tests.core.optional import BFLOAT16

WIDE = {  # functions of positions [...], and the axes that each adds
    "counting": (counting, (1,)),
    "normalized": (partial(normalized, length=50), (1,)),
    "binary": (partial(binary, bits=6), (6,)),
    "gray": (partial(gray, bits=6), (6,)),
    "dials": (partial(doubling_waves, count=5), (5,)),
    "dials with cosines": (partial(doubling_waves, count=5, cosines=True), (10,)),
    "buckets": (t5_buckets, ()),
    "interleaved": (partial(sinusoidal, d_model=7), (7,)),
    "halves": (partial(sinusoidal, d_model=7, layout="half_split"), (7,)),
}


@pytest.mark.parametrize("name", WIDE)
@pytest.mark.parametrize("shape", [(), (7,), (0,), (2, 3), (4, 1, 5), (3, 0, 2)])
def test_a_place_alone_is_encoded_as_among_others(name, shape):
    encode, added = WIDE[name]
    positions = np.arange(math.prod(shape)).reshape(shape)
    codes = encode(positions)
    assert codes.shape == (*shape, *added)
    assert codes.dtype == (np.float64 if added else np.int64)
    for place in np.ndindex(shape):
        np.testing.assert_array_equal(codes[place], encode(int(positions[place])))


AT = np.arange(64) + 262_144
PLACES = np.random.default_rng(0).integers(-50, 50, (64, 3))
MIXED = np.random.default_rng(1).uniform(-np.pi, np.pi, (3, 8))
X = np.random.default_rng(2).integers(-32, 32, (64, 16)) / 8  # which 16 bits hold
ROUNDED = {  # to a dtype, that of x or one that is asked for
    "sinusoidal": lambda d: sinusoidal(AT, 33, dtype=d),
    "axial": lambda d: axial(PLACES, 18, dtype=d),
    "rotary": lambda d: apply_rotary(X.astype(d), AT),
    "rotary at 0": lambda d: apply_rotary(X.astype(d), AT - AT[0]),
    "grid": lambda d: rotate_grid(X.astype(d), PLACES, sections=(2, 3, 3)),
    "mixed": lambda d: rotate_grid(X.astype(d), PLACES, frequencies=MIXED),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float16, BFLOAT16])
@pytest.mark.parametrize("name", ROUNDED)
def test_rounded_once_from_what_float64_gives(name, dtype):
    """By way of float32, at far positions as at near ones: no row is another's."""
    found, exact = ROUNDED[name](dtype), ROUNDED[name](np.float64)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, exact.astype(np.float32).astype(dtype))
    assert len(np.unique(found.astype(np.float64), axis=0)) == 64


@pytest.mark.parametrize("dtype", [np.float32, np.float16, BFLOAT16])
def test_a_fit_takes_every_float(dtype):
    for found, right in zip(
        fit_shift(X.astype(dtype), 2), fit_shift(X, 2), strict=True
    ):
        np.testing.assert_array_equal(found, right)
