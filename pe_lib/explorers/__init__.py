"""Small drawings to play with, for notebooks and pages: no kernel, no library.

Each class checks its arguments; the script beside it, ``<name>.js``, draws, says in a
sentence what it shows, and makes it move. What is stored and printed is drawn by the
same script (``drawing.py``), and its numbers are compared with what ``pe_lib`` computes
(tests/explorers).

One is shown as the last expression of a cell: ``LookBack()``. Its HTML has no ids and
no global names, so several can stand on one page. Its colours are the page's variables
(``--ink``, ``--sine``, ``--target``, ...), or its own.
"""

from pe_lib.explorers.bench import Bench
from pe_lib.explorers.dial import Dial
from pe_lib.explorers.dot_product import DotProduct
from pe_lib.explorers.field import Field, HeatMap
from pe_lib.explorers.hero import Hero
from pe_lib.explorers.look_back import LookBack, Spike
from pe_lib.explorers.move_both import MoveBoth, Rotary
from pe_lib.explorers.patches import Patches
from pe_lib.explorers.plane import Galaxy, Plane
from pe_lib.explorers.rotation import Rotation, Turn
from pe_lib.explorers.shuffle import Shuffle
from pe_lib.explorers.skip import Skip
from pe_lib.explorers.straight_line import StraightLine
from pe_lib.explorers.stretch import Stretch
from pe_lib.explorers.switches import Switches
from pe_lib.explorers.two_hands import TwoHands
from pe_lib.explorers.wheel import Wheel

__all__ = [
    "Bench",
    "Dial",
    "DotProduct",
    "Field",
    "Galaxy",
    "HeatMap",
    "Hero",
    "LookBack",
    "MoveBoth",
    "Patches",
    "Plane",
    "Rotary",
    "Rotation",
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
