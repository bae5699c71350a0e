"""PDFs and pictures, by the browser that tests the site.

    write_handouts(pages, folder)   chapters and the whole book as tagged PDF with an
                                    outline: handouts/student, handouts/instructor;
                                    and one page for the room, instructor/lab.pdf
    write_slides(pages, folder)     the decks, and each of them as PDF
    write_figures(pages, folder)    each figure as PNG and PDF; index.csv has the texts

What a student's handout leaves out is what the site leaves out of print: solutions,
answers to the recall questions, the code of figures. The instructor's has all of it.
"""

import csv
import html
import io
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from course import kit, slides
from website import manuscript
from website.manuscript import ROOT, Page

SITE = ROOT / "_build/html"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
LARGEST = 20_000_000
MARGIN = {"top": "16mm", "bottom": "18mm", "left": "18mm", "right": "18mm"}
FOOT = (
    '<div style="font-size:7pt; width:100%; padding:0 18mm; color:#555">'
    "Positional Encodings, Checked. CC BY 4.0."
    '<span style="float:right" class="pageNumber"></span></div>'
)
OPEN_ALL = "() => document.querySelectorAll('details').forEach(d => { d.open = true })"
# What a printer has no use for; empty boxes come from cells whose output is a picture.
TIDY = """name => {
  const address = document.querySelector('link[rel=canonical]')?.href ?? name;
  document.querySelectorAll('.printed i').forEach(e => { e.textContent = address });
  dispatchEvent(new Event('beforeprint'));
  document.querySelectorAll('details').forEach(box => {
    if (box.querySelector('summary')?.innerText.trim() === 'Before you start') {
      box.open = true;
    }
  });
  document.querySelectorAll('.cell_output, figure, details').forEach(box => {
    if (!box.innerText.trim() && !box.querySelector('svg, img, table')) box.remove();
  });
}"""
# The site prints no explorers. A handout has them as figures, without their controls.
EXPLORERS = """
.pe-explorer.pe-explorer { display: block !important; }
.pe-explorer :is(.title, .goal)::after {
  content: " (as it begins; it moves on the site)";
}
"""
LAB = """() => document.querySelector('article').replaceChildren(
  document.querySelector('#lab-guide').closest('section'))"""
# Captions that the next thing is printed over; what print leaves out has no boxes.
COVERED = """() => [...document.querySelectorAll('figcaption')].filter(caption => {
  const { bottom, height } = caption.getBoundingClientRect();
  let after = caption.closest('.cell')?.nextElementSibling;
  while (after && !after.getClientRects().length) after = after.nextElementSibling;
  return height && after && after.getBoundingClientRect().top < bottom - 1;
}).map(caption => caption.innerText)"""
# Parts of drawings that point to a shape which is not there.
LOST = """() => [...document.querySelectorAll('svg *:not(a)')].flatMap(part =>
  [...part.attributes].map(({ name, value }) => /href$/.test(name)
    ? value.match(/^#(.+)/)?.[1] : value.match(/url\\(["']?#([^"')]+)/)?.[1])
).filter(id => id && !document.getElementById(id))"""
# Slides from which something hangs out, by their first words.
TOO_LARGE = """([width, height]) => [...document.querySelectorAll('.pdf-page section')]
  .filter(slide => slide.scrollWidth > width || slide.scrollHeight > height)
  .map(slide => slide.innerText.slice(0, 40))"""
# Titles with their spaces: Chromium's outline loses the one at which a line ends.
TITLES = """() => [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].map(
  title => title.innerText.replace(/\\s+/g, ' ').trim())"""
