"""Is a number in a sentence the one that a cell computed?

On the pages of ``Passage.strict`` a remark right behind it says what it states, in the
words of an output or of code beside it, # for the number and * for a word:
``0.39<!-- best # -->``. Wherever they are found the number must be this. None is asked
for 0 and 1, for what names a query, a position or the like, and for the kinds below.

On other pages a number without such a remark must stand

- in an output, equally rounded ("about 29,500" is 29,503), of the cells beside it, up
  to the heading, or where a link of the sentence leads: in a line that shares a word or
  a number with the sentence, if there is one and the outputs have many of its form;
- farther away in its section, in such a line or with five characters;
- in such a line of code; or, if no output has it, in any code of these cells.

Sources, dates, angles, formats, versions and the base need no cell; for others a reason
stands in the sentence, or alone before a table: ``<!-- not measured: an example -->``.
Not seen: digits below ten, numbers in words, formulas, code.
"""

import re
from collections.abc import Iterator
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from functools import cache
from itertools import chain, dropwhile, pairwise, takewhile
from typing import NamedTuple

from manuscript import DEEPER, Cell, Manuscript, Page, Section

DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\d+"
JOIN = rf"(?:\s?(?:,\s|,?\sand\s|,?\sor\s|\sto\s|[-–])\s?(?:{DIGITS}))*"
NUMBER = re.compile(rf"(?<![\w.,^*])(?<![A-Za-z][-–])({DIGITS})(?![\w*^]|[.,]\d)")
PERCENT = re.compile(rf"{JOIN}[\s\u00a0]?%")
OF_WHAT = re.compile(r"(?:% of(?: the)?|\bat|\bbeyond|lengths?|\bof all)\s$")
ABOUT = re.compile(r"(?:about|nearly|almost|roughly|around|close to|some)\s$")
PRINTED = re.compile(
    r"(?<![A-Za-z_\d.])(\d{1,3}(?:[,_]\d{3})+(?:\.\d+)?|\d+(?:\.\d*)?(?:e[+-]?\d+)?"
    r"|\.\d+)(\s?%)?"
)
REASON = r"<!--\s*not measured: \S.*?-->"
EXCUSED = re.compile(
    rf"^{REASON}\n\n(?:.+\n?)*|{REASON}|\{{cite[^}}]*\}}`[^`]*`", re.MULTILINE
)
LINK = re.compile(
    r"\[(?P<text>[^\]\[]*(?:\[[^\]]*\][^\]\[]*)*)\]\((?P<to>[^()\s]+)\)"
    r"|\{ref\}`(?:[^`<]*<)?(?P<label>[^>`]+)>?`"
)
NOISE = re.compile(
    r"<!--.*?-->|^(```+)(?!\{)[^\n]*\n.*?^\1`*[ \t]*$"
    r"|^(?:`{3,}|:{3,})\{(?:exercise|figure|math)\}[^\n]*$"
    r"|^(?:`{3,}|:{3,})(?:\{[^}\n]*\})?|^:(?!alt:)[a-z-]+:[^\n]*$|^\.\. [^\n]*$"
    r"|^- \*\*Time\*\*[^\n]*$|^\s*\d+\.(?= )|\$\$.*?\$\$|(?<!\})`[^`\n]+`"
    r"|(?<![\\$])\$[^$]+\$|<https?://[^>\s]*>|https?://\S+|<[a-z/][^>\n]*>"
    r"|^\([\w-]+\)=$",
    re.DOTALL | re.MULTILINE,
)
SENTENCE_END = re.compile(r"(?<=[.?!])[\"”)*_]*\s+|\n\s*\n|\n(?=\s*(?:[-*]|\|) ?)")
BEFORE_A_NAME = re.compile(
    r"(?:sections?|chapters?|equations?|eqs?\.|figures?|fig\.|tables?|appendix|pages?|"
    r"exercises?|version|Python|NumPy|PyTorch|torch|Jupyter Book|KaTeX|GPT|Llama|CC BY"
    r"|IEEE) (?:\d+(?:, | and | or | to ))*$"
)
YEAR = re.compile(r"(?:\b(?:in|of|since|until|from|by|before|after)\s|[A-Z]\w+ |\()$")
QUANTITY = re.compile(rf"{JOIN}(?: more)? minutes?\b|[\s-]bits?\b|\s?(?:°|degrees)")
RANGE = re.compile(r', "[\d_.]+ to [\d_.]+(, even)?"')
SAYS = re.compile(r"(?:[\s\u00a0]?%|°)?<!-- ([^>]*#[^>]*?) -->")
MEANS = {"#": "-?" + PRINTED.pattern, "*": r"\S+", " ": r"\s+"}
SPELT = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight"]
SPELT += ["nine", "ten", "eleven", "twelve"]
SPELT_NUMBER = re.compile(rf"\b({'|'.join(SPELT)})(?=<!-- [^>]*#)", re.IGNORECASE)
NAMES = re.compile(
    r"\b(?:quer(?:y|ies)|keys?|positions?|pairs?|hands?|heads?|layers?|rows?|lengths?"
    r"|steps?|encodings?(?: of)?|(?:York|old|beats)\s*,?\s+at)\s+"
    rf"(?:{DIGITS}(?:, | and | or | to ))*$",
    re.IGNORECASE,
)
LITERAL = re.compile(r"(?<![\w.])(\d+(?:_\d+)*(?:\.\d+)?(?:e-?\d+)?)()")
SAY_NOTHING = {
    *("the", "and", "for", "not", "with", "from", "are", "has", "all", "than", "that"),
    *("this", "but", "most", "print", "assert", "len", "range"),
}


