"""Every number that a drawing shows is what ``pe_lib`` computes, over its range."""

import base64
import csv
import json
import re
from functools import cache
from itertools import combinations, permutations, product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from pe_lib import angular_frequencies, shift_matrix, sinusoidal
from pe_lib.attention import attention, softmax
from pe_lib.beyond import scaling
from pe_lib.beyond.rotary import apply_rotary
from pe_lib.explorers import dial, drawing
from pe_lib.naive import binary
from tests.experiments.two_softmaxes import two_softmaxes

WORDS = ("New", "York", "beats", "old", "York")
ROOT = Path(drawing.__file__).parents[2]
BARS = "(?:score|best)"


def view(name, **state):
    return SimpleNamespace(**drawing.view(name, state))


def run(script):
    """What an expression of JavaScript is, with all drawings at hand."""
    return json.loads(drawing.engine().eval(f"JSON.stringify({script})"))


def stored(name, columns, **wanted):
    """Columns of a file that chapters read, of the rows that have what is wanted."""
    lines = (
        (ROOT / f"book/beyond/data/{name}.csv")
        .read_text("utf-8")
        .splitlines(keepends=True)
    )
    rows = csv.DictReader(line for line in lines if line[0] != "#")
    found = [row for row in rows if wanted.items() <= row.items()]
    return np.array([[row[x] for x in columns] for row in found])


def near(found, expected, atol=0.051):
    """As many numbers, equal but for rounding: to one decimal, as drawings have it."""
    found, expected = np.ravel(found), np.ravel(expected)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=atol)


def numbers(text):
    """All numbers in a text, and the units to which they are rounded."""
    found = re.findall(r"-?\d+(?:\.\d+)?", text.replace("−", "-").replace(",", ""))
    units = [10.0 ** -len(x.partition(".")[2]) for x in found]
    return np.array(found, dtype=float), np.array(units)


def says(text, *expected):
    """The numbers of a text are these, each rounded to the digits that it has."""
    found, units = numbers(text)
    near(found / units, np.hstack(expected) / units, 0.501)


def drawn(shown, kind, attribute="d"):
    """The numbers of one attribute of all pieces of a kind, one after the other."""
    pieces = re.findall(f'<\\w+ class="{kind}"[^>]*? {attribute}="([^"]*)"', shown.svg)
    return numbers(" ".join(pieces))[0]


def words(shown, kind):
    """What is written in all texts of a kind."""
    return re.findall(f'<text class="{kind}"[^>]*>([^<]*)', shown.svg)


def turned(shown, angles):
    """Groups are turned by so many radians, but for whole turns."""
    found = numbers(" ".join(re.findall(r'"rotate\(.*?"', shown.svg)))[0]
    away = np.radians(found) - np.ravel(angles)
    near((away + np.pi) % (2 * np.pi) - np.pi, np.zeros(np.size(angles)), 0.001)


def test_shuffle():
    """All sixty orders: vectors, weights, arrows, and what changed."""
    vectors = np.array([(1, 0), (1, 1), (0, -1), (-1, 1), (1, 1)])
    for order, codes in product(permutations(range(5)), (False, True)):
        code = np.outer(np.arange(5), (0.1 * codes, 0))
        X, places = vectors[list(order)] + code, np.argsort(order)
        new = attention(np.sqrt(2) * X, X, X)[0][places]
        shown = view("shuffle", places=places.tolist(), codes=codes)
        says(" ".join(words(shown, "count")), new.ravel())
        arrows = drawn(shown, "ink").reshape(5, -1)[:, 2:4]
        near(arrows, 44 * new * (1, -1) + (0, 116))
        weights = softmax(X @ X.T)[places[4], places]
        near(drawn(shown, "thread", "stroke-width"), 1 + 26 * weights)
        said, changed = shown.sentence.split(". Vectors that changed: ")
        assert said == " ".join(WORDS[i] for i in order)
        moved = codes and said != " ".join(WORDS)
        assert (changed != "0.") == moved == shown.reached


