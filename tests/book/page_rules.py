"""What must hold in the book, rule by rule: each remedy, and whether it is needed.

A rule is over pages, or over the cells, figures or exercises of each. A page of the
path or on real models, the first two parts of _toc.yml, is short, as somebody reads it
who looks at every picture and plays with every explorer (``Page.seconds`` says what
counts), and as a notebook. It begins with a question and a picture, its story ends with
the answer and the question that forces the next page, and its last section lists what
its companion has, by title. Any other page answers first, and leads on, if it does, in
its last words.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from manuscript import DEEPER, EXERCISES, RECALL, Cell, Page
from manuscript.markdown import words
from manuscript.pages import Exercise
from manuscript.stubs import in_view
from manuscript.values import MARK

Remedies = Mapping[str, object]
Rule = Callable[..., Iterator[str]]

WORDS, LINES, MINUTES = 800, 45, 15
CELLS, FIRST_EXERCISE = 42, 26
TITLE, OPENING = 60, 100
CELL_LINES = 15
LEVELS = ["predict", "modify", "build", "prove"]
REASON = 'assert len(str(because).split()) > 2, "because: your reason, in words"'
# The page whose subject is its code: a whole model in view.
WHOLE, WHOLE_LINES = "book/beyond/transformer", 150
TERM = re.compile(r"\bpositional encoding|\brotary\b|\bRoPE\b", re.IGNORECASE)
AND_NOW, IN_ONE_LINE = "**And now?**", "*In one line:*"
IDENTITY = {ast.Is, ast.IsNot}
NOWHERE = re.compile(r"['\"](/|~|[A-Z]:\\)|requests|urllib|https?://|!pip|%pip")

EVERY: list[Rule] = []
CHAPTER: list[Rule] = []
SHORT: list[Rule] = []
"""The rules of every page, of every chapter, of the path and real models."""


def page_itself(page: Page) -> list[Page]:
    """What most rules are over."""
    return [page]


def cells_of(page: Page) -> list[Cell]:
    """The cells that run."""
    return page.code_cells


def drawn(page: Page) -> list[Cell]:
    """The cells that draw."""
    return [cell for cell in page.code_cells if cell.drawings]


def ideas(page: Page) -> list[Cell]:
    """The cells that are open on the site."""
    return [cell for cell in page.code_cells if cell.role == "idea"]


def set_tasks(page: Page) -> list[tuple[Exercise, str]]:
    """Each exercise, with its check."""
    return [(one, page.checks.get(one.label, "...")) for one in page.exercises]


def rule(
    among: list[Rule], over: Callable[[Page], Iterable[Any]] = page_itself
) -> Callable[[Callable[..., Remedies]], Callable[..., Remedies]]:
    """List a function of one such thing, which says what must hold of it."""

    def listed(holds: Callable[..., Remedies]) -> Callable[..., Remedies]:
        def faults(page: Page, *others: Page) -> Iterator[str]:
            for one in over(page):
                name = f"{one.id}: " if isinstance(one, Cell) else ""
                yield from (
                    f"{holds.__name__}: {name}{remedy}"
                    for remedy, held in holds(one, *others).items()
                    if not held
                )

        among.append(faults)
        return holds

    return listed


@rule(EVERY)
def in_the_fields_words(page: Page) -> Remedies:
    """Whether it is found by its title, and speaks plainly."""
    text = words(
        re.sub(r"^(```+).*?^\1|`[^`]*`", "", page.text, flags=re.DOTALL | re.M)
    )
    named = TERM.search(" ".join(text.split()[:OPENING]))
    return {
        f"a title has {TITLE} characters at most": len(page.title) <= TITLE,
        "its metadata needs a description": page.description.endswith("."),
        f"the first {OPENING} words say 'positional encoding', or 'rotary'": (
            named or not page.is_notebook
        ),
    }


@rule(CHAPTER)
def opening(page: Page) -> Remedies:
    """What one will be able to do and what one needs, and no more."""
    items = {"You will be able to", "You need"}
    needs = page.opening.get("You need", "")
    return {
        "below its question stands the fold *Before you start*, with the items "
        f"{items}: see book/failures/dials.ipynb": set(page.opening) == items,
        "*You need* links to chapters, or says 'No other chapter.'": (
            page.needs or "No other chapter." in needs
        ),
    }


@rule(CHAPTER)
def executed(page: Page) -> Remedies:
    """In one run from top to bottom, by `make outputs`, and nothing is left out."""
    counts = [cell.execution_count for cell in page.code_cells]
    known = {key for cell in page.cells for key in cell.metadata}
    skipped = [tag for cell in page.cells for tag in cell.tagged("nbval-")]
    return {
        f"run it: .venv/bin/python -m tools.execute {page.name}.ipynb": (
            counts == [*range(1, len(counts) + 1)]
            and known <= {"tags", "mystnb", "checked"}
        ),
        f"print what is always the same, without nbval-{skipped}": not skipped,
    }


@rule(CHAPTER)
def set_up(page: Page) -> Remedies:
    """The first cell imports, and offers a few values, each of which is used."""
    first, *rest = page.code_cells
    plumbing, _, values = first.source.partition(f"\n{MARK}\n")
    others = "\n".join(c.source for c in rest)
    # SymPy where it is used: on the page its megabytes come with that cell.
    late = re.findall(r"^\s*(?:import (?!sympy$)|from ).*", others, re.MULTILINE)
    few = len(plumbing.splitlines()) <= 11 and len(values.splitlines()) <= 4
    return {
        "eleven lines of imports, four values at most": few,
        f"imports stand in the first cell: {late}": not late,
    } | {
        f"{one.name} changes nothing": re.search(rf"\b{one.name}\b", others)
        for one in page.values
    }


@rule(CHAPTER, over=cells_of)
def code(cell: Cell) -> Remedies:
    """Short lines, short cells, nothing personal."""
    lines = cell.source.splitlines()
    longest = max(map(len, lines))
    return {
        f"{len(lines)} lines, at most 25": len(lines) <= 25,
        f"{longest} characters a line, at most 72": longest <= 72,
        "a ; at its end fails nbval": not lines[-1].endswith(";"),
        "no absolute path, no network": not NOWHERE.search(cell.source),
    }


@rule(CHAPTER, over=cells_of)
def asserted(cell: Cell) -> Remedies:
    """What a folded check says, and a cell that settles a claim, it asserts.

    An assertion compares values with each other, and not one with itself.
    """
    tests = [x.test for x in ast.walk(ast.parse(cell.source)) if type(x) is ast.Assert]
    told = cell.tagged("claim-") or "checked" in cell.metadata
    kinds = [{type(node) for node in ast.walk(test)} for test in tests]
    compared = all(k & {ast.Compare, ast.Call} and not k & IDENTITY for k in kinds)
    return {
        "it asserts nothing": tests or not told,
        "compare a name's value, not by `is`": compared or not cell.tagged("claim-"),
        "an assertion about constants only": all(ast.Name in kind for kind in kinds),
        "two sides are the same expression": not any(map(compared_with_itself, tests)),
    }


def compared_with_itself(test: ast.expr) -> bool:
    """Whether two sides of a comparison are the same expression."""
    sides = [test.left, *test.comparators] if isinstance(test, ast.Compare) else []
    return len({*map(ast.dump, sides)}) < len(sides)


@rule(CHAPTER, over=cells_of)
def checked(cell: Cell) -> Remedies:
    """What a folded check found is one sentence."""
    said = cell.metadata.get("checked", "none")
    return {
        f"'checked' on a cell whose role is {cell.role}": (
            cell.role == "check" or said == "none"
        ),
        "'checked' is one sentence, no link, no final stop": (
            said.strip() and not re.search(r"\]\(|\n|\.$", said)
        ),
    }


@rule(CHAPTER, over=cells_of)
def outputs(cell: Cell) -> Remedies:
    """Text that fits a phone, SVG figures, our own tables and explorers, no more."""
    allowed = ('<table class="dataframe scorecard">', '<div class="pe-explorer')
    kinds = {"image/svg+xml", "text/html", "text/plain"}
    widest = max(map(len, cell.printed.splitlines()), default=0)
    streams = {output.get("name", "stdout") for output in cell.outputs}
    shown = {kind for output in cell.outputs for kind in output.get("data", {})}
    return {
        f"prints {widest} characters a line, at most 40": widest <= 40,
        "something has warned": streams <= {"stdout"},
        "text, SVG, HTML alone, so plotting.use_house_style()": shown <= kinds,
        "our own tables and explorers alone": all(
            html.startswith(allowed) for html in cell.tables
        ),
    }


@rule(CHAPTER)
def letters(page: Page) -> Remedies:
    """None is an outline where the page runs in a browser, which lacks mathtext's."""
    svg = "\n".join(svg for cell in page.code_cells for svg in cell.drawings)
    outlined = not page.needs_torch and re.search("<!-- .*[$]", svg)
    return {"write figures without mathtext": not (outlined or 'id="DejaVu' in svg)}


