"""What all explorers share: their HTML around the drawing, and its pieces."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import ClassVar

from pe_lib._arguments import as_integer

BASES = (2, 4, 16, 100, 256, 1_000, 10_000, 100_000, 1_000_000)
WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512)


class Explorer:
    """What all have in common: a goal, a picture, a sentence about it, controls."""

    _name: ClassVar[str]
    _goal: ClassVar[str]
    _alt: ClassVar[str]
    _height: ClassVar[int]
    _styles: ClassVar[tuple[str, ...]] = ("explorer.css",)

    def _picture(self) -> str:
        raise NotImplementedError

    def _sentence(self) -> str:
        raise NotImplementedError

    def _controls(self) -> str:
        raise NotImplementedError

    def __str__(self) -> str:
        return self._sentence()

    def _repr_html_(self) -> str:
        return (
            f'<div class="pe-explorer pe-{self._name}">\n'
            f"<style>\n{''.join(map(_file, self._styles))}</style>\n"
            f"<p>{self._goal}</p>\n"
            f'<svg viewBox="0 0 340 {self._height}" role="img"'
            f' aria-label="{escape(self._alt)}">\n{self._picture()}</svg>\n'
            f'<output aria-live="polite">{self._sentence()}</output>\n'
            # Hidden until the script runs; method dialog: nothing is ever sent.
            '<form hidden method="dialog" autocomplete="off">\n'
            f"{self._controls()}</form>\n"
            f"<script>\n{_file(self._name.replace('-', '_') + '.js')}</script>\n</div>"
        )


def _file(name: str) -> str:
    """A file that lies beside this one, without the white space at its margins."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    lines = (line.strip() for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines if line and not line.startswith("//"))


def slider(
    name: str, label: str, low: float, high: float, step: float, value: float
) -> str:
    """A slider under its label; one without a name is found by its place."""
    named = f" name={name}" if name else ""
    return (
        f"<label>{label}<b aria-hidden=true>{minus(f'{value:g}')}</b>"
        f"<input type=range{named} min={low:g} max={high:g} step={step:g}"
        f" value={value:g}></label>\n"
    )


def choices(name: str, label: str, values: Sequence[int], value: int) -> str:
    """A slider that steps through a list."""
    return (
        f"<label>{label}<b aria-hidden=true>{value:,}</b>"
        f"<input type=range name={name} max={len(values) - 1}"
        f' value={values.index(value)} aria-valuetext="{value:,}"'
        f' data-values="{" ".join(map(str, values))}"></label>\n'
    )


def minus(number: str) -> str:
    """With the sign that is as wide as a plus."""
    return number.replace("-", "−")


def number(value: float) -> str:
    """Two digits, without a negative zero."""
    return minus(f"{round(value, 2) + 0.0:.2f}")


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