def test_turn():
    """Squares and hands at any angles; T(1) fits, and nothing else does."""
    speeds, t = angular_frequencies(32)[:3], np.arange(8)
    entry = r'class="entry" opacity="([\d.]+)">.*?</g>(<path class="minus")?'
    for angles in np.random.default_rng(0).uniform(-6.2, 6.2, (41, 3)):
        shown = view("turn", angles=angles.tolist())
        squares = re.findall(entry, shown.svg)
        signed = [float(x) * (-1 if minus else 1) for x, minus in squares]
        near(signed, [shift_matrix(angle, 2) for angle in angles], 0.00501)
        there, put = np.outer(speeds, t + 1), (np.outer(speeds, t).T + angles).T
        hands = np.stack([there, put], axis=2).reshape(3, 16)
        turned(shown, np.column_stack([angles, hands]))
        says(shown.sentence, 0, 3)
    # A knob that is put within 0.045 of a fitting angle falls into it, on any round.
    fall = "drawing.drawings.turn.handles({ angles: [0, 0, 0] })[%d].set(%r).angles[%d]"
    aways = (-0.05, -0.044, 0, 0.001, 0.044, 0.05)
    for j, rounds, away in product(range(3), (-1, 0, 1), aways):
        notches = speeds + 2 * np.pi * rounds
        put = (notches + away * (np.arange(3) == j)).tolist()
        assert view("turn", angles=put).reached == (not away)
        there = put if abs(away) > 0.045 else notches
        near(run(fall % (j, put[j], j)), there[j], 1e-9)


def test_field():
    """The nearest code and its cosine, bars and squares, at every corner."""
    cell = r'<path class="\w+ cell" d="([^"]*)" opacity="([\d.]+)"'
    for n, hands in product((7, 16, 33, 48, 64), (1, 2, 3, 9, 16)):
        shown = view("field", words=n, hands=hands)
        P = sinusoidal(np.arange(n), 32)[:, : 2 * hands]
        alike = P @ P[0] / hands
        nearest = 1 + int(alike[1:].argmax())
        says(shown.sentence, n, hands, nearest, 0, alike[nearest])
        bars = drawn(shown, BARS, "height")
        near(bars, bars[0] * np.maximum(0, alike), 0.11)
        if squares := re.findall(cell, shown.svg):
            table = np.full_like(P, -1)  # without a square
            for runs, opacity in squares:
                for t, row in re.findall(r"M(\d+) (\d+)\.5h1", runs):
                    table[int(t), int(row)] = 2 * float(opacity) - 1
            near(table, P, 0.0626)
        else:
            turned(shown, np.outer(np.arange(n), angular_frequencies(32)[:hands]))


def test_straight_line():
    """Wherever its ends are, the highest score is that of an end, or all are equal."""
    for left, right in product(np.linspace(-1, 1, 9), repeat=2):
        shown = view("straight_line", left=left, right=right)
        scores = left + (right - left) * (60 + 120 * np.arange(5) - 38) / 524
        near(drawn(shown, BARS, "cy"), 200 - 70 * scores)
        assert words(shown, "word aimed") == ["old"] and drawn(shown, "aim")[0] == 420
        best = np.flatnonzero(scores > scores.max() - 1e-9)
        end = f"{WORDS[best[0]]} at {best[0]}: an end."
        assert shown.sentence.endswith(end if len(best) == 1 else "all words alike.")
    # The bubble runs as far in a second at any rate of frames; at an end it rests.
    run_for = """((rate, seconds, slope) => {
        const { start, tick } = drawing.drawings.straight_line;
        let state = { ...start, left: -slope, right: slope };
        for (let n = 0; n < rate * seconds; n++) state = tick(state, 1 / rate) ?? state;
        return [state.x, state.v, state.passes]; })"""
    slow, fast = (run(f"{run_for}({rate}, 1, 0.1)")[0] for rate in (60, 240))
    assert -200 < slow < 200 and abs(slow - fast) < 12
    *rest, passes = run(f"{run_for}(60, 20, 0.1)")
    assert rest == [240, 0] and passes % 2 == 1
    assert run(f"{run_for}(60, 20, -0.1)") == [-240, 0, 0]