JOIN = """parts => {
  const article = document.querySelector('article');
  article.replaceChildren();
  for (const [name, inner] of parts) {
    const section = document.createElement('section');
    section.id = name;
    section.style.breakBefore = 'page';
    section.innerHTML = inner;
    section.querySelectorAll('[id]').forEach(e => { e.id = name + '--' + e.id });
    section.querySelectorAll('a[href]').forEach(link => {
      const href = link.getAttribute('href');
      if (/^https?:/.test(href)) return;
      const [path, hash] = href.split('#');
      const at = path ? new URL(path, 'http://x/' + name).pathname.slice(1) : name;
      link.setAttribute('href', '#' + at + (hash ? '--' + hash : ''));
    });
    // Shapes, clips and gradients of a drawing are known by their ids, too.
    for (const part of section.querySelectorAll('svg *:not(a)')) {
      for (const { name: key, value } of [...part.attributes]) {
        const own = /href$/.test(key) ? value.replace(/^#/, `#${name}--`)
          : value.replace(/url\\(["']?#([^"')]+)["']?\\)/g, `url("#${name}--$1")`);
        if (own !== value) part.setAttribute(key, own);
      }
    }
    article.append(section);
  }
}"""


def find_browser() -> str:
    """A Chromium or Chrome: what CHROMIUM names, or the first one installed."""
    found = os.environ.get("CHROMIUM") or next(
        filter(None, map(shutil.which, BROWSERS)), None
    )
    if found is None:
        raise SystemExit("Handouts and slides as PDF need Chromium (CHROMIUM=...).")
    return found


@contextmanager
def browser() -> Iterator[Any]:
    """A page of a browser that talks to nobody."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=find_browser(),
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--host-resolver-rules=MAP * ~NOTFOUND",
            ],
        )
        yield sheet(chromium)
        chromium.close()


def sheet(chromium: Any) -> Any:
    """A page as large as what A4 leaves between the margins: captions are measured."""
    return chromium.new_page(viewport={"width": 658, "height": 994})


def write_handouts(pages: list[Page], folder: Path) -> None:
    """Both editions, from the built site."""
    if not (SITE / "index.html").exists():
        raise SystemExit("Handouts are printed from the site: make book comes first.")
    with browser() as page:
        for edition in ("student", "instructor"):
            articles = []
            for chapter in pages:
                show(page, chapter, edition)
                article = page.locator("article").inner_html()
                articles.append([f"{chapter.name}.html", article])
                to_pdf(page, folder / edition / f"{kit.short(chapter)}.pdf")
            join(page, articles)
            to_pdf(page, folder / edition / "book.pdf")
        write_lab(page, folder / "instructor/lab.pdf")


def write_lab(page: Any, path: Path) -> None:
    """What a lecturer follows in the room: a section of the page for teachers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    page.emulate_media(media="print")
    page.goto((SITE / "book/teach.html").as_uri())
    page.evaluate(LAB)
    page.pdf(path=path, format="A4", margin=MARGIN, tagged=True)
    if (sheets := path.read_bytes().count(b"/MediaBox")) != 1:
        raise SystemExit(f"{path} has {sheets} pages, and a lecturer one hand")


def show(page: Any, chapter: Page, edition: str) -> None:
    """Open a chapter as it shall be printed."""
    page.emulate_media(media="print")
    page.goto((SITE / f"{chapter.name}.html").as_uri())
    page.add_style_tag(content=EXPLORERS)
    page.evaluate(TIDY, kit.short(chapter))  # nobody needs our folder's address
    if edition == "instructor":
        page.evaluate(OPEN_ALL)
    refuse_covered(page)


def refuse_covered(page: Any) -> None:
    """No page that prints something over a caption."""
    if covered := page.evaluate(COVERED):
        raise SystemExit(f"{page.url}: something is printed over {covered[0]!r}")


def join(page: Any, articles: list[list[str]]) -> None:
    """The whole book on one page, from the name and the inner HTML of each chapter."""
    page.evaluate(JOIN, articles)
    if lost := page.evaluate(LOST):
        raise SystemExit(f"drawings of the whole book lack {lost[:3]}")
    page.evaluate("document.title = 'Positional Encodings, Checked'")


def to_pdf(page: Any, path: Path) -> None:
    """Print with tags, an outline and page numbers; refuse what is too large."""
    path.parent.mkdir(parents=True, exist_ok=True)
    page.pdf(
        path=path,
        format="A4",
        margin=MARGIN,
        tagged=True,
        outline=True,
        display_header_footer=True,
        header_template="<span></span>",
        footer_template=FOOT,
    )
    finish(path, page.evaluate(TITLES))
    if path.stat().st_size > LARGEST:
        raise SystemExit(f"{path} has {path.stat().st_size / 1e6:.0f} MB: too large")


