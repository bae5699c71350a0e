"""One line in your tests: every check of your module as a test of its own.

In a file that pytest collects::

    from pe_lib.check.pytest import encoding_tests
    from mine import PositionalEncoding

    test_positions = encoding_tests(PositionalEncoding, d_model=64)

gives ``test_positions[axes]``, ``test_positions[prefix]`` and so on. This needs pytest.
"""

import functools
from collections.abc import Callable
from typing import Unpack

from pe_lib._extras import require_package
from pe_lib.check.conformance import Options, check_encoding, names_of_checks
from pe_lib.check.report import Report
from pe_lib.check.wrapped import Build

with require_package("pytest", by="pe_lib.check.pytest"):
    import pytest

__all__ = ["encoding_tests"]


def encoding_tests(build: Build, **options: Unpack[Options]) -> Callable[[str], None]:
    """A test for pytest, parametrised over the checks that apply to a module.

    What the module is is found out at once, as pytest collects; it is checked once,
    when the first of the tests runs. A test fails with what is wrong, why it matters,
    and how to fix it. Where nothing can be checked there is one test, ``call``, that
    fails with the reason, or is skipped with it for a kind that is out of scope.

    Parameters
    ----------
    build
        As in :func:`pe_lib.nn.check_encoding`.
    **options
        Its d_model, ignore, positions and offset; it also says what they raise.

    Returns
    -------
    function
        To be bound to a name that begins with ``test``.
    """
    names = names_of_checks(build, **options)

    @functools.cache
    def report() -> Report:
        return check_encoding(build, **options)

    @pytest.mark.parametrize("check", names or ["call"])
    def test(check: str) -> None:
        found = report()
        for finding in found.findings:
            if finding.check == "scope":
                pytest.skip(f"It {found.kind}. {finding.what}")
        wrong = [
            finding.as_text(72) for finding in found.wrong if finding.check == check
        ]
        if wrong:
            pytest.fail("\n".join(wrong), pytrace=False)

    return test
