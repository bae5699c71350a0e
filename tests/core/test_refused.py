"""What no neighbour of an example reaches: ranges, and arguments that do not fit.

A row is a call, and what its error must name, ask for and say.
"""

from functools import partial

import numpy as np
import pytest

from pe_lib import fit_shift, shift_matrix, sinusoidal, sinusoidal_table
from pe_lib.attention import attention, head_weights
from pe_lib.beyond import bias, scaling
from pe_lib.beyond.attention_methods import ATTENTION_METHODS
from pe_lib.beyond.bias import t5_buckets
from pe_lib.beyond.continuous import fourier_features, nerf, time_embedding
from pe_lib.beyond.grid import axial, axial_frequencies, raster, rotate_grid
from pe_lib.beyond.grid import section_frequencies as sections
from pe_lib.beyond.guarantees import guarantees
from pe_lib.beyond.rotary import apply_rotary, rotary_frequencies
from pe_lib.beyond.scaling import by_parts, longrope, unseen_angles
from pe_lib.beyond.xpos import apply_xpos
from pe_lib.conventions import CONVENTIONS, convention_table
from pe_lib.geometry import distance, first_rise, nearest_other, similarity
from pe_lib.layouts import layout_columns
from pe_lib.naive import binary, counting, gray, normalized
from pe_lib.properties import one_shift_matrix, unique
from pe_lib.values import chosen

NAN, FAR = float("nan"), 2**31
TABLE = np.random.default_rng(0).standard_normal((20, 4))
BATCH, BIG, PAIR = np.ones((2, 5, 3)), np.full((9, 1), 1e200), np.ones((20, 2))
OLD = 1e4 ** (-np.arange(64) / 64)
SHAPES = r"broadcast, got \(2, 5, 3\), \(2, 5, 3\) and \(3, 5, 4\)"
POSITION = "depend on the position"