def test_switches():
    """All 27 settings: keys, arrows, hits; two is the most."""
    P = binary(np.arange(5), 3, centered=True)
    for switches in product((-1, 0, 1), repeat=3):
        shown = view("switches", switches=switches, presses=3)
        scores = P * switches @ P.T
        looks = [np.flatnonzero(row > row.max() - 1e-9).tolist() for row in scores]
        hits = sum(looks[t] == [t - 1] for t in range(1, 5))
        lamps = re.findall('class="(on|off|none)"', shown.svg)
        keys = [("off", "none", "on").index(lamp) - 1 for lamp in lamps]
        near(keys, (P * switches).T)
        assert shown.svg.count('"found"') == hits
        itself = looks == [[t] for t in range(5)]
        assert itself == (shown.sentence == "Each word attends most to itself.")
        says(shown.sentence, [] if itself else [hits, 4])
        assert shown.reached == (hits == 2) and hits < 3
        assert not view("switches", switches=switches, presses=2).reached


def test_wheel():
    """Sine and cosine of the hand and of its past; two hands with the same sine."""
    for turn in (-20, -7.3, -2, 0, 0.3, 0.9, np.pi / 2, 2.56, 40.7, 99):
        shown, alone = view("wheel", turn=turn), view("wheel", turn=turn, alone=True)
        says(shown.sentence, turn, *sinusoidal([turn], 2))
        ago, cosine = drawn(shown, "cosine").reshape(-1, 2).T - [[275], [140]]
        near(-cosine, 100 * np.cos(turn - 0.021 * ago))
        sine, ago = drawn(shown, "sine").reshape(-1, 2).T - [[150], [258]]
        near(sine, 100 * np.sin(turn - 0.021 * ago))
        on = np.sin([turn + 1, np.pi - turn + 1])
        says(alone.sentence, np.sin(turn), on)
        near(drawn(alone, "ring", "cx"), 150 + 100 * on)
        assert alone.reached == (np.ptp(on) > 0.3)


def test_two_hands():
    """The nearest position and the whole curve, at all 99 frequencies."""
    t = np.arange(1, 100)
    for slow in np.arange(1, 100) / 100:
        shown = view("two_hands", slow=slow)
        P = np.hstack([sinusoidal(np.r_[0, t], 2), sinusoidal(slow * np.r_[0, t], 2)])
        far = np.linalg.norm(P[1:] - P[0], axis=1)
        says(shown.sentence, t[far.argmin()], 0, far.min())
        near(drawn(shown, "curve")[1::2], 410 - 80 * far)
        labels = {
            "1 radian per position",
            f"{slow:.2f} radian per position",
            "goal: 0.58",
        }
        assert labels <= {*words(shown, "count")}
        assert shown.reached == (far.min() >= 0.58) == (slow == 0.39)