@rule(CHAPTER, over=drawn)
def figures(cell: Cell) -> Remedies:
    """Each has an alternative text, a caption and a name.

    In a column of 358 pixels no letter is smaller than 12.
    """
    if not (figure := cell.figure):
        return {"give the figure a name, a caption, an alt": False}
    svg, *more = cell.drawings
    width = float(re.findall(r'viewBox="0 0 ([0-9.]+)', svg)[0])
    sizes = [float(size) for size in re.findall(r"font-size: ([0-9.]+)", svg)]
    large = min(sizes, default=12) * 358 / width >= 12
    pale = re.search(r"\b(pale|dark|white)", figure.caption)
    return {
        "its name begins with fig-": figure.name.startswith("fig-"),
        "the caption says what one sees": len(figure.caption) > 20,
        "the alt says what the figure shows": len(figure.alt) > 40,
        "the alt is for who sees none": figure.alt != figure.caption,
        "true in the dark, too: 'faint', or 'fades'": not pale,
        "draw it narrower or its letters larger": large,
        "one cell draws one figure": not more,
    }


@rule(CHAPTER)
def exercises(page: Page) -> Remedies:
    """Exercise, folded solution with its cell, then the check outside the fold."""
    marks = {
        "exercise": r"^:::\{exercise\} .+\n:label: (\S+)$",
        "start": r"^:::\{solution-start\} (\S+)\n:class: dropdown$",
        "end": r":::\{solution-end\}()",
    }
    steps = ("exercise", "start", "solution", "end", "check")
    found = []
    for cell in page.cells:
        for step in steps:
            labels = cell.tagged(f"{step}-")
            if step in marks:
                labels = re.findall(marks[step], cell.source, re.MULTILINE)
            found += [(step, label) for label in labels]
    labels = [exercise.label for exercise in page.exercises]
    titles = [one.title.lower() for one in page.exercises]
    levels = [level for title in titles for level in LEVELS if f" {level}, " in title]
    few = len(labels) <= 4 and (labels or page.name.endswith("_deeper"))
    return {
        f"one to four exercises, not {len(labels)}": few,
        "the exercise, its folded solution around a cell tagged solution-<label>, "
        f"then the cell tagged check-<label>; here {found}": found
        == [(step, "" if step == "end" else x) for x in labels for step in steps],
        f"{levels} do not rise: {LEVELS}": levels == sorted(levels, key=LEVELS.index),
    }


