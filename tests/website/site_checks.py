"""What must hold for the built site: rules that return the faults they find.

Rules about files take a :class:`Site`; rules about a page take a :class:`Visit`, a
page opened as a new reader's browser opens it; most are in ``in_page/rules.js``. None
depends on another having run, and each leaves the page as it found it, except that
folded answers stay open and the keyboard's focus moves.
"""

import gzip
import html
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import manuscript

ROOT = Path(__file__).parents[2]
IN_PAGE = Path(__file__).with_name("in_page")
KB = 1000
FIRST_LOAD = 200 * KB
LAYOUT_SHIFT = 0.02
TARGET = 44  # px, for a finger
WIDE, PHONE, NARROW = 1280, 390, 320
HEIGHTS = {WIDE: 900, PHONE: 844, NARROW: 640}


def pages() -> list[str]:
    """Every page of the table of contents."""
    return list(manuscript.read().listed)


# Files


@dataclass(frozen=True)
class Site:
    """A folder of built pages, and the local address that serves it."""

    folder: Path
    address: str

    def url(self, name: str) -> str:
        """The address of a page."""
        return f"{self.address}{name}.html"

    def path(self, url: str) -> Path:
        """The file behind a local address."""
        return self.folder / unquote(urlsplit(url).path).lstrip("/")

    def text(self, name: str) -> str:
        """What a page is made of."""
        return self.path(self.url(name)).read_text(encoding="utf-8")

    def built(self) -> list[str]:
        """The pages that are there, without those that only lead elsewhere."""
        found = (path.relative_to(self.folder) for path in self.folder.rglob("*.html"))
        names = {path.with_suffix("").as_posix() for path in found} - {"index"}
        return sorted(name for name in names if not name.startswith("_static/"))


def attributes(path: Path, some: str) -> list[str]:
    """The values of some attributes of a page."""
    text = path.read_text(encoding="utf-8")
    return [html.unescape(x) for x in re.findall(rf'[\s:](?:{some})="([^"]*)"', text)]


@cache
def ids(path: Path) -> set[str]:
    """Where one can be led on a page: to an anchor, or to its start."""
    return {"", *attributes(path, "id")}


@cache
def compressed(path: Path) -> int:
    """The size of a file as a server sends it."""
    return len(gzip.compress(path.read_bytes(), compresslevel=6, mtime=0))


def broken_links(site: Site, name: str) -> Iterator[str]:
    """Local references of a page to a file or an anchor that is not there."""
    here = site.url(name)
    for reference in sorted(set(attributes(site.path(here), "src|href"))):
        target, fragment = urldefrag(urljoin(here, reference))
        if not target.startswith(site.address):
            if urlsplit(target).scheme not in ("https", "mailto", "data"):
                yield f"{reference} is neither local nor https"
            continue
        path = site.path(target)
        if path.is_dir():
            path /= "index.html"
        if not path.is_file():
            yield f"{reference}: no such file"
        elif path.suffix == ".html" and unquote(fragment) not in ids(path):
            yield f"{reference}: no such anchor"


def repeated_ids(site: Site, name: str) -> list[str]:
    """Anchors that a page has twice, so that a link to them is ambiguous."""
    count = Counter(attributes(site.path(site.url(name)), "id"))
    return [each for each, times in count.items() if times > 1]


OF_ITS_OWN = re.compile(
    r"#[0-9a-fA-F]{6}\b|font-family|<text[^>]*(?:font-size: [\d.]+px|fill: var\(--edge)"
    r'|\b[dxy]="[^"]*\.\d{3}'
)


def loud_figures(site: Site, name: str) -> Iterator[str]:
    """What a figure has of its own: colours, a face or size of letters; long numbers.

    Grey letters, too: as grey as lines they are pale; and what it names and has not.
    """
    text = re.sub(r", #\w{6}\)|base64,[^\"]*", ")", site.text(name))
    for figure in re.findall(r'<svg[^>]* class="figure".*?</svg>', text, re.DOTALL):
        yield from OF_ITS_OWN.findall(figure)
        named = set(re.findall(r"url\(#([^)]*)\)", figure))
        yield from named.difference(re.findall(r'\bid="([^"]*)"', figure))


def unknown_names(site: Site) -> set[str]:
    """What a style sheet reads of the page, and nobody writes."""
    styles = (site.folder / "_static").glob("*.[cj]s*")  # and scripts, which write some
    text = "".join(path.read_text("utf-8") for path in styles)
    return {*re.findall(r"var\((--[\w-]+)\)", text)} - {
        *re.findall(r"(--[\w-]+):", text)
    }


# Pages in a browser


@cache
def script(name: str) -> str:
    """What runs in the page: a file of the folder ``in_page``."""
    return (IN_PAGE / f"{name}.js").read_text(encoding="utf-8")


@dataclass
class Visit:
    """A page just opened for the first time, and what happened while it loaded."""

    site: Site
    page: Any  # playwright.sync_api.Page
    requests: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    shifts: list[Any] = field(default_factory=list)


