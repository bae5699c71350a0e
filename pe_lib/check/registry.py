"""The list of checks: a function with one line above it is one of them."""

from collections.abc import Callable
from typing import Any

from pe_lib.check.report import Findings

Check = Callable[[Any], Findings]

KINDS = ("added", "table", "rotary", "bias")
CHECKS: dict[str, dict[str, Check]] = {kind: {} for kind in KINDS}


def applies_to(*kinds: str) -> Callable[[Check], Check]:
    """Register a check for some kinds of modules; its name is that of the function.

    It takes the module under test and yields (level, what happened, what mends it).
    """

    def register(check: Check) -> Check:
        for kind in kinds:
            CHECKS[kind][check.__name__.rstrip("_")] = check
        return check

    return register
