"""Is a number in a sentence the one that a cell computed? The engine of that lint.

A number is proved in one of these ways, and otherwise the lint names it:

- it stands, equally rounded, in an output of **its own section**, which is what stands
  between two headings of the second or third level; captions, alternative
  texts, sentences of checks and exercises belong to the section of their cell;
- where the outputs have many numbers of that form, the sentence names the row too;
- it is a setting (a length, a width, a bound): then it may stand in the code of its own
  section, in what a caption or an alternative text describes in that of its cell. One
  of two digits is named as well: the sentence shares a word with its line of code, or
  says of what it is (32 columns), or the code gives it a name or compares with it;
- it is the text of a link, ``[58 %](#the-head-in-closed-form)``: then it is in an
  output of the section, or of the cell of the figure or the claim, to which the link
  leads (and a link elsewhere in the sentence will do too): one click to the check;
- the sentence works it out: 2 × 16 = 32;
- the sentence cites its source, or the number is a date or belongs to a name;
- a comment gives another reason: ``<!-- not measured: an example to think about -->``
  in the sentence, or alone before a table or a list. Nobody sees it on a page.

A page without code borrows from the sections to which the paragraph links.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from functools import cache, cached_property, partial
from itertools import pairwise
from random import Random
from typing import Any

from manuscript import Cell, Claim, Manuscript, Page, Section

# What a number looks like

WORDS = {
    **{"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8},
    **{"nine": 9, "ten": 10, "eleven": 11, "twelve": 12},
}
DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\d+"
JOIN = r"(?:\s?(?:,\s|,?\sand\s|,?\sor\s|\sto\s|[-–])\s?)"
NUMBER = re.compile(rf"(?<![\w.,^*])(?<![A-Za-z][-–])({DIGITS})(?![\w*^]|[.,]\d)")
UNTIL_PERCENT = re.compile(rf"(?:{JOIN}(?:{DIGITS}))*[\s\u00a0]?%")
ABOUT = re.compile(r"(?:about|nearly|almost|roughly|around|close to|some)\s$")
OF_WHAT = re.compile(r"(?:% of(?: the)?|\bat|\bbeyond|lengths?|\bof all)\s$")
SMALL = "|".join(["one", *WORDS, r"\d+"])
TRIED = "cases|seeds|runs|trials|times"
N_OF_M = re.compile(
    rf"(?<![\w.,-])({SMALL})(?: (?:{TRIED}))? (?:out )?of (?:the |its |all |these )?"
    rf"({SMALL})(?![\w.,-]*\d|\w)",
    re.IGNORECASE,
)
COUNTED = "seeds|runs|trials|libraries"
N_THINGS = re.compile(rf"(?<![\w.,-])({'|'.join(WORDS)}) ({COUNTED})\b", re.IGNORECASE)


@dataclass(frozen=True)
class Number:
    """A number in a text, and where."""

    text: str
    form: str  # "percent", "decimal", "integer", "N of M", "N things"
    start: int
    beside: str = ""  # the M of "N of M", the things of "N things"
    about: bool = False  # "about 41", which is an output of 41.3 too

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + len(self.text)

    @property
    def value(self) -> Decimal:
        """What it says."""
        return _value(self.text)

    @property
    def exact(self) -> bool:
        """Whether an output must print it without more digits: few would fit else."""
        return self.form == "integer" and self.value < 100 and not self.about

    @property
    def decimals(self) -> int:
        """How many digits it has behind the point."""
        return len(self.text.partition(".")[2])


@dataclass(frozen=True)
class Use:
    """A number, its sentence, and what the sentence says of where it comes from."""

    number: Number
    sentence: str
    span: tuple[int, int]
    paragraph: tuple[int, int]
    link: str = ""  # the target of the link whose text it is in
    exempt: str = ""  # the reason


@dataclass(frozen=True)
class Passage:
    """A text of a page, with where the proof of its numbers is looked for."""

    page: Page
    section: Section
    kind: str  # "text", "caption", "alt", "checked", "heading", "why"
    source: str
    cell: Cell | None = None  # the one it describes


def _value(text: str) -> Decimal:
    lower = text.lower()
    if lower in WORDS or lower == "one":
        return Decimal(WORDS.get(lower, 1))
    return Decimal(text.replace(",", "").replace("_", ""))


# Reading a text

CITE = re.compile(r"\{cite[^}]*\}`[^`]*`")
REF = re.compile(r"\{ref\}`([^`<]*)<([^>`]+)>`|\{ref\}`([^`]+)`")
LINK = re.compile(r"\[([^\]\[]*(?:\[[^\]]*\][^\]\[]*)*)\]\(([^()\s]*)\)")
SHOWN = re.compile(
    r"^(`{3,}|:{3,})\{(?:stored-figure\} (\S+)|figure\} (\S+))$.*?^\1$",
    re.DOTALL | re.MULTILINE,
)
IMAGE = re.compile(r'<img src="([^"]*)"[^>]*? alt="([^"]*)"[^>]*>')
COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)
REASON = re.compile(r"\s*not measured: (\S.*\S)\s*", re.DOTALL)
NOISE = [
    re.compile(pattern, re.DOTALL | re.MULTILINE)
    for pattern in (
        r"^(?P<fence>```+)(?!\{)[^\n]*\n.*?^(?P=fence)`*[ \t]*$",
        r"^(?:`{3,}|:{3,})\{(?:exercise|stored-figure|figure|math)\}[^\n]*$",
        r"^(?:`{3,}|:{3,})(?:\{[^}\n]*\})?",
        r"^:(?!alt:)[a-z-]+:[^\n]*$",
        r"^\.\. [^\n]*$",
        r"^- \*\*Time\*\*[^\n]*$",
        r"^\s*\d+\.(?= )",
        r"\$\$.*?\$\$",
        r"(?<!\})`[^`\n]+`",
        r"(?<![\\$])\$[^$]+\$",
        r"<https?://[^>\s]*>|https?://\S+",
        r"<[a-z/][^>\n]*>",
        r"^\([\w-]+\)=$",
    )
]
SENTENCE_END = re.compile(r"(?<=[.?!])[\"”)*_]*\s+|\n\s*\n|\n(?=\s*(?:[-*]|\|) ?)")
PARAGRAPH_END = re.compile(r"\n\s*\n")
NAMED = re.compile(
    r"(?:sections?|chapters?|equations?|eqs?\.|figures?|fig\.|tables?|appendix|pages?|"
    r"exercises?|version|Python|NumPy|PyTorch|torch|Jupyter Book|"
    r"KaTeX|GPT|Llama|CC BY|IEEE) (?:\d+(?:, | and | or | to ))*$"
)
BASE = {"10000", "10,000"}
YEAR = re.compile(r"(?:\b(?:in|of|since|until|from|by|before|after)\s|[A-Z]\w+ |\()$")
ESTIMATE = re.compile(rf"(?:{JOIN}(?:{DIGITS}))*(?: more)? minutes?\b")
BITS = re.compile(r"[\s-]bits?\b")
DEGREES = re.compile(r"\s?(?:°|degrees)")


def _blank(text: str, start: int, end: int, mark: str = " ") -> str:
    """Replace a stretch by one of the same length, so that places stay places."""
    kept = re.sub(r"[^\n]", " ", text[start:end])
    return text[:start] + (mark + kept[len(mark) :])[: end - start] + text[end:]


def masked(
    source: str,
) -> tuple[str, list[tuple[int, int, str]], list[re.Match[str]]]:
    """The sentences alone, at their places; the links; the comments."""
    text, links, comments = source, [], []
    for match in CITE.finditer(source):
        text = _blank(text, *match.span(), mark="\x01")
    for match in COMMENT.finditer(source):
        comments.append(match)
        text = _blank(text, *match.span())
    for pattern in NOISE[:1]:
        for match in pattern.finditer(text):
            text = _blank(text, *match.span())
    for match in SHOWN.finditer(text):
        links.append((*match.span(), "#" + match[2] if match[2] else match[3]))
    for match in IMAGE.finditer(text):
        links.append((*match.span(2), match[1]))
        text = _blank(text, match.start(), match.start(2))
        text = _blank(text, match.end(2), match.end())
    for match in REF.finditer(text):
        links.append((match.start(), match.end(), "#" + (match[2] or match[3])))
        text = _blank(text, match.start(), match.start() + 6)
        text = _blank(text, match.end(1) if match[2] else match.start(), match.end())
    for match in LINK.finditer(text):
        links.append((match.start(), match.end(), match[2]))
        text = _blank(text, match.end(1), match.end())
    for pattern in NOISE[1:]:
        for match in pattern.finditer(text):
            text = _blank(text, *match.span())
    text = re.sub(r"(?<!\d)\*|\*(?!\d)", " ", text)  # emphasis, no power
    return text, links, comments


@cache
def uses(source: str) -> list[Use]:
    """The numbers of a Markdown text that a proof is asked for, or an exemption."""
    text, links, comments = masked(source)
    found = []
    paragraphs = _spans(source, PARAGRAPH_END)
    for start, end in _spans(text, SENTENCE_END):
        sentence = text[start:end]
        for number in _numbers(sentence, start):
            paragraph = next(p for p in paragraphs if p[0] <= number.start < p[1])
            link = next((t for a, b, t in links if a <= number.start < b), "")
            found.append(
                Use(
                    number=number,
                    sentence=" ".join(source[start:end].split()),
                    span=(start, end),
                    paragraph=paragraph,
                    link=link,
                    exempt=_reason(number, text, (start, end), link)
                    or _worked_out(number, source[start:end])
                    or _comment(comments, source, (start, end), paragraph),
                )
            )
    return found


def targets(source: str, start: int = 0, end: int | None = None) -> list[str]:
    """Where the links of a stretch of Markdown lead."""
    text = source[start:end]
    refs = ["#" + (match[2] or match[3]) for match in REF.finditer(text)]
    return refs + [match[2] for match in LINK.finditer(text)]


def _spans(text: str, boundary: re.Pattern[str]) -> list[tuple[int, int]]:
    ends = [match.end() for match in boundary.finditer(text)] + [len(text)]
    return [(a, b) for a, b in zip([0, *ends], ends, strict=False) if a < b]


def _numbers(sentence: str, offset: int) -> Iterator[Number]:
    taken: set[int] = set()
    for match in N_OF_M.finditer(sentence):
        if match[1].lower() == "one" or min(map(_value, match.groups())) >= 10:
            continue  # "one of three" is an idiom; 934 of 1024 are two integers
        taken |= {match.start(1), match.start(2)}
        yield Number(match[1], "N of M", offset + match.start(1), match[2])
    for match in N_THINGS.finditer(sentence):
        if match.start(1) not in taken:
            yield Number(match[1], "N things", offset + match.start(1), match[2])
    for match in NUMBER.finditer(sentence):
        if match.start(1) in taken:
            continue
        percent = UNTIL_PERCENT.match(sentence, match.end())
        if percent and (
            not percent[0].strip("\u00a0 %")
            or not OF_WHAT.search(sentence, 0, match.start())
        ):
            form = "percent"
        elif "." in match[1]:
            form = "decimal"
        elif _value(match[1]) >= 10:
            form = "integer"
        else:
            continue
        about = bool(ABOUT.search(sentence, 0, match.start()))
        yield Number(match[1], form, offset + match.start(1), about=about)


def _reason(number: Number, text: str, sentence: tuple[int, int], link: str) -> str:
    """Why a number needs no proof, as far as the sentence shows it by itself."""
    before, after = text[sentence[0] : number.start], text[number.end : sentence[1]]
    if "\x01" in text[slice(*sentence)] or link.startswith("http"):
        return "cited"
    if number.form == "integer":
        counted = re.match(r"\s+[a-z]*(?:position|word)", after)
        if number.text in BASE and (before.endswith("· ") or not counted):
            return "the base"
        if 1900 < number.value < 2031 and number.value != 2000 and YEAR.search(before):
            return "a year"
        if ESTIMATE.match(after):
            return "a time that we estimate"
        if number.value in (16, 32, 64) and BITS.match(after):
            return "a format"
        if number.value in (90, 180, 360) and DEGREES.match(after):
            return "an angle"
    if number.form in ("integer", "decimal") and NAMED.search(before):
        return "a name"
    return ""


def _comment(
    comments: list[re.Match[str]],
    source: str,
    sentence: tuple[int, int],
    paragraph: tuple[int, int],
) -> str:
    """The reason that a comment gives, in the sentence or alone before its block."""
    for comment in comments:
        reason = REASON.fullmatch(comment[1])
        if not reason:
            continue
        inside = sentence[0] <= comment.start() < sentence[1]
        alone = (
            comment.end() <= paragraph[0]
            and not source[comment.end() : paragraph[0]].strip()
            and source[: comment.start()].rpartition("\n")[2].strip() == ""
        )
        if inside or alone:
            return reason[1]
    return ""


# Arithmetic in a sentence: 2 x 16 = 32

ARITHMETIC = re.compile(
    r"([\d(][\d.,\s()+\-−–×·*/^]*?[\d)])\s*(?:=|≈|is|makes|are)\s*(?:about )?"
    rf"({DIGITS})"
)
SIGNS = str.maketrans({"×": "*", "·": "*", "−": "-", "–": "-", ",": "", "$": ""})
OPERATIONS: dict[type[ast.operator], Callable[[Decimal, Decimal], Decimal]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def _worked_out(number: Number, sentence: str) -> str:
    """Whether the sentence shows how the number comes about, and is right."""
    plain = sentence.replace(r"\times", "×").replace(r"\cdot", "·").replace("$", " ")
    for match in ARITHMETIC.finditer(plain):
        if match[2].replace(",", "") == number.text.replace(",", ""):
            terms = match[1].translate(SIGNS).replace("^", "**")
            if re.search(r"[+*/-]", terms) and _computes(terms, number):
                return "worked out in the sentence"
    return ""


def _computes(terms: str, number: Number) -> bool:
    try:
        value = _fold(ast.parse(terms.strip(), mode="eval").body)
    except (SyntaxError, ArithmeticError):
        return False
    return value is not None and number.value in _roundings(value, number.decimals)


def _fold(node: ast.expr) -> Decimal | None:
    """The value of a constant expression; None if it is not constant."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return Decimal(str(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _fold(node.operand)
        return None if value is None else -value
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        left, right = _fold(node.left), _fold(node.right)
        if left is None or right is None or abs(right) > 10**9:
            return None
        if isinstance(node.op, ast.Pow) and abs(right) > 64:
            return None
        return OPERATIONS[type(node.op)](left, right)
    return None


