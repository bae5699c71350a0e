"""The form of a page: what a reader's time rests on.

A page of the path or on real models, the first two parts of _toc.yml, is short, as
somebody reads it who looks at every picture and plays with every explorer
(``Page.seconds`` says what counts), and as a notebook. It begins with a question and a
picture, its story ends with the answer and the question that forces the next page, and
its last section lists what its companion has, by title. Any other page answers first,
and leads on, if it does, in its last words.
"""

import ast
import re
from collections.abc import Iterator

from manuscript import (
    DEEPER,
    EXERCISES,
    RECALL,
    Cell,
    Page,
    Section,
    count_words,
)
from manuscript.markdown import words

WORDS, LINES, MINUTES, RESULT = 800, 45, 20, 30
CELLS, FIRST_EXERCISE = 42, 26
TITLE, OPENING = 60, 100
CELL_LINES = 15
# The page whose subject is its code: a whole model in view.
WHOLE, WHOLE_CELLS, WHOLE_LINES = "book/beyond/transformer", 25, 150
TERM = re.compile(r"\bpositional encoding|\brotary\b|\bRoPE\b", re.IGNORECASE)
AND_NOW, LINE = "**And now?**", "*In one line:*"
PAGE_LINK = re.compile(r"\[([^\[\]]+)\]\(([^)#\s]+)\.ipynb\)")
SENTENCE_END = re.compile(r"[.!?][\"”’)*]*\s+(?=[^\sa-z])")
# Letters that mean one thing on the whole path, seen where they are easily misused.
# The symbols of papers, PE(pos) and 2i/d_model, may be said beside ours.
RESERVED = {
    r"\\(omega|lambda)_\{?[a-ik-z]\b": "a hand is j",
    r"\b([Pp]air|[Hh]and|[Dd]ial)s? \$?[ikst]\b": "a hand is j",
    r"(?<![\w.])2( ?\* ?)?[kst](?= ?/ ?d(_model)?\b)": "a hand is j",
    r"(?<!\w)T_(\{[kst]\}|[kst]\b)": "a shift is T(k)",
    r"(?<!\w)P_\{?[ijkmnpqx]\b": "a position is t",
    r"\$(\\delta|\\Delta|\\tau)\$": "an offset is k",
    r"P_s *(\^\\top|\\cdot) *W *P_t": "a score is P_t . W P_s",
    r"\bfor k in (np\.|torch\.)?a?range\((K|d // 2|d/2|hands)\)": "a hand is j",
}
LENGTH = re.compile(
    r"\blength of (an?|the|each|every|its) (code|vector|query|key)s?\b|"
    r"\blength of the vectors\b|\b(shortest|longest) (code|vector)\b|"
    r"\b(codes?|vectors?)( \w+){0,2} equally long\b|"
    r"\b(codes?|vectors?) of (equal|unit|the same) length\b"
)


def faults(page: Page) -> Iterator[str]:
    """What is wrong with the form of a chapter."""
    yield from checked(page)
    yield from norms(page)


def in_the_fields_words(page: Page) -> Iterator[str]:
    """Whether any page of the book is found by its title, and speaks plainly."""
    if len(page.title) > TITLE:
        yield f"a title of {len(page.title)} characters, at most {TITLE}"
    if not page.description.endswith("."):
        yield "no description in its metadata: one sentence, what one finds here"
    text = words(
        re.sub(r"^(```+).*?^\1|`[^`]*`", "", page.text, flags=re.DOTALL | re.M)
    )
    if page.is_notebook and not TERM.search(" ".join(text.split()[:OPENING])):
        yield f"the first {OPENING} words do not say 'positional encoding', or 'rotary'"


def faults_of_the_path(
    page: Page, following: Page | None, companion: Page | None
) -> Iterator[str]:
    """What is wrong besides with one of the path or on a real model."""
    yield from lengths(page)
    if page.name == WHOLE:
        yield from whole(page)
    yield from cells(page)
    yield from beginning(page)
    yield from order(page)
    yield from ending(page, following)
    if companion:
        yield from deeper(page, companion)
    yield from only_asserts(page)
    yield from reserved(page)


def lengths(page: Page) -> Iterator[str]:
    """Whether the main text is short enough to be read."""
    words, lines = page.length
    most_lines = WHOLE_LINES if page.name == WHOLE else LINES
    for found, most, what in (
        (words, WORDS, "words"),
        (lines, most_lines, "visible lines of code"),
        (page.seconds / 60, MINUTES, "minutes"),
    ):
        if found > most:
            yield f"{found:.4g} {what}, at most {most}: the rest goes to its companion"


def whole(page: Page) -> Iterator[str]:
    """Whether the whole model is few cells and lines, exercises and all."""
    if len(page.cells) > WHOLE_CELLS:
        yield f"{len(page.cells)} cells, at most {WHOLE_CELLS}"
    lines = sum(code_lines(cell) for cell in page.code_cells)
    if lines > WHOLE_LINES:
        yield f"{lines} lines of code, at most {WHOLE_LINES}"


def code_lines(cell: Cell) -> int:
    """Its lines of code, without empty ones."""
    return sum(bool(line.strip()) for line in cell.source.splitlines())


def cells(page: Page) -> Iterator[str]:
    """Whether it is short as a notebook, too, and soon at its exercises."""
    if len(page.cells) > CELLS:
        yield f"{len(page.cells)} cells, at most {CELLS}"
    starts = (n for n, c in enumerate(page.cells, 1) if f"## {EXERCISES}" in c.source)
    if (first := next(starts, FIRST_EXERCISE)) > FIRST_EXERCISE:
        yield f"exercises begin at cell {first}, at {FIRST_EXERCISE} at the latest"
    for cell in page.code_cells:
        if cell.role == "idea" and (lines := code_lines(cell)) > CELL_LINES:
            yield f"{cell.id}: {lines} lines in view, at most {CELL_LINES}"


