"""What must hold of a page, rule by rule: each gives its faults, with the remedy.

A page of the path or on real models, the first two parts of _toc.yml, is short, as
somebody reads it who looks at every picture and plays with every explorer
(``Page.seconds`` says what counts), and as a notebook. It begins with a question and a
picture, its story ends with the answer and the question that forces the next page, and
its last section lists what its companion has, by title. Any other page answers first,
and leads on, if it does, in its last words.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping

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
from manuscript.stubs import in_view
from manuscript.values import MARK
from tests.book.code_lint import slips

Rule = Callable[[Page], Iterator[str]]
Remedies = Mapping[str, object]

WORDS, LINES, MINUTES, RESULT = 800, 45, 15, 30
DEEPER_WORDS = 6
CELLS, FIRST_EXERCISE = 42, 26
TITLE, OPENING = 60, 100
CELL_LINES = 15
LEVELS = ["predict", "modify", "build", "prove"]
REASON = 'assert len(str(because).split()) > 2, "because: your reason, in words"'
# The page whose subject is its code: a whole model in view.
WHOLE, WHOLE_LINES = "book/beyond/transformer", 150
TERM = re.compile(r"\bpositional encoding|\brotary\b|\bRoPE\b", re.IGNORECASE)
AND_NOW, IN_ONE_LINE = "**And now?**", "*In one line:*"
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


def unmet(remedies: Remedies) -> Iterator[str]:
    """The remedies of what does not hold."""
    yield from (remedy for remedy, holds in remedies.items() if not holds)


# Every page


def in_the_fields_words(page: Page) -> Iterator[str]:
    """Whether it is found by its title, and speaks plainly."""
    text = words(
        re.sub(r"^(```+).*?^\1|`[^`]*`", "", page.text, flags=re.DOTALL | re.M)
    )
    named = TERM.search(" ".join(text.split()[:OPENING]))
    yield from unmet(
        {
            f"a title has {TITLE} characters at most": len(page.title) <= TITLE,
            "its metadata needs a description": page.description.endswith("."),
            f"the first {OPENING} words say 'positional encoding', or 'rotary'": named
            or not page.is_notebook,
        }
    )


# Every chapter


def opening(page: Page) -> Iterator[str]:
    """What one will be able to do and what one needs, and no more."""
    items = {"You will be able to", "You need"}
    needs = page.opening.get("You need", "")
    yield from unmet(
        {
            "below its question stands the fold *Before you start*, with the items "
            f"{items}: see book/failures/dials.ipynb": set(page.opening) == items,
            "*You need* links to chapters, or says 'No other chapter.'": page.needs
            or "No other chapter." in needs,
        }
    )


def executed(page: Page) -> Iterator[str]:
    """In one run from top to bottom, by `make outputs`."""
    again = f"run it: .venv/bin/python -m tools.execute {page.name}.ipynb"
    counts = [cell.execution_count for cell in page.code_cells]
    if counts != list(range(1, len(counts) + 1)):
        yield again
    for cell in page.cells:
        known = set(cell.metadata) <= {"tags", "mystnb", "checked"}
        yield from unmet(
            {
                f"{cell.id}: {again}": known,
                f"{cell.id}: print what is always the same": not cell.tagged("nbval-"),
            }
        )


def code(page: Page) -> Iterator[str]:
    """Short lines, short cells, imports in the first cell, nothing personal."""
    first, *rest = page.code_cells
    plumbing, _, values = first.source.partition(f"\n{MARK}\n")
    if len(plumbing.splitlines()) > 11 or len(values.splitlines()) > 4:
        yield f"{first.id}: eleven lines of imports, four values at most"
    for cell in page.code_cells:
        lines = cell.source.splitlines()
        longest = max(map(len, lines))
        network = re.search(r"requests|urllib|https?://|!pip|%pip", cell.source)
        yield from unmet(
            {
                f"{cell.id}: {len(lines)} lines, at most 25": len(lines) <= 25,
                f"{cell.id}: {longest} characters a line, at most 72": longest <= 72,
                f"{cell.id}: a ; at its end fails nbval": not lines[-1].endswith(";"),
                f"{cell.id}: absolute path": not re.search(
                    r"['\"](/|~|[A-Z]:\\)", cell.source
                ),
                f"{cell.id}: a chapter needs no network": not network,
            }
        )
        yield from (f"{cell.id}: {slip}" for slip in slips(cell.source))
    for cell in rest:
        # SymPy where it is used: on the page its megabytes come with that cell.
        if re.search(r"^\s*(import (?!sympy$)|from )", cell.source, re.MULTILINE):
            yield f"{cell.id}: imports stand in the first cell"


def values(page: Page) -> Iterator[str]:
    """What is stored lies in its range, and other cells use it."""
    others = [c.source for c in page.code_cells if "parameters" not in c.tagged("")]
    for one in page.values:
        stored, least, most = (
            float(text.replace("_", "")) for text in (one.stored, one.least, one.most)
        )
        used = re.search(rf"\b{one.name}\b", "\n".join(others))
        yield from unmet(
            {
                f"{one.name} lies outside its range": least <= stored <= most,
                f"{one.name} has no range": least < most,
                f"{one.name} changes nothing": used,
            }
        )


def outputs(page: Page) -> Iterator[str]:
    """Text that fits a phone, SVG figures, our own tables and explorers, no more."""
    allowed = ('<table class="dataframe scorecard">', '<div class="pe-explorer')
    kinds = {"image/svg+xml", "text/html", "text/plain"}
    for cell in page.code_cells:
        widest = max(map(len, cell.printed.splitlines()), default=0)
        streams = {output.get("name", "stdout") for output in cell.outputs}
        shown = {kind for output in cell.outputs for kind in output.get("data", {})}
        ours = all(html.startswith(allowed) for html in cell.tables)
        yield from unmet(
            {
                f"{cell.id}: prints {widest} characters a line, at most 40": widest
                <= 40,
                f"{cell.id}: something has warned": streams <= {"stdout"},
                f"{cell.id}: text, SVG, HTML alone, so plotting.use_house_style()": (
                    shown <= kinds
                ),
                f"{cell.id}: our own tables and explorers alone": ours,
            }
        )


def figures(page: Page) -> Iterator[str]:
    """Each has an alternative text, a caption and a name.

    In a column of 358 pixels no letter is smaller than 12; none is an outline.
    """
    in_browser = not page.needs_torch  # which lacks mathtext's letters
    for cell in page.code_cells:
        figure = cell.figure
        for svg in cell.drawings:
            if not figure:
                yield f"{cell.id}: give the figure a name, a caption, an alt"
                continue
            name, alt, caption = figure.name, figure.alt, figure.caption
            width = float(re.findall(r'viewBox="0 0 ([0-9.]+)', svg)[0])
            letters = [float(size) for size in re.findall(r"font-size: ([0-9.]+)", svg)]
            formula = 'id="DejaVu' in svg or (
                in_browser and re.search("<!-- .*[$]", svg)
            )
            pale = re.search(r"\b(pale|dark|white)", caption)
            large = min(letters, default=12) * 358 / width >= 12
            yield from unmet(
                {
                    f"{name}: its name begins with fig-": name.startswith("fig-"),
                    f"{name}: the caption says what one sees": len(caption) > 20,
                    f"{name}: the alt says what the figure shows": len(alt) > 40,
                    f"{name}: the alt is for who sees none": alt != caption,
                    f"{name}: true in the dark, too: 'faint', or 'fades'": not pale,
                    f"{name}: draw it narrower or its letters larger": large,
                    f"{name}: write it without mathtext": not formula,
                }
            )


def checked(page: Page) -> Iterator[str]:
    """What a folded check says, and a cell that settles a claim, it asserts."""
    for cell in page.code_cells:
        nodes = list(ast.walk(ast.parse(cell.source)))
        asserted = [node.test for node in nodes if isinstance(node, ast.Assert)]
        if (cell.tagged("claim-") or "checked" in cell.metadata) and not asserted:
            yield f"{cell.id}: it asserts nothing"
        for test in asserted if cell.tagged("claim-") else []:
            kinds = {type(node) for node in ast.walk(test)}
            compared = ast.Name in kinds and kinds & {ast.Compare, ast.Call}
            if not compared or kinds & {ast.Is, ast.IsNot}:
                yield f"{cell.id}: compare a name's value, not by `is`"
        if "checked" in cell.metadata:
            sentence = cell.checked
            if cell.role != "check":
                yield f"{cell.id}: 'checked' on a cell whose role is {cell.role}"
            if not sentence.strip() or re.search(r"\]\(|\n|\.$", sentence):
                yield f"{cell.id}: 'checked' is one sentence, no link, no final stop"


def exercises(page: Page) -> Iterator[str]:
    """Exercise, folded solution with its cell, then the check outside the fold."""
    for exercise in page.exercises:
        level = re.search(r" (\w+), (\d+) minutes$", exercise.title)
        if not level or level[1].lower() not in LEVELS or not 0 < int(level[2]) <= 30:
            yield f"{exercise.title!r} ends as in 'Build, 5 minutes': one of {LEVELS}"
    marks = {
        "exercise": r"^:::\{exercise\} .+\n:label: (\S+)$",
        "start": r"^:::\{solution-start\} (\S+)\n:class: dropdown$",
        "end": r":::\{solution-end\}()",
    }
    found = []
    for cell in page.cells:
        for step in ("exercise", "start", "solution", "end", "check"):
            labels = cell.tagged(f"{step}-")
            if step in marks:
                labels = re.findall(marks[step], cell.source, re.MULTILINE)
            found += [(step, label) for label in labels]
    labels = [exercise.label for exercise in page.exercises]
    steps = ("exercise", "start", "solution", "end", "check")
    expected = [(step, "" if step == "end" else x) for x in labels for step in steps]
    if not (0 if page.name.endswith("_deeper") else 1) <= len(labels) <= 4:
        yield f"one to four exercises, not {len(labels)}"
    if found != expected:
        yield (
            "the exercise, its folded solution around a cell tagged solution-<label>, "
            f"then the cell tagged check-<label>; here {found}"
        )


def levels(page: Page) -> Iterator[str]:
    """From what one predicts, with a reason, to what one proves."""
    titles = [one.title.lower() for one in page.exercises]
    found = [x for title in titles for x in LEVELS if f" {x}, " in title]
    if found != sorted(found, key=LEVELS.index):
        yield f"{found} do not rise: {LEVELS}"
    for one in page.exercises:
        check = page.checks.get(one.label, "...")
        asks = "`because`" in one.text and REASON in in_view(check)
        if " Predict, " in one.title and not asks:
            yield f"{one.label} asks for `because`, and its check in view: {REASON}"


def furniture(page: Page, told: bool) -> Iterator[str]:
    """One answer and one way on: where a told story ends, else in the first cell and
    the last."""
    texts = [cell.source for cell in page.cells if cell.kind == "markdown"]
    end = page.main[-1].parts[-1].source if told else ""
    for sign, place in (IN_ONE_LINE, end or texts[0]), (AND_NOW, end or texts[-1]):
        if (found := sum(text.count(sign) for text in texts)) > 1:
            yield f"{sign} {found} times"
        if found and sign not in place:
            yield f"{sign} is not at its place"


def norms(page: Page) -> Iterator[str]:
    """Vectors that have a length: that is for texts. In captions too."""
    for cell in page.cells:
        texts = [cell.source] if cell.kind == "markdown" else [cell.checked]
        if cell.figure:
            texts += [cell.figure.caption, cell.figure.alt]
        for match in LENGTH.finditer("\n".join(texts)):
            yield f"{cell.id}: {match[0]!r}, but a vector has a norm"


# Of the path and on real models


def lengths(page: Page) -> Iterator[str]:
    """Whether the main text is short enough to be read."""
    words, lines = page.length
    whole_model = page.name == WHOLE
    for found, most, what in (
        (words, WORDS, "words"),
        (lines, WHOLE_LINES if whole_model else LINES, "visible lines of code"),
        (page.seconds / 60, MINUTES, "minutes"),
    ):
        if found > most:
            yield f"{found:.4g} {what}, at most {most}: the rest goes to its companion"


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
        lines = code_lines(cell)
        if cell.role == "idea" and lines > CELL_LINES:
            yield f"{cell.id}: {lines} lines in view, at most {CELL_LINES}"
        body = ast.parse(cell.source).body
        if cell.role == "idea" and all(isinstance(line, ast.Assert) for line in body):
            yield f"{cell.id}: only asserts, so it needs 'checked'"


def beginning(page: Page) -> Iterator[str]:
    """A question, the folded set-up, a picture; on the path the bench before it."""
    if not page.question:
        yield "the title cell asks no question in bold"
    if not page.answer:
        yield f"nothing answers it {IN_ONE_LINE}"
    first = [part.role for part in page.sections[0].parts[:4]]
    roles = [role for role in first if role != "explorer"][:3]
    if roles != ["text", "setup", "figure"]:
        yield f"begins with {roles}, not with text, set-up and figure"


def order(page: Page) -> Iterator[str]:
    """Main text, recall, exercises, and what is deeper."""
    last = [s.title for s in page.sections if s.level <= 2][-3:]
    if last != [RECALL, EXERCISES, DEEPER]:
        yield f"ends with {last}, not with {RECALL!r}, {EXERCISES!r} and {DEEPER!r}"


def reserved(page: Page) -> Iterator[str]:
    """Letters of the vocabulary that mean something else."""
    for part in (part for section in page.main for part in section.parts):
        for pattern, meaning in RESERVED.items():
            for match in re.finditer(pattern, part.source):
                yield f"{part.id}: {match[0]!r}, but {meaning}"


def listed(page: Page) -> Iterator[str]:
    """What is deeper: nothing but linked titles, short enough to choose from."""
    for entry in deeper_entries(page):
        title = re.fullmatch(r"\[(.+)\]\(\S+\)", entry)
        if not title:
            yield f"{entry!r} is not a linked title alone"
        elif (found := len(title[1].split())) > DEEPER_WORDS:
            yield f"{title[1]!r}: {found} words, at most {DEEPER_WORDS}"


def deeper_entries(page: Page) -> list[str]:
    """The entries of the list at its end."""
    last = page.sections[-1].parts
    return re.findall("^- (.+)", last[0].source if last else "", flags=re.MULTILINE)


OF_A_CHAPTER: tuple[Rule, ...] = (
    *(opening, executed, code, values, outputs, figures, checked, exercises, levels),
    norms,
)
OF_THE_PATH: tuple[Rule, ...] = (*(lengths, cells, beginning, order, listed, reserved),)


# Beside another page


def ending(page: Page, following: Page) -> Iterator[str]:
    """The question that forces the next page, with a link to it."""
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
    result."""
    entries = deeper_entries(page)
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
