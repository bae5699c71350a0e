"""Positional encodings as PyTorch modules. Importing this loads torch."""

from pe_lib.nn.learned import LearnedPositionalEmbedding
from pe_lib.nn.sinusoidal import SinusoidalPositionalEncoding

__all__ = ["LearnedPositionalEmbedding", "SinusoidalPositionalEncoding"]
