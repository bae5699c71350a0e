"""The drawings of the quarter of an hour, and the field of the first page, as stills.

``{panel} spike`` puts one on a page: what a reader without a script has, and what is
printed; ``{still} spike`` puts one that never moves. Each is computed by ``pe_lib``,
and says in one sentence what it shows.
``quarter.js`` moves it: it sets what has the attribute ``data-now``, in the order of
the drawing, and for the same state it draws the same (``test_quarter.py``).
"""

import csv
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from html import escape
from itertools import takewhile
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from docutils import nodes
from numpy.typing import NDArray
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from pe_lib import angular_frequencies, explorers
from pe_lib.beyond.rotary import apply_rotary
from pe_lib.explorers._explorer import minus
from pe_lib.explorers.drawing import Drawing, program, read
from website import manuscript

Array = NDArray[np.float64]

WORDS = ("New", "York", "beats", "old", "York")
VECTORS = {"New": (1, 0), "York": (1, 1), "beats": (0, -1), "old": (-1, 1)}
WIDTH = 32
SPEEDS = angular_frequencies(WIDTH)
"""Of all hands of the page: those of 32 columns, fast ones first."""


class Picture(NamedTuple):
    """What it shows for those who do not see it, its height, its SVG, its sentence."""

    alt: str
    height: int
    body: str
    sentence: str
    width: int = 600


# Pieces


def f(x: float) -> str:
    """A coordinate."""
    return f"{round(float(x), 1) + 0.0:.1f}"


def at(x: float, y: float) -> str:
    """A place."""
    return f"{f(x)} {f(y)}"


def moved(x: float, y: float) -> str:
    """To draw something there."""
    return f"translate({at(x, y)})"


def turned(angle: float) -> str:
    """To turn a drawing by so many radians, clockwise."""
    return f"rotate({f(np.degrees(angle))})"


def tip(angle: float, r: float) -> tuple[float, float]:
    """The tip of a hand, from its middle: to the right, and down."""
    return r * float(np.sin(angle)), -r * float(np.cos(angle))


def path(kind: str, d: str) -> str:
    """A line."""
    return f'<path class="{kind}" d="{d}"/>'


def circle(kind: str, r: float, x: float = 0, y: float = 0) -> str:
    """A dot or a dial."""
    return f'<circle class="{kind}" cx="{f(x)}" cy="{f(y)}" r="{f(r)}"/>'


def box(kind: str, x: float, y: float, wide: float, high: float, r: float = 0) -> str:
    """A bar, a tile or a lamp."""
    place = f'x="{f(x)}" y="{f(y)}" width="{f(wide)}" height="{f(high)}"'
    return f'<rect class="{kind}" {place} rx="{f(r)}"/>'


def text(x: float, y: float, words: str, kind: str = "word") -> str:
    """A word of the drawing."""
    return f'<text class="{kind}" x="{f(x)}" y="{f(y)}">{words}</text>'


def group(where: str, *inside: str, kind: str = "") -> str:
    """Pieces that are drawn together, somewhere."""
    named = f' class="{kind}"' if kind else ""
    return f'<g{named} transform="{where}">{"".join(inside)}</g>'


def now(tag: str, kind: str = "", inside: str = "", **moving: str) -> str:
    """An element with what the script sets: attributes, or ``html`` for its inside."""
    names = [name.strip("_").replace("_", "-") for name in moving]
    written = "".join(
        f' {name}="{value}"'
        for name, value in zip(names, moving.values(), strict=True)
        if name != "html"
    )
    named = f' class="{kind}"' if kind else ""
    inside += moving.get("html", "")
    return f'<{tag}{named} data-now="{" ".join(names)}"{written}>{inside}</{tag}>'


def take(where: str, *inside: str) -> str:
    """What a finger can take, and move."""
    return now("g", "take", "".join(inside), transform=where)


def hand(r: float, dot: float) -> str:
    """A hand that stands upright."""
    return path("ink", f"M0 0V{-r:g}") + circle("solid", dot, 0, -r)


def thread(a: float, b: float, y: float) -> str:
    """From one word up and down to another, or to itself."""
    if a == b:
        sides = f"{at(a - 34, y - 56)} {at(a + 34, y - 56)}"
        return f"M{at(a - 12, y)}C{sides} {at(a + 12, y)}"
    top = y - 28 - 0.24 * abs(a - b)
    return f"M{at(a, y)}C{at(a, top)} {at(b, top)} {at(b, y)}"


def seat(i: float) -> float:
    """Where a word of the sentence is: in all drawings at the same place."""
    return 60 + 120 * i


def decimals(x: float) -> str:
    """Two of them, with the minus of the text."""
    return minus(f"{round(float(x), 2) + 0.0:.2f}")


def hands_of(n: int) -> str:
    """So many hands, as one says it."""
    return f"{n} hand{'s' if n > 1 else ''}"


# The drawings


