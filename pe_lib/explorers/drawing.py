"""A drawing to play with: what it draws and says stands in its script alone.

``drawing.js`` says what such a script has. The drawing that is stored and printed is
made here by the same script, in mini-racer; where that is not installed, the page's
browser makes it.
"""

import atexit
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, ClassVar

from pe_lib._arguments import as_integer

FOLDER = Path(__file__).parent
ABSENT = (
    "The script of this page makes the drawing. With the package mini-racer installed,"
    " it is stored with the page as well."
)


@dataclass(frozen=True)
class Drawing:
    """A drawing in its first state; its fields, if any, are what a cell may set of it.

    Its HTML has no ids and no global names, so several can stand on one page; its
    script is one text, whatever the state is. Its colours are the page's variables
    (``--ink``, ``--sine``, ...), or its own.
    """

    _scripts: ClassVar[tuple[str, ...]]
    """Files beside this one, what the drawing rests on first."""
    _name: ClassVar[str]
    """That of its last script: in ``drawings``, the scripts' own list."""

    def __init_subclass__(cls) -> None:
        """Take the name of the script."""
        cls._name = cls._scripts[-1].removesuffix(".js")

    def _state(self) -> dict[str, Any]:
        """What the script knows of it, as JSON has it."""
        return asdict(self)

    def __str__(self) -> str:
        return str(view(self._name, self._state())["sentence"])

    def _repr_html_(self) -> str:
        style = f"<style>\n{read('drawing.css')}</style>\n"
        script = f"<script>\n{program(self._scripts)}</script>\n"
        return self._root(f"{style}{self._still()}{script}")

    def panel(self) -> str:
        """The drawing without style and script, for a page that has them."""
        return self._root(self._still())

    def picture(self) -> str:
        """What it shows, to stand beside words that say the same."""
        size = engine().eval(f"drawing.drawings.{self._name}.size.join(' ')")
        svg = view(self._name, self._state())["svg"]
        return (
            f'<div class="pe-explorer" data-drawing="{self._name}">'
            f'<svg viewBox="0 0 {size}" aria-hidden="true">{svg}</svg></div>'
        )

    def _still(self) -> str:
        try:
            return str(engine().call("drawing.still", self._name, self._state()))
        except ModuleNotFoundError:
            return f'<p class="absent">{ABSENT}</p>\n'

    def _root(self, inside: str) -> str:
        known = escape(json.dumps(self._state(), ensure_ascii=False))
        named = f'data-drawing="{self._name}" data-state="{known}"'
        return f'<div class="pe-explorer" {named}>\n{inside}</div>'


def compared(html: str) -> str:
    """Of a drawing's HTML its name and its state, which say all; of other HTML all."""
    return html.partition("\n")[0] if "data-drawing=" in html[:60] else html


def read(name: str) -> str:
    """A file that lies beside this one, without comments and margins."""
    lines = (line.strip() for line in (FOLDER / name).read_text("utf-8").splitlines())
    return "".join(f"{line}\n" for line in lines if line and not line.startswith("//"))


def program(scripts: Sequence[str]) -> str:
    """What makes these drawings live where it stands; no name leaves it."""
    inside = "".join(map(read, ("drawing.js", *scripts)))
    return f"(() => {{\n{inside}beginAll();\n}})();\n"


def view(name: str, state: dict[str, Any]) -> dict[str, Any]:
    """What a drawing shows in some state: ``svg``, ``sentence`` and ``reached``."""
    return json.loads(engine().call("drawing.view", name, state))  # type: ignore[no-any-return]


@cache
def engine() -> Any:
    """A JavaScript engine with all drawings in it."""
    scripts = [name for kind in Drawing.__subclasses__() for name in kind._scripts]
    inside = "".join(map(read, ("drawing.js", *dict.fromkeys(scripts))))
    return interpreter(
        f"var drawing = (() => {{\n{inside}"
        "const full = (name, state) => ({ ...drawings[name].start, ...state });\n"
        "const view = (name, state) =>"
        " JSON.stringify(drawings[name].view(full(name, state)));\n"
        "return { drawings, full, still, view, between };\n})();"
    )


def interpreter(program: str) -> Any:
    """A JavaScript engine in which a program has run."""
    from py_mini_racer import MiniRacer  # is not there where Python runs in a page

    with ThreadPoolExecutor(1) as apart:  # it would join a notebook's event loop
        javascript = apart.submit(MiniRacer).result()
    atexit.register(javascript.close)  # at its end Python may wait for it for ever
    javascript.eval(f"{program}0")  # what it returns is kept
    return javascript


def within(name: str, value: int, low: int, high: int) -> None:
    """Refuse an integer that a drawing does not reach."""
    if not low <= as_integer(name, value) <= high:
        raise ValueError(f"{name} must lie within {low} and {high}, got {value}")