def test_penalty():
    """Both curves and all dots, from the kept means and the kept attention."""
    columns = ("gap", "predicted", "measured")
    kept = stored("smollm_gap_heads", columns, layer="21", head="0").astype(float)
    gaps, predicted, measured = kept[kept[:, 0].argsort()][:15].T
    means = stored("smollm_means", ("real", "imaginary")).astype(float) @ (1, 1j)
    omega = angular_frequencies(64, base=100_000)
    parts = (means * np.exp(1j * np.outer(1 + 99 * np.arange(340), omega))).real
    shown, where = view("penalty"), 50 + (gaps + 1152) / 68
    pair_22, share = np.split(drawn(shown, "curve").reshape(-1, 2), [340])
    means = np.transpose([parts.sum(axis=1), parts[:, 22]])
    ups = np.transpose([drawn(shown, "missed")[1::2], pair_22[:, 1]])
    near((246 - ups) / 5, means - means[0], 0.06)
    near(drawn(shown, "solid", "cx")[:-1], where, 0.06)
    near((530 - drawn(shown, "solid", "cy")[:-1]) / 110, measured, 0.001)
    near((530 - np.interp(where[:-1], *share.T)) / 110, predicted[:-1], 0.02)
    for gap, *both in zip(gaps, predicted, measured, strict=True):
        shown, far = view("penalty", distance=gap + 1152), gap + 1152
        near(numbers(shown.sentence)[0], [far, far / 8192, *both], 0.051)
        assert shown.reached == (gap == 20_480)


def test_stretch():
    """All 480 settings: stems, line, counts, and the gap that is kept."""
    plain = {
        "none": lambda w, _: w,
        "ntk": scaling.ntk,
        "interpolate": scaling.interpolate,
    }
    by_parts = {"yarn": scaling.by_parts, "llama3": scaling.llama3}
    bases, lengths = (100, 10_000, 500_000, 1_000_000), (64, 512, 4096, 8192)
    rules = (*plain, *by_parts)
    for rule, s, base, L in product(rules, (1, 2, 4, 8, 16, 32), bases, lengths):
        shown = view("stretch", rule=rule, factor=s, base=base, trained_length=L)
        old = angular_frequencies(128, base=base)
        new = plain[rule](old, s) if rule in plain else by_parts[rule](old, s, L)
        far = scaling.unseen_angles(old, new, L, 8 * L)
        far = far[far > 0]
        unseen = np.count_nonzero(far > 1 + 1e-9)
        share = (1 - np.cos(new).mean()) / (1 - np.cos(old).mean())
        near(drawn(shown, "curve")[1::2], 214 - 26 * np.log2(new / old))
        near(drawn(shown, "(?:unseen|stem)")[2::3], 108 - 26 * np.log2(far))
        slow = [unseen, len(far), far.max()] if unseen else []
        says(shown.sentence, s, slow, 100 * share)
        assert shown.reached == (len(far) > 0 == unseen and share >= 0.9)
        wins = rule in by_parts and (rule, L) != ("yarn", 64) and s > 4
        assert base != 10_000 or shown.reached == wins


def test_hero():
    """Hands and turns of the song's field, wherever it is dragged."""
    speeds = angular_frequencies(12, base=50)
    for by in (0, 1, -3, 0.4, 2.7, -1.2, 99):
        shown = view("hero", moved_by=by)
        turned(shown, np.outer(np.arange(18) + by, speeds))
        far = [] if by == round(by) else np.degrees(by * speeds[[0, -1]])
        says(shown.sentence, [abs(by)] if by else [], far)
    for time, said in ((0.6, "The words in a heap"), (1.2, "Four times merrily")):
        assert view("hero", time=time).sentence.startswith(said)


def test_patches():
    """Weights, and what is highest, at all places; diagonals alone can do it."""
    steps = range(-3, 4)
    places = np.array([*product(steps, steps)])
    for down, right, diagonals in product(steps, steps, (False, True)):
        shown = view("patches", down=down, right=right, diagonals=diagonals)
        ways = np.array([(1, 0), (0, 1), (1, 1), (1, -1)][: 4 if diagonals else 2])
        hands = np.vstack([speed * ways for speed in (2, 1, 0.5)])
        # The query's hands against the key's, turned by what is wanted, both ways.
        asked = hands @ (down, right)
        scores = sum(np.cos(places @ hands.T + s * asked).sum(axis=1) for s in (1, -1))
        weights = softmax(3 * scores)
        near(drawn(shown, "weight", "opacity"), np.minimum(1, 2 * weights), 0.000501)
        wanted = {24 + 7 * down + right, 24 - 7 * down - right}
        best = {*np.flatnonzero(scores > scores.max() - 1e-9).tolist()}
        more = [len(best), len(best - wanted)] if len(best) > len(wanted) else []
        steps_to_it = [abs(k) for k in (down, right) if k]
        says(shown.sentence, steps_to_it, more, weights[[*wanted]].sum())
        assert shown.reached == (bool(down and right) and best == wanted)
        assert diagonals or not shown.reached