class Use(NamedTuple):
    """A number in a sentence; `decimals` of "about 29,500" are -2."""

    text: str
    decimals: int
    percent: bool
    about: bool
    sentence: str
    link: str  # the target of the link in whose text it stands
    mark: str = ""  # the words of an output, with # for it

    @property
    def value(self):
        text = self.text.lower().replace(",", "")
        return Decimal(SPELT.index(text) if text in SPELT else text)


class Line(NamedTuple):
    """A line of an output or of code: what it names, and its numbers."""

    words: frozenset[str]
    numbers: list[tuple[Decimal, int, bool]]  # value, decimals, a percentage?

    def says(self, use: Use) -> set[Decimal]:
        """Its numbers, as a sentence says them with the digits of `use`."""
        return set().union(*(_rounded(*number, use) for number in self.numbers))


class Passage(NamedTuple):
    """A text of a page, with the cells beside it."""

    page: Page
    section: Section
    source: str
    beside: tuple[Cell, ...] = ()
    drawn: bool = False  # it describes what the cell draws
    strict: bool = False

    @property
    def uses(self):
        return uses(self.source, self.strict)


def _words(text: str) -> frozenset[str]:
    """The words that say something, and the numbers."""
    plain = text.lower().replace(",", "").replace("ies", "y")
    words = {word.rstrip("s") for word in re.findall(r"[a-z]{3,}", plain)}
    return frozenset((words - SAY_NOTHING) | {*re.findall(r"\d+(?:\.\d+)?", plain)})


def _rounded(value: Decimal, printed: int, percent: bool, use: Use) -> set[Decimal]:
    """As a sentence may say it: a tie goes either way, 0.58 is 58 %."""
    if use.percent and not percent:
        value, printed = 100 * value, printed - 2
        if not use.decimals and not 10 <= value <= 100:
            return set()
    elif percent != use.percent:
        return set()
    exact = not (use.decimals or use.about or use.percent) and use.value < 100
    if printed < use.decimals or (exact and printed):
        return set()
    step, ways = Decimal(1).scaleb(-use.decimals), (ROUND_HALF_UP, ROUND_HALF_DOWN)
    return {abs(value).quantize(step, way) for way in ways}


def _targets(text: str) -> list[tuple[range, str]]:
    found = LINK.finditer(text)  # where they stand, and where they lead
    return [(range(*m.span()), m["to"] or f"#{m['label']}") for m in found]