# What the cells say

PRINTED = re.compile(
    r"(?<![A-Za-z_\d.])(\d{1,3}(?:[,_]\d{3})+(?:\.\d+)?|\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+)(\s?%)?"
)
MANY = 5
UNITS = "columns?|dimensions|positions|words|numbers|tokens|rows|digits|sequences"
LOOKS = {
    *("figsize", "linewidth", "markersize", "fontsize", "alpha", "zorder", "s"),
    *("wspace", "hspace", "ncols", "bbox_to_anchor", "xytext", "width_ratios"),
}
SAY_NOTHING = {
    *("the", "and", "for", "not", "with", "from", "are", "has"),
    *("all", "than", "that", "this", "but", "most"),
}
PLOTTING = {"axes", "axis", "ax", "fig", "figure", "plt", "plotting", "panel", "panels"}


@dataclass(frozen=True, eq=False)
class Evidence:
    """The numbers in the outputs and the code of some cells."""

    cells: tuple[Cell, ...]
    page: Page | None = None
    drawn: tuple[Cell, ...] = field(default=())  # cells whose drawing is described

    @cached_property
    def lines(self) -> list[str]:
        """What the cells print, line by line; tables as their text."""
        text = "\n".join(cell.printed for cell in self.cells)
        for cell in self.cells:
            for table in cell.tables:
                if table.startswith("<table"):
                    text += "\n" + re.sub(r"<[^>]*>", " ", table)
        return text.splitlines()

    @cached_property
    def outputs(self) -> list[tuple[Decimal, int, bool]]:
        """Each number of the outputs: value, decimals, whether it is a percentage."""
        found = []
        for line in self.lines:
            for number, sign in PRINTED.findall(line):
                digits = number.lower().replace(",", "").replace("_", "")
                decimals = len(digits.partition("e")[0].partition(".")[2])
                found.append((Decimal(digits), decimals, bool(sign)))
        return found

    @cached_property
    def settings(self) -> dict[Decimal, set[str]]:
        """The numbers of the code that computes, or of the drawing that is meant.

        With each the words of its line of code: of a short one the sentence says one.
        """
        found: dict[Decimal, set[str]] = {}
        for cell in self.drawn or self.cells:
            tree = ast.parse(cell.source)
            for value, words in _constants(tree, drawing=cell in self.drawn):
                found.setdefault(value, set()).update(words)
            if self.page is not None:
                names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
                for name in names & set(_assigned(self.page)):
                    for value in _assigned(self.page)[name]:
                        found.setdefault(value, set()).update(_tokens(name))
        return found

    def proves(self, number: Number, sentence: str = "") -> bool:
        """Whether the number is there, equally rounded, in the same unit.

        Where the outputs have many of that form, nearly any short number is among
        them. There the sentence must name the row: share a word or a number with it.
        """
        if number.form in ("N of M", "N things"):
            return self._counts(number, _tokens(sentence))
        wants_percent = number.form == "percent"
        rounded = partial(
            _rounded,
            percent=wants_percent,
            decimals=number.decimals,
            exact=number.exact,
        )
        if number.value in (values := rounded(self)):
            if len(number.text) > 4 or len(values) < MANY:
                return True
            said = _tokens(sentence) - {number.text}
            for line, row in self.rows:
                if said & _tokens(line) and number.value in rounded(row):
                    return True
        if number.form == "decimal" and number.value == int(number.value):
            return False  # 3.00 is printed; code has 3
        setting = number.form == "integer" or number.decimals > 1 or bool(self.drawn)
        if wants_percent or not setting or number.value not in self.settings:
            return False
        long = len(number.text) > 2 or bool(self.drawn)
        unit = re.search(rf"(?<![\d.]){number.text} (?:more )?(?:{UNITS})", sentence)
        return long or bool(
            unit or self.settings[number.value] & (_tokens(sentence) | {"="})
        )

    @cached_property
    def rows(self) -> list[tuple[str, "Evidence"]]:
        """Each line of the outputs, and what it alone says."""
        return [
            (line, Evidence((Cell("", "code", "", {}, ({"text": line},)),)))
            for line in self.lines
        ]

    def _counts(self, number: Number, said: frozenset[str]) -> bool:
        """Both in one line of an output, in this order; or beside what is counted."""
        if number.form == "N of M":
            pair = (number.value, _value(number.beside))
            return any(
                pair in pairwise(_value(n) for n, _ in PRINTED.findall(line))
                and {word for word in said & _tokens(line) if word.isalpha()}
                for line in self.lines
            )
        thing = number.beside.lower().removesuffix("s")
        code = [line for cell in self.cells for line in cell.source.splitlines()]
        return any(
            number.value in [_value(n) for n, _ in PRINTED.findall(line)]
            for line in self.lines + code
            if thing in line.lower()
        )