def test_galaxy():
    """Every dot, and the norm of code 100; it catches on the ring and its parts."""
    sizes = (0.5, 0.9, 0.959, 0.961, 1, 1.039, 1.041, 1.2)
    for size, turn in product(sizes, (-3, 0.4, 1.13)):
        shown = view("galaxy", size=size, turn=turn)
        caught = 1 if abs(size - 1) < 0.04 else size
        t = np.arange(300)
        norms, ring = float(caught) ** t, 165 * sinusoidal(turn * t, 2) * (1, -1)
        places = (300, 212) + norms[:, np.newaxis] * ring
        for first, last, kind in ((5, 100, "first"), (100, 200, "second")):
            dots = drawn(shown, f"dust {kind}").reshape(-1, 3)[:, :2]
            near(dots, places[first:last][165 * norms[first:last] < 290])
        if caught == 1:
            assert "Equal norms and no equals" in shown.sentence and shown.reached
            says(shown.sentence, np.degrees(turn))
        elif norms[100] < 1e6:
            says(shown.sentence, 100, norms[100] * (1 if size > 1 else 100), 0)
    for parts, away in product(range(3, 13), (-0.014, 0, 0.014)):
        shown = view("galaxy", size=0.99, turn=-2 * np.pi / parts + away)
        assert f"but encoding {parts} equals encoding 0" in shown.sentence
        assert not shown.reached


def test_plane():
    """Norms and misses against least squares, on the way to a circle and beside it."""
    rng = np.random.default_rng(0)
    codes = [sinusoidal(step * np.arange(5), 2) for step in (0.2, 0.21, 0.23, 0.3, 0.7)]
    codes += [codes[-1] + rng.uniform(-r, r, (5, 2)) for r in np.arange(50) / 50]
    codes += [sinusoidal(1.5 * (np.arange(5) % 2), 2), np.zeros((5, 2))]
    for P, n in product(codes, (5, 12, 40)):
        right, up = P.T.tolist()
        shown = view("plane", right=right, up=up, positions=n)
        move = np.linalg.lstsq(P[:-1], P[1:], rcond=None)[0]
        miss = np.sqrt(np.mean((P[:-1] @ move - P[1:]) ** 2) / (np.mean(P**2) or 1))
        text = list(P)
        while len(text) < n:
            text.append(text[-1] @ move)
        norms = np.linalg.norm(text, axis=1)
        spread = 1 - norms.min() / norms.max() if norms.max() else 1
        says(shown.sentence, 100 * spread, 100 * miss)
        apart = min(np.linalg.norm(p - q) for p, q in combinations(P, 2)) > 0.22
        both = spread <= 0.1 and miss <= 0.05 and norms.max() > 0
        assert shown.reached == (both and apart)
        assert ("two encodings are equal" in shown.sentence) == (both and not apart)
        for kind, points in (("wanted", P[:-1] @ move), ("score", np.array(text[5:]))):
            x, y = points.reshape(-1, 2).T
            seen = np.hypot(x, y) < 3
            near(drawn(shown, kind, "cx"), 300 + 170 * x[seen])
            near(drawn(shown, kind, "cy"), 225 - 170 * y[seen])


