"""Break the built site on purpose, in a copy, and see each check notice it.

A mutation changes one file of the copy and names the check that must report a
fault which the unbroken page does not have.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import site_checks as checks
from built_site import NO_BROWSER, Build, serve
from site_checks import ROOT, Site, Visit

NAME = "book/experiments/opened_head"  # a page of the hour, and no large one
PAGE = f"{NAME}.html"
SHEET = "_static/book.css"

Mutation = tuple[str, Callable[[str], str]]
Check = Callable[..., list[str]]
Finder = Callable[[Check], set[str]]


def insert(before: str, text: str) -> Callable[[str], str]:
    """Put text before the first place that holds `before`."""

    def change(page: str) -> str:
        assert before in page
        return page.replace(before, text + before, 1)

    return change


def swap(pattern: str, text: str) -> Callable[[str], str]:
    """Replace the first match of a pattern."""

    def change(page: str) -> str:
        changed, count = re.subn(pattern, text, page, count=1)
        assert count == 1, pattern
        return changed

    return change


def end_of_main(text: str) -> Callable[[str], str]:
    """Put text at the end of the article."""
    return insert("</article>", text)


NOISE = os.urandom(checks.FIRST_LOAD).hex()  # alone too much
LATE = """<script>requestAnimationFrame(() => requestAnimationFrame(() => {
const late = document.createElement("div");
late.style.height = "300px";
document.querySelector("article").prepend(late); }))</script>"""
TRAP = """<input aria-label="trap"
onkeydown="if (event.key === 'Tab') event.preventDefault()">"""

# What is changed, and by which check it must be found.
IN_A_BROWSER: dict[str, tuple[Check, Mutation]] = {
    "an external image": (
        checks.external_requests,
        (PAGE, end_of_main('<img src="https://example.org/a.png" alt="far away">')),
    ),
    "an external font": (
        checks.external_requests,
        (
            PAGE,
            insert(
                "</head>", '<link rel="stylesheet" href="https://example.org/a.css">'
            ),
        ),
    ),
    "a missing image": (
        checks.missing_files,
        (PAGE, end_of_main('<img src="../../_static/none.png" alt="not there">')),
    ),
    "a word in the console": (
        checks.console,
        (PAGE, end_of_main("<script>console.log('here')</script>")),
    ),
    "an exception": (
        checks.console,
        (PAGE, end_of_main("<script>nobodyDefinedThis()</script>")),
    ),
    "text that comes late": (checks.layout_shift, (PAGE, end_of_main(LATE))),
    "an overweight page": (
        checks.first_load,
        (PAGE, insert("</body>", f"<!-- {NOISE} -->")),
    ),
    "an overweight script": (
        checks.first_load,
        (PAGE, insert("</body>", '<script src="../../_static/noise.js"></script>')),
    ),
    "a blocking script": (
        checks.blocking_scripts,
        (PAGE, insert("</head>", '<script src="../../_static/noise.js"></script>')),
    ),
    "a wide table": (
        checks.overflow,
        (PAGE, end_of_main('<div style="width: 2000px">wide</div>')),
    ),
    "a wide table in a folded answer": (
        checks.overflow,
        (
            PAGE,
            end_of_main(
                "<details><summary>Answer</summary>"
                '<div style="width: 2000px">wide</div></details>'
            ),
        ),
    ),
    "raw TeX": (checks.mathematics, (PAGE, end_of_main(r"<p>\(\omega_k\)</p>"))),
    "dollars left over": (checks.mathematics, (PAGE, end_of_main(r"<p>$x_t$</p>"))),
    "an undrawn formula": (
        checks.mathematics,
        (PAGE, end_of_main('<p><span class="math">omega</span></p>')),
    ),
    "a formula in error": (
        checks.mathematics,
        (PAGE, end_of_main('<p><span class="katex-error">omega</span></p>')),
    ),
    "a formula that a screen reader cannot read": (
        checks.mathematics,
        (PAGE, end_of_main("<math><msub><mi>x</mi></msub></math>")),
    ),
    "no alt text": (checks.alt_texts, (PAGE, swap(r'aria-label="[^"]{40,}"', ""))),
    "a short alt text": (
        checks.alt_texts,
        (PAGE, swap(r'aria-label="[^"]{40,}"', 'aria-label="A heat map."')),
    ),
    "a file for an alt text": (
        checks.alt_texts,
        (
            PAGE,
            end_of_main(
                '<img src="../../_static/favicon.svg" '
                'alt="../../_images/4c2d6a7e5b1f2a3c4d5e6f708192a3b4.svg">'
            ),
        ),
    ),
    "a first picture below the fold": (
        checks.picture_first,
        (PAGE, insert("<figure", '<div style="height: 1500px"></div>')),
    ),
    "no picture": (
        checks.picture_first,
        (PAGE, lambda page: page.replace('class="figure"', "")),
    ),
    "few pictures": (
        checks.quarters,
        (SHEET, lambda css: css + "main figure { display: none }"),
    ),
    "much code": (
        checks.quarters,
        (SHEET, lambda css: css + "main .cell_input .highlight { height: 900px }"),
    ),
    "a second h1": (checks.headings, (PAGE, end_of_main("<h1>Another</h1>"))),
    "a level left out": (checks.headings, (PAGE, end_of_main("<h2>A</h2><h4>B</h4>"))),
    "an upside-down heading": (
        checks.heading_sizes,
        (SHEET, lambda css: css + "main h2 { font-size: 34px !important }"),
    ),
    "a small switch": (
        checks.frame,
        (SHEET, lambda css: css + ".mode-button { min-height: 0; height: 36px }"),
    ),
    "no way to the other pages": (
        checks.frame,
        (PAGE, swap('<details class="menu">', '<details class="menu" hidden>')),
    ),
    "no title": (
        checks.description,
        (PAGE, swap("<title>[^<]*</title>", "<title></title>")),
    ),
    "two descriptions": (
        checks.description,
        (
            PAGE,
            insert("</head>", '<meta name="description" content="Too much of it.">'),
        ),
    ),
    "TeX in the title": (
        checks.description,
        (PAGE, swap("<title>[^<]*</title>", r"<title>Why $\\omega$</title>")),
    ),
    "a printed header": (
        checks.printing,
        (
            PAGE,
            end_of_main(
                "<style>#beside { all: initial !important; display: block !important }"
                '</style><div id="beside" class="bar">beside</div>'
            ),
        ),
    ),
    "an unprinted title": (
        checks.printing,
        (
            SHEET,
            lambda css: (
                css + "@media print { html body h1 { visibility: hidden !important } }"
            ),
        ),
    ),
    "no skip link": (
        checks.skip_link,
        (PAGE, swap(r"<body([^>]*)>", r'<body\1><a href="a.html">first</a>')),
    ),
    "a missing label": (checks.accessibility, (PAGE, end_of_main("<input>"))),
    "pale text": (
        checks.accessibility,
        (PAGE, end_of_main('<p style="color: #999; background: #fff">pale</p>')),
    ),
    "text that is pale in dark mode": (
        checks.accessibility,
        (
            PAGE,
            end_of_main(
                "<style>html[data-theme=dark] .x { color: #444 !important }</style>"
                '<p class="x">pale</p>'
            ),
        ),
    ),
    "pale text in a folded answer": (
        checks.accessibility,
        (
            PAGE,
            end_of_main(
                "<details><summary>Answer</summary>"
                '<p style="color: #999; background: #fff">pale</p></details>'
            ),
        ),
    ),
    "pale comments in code": (
        checks.accessibility,
        (SHEET, lambda css: css + ".highlight pre span { color: #999 !important }"),
    ),
    "pale formulas": (
        checks.accessibility,
        (SHEET, lambda css: css + ".katex { color: #bbb !important }"),
    ),
    "a box that only a mouse can scroll": (
        checks.accessibility,
        (
            PAGE,
            end_of_main(
                '<div style="width: 9em; overflow-x: auto; white-space: nowrap">'
                f"{'a long line ' * 9}</div>"
            ),
        ),
    ),
    "a formula that only a mouse can scroll": (
        checks.accessibility,
        (
            PAGE,
            end_of_main(
                '<div style="width: 9em; overflow-x: auto; white-space: nowrap">'
                '<span class="katex"><span class="katex-html">'
                f"{'<span>x</span>' * 99}</span></span></div>"
            ),
        ),
    ),
    "an unlabelled drawing": (
        checks.accessibility,
        (PAGE, end_of_main('<svg role="img" width="9" height="9"></svg>')),
    ),
    "a keyboard trap": (checks.keyboard, (PAGE, end_of_main(TRAP))),
    "an invisible focus": (
        checks.keyboard,
        (
            PAGE,
            end_of_main(
                '<button style="all: initial; outline: none !important; '
                'box-shadow: none !important">unseen</button>'
            ),
        ),
    ),
    "a control that is skipped": (
        checks.keyboard,
        (
            PAGE,
            end_of_main(
                '<button onfocus="this.nextElementSibling.tabIndex = -1">one</button>'
                "<button>two</button>"
            ),
        ),
    ),
}

# These get a page of their own in `make test`: what another fault would hide, and what
# a check finds by a detour. The others: `make weekly`.
ALONE = {
    "a word in the console",
    "a wide table in a folded answer",
    "text that is pale in dark mode",
    "pale formulas",
    "a box that only a mouse can scroll",
    "a control that is skipped",
    "an overweight page",
    "no alt text",
    "few pictures",
}

IN_THE_FILES: dict[str, tuple[Callable[[Site, str], list[str]], Mutation]] = {
    "a broken anchor": (
        checks.broken_links,
        (PAGE, end_of_main('<a href="rotation.html#nowhere">there</a>')),
    ),
    "a broken anchor in the page": (
        checks.broken_links,
        (PAGE, end_of_main('<a href="#nowhere">there</a>')),
    ),
    "a broken link": (
        checks.broken_links,
        (PAGE, end_of_main('<a href="nowhere.html">there</a>')),
    ),
    "a link to a notebook that is not there": (
        checks.broken_links,
        (PAGE, end_of_main('<a href="../problem/adding.ipynb">there</a>')),
    ),
    "an insecure link": (
        checks.broken_links,
        (PAGE, end_of_main('<a href="http://example.org/">there</a>')),
    ),
    "an anchor twice": (
        checks.repeated_ids,
        (PAGE, end_of_main('<p id="here">1</p><p id="here">2</p>')),
    ),
}


@pytest.fixture(scope="module")
def copied(built: Build, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A copy of the built site, served."""
    folder = tmp_path_factory.mktemp("mutations") / "html"
    shutil.copytree(built.folder, folder, ignore=shutil.ignore_patterns("engine"))
    (folder / "_static/noise.js").write_text(f"// {NOISE}", encoding="utf-8")
    yield from serve(folder)


