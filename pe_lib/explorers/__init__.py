"""Small drawings to play with, for notebooks and pages: no kernel, no library.

The script beside each class draws, says in a sentence what it shows, and makes it move.
What is stored and printed is drawn by the same script (``drawing.py``), and its numbers
are compared with what ``pe_lib`` computes (tests/explorers). What a reader can change
is changed in the drawing; only the bench is told from where to begin.

One is shown as the last expression of a cell: ``Plane()``. Its HTML has no ids and no
global names, so several can stand on one page. Its colours are the page's variables
(``--ink``, ``--sine``, ``--target``, ...), or its own.
"""

from pe_lib.explorers.bench import Bench
from pe_lib.explorers.dial import Dial
from pe_lib.explorers.patches import Patches
from pe_lib.explorers.penalty import Penalty
from pe_lib.explorers.plane import Plane
from pe_lib.explorers.stretch import Stretch
from pe_lib.explorers.ten_drawings import (
    Field,
    Galaxy,
    Hero,
    Rotary,
    Shuffle,
    Skip,
    Spike,
    StraightLine,
    Switches,
    Turn,
    Wheel,
)
from pe_lib.explorers.two_hands import TwoHands

__all__ = [
    "Bench",
    "Dial",
    "Field",
    "Galaxy",
    "Hero",
    "Patches",
    "Penalty",
    "Plane",
    "Rotary",
    "Shuffle",
    "Skip",
    "Spike",
    "StraightLine",
    "Stretch",
    "Switches",
    "Turn",
    "TwoHands",
    "Wheel",
]