@cache
def _rounded(
    said: Evidence, percent: bool, decimals: int, exact: bool
) -> frozenset[Decimal]:
    """All numbers of the outputs that can be said with so many decimals."""
    found: set[Decimal] = set()
    for value, printed, is_percentage in said.outputs:
        if exact and printed > decimals:
            continue
        if is_percentage == percent and printed >= decimals:
            found |= _roundings(value, decimals)
        elif percent and printed >= decimals + 2 and abs(value) <= 1:
            shares = _roundings(100 * value, decimals)
            found |= {share for share in shares if decimals or share >= 10}
    return frozenset(found)


@cache
def _tokens(text: str) -> frozenset[str]:
    """The words that say something, and the numbers, of a sentence or of a line."""
    plain = text.lower().replace(",", "").replace("ies", "y")
    words = {word.rstrip("s") for word in re.findall(r"[a-z]{3,}", plain)}
    return frozenset((words - SAY_NOTHING) | {*re.findall(r"\d+(?:\.\d+)?", plain)})


def _roundings(value: Decimal, decimals: int) -> set[Decimal]:
    """A number said with so many decimals; a tie may go either way."""
    step = Decimal(1).scaleb(-decimals)
    return {abs(value).quantize(step, way) for way in (ROUND_HALF_UP, ROUND_HALF_DOWN)}


