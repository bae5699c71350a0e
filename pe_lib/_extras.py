"""What some modules need besides NumPy, and the line that says what to install."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def require_package(package: str, *, by: str) -> Iterator[None]:
    """Around the imports of `by`: if `package` is missing, say what to install.

    Anything else that is missing is not spoken of: its own error says more.

    >>> with require_package("a_package", by="pe_lib.module"):
    ...     import a_package
    Traceback (most recent call last):
    ModuleNotFoundError: pe_lib.module needs a_package: pip install a_package
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        raise ModuleNotFoundError(
            f"{by} needs {package}: pip install {package}", name=package
        ) from None