def test_spike():
    """Waves, bars and the share of the crest, with all hands and turns."""
    P, query, s = sinusoidal(np.arange(24), 32), 20, np.linspace(-0.5, 23.5, 181)
    for hands, back in product(range(1, 11), range(1, 13)):
        shown = view("spike", hands=hands, back=back)
        Q = P[:, : 2 * hands]
        weights = softmax(4 * P[query] @ shift_matrix(back, 32)[:, : 2 * hands] @ Q.T)
        near(drawn(shown, BARS, "height"), 130 * weights)
        angles = np.outer(angular_frequencies(32)[:hands], query - back - s)
        rows = 28 + 24 * np.arange(hands)[:, np.newaxis]
        near(drawn(shown, "cosine thin")[1::2], rows - 10 * np.cos(angles))
        share = 100 * weights[query - back]
        says(shown.sentence, hands, share, back)
        assert shown.reached == (share > 80)


def test_rotary():
    """Angles, needle and score of all pairs; what is said is that of the offset."""
    arrows = np.array([[np.cos(x), np.sin(x)] for x in (0.35, 1.25)])
    pairs = [(k, q) for k, q in combinations(range(29), 2) if q - k <= 25]
    for key, query in pairs:
        shown = view("rotary", query=query, key=key)
        k, q = apply_rotary(arrows, [key, query], frequencies=[1])
        turned(shown, [key + 0.35, query + 1.25])
        _, needle, *_ = re.findall('"ink" d="([^"]*)', shown.svg)
        lean = 0.8 * q @ k
        says(needle, 496, 190, 496 + 74 * np.sin(lean), 190 - 74 * np.cos(lean))
        gap = query - key + 0.9
        says(shown.sentence, query, key, query - key, np.degrees(gap) % 360, q @ k)
        near(q @ k, np.cos(gap), 1e-9)


def test_skip():
    """All eighteen answers: text, bars, and what is crossed out, as stored."""
    name, columns = "smollm_sentences", ("token", "probability")
    for heads, back in product(("four", "twenty"), np.arange(9) / 4):
        held = 4 * back - 0.4 * (back > 0)  # on its way the knob is at the nearest
        shown = view("skip", heads=heads, quarters=held)
        wanted = {
            "heads": heads if back else "none",
            "back": f"{back:g}",
            "text": "king",
        }
        tokens, chances = stored(name, columns, **wanted).T
        near(drawn(shown, "score", "height"), 170 * chances.astype(float))
        answer = "".join(tokens).strip().split("\n")[0]
        answer = answer.partition(".")[0] + ("." if "." in answer else " ...")
        how = f"{heads} heads turned back by {back:g}" if back else "as trained"
        assert shown.sentence == f"Stored answer, {how}: {answer}"
        kinds, read = zip(
            *re.findall(r'<tspan class="(\w+)">(\w+)', shown.svg), strict=True
        )
        marks, last = ["later"] * len(read), 0
        for word in answer.replace(".", "").split():
            if word in read[last + 1 :]:
                there = read.index(word, last + 1)
                marks[last + 1 : there] = ["skipped"] * (there - last - 1)
                marks[there], last = "written", there
        assert kinds == (*marks,) and " ".join(read) in drawing.read("skip.js")
        turned(shown, [held / 4])
        assert words(shown, "count")[-1] == f"{heads} heads"
        assert shown.reached == answer.startswith("king")
        assert back not in (0.5, 0.75) or shown.reached == (back == 0.75)
    knob = "drawing.drawings.skip.handles({ heads: 'four', quarters: 0 })[0]"
    assert run(f"[{knob}.low, {knob}.high, {knob}.step]") == [0, 2, 0.25]
    assert run(f"{knob}.set(0.75)") == {"quarters": 3}


@cache
def rounded():
    """The matrices of the dial's model by name, half a level or less away."""
    model = dial.model()
    raw = np.frombuffer(base64.b64decode(model["levels"], b"+_"), dtype=np.int8)
    parts = np.split(raw.reshape(-1, 32), np.cumsum([128, 128, 32, 32, 32]))
    scaled = [s * x.astype(float) for s, x in zip(model["scales"], parts, strict=True)]
    return dict(zip(("E", "U", "W0", "V0", "W1", "V1"), scaled, strict=True))


