"""Positional encodings as PyTorch modules. This loads torch."""

from pe_lib._extras import require_package

with require_package("torch", by="pe_lib.nn"):
    from pe_lib.nn._rotate import rotate
    from pe_lib.nn.bias import AlibiBias
    from pe_lib.nn.grid import GridRotaryEmbedding
    from pe_lib.nn.learned import LearnedPositionalEmbedding
    from pe_lib.nn.rotary import RotaryEmbedding
    from pe_lib.nn.sinusoidal import SinusoidalPositionalEncoding

__all__ = [
    "AlibiBias",
    "GridRotaryEmbedding",
    "LearnedPositionalEmbedding",
    "RotaryEmbedding",
    "SinusoidalPositionalEncoding",
    "rotate",
]