def rotary(query: float = 16, key: float = 13) -> Picture:
    """A query and a key, each turned by its position; and their score."""
    start = (0.35, 1.25)
    a, b = 0.5 * key + start[0], 0.5 * query + start[1]
    gap = (b - a) % (2 * np.pi)
    arrows = np.array([[np.cos(x), np.sin(x)] for x in start])
    k, q = apply_rotary(arrows, [key, query], frequencies=[0.5])
    score = float(q @ k)
    x, y = 10 + 20 * key, 10 + 20 * query
    wide = max(124, abs(y - x) + 84)
    ends = f"M0 0L{at(*tip(a, 54))}A54 54 0 {int(gap > np.pi)} 1 {at(*tip(b, 54))}Z"
    nx, ny = tip(0.8 * score, 74)
    ticks = "".join(f"M{10 + 20 * i} 324v12" for i in range(1, 29))
    arrow = path("ink", "M0 0V-112") + circle("solid", 7, 0, -112)
    band = {"x": f(-wide / 2), "y": "-24", "width": f(wide), "height": "48", "rx": "24"}
    return Picture(
        "Above, a dial with two arrows, the query of York and the key of old, and the"
        " angle between them; beside it a needle that shows their score. Below, a line"
        " of positions with the two words on it.",
        470,
        group(
            moved(190, 140),
            circle("face", 118),
            now("path", "wedge", d=ends),
            now("g", "", path("pale", "M0 0V-112"), transform=turned(a)),
            now("g", "", arrow, transform=turned(b)),
        )
        + path("edge", "M390 180A94 94 0 0 1 550 180")
        + now("path", "ink", d=f"M470 190L{at(470 + nx, 190 + ny)}")
        + text(470, 222, "score", "count")
        + path("edge", "M10 330H590")
        + path("hair", ticks)
        + take(
            moved((x + y) / 2, 436),
            now("rect", "both", **band),
            box("grip", -62, -38, 124, 76),
            text(0, 7, "both", "word aimed"),
        )
        + take(
            moved(x, 366),
            box("grip", -40, -30, 80, 74),
            box("tile", -34, -21, 68, 42, 8),
            text(0, 7, "old"),
        )
        + take(
            moved(y, 294),
            box("grip", -40, -44, 80, 74),
            box("tile dark", -34, -21, 68, 42, 8),
            text(0, 7, "York", "word inside"),
        ),
        f"York at {query:.0f}, old at {key:.0f}: {query - key:.0f} apart,"
        f" {np.degrees(gap):.0f}° between them, score {decimals(score)}.",
    )


SENTENCE = (
    ("The", "old", "king", "gave", "seven", "golden"),
    ("apples", "to", "his", "youngest", "daughter"),
    ("before", "the", "first", "snow", "of", "winter"),
    ("fell", "on", "the", "silent", "town."),
)
STORED = manuscript.ROOT / "book/beyond/data/smollm_sentences.csv"


@cache
def answers() -> list[str]:
    """What the language model wrote with four heads turned, at each quarter from 0."""
    with STORED.open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(line for line in file if line[0] != "#")]
    found = []
    for step in range(9):
        heads, back = ("four", f"{step / 4:g}") if step else ("none", "0")
        wanted = {"text": "king", "heads": heads, "back": back}
        tokens = [row["token"] for row in rows if wanted.items() <= row.items()]
        line = "".join(tokens).strip().splitlines()[0]
        found.append(line.partition(".")[0] + ("." if "." in line else " ..."))
    return found


def king(back: float = 1) -> Picture:
    """A language model that skips words: its stored answers."""
    text_now, words = answers()[round(4 * back)], sum(SENTENCE, ())
    kinds, last = ["later"] * len(words), 0
    for word in text_now.replace(".", "").split():
        there = [i for i in range(last + 1, len(words)) if words[i].strip(".") == word]
        if there:
            kinds[last + 1 : there[0]] = ["skipped"] * (there[0] - last - 1)
            last = there[0]
            kinds[last] = "written"
    spans = [now("tspan", "", w, class_=k) for w, k in zip(words, kinds, strict=True)]
    lines = []
    for i, line in enumerate(SENTENCE):
        inside = " ".join(spans[: len(line)])
        del spans[: len(line)]
        lines.append(f'<text class="line" x="300" y="{48 + 46 * i}">{inside}</text>')
    marks = []
    for step in range(9):
        x, y = tip(step / 4, 1)
        long = 112 if step % 4 else 120
        marks.append(path("edge", f"M{at(102 * x, 102 * y)}L{at(long * x, long * y)}"))
        if step % 4 == 0:
            marks.append(text(138 * x, 138 * y + 6, f"{step // 4}", "count"))
    knob = circle("solid", 78) + path("notch", "M0-48V-70")
    turn = f"four heads turned back by {back:g}" if round(4 * back) else "as trained"
    return Picture(
        "A sentence of 22 words in four lines: The old king gave seven golden apples to"
        " his youngest daughter before the first snow of winter fell on the silent"
        " town. Old, golden, youngest, first, of winter and silent are crossed out: the"
        " model skips them. Below is a knob, set to one position.",
        470,
        "".join(lines)
        + take(
            moved(300, 350),
            *marks,
            circle("face", 102),
            now("g", "", knob, transform=turned(back)),
            circle("grip", 104),
        ),
        f"Stored answer, {turn}: {text_now}",
    )