def _constants(
    tree: ast.AST, *, drawing: bool, words: frozenset[str] = frozenset()
) -> Iterator[tuple[Decimal, frozenset[str]]]:
    """The numbers of code, without those of calls that draw; and their words."""
    if isinstance(tree, ast.Call) and not drawing:
        root: ast.expr = tree.func
        while isinstance(root, (ast.Attribute, ast.Subscript, ast.Call)):
            root = root.func if isinstance(root, ast.Call) else root.value
        if isinstance(root, ast.Name) and root.id in PLOTTING:
            return
    if isinstance(tree, ast.keyword) and tree.arg in LOOKS:
        return
    if isinstance(tree, ast.Slice) or (
        isinstance(tree, ast.Compare)
        and any(isinstance(way, (ast.Lt, ast.Gt, ast.LtE, ast.GtE)) for way in tree.ops)
        and not drawing
    ):
        return  # a place in an array, a bound: no setting
    if isinstance(tree, ast.stmt):
        words = _tokens(re.sub(r"\d", " ", ast.unparse(tree).split("\n")[0]))
    if isinstance(tree, ast.Assign) or (
        isinstance(tree, ast.Compare) and isinstance(tree.ops[0], ast.Eq)
    ):
        sides = [tree.value] if isinstance(tree, ast.Assign) else tree.comparators
        for part in (part for side in sides for part in ast.walk(side)):
            if isinstance(part, (ast.List, ast.Tuple)):
                sides += part.elts
        for value in filter(None, map(_fold, sides)):
            yield abs(value), frozenset("=")
    if isinstance(tree, ast.expr):
        value = _fold(tree)
        if value is not None:
            yield abs(value), words
            if isinstance(tree, ast.Constant):
                return
    for child in ast.iter_child_nodes(tree):
        if not (isinstance(tree, ast.Subscript) and child is tree.slice):
            yield from _constants(child, drawing=drawing, words=words)


