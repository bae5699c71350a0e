"""A plan becomes a deck: one HTML file, nothing else, nothing fetched.

A plan is ``plans/<name>.yml``: title, minutes, and slides. A slide has minutes, a note
for the speaker, maybe a title, and one or more of

    question: part/page    the question of a chapter, its answer one step later
    figure: fig-name       its heading is the caption's bold answer
    formula: part/page#section    the first formula on a line of its own
    theorem: part/page#section    the theorem in its box
    proof: part/page#section      what is below it, as far as ∎
    code: part/page#cell          a cell, by its id or a tag
    exercise: ex-label            title and text
    claims: [id, id]       sentences to vote on, their verdicts one step later
    markdown: "..."        yours, with pictures that lie beside the plan
    source: part/page#cell    what prints the numbers of the title
"""

import base64
import html
import mimetypes
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import yaml
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from course import mine
from course.mine import HERE
from manuscript import ROOT, Cell, Manuscript, Page, Section, sources
from manuscript.markdown import REMARK, as_html, words
from website import katex_math

CREDIT = "“Positional Encodings, Checked”, CC BY 4.0"
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
LINK = re.compile(r"</?a\b[^>]*>")
ROLE = re.compile(r"\{(?!cite)[\w:-]+\}`([^`<]*?)(?: <[^`]*>)?`")
BOLD = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
QUOTED = {
    "formula": re.compile(r"(?P<text>\$\$.*?\$\$)", re.DOTALL),
    "theorem": re.compile(
        r"^(:{3,})\{admonition\} (?P<title>Theorem[^\n]*)\n(?::class:[^\n]*\n)?"
        r"(?P<text>.*?)^\1$",
        re.DOTALL | re.MULTILINE,
    ),
    "proof": re.compile(r"\*\*(?P<title>Proof)\.\*\*(?P<text>.*?∎)", re.DOTALL),
}
WIDTH, HEIGHT = 1280, 720
# Of MathML browsers leave alignment to CSS, and without such a font its spaces are off.
FORMULAS = """\
math { font-family: "STIX Two Math", "Cambria Math", "Latin Modern Math",
  "DejaVu Math TeX Gyre", math; }
math[display="block"] { margin: 0.4em 0; max-width: 100%; }
[columnalign^="right"] > mtr > mtd { padding-inline: 0; text-align: -webkit-left; }
[columnalign^="right"] > mtr > :nth-child(odd) { text-align: -webkit-right; }
"""
STYLE = """\
:root { --ink: #1c1b19; --muted: #5d5a54; --hair: #d8d4cc; }
.reveal { font: 34px/1.35 "Source Serif 4", Georgia, serif; color: var(--ink); }
.reveal-viewport { background: #fdfcf9; }
.reveal h1, .reveal h2 { margin: 0 0 0.6em; font-weight: 650; text-wrap: balance; }
.reveal h1 { font-size: 1.7em; } .reveal h2 { font-size: 1.1em; }
.reveal .slides section { padding: 0 64px; box-sizing: border-box; text-align: left; }
/* On paper reveal.js takes these margins away, and lets images fill them. */
html.reveal-print .reveal .slides section { padding: 0 64px !important; }
html.reveal-print .answer { visibility: hidden !important; } /* on paper */
.reveal .quoted :is(td, th) { padding: 0 0.8em 0.2em 0; text-align: left; }
.reveal img { display: block; height: 440px; margin: 0 auto; }
.reveal .slides section > img { max-width: 100% !important; }
.reveal .quoted img { height: auto; max-height: 440px; } /* yours has its own size */
.reveal :is(img, .answer, .quoted) ~ .claim { padding-top: 0.8em; font-size: 0.62em; }
.reveal :is(img, .answer, .quoted) ~ .claim { border-top: 1px solid var(--hair); }
.reveal .quoted { font-size: 0.82em; }
.reveal .quoted > :is(p, ol, ul, pre) { margin: 0 0 0.5em; }
.reveal .quoted li { margin-bottom: 0.3em; }
.reveal .quoted.formula { font-size: 1.3em; }
.reveal pre { font: 0.93em/1.35 "Source Code Pro", monospace; }
.reveal footer { font-size: 0.5em; margin-top: 0.9em; color: var(--muted); }
.reveal code { font: 0.9em "Source Code Pro", monospace; }
.reveal .slide-number { right: auto; left: 8px; color: var(--muted); background: none; }
"""
DECK = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{reveal_css}</style>
<style>{style}</style>
<div class="reveal"><div class="slides">
{sections}
</div></div>
<script>{reveal_js}</script>
<script>{notes_js}</script>
<script>
Reveal.initialize({{ width: {width}, height: {height}, margin: 0, hash: true,
  controls: true, progress: true, slideNumber: "c/t", transition: "none",
  pdfSeparateFragments: false, totalTime: {seconds}, plugins: [RevealNotes] }});
