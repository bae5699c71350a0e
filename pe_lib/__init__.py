"""Positional encodings in NumPy: what the book proves, small enough to read.

Importing ``pe_lib`` loads NumPy and nothing else. Figures need
``pe_lib.plotting`` (matplotlib), fitted attention heads ``pe_lib.fit`` (scipy); these
are imported by name.
"""

from pe_lib.encoding import sinusoidal
from pe_lib.frequencies import angular_frequencies, wavelengths
from pe_lib.rotation import fit_shift, shift_matrix
from pe_lib.scorecards import scorecard
from pe_lib.table import sinusoidal_table

__version__ = "3.0.0"

__all__ = [
    "angular_frequencies",
    "fit_shift",
    "scorecard",
    "shift_matrix",
    "sinusoidal",
    "sinusoidal_table",
    "wavelengths",
]
