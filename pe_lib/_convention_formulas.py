"""The formulas of ten texts, each in the text's own letters and order.

From a length and a width to the array as the text has it. Only `pe_lib.conventions`
calls them, with a length and a width that the text defines.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def _paper(n: int, d: int) -> Array:
    pos, dimension = np.indices((n, d))
    angle = pos / 10_000 ** (2 * (dimension // 2) / d)
    PE: Array = np.where(dimension % 2 == 0, np.sin(angle), np.cos(angle))
    return PE


def _tensor2tensor(length: int, channels: int) -> Array:
    num_timescales = channels // 2
    increment = math.log(1.0e4 / 1.0) / max(num_timescales - 1, 1)
    inv_timescales = np.exp(np.arange(num_timescales) * -increment)
    scaled_time = np.arange(length)[:, np.newaxis] * inv_timescales
    signal = np.concatenate([np.sin(scaled_time), np.cos(scaled_time)], axis=1)
    return np.pad(signal, [(0, 0), (0, channels % 2)])


def _fairseq(length: int, embedding_dim: int) -> Array:
    padding_idx, half_dim = 1, embedding_dim // 2
    num_embeddings = padding_idx + 1 + length
    emb = np.exp(np.arange(half_dim) * -(math.log(10_000) / (half_dim - 1)))
    emb = np.arange(num_embeddings)[:, np.newaxis] * emb[np.newaxis]
    zeros = np.zeros((num_embeddings, embedding_dim % 2))
    emb = np.concatenate([np.sin(emb), np.cos(emb), zeros], axis=1)
    return emb[padding_idx + 1 :]


def _phuong_hutter(l_max: int, d_e: int) -> Array:
    W = np.empty((d_e, l_max))
    t = np.arange(1, l_max + 1)
    for i in range(1, d_e // 2 + 1):
        W[2 * i - 1 - 1] = np.sin(t / l_max ** (2 * i / d_e))
        W[2 * i - 1] = np.cos(t / l_max ** (2 * i / d_e))
    return W


def _uva(n: int, d: int) -> Array:
    columns = [
        np.sin(np.arange(n) / 10_000 ** (i / d))
        if i % 2 == 0
        else np.cos(np.arange(n) / 10_000 ** ((i - 1) / d))
        for i in range(d)
    ]
    return np.stack(columns, axis=1)


def _denk(n: int, d: int) -> Array:
    f = [10_000 ** (2 * m / d) for m in range(1, d // 2 + 1)]
    e = [[g(t / fm) for fm in f for g in (math.sin, math.cos)] for t in range(1, n + 1)]
    return np.array(e)


def _kernes(n: int, d: int) -> Array:
    freqs = 1e-4 ** (2 * (np.arange(d) // 2) / d)
    v = np.arange(n).reshape(-1, 1) * freqs
    v[:, 0::2], v[:, 1::2] = np.cos(v[:, 0::2]), np.sin(v[:, 1::2])
    return v


def _flash_card(length: int, n_ch: int) -> Array:
    slope = np.exp(np.arange(n_ch // 2) * -math.log(10_000) / (n_ch // 2 - 1))
    t = slope[:, np.newaxis] * np.arange(length)
    return np.concatenate([np.sin(t), np.cos(t)], axis=0)


def _notebook_text(length: int, d: int) -> Array:
    t = np.arange(length)
    omega = [10_000 ** (-n / d) for n in range(1, d // 2 + 1)]
    return np.stack([g(w * t) for w in omega for g in (np.sin, np.cos)], axis=1)


FORMULAS: dict[str, Callable[[int, int], Array]] = {
    "paper": _paper,
    "tensor2tensor": _tensor2tensor,
    "fairseq": _fairseq,
    "phuong_hutter": _phuong_hutter,
    "d2l": _paper,  # the same formula
    "uva": _uva,
    "denk": _denk,
    "kernes": _kernes,
    "flash_card": _flash_card,
    "notebook_text": _notebook_text,
}