@pytest.fixture
def tamper(copied: Site) -> Iterator[Callable[[Mutation], None]]:
    """Changes files of the copy until the end of the test."""
    kept: dict[Path, str] = {}

    def change(mutation: Mutation) -> None:
        path = copied.folder / mutation[0]
        text = path.read_text(encoding="utf-8")
        kept.setdefault(path, text)
        path.write_text(mutation[1](text), encoding="utf-8")

    yield change
    for path, text in kept.items():
        path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def looks() -> checks.Looks:
    """How texts look on the unbroken page: what is broken is no page's first."""
    return {}


@pytest.fixture(scope="module")
def unbroken(browser: Any, copied: Site, looks: checks.Looks) -> Iterator[Finder]:
    """What a check finds on the unbroken page, opened once for all of them."""
    with checks.visit(browser, copied, copied.url(NAME), 390) as seen:
        yield cache(lambda check: found(check, seen, looks))


def found(check: Check, seen: Visit, looks: checks.Looks) -> set[str]:
    """The faults."""
    known = [looks] if check is checks.accessibility else []
    return set(check(seen, *known))


@pytest.fixture
def missed(
    browser: Any,
    copied: Site,
    unbroken: Finder,
    looks: checks.Looks,
    tamper: Callable[[Mutation], None],
) -> Callable[[dict[Check, Mutation]], list[str]]:
    """The checks that report nothing new on a page with all these faults."""

    def tell(faults: dict[Check, Mutation]) -> list[str]:
        before = {check: unbroken(check) for check in faults}
        for fault in faults.values():
            tamper(fault)
        with checks.visit(browser, copied, copied.url(NAME), 390) as seen:
            return [
                check.__name__
                for check, known in before.items()
                if not found(check, seen, dict(looks)) - known
            ]

    return tell


