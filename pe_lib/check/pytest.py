"""One line in your tests: every check of your module as a test of its own.

In a file that pytest collects::

    from pe_lib.check.pytest import encoding_tests
    from mine import PositionalEncoding

    test_positions = encoding_tests(PositionalEncoding, d_model=64)

gives ``test_positions[axes]``, ``test_positions[prefix]`` and so on. This needs pytest.
"""

import functools
from collections.abc import Callable
from typing import Any

from pe_lib._extras import require_package
from pe_lib.check.checker import check, names_of_checks
from pe_lib.check.report import ERROR, WARNING, Report
from pe_lib.check.subject import Make

with require_package("pytest", by="pe_lib.check.pytest"):
    import pytest

__all__ = ["encoding_tests"]


def encoding_tests(
    make: Make, *, strict: bool = False, **options: Any
) -> Callable[[str], None]:
    """A test for pytest, parametrised over the checks of a kind of module.

    The module is checked once, when the first of the tests runs. A test fails with the
    errors of its check; all fail where the module cannot be called.

    Parameters
    ----------
    make, **options
        As in :func:`pe_lib.check.check`, which also says what they raise.
    strict : bool
        Whether a warning fails as well.

    Returns
    -------
    function
        To be bound to a name that begins with ``test``.
    """
    names = names_of_checks(options.get("kind", "added"), options.get("ignore", ()))
    levels = (ERROR, WARNING) if strict else (ERROR,)

    @functools.cache
    def report() -> Report:
        return check(make, **options)

    @pytest.mark.parametrize("name", names)
    def test(name: str) -> None:
        found = report()
        wrong = [f for f in found.findings if f.check in (name, "call", "shape")]
        wrong = [f for f in wrong if f.level in levels]
        if wrong:
            pytest.fail("\n".join(f.as_text(72) for f in wrong), pytrace=False)

    return test
