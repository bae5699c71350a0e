"""The sinusoidal encoding as a field of hands, and its heat map over binary digits."""

from dataclasses import dataclass

from pe_lib.explorers.drawing import Drawing, one_of, within

BASES = (2, 4, 16, 100, 256, 1_000, 10_000, 100_000, 1_000_000)


@dataclass(frozen=True, kw_only=True)
class Field(Drawing):
    """A column of clock hands for each position; small ones are a heat map.

    Up to 64 positions and 16 hands, those of ``sinusoidal(range(64), 32)``. Bars say
    how much each encoding is like encoding 0: the cosine of the angle between the two.

    Parameters
    ----------
    words : int
        How many positions, from 7 to 64.
    hands : int
        From 1 to 16.

    Raises
    ------
    TypeError
        If an argument is not an integer.
    ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> print(Field(words=48, hands=1))
    48 positions, 1 hand: encoding 44 is most like encoding 0, cosine 1.00.
    """

    words: int = 16
    hands: int = 2

    _name = "field"
    _scripts = ("field.js",)

    def __post_init__(self) -> None:
        within("words", self.words, 7, 64)
        within("hands", self.hands, 1, 16)


@dataclass(frozen=True, kw_only=True)
class HeatMap(Drawing):
    """The sinusoidal table over the binary digits of the same positions.

    Parameters
    ----------
    d_model : int
        4, 8 or 16.
    base : int
        2, 4, 16, 100, 256, 1000, 10,000, 100,000 or 1,000,000.
    position : int
        The one whose digits are read out, from 0 to 31.

    Raises
    ------
    TypeError
        If an argument is not an integer.
    ValueError
        If an argument is not in its list or range.

    Examples
    --------
    >>> print(str(HeatMap(d_model=4, base=100, position=6)).partition(".")[0])
    Each hand is 10
    """

    d_model: int = 16
    base: int = 10_000
    position: int = 6

    _name = "heat_map"
    _scripts = ("field.js",)

    def __post_init__(self) -> None:
        one_of("d_model", self.d_model, (4, 8, 16))
        one_of("base", self.base, BASES)
        within("position", self.position, 0, 31)