def test_the_other_checks_notice(missed: Callable[..., list[str]]) -> None:
    """On a page with a fault for each of the others, all report what was not there."""
    first = dict(reversed(IN_A_BROWSER.values()))
    for name in ALONE:
        first.pop(IN_A_BROWSER[name][0], None)
    assert missed(first) == []
    assert len(first) > 11


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in ALONE else [pytest.mark.weekly])
        for name in IN_A_BROWSER
    ],
)
def test_browser_notices(name: str, missed: Callable[..., list[str]]) -> None:
    """The check reports a fault that was not there before."""
    assert missed(dict([IN_A_BROWSER[name]])) == []


@pytest.mark.parametrize("name", IN_THE_FILES)
def test_files_notice(
    name: str, copied: Site, tamper: Callable[[Mutation], None]
) -> None:
    """The same for checks that read files."""
    check, mutation = IN_THE_FILES[name]
    before = check(copied, NAME)
    tamper(mutation)
    assert set(check(copied, NAME)) - set(before)


def test_a_page_that_is_gone(copied: Site) -> None:
    """A page that was not built is missed, and so is what links to it."""
    path = copied.folder / "book/sinusoidal/rotation.html"
    aside = path.rename(path.with_suffix(".aside"))
    try:
        assert "book/sinusoidal/rotation" not in copied.built()
        assert any("rotation" in fault for fault in checks.broken_links(copied, NAME))
    finally:
        aside.rename(path)


