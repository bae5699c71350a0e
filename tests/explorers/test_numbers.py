"""Every number that a drawing shows is what ``pe_lib`` computes, over its range."""

import re
from itertools import permutations, product

import numpy as np
import pytest

from pe_lib import angular_frequencies, shift_matrix, sinusoidal
from pe_lib.attention import attention, softmax
from pe_lib.explorers import drawing, field
from pe_lib.naive import binary

WORDS = ("New", "York", "beats", "old", "York")


def view(name, **state):
    return drawing.view(name, state)


def numbers(text):
    found = re.findall(r"-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?", text.replace("−", "-"))
    return np.array([x.replace(",", "") for x in found], dtype=float)


def drawn(svg, kind, attribute="d"):
    """The numbers of one attribute of all pieces of a kind, a row each."""
    pieces = re.findall(f'<\\w+ class="{kind}"[^>]*? {attribute}="([^"]*)"', svg)
    return [numbers(re.sub("(?<=[a-zA-Z])-", " -", piece)) for piece in pieces]


def words(svg, kind):
    """What is written in all texts of a kind."""
    return re.findall(f'<text class="{kind}"[^>]*>([^<]*)', svg)


def turns(svg):
    """By how many radians each group is turned that is."""
    return np.radians([float(x) for x in re.findall(r'"rotate\((-?[\d.]+)\)"', svg)])


def same_angle(angles, others):
    far = (np.asarray(angles) - np.asarray(others) + np.pi) % (2 * np.pi) - np.pi
    np.testing.assert_allclose(far, 0, atol=0.001)


@pytest.mark.parametrize("codes", [False, True])
def test_shuffle(codes):
    """All sixty orders: vectors, weights, arrows, and what changed."""
    vectors = {"New": (1, 0), "York": (1, 1), "beats": (0, -1), "old": (-1, 1)}
    code = np.outer(np.arange(5), (0.1 * codes, 0))
    for order in permutations(range(5)):
        X = np.array([vectors[WORDS[i]] for i in order]) + code
        new = attention(np.sqrt(2) * X, X, X)[0]
        places = np.argsort(order)
        shown = view("shuffle", places=places.tolist(), codes=codes)
        told = numbers(" ".join(words(shown["svg"], "count"))).reshape(5, 2)
        np.testing.assert_allclose(told, new[places], atol=0.00501)
        arrows = np.array(drawn(shown["svg"], "ink"))[:, 2:]
        np.testing.assert_allclose(
            arrows, 44 * new[places] * (1, -1) + (0, 116), atol=0.051
        )
        weights = softmax(X @ X.T)[places[4], places]
        widths = np.ravel(drawn(shown["svg"], "thread", "stroke-width"))
        np.testing.assert_allclose(widths, 1 + 26 * weights, atol=0.051)
        said, changed = shown["sentence"].split(". Vectors that changed: ")
        assert said == " ".join(WORDS[i] for i in order)
        same = said == " ".join(WORDS)
        assert (changed == "0.") == (same or not codes) == (not shown["reached"])


def squares(svg):
    """The entries of all squares without numbers, a minus where one is drawn."""
    entry = r'class="entry" opacity="([\d.]+)">.*?</g>(<path class="minus")?'
    found = [float(x) * (-1 if sign else 1) for x, sign in re.findall(entry, svg)]
    return np.array(found).reshape(-1, 2, 2)


def test_turn():
    """Squares and hands at any angle; T(1) fits, and nothing else does."""
    speeds = angular_frequencies(32)[:3]
    for angle in np.linspace(-6.2, 6.2, 41):
        shown = view("turn", angles=[angle, 0, 0])
        np.testing.assert_allclose(
            squares(shown["svg"])[0], shift_matrix(angle, 2), atol=0.00501
        )
        found = turns(shown["svg"])[:17]
        same_angle(found[0], angle)
        same_angle(found[1::2], np.arange(1, 9))
        same_angle(found[2::2], np.arange(8) + angle)
        assert shown["sentence"].startswith("0 of 3")
    assert view("turn", angles=speeds.tolist())["reached"]
    assert view("turn", angles=(speeds - 2 * np.pi).tolist())["reached"]
    assert not view("turn", angles=[1, speeds[1] + 0.001, speeds[2]])["reached"]


