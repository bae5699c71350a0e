"""Take out of a WebAssembly module what the book does not use.

The Python for browsers is one static program: pandas, scikit-learn and others are
inside, though nothing of theirs can be imported here. Their functions stand together,
in the order in which the linker met them, so a part is told by its first function and
the first one after it. Bodies are emptied, never removed: numbers of functions stay
what they are. A function is emptied only where no function that stays calls it.
"""

import re
from collections.abc import Iterable, Iterator

EMPTY = b"\x03\x00\x00\x0b"  # a body of three bytes: no locals, unreachable, end
FUNCTIONS, NAMES = 1, b"name"
IMPORT, EXPORT, ELEMENT, CODE = 2, 7, 9, 10
SHARED = re.compile(
    rb"^(?!.*(fast_matrix_market|pystream)).*\b(std::|pybind11::|operator )"
)
"""C++ that several parts use: the linker keeps the first copy, wherever it stands."""


def number(data: bytes, at: int) -> tuple[int, int]:
    """A number in LEB128, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def encoded(value: int) -> bytes:
    """A number in LEB128."""
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes([*made, value])


def sections(wasm: bytes) -> Iterator[tuple[int, int, int, int, bytes]]:
    """The sections of a module: kind, start, content, end, the name of a custom one."""
    at = 8
    while at < len(wasm):
        kind, start = wasm[at], at
        size, at = number(wasm, at + 1)
        name = b""
        if kind == 0:
            length, begin = number(wasm, at)
            name = wasm[begin : begin + length]
        yield kind, start, at, at + size, name
        at += size


def without_names(wasm: bytes) -> bytes:
    """The module without the names of its functions, which only a debugger reads."""
    kept = [wasm[s:e] for _, s, _, e, name in sections(wasm) if name != NAMES]
    return wasm[:8] + b"".join(kept)


# What follows the code of an instruction; all others are alone.
NUMBERS = {
    **dict.fromkeys((*range(0x02, 0x05), 0x0C, 0x0D, *range(0x20, 0x27)), 1),
    **dict.fromkeys((0x08, 0x09, 0x3F, 0x40, 0x41, 0x42, 0xD0, 0xD2), 1),
    **dict.fromkeys((*range(0x28, 0x3F), 0x11, 0x13), 2),
}
CALLS = (0x10, 0x12, 0xD2)
"""Calls, and taking the address of a function."""
BYTES = {0x43: 4, 0x44: 8}
ALONE = {0x00, 0x01, 0x05, 0x0A, 0x0B, 0x0F, 0x1A, 0x1B, *range(0x45, 0xC5), 0xD1}
VECTOR_MEMORY = {*range(12), *range(84, 94)}
VECTOR_BYTES = {12: 16, 13: 16, **dict.fromkeys((*range(21, 35), *range(84, 92)), 1)}
BULK = {8: 2, 9: 1, 10: 2, 11: 1, 12: 2, 13: 1, 14: 2, 15: 1, 16: 1, 17: 1}
JUMP_TABLE, TYPED_SELECT, TRY_TABLE, MORE, VECTOR = 0x0E, 0x1C, 0x1F, 0xFC, 0xFD
CATCH_ALL = 2


def called(wasm: bytes, at: int, end: int) -> list[int]:
    """The functions that a body calls, or hands on."""

    def skip(count: int) -> None:
        nonlocal at
        for _ in range(count):
            while wasm[at] > 127:
                at += 1
            at += 1

    skip(1)  # its size
    groups, at = number(wasm, at)
    skip(2 * groups)  # locals
    found = []
    while at < end:
        code = wasm[at]
        at += 1
        if code in ALONE:
            continue
        if code in CALLS:
            index, at = number(wasm, at)
            found.append(index)
        elif code in NUMBERS:
            skip(NUMBERS[code])
        elif code in BYTES:
            at += BYTES[code]
        elif code == JUMP_TABLE:
            count, at = number(wasm, at)
            skip(count + 1)
        elif code == TYPED_SELECT:
            count, at = number(wasm, at)
            skip(count)
        elif code == TRY_TABLE:
            skip(1)
            count, at = number(wasm, at)
            for _ in range(count):
                kind = wasm[at]
                at += 1
                skip(2 if kind < CATCH_ALL else 1)
        elif code == MORE:
            kind, at = number(wasm, at)
            skip(BULK.get(kind, 0))
        elif code == VECTOR:
            kind, at = number(wasm, at)
            skip(2 if kind in VECTOR_MEMORY else 0)
            at += VECTOR_BYTES.get(kind, 0)
        else:
            raise ValueError(f"instruction {code:#x} is unknown")
    if at != end:
        raise ValueError("a body ends inside an instruction")
    return found


class Module:
    """What must be known of a module to take functions out of it."""

    def __init__(self, wasm: bytes) -> None:
        self.wasm = wasm
        where = {name or kind: (at, end) for kind, _, at, end, name in sections(wasm)}
        self.where = where
        self.imported = self._imports(where[IMPORT][0])
        self.bodies = self._bodies(where[CODE][0])
        self.names = self._names(*where[NAMES])

    def _imports(self, at: int) -> int:
        count, at = number(self.wasm, at)
        for _ in range(count):
            for _ in range(2):
                length, at = number(self.wasm, at)
                at += length
            if self.wasm[at] != 0:
                raise ValueError("it imports more than functions")
            _, at = number(self.wasm, at + 1)
        return count

    def _bodies(self, at: int) -> list[tuple[int, int]]:
        count, at = number(self.wasm, at)
        found = []
        for _ in range(count):
            start = at
            size, at = number(self.wasm, at)
            at += size
            found.append((start, at))
        return found

    def _names(self, at: int, end: int) -> list[bytes]:
        length, at = number(self.wasm, at)
        at += length
        found = [b""] * (self.imported + len(self.bodies))
        while at < end:
            kind = self.wasm[at]
            size, at = number(self.wasm, at + 1)
            after = at + size
            if kind == FUNCTIONS:
                count, at = number(self.wasm, at)
                for _ in range(count):
                    index, at = number(self.wasm, at)
                    length, at = number(self.wasm, at)
                    found[index] = self.wasm[at : at + length]
                    at += length
            at = after
        return found[self.imported :]

    def pointed_at(self) -> set[int]:
        """The functions in the module's tables, which may be called from anywhere."""
        at, _ = self.where[ELEMENT]
        count, at = number(self.wasm, at)
        found = set()
        for _ in range(count):
            flag, at = number(self.wasm, at)
            if flag or self.wasm[at] != 0x41:
                raise ValueError("a table of another kind")
            _, at = number(self.wasm, at + 1)
            members, at = number(self.wasm, at + 1)
            for _ in range(members):
                index, at = number(self.wasm, at)
                found.add(index - self.imported)
        return found

    def exported(self) -> set[int]:
        """The functions that are called from outside."""
        at, _ = self.where[EXPORT]
        count, at = number(self.wasm, at)
        found = set()
        for _ in range(count):
            length, at = number(self.wasm, at)
            kind = self.wasm[at + length]
            index, at = number(self.wasm, at + length + 1)
            if kind == 0:
                found.add(index - self.imported)
        return found

    def within(self, first: bytes, after: bytes) -> range:
        """The functions from one up to another, each the only one of its name."""
        places = []
        for name in (first, after):
            found = [at for at, known in enumerate(self.names) if known == name]
            if len(found) != 1:
                raise ValueError(f"{name.decode()} is there {len(found)} times")
            places += found
        return range(*places)

    def reached(self, roots: set[int]) -> set[int]:
        """The functions that these call, and those that they call."""
        seen: set[int] = set()
        waiting = list(roots)
        while waiting:
            index = waiting.pop()
            if index in seen:
                continue
            seen.add(index)
            found = called(self.wasm, *self.bodies[index])
            waiting += [each - self.imported for each in found if each >= self.imported]
        return seen

    def unused(self, parts: Iterable[tuple[str, str]]) -> set[int]:
        """The functions that run only for these parts."""
        unwanted = {
            index
            for first, after in parts
            for index in self.within(first.encode(), after.encode())
        }
        pointed_at = self.pointed_at()
        shared = {i for i in pointed_at & unwanted if SHARED.search(self.names[i])}
        roots = self.exported() | (pointed_at - unwanted) | shared
        return set(range(len(self.bodies))) - self.reached(roots)

    def without(self, dropped: set[int]) -> bytes:
        """The module with these bodies empty."""
        start, end = next(
            (start, end)
            for kind, start, _, end, _ in sections(self.wasm)
            if kind == CODE
        )
        wasm, parts = self.wasm, [encoded(len(self.bodies))]
        for index, (first, last) in enumerate(self.bodies):
            parts.append(EMPTY if index in dropped else wasm[first:last])
        content = b"".join(parts)
        head = bytes([CODE]) + encoded(len(content))
        return wasm[:start] + head + content + wasm[end:]


def trimmed(wasm: bytes, parts: Iterable[tuple[str, str]]) -> bytes:
    """The module without what runs only for these parts, and without names."""
    module = Module(wasm)
    return without_names(module.without(module.unused(parts)))
