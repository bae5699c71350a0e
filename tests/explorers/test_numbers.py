"""Every number that a drawing shows is what ``pe_lib`` computes, over its range."""

import base64
import csv
import json
import re
from itertools import combinations, permutations, product
from pathlib import Path

import numpy as np
import pytest

from pe_lib import angular_frequencies, shift_matrix, sinusoidal
from pe_lib.attention import attention, softmax
from pe_lib.beyond import scaling
from pe_lib.beyond.rotary import apply_rotary
from pe_lib.explorers import dial, drawing
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
        arrows = np.array(drawn(shown["svg"], "ink"))[:, 2:4]
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


def test_a_hand_falls_into_the_nearest_notch():
    """Within 0.045, on any round; elsewhere it stays where it was put."""
    fall = "drawing.drawings.turn.handles({ angles: [0, 0, 0] })[%d].set(%r).angles[%d]"
    for j, speed in enumerate(angular_frequencies(32)[:3].tolist()):
        for rounds, away in product((-1, 0, 1), (-0.05, -0.044, 0, 0.044, 0.05)):
            notch = speed + 2 * np.pi * rounds
            put = notch + away
            there = drawing.engine().eval(fall % (j, put, j))
            assert abs(there - (put if abs(away) > 0.045 else notch)) < 1e-9


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
        np.testing.assert_allclose(bars, bars[0] * np.maximum(0, alike), atol=0.11)
        if 'cell"' in shown["svg"]:
            assert np.abs(levels(shown["svg"]) - P.T).max() < 0.0626
        else:
            same_angle(
                turns(shown["svg"]),
                np.outer(np.arange(n), angular_frequencies(32)[:hands]).ravel(),
            )
    assert (
        "encoding 44 is most like encoding 0, cosine 1.00"
        in view("field", words=48, hands=1)["sentence"]
    )


def test_straight_line():
    """Wherever its ends are, the highest score is that of an end, or all are equal."""
    for left, right in product(np.linspace(-1, 1, 9), repeat=2):
        shown = view("straight_line", left=left, right=right)
        scores = left + (right - left) * (60 + 120 * np.arange(5) - 38) / 524
        heights = np.ravel(drawn(shown["svg"], "(?:score|best)", "cy"))
        np.testing.assert_allclose(heights, 200 - 70 * scores, atol=0.051)
        aim = drawn(shown["svg"], "aim")[0][0]
        assert words(shown["svg"], "word aimed") == ["old"] and aim == 60 + 3 * 120
        best = np.flatnonzero(scores > scores.max() - 1e-9)
        assert len(best) == 5 or best.tolist() in ([0], [4])
        end = f"{WORDS[best[0]]} at {best[0]}: an end."
        assert shown["sentence"].endswith(end if len(best) == 1 else "all words alike.")


def test_the_bubble_runs_per_second():
    """As far in a second at any rate of frames; up, to an end, and there it rests."""
    run = """(rate, seconds, left, right) => {
        const { tick, start } = drawing.drawings.straight_line;
        let state = { ...start, left, right };
        for (let n = 0, next; n < rate * seconds && (next = tick(state, 1 / rate)); n++)
            state = next;
        return JSON.stringify([state.x, state.v, state.passes]); }"""

    def after(*how):
        return json.loads(drawing.engine().eval(f"({run})(...{json.dumps(how)})"))

    slow, fast = (after(rate, 1, -0.1, 0.1)[0] for rate in (60, 240))
    assert -200 < slow < 200 and abs(slow - fast) < 12
    assert after(60, 20, -0.1, 0.1)[:2] == [240, 0]
    assert after(60, 20, 0.1, -0.1) == [-240, 0, 0]
    assert after(60, 20, -0.1, 0.1)[2] % 2 == 1


def attended(scores):
    """For each query the keys of the highest score."""
    return [np.flatnonzero(row > row.max() - 1e-9).tolist() for row in scores]


