"""Grids: axial codes, M-RoPE as Qwen's programs compute it, and what rows hide."""

import numpy as np
import pytest

from pe_lib import shift_matrix, sinusoidal
from pe_lib.beyond.grid import (
    axial,
    axial_frequencies,
    raster,
    rotate_grid,
    section_frequencies,
)
from pe_lib.beyond.rotary import apply_rotary

RNG = np.random.default_rng(0)
BOXES = RNG.integers(-50, 50, (2, 7, 3))  # time, row, column
X = RNG.standard_normal((2, 7, 128))


def by_mae(d, grid_size):
    """MAE's util/pos_embed.py restated: w first, sines before cosines in each part."""
    w, h = np.meshgrid(np.arange(grid_size[1]), np.arange(grid_size[0]))
    omega = 1 / 10000 ** (np.arange(d // 4) / (d / 4))
    parts = [np.outer(axis.ravel(), omega) for axis in (w, h)]
    return np.concatenate([f(p) for p in parts for f in (np.sin, np.cos)], axis=1)


def test_axial_is_maes_table_with_columns_first():
    columns_first = raster(5, 9)[:, ::-1]
    table = axial(columns_first, 16, layout="half_split")
    np.testing.assert_allclose(table, by_mae(16, (5, 9)), atol=1e-14)
    assert np.abs(axial(raster(5, 9), 16, layout="half_split") - table).max() > 0.5


def test_one_matrix_moves_along_both_axes():
    codes, moved = (axial(BOXES[..., 1:] + np.array(k), 12) for k in ((0, 0), (2, -3)))
    T = np.zeros((12, 12))
    T[:6, :6], T[6:, 6:] = shift_matrix(2, 6), shift_matrix(-3, 6)
    np.testing.assert_allclose(codes @ T.T, moved, atol=1e-13)
    np.testing.assert_array_equal(axial([[4]], 6), sinusoidal([4], 6))


def by_qwen(x, positions, sections, interleave, base):
    """transformers 5.23.0, modeling_qwen2_vl.py and modeling_qwen3_vl.py, restated."""
    d = x.shape[-1]
    frequencies = 1.0 / base ** (np.arange(0, d, 2) / d)
    angles = np.moveaxis(positions, -1, 0)[..., np.newaxis] * frequencies
    if interleave:
        kept = angles[0].copy()
        for axis, offset in enumerate((1, 2), start=1):
            place = slice(offset, sections[axis] * 3, 3)
            kept[..., place] = angles[axis][..., place]
    else:
        ends = np.cumsum(sections)
        starts = ends - sections
        kept = np.concatenate(
            [angles[i][..., starts[i] : ends[i]] for i in range(3)], axis=-1
        )
    cos, sin = (np.concatenate([f(kept)] * 2, -1) for f in (np.cos, np.sin))
    half = np.concatenate([-x[..., d // 2 :], x[..., : d // 2]], -1)
    return x * cos + half * sin


@pytest.mark.parametrize(
    ("sections", "interleave", "base"),
    [((16, 24, 24), False, 1e6), ((24, 20, 20), True, 5e6)],
    ids=["Qwen2-VL", "Qwen3-VL"],
)
def test_m_rope_is_what_qwens_programs_compute(sections, interleave, base):
    turned = rotate_grid(
        X, BOXES, sections=sections, interleave=interleave, base=base,
        layout="half_split",
    )  # fmt: skip
    expected = by_qwen(X, BOXES, sections, interleave, base)
    np.testing.assert_allclose(turned, expected, atol=1e-12)
    frequencies = section_frequencies(128, sections, interleave=interleave, base=base)
    assert list((frequencies > 0).sum(axis=1)) == list(sections)
    text = rotate_grid(X, BOXES[..., :1].repeat(3, -1), frequencies=frequencies)
    np.testing.assert_allclose(
        text, apply_rotary(X, BOXES[..., 0], base=base), atol=1e-12
    )


def test_axial_frequencies_give_each_axis_the_same_speeds():
    frequencies = axial_frequencies(12, 3, base=100)
    assert frequencies.shape == (3, 6)
    for axis in range(3):
        expected = np.zeros(6)
        expected[2 * axis : 2 * axis + 2] = 1.0, 0.1
        np.testing.assert_allclose(frequencies[axis], expected)


def test_one_place_for_all():
    np.testing.assert_array_equal(
        rotate_grid(X, [1, 2, 3], sections=(16, 24, 24)),
        rotate_grid(X, np.tile([1, 2, 3], (7, 1)), sections=(16, 24, 24)),
    )
