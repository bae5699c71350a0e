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
CALL = re.compile(rb"(?=[\x10\x12\xd2]([\x80-\xff]{0,4}[\x00-\x7f]))")
"""A call, or taking an address; or other bytes that look so: a few kilobytes more."""


class Reader:
    """Reads a module from some place on."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data, self.at = data, at

    def byte(self) -> int:
        """The next byte."""
        self.at += 1
        return self.data[self.at - 1]

    def number(self) -> int:
        """A number in LEB128."""
        value = shift = 0
        while (byte := self.byte()) > 127:
            value |= (byte & 127) << shift
            shift += 7
        return value | byte << shift

    def sized(self) -> bytes:
        """Bytes, behind their number."""
        size = self.number()
        self.at += size
        return self.data[self.at - size : self.at]


def encoded(value: int) -> bytes:
    """A number in LEB128."""
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes([*made, value])


def sections(wasm: bytes) -> Iterator[tuple[int, bytes]]:
    """The sections of a module: kind and content."""
    reader = Reader(wasm, 8)
    while reader.at < len(wasm):
        yield reader.byte(), reader.sized()


def called(body: bytes) -> Iterator[int]:
    """The functions that a body calls, or hands on, and perhaps some more."""
    return (Reader(found[1]).number() for found in CALL.finditer(body))


class Module:
    """What must be known of a module to take functions out of it."""

    def __init__(self, wasm: bytes) -> None:
        self.sections = list(sections(wasm))
        self.head, known = wasm[:8], dict(self.sections)
        self.imported = self._imports(Reader(known[IMPORT]))
        code = Reader(known[CODE])
        self.bodies = [code.sized() for _ in range(code.number())]
        self.names = self._names()
        self.exported = self._exports(Reader(known[EXPORT]))
        self.pointed_at = self._elements(Reader(known[ELEMENT]))

    def _imports(self, reader: Reader) -> int:
        count = reader.number()
        for _ in range(count):
            reader.sized()
            reader.sized()
            if reader.byte() != 0:
                raise ValueError("it imports more than functions")
            reader.number()
        return count

    def _names(self) -> list[bytes]:
        found = [b""] * (self.imported + len(self.bodies))
        custom = [Reader(content) for kind, content in self.sections if kind == 0]
        reader = next(reader for reader in custom if reader.sized() == NAMES)
        while reader.at < len(reader.data):
            kind, listed = reader.byte(), Reader(reader.sized())
            if kind == FUNCTIONS:
                for _ in range(listed.number()):
                    index = listed.number()
                    found[index] = listed.sized()
        return found[self.imported :]

    def _elements(self, reader: Reader) -> set[int]:
        """The functions in the module's tables, which may be called from anywhere."""
        found = set()
        for _ in range(reader.number()):
            if reader.number() != 0 or reader.byte() != 0x41:
                raise ValueError("a table of another kind")
            reader.number()
            reader.byte()
            found |= {reader.number() for _ in range(reader.number())}
        return {index - self.imported for index in found}

    def _exports(self, reader: Reader) -> set[int]:
        """The functions that are called from outside."""
        exports = [
            (reader.sized(), reader.byte(), reader.number())
            for _ in range(reader.number())
        ]
        return {index - self.imported for _, kind, index in exports if kind == 0}

    def within(self, first: bytes, after: bytes) -> range:
        """The functions from one up to another, each the only one of its name."""
        for name in (first, after):
            if (times := self.names.count(name)) != 1:
                raise ValueError(f"{name.decode()} is there {times} times")
        return range(self.names.index(first), self.names.index(after))

    def reached(self, roots: set[int]) -> set[int]:
        """The functions that these call, and those that they call."""
        seen: set[int] = set()
        waiting = set(roots)
        while waiting:
            seen |= waiting
            found = {
                number - self.imported
                for index in waiting
                for number in called(self.bodies[index])
            }
            waiting = found.intersection(range(len(self.bodies))) - seen
        return seen

    def unused(self, parts: Iterable[tuple[str, str]]) -> set[int]:
        """The functions that run only for these parts."""
        unwanted = {
            index
            for first, after in parts
            for index in self.within(first.encode(), after.encode())
        }
        roots = self.exported | (self.pointed_at - unwanted)
        shared = {i for i in self.pointed_at if SHARED.search(self.names[i])}
        return set(range(len(self.bodies))) - self.reached(roots | shared)

    def without(self, dropped: set[int]) -> bytes:
        """The module with these bodies empty, and without names."""
        bodies = (
            EMPTY if index in dropped else encoded(len(body)) + body
            for index, body in enumerate(self.bodies)
        )
        code = encoded(len(self.bodies)) + b"".join(bodies)
        made = [self.head]
        for kind, content in self.sections:
            if kind == CODE:
                content = code
            if kind or Reader(content).sized() != NAMES:
                made += [bytes([kind]), encoded(len(content)), content]
        return b"".join(made)


def trimmed(wasm: bytes, parts: Iterable[tuple[str, str]]) -> bytes:
    """The module without what runs only for these parts, and without names."""
    module = Module(wasm)
    return module.without(module.unused(parts))
