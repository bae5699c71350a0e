"""What all explorers share: the card around the drawing, and its pieces."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pe_lib._arguments import as_integer

BASES = (2, 4, 16, 100, 256, 1_000, 10_000, 100_000, 1_000_000)
WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512)
SENTENCE = ("New", "York", "beats", "old", "York")
LEGEND = (
    '<p class="legend"><b class="sine">sine</b>: how far right.'
    ' <b class="cosine">cosine</b>: how far up.'
    ' <b class="target">dotted</b>: {}.</p>\n'
)
"""What the colours of the hands are."""


class Explorer:
    """A card: title, goal, picture, controls, a few numbers, one sentence.

    The script sets what has the class ``now``, in the order of the page: the path of
    a ``path``, the place of a ``g``, the text of anything else.
    """

    _name: ClassVar[str]
    _title: ClassVar[str]
    _goal: ClassVar[str]
    _reached: ClassVar[tuple[str, str]]
    _styles: ClassVar[tuple[str, ...]] = ("explorer.css",)
    _scripts: ClassVar[tuple[str, ...]] = ("frame.js",)

    def _stage(self) -> str:
        raise NotImplementedError

    def _sentence(self) -> str:
        raise NotImplementedError

    def _controls(self) -> str:
        raise NotImplementedError

    def _tally(self) -> list[tuple[str, str]]:
        return []

    def _won(self) -> bool:
        return False

    def __str__(self) -> str:
        return self._sentence()

    def _repr_html_(self) -> str:
        cells = "".join(
            f'<div><dt>{label}</dt><dd class="now">{value}</dd></div>'
            for label, value in self._tally()
        )
        tally = f'<dl class="tally">{cells}</dl>\n' if cells else ""
        head, text = self._reached
        name = self._name.replace("-", "_") + ".js"
        script = "".join(map(_file, (*self._scripts, name)))
        return (
            f'<div class="pe-explorer pe-{self._name}">\n'
            f"<style>\n{''.join(map(_file, self._styles))}</style>\n"
            f'<p class="title">{self._title}</p>\n<p><b>{self._goal}</b></p>\n'
            f'<div class="stage">\n{self._stage()}</div>\n'
            # Hidden until the script runs; method dialog: nothing is ever sent.
            '<form hidden method="dialog" autocomplete="off">\n'
            f"{self._controls()}</form>\n{tally}"
            f'<output aria-live="polite"><span class="line">{self._sentence()}</span>'
            f'<span class="reached"{"" if self._won() else " hidden"}>'
            f"<b>{head}</b> {text}</span></output>\n"
            f"<script>\n{{\n{script}}}\n</script>\n</div>"
        )


def _file(name: str) -> str:
    """A file that lies beside this one, without the white space at its margins."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    lines = (line.strip() for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines if line and not line.startswith("//"))


def picture(alt: str, width: int, height: int, drawing: str, kind: str = "plot") -> str:
    """A drawing with its words for those who do not see it."""
    return (
        f'<svg class="{kind}" viewBox="0 0 {width} {height}" role="img"'
        f' aria-label="{escape(alt)}">\n{drawing}</svg>\n'
    )


def hand(
    label: str,
    angle: float,
    *,
    before: float | None = None,
    ghost: float | None = None,
    legs: bool = True,
    marks: int = 1,
) -> str:
    """A dial whose hand has turned by an angle, clockwise from twelve.

    A pale hand and an arc show where it comes from, a dotted one where it should be.
    """
    x, y = tip(angle, 44).split()
    pieces = ['<circle class="face" r="44"/>']
    pieces += [
        f'<path d="M0-44v7" transform="rotate({360 * i / marks:g})"/>'
        for i in range(marks)
    ]
    if before is not None:
        pieces.append(
            f'<path class="now arc" d="{arc(before, angle)}"/>'
            f'<g class="now pale" transform="{rotate(before)}"><path d="M0 0V-44"/></g>'
        )
    if ghost is not None:
        pieces.append(
            f'<g class="now ghost target" transform="{rotate(ghost)}">'
            '<path d="M0 0V-38"/><circle cy="-44" r="5"/></g>'
        )
    if legs:
        pieces.append(
            f'<path class="now leg cosine" d="M0 0V{y}"/>'
            f'<path class="now leg sine" d="M0 {y}H{x}"/>'
        )
    pieces.append(
        f'<g class="now arm" transform="{rotate(angle)}"><path d="M0 0V-44"/>'
        '<circle cy="-44" r="5"/></g>'
    )
    return (
        '<svg class="hand" viewBox="-50 -50 100 100" role="img"'
        f' aria-label="{escape(label)}">{"".join(pieces)}</svg>'
    )


def rotate(angle: float) -> str:
    """To turn a drawing by so many radians, clockwise."""
    return f"rotate({round(np.degrees(angle), 1) + 0.0:.1f})"


