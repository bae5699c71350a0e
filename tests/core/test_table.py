"""The table is the function, row by row, but for the last bits of float64."""

import tracemalloc

import numpy as np
import pytest

from pe_lib import sinusoidal, sinusoidal_table
from pe_lib.table import BLOCK, NARROW
from tests.core.optional import BFLOAT16

LIMIT = 2**31
DTYPES = (np.float64, np.float32, np.float16, BFLOAT16)


def assert_rows_are_codes(table, start, d_model, *, dtype=np.float64, **choices):
    """Every row is the code of its position: 4e-16 off, as its docstring says.

    The other dtypes are rounded from that, the 16-bit ones by way of float32.
    """
    exact = sinusoidal_table(len(table), d_model, start=start, **choices)
    codes = sinusoidal(np.arange(start, start + len(table)), d_model, **choices)
    # The function itself is 2e-16 off at an integer position.
    np.testing.assert_allclose(exact, codes, rtol=0, atol=4e-16 + 2e-16)
    single = np.float64 if dtype == np.float64 else np.float32
    assert table.dtype == dtype
    assert table.tobytes() == exact.astype(single).astype(dtype).tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", ["interleaved", "half_split"])
@pytest.mark.parametrize("spacing", ["paper", "endpoint"])
@pytest.mark.parametrize(
    ("length", "d_model", "start"),
    [(0, 6, -4), (1, 1, 0), (5, 4, 0), (7, 9, -3), (130, 64, -65), (40, 33, 100_000)],
)
def test_row_r_is_the_code_of_start_plus_r(
    length, d_model, start, spacing, layout, dtype
):
    choices = {"base": 500, "spacing": spacing, "layout": layout, "dtype": dtype}
    table = sinusoidal_table(length, d_model, start=start, **choices)
    assert table.shape == (length, d_model)
    assert_rows_are_codes(table, start, d_model, **choices)


@pytest.mark.parametrize("start", [0, 1, -1, BLOCK, -5 * BLOCK - 3, 10**6 + 7])
@pytest.mark.parametrize("blocks", [1, 7, 8, 9, 15, 16, 17, 33])
@pytest.mark.parametrize("d_model", [4, NARROW, NARROW + 1])
def test_any_number_of_blocks(d_model, blocks, start):
    for length in (blocks * BLOCK - 1, blocks * BLOCK, blocks * BLOCK + 1):
        table = sinusoidal_table(length, d_model, start=start)
        assert_rows_are_codes(table, start, d_model)


@pytest.mark.parametrize("start", [0, 10**8])
def test_hardly_any_float32_differs_from_the_function(start):
    """At most one in ten million: among four million none, or once in a while one."""
    table = sinusoidal_table(16_000, 256, start=start, dtype=np.float32)
    codes = sinusoidal(np.arange(start, start + 16_000), 256, dtype=np.float32)
    assert (table != codes).sum() <= 1


@pytest.mark.parametrize("layout", ["interleaved", "half_split"])
@pytest.mark.parametrize(("length", "most"), [(4096, 1.05), (16_384, 1.015)])
def test_peak_memory_is_little_more_than_the_table(length, most, layout):
    choices = {"layout": layout, "dtype": np.float32}
    sinusoidal_table(1, 512, **choices)  # the frequencies are kept
    tracemalloc.start()
    table = sinusoidal_table(length, 512, **choices)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert table.nbytes <= peak <= most * table.nbytes


@pytest.mark.parametrize("start", [-LIMIT, 0, LIMIT - 2])
@pytest.mark.parametrize("d_model", [4, NARROW + 2])
def test_integers_of_32_bits(start, d_model, monkeypatch):
    """As WebAssembly has them: the blocks of a table may begin beyond them."""
    expected, arange = sinusoidal_table(3, d_model, start=start), np.arange

    def small(*arguments, dtype=None, **more):
        made = arange(*arguments, dtype=dtype, **more)
        if dtype is not None or made.dtype.kind != "i":
            return made
        limits = np.iinfo(np.int32)
        if made.size and not limits.min <= made.min() <= made.max() <= limits.max:
            raise OverflowError(f"arange{arguments} does not fit 32 bits")
        return made.astype(np.int32)

    monkeypatch.setattr(np, "arange", small)
    np.testing.assert_array_equal(sinusoidal_table(3, d_model, start=start), expected)
