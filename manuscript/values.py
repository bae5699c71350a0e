"""The values of a chapter that a reader may change, as its set-up cell writes them.

    # values that you may change; the text describes these
    D = chosen(32, "4 to 512, even")  # width

``pe_lib.values.chosen`` reads the range when the cell runs, and this its text.
"""

import re
from dataclasses import dataclass
from random import Random

from pe_lib.values import RANGE

MARK = "# values that you may change; the text describes these"
VALUE = re.compile(rf'([A-Z][A-Z_]*) = chosen\(([\d_.]+), "{RANGE.pattern}"\)  # .+')


@dataclass(frozen=True)
class Value:
    """A name, what is stored, and the ends of its range, as the cell writes them."""

    name: str
    stored: str
    least: str
    most: str
    even: bool

    def drawn(self, random: Random) -> str:
        """Any value of the range."""
        least, most = (float(end.replace("_", "")) for end in (self.least, self.most))
        if "." in self.least:
            return f"{random.uniform(least, most):.3f}"
        return str(random.randrange(int(least), int(most) + 1, 1 + self.even))


def offered(source: str) -> list[Value]:
    """The values below the mark in a set-up cell."""
    lines = source.partition(f"{MARK}\n")[2].splitlines()
    found = [VALUE.fullmatch(line) for line in lines]
    if not all(found):
        raise ValueError(f"NAME = chosen(value, range)  # words, not: {lines}")
    return [Value(f[1], f[2], f[3], f[4], bool(f[5])) for f in found if f]
