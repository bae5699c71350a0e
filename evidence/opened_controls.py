"""Controls of what two published models do, kept.

    make models                                      fetches them, once
    python -m evidence.opened_controls               everything, four minutes
    python -m evidence.opened_controls minilm_heads  some of it

Each function named in TOLERANCES writes one file. The texts and heads are those of
`opened.py`.
"""

import re
import sys
from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from torch import Tensor
from torch.nn.functional import cross_entropy

from evidence import opened
from pe_lib.experiments import minilm
from pe_lib.experiments.rotations import sizes_and_angles

COMMAND = "python -m evidence.opened_controls"
TOLERANCES = {
    "smollm_hands": "0.01 of a share",
    "smollm_prose": "0.01 of a loss",
    "minilm_heads": "0.005 of a share, 0.02 of a size or weight, 0.1 of a position",
    "minilm_tables": "0.005 of a cosine, 0.02 of a correlation",
}
"""How far a rerun elsewhere may be off; the head of each file says it."""
WAVES = (6, 17, 52, 155, 470)
FIRST, LAST = 130, 500
"""The rows that the page looks at."""
SETTINGS = {
    "smollm": opened.SETTINGS["read"],
    "minilm": {"model": minilm.WHEEL.name, "waves": WAVES, "rows": (FIRST, LAST)},
}

Array = NDArray[np.float64]


def smollm_hands() -> Iterator[list[str]]:
    """Twenty heads turned, with all hands, the fastest, or all but that one."""
    yield ["hands", "back", "after", "share", "error"]
    for hands in ("0-31", "0", "1-31", "1-3"):
        for back in (1, 2):
            for row in opened.turned("twenty", back, hands, (1, 2, 3)):
                _, _, told, after, (share, error) = row
                yield [told, str(back), str(after), f"{share:.4f}", f"{error:.4f}"]


def smollm_prose() -> Iterator[list[str]]:
    """The loss on running text with heads turned by one or without rotation."""
    yield ["heads", "how", "loss", "above", "error"]
    prose, trained = opened.natural_texts(6, 2 * opened.WORDS, 700), torch.zeros(0)
    hows: dict[str, tuple[str, ...]] = {
        "none": ("as trained",),
        "four": ("by one",),
        "twenty": ("by one",),
    }
    hows |= {"all others": ("by one", "by four"), "all": ("by one",)}
    every = [(name, how) for name, of_set in hows.items() for how in of_set]
    every += [(name, "still") for name in ("four", "twenty", "all others", "all")]
    for name, how in every:
        heads = opened.chosen()[name]
        back = {"by one": 1.0, "by four": 4.0}.get(how, 0.0)
        left = heads if how == "still" else []
        shift = dict.fromkeys(heads, back)
        logits = opened.read(prose, None, shift=shift, unrotated=left)
        each = cross_entropy(logits[:, :-1].mT, prose[:, 1:], reduction="none").mean(1)
        trained = each if name == "none" else trained
        above, error = opened.mean_and_error(each - trained)
        yield [name, how, f"{each.mean():.4f}", f"{above:.4f}", f"{error:.4f}"]


def plane(rows: Array, wave: float) -> Array:
    """Two directions in which rows go round with about this wavelength."""
    power = np.fft.fft(rows - rows.mean(0), axis=0)
    waves = 1 / np.fft.fftfreq(len(rows)).clip(1e-9)
    power[(waves < wave / 1.7) | (1.7 * wave < waves)] = 0
    v = np.linalg.svd(np.fft.ifft(power, axis=0)[10:-10], full_matrices=False)[2][0]
    return np.stack([v.real, -v.imag])


def hands(rows: Array, planes: Array) -> NDArray[np.complex128]:
    """A complex number for each row and plane, around the centre of its circle."""
    x = (rows - rows.mean(0)) @ np.linalg.pinv(planes)
    z = x[:, 0::2] + 1j * x[:, 1::2]
    for hand in z.T:
        ones = np.c_[hand.real, hand.imag, np.ones(len(hand))]
        across, up, _ = np.linalg.lstsq(ones, abs(hand) ** 2, rcond=None)[0] / 2
        hand -= across + 1j * up
    return z