def test_switches():
    """All 27 settings: keys, arrows, hits; two is the most."""
    P = binary(np.arange(5), 3, centered=True)
    most = 0
    for switches in product((-1, 0, 1), repeat=3):
        shown = view("switches", switches=switches, presses=3)
        looks = attended(P * switches @ P.T)
        hits = sum(looks[t] == [t - 1] for t in range(1, 5))
        lamps = re.findall('class="(on|off|none)"', shown["svg"])
        keys = [{"on": 1, "off": -1, "none": 0}[lamp] for lamp in lamps]
        assert np.array_equal(np.reshape(keys, (3, 5)).T, P * switches)
        assert shown["svg"].count('"found"') == hits
        if looks == [[t] for t in range(5)]:
            assert shown["sentence"] == "Each word attends most to itself."
        else:
            said = f"{hits} of 4 words attend most to the word before."
            assert shown["sentence"] == said
        assert shown["reached"] == (hits == 2)
        assert not view("switches", switches=switches, presses=2)["reached"]
        most = max(most, hits)
    assert most == 2


def test_wheel():
    """Sine and cosine of the hand, and of all its past on paper."""
    for turn in (-20, -7.3, 0, 0.9, 2.56, 40.7, 99):
        shown = view("wheel", turn=turn)
        sine, cosine = sinusoidal([turn], 2)[0]
        found = numbers(shown["sentence"])
        np.testing.assert_allclose(found[1:], [sine, cosine], atol=0.00501)
        assert abs(found[0] - turn) < 0.051
        for kind, row, mid, sign in (("cosine", 1, 140, -1), ("sine", 0, 150, 1)):
            points = drawn(shown["svg"], kind)[0].reshape(-1, 2)[:, :: 1 if row else -1]
            past = turn - 0.021 * (points[:, 0] - (275 if row else 258))
            wave = mid + sign * 100 * sinusoidal(past, 2)[:, row]
            np.testing.assert_allclose(points[:, 1], wave, atol=0.051)


def test_the_sine_alone():
    """Two hands with one sine; one position on their sines differ, but at an end."""
    for turn in (-2, 0.3, 0.9, np.pi / 2, 4):
        shown = view("wheel", turn=turn, alone=True)
        here, *on = numbers(shown["sentence"].replace("One", ""))
        hands = np.array([turn, np.pi - turn])
        assert abs(np.sin(hands) - here).max() < 0.00501
        np.testing.assert_allclose(on, np.sin(hands + 1), atol=0.00501)
        rings = np.ravel(drawn(shown["svg"], "ring", "cx"))
        np.testing.assert_allclose(rings, 150 + 100 * np.sin(hands + 1), atol=0.051)
        assert shown["reached"] == (abs(np.cos(turn)) > 0.2)


def test_two_hands():
    """The nearest position and the whole curve, at all 99 frequencies."""
    t, won = np.arange(1, 100), []
    for hundredths in range(1, 100):
        slow = hundredths / 100
        shown = view("two_hands", slow=slow)
        P = np.hstack([sinusoidal(np.r_[0, t], 2), sinusoidal(slow * np.r_[0, t], 2)])
        far = np.linalg.norm(P[1:] - P[0], axis=1)
        found = numbers(shown["sentence"])
        assert found[0] == t[far.argmin()]
        assert abs(found[2] - far.min()) < 0.00501
        curve = drawn(shown["svg"], "curve")[0].reshape(-1, 2)[:, 1]
        np.testing.assert_allclose(curve, 410 - 80 * far, atol=0.051)
        assert shown["reached"] == (far.min() >= 0.58)
        if shown["reached"]:
            won.append(slow)
    assert won == [0.39]


