"""What must hold for the built site. Each check returns the faults that it finds.

Checks that read files take a :class:`Site`; checks that need a browser take a
:class:`Visit`, a page opened as a new reader's browser opens it. None of them
depends on another having run, and each leaves the page as it found it, except
that folded answers stay open and the keyboard's focus moves.
"""

import gzip
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit
from weakref import WeakKeyDictionary

import manuscript

ROOT = Path(__file__).parents[2]
IN_PAGE = Path(__file__).with_name("in_page")
KB = 1000
FIRST_LOAD = 200 * KB
WHOLE_SITE = 40_000 * KB
ENGINE = "_static/live/engine"
"""Python for those who ask for it: not part of what a page weighs."""
LAYOUT_SHIFT = 0.02
SHORTEST_ALT = 40
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

    def built(self) -> list[str]:
        """The pages that are there, without those that only lead elsewhere."""
        found = (path.relative_to(self.folder) for path in self.folder.rglob("*.html"))
        names = {path.with_suffix("").as_posix() for path in found}
        return sorted(
            name for name in names - {"index"} if not name.startswith("_static/")
        )


class _Parser(HTMLParser):
    """Collects the ids of a page and what it refers to."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.references: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (name == "name" and tag == "a"):
                self.ids.append(value)
            elif name == "src" or (name == "href" and tag in ("a", "area", "link")):
                self.references.append(value)


@cache
def parse(path: Path) -> _Parser:
    """The ids and references of a page."""
    parser = _Parser()
    parser.feed(path.read_text(encoding="utf-8"))
    return parser


@cache
def compressed(path: Path) -> int:
    """The size of a file as a server sends it."""
    return len(gzip.compress(path.read_bytes(), compresslevel=6, mtime=0))


def broken_links(site: Site, name: str) -> list[str]:
    """Local references of a page to a file or an anchor that is not there."""
    faults = []
    here = site.url(name)
    for reference in sorted(set(parse(site.path(here)).references)):
        target, fragment = urldefrag(urljoin(here, reference))
        scheme = urlsplit(target).scheme
        if not target.startswith(site.address):
            if scheme not in ("https", "mailto", "data"):
                faults.append(f"{reference} is neither local nor https")
            continue
        path = site.path(target)
        if path.is_dir():
            path /= "index.html"
        if not path.is_file():
            faults.append(f"{reference}: no such file")
        elif (
            fragment
            and path.suffix == ".html"
            and unquote(fragment) not in parse(path).ids
        ):
            faults.append(f"{reference}: no such anchor")
    return faults


def repeated_ids(site: Site, name: str) -> list[str]:
    """Anchors that a page has twice, so that a link to them is ambiguous."""
    ids = parse(site.path(site.url(name))).ids
    return sorted({each for each in ids if ids.count(each) > 1})


def site_weight(site: Site) -> list[str]:
    """Debugging files, and whether the whole is too large."""
    every = [path for path in site.folder.rglob("*") if path.is_file()]
    maps = [
        str(path.relative_to(site.folder)) for path in every if path.suffix == ".map"
    ]
    size = sum(
        path.stat().st_size
        for path in every
        if site.folder / ENGINE not in path.parents
    )
    heavy = [f"the site has {size / KB / KB:.1f} MB"] if size > WHOLE_SITE else []
    return maps + heavy


# Pages in a browser


@cache
def script(name: str) -> str:
    """What a check runs in the page: a file of the folder ``in_page``."""
    return (IN_PAGE / f"{name}.js").read_text(encoding="utf-8")


@dataclass
class Visit:
    """A page just opened for the first time, and what happened while it loaded."""

    site: Site
    page: Any  # playwright.sync_api.Page
    requests: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    shifts: list[tuple[float, str]] = field(default_factory=list)


Check = Callable[[Visit], list[str]]
Opener = Callable[..., Visit]
Alone = Callable[..., Any]  # returns a page

_idle: WeakKeyDictionary[Any, list[Any]] = WeakKeyDictionary()  # tabs of a browser


@contextmanager
def visit(
    browser: Any, site: Site, url: str, width: int = WIDE, mode: str = "light"
) -> Iterator[Visit]:
    """Open a page with nothing in a cache; wait until its fonts are there."""
    tabs = _idle.setdefault(browser, [])
    page = tabs.pop() if tabs else new_tab(browser)
    seen = Visit(site, page)
    listeners = {
        "request": lambda request: seen.requests.append(request.url),
        "requestfailed": lambda request: seen.missing.append(request.url),
        "console": lambda line: seen.console.append(f"{line.type}: {line.text}"),
        "pageerror": lambda error: seen.console.append(f"exception: {error}"),
        "response": lambda answer: (
            answer.status >= 400 and seen.missing.append(answer.url)
        ),
    }
    resize(page, width)
    page.emulate_media(media="screen", color_scheme=mode)
    for event, listener in listeners.items():
        page.on(event, listener)
    page.goto(url)
    page.evaluate(script("settle"))
    seen.shifts = [tuple(shift) for shift in page.evaluate("layoutShifts")]
    yield seen
    for event, listener in listeners.items():
        page.remove_listener(event, listener)
    page.unroute_all()
    page.mouse.move(0, 0)
    page.evaluate(script("forget"))
    page.goto("about:blank")
    tabs.append(page)  # unless a test failed: then nobody knows what is in it


def new_tab(browser: Any) -> Any:
    """A tab that keeps no file; to open one takes as long as to open a page in it."""
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    if browser.browser_type.name != "chromium":  # the rest is Chromium's alone
        page.add_init_script("window.layoutShifts = []")
        return page
    page.add_init_script(script("record_shifts"))
    keeps = context.new_cdp_session(page)
    keeps.send("Network.enable")
    keeps.send("Network.setCacheDisabled", {"cacheDisabled": True})
    return page


def resize(page: Any, width: int) -> None:
    """Give the window another width, as whoever turns a phone does."""
    page.set_viewport_size({"width": width, "height": HEIGHTS[width]})


def wait_until(
    page: Any, holds: str, argument: Any = None, seconds: float = 30
) -> None:
    """Ask again and again; Playwright would, by `eval`, which our pages forbid."""
    late = time.monotonic() + seconds
    while not page.evaluate(holds, argument):
        assert time.monotonic() < late, f"after {seconds:g} seconds not yet: {holds}"
        page.wait_for_timeout(50)


def unfold(page: Any) -> None:
    """Open every folded answer."""
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")


def is_local(site: Site, url: str) -> bool:
    """Whether a request stays on the site."""
    return url.startswith((site.address, site.folder.as_uri(), "data:", "blob:"))


def external_requests(seen: Visit) -> list[str]:
    """Requests to anywhere else."""
    return [url for url in seen.requests if not is_local(seen.site, url)]


def missing_files(seen: Visit) -> list[str]:
    """Files of the site that a page asks for in vain, style sheets' files included."""
    return [url for url in seen.missing if is_local(seen.site, url)]