def the_table() -> tuple[Array, Array]:
    """The learned table, and the planes of its five circles."""
    table = minilm.load().table.double().numpy()
    return table, np.vstack([plane(table[2:511], wave) for wave in WAVES])


def minilm_heads() -> Iterator[list[str]]:
    """What share of each head of the first layer is rotations, and how large."""
    yield ["head", "rotations", "size", "largest", "turn6", "turn17", "turn52",
           "turn155", "turn470", "one_back"]  # fmt: skip
    model, (table, planes) = minilm.load(), the_table()
    z = hands(table[FIRST:LAST], planes)
    angles = np.unwrap(np.angle(hands(table[2:511], planes)), axis=0)
    step = (angles[497] - angles[128]) / 369
    u = z / abs(z).mean(0)
    known = np.stack([u.real, u.imag], 2).reshape(len(u), 10)
    known = np.c_[known, np.ones(len(u))]
    words = model.words()
    x = model.norm(words.mean(0) + model.table[FIRST:LAST], "embeddings.LayerNorm")
    q, k = (model.split(x, 0, part).double().numpy() for part in ("query", "key"))
    ids = minilm.ids_of(opened.SAMPLE)[1:-1]
    drawn = np.random.default_rng(2).choice(ids, size=LAST - FIRST)
    texts = words[torch.from_numpy(drawn)] + model.table[FIRST:LAST]
    real = [model.split(model.norm(texts, "embeddings.LayerNorm"), 0, part)
            for part in ("query", "key")]  # fmt: skip
    looks = (real[0] @ real[1].mT / 32**0.5).softmax(-1).diagonal(-1, 1, 2).mean(1)
    for head in range(model.heads):
        own, other = (
            np.linalg.lstsq(known, y[head], rcond=None)[0][:10] for y in (q, k)
        )
        M = own @ other.T / 32**0.5
        sizes, angles = sizes_and_angles(M)
        share = 2 * (sizes**2).sum() / (M**2).sum()
        moved = -angles / step
        yield [str(head), f"{share:.4f}", f"{sizes[0]:.2f}",
               f"{sizes.max():.2f}", *(f"{x:.2f}" for x in moved),
               f"{float(looks[head]):.4f}"]  # fmt: skip


def pieces(text: str) -> list[int]:
    """Ids of the pieces of words of letters, the longest first; no marks."""
    known, found = minilm.vocabulary(), []
    for word in re.findall("[a-z]+", text.lower()):
        first = 0
        while first < len(word):
            mark = "##" if first else ""
            last = next(
                n for n in range(len(word), first, -1) if mark + word[first:n] in known
            )
            found.append(known[mark + word[first:last]])
            first = last
    return found


def one_clock(rows: Array, angle: Array) -> Array:
    """Rows made from one angle each, geared by three, which is improved."""

    def wheels(angle: Array) -> Array:
        each = angle[:, None] / 3 ** np.arange(5.0)
        return np.c_[np.cos(each), np.sin(each), np.ones(len(each))]

    for _ in range(6):
        fit = np.linalg.lstsq(wheels(angle), rows, rcond=None)[0]
        inside, few = np.linalg.qr(fit.T)
        tried = angle[:, None] + np.linspace(-0.5, 0.5, 101)
        made = (wheels(tried.ravel()) @ few.T).reshape(*tried.shape, -1)
        best = ((made - (rows @ inside)[:, None]) ** 2).sum(2).argmin(1)
        angle = np.take_along_axis(tried, best[:, None], 1)[:, 0]
    fit = np.linalg.lstsq(wheels(angle), rows, rcond=None)[0]
    return wheels(angle) @ fit