def test_penalty():
    """Both curves and all dots, from the kept means and the kept attention."""
    kept = {}
    for name in ("smollm_means", "smollm_gap_heads"):
        lines = (STORED.parent / f"{name}.csv").read_text("utf-8").splitlines()
        kept[name] = list(csv.DictReader(line for line in lines if line[0] != "#"))
    means = np.array([complex(float(row["real"]), float(row["imaginary"]))
                      for row in kept["smollm_means"]])  # fmt: skip
    omega = angular_frequencies(64, base=100_000)
    heads = {int(row["gap"]): row for row in kept["smollm_gap_heads"]
             if (row["layer"], row["head"]) == ("21", "0")}  # fmt: skip
    offsets = 1 + 99 * np.arange(340)
    parts = (means * np.exp(1j * np.outer(offsets, omega))).real
    svg, won = view("penalty")["svg"], set()
    ((_, all_pairs), (_, pair_22), (at, share)), (there, height) = (
        [
            curve.reshape(-1, 2).T
            for curve in drawn(svg, "missed") + drawn(svg, "curve")
        ],
        np.transpose([np.ravel(drawn(svg, "solid", c))[:-1] for c in ("cx", "cy")]).T,
    )
    for line, m in (all_pairs, parts.sum(1)), (pair_22, parts[:, 22]):
        assert np.abs((246 - line) / 5 - (m - m[0])).max() < 0.06
    shown = {gap: row for gap, row in heads.items() if gap <= 32_768}
    assert len(there) == len(shown) == 15
    for gap, row in shown.items():
        x = 50 + (gap + 1152) / 68
        near = np.abs(there - x).argmin()
        assert abs(there[near] - x) < 0.06
        assert abs((530 - height[near]) / 110 - float(row["measured"])) < 0.001
        if gap < 32_768:
            predicted = (530 - share[np.abs(at - x).argmin()]) / 110
            assert abs(predicted - float(row["predicted"])) < 0.02
        said = view("penalty", distance=gap + 1152)
        found = numbers(said["sentence"])
        expected = gap + 1152, float(row["predicted"]), float(row["measured"])
        np.testing.assert_allclose(found[[0, 2, 3]], expected, atol=0.02)
        won |= {gap} if said["reached"] else set()
    assert won == {20_480}


def test_stretch():
    """All 480 settings: stems, line, counts, and the gap that is kept."""
    rules = {
        "none": lambda old, *_: old,
        "interpolate": lambda old, s, _: scaling.interpolate(old, s),
        "ntk": lambda old, s, _: scaling.ntk(old, s),
        "yarn": scaling.by_parts,
        "llama3": scaling.llama3,
    }
    won = set()
    bases, lengths = (100, 10_000, 500_000, 1_000_000), (64, 512, 4096, 8192)
    for rule, s, base, L in product(rules, (1, 2, 4, 8, 16, 32), bases, lengths):
        shown = view("stretch", rule=rule, factor=s, base=base, trained_length=L)
        old = angular_frequencies(128, base=base)
        new = rules[rule](old, s, L)
        far = scaling.unseen_angles(old, new, L, 8 * L)
        far = far[far > 0]
        unseen = np.count_nonzero(far > 1 + 1e-9)
        share = (1 - np.cos(new).mean()) / (1 - np.cos(old).mean())
        curve = drawn(shown["svg"], "curve")[0].reshape(-1, 2)[:, 1]
        np.testing.assert_allclose(curve, 214 - 26 * np.log2(new / old), atol=0.051)
        stems = np.array(drawn(shown["svg"], "(?:unseen|stem)")).reshape(-1, 3)[:, 2]
        np.testing.assert_allclose(stems, 108 - 26 * np.log2(far), atol=0.051)
        found = numbers(shown["sentence"])
        assert found[0] == s and abs(found[-1] - 100 * share) < 0.501
        if unseen:
            assert found[1:3].tolist() == [unseen, len(far)]
            assert abs(found[3] - far.max()) < 0.0501
        assert shown["reached"] == (len(far) > 0 == unseen and share >= 0.9)
        if shown["reached"] and base == 10_000:
            won.add((rule, s, L))
    by_parts = product(("llama3", "yarn"), (8, 16, 32), lengths)
    assert won == {one for one in by_parts if one[::2] != ("yarn", 64)}