VALUE_ERRORS = [
    # attention
    (partial(attention, BATCH, BATCH, np.ones((3, 5, 4))), SHAPES),
    (
        partial(attention, BIG * np.eye(9)[:, :1], BIG, BIG),  # one row is too large
        "queries and keys must have finite scores",
    ),
    (partial(attention, BIG + NAN, BIG, BIG), "queries must be finite, got NaN or inf"),
    (
        partial(attention, TABLE, TABLE[1:], TABLE[1:], causal=True),
        "causal attention must have as many keys as queries, got 19 keys and 20",
    ),
    (partial(head_weights, BIG, np.eye(2)), "table and matrix must have finite scores"),
    # widths, positions and lengths
    *(
        (partial(call, d), f"d_model must be even, got {d}: .*{why}")
        for call, why in (
            (partial(shift_matrix, 1), "no matrix shifts it"),
            *((f, POSITION) for f in (nearest_other, first_rise)),
            *((partial(f, 1), POSITION) for f in (similarity, distance)),
        )
        for d in (1, 3, 65)
    ),
    (partial(nearest_other, 4, within=FAR + 1), r"within .* 2\*\*31, got 2147483649"),
    (partial(layout_columns, 0, "half_split"), "d_model must be at least 1"),
    *(
        (partial(sinusoidal, t, 4), r"positions must lie within -2\*\*31")
        for t in (10**30, -(10**30), [0, 2**64])
    ),
    *(  # Python itself refuses to write out the second
        (partial(sinusoidal, 10**digits, 4), "^positions must fit a float, got.{,97}$")
        for digits in (400, 5000)
    ),
    *(
        (partial(sinusoidal_table, 3, 8, start=at), rf"\+ length .* 2\*\*31, got {far}")
        for at, far in ((-FAR - 1, -FAR - 1), (FAR - 1, FAR + 1))
    ),
    *(
        (partial(fit_shift, np.ones((n, d)), k), rf"= {d}, got {n} - {abs(k)}: so few")
        for d in (1, 4)
        for k in (-3, 0, 3, 20)
        for n in (d + abs(k), abs(k))
    ),
    (partial(binary, -1, 2), "positions must be whole numbers from 0 on, got -1"),
    (partial(gray, [1, 1.5], 2), "positions must be whole numbers .* on, got 1.5"),
    *(
        (partial(f, [0, t], bits), f"at least {n} to write position {t}, got {bits}")
        for f in (binary, gray)
        for t, bits, n in ((8, 3, 4), (1000, 9, 10), (FAR, 1, 32))
    ),
    (partial(normalized, 3, 3), "positions must lie within 0 and .*, got 3"),
    (partial(unique, counting, 3), "length must be at least 4, got 3"),
    *(
        (
            partial(unique, lambda _, x=x: [[0], [x], [0], [x]], 4),
            rf"1e\+300, got {said}",
        )
        for x, said in ((1e301, r"1e\+301"), (1e-301, "1e-301"))
    ),
    (partial(one_shift_matrix, lambda n: np.eye(n)[:, :32], 34), r"2 = 34, got 34"),
    *(
        (partial(convention_table, key, 9, 2), f"at least 4 for '{key}', got 2")
        for key in ("fairseq", "flash_card")
    ),
    *(
        (partial(convention_table, key, 9, d), f"d_model must be even for '{key}', got")
        for key, text in CONVENTIONS.items()
        for d in (1, 3, 5)
        if text.odd is None
    ),
    *(
        (partial(chosen, x, range_), f"^this value must be {range_}; got {x}$")
        for range_, values in (
            ("4 to 512, even", (2, 514, 33)),
            ("0.1 to 4.0", (4.01, NAN)),
        )
        for x in values
    ),
    (partial(chosen, 8, 4), "^range_ must be like '4 to 512, even', got 4$"),
    (partial(chosen, 8, "4, 8"), "^range_ must be like '4 to 512, even', got '4, 8'$"),
    # rotary and its frequencies
    (partial(rotary_frequencies, 0), "head_dim must be at least 1, got 0"),
    *(
        (partial(rotary_frequencies, 8, rotary_dim=n), f"rotary_dim .*{n}")
        for n in (0, 3, 10)
    ),
    (partial(apply_rotary, PAIR, 0, frequencies=[4.0]), "within 0 and pi, got 4"),
    *(  # of a head of 128 that is not centred: one further, and it is said
        (
            partial(apply_xpos, np.ones(128, dtype), at, keys=True),
            f"near 0 that {dtype}",
        )
        for dtype, at in (("float16", 4542), ("float32", 36269))
    ),
    (partial(scaling.interpolate, [-1.0], 2), "frequencies must be finite"),
    (partial(scaling.ntk, [1.0], 2), "at least 2 of them"),
    (partial(by_parts, OLD, 2, 4096, slow=32), "slow and fast must be"),
    (partial(by_parts, OLD, 2, 4096, slow=0), "slow and fast must be"),
    (partial(by_parts, [1.0], 2, 4096, ramp="index"), "must fall from 1"),
    (partial(by_parts, OLD / 2, 2, 4096, ramp="index"), "must fall from 1"),
    (partial(by_parts, [1, 0.5, 0.4], 2, 4096, ramp="index"), "must fall by one ratio"),
    (partial(longrope, OLD, [1, 2]), "factors must have shape"),
    (partial(longrope, [1, 1], [1, 0]), "factors must be finite"),
    (partial(unseen_angles, OLD, [1], 9, 9), "new must have"),
    (partial(unseen_angles, [0], [1], 9, 9), "new must be 0"),
    # one below the least
    *(
        (call, f"{name} must be at least")
        for call, name in (
            (partial(sinusoidal, 1, 0), "d_model"),
            (partial(sinusoidal_table, 4, 0), "d_model"),
            (partial(shift_matrix, 1, 0), "d_model"),
            (partial(rotary_frequencies, 8, rotary_dim=0), "rotary_dim"),
            *((partial(convention_table, key, 0, 8), "length") for key in CONVENTIONS),
            (partial(nerf, [1.0], 0), "octaves"),
            (partial(raster, 0, 2), "height"),
            (partial(raster, 2, 0), "width"),
            (partial(axial, [1, 2], 0), "d_model"),
            (partial(axial_frequencies, 0), "head_dim"),
            (partial(sections, 1, (1,)), "head_dim"),
            (partial(by_parts, OLD, 2, 0), "trained_length"),
            (partial(scaling.dynamic_factor, 0, 4), "length"),
            (partial(scaling.dynamic_factor, 4, 0), "trained_length"),
            (partial(unseen_angles, OLD, OLD, 0, 4), "trained_length"),
            (partial(unseen_angles, OLD, OLD, 4, 0), "length"),
        )
    ),
    (partial(axial, [1, 2], 6), "d_model must be a multiple of 4 for 2 axes, got 6"),
    (partial(axial_frequencies, 6), "head_dim must be a multiple of 4"),
    (partial(sections, 7, (1, 2)), "head_dim must be even, got 7"),
    (partial(sections, 8, (5, -1)), "sections must be at least 0"),
    (partial(sections, 8, (0, 4), interleave=True), "deal out 4 pairs of 4 to axis 1"),
    (partial(rotate_grid, TABLE, PAIR), "sections or frequencies must be given"),
    (partial(rotate_grid, PAIR, PAIR, frequencies=[[NAN], [1]]), "within -pi and pi"),
    # biases, times and points
    (partial(bias.alibi_bias, 0, 6), "length must be at least 1, got 0"),
    (partial(t5_buckets, [1, 1.5]), "offsets must be whole numbers, got 1.5"),
    (partial(t5_buckets, 1, max_distance=FAR + 1), r"most 2\*\*31, got 2147483649"),
    (partial(t5_buckets, -5, num_buckets=5, causal=True), "a multiple of 2, got 5"),
    (
        partial(bias.kerple_bias, 1, r1=1, r2=2.5, kernel="power"),
        "r2 must be at most 2",
    ),
    (partial(bias.fire_distances, [[0, 1]]), r"positions .* \[length\] from 0"),
    (partial(bias.fire_distances, [-1, 1]), r"positions .* \[length\] from 0"),
    (
        partial(bias.cope_counts, np.ones(3)),
        r"gates must have shape \[..., length, len",
    ),
    (partial(bias.cope_counts, PAIR[:3]), r"gates must have shape \[..., length, leng"),
    *((partial(bias.cope_counts, [[x]]), "within 0 and 1") for x in (-0.1, 1.1, NAN)),
    (partial(time_embedding, 1, 4, shift=2), "shift must be 0 or 1, got 2"),
    (partial(time_embedding, 1, 2), "d_model must be at least 4, got 2"),
    (partial(time_embedding, 1, 7), "d_model must be even, got 7"),
    (partial(nerf, 0.5, 3), r"points must have shape \[\.\.\., axes\], got \(\)"),
    (partial(nerf, np.ones((2, 0)), 3), r"axes\], got \(2, 0\)"),
    (partial(nerf, [np.inf], 3), "points must be finite"),
    (partial(nerf, [0.5], 53), "octaves must be at most 52, got 53"),
    (partial(nerf, [1e308], 9, pi=False), r"points must lie within -2\*\*1015"),
    (partial(fourier_features, [1.0], [[NAN]]), "directions must be finite"),
]
TYPE_ERRORS = [
    *(
        (
            partial(chosen, x, "4 to 512"),
            "^this value must be an integer, 4 to 512; got",
        )
        for x in (32.0, "32", True, None)
    ),
    *(
        (partial(guarantees, wrong), "methods must map names to attention methods, got")
        for wrong in (3, {"a": 3}, {3: ATTENTION_METHODS["none"]})
    ),
]

EDGES = [
    *(partial(chosen, x, "4 to 512, even") for x in (4, 512)),
    *(partial(chosen, x, "0.1 to 4.0") for x in (0.1, 4)),
    partial(chosen, 10**6, "30 to 1_000_000"),
    *(partial(f, FAR, 32) for f in (binary, gray)),
    *(partial(fit_shift, TABLE[: 5 + abs(k)], k) for k in (-3, 0, 3)),
    *(
        partial(apply_xpos, np.full(128, 0.25, dtype), at, keys=True)
        for dtype, at in (("float16", 4522), ("float32", 36249))
    ),
    partial(t5_buckets, -5, num_buckets=6, causal=True),
    partial(time_embedding, 1, 2, shift=0),
]


@pytest.mark.parametrize(("call", "message"), VALUE_ERRORS)
def test_a_value_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(("call", "message"), TYPE_ERRORS)
def test_a_type_is_refused(call, message):
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize("call", EDGES)
def test_one_step_within_a_range_is_taken(call):
    assert call() is not None
