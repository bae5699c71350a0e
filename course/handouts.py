"""What is printed, by the browser that tests the site.

    write_handouts(pages, folder)   two pages of A4 for each page of the path and on
                                    real models
    write_slides(pages, folder)     the decks, in which everything has room

A handout has the question of a page, its figures, theorems with proofs and formulas;
and on its second page the exercises, and no solution.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import manuscript
from course import kit, slides
from manuscript import Page, edition

BROWSERS = (
    "chromium-headless-shell",  # the same pages for two thirds of the processor
    "chromium",
    "chromium-browser",
    "google-chrome",
    "chrome",
)
MARGIN = {"top": "14mm", "bottom": "14mm", "left": "16mm", "right": "16mm"}
SCALES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)
"""A handout that is too long is printed smaller, down to letters of 5.5 points."""

SHEET = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font: 11pt/1.4 "Source Serif 4", Georgia, serif; color: #1c1b19; margin: 0; }}
h1, h2, h3 {{ line-height: 1.15; margin: 0 0 0.4em; }}
h1 {{ font-size: 1.6em; }} h2 {{ font-size: 1.05em; margin-top: 1.1em; }}
h2, h3, figure {{ break-inside: avoid; }} h2, h3 {{ break-after: avoid; }}
h3 {{ font-size: 1em; }}
main {{ columns: 2; column-gap: 8mm; }}
.exercises {{ columns: 1; break-before: page; min-height: 250mm; }} /* room to write */
.exercises {{ display: flex; flex-direction: column; justify-content: space-between; }}
.name {{ border-bottom: 1px solid; }}
p, ul, ol, figure, pre {{ margin: 0 0 0.6em; }} ul, ol {{ padding-left: 1.3em; }}
img {{ display: block; width: 100%; }} figcaption {{ font-size: 0.85em; }}
table {{ border-collapse: collapse; }} :is(th, td) {{ border-top: 1px solid #d8d4cc; }}
:is(th, td) {{ padding: 0.3em 0.6em 0.3em 0; text-align: left; vertical-align: top; }}
code {{ font: 0.9em "Source Code Pro", monospace; }}
footer {{ font-size: 0.75em; color: #5d5a54; }}
{formulas}</style>
<h1>{title}</h1>
<p><b>{question}</b> {answer}</p>
<main>
{shown}
</main>
<main class="exercises">
<header><h2>Exercises</h2><p class="name">Name</p></header>
{exercises}
<footer>{foot}</footer>
</main>
</html>
"""
# Slides from which something hangs out, by their first words.
TOO_LARGE = """([width, height]) => [...document.querySelectorAll('.pdf-page section')]
  .filter(slide => slide.scrollWidth > width || slide.scrollHeight > height)
  .map(slide => slide.innerText.slice(0, 40))"""


@contextmanager
def browser() -> Iterator[Any]:
    """A page of Chromium or Chrome, CHROMIUM or the first installed; it asks nobody."""
    from playwright.sync_api import sync_playwright

    named = [os.environ.get("CHROMIUM"), *map(shutil.which, BROWSERS)]
    if (path := next(filter(None, named), None)) is None:
        raise SystemExit("Handouts and slides need Chromium (CHROMIUM=...).")
    options = "--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=options)
        yield chromium.new_page()
        chromium.close()


def write_handouts(pages: list[Page], folder: Path) -> None:
    """Two pages of A4 for each, but for what is deeper."""
    book = manuscript.read()
    with browser() as page:
        for chapter in (*book.path_pages, *book.model_pages):
            if chapter in pages:
                name = kit.short(chapter).replace("/", "-")
                to_pdf(page, handout(chapter, book), folder / f"{name}.pdf")


def shown(chapter: Page, book: manuscript.Manuscript) -> Iterator[str]:
    """Of each section its theorem with its proof, else its formula; its figures."""
    for section in chapter.main:
        place = f"{kit.short(chapter)}#{section.anchor}"
        parts = [slides.quoted(kind, place, book) for kind in ("theorem", "proof")]
        if not any(parts):
            parts = [slides.quoted("formula", place, book)]
        for _, title, text in filter(None, parts):
            yield f"<h2>{slides.inline(title)}</h2>{text}"
        for cell in section.cells:
            if cell.figure and cell.drawings:
                caption = slides.inline(cell.figure.caption)
                caption = f"<figcaption>{caption}</figcaption>"
                yield f"<figure>{slides.picture(cell)}{caption}</figure>"


def handout(chapter: Page, book: manuscript.Manuscript) -> str:
    """What a student takes along, as HTML."""
    exercises = [
        f"<section><h3>{slides.inline(one.title)}</h3>{slides.blocks(one.text)}</section>"
        for one in chapter.exercises
    ]
    site = edition.site().rstrip("/")
    address = f"{site}/{chapter.name}.html" if site else ""
    return SHEET.format(
        formulas=slides.FORMULAS,
        title=slides.inline(chapter.title),
        question=slides.inline(chapter.question),
        answer=slides.inline(slides.answer(chapter)),
        shown="\n".join(shown(chapter, book)),
        exercises="\n".join(exercises),
        foot=f"{slides.CREDIT}. {address}",
    )


def to_pdf(page: Any, text: str, path: Path) -> None:
    """Print on two sheets of A4, smaller where that is needed."""
    page.set_content(text)
    for scale in SCALES:
        page.pdf(path=path, format="A4", margin=MARGIN, tagged=True, scale=scale)
        if path.read_bytes().count(b"/MediaBox") <= 2:
            return
    raise SystemExit(f"{path} has more than two pages in letters of 5.5 points")


def write_slides(_pages: list[Page], folder: Path) -> None:
    """Each deck as HTML."""
    with browser() as page:
        for deck in slides.write(folder, manuscript.read()):
            lay_out(page, deck)


def lay_out(page: Any, deck: Path) -> None:
    """Show it as it is printed; what is larger than its slide is refused."""
    page.goto(f"{deck.as_uri()}?view=print")
    page.wait_for_function("() => 'fitted' in document.documentElement.dataset")
    if large := page.evaluate(TOO_LARGE, [slides.WIDTH, slides.HEIGHT]):
        raise SystemExit(f"{deck.name}: no room for {large}")
