"""The one reader of the book's files: pages, sections, cells, figures, exercises."""

import ast
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml

from manuscript import claims
from manuscript.claims import Claim
from manuscript.markdown import REMARK, words
from manuscript.values import Value, offered

ROOT = Path(__file__).parents[1]
SOLUTIONS = os.environ.get("SOLUTIONS") != "0"
"""Whether the site has them and the answers to recall questions."""
OPENING = re.compile(
    r"^:::\{dropdown\} Before you start\n(.*?)^:::$", re.DOTALL | re.MULTILINE
)
ITEM = re.compile(r"^- \*\*(.+?)\*\* (.+)$", re.MULTILINE)
FRONT = re.compile(r"---\n(.*?)^---\n", re.DOTALL | re.MULTILINE)
FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1[`~]*[ \t]*$", re.DOTALL | re.MULTILINE)
TARGET = r"^\((\S+?)\)=\n"
HEADING = re.compile(rf"((?:{TARGET})*)^(#{{1,6}}) +(.+?) *$", re.MULTILINE)
EXERCISE = re.compile(
    r"^:::\{exercise\} ([^\n]+)\n:label: (\S+)\n(.*?)^:::$", re.DOTALL | re.MULTILINE
)
QUESTION = re.compile(r"\*\*((?:(?!\*\*).)+\?)\*\*", re.DOTALL)
ANSWER = re.compile(
    r"^\*In one line:\* (.+?)(?=\n\n|\n:::|\Z)", re.DOTALL | re.MULTILINE
)
DEEPER, RECALL, EXERCISES = "Deeper", "Do you remember?", "Exercises"
# A guess for a first reader, who reads hard sentences twice.
WORDS_A_MINUTE, SECONDS_A_LINE, SECONDS_A_PICTURE, SECONDS_AN_EXPLORER = 85, 6, 30, 90
NOTEBOOK_LINK = re.compile(r"\]\((\S+?)\.ipynb(?:#\S*?)?\)")
TORCH = ("torch.", "pe_lib.check.", "pe_lib.experiments.", "pe_lib.nn.")
"""The modules that load PyTorch."""
KEPT_FILE = re.compile(r'"((?:\.\./)*(?:\w+/)?(?:data|benchmarks)/)([\w.]*)')


@dataclass(frozen=True)
class Figure:
    """What a figure's cell says of it beside the drawing."""

    name: str
    alt: str
    caption: str


@dataclass(frozen=True, eq=False)
class Cell:
    """A cell of a notebook. The text of a Markdown page is one such cell."""

    id: str
    kind: str  # "markdown" or "code"
    source: str
    metadata: Mapping[str, Any]
    outputs: tuple[Mapping[str, Any], ...] = ()
    execution_count: int | None = None

    def tagged(self, prefix: str) -> list[str]:
        """What follows `prefix` in the tags."""
        tags: list[str] = self.metadata.get("tags", [])
        return [tag.removeprefix(prefix) for tag in tags if tag.startswith(prefix)]

    @property
    def printed(self) -> str:
        """What the cell prints."""
        return "\n".join("".join(output.get("text", "")) for output in self.outputs)

    @property
    def tables(self) -> list[str]:
        """Its outputs in HTML: tables and explorers."""
        return self._data("text/html")

    @property
    def drawings(self) -> list[str]:
        """Its SVG outputs."""
        return self._data("image/svg+xml")

    @property
    def role(self) -> str:
        """What it is to a reader: the idea is open on the site, the others fold."""
        if self.kind == "markdown":
            return "text"
        if self.tagged("solution-"):
            return "exercise"
        if self.tagged("check-"):
            return "exercise-check"
        if "setup" in self.tagged(""):
            return "setup"
        if any('<div class="pe-explorer' in table for table in self.tables):
            return "explorer"
        if self.figure and self.figure.name:
            return "figure"
        return "check" if self.checked else "idea"

    @property
    def checked(self) -> str:
        """The sentence that says what a check found."""
        sentence: str = self.metadata.get("checked", "")
        return sentence

    @property
    def figure(self) -> Figure | None:
        """Name, alternative text and caption, where the metadata has any."""
        described: Mapping[str, Any] = self.metadata.get("mystnb", {})
        if not described:
            return None
        figure, image = described.get("figure", {}), described.get("image", {})
        return Figure(
            name=figure.get("name", ""),
            alt=image.get("alt", ""),
            caption=figure.get("caption", ""),
        )

    def _data(self, kind: str) -> list[str]:
        return [
            "".join(output["data"][kind])
            for output in self.outputs
            if kind in output.get("data", {})
        ]


@dataclass(frozen=True, eq=False)
class Section:
    """What stands under a heading of the second or third level, in order.

    `parts` are stretches of Markdown and code cells. What stands before the
    first such heading is a section too; its level is 1.
    """

    title: str
    level: int
    labels: tuple[str, ...]
    parts: tuple[Cell, ...]

    @property
    def anchor(self) -> str:
        """What stands behind # in a Markdown link to it, as MyST forms it."""
        title = re.sub(r"[^\w\- ]", "", words(self.title))
        return title.strip().lower().replace(" ", "-")

    @property
    def texts(self) -> list[Cell]:
        """Its stretches of Markdown."""
        return [part for part in self.parts if part.kind == "markdown"]

    @property
    def cells(self) -> list[Cell]:
        """Its code cells."""
        return [part for part in self.parts if part.kind == "code"]


@dataclass(frozen=True)
class Exercise:
    """An exercise as it is set."""

    label: str
    title: str  # ends with its level and its minutes
    text: str


@dataclass(frozen=True, eq=False)
class Page:
    """A notebook or a Markdown file of the book."""

    name: str  # as in _toc.yml, for example book/problem/adding
    path: Path
    cells: tuple[Cell, ...]
    description: str = ""  # what one finds there, in a sentence

    @property
    def is_notebook(self) -> bool:
        """Whether it is a chapter."""
        return self.path.suffix == ".ipynb"

    @property
    def code_cells(self) -> list[Cell]:
        """The cells that run."""
        return [cell for cell in self.cells if cell.kind == "code"]

    @cached_property
    def solutions(self) -> dict[str, str]:
        """The code that solves each exercise, by its label."""
        return self._labelled("solution-")

    @cached_property
    def checks(self) -> dict[str, str]:
        """The code that checks each exercise, by its label."""
        return self._labelled("check-")

    @cached_property
    def values(self) -> list[Value]:
        """What a reader may change; nothing, if it has no such cell."""
        offering = [c for c in self.code_cells if "parameters" in c.tagged("")]
        return [value for cell in offering for value in offered(cell.source)]

    @cached_property
    def needs_torch(self) -> bool:
        """Whether a cell imports PyTorch, or what is built on it."""
        names = {name for c in self.code_cells for name in imported(c.source)}
        return any(f"{name}.".startswith(TORCH) for name in names)

    @cached_property
    def reads(self) -> list[Path]:
        """The kept files that its cells read, and their licences.

        A name in a cell may be the beginning of several.
        """
        named = [f for c in self.code_cells for f in KEPT_FILE.findall(c.source)]
        found = {
            path
            for folder, name in named
            for start in visible(self.path.parent / folder, f"{name or '*.'}*")
            for path in (visible(start, "**/*") if start.is_dir() else [start])
            if path.suffix in (".csv", ".npz", ".txt")
        }
        found |= {licence for path in found for licence in path.parent.glob("LICENSE*")}
        return sorted(path.resolve() for path in found)

    def _labelled(self, prefix: str) -> dict[str, str]:
        return {n: c.source for c in self.code_cells for n in c.tagged(prefix)}

    @cached_property
    def text(self) -> str:
        """All its Markdown."""
        return "\n\n".join(c.source for c in self.cells if c.kind == "markdown")

    @property
    def printed(self) -> str:
        """All that its cells print."""
        return "\n".join(cell.printed for cell in self.code_cells)

    @cached_property
    def title(self) -> str:
        """Its heading of the first level."""
        return next(s.title for s in self.sections if s.level == 1)

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """The page, cut at its headings of the second and third level."""
        found = [Section("", 1, (), ())]
        for cell in self.cells:
            if cell.kind == "code":
                found[-1] = replace(found[-1], parts=(*found[-1].parts, cell))
                continue
            for labels, level, title, text in _stretches(cell.source):
                if level in (2, 3):
                    found.append(Section(title, level, labels, ()))
                elif level == 1:
                    found[-1] = replace(found[-1], title=title, labels=labels)
                part = replace(cell, source=text)
                if text.strip():
                    found[-1] = replace(found[-1], parts=(*found[-1].parts, part))
        return tuple(found)

    @cached_property
    def opening(self) -> dict[str, str]:
        """The lines of "Before you start", by their bold heading."""
        block = OPENING.search(self.text)
        return dict(ITEM.findall(block[1])) if block else {}

    @cached_property
    def question(self) -> str:
        """What it answers: the bold question above its first section."""
        hook = "\n\n".join(part.source for part in self.sections[0].texts)
        found = QUESTION.search(hook)
        return " ".join(found[1].split()) if found else ""

    @cached_property
    def answer(self) -> str:
        """Its answer in one line."""
        found = ANSWER.search(self.text)
        return " ".join(found[1].split()) if found else ""

    @cached_property
    def main(self) -> tuple[Section, ...]:
        """Its sections without recall, exercises and the list of what is deeper."""
        kept, apart = [], False
        for section in self.sections:
            if section.level <= 2:
                apart = section.title in (RECALL, EXERCISES, DEEPER)
            if not apart:
                kept.append(section)
        return tuple(kept)

    @cached_property
    def length(self) -> tuple[int, int]:
        """The words and the visible lines of code of its main text."""
        count = sum(count_words(t.source) for s in self.main for t in s.texts)
        lines = sum(
            bool(line.strip())
            for section in self.main
            for cell in section.cells
            if cell.role == "idea"
            for line in cell.source.splitlines()
        )
        return count, lines

    @property
    def seconds(self) -> float:
        """An estimate for all that is open: of a check its line, of a figure a look."""
        count, lines = self.length
        parts = [part for section in self.main for part in section.parts]
        for part in parts:
            caption = part.figure.caption if part.figure else ""
            count += count_words(caption) + count_words(part.checked)
        explorers = sum(part.role == "explorer" for part in parts)
        pictures = sum(part.role == "figure" for part in parts)
        pictures += sum(p.source.count("$$") // 2 for p in parts if p.role == "text")
        return (
            60 * count / WORDS_A_MINUTE
            + SECONDS_A_LINE * lines
            + SECONDS_A_PICTURE * pictures
            + SECONDS_AN_EXPLORER * explorers
        )

    @property
    def minutes(self) -> int:
        """The same, as one says it."""
        return max(1, round(self.seconds / 60))

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """The chapters that its opening block says one must know."""
        needs = self.opening.get("You need", "")
        return tuple(map(self.named, NOTEBOOK_LINK.findall(needs)))

    def named(self, link: str) -> str:
        """The name of the page that a link from here leads to, without its ending."""
        folder = os.path.dirname(self.name)  # noqa: PTH120 (a name, not a path)
        return os.path.normpath(f"{folder}/{link}")

    @cached_property
    def exercises(self) -> list[Exercise]:
        """Its exercises, in order."""
        found = EXERCISE.findall(self.text)
        return [Exercise(label, title, text) for title, label, text in found]


@dataclass(frozen=True)
class Manuscript:
    """All of the book."""

    root: Path
    contents: Mapping[str, str]  # every page of _toc.yml in order, and its part
    short: Mapping[str, str]  # what the menu calls a page
    pages: Mapping[str, Page]  # every page that there is; those of _toc.yml first
    claims: Mapping[str, Claim]

    @property
    def listed(self) -> list[str]:
        """The pages of _toc.yml, the first page first."""
        return list(self.contents)

    @property
    def notebooks(self) -> list[Page]:
        """The chapters, in reading order."""
        return [page for page in self.pages.values() if page.is_notebook]

    @cached_property
    def path_pages(self) -> list[Page]:
        """The first part of _toc.yml that has chapters, in order: the path."""
        return self._part(0)

    @cached_property
    def model_pages(self) -> list[Page]:
        """The second part that has chapters, in order: real models."""
        return self._part(1)

    def _part(self, number: int) -> list[Page]:
        listed = [page for page in self.notebooks if page.name in self.contents]
        parts = list(dict.fromkeys(self.contents[page.name] for page in listed))
        return [p for p in listed if self.contents[p.name] == parts[number]]

    @cached_property
    def figures(self) -> dict[str, tuple[Page, Cell]]:
        """Where each figure is drawn."""
        return {
            cell.figure.name: (page, cell)
            for page in self.notebooks
            for cell in page.code_cells
            if cell.drawings and cell.figure
        }

    @cached_property
    def settled(self) -> dict[str, tuple[Page, Cell]]:
        """Where each claim is checked, by its id."""
        return {
            claim: (page, cell)
            for page in self.notebooks
            for cell in page.code_cells
            for claim in cell.tagged("claim-")
        }


@cache
def read(root: Path = ROOT, *, remarks: bool = False) -> Manuscript:
    """Read the book in the folder `root`, with its remarks to authors if asked."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    listed = [
        (one, part["caption"]) for part in toc["parts"] for one in part["chapters"]
    ]
    contents = {toc["root"]: ""} | {one["file"]: part for one, part in listed}
    short = {one["file"]: one["title"] for one, _ in listed if "title" in one}
    files = {
        path.relative_to(root).with_suffix("").as_posix(): path
        for pattern in ("**/*.ipynb", "**/*.md")
        for path in visible(root / "book", pattern)
    }
    order = [
        *(n for n in contents if n in files),
        *(n for n in files if n not in contents),
    ]
    return Manuscript(
        root=root,
        contents=contents,
        short=short,
        pages={name: read_page(name, files[name], remarks=remarks) for name in order},
        claims=claims.read(root / "book/claims.yml", remarks=remarks),
    )


def imported(source: str) -> set[str]:
    """The full names of what some code imports, in whatever form it is written."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)) if "import" in source else ():
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{one.name}" for one in node.names}
    return found


def visible(folder: Path, pattern: str) -> list[Path]:
    """Files below a folder, without hidden ones and notebooks that failed."""
    return [
        path
        for path in sorted(folder.glob(pattern))
        if not path.name.endswith(".failed.ipynb")
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]


def read_page(name: str, path: Path, *, remarks: bool = False) -> Page:
    """Read one file; other pages than the book's can be read too."""

    def told(text: str) -> str:
        return text if remarks else REMARK.sub("", text)

    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        front = FRONT.match(text)
        about = yaml.safe_load(front[1]) if front else {}
        text = text[front.end() :] if front else text
        cell = Cell("text", "markdown", told(text), {})
        return Page(name, path, (cell,), about.get("description", ""))
    notebook = json.loads(text)
    return Page(
        name,
        path,
        tuple(
            Cell(
                id=cell["id"],
                kind=cell["cell_type"],
                source=(told if cell["cell_type"] == "markdown" else str)(
                    "".join(cell["source"])
                ),
                metadata=json.loads(told(json.dumps(cell["metadata"]))),
                outputs=tuple(cell.get("outputs", [])),
                execution_count=cell.get("execution_count"),
            )
            for cell in notebook["cells"]
        ),
        description=notebook["metadata"].get("description", ""),
    )


def count_words(markdown: str) -> int:
    """The words that one reads: a formula is one; fences and options are none."""
    text = OPENING.sub("", markdown)
    text = FENCE.sub("", text)
    text = re.sub(r"<!--.*?-->|^%.*?$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(
        r"\$\$.*?\$\$|\$[^$\n]+(?:\n[^$\n]+)?\$", " formula ", text, flags=re.DOTALL
    )
    text = re.sub(
        r"^:[\w-]+:.*$|^:::+ *\{[\w-]+\}|^\(\S+\)=$", "", text, flags=re.MULTILINE
    )
    text = re.sub(r"\]\([^)]*\)|\{[\w:]+\}(?=`)|<[^<>`\s]+>(?=`)", "", text)
    return sum(bool(re.search(r"\w", word)) for word in text.split())


def _stretches(text: str) -> Iterator[tuple[tuple[str, ...], int, str, str]]:
    """Cut Markdown at its headings: labels, level, title, and the text below."""
    fenced = [match.span() for match in FENCE.finditer(text)]
    headings = [
        match
        for match in HEADING.finditer(text)
        if not any(start <= match.start() < end for start, end in fenced)
    ]
    starts = [0, *(match.end() for match in headings)]
    ends = [*(match.start() for match in headings), len(text)]
    for match, start, end in zip([None, *headings], starts, ends, strict=True):
        if match is None:
            yield (), 0, "", text[start:end]
        else:
            labels = tuple(re.findall(TARGET, match[1], re.MULTILINE))
            yield labels, len(match[3]), match[4], text[start:end]
