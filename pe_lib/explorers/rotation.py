"""A shift as a rotation: three hands, and T(k) beside them."""

from dataclasses import dataclass

from pe_lib.explorers._explorer import (
    Explorer,
    hand,
    minus,
    number,
    slider,
    within,
)
from pe_lib.frequencies import angular_frequencies
from pe_lib.rotation import shift_matrix


@dataclass(frozen=True, kw_only=True)
class Rotation(Explorer):
    """Three hands before and after a shift, and T(k) below them.

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
    _title = "Turn"
    _goal = "Move the position as far as you like. Then find a way to change T(k)."
    _styles = ("explorer.css", "rotation.css")
    _reached = (
        "Reached: a different offset.",
        "There is no other way: only the offset k occurs in T(k), not the position.",
    )

    def __post_init__(self) -> None:
        within("position", self.position, 0, 40)
        within("offset", self.offset, -24, 24)

    def _stage(self) -> str:
        dials = []
        for pair, frequency in enumerate(angular_frequencies(6, base=50)):
            before, turn = frequency * self.position, frequency * self.offset
            dials.append(
                "<div>"
                + hand(f"hand {pair}", before + turn, before=before)
                + f"<div>frequency {frequency:.2g}</div>"
                f'<span class="now">{number(turn)} rad</span></div>\n'
            )
        T = shift_matrix(self.offset, 6, base=50)
        entries = "".join(
            f'<span class="now{" less" * bool(T[i, j] < -0.005)}"'
            f' style="--v:{round(40 * abs(T[i, j]))}%">{number(T[i, j])}</span>'
            if i // 2 == j // 2
            else "<i>0</i>"
            for i in range(6)
            for j in range(6)
        )
        return (
            f'<div class="dials three">\n{"".join(dials)}</div>\n'
            '<p class="legend">Pale: position t. Full: position t + k, with its'
            ' <b class="sine">sine</b> and <b class="cosine">cosine</b>. The'
            " arc: the turn. Hatched: a number below 0.</p>\n"
            '<div class="matrix" role="img" aria-label="The matrix T(k): three blocks'
            ' of two by two numbers along its diagonal, zero elsewhere">'
            f"{entries}</div>\n"
        )

    def _won(self) -> bool:
        return self.offset != 3

    def _sentence(self) -> str:
        return (
            f"T({minus(str(self.offset))}) takes position {self.position} to"
            f" {minus(str(self.position + self.offset))}."
        )

    def _controls(self) -> str:
        return slider("t", "position t", 0, 40, 1, self.position) + slider(
            "k", "offset k", -24, 24, 1, self.offset
        )
