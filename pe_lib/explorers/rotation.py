"""A shift as a rotation: three clocks, and T(k) beside them."""

from dataclasses import dataclass

import numpy as np

from pe_lib.explorers._explorer import Explorer, minus, number, slider, within
from pe_lib.frequencies import angular_frequencies
from pe_lib.rotation import shift_matrix


@dataclass(frozen=True, kw_only=True)
class Rotation(Explorer):
    """Three clocks before and after a shift, and the blocks of T(k) below them.

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
    T(3) takes position 2 to 5: the hands turn by 3.00, 0.81 and 0.22 radians.
    First block: −0.99, 0.14; −0.14, −0.99.
    """

    position: int = 2
    offset: int = 3

    _name = "rotation"
    _goal = (
        "Goal: find the k for which T(k) turns the first hand most exactly to the other"
        " side. Then move the position: does T(k) change?"
    )
    _alt = (
        "Three clocks, each with a grey hand before and a blue hand after the shift,"
        " and an orange arc from one to the other. Below each clock its block of the"
        " matrix T(k), two by two numbers."
    )
    _height = 180

    def __post_init__(self) -> None:
        within("position", self.position, 0, 40)
        within("offset", self.offset, -24, 24)

    def _picture(self) -> str:
        T = shift_matrix(self.offset, 6, base=50)
        clocks = []
        for pair, speed in enumerate(angular_frequencies(6, base=50)):
            before, turn = speed * self.position, speed * self.offset
            after = before + turn
            large, clockwise = int(abs(turn) % (2 * np.pi) > np.pi), int(turn > 0)
            block = T[2 * pair :, 2 * pair :]
            entries = "".join(
                f'<text class="entry" x="{x}" y="{y}">{number(block[i, j])}</text>'
                for i, y in enumerate((90, 110))
                for j, x in enumerate((-23, 23))
            )
            clocks.append(
                f'<g transform="translate({60 + 110 * pair} 62)">'
                f'<text y="-53">pair {pair}</text><circle r="46"/>'
                f'<path class="now orange" stroke-width="2" d="M{_tip(before, 20)}'
                f'A20 20 0 {large} {clockwise} {_tip(after, 20)}"/>'
                '<g class="dot" stroke-width="4">'
                f'<path class="now grey" d="M0 0L{_tip(before, 44)}"/>'
                f'<path class="now blue" d="M0 0L{_tip(after, 44)}"/></g>'
                f'<path d="M-44 74h-5v42h5M44 74h5v42h-5"/>{entries}</g>\n'
            )
        return "".join(clocks) + (
            f'<text class="name" x="170" y="128">T({minus(str(self.offset))}),'
            " block by block</text>\n"
        )

    def _sentence(self) -> str:
        turns = angular_frequencies(6, base=50) * self.offset
        first, second, third = (number(turn) for turn in turns)
        block = [number(x) for x in shift_matrix(self.offset, 6, base=50)[:2, :2].flat]
        return (
            f"T({minus(str(self.offset))}) takes position {self.position} to"
            f" {minus(str(self.position + self.offset))}: the hands turn by"
            f" {first}, {second} and {third} radians."
            " First block: {}, {}; {}, {}.".format(*block)
        )

    def _controls(self) -> str:
        return slider("t", "position", 0, 40, 1, self.position) + slider(
            "k", "offset k", -24, 24, 1, self.offset
        )


def _tip(angle: float, radius: float) -> str:
    """The tip of a clock hand."""
    x, y = radius * np.sin(angle), -radius * np.cos(angle)
    return f"{x + 0.0:.1f} {y:.1f}"