@cache
def _assigned(page: Page) -> dict[str, set[Decimal]]:
    """The names to which a page's code assigns plain numbers."""
    found: dict[str, set[Decimal]] = {}
    for cell in page.code_cells:
        for node in ast.parse(cell.source).body:
            if isinstance(node, ast.Assign):
                for name, value in _pairs(node):
                    number = _fold(value)
                    if number is not None:
                        found.setdefault(name, set()).add(abs(number))
    return found


def _pairs(node: ast.Assign) -> Iterator[tuple[str, Any]]:
    """Names and their values, those of `a, b = 1, 2` one by one."""
    for target in node.targets:
        if isinstance(target, ast.Name):
            yield target.id, node.value
        elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            for name, value in zip(target.elts, node.value.elts, strict=False):
                if isinstance(name, ast.Name):
                    yield name.id, value


# The book


def passages(page: Page) -> Iterator[Passage]:
    """All texts of a page whose numbers are checked."""
    for section in page.sections:
        if section.level > 1:
            yield Passage(page, section, "heading", section.title)
        for part in section.parts:
            if part.kind == "markdown":
                yield Passage(page, section, "text", part.source)
            if part.checked:
                yield Passage(page, section, "checked", f"Checked: {part.checked}.")
            if part.figure:
                yield Passage(page, section, "caption", part.figure.caption, part)
                yield Passage(page, section, "alt", part.figure.alt, part)