@rule(CHAPTER, over=set_tasks)
def tasks(told: tuple[Exercise, str]) -> Remedies:
    """What is asked, for how long, and with a reason where one predicts."""
    one, check = told
    level = re.search(r" (\w+), (\d+) minutes$", one.title)
    asks = "`because`" in one.text and REASON in in_view(check)
    return {
        f"{one.title!r} ends as in 'Build, 5 minutes': one of {LEVELS}": (
            level and level[1].lower() in LEVELS and 0 < int(level[2]) <= 30
        ),
        f"{one.label} asks for `because`, and its check in view: {REASON}": (
            asks or " Predict, " not in one.title
        ),
    }


@rule(SHORT)
def lengths(page: Page) -> Remedies:
    """Whether the main text is short enough to be read."""
    count, lines = page.length
    most = WHOLE_LINES if page.name == WHOLE else LINES
    rest = "the rest goes to its companion"
    return {
        f"{count} words, at most {WORDS}: {rest}": count <= WORDS,
        f"{lines} visible lines of code, at most {most}: {rest}": lines <= most,
        f"{page.seconds / 60:.2f} minutes, at most {MINUTES}: {rest}": (
            page.seconds <= 60 * MINUTES
        ),
    }


@rule(SHORT)
def notebook(page: Page) -> Remedies:
    """Whether it is short as a notebook, too, and soon at its exercises."""
    starts = (n for n, c in enumerate(page.cells, 1) if f"## {EXERCISES}" in c.source)
    first = next(starts, FIRST_EXERCISE)
    return {
        f"{len(page.cells)} cells, at most {CELLS}": len(page.cells) <= CELLS,
        f"exercises begin at cell {first}, at {FIRST_EXERCISE} at the latest": (
            first <= FIRST_EXERCISE
        ),
    }