Rule = str | Callable[[Visit], list[str]]
"""A function, or the name of one in ``in_page/rules.js``."""
Opener = Callable[..., Visit]


@contextmanager
def visit(
    browser: Any, site: Site, url: str, width: int = WIDE, first: str = "", **more: Any
) -> Iterator[Visit]:
    """Open a page in a profile of its own; wait until its fonts are there.

    `first` runs before the page's scripts; `more` are options of Playwright.
    """
    options = {"viewport": {"width": width, "height": HEIGHTS[width]}, **more}
    with browser.new_context(reduced_motion="reduce", **options) as context:
        page = context.new_page()
        seen = Visit(site, page)
        page.on("request", lambda request: seen.requests.append(request.url))
        page.on("requestfailed", lambda request: seen.missing.append(request.url))
        page.on("console", lambda it: seen.console.append(f"{it.type}: {it.text}"))
        page.on("pageerror", lambda error: seen.console.append(f"exception: {error}"))
        page.on("response", lambda it: it.ok or seen.missing.append(it.url))
        page.add_init_script(script("record_shifts"))
        page.add_init_script(first)
        page.goto(url)
        if options.get("java_script_enabled", True):
            page.evaluate(script("settle"))
            seen.shifts = page.evaluate("layoutShifts")
        yield seen


def resize(page: Any, width: int) -> None:
    """Give the window another width, as whoever turns a phone does, and draw it."""
    page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
    page.evaluate("new Promise(requestAnimationFrame)")


def wait_until(
    page: Any, holds: str, argument: Any = None, seconds: float = 30
) -> None:
    """Ask again and again; Playwright would, by `eval`, which our pages forbid."""
    late = time.monotonic() + seconds
    while not page.evaluate(holds, argument):
        assert time.monotonic() < late, f"after {seconds:g} seconds not yet: {holds}"
        page.wait_for_timeout(50)


def faults(seen: Visit, *rules: Rule) -> list[str]:
    """What some rules find, each with its name and the width of the window."""
    named = [rule for rule in rules if isinstance(rule, str)]
    found = seen.page.evaluate(script("rules"), named) if named else []
    width = seen.page.viewport_size["width"]
    for rule in rules:
        if not isinstance(rule, str):
            found += [f"{rule.__name__}, {width} px: {fault}" for fault in rule(seen)]
    return found


def unfold(page: Any) -> None:
    """Open every folded answer."""
    page.evaluate(
        "document.querySelectorAll('main details').forEach(d => d.open = true)"
    )


def missing_files(seen: Visit) -> list[str]:
    """What a page asks for in vain: its browser finds no host but this machine."""
    return seen.missing


def console(seen: Visit) -> list[str]:
    """Everything in the console, exceptions included."""
    return seen.console


def layout_shift(seen: Visit) -> list[str]:
    """What moves while a page loads."""
    total = sum(value for value, _ in seen.shifts)
    moved = f"{total:.3f}, most of it: {max(seen.shifts, default='')[1:]}"
    return [moved] if total > LAYOUT_SHIFT else []


def first_load(seen: Visit) -> list[str]:
    """Whether a page weighs too much for somebody who comes for the first time."""
    local = {url for url in seen.requests if url.startswith(seen.site.address)}
    paths = {path for path in map(seen.site.path, local) if path.is_file()}
    sizes = sorted(((compressed(path), path.name) for path in paths), reverse=True)
    total = sum(size for size, _ in sizes)
    return [f"{total}: {sizes[:5]}"] if total > FIRST_LOAD else []


def printing(seen: Visit) -> list[str]:
    """What paper has no use for; and whether the text is still there."""
    seen.page.emulate_media(media="print")
    found = faults(seen, "printing")
    seen.page.emulate_media(media="screen")
    return found


@cache
def axe() -> str:
    """The source of axe-core, from the package that carries it."""
    carrier = files("axe_playwright_python") / "axe.min.js"
    return carrier.read_text(encoding="utf-8")


def accessibility(seen: Visit, within: str = "html") -> list[str]:
    """What axe-core finds, folded answers included, in light and in dark."""
    page = seen.page
    unfold(page)
    page.add_style_tag(content="* { transition: none !important; }")
    page.evaluate(axe())
    found = []
    for mode in ("light", "dark"):  # a mode changes colours alone
        page.emulate_media(color_scheme=mode)
        found += page.evaluate(script("run_axe"), [within, mode == "dark"])
    page.emulate_media(color_scheme="light")
    return found


def keyboard(seen: Visit) -> list[str]:
    """Walk the page by Tab: every control is reached, is seen, and lets one go.

    The first stop leads past the navigation.
    """
    page = seen.page
    found = []
    for number in range(2 * page.evaluate(script("walk")) + 20):
        page.keyboard.press("Tab")
        what, where = page.evaluate("stepped()")
        if number == 0 and 'class="skip" href="#text"' not in where:
            found.append(f"the first stop is {where}")
        if what == "end":
            break
        if what:
            found.append(f"{what}: {where}")
        if what == "trapped":
            break
    else:
        found.append("the walk does not end")
    return found + page.evaluate("unreached()")
