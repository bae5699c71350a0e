"""A plan becomes a deck: one HTML file, nothing else, nothing fetched.

A plan is ``plans/<name>.yml``: title, minutes, and slides. A slide has minutes, a note
for the speaker, and one of

    figure: fig-name       with ``say``, a sentence; else the caption's bold answer
    question: part/page    the question of a chapter, its answer one step later
    formula: part/page#section    the first formula on a line of its own
    theorem: part/page#section    the theorem in its box
    proof: part/page#section      what is below it, as far as ∎
    code: part/page#cell          a cell, by its id
    exercise: ex-label            title and text
    claims: [id, id, id]          sentences to vote on, their verdicts one step later
    markdown: "..."               yours, with ``title``; nothing checks it:
                                  lists, tables, code, links, formulas, pictures that
                                  lie beside the plan

A section is named by its anchor or its label; what a slide quotes is the page's own.
A formula may have a ``legend``, Markdown of yours, and any slide a ``claim``, an id of
the ledger. Numbers in a sentence must be printed
by the cell that ``from`` names (part/page#tag or #cell-id), so that a changed cell
turns the deck red. A figure that was drawn anew turns it red, too, until you have
checked whether sentence and note still fit it, and said so (it keeps in
plans/drawn.json what was seen):

    .venv/bin/python -m course.slides --looked

Any chapter has a plan that is made from its page, with no word of its own.
"""

import base64
import hashlib
import html
import json
import mimetypes
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

import manuscript
from course import mine
from manuscript import ROOT, Manuscript, Page, sources, stubs
from manuscript.markdown import as_html, words
from website import katex_math

HERE = Path(__file__).parent
SEEN = HERE / "plans/drawn.json"
DRAWN_ANEW = (
    "{} was drawn anew; look whether what is said of it is still right, then type "
    ".venv/bin/python -m course.slides --looked"
)
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
    "code": re.compile(r"(?P<text>.+)", re.DOTALL),
}
ANYWHERE = "Is it true that …?"
WIDTH, HEIGHT = 1280, 720
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
.reveal .claim { margin-top: 0.7em; padding-top: 0.5em; font-size: 0.62em; }
.reveal .claim { border-top: 1px solid var(--hair); }
.reveal .quoted { font-size: 0.82em; }
.reveal .quoted > :is(p, ol, ul, pre) { margin: 0 0 0.5em; }
.reveal .quoted li { margin-bottom: 0.3em; }
.reveal .quoted.formula { font-size: 1.3em; }
.reveal pre { font: 26px/1.35 "Source Code Pro", monospace; }
.reveal math[display="block"] { margin: 0.4em 0; }
.reveal footer { font-size: 0.5em; }
.reveal footer { margin-top: 0.9em; color: var(--muted); }
.reveal code { font: 0.9em "Source Code Pro", monospace; }
.reveal aside.notes { display: none; }
.reveal .slide-number { right: auto; left: 8px; color: var(--muted); background: none; }
"""
DECK = """\
<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{reveal_css}</style>
<style>{style}</style>
</head>
<body>
<div class="reveal"><div class="slides">
{sections}
</div></div>
<script>{reveal_js}</script>
<script>{notes_js}</script>
<script>
Reveal.initialize({{ width: {width}, height: {height}, margin: 0, hash: true,
  controls: true, progress: true, slideNumber: "c/t", transition: "none",
  pdfSeparateFragments: false, totalTime: {seconds}, plugins: [RevealNotes] }});
