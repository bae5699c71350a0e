"""One line in your tests: every check of your module as a test of its own.

In a file that pytest collects::

    from pe_lib.check.pytest import encoding_tests
    from mine import PositionalEncoding

    test_positions = encoding_tests(PositionalEncoding, d_model=64)

gives ``test_positions[axes]``, ``test_positions[prefix]`` and so on; in a class it does
the same. This needs pytest.
"""

import functools
from collections.abc import Callable
from typing import Any

from pe_lib._extras import require_package
from pe_lib.check.checker import Make, check, names_of_checks
from pe_lib.check.report import ERROR, UNCHECKED, WARNING, Report

with require_package("pytest", by="pe_lib.check.pytest"):
    import pytest

__all__ = ["encoding_tests"]


def encoding_tests(
    make: Make, *, strict: bool = False, **options: Any
) -> Callable[[str], None]:
    """A test for pytest, parametrised over the checks of a kind of module.

    The module is checked once, when the first of the tests runs. A test fails with the
    errors of its check, and is skipped where it could not be asked. ``test[call]``
    fails where the module cannot be built, called or read; all others are skipped.

    Parameters
    ----------
    make, **options
        As in :func:`pe_lib.check.check`, which also says what they raise.
    strict : bool
        Whether a warning fails as well.

    Returns
    -------
    function
        To be bound to a name that begins with ``test``, in a module or a class.
    """
    left_out = options.get("ignore", ())
    names = ["call", *names_of_checks(options.get("kind", "added"), left_out)]
    levels = (ERROR, WARNING) if strict else (ERROR,)

    @functools.cache
    def report() -> Report:
        return check(make, **options)

    @pytest.mark.parametrize("name", names)
    def test(name: str) -> None:
        found = report()
        unread = [f for f in found.findings if f.check in ("call", "shape")]
        if name == "call" and unread:
            pytest.fail("\n".join(f.as_text(72) for f in unread), pytrace=False)
        own = [f for f in found.findings if f.check == name]
        if wrong := [f for f in own if f.level in levels]:
            pytest.fail("\n".join(f.as_text(72) for f in wrong), pytrace=False)
        if unread or any(f.state == UNCHECKED for f in own):
            why = [*unread, *own][0].what
            pytest.skip(f"not checked: {why}")

    return staticmethod(test)