def masked(source: str) -> str:
    """The sentences alone, at their places; \x01 for a reason or a source."""

    def blank(match, mark=" "):
        kept = match["text"] or "" if match.re is LINK else ""
        rest = match[0][1 + len(kept) :]
        return mark + kept + re.sub(r"[^\n]", " ", rest)

    text = EXCUSED.sub(lambda match: blank(match, "\x01"), source)
    text = NOISE.sub(blank, LINK.sub(blank, text))
    return re.sub(r"(?<!\d)\*|\*(?!\d)", " ", text)


@cache
def uses(source: str, strict: bool = False) -> list[Use]:
    """The numbers of a Markdown text for which a cell is asked."""
    text, found = masked(source), []
    ends = [0, *(match.end() for match in SENTENCE_END.finditer(text)), len(text)]
    for start, end in pairwise(ends):
        plain = NUMBER.finditer(text, start, end)
        for number in chain(plain, SPELT_NUMBER.finditer(source, start, end)):
            before, after = text[start : number.start()], text[number.end() : end]
            sign = PERCENT.match(after)
            next_to_it = sign and not sign[0].strip("\u00a0 %")
            percent = bool(sign and (next_to_it or not OF_WHAT.search(before)))
            link = "".join(to for at, to in _targets(source) if number.start() in at)
            mark = SAYS.match(source, number.end())
            small = number[1] in "01" if strict else len(number[1]) == 1
            kind = small or _named(number, before, after)
            if strict:  # angles are asked, positions are not
                kind = (kind and after[:1] != "°") or NAMES.search(before)
            if not mark and (
                (not percent and kind)
                or "\x01" in text[start:end]
                or link.startswith("http")
            ):
                continue
            digits = number[1].replace(",", "")
            decimals = len(digits.partition(".")[2])
            if (about := bool(ABOUT.search(before))) and "." not in digits:
                decimals = len(digits.rstrip("0")) - len(digits)
            sentence = " ".join(source[start:end].split())
            says = (percent, about, sentence, link, mark[1] if mark else "")
            found.append(Use(number[1], decimals, *says))
    return found


def _named(number: re.Match[str], before: str, after: str) -> bool:
    """The base, a year, a time that we estimate, a format, an angle, a version."""
    base = number[1] in ("10000", "10,000") and (
        before.endswith("· ") or not re.match(r"\s+[a-z]*(?:position|word)", after)
    )
    year = re.fullmatch(r"(?!2000)(19|20[0-3])\d+", number[1]) and YEAR.search(before)
    return bool(base or year or QUANTITY.match(after) or BEFORE_A_NAME.search(before))


def _line(text: str, numbers: list[tuple[str, str]]) -> Line:
    plain = [(re.sub("[,_]", "", n.lower()), bool(sign)) for n, sign in numbers]
    decimals = [len(n.partition("e")[0].partition(".")[2]) for n, _ in plain]
    found = [(Decimal(n), d, s) for (n, s), d in zip(plain, decimals, strict=True)]
    return Line(_words(text), found)


@cache
def shown(cell: Cell) -> str:
    """What a cell prints, and its tables, a line for each row."""
    tables = [re.sub(r"\s+", " ", t).replace("</tr>", "\n") for t in cell.tables]
    rows = [re.sub(r"<[^>]*>", " ", t) for t in tables if t.startswith("<table")]
    return "\n".join([cell.printed, *rows])


@cache
def output_lines(cell: Cell) -> list[Line]:
    """What a cell shows, line by line."""
    return [_line(line, PRINTED.findall(line)) for line in shown(cell).splitlines()]


@cache
def code_lines(cell: Cell) -> list[Line]:
    """The lines of a cell; numbers of comments, and of what may be chosen, are none."""
    lines = [(x, RANGE.sub("", x.partition("#")[0])) for x in cell.source.splitlines()]
    return [_line(LITERAL.sub(" ", x), LITERAL.findall(code)) for x, code in lines]


def beside(parts: tuple[Cell, ...], at: int) -> tuple[Cell, ...]:
    """A part, if it is a cell, and the next run of cells on either side."""
    near = [parts[at]] if parts[at].kind == "code" else []
    for side in (parts[:at][::-1], parts[at + 1 :]):
        cells = dropwhile(lambda part: part.kind != "code", side)
        near += takewhile(lambda part: part.kind == "code", cells)
    return tuple(near)