function fit(slide) {{  // what is too long for its slide has smaller letters
  for (let size = 100; slide.scrollHeight > {height} && size > 50;)
    slide.style.fontSize = `${{size -= 5}}%`;
}}
for (const event of ["ready", "slidechanged"])
  Reveal.on(event, now => fit(now.currentSlide));
Reveal.on("pdf-ready", () => {{
  document.querySelectorAll(".pdf-page section").forEach(fit);
  document.documentElement.dataset.fitted = "";
}});
</script>
</html>
"""


@dataclass(frozen=True)
class Slide:
    """One of them, as the plan has it."""

    minutes: float
    note: str
    question: str = ""
    figure: str = ""
    formula: str = ""
    theorem: str = ""
    proof: str = ""
    code: str = ""
    exercise: str = ""
    claims: tuple[str, ...] = ()
    markdown: str = ""
    title: str = ""
    source: str = ""
    folder: Path = HERE / "plans"  # where its pictures lie

    @property
    def places(self) -> list[tuple[str, str]]:
        """What it takes from the book: of which kind, and from where."""
        kinds = ("question", "figure", *QUOTED, "code", "exercise")
        found = [(kind, getattr(self, kind)) for kind in kinds if getattr(self, kind)]
        return found + [("claim", claim) for claim in self.claims]


@dataclass(frozen=True)
class Plan:
    """A lecture."""

    name: str
    title: str
    minutes: float
    slides: tuple[Slide, ...]


def plans() -> list[Plan]:
    """Those of the lectures, and yours."""
    yours = mine.read().plans
    there = [name for name in yours if (HERE / str(name)).is_file()]
    mine.refuse_unknown("mine.yml, plans", "file", yours, there)
    files = [*sorted((HERE / "plans").glob("*.yml")), *(HERE / name for name in yours)]
    return [*map(read, files)]


def read(path: Path) -> Plan:
    """A written plan; its minutes must add up."""
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    said = mine.words(path.name, content, Plan, name=path.stem)
    slides = tuple(
        Slide(**mine.words(f"{path.name}, slide {n}", it, Slide, folder=path.parent))
        for n, it in enumerate(said["slides"], 1)
    )
    total = sum(slide.minutes for slide in slides)
    if total != said["minutes"]:
        raise SystemExit(f"{path.name}: the slides take {total:g} minutes")
    return Plan(**said | {"slides": slides})


def quoted(kind: str, place: str, book: Manuscript) -> tuple[str, str, str] | None:
    """Its page's title, a heading, and HTML, for a slide; None if it is gone."""
    name, _, anchor = place.partition("#")
    page = book.pages.get(f"book/{name}")
    if kind == "claim" and (claim := book.claims.get(place)):
        verdict = f'<span class="fragment answer"><b>{inline(claim.verdict)}</b></span>'
        vote = f'<p class="claim">“{inline(claim.claim)}” {verdict}</p>'
        return "Is it true that …?", "True or not?", vote
    if kind == "figure" and place in book.figures:
        page, cell = book.figures[place]
        return page.title, _answered(cell), picture(cell)
    if kind == "question" and page:
        shown = f'<p class="fragment answer">{inline(answer(page))}</p>'
        return page.title, page.question, shown
    found: list[tuple[Page, str, str]] = []
    if kind == "exercise":
        asked = [(page, one) for page in book.notebooks for one in page.exercises]
        found = [(p, e.title, blocks(e.text)) for p, e in asked if e.label == place]
    elif kind == "code" and page:
        cells = [html.escape(cell.source) for cell in _cells(place, book)]
        found = [(page, page.title, f"<pre>{text}</pre>") for text in cells]
    for section in page.sections if page and kind in QUOTED else ():
        here = anchor in (section.anchor, *section.labels)
        if page and here and (part := QUOTED[kind].search(text_of(section))):
            title = part.groupdict().get("title", section.title)
            found.append((page, title, blocks(part["text"])))
    for page, title, text in found:
        return page.title, title, f'<div class="quoted {kind}">{text}</div>'
    return None


def text_of(section: Section) -> str:
    """The Markdown of a section."""
    return "\n\n".join(part.source for part in section.texts)


def _cells(place: str, book: Manuscript) -> list[Cell]:
    """The cells of an id or a tag: part/page#name."""
    name, _, called = place.partition("#")
    page = book.pages.get(f"book/{name}")
    cells = page.code_cells if page else []
    return [cell for cell in cells if called in (cell.id, *cell.tagged(""))]