def test_rotation():
    """T(k), its turns and the hands, at all offsets; the position changes no entry."""
    speeds = angular_frequencies(6, base=50)
    for position, offset in product((0, 7, 40), range(-24, 25)):
        shown = view("rotation", position=position, offset=offset)
        T = shift_matrix(offset, 6, base=50)
        entries = numbers(" ".join(words(shown["svg"], "number"))).reshape(3, 2, 2)
        for j, speed in enumerate(speeds):
            block = T[2 * j : 2 * j + 2, 2 * j : 2 * j + 2]
            np.testing.assert_allclose(entries[j], block, atol=0.00501)
            found = turns(shown["svg"])[11 * j : 11 * j + 11]
            t = position + np.arange(5)
            same_angle(found[0], speed * offset)
            same_angle(found[1::2], speed * t)
            same_angle(found[2::2], speed * (t + offset))
        radians = re.findall(r">(\S+) rad<", shown["svg"])
        np.testing.assert_allclose(
            numbers(" ".join(radians)), speeds * offset, atol=0.00501
        )
        said = f"T({offset}) takes position {position} to {position + offset}."
        assert shown["sentence"] == said.replace("-", "−")


def levels(svg):
    """The table that a heat map shows, from -1 to 1, of its rows and columns."""
    table = {}
    cell = r'<path class="(\w+) cell" d="([^"]*)" opacity="([\d.]+)"'
    for _, runs, opacity in re.findall(cell, svg):
        for t, row in re.findall(r"M(\d+) (\d+)\.5h1", runs):
            table[int(row), int(t)] = 2 * float(opacity) - 1
    shape = np.array([*table]).max(axis=0) + 1
    return np.array(
        [[table.get((i, t), -1) for t in range(shape[1])] for i in range(shape[0])]
    )


def test_field():
    """The nearest code and its cosine, bars and squares, at every corner."""
    for n, hands in product((7, 16, 33, 48, 64), (1, 2, 3, 9, 16)):
        shown = view("field", words=n, hands=hands)
        P = sinusoidal(np.arange(n), 32)[:, : 2 * hands]
        alike = P @ P[0] / hands
        nearest = 1 + int(alike[1:].argmax())
        found = numbers(shown["sentence"])
        assert found[:3].tolist() == [n, hands, nearest] and found[3] == 0
        assert abs(found[4] - alike[nearest]) < 0.00501
        bars = np.ravel(drawn(shown["svg"], "(?:score|best)", "height"))
        np.testing.assert_allclose(bars, 76 * np.maximum(0, alike), atol=0.051)
        if 'cell"' in shown["svg"]:
            assert np.abs(levels(shown["svg"]) - P.T).max() < 0.0626
        else:
            same_angle(
                turns(shown["svg"]),
                np.outer(np.arange(n), angular_frequencies(32)[:hands]).ravel(),
            )
    assert (
        "code 44 is most like code 0, cosine 1.00"
        in view("field", words=48, hands=1)["sentence"]
    )


def test_heat_map():
    """Table, digits and factor for all widths and bases; exactly twice is found."""
    won = set()
    for d, base in product((4, 8, 16), field.BASES):
        for t in (0, 6, 31):
            shown = view("heat_map", d_model=d, base=base, position=t)
            found = numbers(shown["sentence"])
            assert abs(found[0] - base ** (2 / d)) < 0.00501
            assert found[2] == t and found[3:].tolist() == binary(t, 5).tolist()
        P = sinusoidal(np.arange(32), d, base=base)
        assert np.abs(levels(shown["svg"]) - P.T).max() < 0.0626
        ones = re.search(r'class="digit cell" d="([^"]*)"', shown["svg"])[1]
        cells = numbers(ones.replace("h1", "")).reshape(-1, 2).astype(int)
        digits = np.zeros((32, 5))
        digits[cells[:, 0], cells[:, 1]] = 1
        assert (digits == binary(np.arange(32), 5)).all()
        if shown["reached"]:
            won.add((d, base))
    assert won == {(4, 4), (8, 16), (16, 256)}
