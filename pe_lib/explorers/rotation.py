"""A shift as a rotation: hands to turn, and T(k) beside them."""

from dataclasses import dataclass

from pe_lib.explorers.drawing import Drawing, within


@dataclass(frozen=True, kw_only=True)
class Turn(Drawing):
    """Find T(1): turn three hands at eight positions at once onto the next ones.

    The hands are the first three of 32 columns with base 10,000.

    Examples
    --------
    >>> print(Turn())
    0 of 3 hands fit, each at all eight positions at once.
    """

    _name = "turn"
    _scripts = ("rotation.js",)


@dataclass(frozen=True, kw_only=True)
class Rotation(Drawing):
    """Three hands before and after a shift, and T(k) beside them.

    Six dimensions, with base 50 so that the third hand moves visibly. Moving the
    position moves the hands and leaves T(k) as it is; only k changes it.

    Parameters
    ----------
    position : int
        From 0 to 40.
    offset : int
        k, from -24 to 24.

    Raises
    ------
    TypeError
        If an argument is not an integer.
    ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> print(Rotation(position=2, offset=3))
    T(3) takes position 2 to 5.
    """

    position: int = 2
    offset: int = 3

    _name = "rotation"
    _scripts = ("rotation.js",)

    def __post_init__(self) -> None:
        within("position", self.position, 0, 40)
        within("offset", self.offset, -24, 24)