@rule(SHORT, over=ideas)
def in_view_is_short(cell: Cell) -> Remedies:
    """A cell that is open on the site shows an idea, and not assertions alone."""
    lines = sum(bool(line.strip()) for line in cell.source.splitlines())
    body = ast.parse(cell.source).body
    return {
        f"{lines} lines in view, at most {CELL_LINES}": lines <= CELL_LINES,
        "only asserts, so it needs 'checked'": {*map(type, body)} != {ast.Assert},
    }


@rule(SHORT)
def outline(page: Page) -> Remedies:
    """A question, the folded set-up, a picture; on the path the bench before it.

    Then main text, recall, exercises, and what is deeper.
    """
    first = [part.role for part in page.sections[0].parts[:4]]
    roles = [role for role in first if role != "explorer"][:3]
    last = [s.title for s in page.sections if s.level <= 2][-3:]
    ends = [RECALL, EXERCISES, DEEPER]
    return {
        "the title cell asks no question in bold": page.question,
        f"nothing answers it {IN_ONE_LINE}": page.answer,
        f"begins with {roles}, not with text, set-up and figure": (
            roles == ["text", "setup", "figure"]
        ),
        f"ends with {last}, not with {ends}": last == ends,
    }


# Beside another page, or by where a page is


def furniture(page: Page, *, told: bool) -> Remedies:
    """One answer and one way on: where a told story ends, else in the first cell and
    the last."""
    texts = [cell.source for cell in page.cells if cell.kind == "markdown"]
    end = page.main[-1].parts[-1].source if told else ""
    places = {IN_ONE_LINE: end or texts[0], AND_NOW: end or texts[-1]}
    found = {sign: sum(text.count(sign) for text in texts) for sign in places}
    return {f"{sign} {n} times": n <= 1 for sign, n in found.items()} | {
        f"{sign} is not at its place": sign in place or not found[sign]
        for sign, place in places.items()
    }


def ending(page: Page, following: Page) -> Remedies:
    """The question that forces the next page, with a link to it."""
    parts = page.main[-1].parts
    last = parts[-1] if parts else page.cells[0]
    paragraph = last.source.strip().split("\n\n")[-1] if last.kind != "code" else ""
    links = re.findall(r"\]\(([^)#\s]+)\.ipynb(?:#\S*?)?\)", paragraph)
    asks = paragraph.startswith(AND_NOW)
    return {
        f"the main text does not end with a paragraph {AND_NOW}": asks,
        f"{AND_NOW} does not link to {following.name}": (
            not asks or following.name in map(page.named, links)
        ),
    }


def deeper(page: Page, companion: Page) -> Remedies:
    """The list at the end has each section of the companion, by its title."""
    file = f"{companion.name.rpartition('/')[2]}.ipynb"
    last = page.sections[-1].parts
    entries = re.findall("^- (.+)", last[0].source if last else "", re.MULTILINE)
    told = {}
    for section in companion.sections:
        if section.level == 2 and section.title != EXERCISES:
            formula = "$" in section.title  # which no anchor has
            to = f"#{section.labels[-1]}" if formula else f"{file}#{section.anchor}"
            link = f"[{section.title}]({to})"
            told[f"its list has no entry {link}"] = link in entries
    return told
