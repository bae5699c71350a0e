"""The form of a page: what a reader's hour rests on. Each check returns its faults.

A page of the spine is short: at most 900 words, 45 visible lines of code and 10 minutes
of main text, and the whole hour at most 90 minutes for somebody who reads slowly, looks
at every picture and plays with every explorer (``Page.seconds`` says what counts).
It begins with a picture and ends with the question that forces the next page.
"""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from manuscript import DEEPER, EXERCISES, RECALL, Cell, Manuscript, Page, count_words

WORDS, LINES, MINUTES, HOUR, RESULT = 900, 45, 10, 90, 30
AND_NOW = "**And now?**"
SENTENCE_END = re.compile(r"[.!?][\"”’)*]*\s+(?=[^\sa-z])")
# Letters that mean one thing in the whole hour, seen where they are easily misused.
RESERVED = {
    r"\\(omega|lambda)_\{?[a-ik-z]\b": "a hand is j",
    r"\b([Pp]air|[Hh]and|[Dd]ial)s? \$?[ikst]\b": "a hand is j",
    r"(?<![\w.])2( ?\* ?)?[kst](?= ?/ ?d(_model)?\b)": "a hand is j",
    r"(?<!\w)T_(\{[kst]\}|[kst]\b)": "a shift is T(k)",
    r"(?<!\w)(P|PE)_\{?(pos|[ijkmnpqx]\b)": "a position is t",
    r"\bPE\b(?!_)": "a code is P_t, the table P",
    r"\$(pos|\\delta|\\Delta|\\tau)\$": "a position is t, an offset k",
    r"P_s *(\^\\top|\\cdot) *W *P_t": "a score is P_t . W P_s",
    r"\bfor k in (np\.|torch\.)?a?range\((K|d // 2|d/2|hands)\)": "a hand is j",
}
LENGTH = re.compile(
    r"\blength of (an?|the|each|every|its) (code|vector|query|key)s?\b|"
    r"\blength of the vectors\b|\b(shortest|longest) (code|vector)\b|"
    r"\b(codes?|vectors?)( \w+){0,2} equally long\b|"
    r"\b(codes?|vectors?) of (equal|unit|the same) length\b"
)


def lengths(page: Page) -> Iterator[str]:
    """Whether the main text is short enough to be read."""
    words, lines = page.length
    for found, most, what in (
        (words, WORDS, "words"),
        (lines, LINES, "visible lines of code"),
        (page.seconds / 60, MINUTES, "minutes"),
    ):
        if found > most:
            yield f"{found:.4g} {what}, at most {most}"


def hour(book: Manuscript) -> Iterator[str]:
    """Whether the spine is an hour, and some."""
    minutes = sum(page.seconds for page in book.spine) / 60
    if minutes > HOUR:
        yield f"the spine takes {minutes:.0f} minutes, at most {HOUR}"


def beginning(page: Page) -> Iterator[str]:
    """A question, its answer, the folded set-up, a picture."""
    if not page.question:
        yield "the title cell asks no question in bold"
    if not page.answer:
        yield "the title cell does not answer *In one line:*"
    roles = [part.role for part in page.sections[0].parts[:3]]
    if roles != ["text", "setup", "figure"]:
        yield f"begins with {roles}, not with text, set-up and figure"


def order(page: Page) -> Iterator[str]:
    """Main text, deeper sections, recall, exercises."""
    ranks = [
        (1 if s.is_deeper else {RECALL: 2, EXERCISES: 3}.get(s.title, 0), s.title)
        for s in page.sections
        if s.level <= 2
    ]
    for (before, above), (after, title) in pairwise(ranks):
        if after < before:
            yield f"{title!r} stands below {above!r}"
    if [rank for rank, _ in ranks[-2:]] != [2, 3]:
        yield f"does not end with {RECALL!r} and {EXERCISES!r}"


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


def deeper(page: Page) -> Iterator[str]:
    """Each folded section shows its result: one short sentence."""
    for section in page.sections:
        if not section.is_deeper:
            continue
        name = section.title.removeprefix(DEEPER)
        first = section.parts[0] if section.parts else None
        result = first.source.strip().split("\n\n")[0] if first else ""
        plain = re.sub(r"<!--.*?-->", "", result, flags=re.DOTALL).strip()
        if (
            first is None
            or first.kind == "code"
            or plain.startswith((":::", "$$", "|"))
        ):
            yield f"{name!r} does not begin with its result"
        elif not plain.endswith((".", "!", "?", "*", ")", "”")):
            yield f"the result of {name!r} is no sentence"
        elif SENTENCE_END.search(plain):
            yield f"the result of {name!r} is more than one sentence"
        elif count_words(plain) > RESULT:
            yield f"the result of {name!r} has {count_words(plain)} words"


def checked(page: Page) -> Iterator[str]:
    """What a folded check says, it asserts."""
    for cell in page.code_cells:
        said = cell.checked
        if "checked" not in cell.metadata:
            continue
        if cell.role != "check":
            yield f"{cell.id}: 'checked' on a cell whose role is {cell.role}"
        if not said.strip() or said.endswith(".") or re.search(r"\]\(|\n", said):
            yield f"{cell.id}: 'checked' is one sentence, no link, no final stop"
        if not any(isinstance(n, ast.Assert) for n in ast.walk(ast.parse(cell.source))):
            yield f"{cell.id}: 'checked' but nothing is asserted"


def only_asserts(page: Page) -> Iterator[str]:
    """Open cells that are checks and do not say so."""
    for cell in page.code_cells:
        body = ast.parse(cell.source).body
        if cell.role == "idea" and all(isinstance(line, ast.Assert) for line in body):
            yield f"{cell.id}: only asserts, so it needs 'checked'"


def reserved(page: Page) -> Iterator[str]:
    """Letters of the vocabulary that mean something else."""
    for section in page.main:
        for part in section.parts:
            yield from _misused(part)


def norms(page: Page) -> Iterator[str]:
    """Vectors that have a length: that is for texts. In captions too."""
    for cell in page.cells:
        texts = [cell.source] if cell.kind == "markdown" else [cell.checked]
        if cell.figure:
            texts += [cell.figure.caption, cell.figure.alt]
        for match in LENGTH.finditer("\n".join(texts)):
            yield f"{cell.id}: {match[0]!r}, but a vector has a norm"


def _misused(part: Cell) -> Iterator[str]:
    for pattern, meaning in RESERVED.items():
        for match in re.finditer(pattern, part.source):
            yield f"{part.id}: {match[0]!r}, but {meaning}"