def finish(path: Path, titles: list[str]) -> None:
    """Pack the tags, two thirds of what Chromium writes; see that they are there."""
    import pikepdf

    def mend(items: Any) -> None:
        for item in items:
            item.title = spaced.get("".join(item.title.split()), item.title)
            mend(item.children)

    spaced = {"".join(title.split()): title for title in titles}
    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        if not pdf.Root.MarkInfo.Marked or "/Outlines" not in pdf.Root:
            raise SystemExit(f"{path} has no tags, or no outline")
        with pdf.open_outline() as outline:
            mend(outline.root)
        pdf.save(path, object_stream_mode=pikepdf.ObjectStreamMode.generate)


def write_slides(pages: list[Page], folder: Path) -> None:
    """Each deck as HTML, and as PDF; what is larger than its slide is refused."""
    decks = slides.write(pages, folder, manuscript.read())
    with browser() as page:
        for deck in decks:
            print_deck(page, deck)


def print_deck(page: Any, deck: Path) -> None:
    """A page of the PDF for each slide, as large as the slide."""
    page.goto(f"{deck.as_uri()}?view=print")
    page.wait_for_function("() => document.querySelector('.pdf-page')")
    if large := page.evaluate(TOO_LARGE, [slides.WIDTH, slides.HEIGHT]):
        raise SystemExit(f"{deck.name}: no room for {large}")
    page.pdf(
        path=deck.with_suffix(".pdf"),
        prefer_css_page_size=True,
        print_background=True,
        tagged=True,
    )


def write_figures(pages: list[Page], folder: Path) -> None:
    """Each figure twice, and a table of what it shows."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    with browser() as page:
        for name, (chapter, cell) in manuscript.read().figures.items():
            if chapter not in pages or cell.figure is None:
                continue
            alt = manuscript.plain(cell.figure.alt)
            draw(page, cell.drawings[-1], alt, folder / name)
            caption = " ".join(manuscript.plain(cell.figure.caption).split())
            rows.append([name, chapter.title, caption, alt, slides.CREDIT])
    with (folder / "index.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["figure", "chapter", "caption", "alternative text", "credit"])
        table.writerows(rows)


def signed(png: bytes, alt: str, path: Path) -> None:
    """Store a PNG with its alternative text and its credit, wherever it is copied."""
    notes = PngInfo()
    notes.add_itxt("Description", alt)
    notes.add_itxt("Copyright", slides.CREDIT)
    Image.open(io.BytesIO(png)).save(path, pnginfo=notes)


def draw(page: Any, svg: str, alt: str, path: Path) -> None:
    """A picture of twice the size, and a PDF of its own size with a credit line."""
    width, height = (
        float(n) for n in re.findall(r'(?:width|height)="([\d.]+)pt"', svg)[:2]
    )
    page.set_viewport_size(
        {"width": round(width * 8 / 3), "height": round(height * 8 / 3)}
    )
    page.set_content(
        f'<!doctype html><html lang="en"><title>{html.escape(path.name)}</title>'
        "<style>body{margin:0} svg{display:block;width:100%;height:auto}"
        "p{font:6pt sans-serif;margin:2pt 0 0}@media screen{p{display:none}}</style>"
        f'<div role="img" aria-label="{html.escape(alt, quote=True)}">'
        f"{svg[svg.index('<svg') :]}</div><p>{html.escape(slides.CREDIT)}</p>"
    )
    page.emulate_media(media="screen")
    signed(page.screenshot(), alt, path.with_suffix(".png"))
    page.emulate_media(media="print")
    page.pdf(
        path=path.with_suffix(".pdf"),
        width=f"{width * 96 / 72}px",
        height=f"{height * 96 / 72 + 16}px",
        tagged=True,
        print_background=True,
    )