def test_hero():
    """Hands and turns of the song's field, wherever it is dragged."""
    speeds = angular_frequencies(12, base=50)
    for by in (0, 1, -3, 0.4, 2.7, -1.2, 99):
        shown = view("hero", moved_by=by)
        same_angle(turns(shown["svg"]), np.outer(np.arange(18) + by, speeds).ravel())
        found = numbers(shown["sentence"])
        if by != round(by):
            degrees = np.degrees(by * speeds[[0, -1]])
            assert found[0] == abs(by)
            np.testing.assert_allclose(found[1:], degrees, atol=0.501)
    for time, said in ((0.6, "The words in a heap"), (1.2, "Four times merrily")):
        assert view("hero", time=time)["sentence"].startswith(said)


def test_patches():
    """Weights, and what is highest, at all places; diagonals alone can do it."""
    steps = np.arange(-3, 4)
    places = np.stack(np.meshgrid(steps, steps, indexing="ij"), -1).reshape(-1, 2)
    for down, right, diagonals in product(steps, steps, (False, True)):
        shown = view(
            "patches", down=int(down), right=int(right), diagonals=bool(diagonals)
        )
        ways = [(1, 0), (0, 1), *([(1, 1), (1, -1)] if diagonals else [])]
        hands = np.array([s * np.array(way) for s in (2, 1, 0.5) for way in ways])
        # The query's hands against the key's, turned by what is wanted, both ways.
        scores = sum(
            np.cos((places - sign * np.array([down, right])) @ hands.T).sum(axis=1)
            for sign in (1, -1)
        )
        weights = softmax(3 * scores)
        found = re.findall(r'class="weight" opacity="([\d.]+)"', shown["svg"])
        np.testing.assert_allclose(
            np.array(found, dtype=float), np.minimum(1, 2 * weights), atol=0.000501
        )
        wanted = {24 + 7 * down + right, 24 - 7 * down - right}
        best = set(np.flatnonzero(scores > scores.max() - 1e-9))
        share = weights[list(wanted)].sum()
        assert abs(numbers(shown["sentence"])[-1] - share) < 0.00501
        more = f"{len(best)} patches, {len(best) - len(wanted)} too many"
        assert (more in shown["sentence"]) == (len(best) > len(wanted))
        assert shown["reached"] == (bool(down and right) and best == wanted)
        assert diagonals or not shown["reached"]


def test_galaxy():
    """Every dot, and the norm of code 100; it catches on the ring and its parts."""
    for size, turn in product(
        (0.5, 0.9, 0.959, 0.961, 1, 1.039, 1.041, 1.2), (-3, 0.4, 1.13)
    ):
        shown = view("galaxy", size=size, turn=turn)
        caught = 1 if abs(size - 1) < 0.04 else size
        P = caught ** np.arange(300)[:, np.newaxis] * sinusoidal(
            turn * np.arange(300), 2
        )
        places = (300, 212) + 165 * P * (1, -1)
        norms = np.linalg.norm(P, axis=1)
        for first, last, kind in ((5, 100, "first"), (100, 200, "second")):
            dots = drawn(shown["svg"], f"dust {kind}")[0].reshape(-1, 3)[:, :2]
            seen = np.arange(first, last)[165 * norms[first:last] < 290]
            np.testing.assert_allclose(dots, places[seen], atol=0.051)
        said = shown["sentence"]
        if caught == 1:
            assert "Equal norms and no equals" in said and shown["reached"]
            assert abs(numbers(said)[0] - np.degrees(turn)) < 0.051
        elif norms[100] < 1e6:
            share = norms[100] * (1 if size > 1 else 100)
            assert abs(numbers(said)[1] - share) < 0.501
    for parts, near in product(range(3, 13), (-0.014, 0, 0.014)):
        shown = view("galaxy", size=0.99, turn=-2 * np.pi / parts + near)
        assert f"but encoding {parts} equals encoding 0" in shown["sentence"]
        assert not shown["reached"]