def errors(plan: Plan, book: Manuscript) -> list[str]:
    """What is not there any more, and every number that no cell prints."""
    found = []
    for number, slide in enumerate(plan.slides, 1):
        wrong = [
            f"there is no {kind} {place!r}"
            for kind, place in slide.places
            if not quoted(kind, place, book)
        ]
        if not slide.places and not slide.markdown:
            wrong.append("it shows nothing")
        cells = _cells(slide.source, book)
        printed = [one for cell in cells for one in NUMBER.findall(cell.printed)]
        wrong += [
            f"{value} is not printed by {slide.source or 'a cell (source: ...)'}"
            for value in NUMBER.findall(slide.title)
            if slide.places and value.rstrip(",") not in printed
        ]
        found += [f"{plan.name}, slide {number}: {what}" for what in wrong]
    return found


def deck(plan: Plan, book: Manuscript) -> str:
    """The whole HTML file."""
    if wrong := "\n".join(errors(plan, book)):
        raise SystemExit(f"The slides no longer say what the book says:\n{wrong}")
    opening = (
        f"<section><h1>{inline(plan.title)}</h1><p>{inline(mine.read().about)}</p>"
        f"<footer>{plan.minutes} minutes. {CREDIT}</footer></section>"
    )
    sections = [opening, *(section(slide, book) for slide in plan.slides)]
    return DECK.format(
        title=html.escape(words(plan.title)),
        reveal_css=(HERE / "reveal/reveal.css").read_text(encoding="utf-8"),
        reveal_js=(HERE / "reveal/reveal.min.js").read_text(encoding="utf-8"),
        notes_js=(HERE / "reveal/notes.min.js").read_text(encoding="utf-8"),
        style=FORMULAS + STYLE,
        sections="\n".join(sections),
        seconds=plan.minutes * 60,
        width=WIDTH,
        height=HEIGHT,
    )


def section(slide: Slide, book: Manuscript) -> str:
    """One slide."""
    heading, source, parts = slide.title, "", []
    for kind, place in slide.places:
        if found := quoted(kind, place, book):
            heading, source = heading or found[1], source or found[0]
            parts.append(found[2])
    if slide.markdown:
        parts += [f'<div class="quoted">{own(slide.markdown, slide.folder)}</div>']
    credit = CREDIT.replace("CC BY 4", "CC\u00a0BY\u00a04")
    stop = "" if source.endswith("?") else "."
    foot = f"{inline(source)}{stop} {credit}" if source else ""
    parts += [f"<footer>{foot}</footer>"]
    note = f"{slide.minutes:g} minute{'s' * (slide.minutes != 1)}. {slide.note}"
    parts += [f'<aside class="notes">{inline(note)}</aside>']
    timing = f'data-timing="{round(slide.minutes * 60)}"'
    shown = "\n".join([f"<h2>{inline(heading)}</h2>", *parts])
    return f"<section {timing}>{shown}</section>"


def answer(page: Page) -> str:
    """What a chapter answers to its question, as a sentence."""
    return page.answer[:1].upper() + page.answer[1:]


def picture(cell: Cell) -> str:
    """A figure as an image that brings its drawing along."""
    alt = cell.figure.alt if cell.figure else ""
    drawing = base64.b64encode(cell.drawings[-1].encode()).decode()
    return (
        f'<img alt="{html.escape(words(alt), quote=True)}" '
        f'src="data:image/svg+xml;base64,{drawing}">'
    )


def _answered(cell: Cell) -> str:
    """The bold answer of a caption."""
    caption = cell.figure.caption if cell.figure else ""
    found = BOLD.match(caption.strip())
    return found[1] if found else caption


def own(text: str, folder: Path) -> str:
    """Markdown as HTML: tables, code, links, pictures that lie in a folder."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.use(
        dollarmath_plugin,
        double_inline=True,
        renderer=lambda tex, how: _drawn(tex, display=how["display_mode"]),
    )
    tokens = parser.parse(sources.cited(text))
    for token in (part for line in tokens for part in line.children or ()):
        if token.type == "image" and "//" not in (source := str(token.attrs["src"])):
            data = base64.b64encode((folder / source).read_bytes()).decode()
            kind = mimetypes.guess_type(source)[0]
            token.attrs["src"] = f"data:{kind};base64,{data}"
    return str(parser.renderer.render(tokens, parser.options, {}))


def blocks(text: str) -> str:
    """What is quoted from a page, its links as words."""
    return LINK.sub("", own(ROLE.sub(r"\1", REMARK.sub("", text)), ROOT))


def _drawn(tex: str, *, display: bool = False) -> str:
    options = {"output": "mathml", "displayMode": display, "strict": "ignore"}
    return str(katex_math.engine().call("katex.renderToString", tex, options))


def inline(text: str) -> str:
    """A little Markdown as HTML; formulas as MathML, which needs no fonts."""
    return as_html(text, _drawn)


def write(folder: Path, book: Manuscript) -> list[Path]:
    """A deck for each plan; with the licence."""
    made = {folder / f"{plan.name}.html": plan for plan in plans()}
    for path, plan in made.items():
        path.write_text(deck(plan, book), encoding="utf-8")
    shutil.copy(ROOT / "LICENSE-TEXT", folder)
    return [*made]