def claim_passage(book: Manuscript, claim: Claim) -> Passage | None:
    """The reason of a claim that a cell settles, as a text of that cell's section."""
    if claim.id not in book.settled:
        return None
    page, cell = book.settled[claim.id]
    return Passage(page, section_of(page, cell), "why", claim.why, cell)


def section_of(page: Page, cell: Cell) -> Section:
    """Where a cell stands."""
    return next(s for s in page.sections if any(p.id == cell.id for p in s.cells))


@cache
def evidence_of(section: Section, page: Page, drawn: Cell | None = None) -> Evidence:
    """What the cells of a section say."""
    return Evidence(tuple(section.cells), page, (drawn,) if drawn else ())


@cache
def evidence_of_cell(cell: Cell, page: Page) -> Evidence:
    """What one cell says, and what it draws."""
    return Evidence((cell,), page, (cell,))


def linked(book: Manuscript, page: Page, target: str) -> Evidence | None:
    """What stands where a link leads: a claim's or figure's cell, or a section."""
    file, _, anchor = target.partition("#")
    if file.endswith("_static/cover.svg"):
        owner, cell = next(
            place for place in book.figures.values() if "cover" in place[1].tagged("")
        )
        return evidence_of_cell(cell, owner)
    if anchor.removeprefix("claim-") in book.settled:
        owner, cell = book.settled[anchor.removeprefix("claim-")]
        return evidence_of_cell(cell, owner)
    if anchor in book.figures:
        owner, cell = book.figures[anchor]
        return evidence_of_cell(cell, owner)
    if not anchor or (file and not file.endswith((".ipynb", ".md"))):
        return None
    name = page.named(file.rpartition(".")[0]) if file else page.name
    if name not in book.pages and not file:
        return None
    for owner in [book.pages[name]] if file else [page, *book.pages.values()]:
        for section in owner.sections:
            here = anchor == section.anchor and (bool(file) or owner is page)
            if here or anchor in section.labels:
                return evidence_of(section, owner)
    return None