def beginning(page: Page) -> Iterator[str]:
    """A question, the folded set-up, a picture; on the path the bench before it."""
    if not page.question:
        yield "the title cell asks no question in bold"
    if not page.answer:
        yield "nothing answers it *In one line:*"
    first = [part.role for part in page.sections[0].parts[:4]]
    roles = [role for role in first if role != "explorer"][:3]
    if roles != ["text", "setup", "figure"]:
        yield f"begins with {roles}, not with text, set-up and figure"


def furniture(page: Page, told: bool) -> Iterator[str]:
    """One answer and one way on: where a told story ends, else in the first cell and
    the last."""
    texts = [cell.source for cell in page.cells if cell.kind == "markdown"]
    end = page.main[-1].parts[-1].source if told else ""
    for sign, place in (LINE, end or texts[0]), (AND_NOW, end or texts[-1]):
        if (found := sum(text.count(sign) for text in texts)) > 1:
            yield f"{sign} {found} times"
        if found and sign not in place:
            yield f"{sign} is not at its place"
    for old in re.findall(r"^#+ Summary|\bNext:", "\n".join(texts), re.MULTILINE):
        yield f"{old!r}: say {LINE} and {AND_NOW} alone"


def order(page: Page) -> Iterator[str]:
    """Main text, recall, exercises, and what is deeper."""
    last = [s.title for s in page.sections if s.level <= 2][-3:]
    if last != [RECALL, EXERCISES, DEEPER]:
        yield f"ends with {last}, not with {RECALL!r}, {EXERCISES!r} and {DEEPER!r}"


def ending(page: Page, following: Page | None) -> Iterator[str]:
    """The question that forces the next page, with a link to it."""
    if following is None:
        return
    parts = page.main[-1].parts
    last = parts[-1] if parts else page.cells[0]
    paragraph = last.source.strip().split("\n\n")[-1] if last.kind != "code" else ""
    links = re.findall(r"\]\(([^)#\s]+)\.ipynb(?:#\S*?)?\)", paragraph)
    if not paragraph.startswith(AND_NOW):
        yield f"the main text does not end with a paragraph {AND_NOW}"
    elif following.name not in map(page.named, links):
        yield f"{AND_NOW} does not link to {following.name}"


def deeper(page: Page, companion: Page) -> Iterator[str]:
    """The list at the end has each section of the companion, which begins with its
    result, and nothing but linked titles."""
    listed = page.sections[-1].parts[0].source if page.sections[-1].parts else ""
    entries = re.findall("^- (.+)", listed, flags=re.M)
    file = f"{companion.name.rpartition('/')[2]}.ipynb"
    for section in companion.sections:
        if section.level != 2 or section.title == EXERCISES:
            continue
        formula = "$" in section.title  # which no anchor has
        to = f"#{section.labels[-1]}" if formula else f"{file}#{section.anchor}"
        link = f"[{section.title}]({to})"
        if not result(section):
            rule = f"one sentence of {RESULT} words at most, a paragraph by itself"
            yield f"{companion.name}: {section.title!r} begins with its result: {rule}"
        if link not in entries:
            yield f"its list has no entry {link}"
    for entry in entries:
        if not re.fullmatch(r"\[.+\]\(\S+\)", entry):
            yield f"{entry!r} is not a linked title alone"


def plain_line(text: str) -> str:
    """Without remarks, links and line breaks."""
    return " ".join(words(text).split())


def result(section: Section) -> str:
    """The first paragraph of a section, if it is one short sentence."""
    first = section.parts[0] if section.parts else Cell("", "code", "", {})
    said = plain_line(first.source.strip().split("\n\n")[0])
    is_one = (
        first.kind != "code"
        and not said.startswith((":::", "$$", "|"))
        and said.endswith((".", "!", "?", "*", ")", "”"))
        and not SENTENCE_END.search(said)
        and count_words(said) <= RESULT
    )
    return said if is_one else ""


def checked(page: Page) -> Iterator[str]:
    """What a folded check says, it asserts."""
    for cell in page.code_cells:
        if "checked" not in cell.metadata:
            continue
        sentence = cell.checked
        if cell.role != "check":
            yield f"{cell.id}: 'checked' on a cell whose role is {cell.role}"
        if not sentence.strip() or re.search(r"\]\(|\n|\.$", sentence):
            yield f"{cell.id}: 'checked' is one sentence, no link, no final stop"
        if not any(isinstance(n, ast.Assert) for n in ast.walk(ast.parse(cell.source))):
            yield f"{cell.id}: has 'checked' and asserts nothing"


def only_asserts(page: Page) -> Iterator[str]:
    """Open cells that are checks and do not say so."""
    for cell in page.code_cells:
        body = ast.parse(cell.source).body
        if cell.role == "idea" and all(isinstance(line, ast.Assert) for line in body):
            yield f"{cell.id}: only asserts, so it needs 'checked'"


def reserved(page: Page) -> Iterator[str]:
    """Letters of the vocabulary that mean something else."""
    for part in (part for section in page.main for part in section.parts):
        for pattern, meaning in RESERVED.items():
            for match in re.finditer(pattern, part.source):
                yield f"{part.id}: {match[0]!r}, but {meaning}"


def norms(page: Page) -> Iterator[str]:
    """Vectors that have a length: that is for texts. In captions too."""
    for cell in page.cells:
        texts = [cell.source] if cell.kind == "markdown" else [cell.checked]
        if cell.figure:
            texts += [cell.figure.caption, cell.figure.alt]
        for match in LENGTH.finditer("\n".join(texts)):
            yield f"{cell.id}: {match[0]!r}, but a vector has a norm"