def console(seen: Visit) -> list[str]:
    """Everything in the console, exceptions included."""
    return seen.console


def layout_shift(seen: Visit) -> list[str]:
    """Whether anything moves while the page loads: the middle one of three times.

    On a busy machine a first paint now and then precedes a style sheet's fonts.
    """
    times = [seen.shifts]
    if _total(seen.shifts) > LAYOUT_SHIFT:
        browser, width = seen.page.context.browser, seen.page.viewport_size["width"]
        for _ in range(2):
            with visit(browser, seen.site, seen.page.url, width) as again:
                times.append(again.shifts)
    middle = sorted(times, key=_total)[len(times) // 2]
    if _total(middle) <= LAYOUT_SHIFT:
        return []
    return [f"layout shift {_total(middle):.3f}, most of it: {max(middle)[1][:100]}"]


def _total(shifts: list[tuple[float, str]]) -> float:
    return sum(value for value, _ in shifts)


def first_load(seen: Visit, most: int = FIRST_LOAD) -> list[str]:
    """Whether a page weighs too much for somebody who comes for the first time."""
    local = {url for url in seen.requests if url.startswith(seen.site.address)}
    files = {path for path in map(seen.site.path, local) if path.is_file()}
    sizes = {path.name: compressed(path) for path in files}
    total = sum(sizes.values())
    if total <= most:
        return []
    largest = sorted(sizes, key=lambda name: -sizes[name])[:5]
    listed = ", ".join(f"{name} {sizes[name] / KB:.0f}" for name in largest)
    return [f"first load {total / KB:.0f} KB: {listed} ..."]


def _asks(name: str, *given: Any) -> Check:
    """A check that is a file of ``in_page``; it returns the faults."""

    def check(seen: Visit) -> list[str]:
        return seen.page.evaluate(script(name), *given)

    check.__name__ = name
    return check


blocking_scripts = _asks("blocking_scripts")
"""Scripts that hold up the first paint, by the browser's own account."""
mathematics = _asks("mathematics")
"""Formulas that are not drawn."""
alt_texts = _asks("alt_texts", SHORTEST_ALT)
"""Pictures that say nothing, or too little, to somebody who cannot see them."""
frame = _asks("frame", TARGET)
"""Controls of the bar and of the path that a finger misses."""
out_of_cards = _asks("out_of_cards")
"""What sticks out of an explorer's card."""
bench = _asks("bench")
"""Where the bench of a page of the path is not in sight."""


def overflow(seen: Visit) -> list[str]:
    """What stands out on the right, and cannot be scrolled to in a box of its own."""
    unfold(seen.page)
    return seen.page.evaluate(script("overflow"))


# How much of a page's first picture is seen at once: its share in so many screens.
SCREENS = {WIDE: (800, 1), PHONE: (844, 2)}
NEARLY_WHOLE = 0.85


def picture_first(seen: Visit) -> list[str]:
    """A first picture that begins too far down, or none."""
    seen.page.evaluate(script("book_fonts"))
    place = seen.page.evaluate(script("first_picture"))
    if place is None:
        return ["no picture"]
    top, bottom = place
    height, screens = SCREENS[seen.page.viewport_size["width"]]
    share = max(0.0, (min(bottom, screens * height) - top) / (bottom - top))
    if share >= NEARLY_WHOLE:
        return []
    return [f"{share:.0%} of the first picture in {screens} of {height} px"]


def quarters(seen: Visit) -> list[str]:
    """Figures less than a fifth of the main text as one finds it, or too much code."""
    seen.page.evaluate(script("book_fonts"))
    figures, code = seen.page.evaluate(script("quarters"))
    faults = [f"figures are {figures:.1%} of the main text"] if figures < 0.2 else []
    return faults + ([f"code is {code:.1%} of it"] if code > 0.25 else [])


def headings(seen: Visit) -> list[str]:
    """One first heading, and no level left out on the way down."""
    found = seen.page.evaluate(script("headings"))
    first = [text for level, text in found if level == 1]
    faults = [] if len(first) == 1 else [f"{len(first)} first headings: {first}"]
    for (above, _), (level, text) in pairwise(found):
        if level > above + 1:
            faults.append(f"h{level} after h{above}: {text}")
    return faults


def heading_sizes(seen: Visit) -> list[str]:
    """A heading of a lower level that is as large as one above it."""
    sizes = seen.page.evaluate(script("heading_sizes"))
    return [
        f"h{above} has at least {low:g} px, h{below} up to {high:g}"
        for (above, low, _), (below, _, high) in pairwise(sizes)
        if low <= high
    ]


def description(seen: Visit) -> list[str]:
    """A title and a description, in words."""
    every = """[document.title, [...document.querySelectorAll(
        "meta[name=description]")].map((e) => e.content)]"""
    title, texts = seen.page.evaluate(every)
    faults = [] if title.strip() else ["no title"]
    if len(texts) != 1 or len(texts[0]) < 20:
        faults.append(f"description: {texts}")
    return faults + [
        f"TeX in {text!r}" for text in (title, *texts) if re.search(r"[\\$]", text)
    ]


def dead_without_script(page: Any) -> list[str]:
    """Controls that a page has then, and drawings that stand still without a word."""
    dead = page.locator("button:visible, input:visible").count()
    said = "runs no scripts" in page.locator("main").inner_text()
    faults = [f"{dead} controls"] if dead else []
    is_wrong = said != bool(page.locator(".pe-explorer").count())
    return faults + ["drawings that stand still"] * is_wrong


def printing(seen: Visit) -> list[str]:
    """What paper has no use for; and whether the text is still there."""
    seen.page.emulate_media(media="print")
    unwanted = ".bar, .path-progress, .rail, .contents, .skip, .copybtn, .onward, .foot"
    faults = seen.page.evaluate(script("printing"), unwanted)
    seen.page.emulate_media(media="screen")
    return faults


@cache
def axe() -> str:
    """The source of axe-core, from the package that carries it."""
    carrier = files("axe_playwright_python") / "axe.min.js"
    return carrier.read_text(encoding="utf-8")


def set_mode(page: Any, mode: str) -> None:
    """Light or dark, as the switch in the bar sets it."""
    page.emulate_media(color_scheme=mode)
    page.evaluate("mode => document.documentElement.dataset.theme = mode", mode)


def accessibility(seen: Visit, *, every_letter: bool = False) -> list[str]:
    """What axe-core finds, folded answers included, in light and in dark.

    The colours of letters once for each way in which they are set, or of every letter.
    """
    page = seen.page
    unfold(page)
    page.add_style_tag(content="* { transition: none !important; }")
    page.evaluate(axe())
    was = page.evaluate("document.documentElement.dataset.theme")
    faults = []
    for mode in ("light", "dark"):  # a mode changes colours alone
        set_mode(page, mode)
        faults += page.evaluate(script("run_axe"), [mode == "dark", every_letter])
    set_mode(page, was)
    return faults


def every_letter(seen: Visit) -> list[str]:
    """The same, of every letter."""
    return accessibility(seen, every_letter=True)


def keyboard(seen: Visit) -> list[str]:
    """Walk the page by Tab: every control is reached, is seen, and lets one go.

    The first stop leads past the navigation.
    """
    page = seen.page
    count = page.evaluate(script("prepare_walk"))
    faults = []
    for number in range(2 * count + 20):
        page.keyboard.press("Tab")
        what, where = page.evaluate(script("step"))
        if number == 0 and 'class="skip" href="#text"' not in where:
            faults.append(f"the first stop is {where}")
        if what == "end":
            break
        if what == "again":
            faults.append(f"trapped: {where}")
            break
        if what:
            faults.append(f"{what}: {where}")
    else:
        faults.append("the walk does not end")
    return faults + page.evaluate(script("unreached"))
