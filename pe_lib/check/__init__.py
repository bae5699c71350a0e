"""Checks of a positional encoding module: whether it is what it is said to be.

This loads torch.
"""

from pe_lib._extras import require_package

with require_package("torch", by="pe_lib.check"):
    from pe_lib.check.checker import check, names_of_checks
    from pe_lib.check.report import Finding, Report

__all__ = ["Finding", "Report", "check", "names_of_checks"]
