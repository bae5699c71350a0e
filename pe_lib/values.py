"""The values that a reader of a chapter may change, each with its range beside it."""

import re

RANGE = re.compile(r"([\d_.]+) to ([\d_.]+)(, even)?")


def chosen(value: float, range_: str) -> float:
    """Return `value` if it lies in a range that is written in words.

    `range_` is "4 to 512", "4 to 512, even" or "0.1 to 4.0", its ends included. With
    whole ends the value must be an integer. A TypeError or a ValueError says which
    values may be chosen.

        >>> chosen(32, "4 to 512, even")
        32
        >>> chosen(1000, "4 to 512, even")
        Traceback (most recent call last):
        ValueError: this value must be 4 to 512, even; got 1000
    """
    found = RANGE.fullmatch(range_) if isinstance(range_, str) else None
    if not found:
        raise ValueError(f"range_ must be like '4 to 512, even', got {range_!r}")
    least, most, even = found.groups()
    whole = "." not in least
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
        kind = "an integer" if whole else "a number"
        raise TypeError(f"this value must be {kind}, {range_}; got {value!r}")
    if not float(least) <= value <= float(most) or (even and value % 2):
        raise ValueError(f"this value must be {range_}; got {value!r}")
    return value
