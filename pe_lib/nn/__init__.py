"""Modules for PyTorch."""

from pe_lib.nn.conformance import check_encoding

__all__ = ["check_encoding"]
