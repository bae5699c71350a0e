"""Checks of a positional encoding module: what it is, and what is wrong.

``check_encoding(build)`` here, ``python -m pe_lib check package.module:Class``
from the shell. This loads torch.
"""

from pe_lib._extras import require_package

with require_package("torch", by="pe_lib.check"):
    from pe_lib.check.conformance import check_encoding

__all__ = ["check_encoding"]