def test_plane():
    """Norms and misses against least squares, on the way to a circle and beside it."""
    rng = np.random.default_rng(0)
    start = np.array([(0, 0.8), (0.3, 0.2), (0.9, 0.4), (0.5, -0.6), (-0.7, -0.3)])
    circle = sinusoidal(0.7 * np.arange(5), 2)
    doubles = sinusoidal(1.5 * (np.arange(5) % 2), 2)
    codes = [start + part * (circle - start) for part in np.linspace(0, 1, 21)]
    codes += [sinusoidal(step * np.arange(5), 2) for step in (0.2, 0.21, 0.23, 0.3)]
    codes += [doubles, *rng.uniform(-1.2, 1.2, (30, 5, 2)), np.zeros((5, 2))]
    won = []
    for P, n in product(codes, (5, 12, 40)):
        right, up = P.T.tolist()
        shown = view("plane", right=right, up=up, positions=n)
        move = np.linalg.lstsq(P[:-1], P[1:], rcond=None)[0]
        size = np.mean(P**2) or 1
        miss = np.sqrt(np.mean((P[:-1] @ move - P[1:]) ** 2) / size)
        text = list(P)
        while len(text) < n:
            text.append(text[-1] @ move)
        norms = np.linalg.norm(text, axis=1)
        spread = 1 - norms.min() / norms.max() if norms.max() else 1
        found = numbers(shown["sentence"])
        assert abs(found - 100 * np.array([spread, miss])).max() < 0.501
        apart = min(np.linalg.norm(p - q) for p, q in combinations(P, 2)) > 0.22
        both = spread <= 0.1 and miss <= 0.05 and norms.max() > 0
        assert shown["reached"] == (both and apart)
        assert ("two encodings are equal" in shown["sentence"]) == (both and not apart)
        won.append(shown["reached"])
        for kind, points in (("wanted", P[:-1] @ move), ("score", np.array(text[5:]))):
            x, y = (np.ravel(drawn(shown["svg"], kind, name)) for name in ("cx", "cy"))
            points = points.reshape(-1, 2)
            points = points[np.linalg.norm(points, axis=1) < 3]
            np.testing.assert_allclose(x, 300 + 170 * points[:, 0], atol=0.051)
            np.testing.assert_allclose(y, 225 - 170 * points[:, 1], atol=0.051)
    assert any(won) and not all(won)


def test_spike():
    """Waves, bars and the share of the crest, with all hands and turns."""
    P, query = sinusoidal(np.arange(24), 32), 20
    for hands, back in product(range(1, 11), range(1, 13)):
        shown = view("spike", hands=hands, back=back)
        Q = P[:, : 2 * hands]
        weights = softmax(4 * P[query] @ shift_matrix(back, 32)[:, : 2 * hands] @ Q.T)
        heights = np.ravel(drawn(shown["svg"], "(?:score|best)", "height"))
        np.testing.assert_allclose(heights, 130 * weights, atol=0.051)
        s = np.linspace(-0.5, 23.5, 181)
        angles = np.outer(angular_frequencies(32)[:hands], query - back - s)
        waves = np.reshape(drawn(shown["svg"], "cosine thin"), (hands, 181, 2))
        rows = 28 + 24 * np.arange(hands)[:, np.newaxis]
        np.testing.assert_allclose(
            waves[:, :, 1], rows - 10 * np.cos(angles), atol=0.051
        )
        share = 100 * weights[query - back]
        found = numbers(shown["sentence"])
        assert found[0] == hands and found[2] == back and abs(found[1] - share) < 0.501
        assert shown["reached"] == (share > 80)


