"""Two sliders and a straight line: the highest score is at an end."""

from dataclasses import dataclass

from pe_lib.explorers._explorer import SENTENCE, Explorer, minus, picture, slider


@dataclass(frozen=True, kw_only=True)
class StraightLine(Explorer):
    """What counting lets a head do for one query: scores ``slope * s + height``.

    Whatever the matrix is, the scores of query 4 over the keys 0 to 4 are a straight
    line. Slope and height are the reader's.

    Examples
    --------
    >>> print(StraightLine())
    The highest score is York’s, key 4: an end.
    """

    _name = "straight-line"
    _title = "Two sliders"
    _goal = "York at 4 should attend to old: make the score of old the highest."
    _reached = (
        "It cannot be done, and now you know why.",
        "The five scores lie on one straight line, whatever its slope and height. A"
        " straight line is highest at an end, unless it is flat, and old is inside.",
    )

    def _stage(self) -> str:
        bars = "".join(f"M{68 * s + 34} 110V{110 - 15 * s:.1f}" for s in range(5))
        dots = "".join(f"M{68 * s + 34} {110 - 15 * s:.1f}h0" for s in range(5))
        names = "".join(
            f'<text x="{68 * s + 34}" y="218">{word}</text>'
            f'<text class="muted" x="{68 * s + 34}" y="235">{s}</text>'
            for s, word in enumerate(SENTENCE)
        )
        return picture(
            "Five dots, the scores of the five keys for the last word, each with a bar"
            " from zero, and the straight line through them. The dot of old is ringed.",
            340,
            240,
            f'<path class="now" stroke-width="34" d="{bars}"/>\n'
            '<path class="edge" d="M8 110h324"/>'
            '<path class="now edge" stroke-width="2.5" d="M34 110.0L306 50.0"/>'
            f'<path class="now edge round" stroke-width="9" d="{dots}"/>'
            '<g class="now" transform="translate(238 65.0)">'
            '<circle r="23" fill="transparent" stroke="none"/>'
            f'<circle class="target" stroke-width="3" r="8"/></g>\n{names}\n',
        )

    def _tally(self) -> list[tuple[str, str]]:
        scores = ", ".join(f"{1.5 * s:g}" for s in range(5))
        return [("the five scores", minus(scores)), ("lines tried", "0")]

    def _sentence(self) -> str:
        return "The highest score is York’s, key 4: an end."

    def _controls(self) -> str:
        return slider("slope", "slope", -2, 2, 0.5, 1.5) + slider(
            "height", "height", -2, 2, 0.5, 0
        )