def tip(angle: float, radius: float) -> str:
    """The tip of a clock hand."""
    x, y = radius * np.sin(angle), -radius * np.cos(angle)
    return f"{round(x, 1) + 0.0:.1f} {round(y, 1) + 0.0:.1f}"


def arc(start: float, end: float, r: float = 26) -> str:
    """From one angle to another, the way that the hand went."""
    large, clockwise = int(abs(end - start) % (2 * np.pi) > np.pi), int(end > start)
    return f"M{tip(start, r)}A{r:g} {r:g} 0 {large} {clockwise} {tip(end, r)}"


def lamp(text: str, state: str) -> str:
    """A small sign, lit or not: yes, part or no."""
    return f'<span data-is="{state}">{text}</span>'


def lamps(looks: Iterable[Sequence[int]]) -> str:
    """Where the queries 1, 2, ... look; lit if it is the one before."""
    return "".join(
        lamp(
            f"{i + 1} → {', '.join(map(str, at))}",
            "yes" if list(at) == [i] else "part" if i in at else "no",
        )
        for i, at in enumerate(looks)
    )


def highest(scores: NDArray[np.float64]) -> list[int]:
    """Where the largest stands; what differs by rounding only is a draw."""
    return [int(s) for s in np.flatnonzero(scores > scores.max() - 1e-9)]


def runs(marked: NDArray[np.bool_]) -> str:
    """A path over the marked squares of a table, row by row, in as few strokes."""
    strokes = []
    for row, line in enumerate(marked):
        edges = np.flatnonzero(np.diff(line, prepend=False, append=False))
        strokes += [
            f"M{start} {row}h{end - start}"
            for start, end in zip(edges[::2], edges[1::2], strict=True)
        ]
    return "".join(strokes)


def slider(
    name: str, label: str, low: float, high: float, step: float, value: float
) -> str:
    """A slider under its label."""
    return (
        f"<label>{label}<b aria-hidden=true>{minus(f'{value:g}')}</b>"
        f"<input type=range name={name} min={low:g} max={high:g} step={step:g}"
        f" value={value:g}></label>\n"
    )


def knob(name: str, label: str, high: int, step: float, value: float) -> str:
    """A slider that is drawn as a dial: it is turned by one radian per unit."""
    marks = "".join(
        f'<path class="edge" d="M0-41V-{50 if mark % 1 else 54}"'
        f' transform="{rotate(mark)}"/>'
        for mark in np.arange(0, high + step, step)
    )
    for mark in range(high + 1):
        x, y = tip(mark, 63).split()
        marks += f'<text class="muted" x="{x}" y="{float(y) + 4.5:g}">{mark}</text>'
    drawn = (
        '<svg class="hand" viewBox="-72-72 144 144" aria-hidden="true">'
        f'<circle class="face" r="41"/>{marks}'
        '<circle r="66" fill="transparent" stroke="none"/>'
        '<g class="now arm"'
        f' transform="{rotate(value)}"><circle r="32"/><path d="M0-17V-28"/></g></svg>'
    )
    whole = slider(name, label, 0, high, step, value)
    return whole.replace("<label>", '<label class="knob">').replace(
        "></label>", f">{drawn}</label>"
    )


def choices(name: str, label: str, values: Sequence[int], value: int) -> str:
    """A slider that steps through a list."""
    return (
        f"<label>{label}<b aria-hidden=true>{value:,}</b>"
        f"<input type=range name={name} max={len(values) - 1}"
        f' value={values.index(value)} aria-valuetext="{value:,}"'
        f' data-values="{" ".join(map(str, values))}"></label>\n'
    )


def buttons(name: str, legend: str, labels: Mapping[Any, str], chosen: object) -> str:
    """One button for each label, of which one is pressed; the keys are the values."""
    radios = "".join(
        f'<label><input type="radio" name="{name}" value="{value}"'
        f"{' checked' if value == chosen else ''}>{label}</label>"
        for value, label in labels.items()
    )
    return f"<fieldset><legend>{legend}</legend>{radios}</fieldset>\n"


AGAIN = '<button type="reset">Start again</button>\n'


def minus(number: str) -> str:
    """With the sign that is as wide as a plus."""
    return number.replace("-", "−")


def number(value: float, digits: int = 2) -> str:
    """Two digits, without a negative zero."""
    return minus(f"{round(value, digits) + 0.0:.{digits}f}")


def within(name: str, value: int, low: int, high: int) -> None:
    """Refuse an integer that a slider does not reach."""
    if not low <= as_integer(name, value) <= high:
        raise ValueError(f"{name} must lie within {low} and {high}, got {value}")


def one_of(name: str, value: int, values: Sequence[int]) -> None:
    """Refuse an integer that is not in a list."""
    if as_integer(name, value) not in values:
        raise ValueError(
            f"{name} must be one of {', '.join(map(str, values))}; got {value}"
        )