def test_dial_is_the_trained_model():
    """Each number is within half a level of that of the chapter's model."""
    pytest.importorskip("torch")
    from pe_lib.experiments import induction, matrices

    weights = matrices.load(ROOT / "book/experiments/data/dial_weights.csv")
    model, scales = (
        induction.products(induction.made_of(weights)),
        dial.model()["scales"],
    )
    for (name, kept), scale in zip(rounded().items(), scales, strict=True):
        assert np.abs(kept - model[name]).max() < scale / 2 + 1e-4  # as kept
        assert np.abs(kept).max() == 127 * scale


def read(words, k):
    """The weights of both layers, and how likely each word comes next."""
    W = None if k is None else 30 * shift_matrix(k, 32)
    P = sinusoidal(np.arange(32), 32)
    first, second, logits = two_softmaxes(rounded(), words, P, W)
    return first, second, softmax(logits)


def test_dial():
    """All that it computes is what NumPy computes with the same rounded matrices."""
    text, matches = dial.first_text()
    other = np.random.default_rng(0).permutation(128)[:32]
    other[20:26] = other[5:11]
    for ids, k in product((text, other.tolist()), (None, *range(5))):
        first, second, chances = read(ids, k)
        name = [dial.VOCABULARY[word] for word in ids]
        match = [ids.index(word) for word in ids]
        asked = [t for t in range(32) if match[t] < t]
        if ids is text:
            assert asked == [t for t, at in enumerate(matches) if at == match[t]]
        named, after = chances.argmax(axis=1), 1 if k is None else k
        right = sum(named[t] == ids[match[t] + after] for t in asked)
        for t in (0, 7, 23, 25, 31):
            shown = view("dial", words=ids, k=k, position=t)
            looked = second[t].argmax()
            weights = np.hstack([second[t], first[looked]])
            near(drawn(shown, BARS, "height"), 76 * weights)
            assert words(shown, "(?:word|inside)") == name
            brought = name[first[looked].argmax()]
            assert f"layer 2: {name[t]} → {name[looked]}<" in shown.svg
            assert f"layer 1: {name[looked]} → {brought}<" in shown.svg
            said = f"after {name[t]} the model names {dial.VOCABULARY[named[t]]}"
            assert said in shown.sentence
            assert ("has not stood here" in shown.sentence) == (match[t] == t)
            far = ids.index(named[t]) - match[t] if named[t] in ids else 0
            far = far if far > 0 and match[t] < t else None
            told = [k, far, 100 * chances[t, named[t]], right, len(asked), after]
            says(shown.sentence, [x for x in told if x is not None])
            assert shown.reached == (match[t] < t and named[t] == ids[match[t] + 3])
    assert view("dial", k=3).reached and not view("dial").reached
    assert len(set(dial.VOCABULARY)) == 128
    # Another text, whatever the chance: five to eight words come twice, in order.
    for _ in range(50):
        new = run("drawing.drawings.dial.handles(drawing.full('dial', {}))[2].press()")
        text, t = new["words"], new["position"]
        assert len(text) == 32 and set(map(text.count, text)) == {1, 2}
        assert text.index(text[t]) < t and 5 <= 32 - len(set(text)) <= 8
        assert text.index(text[t]) == text.index(text[t - 1]) + 1


def test_each_drawing_has_a_test_of_its_name():
    """The numbers that it shows, beside those of ``pe_lib``."""
    written = "".join(x.read_text() for x in Path(__file__).parent.glob("test_*.py"))
    kinds = {kind._name for kind in drawing.Drawing.__subclasses__()}
    assert len(kinds) > 15
    assert not {kind for kind in kinds if f"def test_{kind}(" not in written}