</script>
</body>
</html>
"""


@dataclass(frozen=True)
class Slide:
    """One of them, as the plan has it."""

    minutes: float
    note: str
    figure: str = ""
    question: str = ""
    formula: str = ""
    theorem: str = ""
    proof: str = ""
    code: str = ""
    exercise: str = ""
    say: str = ""
    source: str = ""  # "from" in the plan
    claim: str = ""
    claims: tuple[str, ...] = ()
    legend: str = ""
    title: str = ""
    markdown: str = ""
    folder: Path = HERE / "plans"  # where its pictures lie

    @property
    def quotes(self) -> list[tuple[str, str]]:
        """What it takes word for word from a page: of which kind, and from where."""
        found = [(kind, getattr(self, kind)) for kind in (*QUOTED, "exercise")]
        return [(kind, place) for kind, place in found if place]


@dataclass(frozen=True)
class Plan:
    """A lecture."""

    name: str
    title: str
    minutes: int
    slides: tuple[Slide, ...]
    seen: Mapping[str, str] | None = None  # drawings that its words were written to


def plans(book: Manuscript, pages: list[Page]) -> list[Plan]:
    """Those that are written, and one for each page."""
    yours = [replace(read(HERE / name), seen=None) for name in mine.read().plans]
    return [*written(), *yours, *(of_chapter(page, book) for page in pages)]


def written() -> list[Plan]:
    """Those of the book."""
    return [read(path) for path in sorted((HERE / "plans").glob("*.yml"))]


def read(path: Path) -> Plan:
    """A written plan; its minutes must add up."""
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    slides = []
    for entry in content["slides"]:
        entry["source"] = entry.pop("from", "")
        entry["folder"] = path.parent
        entry["claims"] = tuple(entry.get("claims", ()))
        slides.append(Slide(**entry))
    seen = json.loads(SEEN.read_text(encoding="utf-8")) if SEEN.exists() else {}
    plan = Plan(path.stem, content["title"], content["minutes"], tuple(slides), seen)
    total = sum(slide.minutes for slide in slides)
    if total != plan.minutes:
        raise ValueError(f"{path.name}: the slides take {total:g} minutes")
    return plan


def of_chapter(page: Page, book: Manuscript) -> Plan:
    """Its question; figures, theorems with proofs, formulas and claims of its text.

    Then its first exercise; and again the question, the steps and the answer.
    """
    name = page.name.removeprefix("book/")
    shown: list[dict[str, Any]] = []
    for section in page.main:
        text = "\n\n".join(part.source for part in section.texts)
        kinds = [kind for kind in ("theorem", "proof") if QUOTED[kind].search(text)]
        if not kinds and QUOTED["formula"].search(text):
            kinds = ["formula"]
        place = f"{name}#{section.anchor}"
        shown += [{kind: place, "note": section.title} for kind in kinds]
        shown += [
            {"figure": n, "note": _caption(book, n)[1]}
            for n, (its, cell) in book.figures.items()
            if its is page and cell in section.cells
        ]
    claims = [tag for cell in page.code_cells for tag in cell.tagged("claim-")]
    each = round(max(1.0, (page.minutes - 2) / max(1, len(shown))), 1)
    slides = [Slide(1, page.answer, question=name)]
    slides += [Slide(each, **one) for one in shown]
    slides += [Slide(1, book.claims[c].why, claim=c) for c in claims[:2]]
    tried = [(one, stubs.points(one.title)) for one in page.exercises[:1]]
    slides += [Slide(long, one.title, exercise=one.label) for one, long in tried]
    steps = "\n".join(f"1. {one.title}" for one in page.main if one.level == 2)
    told = f"{steps}\n\n{answer(page)}"
    slides += [Slide(1, page.answer, title=page.question, markdown=told)]
    minutes = page.minutes + sum(long for _, long in tried)
    return Plan(name.replace("/", "-"), page.title, minutes, tuple(slides))


def quoted(kind: str, place: str, book: Manuscript) -> tuple[Page, str, str] | None:
    """The page, the heading and the text of what a slide quotes; None if it is gone."""
    if kind == "exercise":
        for page in book.notebooks:
            for one in page.exercises:
                if one.label == place:
                    return page, one.title, one.text
        return None
    name, _, anchor = place.partition("#")
    its = book.pages.get(f"book/{name}")
    for section in its.sections if its else ():
        parts = [cell for cell in section.cells if kind == "code" and cell.id == anchor]
        if kind != "code" and anchor in (section.anchor, *section.labels):
            parts = section.texts
        text = "\n\n".join(part.source for part in parts)
        if its and (found := QUOTED[kind].search(text)):
            title = found.groupdict().get("title", section.title)
            return its, title, found["text"]
    return None


def errors(plan: Plan, book: Manuscript) -> list[str]:
    """What is not there any more, and every number that no cell prints."""
    found = []
    for number, slide in enumerate(plan.slides, 1):
        named = [
            ("figure", slide.figure, slide.figure in book.figures),
            ("page", slide.question, f"book/{slide.question}" in book.pages),
            *(("claim", c, c in book.claims) for c in (slide.claim, *slide.claims)),
        ]
        wrong = [
            f"there is no {kind} {n!r}" for kind, n, there in named if n and not there
        ]
        wrong += [
            f"there is no {kind} at {place!r}"
            for kind, place in slide.quotes
            if quoted(kind, place, book) is None
        ]
        if (
            plan.seen is not None
            and slide.figure in book.figures
            and plan.seen.get(slide.figure) != drawn(slide.figure, book)
        ):
            wrong.append(DRAWN_ANEW.format(slide.figure))
        if not (any(name for _, name, _ in named) or slide.markdown or slide.quotes):
            wrong.append("it shows nothing")
        printed = NUMBER.findall(_printed(slide.source, book))
        wrong += [
            f"{value} is not printed by {slide.source or 'a cell (from: ...)'}"
            for value in NUMBER.findall(slide.say)
            if value.rstrip(",") not in printed
        ]
        found += [f"{plan.name}, slide {number}: {what}" for what in wrong]
    return found


def drawn(figure: str, book: Manuscript) -> str:
    """What a drawing is known by."""
    _, cell = book.figures[figure]
    return hashlib.sha256(cell.drawings[-1].encode()).hexdigest()[:16]


def looked(book: Manuscript) -> None:
    """Keep the drawings of the written plans as those that somebody looked at."""
    figures = {s.figure for plan in written() for s in plan.slides if s.figure}
    seen = {name: drawn(name, book) for name in sorted(figures & set(book.figures))}
    SEEN.write_text(json.dumps(seen, indent=1) + "\n", encoding="utf-8")


def _printed(source: str, book: Manuscript) -> str:
    """What the cell prints that a plan names; nothing if it is not there."""
    name, _, cell_name = source.partition("#")
    page = book.pages.get(f"book/{name}")
    cells = page.code_cells if page else []
    return "\n".join(
        cell.printed
        for cell in cells
        if cell_name in (cell.id, *cell.metadata.get("tags", []))
    )


def deck(plan: Plan, book: Manuscript) -> str:
    """The whole HTML file."""
    if wrong := errors(plan, book):
        raise SystemExit(
            "The slides no longer say what the book says:\n" + "\n".join(wrong)
        )
    yours = mine.read()
    about = yours.lecturer, yours.institution, yours.date
    opening = (
        f"<section><h1>{inline(plan.title)}</h1>"
        f"{''.join(f'<p>{inline(line)}</p>' for line in about if line)}"
        f"<footer>{plan.minutes} minutes. {yours.credited(CREDIT)}</footer></section>"
    )
    sections = [opening, *(section(slide, book) for slide in plan.slides)]
    return DECK.format(
        language=yours.language,
        title=html.escape(words(plan.title)),
        reveal_css=(HERE / "reveal/reveal.css").read_text(encoding="utf-8"),
        reveal_js=(HERE / "reveal/reveal.min.js").read_text(encoding="utf-8"),
        notes_js=(HERE / "reveal/notes.min.js").read_text(encoding="utf-8"),
        style=STYLE,
        sections="\n".join(sections),
        seconds=plan.minutes * 60,
        width=WIDTH,
        height=HEIGHT,
    )


def section(slide: Slide, book: Manuscript) -> str:
    """One slide."""
    parts, source = [], ""
    if slide.question:
        page = book.pages[f"book/{slide.question}"]
        source = page.title
        parts += [f"<h2>{inline(page.question)}</h2>"]
        parts += [f'<p class="fragment answer">{inline(answer(page))}</p>']
    if slide.figure:
        source = book.figures[slide.figure][0].title
        bold, _ = _caption(book, slide.figure)
        parts += [f"<h2>{inline(slide.say or bold)}</h2>"]
        parts += [picture(slide.figure, book)]
    for kind, at in slide.quotes:
        if found := quoted(kind, at, book):
            source, title, text = found[0].title, *found[1:]
            parts += [f"<h2>{inline(slide.say or title)}</h2>"]
            code = f"<pre>{html.escape(text)}</pre>"
            words = code if kind == "code" else blocks(text)
            parts += [f'<div class="quoted {kind}">{words}</div>']
    if slide.legend:
        parts += [f'<div class="quoted">{blocks(slide.legend)}</div>']
    if slide.markdown:
        parts += [f"<h2>{inline(slide.title)}</h2>"]
        parts += [f'<div class="quoted">{own(slide.markdown, slide.folder)}</div>']
    if slide.claims:
        source = ANYWHERE
        parts += [f"<h2>{inline(slide.title or 'True or not?')}</h2>"]
        parts += [f"<p>{vote(claim, book)}</p>" for claim in slide.claims]
    if slide.claim:
        place = book.settled.get(slide.claim)
        source = source or (place[0].title if place else ANYWHERE)
        kind = "p" if parts else "h2"
        parts += [f'<{kind} class="claim">{vote(slide.claim, book)}</{kind}>']
    credit = mine.read().credited(CREDIT.replace("CC BY 4", "CC\u00a0BY\u00a04"))
    foot = f"{inline(source)}. {credit}" if source else ""
    parts += [f"<footer>{foot}</footer>"]
    note = f"{slide.minutes:g} minute{'s' * (slide.minutes != 1)}. {slide.note}"
    parts += [f'<aside class="notes">{inline(note)}</aside>']
    seconds = round(slide.minutes * 60)
    return f'<section data-timing="{seconds}">' + "\n".join(parts) + "</section>"


def answer(page: Page) -> str:
    """What a chapter answers to its question, as a sentence."""
    return page.answer[:1].upper() + page.answer[1:]


def vote(claim: str, book: Manuscript) -> str:
    """A claim, its verdict one step later."""
    its = book.claims[claim]
    verdict = f'<span class="fragment answer"><b>{inline(its.verdict)}</b></span>'
    return f"“{inline(its.claim)}” {verdict}"


def picture(figure: str, book: Manuscript) -> str:
    """A figure as an image that brings its drawing along."""
    _, cell = book.figures[figure]
    alt = cell.figure.alt if cell.figure else ""
    drawing = base64.b64encode(cell.drawings[-1].encode()).decode()
    return (
        f'<img alt="{html.escape(words(alt), quote=True)}" '
        f'src="data:image/svg+xml;base64,{drawing}">'
    )


def _caption(book: Manuscript, figure: str) -> tuple[str, str]:
    """The bold answer of a caption, and the rest."""
    _, cell = book.figures[figure]
    caption = cell.figure.caption if cell.figure else ""
    found = BOLD.match(caption.strip())
    return (found[1], caption[found.end() :].strip()) if found else (caption, "")


def own(text: str, folder: Path) -> str:
    """Markdown as HTML: tables, code, links, pictures that lie in a folder."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.use(
        dollarmath_plugin,
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
    return LINK.sub("", own(ROLE.sub(r"\1", text), ROOT))