def even_hands(table: Array, last: int) -> Array:
    """Four hands of constant frequencies, fitted to rows 2 to last, for all rows."""

    def waves(speeds: Array, at: Array) -> Array:
        turned = at[:, None] * speeds
        return np.c_[np.cos(turned), np.sin(turned), np.ones(len(at))]

    near, rows = np.arange(2.0, last + 1), table[2 : last + 1]

    def off(logs: Array) -> float:
        made = waves(np.exp(logs), near)
        fit = np.linalg.lstsq(made, rows, rcond=None)[0]
        return float(((rows - made @ fit) ** 2).sum())

    starts = ([5.9, 13.5, 45, 160], [5.7, 16.5, 51, 190])
    best = min(
        (minimize(off, np.log(2 * np.pi / np.array(start)), method="Nelder-Mead",
                  options={"maxiter": 4000, "xatol": 1e-5, "fatol": 1e-7})
         for start in starts),
        key=lambda found: float(found.fun),
    )  # fmt: skip
    speeds = np.exp(best.x)
    fit = np.linalg.lstsq(waves(speeds, near), rows, rcond=None)[0]
    return waves(speeds, np.arange(512.0)) @ fit


def other_tables() -> dict[str, Array]:
    """Tables in the place of the learned one; rows 0, 1, 510 and 511 stay."""
    table, planes = the_table()
    rng = np.random.default_rng(0)
    middle = table[2:256].mean(0)
    main = np.linalg.svd(table[2:256] - middle, full_matrices=False)[2]
    mean = table[2:510].mean(0)
    apart = (table - mean) @ np.linalg.pinv(planes)
    clock = table.copy()
    z = hands(table[FIRST:LAST], planes)
    clock[FIRST:LAST] = one_clock(table[FIRST:LAST], np.unwrap(np.angle(z[:, 0])))
    shuffled = table.copy()
    shuffled[2:510] = table[2:510][rng.permutation(508)]
    found = {
        "as trained": table,
        "8 numbers": middle + (table - middle) @ main[:8].T @ main[:8],
        "10 numbers": middle + (table - middle) @ main[:10].T @ main[:10],
        "five planes": mean + apart @ planes,
        "one angle, 130-499": clock,
        "even hands, 2-65": even_hands(table, 65),
        "even hands, 2-255": even_hands(table, 255),
        "rows shuffled": shuffled,
        "mean row": np.tile(mean, (512, 1)),
    }
    return {
        name: np.concatenate([table[:2], other[2:510], table[510:]])
        for name, other in found.items()
    }


def minilm_tables() -> Iterator[list[str]]:
    """How near the vectors of texts stay with other tables in the encoder."""
    yield ["table", "sentences", "least", "order", "correlation", "240", "500"]
    model, first, last = minilm.load(), 101, 102
    known = opened.sentences(10, 30)
    rng = np.random.default_rng(0)
    chosen = [pieces(known[i]) for i in rng.permutation(len(known))[:50]]
    ids = [[first, *own, last] for own in chosen]
    other = [[first, *rng.permutation(own).tolist(), last] for own in chosen]
    every = pieces(opened.words())

    def passages(length: int, count: int) -> list[list[int]]:
        starts = np.linspace(500, len(every) - length, count).astype(int)
        return [[first, *every[s : s + length - 2], last] for s in starts]

    texts = {"ids": ids, "other": other, "240": passages(240, 12),
             "500": passages(500, 6)}  # fmt: skip

    def vectors(table: Array, which: str) -> Tensor:
        rows = torch.from_numpy(table).float()
        means = [minilm.encode(model, x, table=rows).mean(0) for x in texts[which]]
        found = torch.stack(means)
        return found / found.norm(dim=1, keepdim=True)

    tables = other_tables()
    own = {which: vectors(tables["as trained"], which) for which in texts}
    felt = 1 - (own["ids"] * own["other"]).sum(1)
    for name, table in tables.items():
        now = {which: vectors(table, which) for which in texts}
        near = (now["ids"] * own["ids"]).sum(1)
        order = 1 - (now["ids"] * now["other"]).sum(1)
        both = torch.corrcoef(torch.stack([order, felt]))[0, 1]
        long = [float((now[n] * own[n]).sum(1).mean()) for n in ("240", "500")]
        numbers = [*map(float, (near.mean(), near.min(), order.mean(), both)), *long]
        yield [name, *(f"{x:.4f}" for x in numbers)]


if __name__ == "__main__":
    opened.make(sys.modules[__name__], sys.argv[1:])