def test_rotary():
    """Angles, needle and score of all pairs; the score is that of the offset alone."""
    arrows, scores = np.array([[np.cos(x), np.sin(x)] for x in (0.35, 1.25)]), {}
    for key in range(28):
        for query in range(key + 1, min(28, key + 25) + 1):
            shown = view("rotary", query=query, key=key)
            k, q = apply_rotary(arrows, [key, query], frequencies=[0.5])
            same_angle(turns(shown["svg"]), [0.5 * key + 0.35, 0.5 * query + 1.25])
            *_, x, y = drawn(shown["svg"], "ink")[1]
            needle = 74 * np.array([np.sin(0.8 * q @ k), -np.cos(0.8 * q @ k)])
            np.testing.assert_allclose((x - 496, y - 190), needle, atol=0.051)
            found = numbers(shown["sentence"])
            assert found[:3].tolist() == [query, key, query - key]
            gap = np.degrees(0.5 * (query - key) + 0.9) % 360
            assert abs(found[3] - gap) < 0.501 and abs(found[4] - q @ k) < 0.00501
            scores.setdefault(query - key, set()).add(
                shown["sentence"].split("apart")[1]
            )
    assert {len(same) for same in scores.values()} == {1}


ROOT = Path(drawing.__file__).parents[2]
STORED = ROOT / "book/beyond/data/smollm_sentences.csv"
READ = (
    "The old king gave seven golden apples to his youngest daughter before the first"
    " snow of winter fell on the silent town"
)


def test_skip():
    """All eighteen answers: text, bars, and what is crossed out, as stored."""
    lines = STORED.read_text("utf-8").splitlines(keepends=True)
    rows = [line for line in lines if line[0] != "#"]
    won = set()
    for heads, back in product(("four", "twenty"), np.arange(9) / 4):
        shown = view("skip", heads=heads, quarters=4 * back)
        wanted = {"text": "king", "heads": heads, "back": f"{back:g}"}
        wanted |= {} if back else {"heads": "none"}
        tokens = [row for row in csv.DictReader(rows) if wanted.items() <= row.items()]
        heights = np.ravel(drawn(shown["svg"], "score", "height"))
        chances = [float(row["probability"]) for row in tokens]
        np.testing.assert_allclose(heights, 170 * np.array(chances), atol=0.051)
        answer = "".join(row["token"] for row in tokens).strip().split("\n")[0]
        answer = answer.partition(".")[0] + ("." if "." in answer else " ...")
        many = {"four": "four heads", "twenty": "twenty heads"}[heads]
        how = f"{many} turned back by {back:g}" if back else "as trained"
        assert shown["sentence"] == f"Stored answer, {how}: {answer}"
        kinds = re.findall(r'<tspan class="(\w+)">(\w+)', shown["svg"])
        assert [word for _, word in kinds] == READ.split()
        marks, last = ["later"] * 22, 0
        for word in answer.replace(".", "").split():
            if word in READ.split()[last + 1 :]:
                there = READ.split().index(word, last + 1)
                marks[last + 1 : there] = ["skipped"] * (there - last - 1)
                marks[there], last = "written", there
        assert [kind for kind, _ in kinds] == marks
        same_angle(turns(shown["svg"]), [back])
        if shown["reached"]:
            won.add((heads, back))
    assert ("four", 0.75) in won and ("four", 0.5) not in won
    assert ("twenty", 0.75) in won and ("twenty", 0.5) not in won


def rounded():
    """E, U, W0, V0, W1 and V1 of the dial's model, and half a level of each."""
    kept = dial.model()
    raw = np.frombuffer(base64.b64decode(kept["levels"], b"+_"), dtype=np.int8)
    parts = np.split(raw.reshape(-1, 32), np.cumsum([128, 128, 32, 32, 32]))
    scales = kept["scales"]
    return [s * part.astype(float) for s, part in zip(scales, parts, strict=True)]


def test_dial_is_the_trained_model():
    """Each number is within half a level of that of the chapter's model."""
    pytest.importorskip("torch")
    from pe_lib.experiments import induction, matrices

    stored = matrices.load(ROOT / "book/experiments/data/dial_weights.csv")
    model = induction.products(induction.made_of(stored, induction.Settings()))
    for name, kept, scale in zip(
        ("E", "U", "W0", "V0", "W1", "V1"),
        rounded(),
        dial.model()["scales"],
        strict=True,
    ):
        assert np.abs(kept - model[name]).max() < scale / 2 + 1e-4  # as kept
        assert np.abs(kept).max() == 127 * scale