def passages(book: Manuscript, page: Page) -> Iterator[Passage]:
    """All texts of a page whose numbers are checked, its claims' reasons too.

    What it lists as deeper are titles, which are checked where they stand. Strict are
    the main texts, the captions and the lines of checks on the path and on models.
    """
    told = page.main if page in (*book.path_pages, *book.model_pages) else ()
    for section in (s for s in page.sections if s.title != DEEPER):
        strict = section in told
        yield Passage(page, section, section.title)
        for at, part in enumerate(section.parts):
            text = part.source if part.kind == "markdown" else part.checked
            yield Passage(page, section, text, beside(section.parts, at), strict=strict)
            if part.figure:
                drawn = Passage(page, section, part.figure.alt, (part,), drawn=True)
                yield drawn
                yield drawn._replace(source=part.figure.caption, strict=strict)
            for claim in part.tagged("claim-"):
                yield Passage(page, section, book.claims[claim].why, (part,))


def linked(book: Manuscript, page: Page, target: str) -> list[tuple[Page, Cell]]:
    """The cells to which a link leads: a claim's, a figure's, or a section's."""
    file, _, anchor = target.partition("#")
    place = book.settled.get(anchor.removeprefix("claim-")) or book.figures.get(anchor)
    if place or not anchor:
        return [place] if place else []
    there = book.pages.get(page.named(file.rpartition(".")[0])) if file else page
    for owner in filter(None, [there] if file else [page, *book.pages.values()]):
        for section in owner.sections:
            if anchor in (*section.labels, section.anchor if owner == there else ""):
                return [(owner, cell) for cell in section.cells]
    return []


def evidence(book: Manuscript, text: Passage, use: Use) -> tuple[list, list]:
    """The cells beside a number and behind its links; the others of its section."""
    page = text.page
    if use.link and (tied := linked(book, page, use.link)):
        return tied, []
    near = [(page, cell) for cell in text.beside]
    for _, to in _targets(use.sentence if page.is_notebook else text.source):
        near += linked(book, page, to)
    return near, [(page, cell) for cell in text.section.cells]


def stated(use: Use, cells: list[tuple[Page, Cell]]) -> bool:
    """Whether a number is what its mark names, in the outputs or else in the code."""
    words = re.sub(r"\\([*# ])", lambda sign: MEANS[sign[1]], re.escape(use.mark))
    line = re.compile(rf"(?<!\w){words}(?!\w|\.\d)")
    code = [cell for page, cell in cells for cell in (cell, page.code_cells[0])]
    for texts in [shown(cell) for _, cell in cells], [cell.source for cell in code]:
        numbers = [m.group(1, 2) for text in texts for m in line.finditer(text)]
        if numbers:
            says = (_line("", [number]).says(use) for number in numbers)
            return all(use.value in values for values in says)
    return False


def proves(use: Use, near: list, far: list, drawn: bool, strict: bool) -> bool:
    """Whether a line says it, as the top of this file has it."""
    if use.mark or strict:
        return bool(use.mark) and stated(use, near + far)
    words = _words(use.sentence) - {use.text.replace(",", "")}
    beside, away = (
        [x for c in some for x in output_lines(c[1])] for some in (near, far)
    )
    few = len(set().union(*(line.says(use) for line in beside))) < 5
    free = few or not any(line.numbers and line.words & words for line in beside)
    here = [line for line in beside if use.value in line.says(use)]
    afar = [line for line in away if use.value in line.says(use)]
    found = here + afar
    if (free and here) or any(len(use.text) > 4 or x.words & words for x in found):
        return True
    if use.percent or use.decimals == 1:
        return False
    cells = [cell for page, cell in near + far for cell in (cell, page.code_cells[0])]
    return any(
        use.value in [value for value, _, _ in line.numbers]
        and (drawn or not found or line.words & words)
        for line in chain.from_iterable(map(code_lines, cells))
    )