def evidence(book: Manuscript, passage: Passage, use: Use) -> list[Evidence]:
    """Where a number of a passage may have its proof."""
    if use.link:
        tied = linked(book, passage.page, use.link)
        if tied is not None:
            return [tied]
    own = []
    around = use.paragraph
    if passage.page.is_notebook:
        shown = passage.cell if passage.kind in ("caption", "alt") else None
        own = [evidence_of(passage.section, passage.page, shown)]
        around = use.span
    places = [
        linked(book, passage.page, target)
        for target in targets(passage.source, *around)
    ]
    return own + [place for place in places if place is not None]


def unproved(
    book: Manuscript, every: Iterable[Passage]
) -> Iterator[tuple[Passage, Use]]:
    """The numbers that have neither a proof nor a reason."""
    for passage in every:
        for use in uses(passage.source):
            if not use.exempt and not proved(book, passage, use):
                yield passage, use


def proved(book: Manuscript, passage: Passage, use: Use) -> bool:
    """Whether a cell says what the number says."""
    said = use.sentence
    return any(e.proves(use.number, said) for e in evidence(book, passage, use))


def chance(book: Manuscript, every: Iterable[Passage], samples: int = 50) -> float:
    """How often random numbers of the same form would pass, on average."""
    random = Random(0)
    passed = tried = 0
    for passage in every:
        for use in uses(passage.source):
            if use.exempt:
                continue
            places = evidence(book, passage, use)
            text = re.escape(use.number.text)
            place = re.compile(rf"(?<![\w.,]){text}(?!\w|[.,]\d)")
            for _ in range(samples):
                number = another(use.number, random)
                sentence = place.sub(number.text, use.sentence, count=1)
                passed += any(e.proves(number, sentence) for e in places)
                tried += 1
    return passed / max(tried, 1)


def another(number: Number, random: Random) -> Number:
    """A random number of the same form: as many digits, a share stays a share."""
    while True:
        if number.text.lower() in WORDS:
            text = random.choice(list(WORDS))
        else:
            text = re.sub(r"\d", lambda _: str(random.randrange(10)), number.text)
            if number.text.startswith("0."):
                text = "0" + text[1:]
            elif text[0] == "0" and len(number.text) > 1:
                continue
        if text != number.text.lower():
            return replace(number, text=text)