def read(words, k):
    """The weights of both layers, and how likely each word comes next."""
    E, U, W0, V0, W1, V1 = rounded()
    P = sinusoidal(np.arange(32), 32)
    seen = np.tri(32, dtype=bool)
    x = E[words] + P
    scores = x @ W0 @ x.T
    if k is not None:
        scores += P @ (30 * shift_matrix(k, 32) - W0) @ P.T
    first = softmax(np.where(seen, scores, -np.inf))
    x = x + first @ x @ V0
    second = softmax(np.where(seen, x @ W1 @ x.T, -np.inf))
    return first, second, softmax((x + second @ x @ V1) @ U.T)


def test_dial():
    """All that it computes is what NumPy computes with the same rounded matrices."""
    text, matches = dial.first_text()
    other = np.random.default_rng(0).permutation(128)[:32]
    other[20:26] = other[5:11]
    for words, k in product((text, other.tolist()), (None, *range(5))):
        first, second, chances = read(words, k)
        match = [words.index(word) for word in words]
        asked = [t for t in range(32) if match[t] < t]
        if words is text:
            assert asked == [t for t, at in enumerate(matches) if at == match[t]]
        named = chances.argmax(axis=1)
        after = 1 if k is None else k
        right = sum(named[t] == words[match[t] + after] for t in asked)
        for t in (0, 7, 23, 25, 31):
            shown = view("dial", words=words, k=k, position=t)
            looked = second[t].argmax()
            heights = np.ravel(drawn(shown["svg"], "(?:score|best)", "height"))
            weights = np.concatenate([second[t], first[looked]])
            np.testing.assert_allclose(heights, 76 * weights, atol=0.051)
            name = [dial.VOCABULARY[word] for word in words]
            written = r'<text class="(?:word|inside)"[^>]*>([^<]*)'
            assert re.findall(written, shown["svg"]) == name
            brought = name[first[looked].argmax()]
            for layer, one, two in ((2, t, looked), (1, looked, None)):
                pair = f"{name[one]} → {brought if two is None else name[two]}"
                assert f"layer {layer}: {pair}<" in shown["svg"]
            how = "As trained" if k is None else f"With T({k})"
            said = f"{how}: after {name[t]} the model names {dial.VOCABULARY[named[t]]}"
            assert shown["sentence"].startswith(said)
            new = f". {name[t]} has not stood here before."
            assert (new in shown["sentence"]) == (match[t] == t)
            sure = re.search(r"It is (\d+) % sure", shown["sentence"])[1]
            assert abs(float(sure) - 100 * chances[t, named[t]]) < 0.501
            told = f" {right} of {len(asked)} answers are {after} after the match."
            assert shown["sentence"].endswith(told)
            third = match[t] < t and named[t] == words[match[t] + 3]
            assert shown["reached"] == third
    assert view("dial", k=3)["reached"] and not view("dial")["reached"]
    assert len(set(dial.VOCABULARY)) == 128


def test_another_text_has_words_that_come_twice():
    """Whatever the chance: 32 words, of which five to eight come twice, in order."""
    press = "drawing.drawings.dial.handles(drawing.full('dial', {}))[2].press()"
    for _ in range(50):
        new = json.loads(drawing.engine().eval(f"JSON.stringify({press})"))
        text, t = new["words"], new["position"]
        assert len(text) == 32 and set(map(text.count, text)) == {1, 2}
        assert text.index(text[t]) < t and 5 <= 32 - len(set(text)) <= 8
        assert text.index(text[t]) == text.index(text[t - 1]) + 1


def test_each_drawing_has_a_test_of_its_name():
    kinds = {kind._name for kind in drawing.Drawing.__subclasses__()}
    written = "".join(x.read_text() for x in Path(__file__).parent.glob("test_*.py"))
    missing = {kind for kind in kinds if f"def test_{kind}(" not in written}
    assert len(kinds) > 15 and not missing, (
        f"write tests of {missing}: the numbers it shows, beside those of pe_lib"
    )
