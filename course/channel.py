"""How the examiner and an answer's process talk: JSON and bytes, data and no code.

    end = Channel(read, write)          two files, in bytes
    end.send({...}); end.receive()      Patient has a limit: end.receive(seconds)

    encode(value, lend)                 what may travel; lend(f) numbers a function
    decode(data, borrow)                the value; borrow(data) stands for a function

Nothing is pickled, so nothing runs by being read. A frame has at most MOST bytes, and
its JSON, which takes fifty times as much when it is read, MOST_JSON: numbers that were
chosen to collide in a set take the square of their count, too.
"""

import io
import itertools
import json
import queue
import sys
import threading
from collections.abc import Callable
from typing import IO, Any

import numpy as np

MOST = 2**25
MOST_JSON = 2**20
LONGEST = 10**6
KINDS = "biufcUSmM"  # of NumPy's types those that hold numbers, times or text
LISTS = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}


class Gone(BaseException):
    """The other end is no longer there, is silent, or says what nobody can read.

    No Exception, so that no check and no answer takes it for one of its own.
    """


class Channel:
    """One end."""

    def __init__(self, read: IO[bytes], write: IO[bytes]) -> None:
        self.read, self.write = read, write

    def frame(self, _seconds: float | None = None) -> bytes:
        """The next, or nothing."""
        size = int.from_bytes(self.read.read(4), "big")
        frame = self.read.read(size) if size <= MOST else b""
        return frame if len(frame) == size else b""

    def send(self, message: dict[str, Any]) -> None:
        """Write a frame: JSON, and behind it the bytes that stand in the message."""
        parts: list[bytes] = []

        def set_aside(raw: bytes) -> dict[str, int]:
            parts.append(raw)
            return {"bytes": len(raw)}

        head = json.dumps(message, default=set_aside).encode()
        frame = b"".join([len(head).to_bytes(4, "big"), head, *parts])
        if len(frame) > MOST or len(head) > MOST_JSON:
            raise ValueError("more than may be asked or answered")
        try:
            self.write.write(len(frame).to_bytes(4, "big") + frame)
            self.write.flush()
        except (OSError, ValueError):
            raise Gone("the process of the answer ended") from None

    def receive(self, seconds: float | None = None) -> dict[str, Any]:
        """What the other end says next, or the news that there will be no more."""
        frame = self.frame(seconds)
        if not frame:
            raise Gone("the process of the answer ended")
        at = 4 + int.from_bytes(frame[:4], "big")
        head, rest = frame[4:at], io.BytesIO(frame[at:])
        if len(head) > MOST_JSON:
            raise Gone("the process of the answer said more than an answer")

        def put_back(found: dict[str, Any]) -> Any:
            return rest.read(found["bytes"]) if "bytes" in found else found

        try:
            message = json.loads(head, object_hook=put_back)
        except (ValueError, TypeError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise Gone("the process of the answer said what is no answer")
        return message


class Patient(Channel):
    """The examiner's end: who is silent does not hold it up."""

    def __init__(self, read: IO[bytes], write: IO[bytes]) -> None:
        super().__init__(read, write)
        self.heard: queue.Queue[bytes] = queue.Queue(4)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        try:
            while frame := super().frame():
                self.heard.put(frame)
        finally:
            self.heard.put(b"")

    def frame(self, seconds: float | None = None) -> bytes:
        """The next, or nothing; queue.Empty if late."""
        return self.heard.get(timeout=seconds)


def encode(value: Any, lend: Callable[[Any], int]) -> Any:
    """As JSON: lists, dictionaries and arrays by their kind, a function by a number."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if value is ...:
        return {"kind": "..."}
    if isinstance(value, np.generic) and value.dtype.kind in KINDS:
        return {"kind": "scalar", **_array(np.asarray(value))}
    if isinstance(value, np.ndarray) and value.dtype.kind in KINDS:
        return {"kind": "array", **_array(value)}
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, complex):
        return {"kind": "complex", "items": [value.real, value.imag]}
    if isinstance(value, range):
        return {"kind": "range", "items": [value.start, value.stop, value.step]}
    if isinstance(value, slice):
        return {"kind": "slice", "items": [value.start, value.stop, value.step]}
    if isinstance(value, dict):
        pairs = [[encode(part, lend) for part in pair] for pair in value.items()]
        return {"kind": "dict", "items": pairs}
    for kind, type_ in LISTS.items():
        if isinstance(value, type_):
            return {"kind": kind, "items": [encode(part, lend) for part in value]}
    if torch := sys.modules.get("torch"):
        if isinstance(value, torch.Tensor):
            return _tensor(value, torch)
        if isinstance(value, (torch.dtype, torch.device)):
            return {"kind": "torch", "name": str(value).removeprefix("torch.")}
    if callable(value):
        code = getattr(value, "__code__", None)
        return {
            "kind": "function",
            "number": lend(value),
            "name": str(getattr(value, "__name__", "")),
            "uses": [*getattr(code, "co_names", ())],
        }
    if hasattr(value, "__iter__") and not hasattr(value, "forward"):
        some = itertools.islice(value, LONGEST)
        return {"kind": "list", "items": [encode(part, lend) for part in some]}
    return {"kind": "thing", "number": lend(value), "name": type(value).__name__}


def _array(value: Any) -> dict[str, Any]:
    flat = np.ascontiguousarray(value)
    return {"type": flat.dtype.str, "shape": list(value.shape), "data": flat.tobytes()}


def _tensor(value: Any, torch: Any) -> dict[str, Any]:
    known = {"kind": "tensor", "dtype": str(value.dtype).removeprefix("torch.")}
    known["device"] = str(value.device)
    known["grad"] = value.requires_grad and torch.is_grad_enabled()
    if value.device.type == "meta":
        return known | {"shape": list(value.shape)}
    plain = value.detach().cpu().contiguous()
    raw = plain.reshape(-1).view(torch.uint8).numpy() if plain.numel() else []
    return known | _array(np.asarray(raw, np.uint8)) | {"shape": list(value.shape)}


def decode(data: Any, borrow: Callable[[dict[str, Any]], Any]) -> Any:
    """The value; a ValueError where it is none."""
    if not isinstance(data, dict):
        if data is None or isinstance(data, (bool, str, int, float)):
            return data
        raise ValueError("what came is no value")
    kind, items = data["kind"], data.get("items", [])
    if kind == "...":
        return ...
    if kind in LISTS:
        return LISTS[kind](decode(part, borrow) for part in items)
    if kind == "dict":
        return {decode(a, borrow): decode(b, borrow) for a, b in items}
    if kind == "range":
        made = range(*items)
        if len(made) > LONGEST:
            raise ValueError("a range as long as no answer")
        return made
    if kind in ("complex", "slice"):
        return {"complex": complex, "slice": slice}[kind](*items)
    if kind in ("array", "scalar"):
        array = _decode_array(data["type"], data)
        return array if kind == "array" else array[()]
    if kind in ("tensor", "torch"):
        return _decode_torch(data)
    return borrow(data)


def _decode_array(name: str, data: dict[str, Any]) -> Any:
    dtype = np.dtype(name)
    if dtype.kind not in KINDS:
        raise ValueError(f"arrays of {dtype} do not travel")
    return np.frombuffer(data["data"], dtype).reshape(data["shape"]).copy()


def _decode_torch(data: dict[str, Any]) -> Any:
    import torch

    if data["kind"] == "torch":
        known = getattr(torch, data["name"], None)
        return known if isinstance(known, torch.dtype) else torch.device(data["name"])
    dtype = getattr(torch, data["dtype"])
    if not isinstance(dtype, torch.dtype):
        raise ValueError(f"no dtype: {data['dtype']}")
    if data["device"] == "meta":
        made = torch.empty(data["shape"], dtype=dtype, device="meta")
    else:
        raw = torch.from_numpy(np.frombuffer(data["data"], np.uint8).copy())
        made = raw.view(dtype) if len(raw) else raw.to(dtype)
        made = made.reshape(data["shape"])
    return made.requires_grad_(data["grad"])


def gradients(value: Any) -> list[Any]:
    """The tensors in some arguments through which a gradient is asked for."""
    torch = sys.modules.get("torch")
    if torch is None:
        return []
    if isinstance(value, torch.Tensor):
        return [value] if value.requires_grad and torch.is_grad_enabled() else []
    if isinstance(value, dict):
        value = list(value.values())
    parts = value if isinstance(value, (list, tuple)) else []
    return [tensor for part in parts for tensor in gradients(part)]