SHARED: dict[str, type[Drawing]] = {
    "heap": explorers.Shuffle,
    "level": explorers.StraightLine,
    "digits": explorers.Switches,
    "wheel": explorers.Wheel,
    "galaxy": explorers.Galaxy,
    "field": explorers.Field,
    "turn": explorers.Turn,
    "spike": explorers.Spike,
    "hero": explorers.Hero,
}
"""Those that chapters use, too."""
PANELS = (
    *("heap", "level", "digits", "wheel", "galaxy"),
    *("field", "turn", "spike", "rotary", "king"),
)
DRAWINGS: dict[str, Callable[..., Picture]] = {
    "rotary": rotary,
    "king": king,
}


def panel(name: str) -> str:
    """A drawing as it stands on a page, with what the script must know."""
    if name in SHARED:
        return f'<div class="panel" data-panel="{name}">{SHARED[name]().panel()}</div>'
    drawing = DRAWINGS[name]
    shown = drawing()
    names = drawing.__code__.co_varnames
    known: dict[str, Any] = dict(zip(names, drawing.__defaults__ or (), strict=False))
    if name == "king":
        known["answers"] = answers()
    size = f'viewBox="0 0 {shown.width} {shown.height}"'
    data = f'data-panel="{name}" data-still="{escape(json.dumps(known))}"'
    return (
        f'<div class="panel" {data}>'
        f'<svg {size} role="img" aria-label="{escape(shown.alt)}">{shown.body}</svg>'
        f'<output aria-live="polite">{shown.sentence}</output></div>'
    )


def still(name: str, **state: Any) -> str:
    """A drawing in some state beside words that say the same."""
    if name in SHARED:
        return f'<div class="still">{SHARED[name](**state).picture()}</div>'
    shown = DRAWINGS[name](**state)
    body = re.sub(' data-now="[^"]*"', "", shown.body)
    size = f'viewBox="0 0 {shown.width} {shown.height}"'
    return f'<div class="still"><svg {size} aria-hidden="true">{body}</svg></div>'


class Still(SphinxDirective):
    """``{still} name`` and a state in JSON: a drawing that does not move."""

    required_arguments: ClassVar[int] = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """The drawing."""
        state = json.loads("".join(self.content) or "{}")
        return [nodes.raw("", still(self.arguments[0], **state), format="html")]


class Panel(SphinxDirective):
    """``{panel} name``: the drawing of that name."""

    required_arguments: ClassVar[int] = 1

    def run(self) -> list[nodes.Node]:
        """The still."""
        return [nodes.raw("", panel(self.arguments[0]), format="html")]


def add_files(
    app: Sphinx, _pagename: str, _: str, context: dict[str, Any], *_rest: Any
) -> None:
    """Load script and style where there is a drawing; a page of them has no rail."""
    context["drawn"] = 'class="panel"' in context.get("body", "")
    if context["drawn"]:
        app.add_js_file("drawings.js", loading_method="defer")
        app.add_js_file("quarter.js", loading_method="defer")
        app.add_css_file("drawing.css")
        app.add_css_file("quarter.css")


def write_files(app: Sphinx) -> None:
    """What makes the drawings live that chapters use, too, and their style."""
    folder = Path(app.outdir, "_static")
    folder.mkdir(parents=True, exist_ok=True)
    scripts = dict.fromkeys(x for kind in SHARED.values() for x in kind._scripts)
    (folder / "drawings.js").write_text(program([*scripts]), encoding="utf-8")
    (folder / "drawing.css").write_text(read("drawing.css"), encoding="utf-8")


def pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """A page for each panel."""
    doctree = app.env.get_and_resolve_doctree("book/quarter", app.builder)
    sections = [s for s in doctree.findall(nodes.section) if _law(s)]
    for i, (name, section) in enumerate(zip(PANELS, sections, strict=True)):
        fragment = app.builder.render_partial(section)["fragment"]  # type: ignore
        fragment = re.sub(" · <a [^>]*>Its own page</a>", "", fragment)
        following = (i + 1) % len(PANELS)
        context = {
            "title": section[0].astext(),
            "about": _law(section),
            "body": re.sub('href="(?!#)', 'href="../book/', fragment),
            "number": i,
            "panel": name,
            "following": (PANELS[following], sections[following][0].astext()),
        }
        yield f"panel/{name}", context, "panel.html"


def _law(section: nodes.Element) -> str:
    """The law of a panel without its links, or nothing."""
    for box in section.children:
        if "law" in box.get("classes", ()):
            before = takewhile(lambda n: "refuri" not in n, box[0].children[1:])
            return "".join(node.astext() for node in before).strip()
    return ""


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("builder-inited", write_files)
    app.connect("html-collect-pages", pages)
    app.add_directive("panel", Panel)
    app.add_directive("still", Still)
    app.connect("html-page-context", add_files)
