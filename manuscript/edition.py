"""The reader's edition of a chapter: a notebook that is whole in any Jupyter.

    make(page)                   what ``json.load`` would make of its file
    make(page, pages, site)      with links to those pages beside it, and to the site
    exercises(notebook, page)    its exercises alone, and what they rest on

Captions are numbered text below their figures, sources have authors, year and a link,
and what the site folds is ``<details>``. The code of figures is hidden, but runs. There
is no solution; an answer is a stub, and its check reports and goes on. `make lab` opens
it, the site offers it, and the course kit (``course``) builds on it:

    python -m manuscript.edition FOLDER   writes all, but over none that is there
"""

import json
import re
import sys
from collections.abc import Collection, Iterator
from functools import cache
from keyword import iskeyword
from pathlib import Path
from typing import Any

import yaml

import manuscript
from manuscript import sources, stubs, wrong_answers
from manuscript.dependencies import cell_dependencies
from manuscript.pages import KEPT_FILE, RECALL, ROOT, Page
from manuscript.values import MARK

Notebook = dict[str, Any]

ANSWER = re.compile(
    r"^:::\{solution-start\} \S+\n(?::\w+:.*\n)*:::(?:\n|\Z)", re.MULTILINE
)
END = re.compile(r"^:::\{solution-end\}\n:::(?:\n|\Z)", re.MULTILINE)
FOLD = re.compile(
    r"^(:{3,})\{dropdown\} *([^\n]*)\n(?::[\w-]+:[^\n]*\n)*(.*?)^\1(?:\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
FENCE = re.compile(
    r"^:{3,}\{([\w-]+)\} *(.*)\n((?::[\w-]+:.*\n)*)|^:{3,}(?:\n|\Z)", re.MULTILINE
)
ANCHOR = re.compile(r"^\([\w-]+\)=\n", re.MULTILINE)
ROLE = re.compile(r"\{[\w:-]+\}`([^`<]*?)(?: <[^`]*>)?`")
KINDS = {"exercise": "Exercise. ", "solution-start": "Solution of "}
COPY = 'copy "Set-up" first'  # what the button of the site does
COPIED = re.compile(f"^# {COPY}\n|(?:;|  #) {COPY}|{COPY}; ", re.MULTILINE)
QUOTED_NAME = re.compile(r"`([A-Za-z_]\w+)")
TELL = """\
# Until this cell has run to its end, those below it say so, in one sentence.
from IPython import get_ipython

tell = getattr(get_ipython(), "set_custom_exc", lambda *_: None)
tell((NameError,), lambda *_, **__: print("{before}"))

{set_up}
tell((), None)
"""
BEFORE = "Run the set-up, the first cell with code, to its end before this one."
FIND = """\
# Finds pe_lib, the library of the book, also in a folder above this.
import sys
from pathlib import Path

sys.path += [str(folder) for folder in (Path.cwd(), *Path.cwd().parents)
             if (folder / "pe_lib").is_dir()]
{colab}try:
    import pe_lib
except ModuleNotFoundError as error:
    if error.name != "pe_lib":
        raise
    raise ModuleNotFoundError("pe_lib is missing: {hint}, "
        "then in it: pip install -r requirements.txt") from None
"""
COLAB = """\
if "google.colab" in sys.modules:    # a machine of Google's, empty at first
    import subprocess
    clone = ["git", "clone", "--depth", "1", "{repository}", "book"]
    if not Path("book").is_dir():
        subprocess.run(clone, check=True)
    sys.path.append(str(Path("book").resolve()))
"""
TO_THE_DATA = """
import os
folder = Path(pe_lib.__file__).parents[1] / "{folder}"
if folder.is_dir():    # this page reads files that lie beside it
    os.chdir(folder)
"""
ONE_THREAD = """
# Tensors as small as these are faster on one core than on many.
import torch
torch.set_num_threads(1)
"""
GET = "get the folder of the book"
PROOF = "*Your proof, here or on paper: {points} points, which a person gives.*"


def make(
    page: Page,
    pages: Collection[Page] = (),
    site: str = "",
    *,
    hint: str = "",
    repository: str = "",
    solutions: bool = False,
    data_beside: bool = False,
) -> Notebook:
    """The notebook of a page, with links to pages beside it and to the site.

    ``hint`` says in the first cell where to get the library, if not from the
    ``repository``, which that cell fetches where it runs on Colab. With ``solutions``
    these stay, and checks are as their author wrote them. With ``data_beside`` what the
    page reads lies in a folder next to it, wherever in the book it is kept.
    """
    stored: Notebook = json.loads(page.path.read_text(encoding="utf-8"))
    run = page.code_cells
    begins = next((i for i, c in enumerate(run) if c.role != "setup"), len(run))
    opening = run[:begins]
    checks = bool(page.checks) and not solutions
    hint = hint or (f"git clone {repository}" if repository else GET)
    text = find(page, hint, repository, moves=bool(page.reads) and not data_beside)
    opened = "".join(f"\n{cell.source.rstrip()}\n" for cell in opening)
    before, values, after = opened.partition(MARK)
    text += before
    text += f"\n{stubs.REPORTER}" if checks else ""
    if data_beside:
        text = KEPT_FILE.sub(r'"data/\2', text)
    cells: list[dict[str, Any]] = []
    for cell in _cells(page, stored["cells"], solutions=solutions):
        if cell["cell_type"] == "markdown":
            words = sources.linked(sources.cited(source(cell)), page, pages, site)
            if not (words := undirected(words)).strip():
                continue
            cell["source"] = lines(words)
        elif data_beside:
            cell["source"] = lines(KEPT_FILE.sub(r'"data/\2', source(cell)))
        if cell["id"] not in {one.id for one in opening}:
            cells.append(cell)
    first = next(i for i, cell in enumerate(cells) if cell["cell_type"] == "code")
    text = TELL.format(before=BEFORE, set_up=text.rstrip())
    set_up = code("set-up", text.rstrip(), "setup")
    cells.insert(first, hidden(set_up, "Set-up: run this first"))
    if values:  # in view
        cells.insert(first + 1, code("values", values + after.rstrip(), "parameters"))
    if checks:
        worth = sum(check_points(page).values())
        cells.append(code("points-so-far", stubs.TOTAL.format(points=worth), "setup"))
    note = {"page": page.name, "edition": "solutions" if solutions else "reader"}
    return stored | {"cells": cells, "metadata": stored["metadata"] | {"book": note}}


def _cells(
    page: Page, stored: list[dict[str, Any]], *, solutions: bool
) -> Iterator[dict[str, Any]]:
    """Each cell that stays, or what is in its place, and what comes with it."""
    worth = check_points(page)
    figures, inside = 0, False
    for raw, its in zip(stored, page.cells, strict=True):
        cell = raw | {"metadata": dict(its.metadata)}
        answers, checked = its.tagged("solution-"), its.tagged("check-")
        if its.kind == "markdown":
            text = its.source
            if not solutions:
                text, inside = without_answers(text, inside=inside)
            if not manuscript.SOLUTIONS:
                text = without_recall(text)
            yield cell | {"source": lines(text)}
        elif its.role == "setup":
            yield hidden(cell, "Set-up")
        elif its.role == "figure" and its.figure and (solutions or not inside):
            figures += 1
            yield hidden(cell, f"Draws figure {figures}")
            caption = f"**Figure {figures}.** {its.figure.caption}"
            yield markdown(f"caption-{its.figure.name}", caption)
        elif solutions or not (answers or checked or inside):
            yield cell | {"source": lines(COPIED.sub("", its.source))}
        for label in () if solutions else answers:
            if points := proof_points(label):
                name = f"proof-{label}"
                proof = markdown(name, PROOF.format(points=points))
                yield noted(proof, name, solution=True, points=points)
            text = stubs.stub(label, its.source, page.checks.get(label, ""))
            name = f"answer-{label}"
            yield noted(code(cell["id"], text, name), name, solution=True)
        for label in () if solutions else checked:
            names = stubs.checked_names(page.solutions[label], its.source)
            text = stubs.reported(label, worth[label], names, its.source)
            name = f"check-{label}"
            check = noted(code(cell["id"], text, name), name, points=worth[label])
            yield hidden(check, "The check of your answer")
            yield markdown(f"hints-{label}", hints(label))


def exercises(notebook: Notebook, page: Page) -> Notebook:
    """The exercises of an edition, below the cells on which they rest.

    These are found from the answers, from the checks, from the code that an exercise is
    about, and from what its text quotes.
    """
    cells = notebook["cells"]
    answers = [i for i, cell in enumerate(cells) if labels(cell, "answer-")]
    if not answers:
        return notebook | {"cells": []}
    titles = [f"**Exercise. {one.title}**" for one in page.exercises]
    first = next(i for i, c in enumerate(cells) if titles[0] in source(c))
    last = max(i for i, c in enumerate(cells) if re.match("check-|hints-", name(c)))
    below = [c.source for c in page.code_cells if c.role.startswith("exercise")]
    below += [source(c) for c in cells[first:last] if c["cell_type"] == "code"]
    quoted = [n for one in page.exercises for n in QUOTED_NAME.findall(one.text)]
    quoted = [name for name in quoted if not iskeyword(name)]
    above = [c for c in cells[:first] if c["cell_type"] == "code"]
    needed = cell_dependencies([source(c) for c in above], [*below, *quoted])
    rested = [c for c in above if c["id"] == "set-up" or source(c) in needed]
    folded = [
        c if c["id"] == "values" else hidden(c | {"outputs": []}, "From the page")
        for c in rested[1:]
    ]
    title = markdown("title", f"# Exercises: {page.title}")
    total = [c for c in cells if c["id"] == "points-so-far"]
    asked = map(_without_page, cells[first : last + 1])
    return notebook | {"cells": [title, rested[0], *folded, *asked, *total]}


def _without_page(cell: dict[str, Any]) -> dict[str, Any]:
    """The same cell without links to headings that are not beside it."""

    def link(found: re.Match[str]) -> str:
        return found[1] if found[2].startswith("#") else found[0]

    if cell["cell_type"] != "markdown":
        return cell
    return cell | {"source": lines(sources.LINK.sub(link, source(cell)))}


def name(cell: dict[str, Any]) -> str:
    """What a cell is to an exercise, by its tag or its id."""
    tags: list[str] = cell["metadata"].get("tags", [])
    return next(iter(tags), str(cell["id"]))


def find(page: Page, hint: str, repository: str = "", *, moves: bool) -> str:
    """What finds the library, and where a notebook ``moves``, the data of its page."""
    colab = COLAB.format(repository=repository) if repository else ""
    text = FIND.format(hint=hint, colab=colab)
    if moves:
        text += TO_THE_DATA.format(folder=page.name.rpartition("/")[0])
    return text + (ONE_THREAD if page.needs_torch else "")


def proof_points(label: str) -> int:
    """What a proof is worth, which a person reads; 0 where none is asked for."""
    return sum(wrong_answers.collected()[label].rubric.values())


def check_points(page: Page) -> dict[str, int]:
    """What the checks are worth: the minutes of an exercise, without its proof."""
    return {
        one.label: stubs.points(one.title) - proof_points(one.label)
        for one in page.exercises
    }


def hints(label: str) -> str:
    """Likely mistakes, folded, for a student who is stuck, without their code."""
    found = wrong_answers.collected()[label]
    thoughts = "\n".join(f"- {wrong.thinks}" for wrong in found.wrong)
    return folded("Stuck? Likely mistakes", thoughts)


def undirected(text: str) -> str:
    """Markdown that every viewer shows: folds are HTML, a box has a bold title."""

    def fold(box: re.Match[str]) -> str:
        return f"{folded(box[2], box[3])}\n\n"

    def title(fence: re.Match[str]) -> str:
        name, words, _ = fence.groups(default="")
        kind = KINDS.get(name, "")
        return f"**{kind}{words}**\n\n" if words else ""

    text = FENCE.sub(title, FOLD.sub(fold, text))
    return ROLE.sub(r"\1", ANCHOR.sub("", text)).strip("\n")


def folded(summary: str, text: str) -> str:
    """A fold that every viewer has."""
    body = text.strip("\n")
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"


def without_answers(text: str, *, inside: bool) -> tuple[str, bool]:
    """What of a text stands outside of answers, and whether one goes on below it."""
    kept = ""
    while text:
        match = (END if inside else ANSWER).search(text)
        if not inside:
            kept += text[: match.start()] if match else text
        if match is None:
            break
        text, inside = text[match.end() :], not inside
    return kept.strip("\n"), inside


def without_solutions(page: Page, stored: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As many cells, without what solves an exercise or answers a recall question."""
    cells, inside = [], False
    for cell, its in zip(stored, page.cells, strict=True):
        text = its.source
        if its.kind == "markdown":
            text, inside = without_answers(text, inside=inside)
            text = without_recall(text)
            cell = cell | {"source": lines(text)}
        elif inside or its.tagged("solution-"):
            cell = markdown(cell["id"], "")
        cells.append(cell)
    return cells


def without_recall(text: str) -> str:
    """With the recall questions, and without their answers."""
    head, title, rest = text.partition(f"## {RECALL}\n")
    asked, heading, below = rest.partition("\n## ")
    return head + title + FOLD.sub(r"**\2**\n\n", asked) + heading + below


def hidden(cell: dict[str, Any], title: str) -> dict[str, Any]:
    """The same cell with its code folded: in JupyterLab, and as a form on Colab."""
    text = source(cell)
    if not text.startswith("#@title"):
        text = f"#@title {title}\n{text}"
    ways = {"jupyter": {"source_hidden": True}, "cellView": "form"}
    metadata = {k: v for k, v in cell["metadata"].items() if k != "mystnb"} | ways
    return cell | {"metadata": metadata, "source": lines(text)}


def code(name: str, text: str, *tags: str) -> dict[str, Any]:
    """A cell of code that was not run yet."""
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": name,
        "metadata": {"tags": list(tags)},
        "outputs": [],
        "source": lines(text),
    }


def markdown(name: str, text: str) -> dict[str, Any]:
    """A cell of text."""
    return {
        "cell_type": "markdown",
        "id": re.sub(r"[^\w-]", "-", name)[:64],
        "metadata": {},
        "source": lines(text),
    }


def noted(
    cell: dict[str, Any], name: str, *, solution: bool = False, points: int = 0
) -> dict[str, Any]:
    """With the note by which nbgrader knows an answer, a check, or a locked cell."""
    note = {
        "grade": points > 0,
        "grade_id": name,
        "locked": not solution,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    } | ({"points": points} if points else {})
    return cell | {"metadata": cell["metadata"] | {"nbgrader": note}}


def source(cell: dict[str, Any]) -> str:
    """The text of a cell."""
    return "".join(cell["source"])


def lines(text: str) -> list[str]:
    """A text as a notebook's file stores it."""
    return text.splitlines(keepends=True)


def labels(cell: dict[str, Any], prefix: str) -> list[str]:
    """What follows a prefix in the tags of a cell."""
    tags: list[str] = cell["metadata"].get("tags", [])
    return [tag.removeprefix(prefix) for tag in tags if tag.startswith(prefix)]


def text_of(notebook: Notebook) -> str:
    """A notebook as its file."""
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


@cache
def site() -> str:
    """The address of the site, as the settings have it: maybe none."""
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    return str(settings["html"]["baseurl"])


def write(folder: Path) -> tuple[int, int]:
    """Write all that are not there yet; how many were written and how many stay."""
    pages, written = manuscript.read().notebooks, 0
    for page in pages:
        path = folder / f"{page.name.removeprefix('book/')}.ipynb"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text_of(make(page, pages, site())), encoding="utf-8")
            written += 1
    return written, len(pages) - written


if __name__ == "__main__":
    new, old = write(Path(sys.argv[1]))
    print(
        f"{new} notebooks were written into {sys.argv[1]}; {old} stay as you left them."
    )
