"""A hand that turns, and its two shadows: sine and cosine."""

from dataclasses import dataclass

from pe_lib.explorers.drawing import Drawing


@dataclass(frozen=True, kw_only=True)
class Wheel(Drawing):
    """A hand of one radian per position, with its sine and its cosine on paper.

    Examples
    --------
    >>> print(Wheel())
    Position 0.9: sine 0.78, cosine 0.62.
    """

    _name = "wheel"
    _scripts = ("wheel.js",)
