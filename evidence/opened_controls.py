"""Controls of what two published models do, kept.

    make models                                      fetches them, once
    python -m evidence.opened_controls               everything, minutes
    python -m evidence.opened_controls minilm_heads  some of it

Each function named in TOLERANCES writes one file. The texts and heads are those of
`opened.py`.
"""

import sys
from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy

from evidence import opened
from pe_lib.experiments import minilm
from pe_lib.experiments.rotations import sizes_and_angles

COMMAND = "python -m evidence.opened_controls"
TOLERANCES = {
    "smollm_hands": "0.01 of a share",
    "smollm_prose": "0.01 of a loss",
    "minilm_heads": "0.005 of a share, 0.02 of a size or weight, 0.1 of a position",
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


def minilm_heads() -> Iterator[list[str]]:
    """What share of each head of the first layer is rotations, and how large."""
    yield ["head", "rotations", "size", "largest", "turn6", "turn17", "turn52",
           "turn155", "turn470", "one_back"]  # fmt: skip
    model = minilm.load()
    table = model.table.double().numpy()
    planes = np.vstack([plane(table[2:511], wave) for wave in WAVES])
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


if __name__ == "__main__":
    opened.make(sys.modules[__name__], sys.argv[1:])