def test_debugging_files_and_size(tmp_path: Path) -> None:
    """A .map file, and a site of 41 MB."""
    site = Site(tmp_path, "http://127.0.0.1/")
    (tmp_path / "book.js").touch()
    assert checks.site_weight(site) == []
    (tmp_path / "book.js.map").touch()
    with (tmp_path / "large").open("wb") as large:
        large.truncate(41_000_000)
    assert checks.site_weight(site) == ["book.js.map", "the site has 41.0 MB"]


def test_later_loads(tmp_path: Path) -> None:
    """What both pages need counts once; what only the second needs counts."""
    shared, own = tmp_path / "shared", tmp_path / "own"
    shared.write_bytes(os.urandom(400_000))
    own.write_bytes(os.urandom(190_000))
    loads = {"first": {shared}, "second": {shared, own}}
    assert checks.later_loads(loads) == []
    own.write_bytes(os.urandom(210_000))
    assert checks.later_loads(loads) == ["second: 210 KB more than after first"]


def test_no_browser_is_said() -> None:
    """Where there is none, the tests are skipped and the summary says so."""
    test = ["tests/site/test_site.py", "-k", "test_root_leads_in"]
    quick = ["-q", "-o", "addopts=", "-p", "no:cacheprovider"]
    quick += ["-p", "no:nbval", "-p", "no:xdist"]
    result = subprocess.run(
        [sys.executable, "-m", "pytest", *quick, *test],
        cwd=ROOT,
        env={**os.environ, "PATH": "", "CHROMIUM": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout
    assert "1 skipped" in result.stdout
    assert f"Browser tests did not run: {NO_BROWSER}." in result.stdout
