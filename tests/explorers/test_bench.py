"""The bench against ``pe_lib``: every encoding, head and lamp, at 2 to 64 words."""

import json
import re
from itertools import product

import numpy as np
import pytest

from pe_lib import naive, properties, shift_matrix, sinusoidal_table
from pe_lib.attention import head_weights, hit_rate, look_back, with_constant
from pe_lib.explorers import drawing
from pe_lib.explorers.bench import PAGES
from pe_lib.fit import fit_head
from tests.explorers.test_drawn_numbers import run

STARTS = (0, 1, 5, 483, 2040, 2044)
CASES = [
    *((page, {}) for page in PAGES),
    ("counting", {"squared": True}),
    ("formula", {"free": True}),
    *(("rotation", {"k": k}) for k in range(2, 9)),
    *(("module", {"start": at}) for at in range(1, len(STARTS))),
]


def table(page, n, squared=False, start=0, dtype=np.float32, **_):
    """The encodings of a page as the library has them, without an appended 1."""
    t, x, start = np.arange(n), naive.normalized(range(n), n), STARTS[start]
    return {
        "none": lambda: np.ones((n, 1)),
        "counting": lambda: np.column_stack([t, t**2] if squared else [t]),
        "normalised": lambda: np.hstack([x, x**2]),
        "binary": lambda: naive.binary(t, 6, centered=True),
        "dials": lambda: naive.doubling_waves(t, 4, cosines=True)[:, 2:],
        "formula": lambda: sinusoidal_table(n, 6),
        "rotation": lambda: sinusoidal_table(n, 6),
        "module": lambda: sinusoidal_table(n, 6, start=start, dtype=dtype).astype(
            float
        ),
    }[page]()


def step(page, squared=False, k=1):
    """The matrix of one step, or of k, made at five words; for digits there is none."""
    if page == "dials":
        return shift_matrix(np.pi, 6, base=8)
    if page in ("formula", "rotation", "module"):
        return shift_matrix(k, 6)
    P = with_constant(table(page, 5, squared))
    found, *_ = np.linalg.lstsq(P[:-1], P[1:], rcond=None)
    return found.T if np.allclose(P[:-1] @ found, P[1:]) else None


def matrix(page, squared=False, free=False, k=1, **_):
    """The head of a page, for encodings with a 1 appended."""
    if page == "binary" or free:
        return fit_head(lambda n: table(page, n), look_back(1), lengths=[5])
    if page == "normalised" or squared:
        far, sharp = (0.25, 5000) if page == "normalised" else (1, 1)
        return sharp * np.array([[2, 0, 0], [0, 0, 0], [-2 * far, -1, 0]])
    W = step(page, k=k)
    return np.pad(W, (0, 1)) if page not in ("none", "counting") else W


def lamps(page, n, squared=False, **more):
    """Unique, equal norm, moved by the step of five words; below four the last."""
    # In float32 norms are equal up to rounding.
    P = table(page, n, squared, dtype=np.float64, **more)
    P = with_constant(P) if page in ("counting", "normalised") else P
    T = step(page, squared)
    moved = T is not None and np.allclose(P[:-1] @ T.T, P[1:])
    if page != "normalised" and n > P.shape[1] + 2:  # there each length has its own
        assert moved == properties.one_shift_matrix(lambda _: P, n).holds
    two = (properties.unique, properties.equal_norm) if n > 3 else ()
    return [*(holds(lambda _: P, n).holds for holds in two), moved]


LENGTHS = range(2, 65)


def known(page, **more):
    """What the bench computes and shows at every length, but for its picture."""
    at = PAGES.index(page)
    state = json.dumps({"home": at, "page": at, **more})
    return run(f"""{[*LENGTHS]}.map((words) => {{
        const {{ known, view }} = drawing.drawings.bench;
        const state = drawing.full("bench", {{ ...{state}, words }});
        return {{ ...known(state), ...view(state), svg: "" }}; }})""")


def seen(page, **more):
    """What it shows."""
    at = PAGES.index(page)
    return drawing.view("bench", {"home": at, "page": at, **more})


def lying(strip, n):
    """From which word to which the arrows of a strip lead."""
    ways = [re.findall(r"-?[\d.]+", way) for way in re.findall(' d="([^"]*)', strip)]
    # What leads to itself begins and ends beside its word.
    ends = [[x[0], x[-2]] if x[-1] != "0" else 2 * [float(x[0]) + 3] for x in ways]
    return {tuple(round((float(x) - 8) / 124 * (n - 1)) for x in pair) for pair in ends}


@pytest.mark.parametrize(("page", "more"), CASES, ids=str)
def test_bench(page, more):
    """Table, weights, keys, hits, lamps, strip are the library's, at every length."""
    lag, W, start = more.get("k", 1), matrix(page, **more), STARTS[more.get("start", 0)]
    for n, now in zip(LENGTHS, known(page, **more), strict=True):
        keys, of = now["keys"], now["of"]
        if start + n > 2048:
            assert now["refused"] and not of and not any(keys + now["lamps"])
            assert f": {start + n - 2048} of {n} words" in now["sentence"]
            continue
        P = table(page, n, **more)
        np.testing.assert_allclose(np.array(now["table"])[:, : P.shape[1]], P, 0, 1e-13)
        weights = head_weights(P, W)
        np.testing.assert_allclose(now["rows"], weights, atol=2e-6)
        tops = weights * (1 + 1e-6) >= weights.max(axis=1, keepdims=True)
        assert keys == [np.flatnonzero(row).tolist() for row in tops]
        assert of == max(0, n - lag)
        if n > lag:
            rate = hit_rate(tops.astype(float), look_back(lag)(n))
            assert now["hits"] == round(rate * of)
        arrows = {(t, s) for t in range(lag, n) for s in keys[t]}
        if page == "none":  # nothing is told apart
            assert not any(now["lamps"])
            assert {(n - 1, 0)} <= lying(now["strip"], n) <= arrows
        else:
            lit = lamps(page, n, **more)
            assert now["lamps"][-len(lit) :] == lit
            assert lying(now["strip"], n) == arrows


@pytest.mark.parametrize(("page", "swapped"), [*product(range(8), (False, True))])
def test_swapped_words(page, swapped):
    """New and old change places, on the page without positions alone."""
    svg = seen(PAGES[page], swapped=swapped)["svg"]
    words = " ".join(re.findall('<text class="word"[^>]*>([^<]*)', svg))
    changed = swapped and page == 0
    assert words == (
        "old York beats New York" if changed else "New York beats old York"
    )


@pytest.mark.parametrize("squared", [False, True])
def test_bars_are_as_long_as_their_numbers(squared):
    """On one scale, none beyond the picture, however long the text is."""
    for n in LENGTHS:
        svg = seen("counting", words=n, squared=squared)["svg"]
        found = re.findall('class="bar" x="([^"]*)" y="[^"]*" width="([^"]*)"', svg)
        x, width = np.array(found, dtype=float).T
        numbers = np.arange(n) ** (2 if squared else 1)
        ideal = np.maximum(1.5, width[-1] * numbers / numbers[-1])
        np.testing.assert_allclose(width, ideal, rtol=0, atol=0.11)
        assert (x + width).max() <= 260