def _drawn(tex: str, *, display: bool = False) -> str:
    options = {
        "output": "mathml",
        "displayMode": display,
        "throwOnError": True,
        "strict": "ignore",
    }
    return str(katex_math.engine().call("katex.renderToString", tex, options))


def inline(text: str) -> str:
    """A little Markdown as HTML; formulas as MathML, which needs no fonts."""
    return as_html(text, _drawn)


def with_decks(pages: list[Page], book: Manuscript) -> list[Page]:
    """The pages that were chosen; of all, those of the path and on real models."""
    every = len(pages) == len(book.notebooks)
    return [*book.path_pages, *book.model_pages] if every else pages


def write(pages: list[Page], folder: Path, book: Manuscript) -> list[Path]:
    """The lectures' decks and those of some chapters."""
    folder.mkdir(parents=True, exist_ok=True)
    done = []
    for plan in plans(book, with_decks(pages, book)):
        path = folder / f"{plan.name}.html"
        path.write_text(deck(plan, book), encoding="utf-8")
        done.append(path)
    katex_math.engine().close()  # Python 3.13 would wait for its thread without end
    katex_math.engine.cache_clear()
    shutil.copy(ROOT / "LICENSE-TEXT", folder)
    return done


if __name__ == "__main__":
    BOOK = manuscript.read()
    if sys.argv[1:] != ["--looked"]:
        raise SystemExit("make course writes the decks; here there is --looked")
    looked(BOOK)
