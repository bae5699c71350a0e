"""The bench against ``pe_lib``: every encoding, head and lamp, at 2 to 64 words."""

import json
import re
from functools import cache
from itertools import product

import numpy as np
import pytest

from pe_lib import naive, properties, shift_matrix, sinusoidal_table
from pe_lib.attention import head_weights, hit_rate, look_back, with_constant
from pe_lib.explorers import drawing
from pe_lib.explorers.bench import PAGES
from pe_lib.fit import fit_head

LENGTHS = range(2, 65)
STARTS = (0, 1, 5, 483, 2040, 2044)
CASES = [
    *((page, {}) for page in PAGES),
    ("counting", {"squared": True}),
    ("formula", {"free": True}),
    *(("rotation", {"k": k}) for k in range(2, 9)),
    *(("module", {"start": at}) for at in range(1, len(STARTS))),
]
each_case = pytest.mark.parametrize(("page", "more"), CASES, ids=str)


def table(page, n, squared=False, start=0, **_):
    """The encodings of a page as the library has them, without an appended 1."""
    t, x = np.arange(n), naive.normalized(range(n), n)
    return {
        "none": lambda: np.ones((n, 1)),
        "counting": lambda: np.column_stack([t, t**2] if squared else [t]),
        "normalised": lambda: np.hstack([x, x**2]),
        "binary": lambda: naive.binary(t, 6, centered=True),
        "dials": lambda: naive.doubling_waves(t, 4, cosines=True)[:, 2:],
        "formula": lambda: sinusoidal_table(n, 6),
        "rotation": lambda: sinusoidal_table(n, 6),
        "module": lambda: sinusoidal_table(
            n, 6, start=STARTS[start], dtype=np.float32
        ).astype(float),
    }[page]()


@cache
def fitted(page):
    return fit_head(lambda n: table(page, n), look_back(1), lengths=[5])


def step(page, squared=False, k=1):
    """The matrix of one step, or of k, made at five words; it may be none."""
    if page == "dials":
        waves = 2 * np.pi / np.array([2, 4, 8])
        blocks = np.zeros((6, 6))
        for j, angle in enumerate(k * waves):
            blocks[2 * j : 2 * j + 2, 2 * j : 2 * j + 2] = shift_matrix(angle, 2)
        return blocks
    if page in ("formula", "rotation", "module"):
        return shift_matrix(k, 6)
    P = with_constant(table(page, 5, squared))
    found, *_ = np.linalg.lstsq(P[:-1], P[1:], rcond=None)
    return found.T if np.allclose(P[:-1] @ found, P[1:]) else None


def matrix(page, squared=False, free=False, k=1, **_):
    """The head of a page, for encodings with a 1 appended."""
    if page == "binary" or free:
        return fitted(page)
    if page == "normalised" or squared:
        far, sharp = (0.25, 5000) if page == "normalised" else (1, 1)
        return sharp * np.array([[2, 0, 0], [0, 0, 0], [-2 * far, -1, 0]])
    W = step(page, k=k)
    return np.pad(W, (0, 1)) if page not in ("none", "counting") else W


def known(page, n, **more):
    at = PAGES.index(page)
    state = json.dumps({"home": at, "page": at, "words": n, **more})
    return json.loads(
        drawing.engine().eval(f"JSON.stringify(drawing.drawings.bench.known({state}))")
    )


def check_lamps(page, n, lamps, squared=False, start=0, **_):
    """Unique and equal norm as ``properties`` has them; the step made at five words."""
    P = table(page, n, squared)
    if page == "module":  # they are equal up to the rounding of float32
        P = sinusoidal_table(n, 6, start=STARTS[start])
    elif page in ("counting", "normalised"):
        P = with_constant(P)
    unique, equal, moved = lamps
    T = None if page == "binary" else step(page, squared)
    assert moved == (T is not None and np.allclose(P[:-1] @ T.T, P[1:]))
    if n < 4:
        return
    assert unique == properties.unique(lambda _: P, n).holds
    norm = properties.equal_norm(lambda _: P, n).holds
    assert norm is None or equal == norm
    if page != "normalised" and n > P.shape[1] + 2:  # there each length has its own
        assert moved == properties.one_shift_matrix(lambda _: P, n).holds


@each_case
def test_bench(page, more):
    """Table, weights, keys, hits and lamps are the library's, at every length."""
    lag, W = more.get("k", 1), matrix(page, **more)
    for n in LENGTHS:
        shown = known(page, n, **more)
        if STARTS[more.get("start", 0)] + n > 2048:
            assert shown["refused"] and not shown["of"] and not any(shown["keys"])
            assert not any(shown["lamps"])
            continue
        P = table(page, n, **more)
        ours = np.array(shown["table"])[:, : P.shape[1]]
        np.testing.assert_allclose(ours, P, atol=1e-13)
        weights = head_weights(P, W)
        np.testing.assert_allclose(shown["rows"], weights, atol=2e-6)
        tops = weights * (1 + 1e-6) >= weights.max(axis=1, keepdims=True)
        assert shown["keys"] == [np.flatnonzero(row).tolist() for row in tops]
        assert shown["of"] == max(0, n - lag)
        if n > lag:
            rate = hit_rate(tops.astype(float), look_back(lag)(n))
            assert shown["hits"] == round(rate * shown["of"])
        if page == "none":  # nothing is told apart
            assert not any(shown["lamps"])
        else:
            check_lamps(page, n, shown["lamps"], **more)


def test_no_matrix_moves_the_digits():
    """At five words no matrix takes each encoding to the next, so none is drawn."""
    P = table("binary", 5)
    found, *_ = np.linalg.lstsq(P[:-1], P[1:], rcond=None)
    assert np.abs(P[:-1] @ found - P[1:]).max() > 0.1


def test_swapped_words():
    """New and old change places, on the page without positions alone."""
    for page, swapped in product(range(8), (False, True)):
        state = {"page": page, "home": page, "swapped": swapped}
        svg = drawing.view("bench", state)["svg"]
        words = re.findall('<text class="word"[^>]*>([^<]*)', svg)
        first, fourth = ("old", "New") if swapped and not page else ("New", "old")
        assert words == [first, "York", "beats", fourth, "York"]
