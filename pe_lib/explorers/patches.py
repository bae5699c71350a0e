"""Which patches of an image a head attends to, if hands count rows and columns."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pe_lib._arguments import as_flag
from pe_lib.attention import softmax
from pe_lib.explorers._explorer import (
    Explorer,
    highest,
    number,
    picture,
    runs,
    slider,
    within,
)

FREQUENCIES, SHARP, FAR = (2.0, 1.0, 0.5), 3, 3
SIDE = 2 * FAR + 1


@dataclass(frozen=True, kw_only=True)
class Patches(Explorer):
    """A head built for two opposite patches, and those that it attends to most.

    All patches look alike. Three hands rotate with the row, three with the column, and
    three more with each diagonal if `diagonals` is set; the frequencies are 2, 1 and
    1/2. With the offset k of a key, w the frequencies of a hand along rows and columns
    and d what is wanted, the score is the sum of cos(w . (k - d)) + cos(w . (k + d)).

    Parameters
    ----------
    down, right : int
        Where one of the two patches is, from -3 to 3.
    diagonals : bool
        Hands that count rows and columns together.

    Raises
    ------
    TypeError
        If `down` or `right` is not an integer, `diagonals` not a bool.
    ValueError
        If a number is out of its range.

    Examples
    --------
    >>> str(Patches()).partition(" Weight")[0]
    'Wanted: 1 down, 2 right, and the opposite. Highest: 4 patches, 2 too many.'
    """

    down: int = 1
    right: int = 2
    diagonals: bool = False

    _name = "patches"
    _title = "Attend to two opposite patches"
    _goal = (
        "Drag a frame anywhere off the middle row and column. Can the head attend"
        " most to these two patches, and to no other?"
    )
    _reached = (
        "Reached: hands along the diagonals.",
        "Rows plus columns cannot do it at any place or speed: the opposite corners of"
        " a rectangle have the same sum.",
    )

    def __post_init__(self) -> None:
        within("down", self.down, -FAR, FAR)
        within("right", self.right, -FAR, FAR)
        as_flag("diagonals", self.diagonals)

    def _scores(self) -> NDArray[np.float64]:
        """Of all keys, row by row; the query is in the middle."""
        directions = [(1, 0), (0, 1)] + [(1, 1), (1, -1)] * self.diagonals
        hands = np.array([s * np.array(way) for s in FREQUENCIES for way in directions])
        steps = np.arange(-FAR, FAR + 1)
        places = np.stack(np.meshgrid(steps, steps, indexing="ij"), -1).reshape(-1, 2)
        amounts = np.cos(hands @ (self.down, self.right))
        scores: NDArray[np.float64] = 2 * np.cos(places @ hands.T) @ amounts
        return scores

    def _wanted(self) -> set[int]:
        middle, step = SIDE * FAR + FAR, SIDE * self.down + self.right
        return {middle + step, middle - step}

    def _share(self) -> float:
        return float(softmax(SHARP * self._scores())[list(self._wanted())].sum())

    def _stage(self) -> str:
        weights = softmax(SHARP * self._scores()).reshape(SIDE, SIDE)
        levels = np.minimum(np.round(16 * weights), 8)
        cells = "".join(
            f'<path class="now" stroke-opacity="{level / 10:g}"'
            f' d="{runs(levels == level)}"/>'
            for level in range(1, 9)
        )
        lines = "".join(f"M{x} 10v280M10 {x}h280" for x in range(10, 291, 40))
        frames = "".join(
            f'<g class="now turns target" transform="translate({40 * sign * self.right}'
            f' {40 * sign * self.down})"><path stroke-width="4"'
            ' d="M133 133h34v34h-34z"/></g>'
            for sign in (1, -1)
        )
        return picture(
            "A grid of seven by seven patches, with most ink where the weights of"
            " a query in the middle are large. Two frames, opposite to each other, are"
            " the patches that are wanted.",
            300,
            300,
            f'<path class="hair" d="{lines}"/>\n'
            f'<g transform="translate(10 30) scale(40)">{cells}</g>\n'
            f'<circle class="solid" cx="150" cy="150" r="5"/>{frames}\n',
            "map",
        ) + (
            '<p class="legend">Ink: attention weights. Dot: the query.'
            ' <b class="target">Frames</b>: the patches that are wanted.</p>\n'
        )

    def _won(self) -> bool:
        off = self.down != 0 and self.right != 0
        return off and set(highest(self._scores())) == self._wanted()

    def _sentence(self) -> str:
        ways = [
            f"{abs(step)} {names[step > 0]}"
            for step, names in (
                (self.down, ("up", "down")),
                (self.right, ("left", "right")),
            )
            if step
        ]
        what = ", ".join([*ways, "and the opposite"]) if ways else "the patch itself"
        most = len(highest(self._scores()))
        more = most - len(self._wanted())
        how = f"{most} patches, {more} too many" if more > 0 else "no other"
        share = number(self._share())
        return f"Wanted: {what}. Highest: {how}. Weight on those wanted: {share}."

    def _controls(self) -> str:
        checked = " checked" if self.diagonals else ""
        return (
            slider("down", "rows down", -FAR, FAR, 1, self.down)
            + slider("right", "columns to the right", -FAR, FAR, 1, self.right)
            + f'<label><input type="checkbox" name="diagonals"{checked}>'
            "hands along the diagonals too</label>\n"
        )
